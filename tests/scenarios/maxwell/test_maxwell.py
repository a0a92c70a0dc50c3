"""Messages of a real Maxwell decode to what the SQL says, and come back byte for byte."""

from __future__ import annotations

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.formats import maxwell_json
from cdcwire.formats.maxwell_json.format import FORMAT
from cdcwire.model.events import Event, RowChange, SchemaChange, Table


def events_of(messages: list[bytes], tables: tuple[Table, ...] = ()) -> list[Event]:
    context = Context(tables=tables)
    return [
        event
        for message in messages
        for event in FORMAT.to_events(KafkaMessage(None, message), context=context)
    ]


def tables_of(messages: list[bytes]) -> tuple[Table, ...]:
    """Return the tables as they were created."""
    return tuple(
        event.table
        for event in events_of(messages)
        if isinstance(event, SchemaChange) and event.what == "create" and event.table is not None
    )


def test_messages_come_back_byte_for_byte(messages: list[bytes]) -> None:
    assert messages
    for message in messages:
        assert maxwell_json.encode(maxwell_json.decode(message)) == (None, message)


def test_rows_with_definitions_say_what_the_sql_says(recording: dict[str, list[bytes]]) -> None:
    tables = tables_of(recording["full"])
    found = [
        event
        for event in events_of(recording["default"], tables)
        if isinstance(event, RowChange) and event.table.name == "types"
    ]
    largest = found[1].after
    assert largest is not None
    assert largest["id"] == largest["t8u"] == largest["b64"] == 2**64 - 1
    assert largest["dec3"] == int("9" * 65)
    assert largest["d"] == 1.7976931348623157e308
    assert largest["s"] == "x,y,z"
    assert found[5].op == "update"
    assert found[5].before is not None
    assert found[5].before["id"] == 2


def test_null_before_an_update_is_lost_without_nulls(recording: dict[str, list[bytes]]) -> None:
    """A known fault of Maxwell; it is on the format's page."""
    assert any(message.endswith(b'"old":{}}') for message in recording["bare"])
