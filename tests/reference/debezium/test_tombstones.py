"""Deletes of rows by themselves that are nothing but a tombstone, in JSON and in Avro."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Subject
from cdcwire.model.events import Event, Image, Marker, Position, RowChange, Table
from cdcwire.model.kinds import BytesType, Column, IntType, TextType, TimestampType
from cdcwire.registry import get_format

KEY = (
    Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"})),
    Column("é", TextType(), nullable=False, roles=frozenset({"primary", "handle"})),
)
COLUMNS = (*KEY, Column("v", IntType(64)))
TABLE = Table("t", "s", columns=COLUMNS, key=("id", "é"))
DELETE = RowChange(TABLE, "delete", Image(COLUMNS, (7, "b", 1)), None, Position(lsn=9))
UNWRAP: Mapping[str, OptionValue] = {
    "transforms": "unwrap",
    "field-name-adjustment-mode": "avro_unicode",
    "delete-tombstone-handling-mode": "tombstone",
}
OF_JSON: Mapping[str, OptionValue] = {
    "transforms": "unwrap",
    "delete-tombstone-handling-mode": "tombstone",
}
PLAIN_KEY = '{"id":7,"é":"b"}'.encode()


def events(format_name: str, message: Message, context: Context) -> list[Event]:
    """Return the events of a message, as each decoder and the bytes' explanation show them."""
    format_ = get_format(format_name)
    found = list(format_.to_events(message, context=context))
    assert format_.fast_decoder is not None
    assert list(format_.fast_decoder(context).decode(message)) == found
    assert format_.explain(message, context=context).error is None
    return found


def of_json(key: bytes | None, headers: Mapping[str, bytes] | None = None, **more: str) -> Event:
    """Return the event of a JSON tombstone. ``more``: options, with ``_`` for ``-``."""
    options = {**OF_JSON, **{name.replace("_", "-"): value for name, value in more.items()}}
    message = KafkaMessage(key, None, tuple((headers or {}).items()))
    (event,) = events("debezium-json", message, Context(options, tables=(TABLE,)))
    return event


@pytest.mark.parametrize("mode", ["tombstone", "delete-to-tombstone"])
@pytest.mark.parametrize("name", ["debezium-json", "debezium-avro"])
def test_tombstone_is_the_delete_of_its_key(name: str, mode: str) -> None:
    format_ = get_format(name)
    options = {**UNWRAP, "delete-tombstone-handling-mode": mode}
    context = Context(options)
    written = list(format_.from_events([DELETE], context=context))
    context = format_.prepared(written, context)
    (message,) = [each for each in written if isinstance(each, KafkaMessage)]
    assert message.value is None
    (event,) = events(name, message, context)
    assert isinstance(event, RowChange)
    assert (event.op, event.sent, event.after) == ("delete", "key", None)
    assert (event.table.schema, event.table.name, event.table.key) == ("s", "t", ("id", "é"))
    assert event.before is not None
    assert dict(zip(event.before.names, event.before.values, strict=True)) == {"id": 7, "é": "b"}
    assert event.position == Position()
    again = list(format_.from_events([event], context=context))
    assert [each for each in again if isinstance(each, KafkaMessage)] == [message]


@pytest.mark.parametrize("mode", ["auto", "drop", "rewrite", "rewrite-with-tombstone"])
def test_tombstone_is_a_marker_in_other_modes(mode: str) -> None:
    event = of_json(PLAIN_KEY, delete_tombstone_handling_mode=mode)
    assert event == Marker("tombstone", extra={"message_key": PLAIN_KEY})


def test_tombstone_after_a_change_is_a_marker() -> None:
    assert isinstance(of_json(PLAIN_KEY, transforms="none"), Marker)


@pytest.mark.parametrize(
    "key",
    [
        None,
        b'{"schema":{"type":"int32","optional":false},"payload":7}',
        b'{"schema":null,"payload":null}',
    ],
)
def test_tombstone_whose_key_has_no_columns_stays_a_marker(key: bytes | None) -> None:
    assert isinstance(of_json(key), Marker)


def test_text_of_string_converter_stays_a_marker() -> None:
    assert isinstance(of_json(b"Struct{id=7}", key_converter="string"), Marker)


def test_definition_gives_the_types_of_a_key_without_schema() -> None:
    columns = (Column("id", BytesType(), nullable=False), Column("at", TimestampType(6)))
    table = Table("u", "s", columns=columns, key=("id",))
    context = Context(OF_JSON, tables=(table,))
    (event,) = events("debezium-json", KafkaMessage(b'{"id":"Bw=="}', None), context)
    assert isinstance(event, RowChange)
    assert event.before is not None
    assert (event.table.name, event.before.values) == ("u", (b"\x07",))


def test_headers_give_table_and_position() -> None:
    headers = {"__op": b"d", "__table": b"t", "__schema": b"s", "__lsn": b"9"}
    event = of_json(PLAIN_KEY, headers)
    assert isinstance(event, RowChange)
    assert (event.table.name, event.position) == ("t", Position(lsn=9))


def test_field_of_the_router_is_not_a_column() -> None:
    event = of_json(b'{"id":7,"from":"s.t1"}', key_field_name="from")
    assert isinstance(event, RowChange)
    assert event.before is not None
    assert event.before.names == ("id",)
    assert event.extra["physical_table"] == "s.t1"


def test_table_of_a_tombstone_that_nothing_names_is_an_error() -> None:
    with pytest.raises(DecodeError) as caught:
        list(
            get_format("debezium-json").to_events(
                KafkaMessage(PLAIN_KEY, None), context=Context(OF_JSON)
            )
        )
    assert "definition" in caught.value.problem
    assert (caught.value.path, caught.value.offset) == (("key",), 0)


def test_bytes_of_the_key_show_the_row_that_went() -> None:
    message = KafkaMessage(PLAIN_KEY, None)
    found = get_format("debezium-json").explain(message, context=Context(OF_JSON, tables=(TABLE,)))
    shown = {span.subject for span in found.spans}
    assert {Subject(0, ("before",), "id"), Subject(0, ("before",), "é")} <= shown
