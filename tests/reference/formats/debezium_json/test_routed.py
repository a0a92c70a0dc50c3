"""Rows that ByLogicalTableRouter sent to another topic: their keys and schemas come back.

The field of the key and the names of the schemas were measured with the MariaDB connector 3.5.0.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import RowChange
from cdcwire_conformance.corpus import load_cases

FIELD = "__dbz__physicalTableIdentifier"
(INSERT,) = (c for c in load_cases() if c.id == "debezium-json/connectors/mariadb-insert")


def routed(message: KafkaMessage, field: str, *, has_schema: bool) -> KafkaMessage:
    """Return a producer's message as the router leaves it."""
    key, value = (json.loads(part or b"") for part in (message.key, message.value))
    name = key["schema"]["name"].removesuffix(".Key")
    key["schema"]["name"] = "srv.shop.all.Key"
    key["schema"]["fields"].append({"type": "string", "optional": False, "field": field})
    key["payload"][field] = name
    if not has_schema:
        return KafkaMessage(compact(key["payload"]), compact(value["payload"]))
    text = compact(value).replace(f'"{name}.'.encode(), b'"srv.shop.all.')
    return KafkaMessage(compact(key), text)


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("has_schema", [True, False], ids=["schema", "no schema"])
@pytest.mark.parametrize("field", [FIELD, "topic"])
def test_routed_row_comes_back(field: str, has_schema: bool) -> None:
    (sent,) = INSERT.messages
    assert isinstance(sent, KafkaMessage)
    message = routed(sent, field, has_schema=has_schema)
    options = {"key-field-name": field, "schemas-enable": "true" if has_schema else "false"}
    context = Context(options=options)
    (event,) = FORMAT.to_events(message, context=context)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert field not in event.after.names
    assert field not in (event.table.key or ())
    assert event.extra["physical_table"] == json.loads(sent.key or b"")["schema"]["name"][:-4]
    assert event.extra.get("schema_name") == ("srv.shop.all" if has_schema else None)
    decode, encode = FORMAT.decoder(context), FORMAT.encoder(context)
    for _ in range(3):  # the fast decoder learns a table from its first message
        assert list(decode(message)) == [event]
        assert list(encode([event])) == [message]
    assert list(FORMAT.from_events([event], context=context)) == [message]


def test_name_of_a_row_by_itself_comes_back_without_its_source() -> None:
    (sent,) = INSERT.messages
    assert isinstance(sent, KafkaMessage)
    value = json.loads(sent.value or b"")
    schema = {**value["schema"]["fields"][1], "optional": False}
    del schema["field"]
    row = compact({"schema": schema, "payload": value["payload"]["after"]})
    message = KafkaMessage(sent.key, row)
    context = Context(options={"transforms": "unwrap", "connector": "mariadb"})
    events = list(FORMAT.to_events(message, context=context))
    context = Context(options={**context.options, "dialect": "debezium-3.5"})
    assert list(FORMAT.from_events(events, context=context)) == [message]
