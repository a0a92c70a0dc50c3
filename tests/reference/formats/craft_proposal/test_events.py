"""The Craft proposal and neutral events: what differs from the shipped format."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.core.errors import EncodeError
from cdcwire.formats.craft.proposal import (
    Column,
    ColumnGroup,
    DDLEvent,
    Message,
    ResolvedEvent,
    RowEvent,
    UnknownEvent,
    UnknownGroup,
)
from cdcwire.formats.craft.proposal.events import events_of, messages_of
from cdcwire.formats.craft.settings import Settings
from cdcwire.model.events import Event, Position, Progress, RowChange, SchemaChange

NEW = ColumnGroup(1, (Column("id", 3, 11, 1),))
OLD = ColumnGroup(2, (Column("id", 3, 11, 1),))
GONE = ColumnGroup(3, (Column("id", 3, 11, 1),))
INSERT = RowEvent(5, "s", "t", (NEW,))
WIRE: list[tuple[str, RowEvent | DDLEvent | ResolvedEvent]] = [
    ("insert", INSERT),
    ("update", RowEvent(5, "s", "t", (NEW, OLD))),
    ("delete", RowEvent(5, "s", "t", (GONE,))),
    ("row-id", RowEvent(5, "s", "t", (NEW,), row_id=-(2**63), partition=7)),
    ("ddl", DDLEvent(5, 3, "CREATE TABLE t", "s", "t", 9)),
    ("resolved", ResolvedEvent(5)),
    ("resolved-row-id", ResolvedEvent(5, row_id=1)),
]


@pytest.mark.parametrize("wire", [w[1] for w in WIRE], ids=[w[0] for w in WIRE])
def test_event_and_wire_are_the_same_both_ways(
    wire: RowEvent | DDLEvent | ResolvedEvent,
) -> None:
    (event,) = events_of(Message((wire,)))
    assert list(messages_of([event])) == [Message((wire,))]


@pytest.mark.parametrize(
    ("groups", "op"), [((NEW,), "insert"), ((OLD, NEW), "update"), ((GONE,), "delete")]
)
def test_operation_follows_from_the_groups(groups: tuple[ColumnGroup, ...], op: str) -> None:
    (event,) = events_of(Message((replace(INSERT, groups=groups),)))
    assert isinstance(event, RowChange)
    assert event.op == op
    assert event.table.key == ("id",)
    assert (event.before is None, event.after is None) == (op == "insert", op == "delete")


def test_row_id_is_an_extra() -> None:
    (event,) = events_of(Message((replace(INSERT, row_id=-5),)))
    assert event.extra == {"row_id": "-5"}


@pytest.mark.parametrize("row_id", ["0", "x", "", "٣", b"1", "9" * 20])
def test_row_id_that_is_none_is_not_encoded(row_id: str | bytes) -> None:
    event = Progress("resolved", Position(commit_ts=1), {"row_id": row_id})
    with pytest.raises(EncodeError) as caught:
        list(messages_of([event]))
    assert caught.value.clause == "craft-proposal: row id"


def test_unknown_parts_give_no_event() -> None:
    unknown = UnknownGroup(9, b"x")
    message = Message(
        (
            UnknownEvent(1, 9, b"", ()),
            replace(INSERT, groups=(unknown,)),
            replace(INSERT, groups=(unknown, NEW)),
        )
    )
    assert events_of(message) == events_of(Message((INSERT,)))


def test_mixed_message_is_read_and_written_apart() -> None:
    mixed = Message((INSERT, DDLEvent(5, 3, "x", "s", "t"), ResolvedEvent(5), INSERT))
    messages = list(messages_of(events_of(mixed)))
    assert [len(message.events) for message in messages] == [1, 1, 1, 1]
    assert tuple(event for message in messages for event in message.events) == mixed.events


def test_batch_ends_at_65535_rows_whatever_the_settings_say() -> None:
    (event,) = events_of(Message((INSERT,)))
    settings = Settings(max_message_bytes=10**9, max_batch_size=10**9)
    messages = list(messages_of([event] * 65536, settings))
    assert [len(message.events) for message in messages] == [65535, 1]


def test_delete_with_handle_key_only_keeps_the_flagged_columns() -> None:
    settings = Settings(delete_only_handle_key=True)
    columns = (Column("id", 3, 11, 1), Column("a", 3, 65, 2))
    (event,) = events_of(Message((replace(INSERT, groups=(ColumnGroup(3, columns),)),)))
    (message,) = messages_of([event], settings)
    assert message == Message((replace(INSERT, groups=(GONE,)),))
    (back,) = events_of(message, settings)
    assert isinstance(back, RowChange)
    assert back.sent == "key"


@pytest.mark.parametrize(
    ("event", "clause"),
    [
        (SchemaChange("query", "x", 1), "keys"),
        (SchemaChange("query", "x", None, None, Position(1)), "ddl events"),
        (Progress("heartbeat", Position(1)), "event types"),
    ],
)
def test_event_that_the_format_cannot_carry_is_not_encoded(event: Event, clause: str) -> None:
    with pytest.raises(EncodeError) as caught:
        list(messages_of([event]))
    assert caught.value.clause == f"craft-proposal: {clause}"
