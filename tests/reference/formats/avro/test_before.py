"""Old rows, both ways: TiCDC's messages, the cases of the corpus, and what can't be written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.ddl import parse_ddl
from cdcwire.formats.avro import FORMAT
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import BitType, Column, IntType, TextType
from cdcwire.model.text import event_from_json

# The unmodified encoder of pingcap/ticdc@b813e76; schemas, keys and values as it wrote them.
FEEDS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "before.json").read_text("utf-8")
)
CASES = Path(__file__).parents[4] / "golden" / "avro" / "before"
WRITTEN = [
    *("update", "update-wide", "update-op-alone"),
    *("delete-wide", "delete-op-alone", "delete-checksum"),
]
BEFORE = {"avro-include-before-value": True}
ID = Column("id", IntType(32), "int", False, roles=frozenset({"handle", "primary"}))
NAME = Column("name", TextType(), "varchar(20)", True)


def messages_of(feed: dict[str, Any]) -> Iterator[KafkaMessage]:
    for key, value in feed["messages"]:
        yield KafkaMessage(bytes.fromhex(key), bytes.fromhex(value))


@pytest.mark.parametrize("feed", FEEDS, ids=["checksum", "defaults"])
def test_messages_of_ticdc_come_back_byte_for_byte(feed: dict[str, Any]) -> None:
    options = {**feed["options"], "dialect": "shipped"}  # its defaults of BIT and BLOB
    tables = parse_ddl(feed["ddl"] + ";", "test")
    context = Context(options=options, schemas=feed["schemas"], tables=tables)
    for message in messages_of(feed):
        events = list(FORMAT.to_events(message, context=context))
        # A schema that is not equal to the registered one would be a file before the message.
        assert list(FORMAT.from_events(events, context=context)) == [message]


@pytest.mark.parametrize("name", WRITTEN)
def test_events_of_golden_cases_are_written_as_their_bytes(name: str) -> None:
    case = json.loads((CASES / f"{name}.json").read_text("utf-8"))
    options = {**case.get("options", {}), **BEFORE}
    if "checksum" in name:
        modes = ("avro-decimal-handling-mode", "avro-bigint-unsigned-handling-mode")
        options |= {"integrity": True, **dict.fromkeys(modes, "string")}
    context = Context(options=options, schemas=case["schemas"])
    events = [event_from_json(event) for event in case["events"]]
    expected = [
        KafkaMessage(raw(message["key"]), raw(message["value"])) for message in case["messages"]
    ]
    assert list(FORMAT.from_events(events, context=context)) == expected


def raw(name: str) -> bytes:
    return (CASES / name).read_bytes()


def change(op: Any, before: Image | None, after: Image | None, **more: Any) -> RowChange:
    return RowChange(Table("t", "s"), op, before, after, Position(commit_ts=1), **more)


def written(event: Event, **options: Any) -> KafkaMessage:
    (*_, message) = FORMAT.from_events([event], context=Context(options={**BEFORE, **options}))
    assert isinstance(message, KafkaMessage)
    return message


def test_update_of_a_key_stays_one_message() -> None:
    old, new = Image((ID, NAME), (1, "x")), Image((ID, NAME), (2, "x"))
    message = written(change("update", old, new))
    assert message.key == bytes.fromhex("0000000001 04")
    assert message.value == bytes.fromhex("0000000002 04 020278 02 02 020278 0275")


def test_old_row_may_have_its_columns_in_another_order() -> None:
    old, new = Image((NAME, ID), ("x", 1)), Image((ID, NAME), (1, "y"))
    assert written(change("update", old, new)).value == bytes.fromhex(
        "0000000002 02 020279 02 02 020278 0275"
    )


def test_delete_of_a_table_without_key_has_a_value() -> None:
    message = written(change("delete", Image((NAME,), ("x",)), None))
    assert message.key is None
    assert message.value == bytes.fromhex("0000000001 020278 02 020278 0264")


def test_bit_of_an_old_row_has_all_its_bytes() -> None:
    bit = Column("b", BitType(12), "bit(12)", False)
    message = written(change("delete", Image((ID, bit), (1, 5)), None))
    assert message.value == bytes.fromhex("0000000002 02 040005 02 02 040005 0264")


@pytest.mark.parametrize(
    ("event", "path"),
    [
        (change("update", Image((ID,), (1,)), Image((ID, NAME), (1, "x"))), ("before",)),
        (change("delete", Image((ID,), (1,)), None, sent="key"), ("sent",)),
        (change("upsert", None, Image((ID,), (1,))), ("op",)),
    ],
)
def test_row_without_its_old_values_is_refused(event: Event, path: tuple[str, ...]) -> None:
    with pytest.raises(EncodeError) as caught:
        written(event)
    assert caught.value.path[-1:] == path


def test_virtual_columns_of_a_definition_have_fields_with_null() -> None:
    tables = parse_ddl("CREATE TABLE t (id INT PRIMARY KEY, g INT AS (id + 1), v INT);", "s")
    event = change("insert", None, Image((ID, Column("v", IntType(32), "int")), (1, 7)))
    context = Context(options={"dialect": "ticdc"}, tables=tables)
    (*_, message) = FORMAT.from_events([event], context=context)
    assert isinstance(message, KafkaMessage)
    assert message.value == bytes.fromhex("0000000002 02 00 020e")


def test_delete_of_the_new_architecture_gives_its_timestamp() -> None:
    options: dict[str, OptionValue] = {
        "enable-tidb-extension": True,
        "avro-enable-watermark": True,
        "dialect": "ticdc",
    }
    event = change("delete", Image((ID,), (1,)), None)
    (*_, message) = FORMAT.from_events([event], context=Context(options=options))
    assert isinstance(message, KafkaMessage)
    assert message.value == bytes.fromhex("03 0000000000000001")
