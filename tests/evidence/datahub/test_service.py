"""The stand-in for DataHub's service: its calls, and what it keeps."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from cdcwire.datahub.fields import Field
from cdcwire.datahub.frame import write_frame
from cdcwire_evidence.datahub.service import MAX_BODY_BYTES, MAX_PUTS, Service, schema_text

TOPIC = "/projects/p/topics/t"
FIELDS = (Field("a", "BIGINT"), Field("b", "STRING", nullable=False))
PROTOBUF = {"content-type": "application/x-protobuf", "x-datahub-request-action": "pub"}


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as found:
        yield found


def call(
    service: Service,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, bytes]:
    address = urlsplit(service.endpoint)
    connection = http.client.HTTPConnection(str(address.hostname), address.port or 0, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def said(service: Service, method: str, path: str, document: object = None) -> dict[str, Any]:
    body = None if document is None else json.dumps(document).encode()
    status, raw = call(service, method, path, body)
    assert status == 200
    found: dict[str, Any] = json.loads(raw)
    return found


def test_service_listens_on_this_machine_alone(service: Service) -> None:
    assert service.endpoint.startswith("http://127.0.0.1:")


def test_service_after_its_end_is_gone() -> None:
    with Service() as found:
        address = urlsplit(found.endpoint)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((str(address.hostname), address.port or 0), 1).close()


def test_topic_of_tuples_has_its_schema(service: Service) -> None:
    service.set_topic(FIELDS)
    topic = said(service, "GET", TOPIC)
    assert (topic["RecordType"], topic["RecordSchema"]) == ("TUPLE", schema_text(FIELDS))
    assert json.loads(topic["RecordSchema"]) == {
        "fields": [
            {"name": "a", "type": "bigint"},
            {"name": "b", "type": "string", "notnull": True},
        ]
    }


def test_topic_of_blobs_has_none(service: Service) -> None:
    topic = said(service, "GET", TOPIC)
    assert topic["RecordType"] == "BLOB"
    assert "RecordSchema" not in topic


def test_calls_before_a_get_are_answered_and_noted(service: Service) -> None:
    service.set_topic(FIELDS)
    shards = said(service, "GET", f"{TOPIC}/shards")["Shards"]
    cursor = {"Action": "cursor", "Type": "OLDEST"}
    said(service, "POST", f"{TOPIC}/shards/{shards[0]['ShardId']}", cursor)
    schemas = said(service, "POST", TOPIC, {"Action": "ListSchema"})
    assert schemas["RecordSchemaList"][0]["RecordSchema"] == schema_text(FIELDS)
    assert said(service, "POST", TOPIC, {"Action": "RegisterSchema"}) == {"VersionId": 0}
    assert service.take_calls() == [
        "list shards",
        "get cursor OLDEST",
        "ListSchema",
        "RegisterSchema",
    ]
    assert service.take_calls() == []


def test_get_gives_the_answer_that_was_set(service: Service) -> None:
    service.set_answer(b"bytes", {"content-type": "application/x-binary"})
    headers = {**PROTOBUF, "x-datahub-request-action": "sub"}
    assert call(service, "POST", f"{TOPIC}/shards/0", b"", headers) == (200, b"bytes")


@pytest.mark.parametrize("path", [f"{TOPIC}/shards", f"{TOPIC}/shards/0"])
def test_put_is_kept_as_it_came(service: Service, path: str) -> None:
    status, answer = call(service, "POST", path, b"\0body", PROTOBUF)
    assert (status, answer) == (200, write_frame(b"\x08\x00"))
    (put,) = service.take_puts()
    assert (put.path, put.body) == (path, b"\0body")
    assert put.headers["content-type"] == "application/x-protobuf"
    assert service.take_puts() == []


def test_put_in_json_is_known_by_its_action(service: Service) -> None:
    body = json.dumps({"Action": "pub", "Records": []}).encode()
    headers = {"content-type": "application/json; charset=UTF-8"}
    status, answer = call(service, "POST", f"{TOPIC}/shards", body, headers)
    assert (status, json.loads(answer)["FailedRecordCount"]) == (200, 0)
    assert len(service.take_puts()) == 1


def test_cache_is_bounded(service: Service) -> None:
    for _ in range(MAX_PUTS):
        call(service, "POST", f"{TOPIC}/shards", b"", PROTOBUF)
    assert call(service, "POST", f"{TOPIC}/shards", b"", PROTOBUF)[0] == 429
    assert len(service.take_puts()) == MAX_PUTS


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/", None, 404),
        ("GET", "/projects/p", None, 404),
        ("POST", TOPIC, b"no json", 404),
        ("POST", TOPIC, b'["Action"]', 404),
        ("POST", f"{TOPIC}/shards/0", b'{"Action":"meter"}', 404),
    ],
)
def test_other_calls_are_refused(
    service: Service, method: str, path: str, body: bytes | None, status: int
) -> None:
    assert call(service, method, path, body)[0] == status


@pytest.mark.parametrize("size", [str(MAX_BODY_BYTES + 1), "-1", "x"])
def test_body_that_is_too_large_is_not_read(service: Service, size: str) -> None:
    headers = {"content-length": size}
    assert call(service, "POST", f"{TOPIC}/shards", None, headers)[0] == 413
