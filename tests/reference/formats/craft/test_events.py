"""Craft messages and neutral events: what each column becomes, and how a producer batches."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

import pytest

from cdcwire.core.errors import EncodeError
from cdcwire.core.options import OptionValue
from cdcwire.formats.craft import Column as WireColumn
from cdcwire.formats.craft import ColumnGroup, DDLEvent, Message, ResolvedEvent, RowEvent, encode
from cdcwire.formats.craft.events import events_of, messages_of
from cdcwire.formats.craft.settings import OPTIONS, Settings, read_settings
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Path,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import (
    UNAVAILABLE,
    ArrayType,
    BoolType,
    Column,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    SetType,
    TextType,
    TimestampType,
    Type,
    UnknownType,
    Value,
)
from cdcwire.mysql.values import WireValue

ID = Column("id", IntType(32), "int", False, roles=frozenset({"primary", "handle"}))
TEXT = Column("v", TextType(), "varchar", True)
TABLE = Table("t", "s", key=("id",))
AT_5 = Position(commit_ts=5)
BEFORE = Image((ID, TEXT), (1, None))
AFTER = Image((ID, TEXT), (1, "x"))
INSERT = RowChange(TABLE, "insert", None, AFTER, AT_5)
UPDATE = RowChange(TABLE, "update", BEFORE, AFTER, AT_5)
DELETE = RowChange(TABLE, "delete", BEFORE, None, AT_5)
RESOLVED = Progress("resolved", AT_5)
CREATE = SchemaChange("create", "CREATE TABLE t", 3, Table("t", "s"), AT_5)

OLD_GROUP = ColumnGroup(2, (WireColumn("id", 3, 11, 1), WireColumn("v", 15, 64, None)))
NEW_GROUP = ColumnGroup(1, (WireColumn("id", 3, 11, 1), WireColumn("v", 15, 64, b"x")))

PAIRS = [
    ("insert", INSERT, RowEvent(5, "s", "t", (NEW_GROUP,))),
    ("update", UPDATE, RowEvent(5, "s", "t", (NEW_GROUP, OLD_GROUP))),
    ("delete", DELETE, RowEvent(5, "s", "t", (OLD_GROUP,))),
    (
        "partition",
        replace(INSERT, position=Position(commit_ts=5, partition=82)),
        RowEvent(5, "s", "t", (NEW_GROUP,), 82),
    ),
    ("resolved", RESOLVED, ResolvedEvent(5)),
    ("create", CREATE, DDLEvent(5, 3, "CREATE TABLE t", "s", "t")),
    (
        "create-database",
        SchemaChange("query", "CREATE DATABASE s", 1, Table(None, "s"), AT_5),
        DDLEvent(5, 1, "CREATE DATABASE s", "s"),
    ),
    (
        "ddl-of-unknown-code-and-no-names",
        SchemaChange("query", "", 200, None, AT_5),
        DDLEvent(5, 200, ""),
    ),
]


@pytest.mark.parametrize(("event", "wire"), [p[1:] for p in PAIRS], ids=[p[0] for p in PAIRS])
def test_event_has_one_form_on_the_wire(event: Event, wire: RowEvent | DDLEvent) -> None:
    assert events_of(Message((wire,))) == [event]
    assert list(messages_of([event])) == [Message((wire,))]


VALUES: list[tuple[str, int, int, WireValue, Type, Value]] = [
    ("bigint-unsigned", 8, 193, 2**64 - 1, IntType(64, True), 2**64 - 1),
    ("float-narrows", 4, 65, 0.1, FloatType(32), 0.10000000149011612),
    ("float-overflows", 4, 65, -1e300, FloatType(32), -math.inf),
    ("double", 5, 65, 0.1, FloatType(64), 0.1),
    ("decimal", 246, 65, "-0.500", DecimalType(), Decimal("-0.500")),
    ("decimal-no-number", 246, 65, "1e5", DecimalType(), "1e5"),
    ("text", 252, 64, b"\xc3\xa9", TextType(), "é"),
    ("text-ill-formed", 252, 64, b"\xff", TextType(), b"\xff"),
    ("timestamp", 7, 65, "2021-04-06 12:34:56", TimestampType(), "2021-04-06 12:34:56"),
    ("zero-date", 10, 65, "0000-00-00", DateType(), "0000-00-00"),
    ("enum", 247, 64, 3, EnumType(), 3),
    ("null-type", 6, 64, None, UnknownType(), None),
]


@pytest.mark.parametrize(
    ("code", "flags", "wire", "kind", "value"), [v[1:] for v in VALUES], ids=[v[0] for v in VALUES]
)
def test_value_has_its_kind_in_the_model(
    code: int, flags: int, wire: WireValue, kind: Type, value: Value
) -> None:
    column = WireColumn("c", code, flags, wire)
    (event,) = events_of(Message((RowEvent(1, "s", "t", (ColumnGroup(1, (column,)),)),)))
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after.columns[0].type == kind
    assert event.after.values == (value,)
    assert event.table.key == ()
    (message,) = messages_of([event])
    (back,) = events_of(message)
    assert back == event


def test_rows_of_one_layout_share_their_columns() -> None:
    rows = events_of(Message((RowEvent(1, "s", "t", (NEW_GROUP,)),) * 2))
    first, second = (row.after for row in rows if isinstance(row, RowChange))
    assert first is not None
    assert second is not None
    assert first.columns is second.columns


def test_given_time_zone_is_the_zone_of_timestamps() -> None:
    column = WireColumn("c", 7, 65, "2021-04-06 12:34:56")
    message = Message((RowEvent(1, "s", "t", (ColumnGroup(1, (column,)),)),))
    settings = Settings(time_zone="+00:00")
    (event,) = events_of(message, settings)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after.columns[0].type == TimestampType(zone="+00:00")
    assert list(messages_of([event], settings)) == [message]


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        (Column("c", BoolType()), True, (1, 65, 1)),
        (Column("c", DateType("d")), 0, (10, 65, "1970-01-01")),
        (Column("c", EnumType(("a", "b"), "label")), "b", (247, 64, 2)),
        (Column("c", SetType(("a", "b"), "label")), "a,b", (248, 64, 3)),
        (Column("c", TextType()), "x", (15, 64, b"x")),
        (Column("c", TextType(), "mediumtext"), "x", (250, 64, b"x")),
        (Column("c", IntType(32), "int", False), 1, (3, 1, 1)),
    ],
)
def test_column_of_another_format_gets_code_and_flags(
    column: Column, value: Value, expected: tuple[int, int, WireValue]
) -> None:
    event = RowChange(Table("t", "s"), "insert", None, Image((column,), (value,)), AT_5)
    assert _first_column(event) == WireColumn("c", *expected)


def test_key_of_the_table_decides_the_handle_key_flag() -> None:
    plain = Column("id", IntType(32), "int", False)
    event = RowChange(TABLE, "insert", None, Image((plain, ID), (1, 1)), AT_5)
    assert _first_column(event).flags == 0b11
    without_key = replace(event, table=replace(TABLE, key=()), after=Image((ID,), (1,)))
    assert _first_column(without_key).flags == 0b1001


def test_column_given_by_kind_only_is_completed_from_its_definition() -> None:
    definition = Column(
        "c", EnumType(("a", "b")), "enum", False, roles=frozenset({"primary", "handle"})
    )
    tables = [Table("t", "s", columns=(definition,), key=("c",))]
    given = Column("c", EnumType(form="label"))
    event = RowChange(Table("t", "s"), "insert", None, Image((given,), ("b",)), AT_5)
    assert _first_column(event, tables) == WireColumn("c", 247, 10, 2)
    other = replace(event, table=Table("u", "s"))
    with pytest.raises(EncodeError):
        _first_column(other, tables)


def _first_column(event: RowChange, tables: list[Table] | None = None) -> WireColumn:
    (message,) = messages_of([event], tables=tables or ())
    (row,) = message.events
    assert isinstance(row, RowEvent)
    return row.groups[0].columns[0]


def test_delete_with_handle_key_only_keeps_the_flagged_columns() -> None:
    settings = Settings(delete_only_handle_key=True)
    messages = list(messages_of([DELETE, UPDATE], settings))
    deleted = RowEvent(5, "s", "t", (ColumnGroup(2, OLD_GROUP.columns[:1]),))
    assert messages == [Message((deleted, RowEvent(5, "s", "t", (NEW_GROUP, OLD_GROUP))))]
    found = events_of(messages[0], settings)
    assert [event.sent for event in found if isinstance(event, RowChange)] == ["key", None]


def test_delete_with_handle_key_only_but_no_handle_key_is_not_encoded() -> None:
    settings = Settings(delete_only_handle_key=True)
    keyless = replace(DELETE, table=replace(TABLE, key=()))
    with pytest.raises(EncodeError) as caught:
        list(messages_of([RESOLVED, keyless], settings))
    assert caught.value.path == ("events", 1, "before")
    assert caught.value.clause == "craft: delete only handle key"


# 32 + 1 + 1 for the row; 16 + 2 + 1 for id and 16 + 1 + 1 for v; a NULL has no bytes.
INSERT_SIZE = 34 + 19 + 18
UPDATE_SIZE = INSERT_SIZE + 19 + 17


@pytest.mark.parametrize(
    ("limit", "counts"),
    [
        (UPDATE_SIZE * 2, [3, 1]),
        (UPDATE_SIZE * 2 - 1, [2, 2]),
        (UPDATE_SIZE, [2, 2]),
        (UPDATE_SIZE - 1, [1, 1, 1, 1]),
        (0, [1, 1, 1, 1]),
        (10**9, [4]),
    ],
)
def test_batch_ends_once_its_estimate_is_beyond_the_limit(limit: int, counts: list[int]) -> None:
    messages = list(messages_of([UPDATE] * 4, Settings(max_message_bytes=limit)))
    assert [len(message.events) for message in messages] == counts


@pytest.mark.parametrize(("rows", "counts"), [(16, [16]), (17, [16, 1]), (32, [16, 16])])
def test_batch_ends_at_16_rows(rows: int, counts: list[int]) -> None:
    messages = list(messages_of([INSERT] * rows))
    assert [len(message.events) for message in messages] == counts


def test_batch_ends_before_an_event_that_is_not_a_row() -> None:
    messages = list(messages_of([INSERT, INSERT, CREATE, RESOLVED, DELETE]))
    assert [len(message.events) for message in messages] == [2, 1, 1, 1]


def test_batch_mixes_tables_and_timestamps() -> None:
    other = replace(INSERT, table=Table("u", "s", key=("id",)), position=Position(commit_ts=4))
    (message,) = messages_of([INSERT, other])
    assert events_of(message) == [INSERT, other]


def test_no_events_give_no_message() -> None:
    assert list(messages_of([])) == []


NOT_CARRIED: list[tuple[str, Event, Path, str]] = [
    ("no-commit-ts", replace(INSERT, position=Position()), ("position", "commit_ts"), "headers"),
    ("upsert", replace(INSERT, op="upsert"), ("op",), "row events"),
    ("read", replace(INSERT, op="read"), ("op",), "row events"),
    ("half", replace(INSERT, half="after"), ("half",), "row events"),
    ("changed-only", replace(UPDATE, sent="changed"), ("sent",), "row events"),
    ("update-without-before", replace(UPDATE, before=None), ("before",), "row events"),
    ("insert-with-before", replace(INSERT, before=BEFORE), ("before",), "row events"),
    ("delete-with-after", replace(DELETE, after=AFTER), ("after",), "row events"),
    ("no-schema", replace(INSERT, table=Table("t")), ("table",), "row events"),
    ("no-table", replace(INSERT, table=Table(None, "s")), ("table",), "row events"),
    (
        "unavailable",
        replace(INSERT, after=Image((TEXT,), (UNAVAILABLE,))),
        ("after", "v"),
        "string values",
    ),
    (
        "array",
        replace(INSERT, after=Image((Column("a", ArrayType(IntType(8))),), ((1,),))),
        ("after", "a"),
        "column types",
    ),
    (
        "int-beyond-its-width",
        replace(INSERT, after=Image((ID,), (2**31,))),
        ("after", "id"),
        "integer values",
    ),
    (
        "decimal-nan",
        replace(INSERT, after=Image((Column("d", DecimalType()),), (Decimal("NaN"),))),
        ("after", "d"),
        "text values",
    ),
    ("ddl-without-code", replace(CREATE, code=None), ("code",), "ddl events"),
    ("ddl-without-query", replace(CREATE, query=None), ("query",), "ddl events"),
    ("watermark", Progress("watermark", AT_5), ("what",), "event types"),
    ("marker", Marker("begin", position=AT_5), ("what",), "event types"),
]


@pytest.mark.parametrize(
    ("event", "path", "clause"), [c[1:] for c in NOT_CARRIED], ids=[c[0] for c in NOT_CARRIED]
)
def test_event_that_the_format_cannot_carry_is_not_encoded(
    event: Event, path: Path, clause: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        list(messages_of([RESOLVED, event]))
    assert (caught.value.path, caught.value.clause) == (("events", 1, *path), f"craft: {clause}")


def test_flag_bits_above_7_are_not_in_the_model() -> None:
    column = WireColumn("c", 3, 1 << 9 | 65, 1)
    message = Message((RowEvent(1, "s", "t", (ColumnGroup(1, (column,)),)),))
    (back,) = messages_of(events_of(message))
    assert encode(back) == encode(
        Message((RowEvent(1, "s", "t", (ColumnGroup(1, (column._replace(flags=65),)),)),))
    )


def test_settings_come_from_options_with_or_without_their_section() -> None:
    given: dict[str, OptionValue] = {
        "sink.max-message-bytes": "100",
        "max-batch-size": 2,
        "delete-only-output-handle-key-columns": True,
        "time-zone": "UTC",
    }
    assert read_settings(given) == Settings(
        max_message_bytes=100, max_batch_size=2, delete_only_handle_key=True, time_zone="UTC"
    )
    assert read_settings({option.name: option.default for option in OPTIONS}) == Settings()
    with pytest.raises(ValueError, match="output-old-value"):
        read_settings({"output-old-value": True})
