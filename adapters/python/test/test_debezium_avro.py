"""The Avro libraries as testees: what each makes of messages of Debezium."""

from __future__ import annotations

import importlib
import importlib.util
import json
from typing import Any

import pytest

READERS = {
    "fastavro": "read_fastavro",
    "avro": "read_avro",
    "confluent_kafka": "read_confluent_kafka",
}
DECIMAL = {
    "type": "bytes",
    "logicalType": "decimal",
    "precision": 5,
    "scale": 2,
    "connect.name": "org.apache.kafka.connect.data.Decimal",
    "connect.parameters": {"scale": "2"},
}
BITS = {"type": "bytes", "connect.name": "io.debezium.data.Bits"}
MICROS = {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}
ROW = {
    "type": "record",
    "name": "Value",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "gr__e", "connect.field": "größe", "type": ["null", DECIMAL]},
        {"name": "b", "type": BITS},
        {"name": "at", "type": ["null", MICROS]},
    ],
}
ENVELOPE = {
    "type": "record",
    "name": "Envelope",
    "namespace": "srv.shop.t",
    "fields": [
        {"name": "before", "type": ["null", ROW]},
        {"name": "after", "type": ["null", "Value"]},
        {
            "name": "source",
            "type": {
                "type": "record",
                "name": "Source",
                "namespace": "io.debezium",
                "fields": [
                    {"name": name, "type": "string"} for name in ("connector", "db", "table")
                ],
            },
        },
        {"name": "op", "type": "string"},
    ],
}
KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}
SCHEMAS = {"1": json.dumps(KEY), "2": json.dumps(ENVELOPE)}
OLD = b"\x0e" + b"\x02\x02\x64" + b"\x04\x01\x02" + b"\x02\x07"  # 7, 1.00, two bytes, -4 us
NEW = b"\x0e" + b"\0" + b"\x02\x80" + b"\0"  # 7, NULL, one byte, NULL
KEY_DATA = b"\0\0\0\0\x01\x0e"


def source(connector: str) -> bytes:
    texts = (connector.encode(), b"shop", b"t")
    return b"".join(bytes([2 * len(text)]) + text for text in texts)


@pytest.fixture(params=list(READERS))
def reader(request: pytest.FixtureRequest) -> Any:
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed: adapters/python/requirements.txt")
    return importlib.import_module(READERS[request.param]).read


def event_of(reader: Any, datum: bytes, **options: str) -> dict[str, Any]:
    from debezium_avro import decoder
    from testee import Message

    message = Message(KEY_DATA, b"\0\0\0\0\x02" + datum)
    (event,) = decoder(reader)(message, {"schemas": SCHEMAS, "options": options})
    return dict(event)


def test_update_has_both_rows_with_their_names_and_meanings(reader: Any) -> None:
    event = event_of(reader, b"\x02" + OLD + b"\x02" + NEW + source("mysql") + b"\x02u")
    assert (event["op"], event["schema"], event["table"]) == ("update", "shop", "t")
    assert event["key"] == ["id"]
    assert event["before"] == {
        "id": "7",
        "größe": "1.00",
        "b": "513",
        "at": {"value": "-4", "unit": "us"},
    }
    assert event["after"] == {"id": "7", "größe": None, "b": "128", "at": None}


@pytest.mark.parametrize(
    ("connector", "options", "names"),
    [
        ("mysql", {}, ["id", "größe", "b", "at"]),
        ("postgresql", {}, ["id", "b"]),
        ("postgresql", {"replica-identity": "full"}, ["id", "größe", "b", "at"]),
    ],
)
def test_delete_of_postgresql_has_only_what_was_sent(
    reader: Any, connector: str, options: dict[str, str], names: list[str]
) -> None:
    event = event_of(reader, b"\x02" + NEW + b"\0" + source(connector) + b"\x02d", **options)
    assert event["op"] == "delete"
    assert list(event["before"]) == names


@pytest.mark.parametrize("op", [b"\x02d", b"\x02x"])
def test_operation_that_does_not_fit_is_an_error(reader: Any, op: bytes) -> None:
    with pytest.raises(ValueError, match="op is"):
        event_of(reader, b"\0\x02" + NEW + source("mysql") + op)


def test_tombstone_is_a_marker_and_its_key_is_read(reader: Any) -> None:
    from debezium_avro import decoder
    from testee import Message

    decode = decoder(reader)
    (event,) = decode(Message(KEY_DATA, None), {"schemas": SCHEMAS})
    assert event == {"kind": "marker", "what": "tombstone"}
    with pytest.raises(ValueError, match="no schema 9"):
        list(decode(Message(b"\0\0\0\0\x09", None), {"schemas": SCHEMAS}))


@pytest.mark.parametrize(
    ("registry", "data", "name"),
    [
        ("confluent", b"\0\0\0\0\x02x", "2"),
        ("apicurio", b"\0" + bytes(7) + b"\x02x", "2"),
        ("glue", b"\x03\0" + bytes(16) + b"x", "00000000-0000-0000-0000-000000000000"),
    ],
)
def test_id_of_each_registry_is_taken_off(registry: str, data: bytes, name: str) -> None:
    from avro_data import datum_of

    datum = datum_of(data, {name: "schema"}, registry)
    assert (datum.id, datum.schema, datum.data) == (name, "schema", b"x")
    with pytest.raises(ValueError, match="bytes, not 4"):
        datum_of(data[:4], {name: "schema"}, registry)
    with pytest.raises(ValueError, match="there is no schema"):
        datum_of(data, {}, registry)
