"""Golden cases have the bytes that the connectors' own converters make, without a database."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cdcwire_evidence.debezium.engine import Connector, build, java
from cdcwire_evidence.registry.apicurio import UnavailableError

ROOT = Path(__file__).parents[3]
PROJECT = ROOT / "adapters" / "converters"
CONNECTORS = (
    Connector("sqlserver", "3.6.1.Final"),
    Connector("oracle", "3.6.1.Final"),
    Connector("db2", "3.6.1.Final"),
    Connector("informix", "3.5.0.Final"),  # the newest of both that Maven Central has
    Connector("vitess", "3.5.0.Final"),
)
FRAME = 5  # bytes before a datum: 00 and the schema's id


@pytest.fixture(scope="module", params=CONNECTORS, ids=str)
def changes(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """The changes of one connector, with the records that its converters made."""
    connector: Connector = request.param
    try:
        jar = build(PROJECT, connector, "convert-rows")
        words = [java(), "-jar", str(jar), str(PROJECT / "messages" / f"{connector.name}.json")]
    except UnavailableError as error:
        if os.environ.get("CDCWIRE_SCENARIOS") == "required":
            raise
        pytest.skip(str(error))
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found
    return found


def case_of(name: str) -> tuple[dict[str, Any], Path] | None:
    path = ROOT / "golden" / f"{name}.json"
    return (json.loads(path.read_text("utf-8")), path.parent) if path.is_file() else None


def decoded(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def read(folder: Path, name: str | None) -> bytes | None:
    return None if name is None else (folder / name).read_bytes()


def test_json_of_each_case_is_the_converters(changes: list[dict[str, Any]]) -> None:
    for change in changes:
        found = case_of(change["case"])
        assert found is not None, change["case"]
        case, folder = found
        made = [(decoded(r.get("key")), decoded(r.get("value"))) for r in change["records"]]
        sent = [tuple(read(folder, m.get(p)) for p in ("key", "value")) for m in case["messages"]]
        assert sent == made[: len(sent)], change["case"]
        assert all(value is None for _, value in made[len(sent) :]), "only tombstones are left out"
        assert "run as Java code" in case["origin"], change["case"]


def test_avro_of_each_case_is_the_converters(changes: list[dict[str, Any]]) -> None:
    compared = 0
    for change in changes:
        found = case_of(change["case"].replace("debezium-json", "debezium-avro"))
        if found is None:
            continue
        case, folder = found
        for record, message in zip(change["records"], case["messages"], strict=False):
            for part in ("key", "value"):
                sent, made = read(folder, message.get(part)), record.get(f"avro_{part}")
                assert (sent is None) == (made is None), change["case"]
                if sent is None:
                    continue
                schema = case["schemas"][str(int.from_bytes(sent[1:FRAME], "big"))]
                assert schema == made["schema"], change["case"]
                assert sent[FRAME:] == decoded(made["datum"]), change["case"]
                compared += 1
    assert compared


def test_key_change_has_the_headers_with_the_other_key(changes: list[dict[str, Any]]) -> None:
    (change,) = (each for each in changes if each["case"].endswith("3.6-key-change"))
    deleted, tombstone, inserted = change["records"]
    keys = {"old": deleted["key"], "new": inserted["key"]}
    assert deleted["headers"] == tombstone["headers"] == {"__debezium.newkey": keys["new"]}
    assert inserted["headers"] == {"__debezium.oldkey": keys["old"]}
