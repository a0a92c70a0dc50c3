"""Blob messages and the neutral model: kinds, positions, refusals, bodies, explanations."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cdcwire.formats.datahub_blob
from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.explanation import Explanation
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionError
from cdcwire.formats.datahub_blob import FORMAT, OPTIONS, explain, read_settings
from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import (
    UNAVAILABLE,
    ArrayType,
    BitType,
    BoolType,
    BytesType,
    Column,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntervalType,
    IntType,
    JsonType,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    Value,
    VectorType,
    YearType,
)
from cdcwire.model.steps import join_halves

ROOT = Path(__file__).resolve().parents[4]
AT = Position(sequence_id=7, commit_ms=1605339932000, sent_ms=1605339932736)
TABLE = Table("t", "db", key=("id",))
ID = Column("id", IntType(64), "LONG", roles=frozenset({"primary"}))
TEXT = Column("v", TextType(), "STRING")
EXTRA = {"version": "0.0.1", "db_type": "MySQL"}


def row(id_: int, text: str | None) -> Image:
    return Image((ID, TEXT), (id_, text))


INSERT = RowChange(TABLE, "insert", None, row(1, "a"), AT, extra=EXTRA)
UPDATE = RowChange(TABLE, "update", row(1, "a"), row(1, None), AT, extra=EXTRA)
DELETE = RowChange(TABLE, "delete", row(1, None), None, AT, extra=EXTRA)
EVENTS: tuple[Event, ...] = (
    INSERT,
    UPDATE,
    DELETE,
    SchemaChange(
        "rename", "rename table t to u", None, Table("t", "s", "db"), AT,
        {**EXTRA, "ddl_meta": b"\xac\xed\x00\x05p", "db_version": "8", "checkpoint_ms": "5"},
    ),
    SchemaChange("query", "set x", None, None, AT, {"version": "0.0.1"}),
    SchemaChange(
        "create",
        "create table t",
        None,
        Table("t", "db", columns=(ID, TEXT), key=("id",)),
        AT,
        EXTRA,
    ),
    Progress("heartbeat", Position(commit_ms=1), {"version": "0.0.1"}),
    Marker("begin", None, AT, {"version": "0.0.1"}),
    Marker("end", None, AT, {"version": "1.0.0"}),
    Marker("gtid", None, AT, {"version": "0.0.1"}),
    Marker("xa_commit", None, AT, {"version": "0.0.1"}),
    Marker("xa_rollback", None, AT, {"version": "0.0.1"}),
)  # fmt: skip


def there_and_back(events: list[Event], **options: Any) -> tuple[int, list[Event]]:
    named = {name.replace("_", "-"): value for name, value in options.items()}
    context = Context(options=named)
    messages = list(FORMAT.from_events(events, context=context))
    found = [event for message in messages for event in FORMAT.to_events(message, context=context)]
    return len(messages), list(join_halves(found))


@pytest.mark.parametrize("encoding", ["record", "auto", "json", "protobuf", "batch"])
def test_events_come_back(encoding: str) -> None:
    count, found = there_and_back(list(EVENTS), encoding=encoding)
    assert found == list(EVENTS)
    assert count == (13 if encoding == "record" else 1)


@pytest.mark.parametrize("encoding", ["json", "protobuf", "batch"])
@pytest.mark.parametrize(
    "more", [{"content_encoding": "deflate"}, {"compression": "zlib"}, {"compression": "deflate"}]
)
def test_compressed_bodies_come_back_and_are_recognised(
    encoding: str, more: dict[str, str]
) -> None:
    named = {name.replace("_", "-"): value for name, value in more.items()}
    context = Context(options={"encoding": encoding, **named})
    (message,) = FORMAT.from_events([INSERT] * 9, context=context)
    for options in ({"encoding": "auto"}, context.options):
        assert list(FORMAT.to_events(message, context=Context(options=options))) == [INSERT] * 9


def test_body_that_would_not_become_shorter_comes_back_all_the_same() -> None:
    context = Context(options={"encoding": "protobuf", "content-encoding": "deflate"})
    beat = Progress("heartbeat", Position(commit_ms=1), {"version": "0.0.1"})
    for events in ([beat], [beat] * 16):
        (message,) = FORMAT.from_events(events, context=context)
        assert list(FORMAT.to_events(message, context=context)) == events


def test_bodies_have_so_many_records_and_keep_halves_together() -> None:
    count, found = there_and_back([UPDATE] * 5, encoding="json", max_batch_size=3)
    assert (count, found) == (5, [UPDATE] * 5)
    count, found = there_and_back([INSERT] * 7, encoding="batch", max_batch_size=3)
    assert (count, found) == (3, [INSERT] * 7)


def test_body_is_closed_before_it_is_too_large() -> None:
    large = replace(INSERT, after=row(1, "x" * 1_500_000))
    count, found = there_and_back([large] * 3, encoding="protobuf")
    assert (count, found) == (2, [large] * 3)


def test_lz4_is_not_written_without_functions() -> None:
    with pytest.raises(OptionError):
        list(
            FORMAT.from_events(
                [INSERT], context=Context(options={"encoding": "batch", "compression": "lz4"})
            )
        )


def test_update_in_one_message_comes_back() -> None:
    context = Context(options={"split-updates": False})
    (message,) = FORMAT.from_events([UPDATE], context=context)
    assert list(FORMAT.to_events(message, context=context)) == [UPDATE]


def test_record_of_a_split_update_is_written_unchanged() -> None:
    half = replace(UPDATE, after=None, half="before")
    (message,) = FORMAT.from_events([half], context=Context())
    assert list(FORMAT.to_events(message, context=Context())) == [half]


def test_schema_name_is_the_schema() -> None:
    event = replace(INSERT, table=Table("t", "s", "db", key=()))
    assert there_and_back([event])[1] == [
        replace(
            event,
            after=Image((replace(ID, roles=frozenset()), TEXT), (1, "a")),
        )
    ]


NY = "America/New_York"
KINDS: tuple[tuple[Type, Value, Type, Value], ...] = (
    (IntType(8), -128, IntType(64), -128),
    (IntType(32, True), 4294967295, IntType(64), 4294967295),
    (IntType(64, True), 18446744073709551615, TextType(), "18446744073709551615"),
    (YearType(), 1999, IntType(64), 1999),
    (BitType(8), 255, IntType(64), 255),
    (BitType(64), 1 << 63, TextType(), str(1 << 63)),
    (BoolType(), True, BoolType(), True),
    (FloatType(32), 0.5, FloatType(64), 0.5),
    (FloatType(64), 0.1, FloatType(64), 0.1),
    (DecimalType(10, 2), Decimal("1.10"), TextType(), "1.10"),
    (BytesType(), b"\0\xff", BytesType(), b"\0\xff"),
    (DateType(), "2020-02-29", TextType(), "2020-02-29"),
    (DateType(form="d"), 1, TextType(), "1970-01-02"),
    (TimeType(), "-838:59:59", TextType(), "-838:59:59"),
    (TimeType(form="ms"), 1500, TextType(), "00:00:01.5"),
    (DatetimeType(), "0000-00-00 00:00:00", TextType(), "0000-00-00 00:00:00"),
    (TimestampType(), "2020-01-01 00:00:00", TextType(), "2020-01-01 00:00:00"),
    (
        TimestampType(form="ms", zone="+00:00"),
        -1,
        TimestampType(form="ms", zone="+00:00"),
        -1,
    ),
    (
        TimestampType(3, "text", "+02:00"),
        "2020-01-01 00:00:00.123",
        TimestampType(form="ms", zone="+00:00"),
        1577829600123,
    ),
    (
        TimestampType(6, "text", "+02:00"),
        "2020-01-01 00:00:00.123456",
        TextType(),
        "2019-12-31 22:00:00.123456+00:00",
    ),
    (TimestampType(form="us", zone="+00:00"), 1, TextType(), "1970-01-01 00:00:00.000001+00:00"),
    (IntervalType(), "P1D", TextType(), "P1D"),
    (EnumType(), 2, TextType(), "2"),
    (EnumType(("a", "b")), 2, TextType(), "b"),
    (EnumType(form="label"), "b", TextType(), "b"),
    (SetType(("a", "b")), 3, TextType(), "a,b"),
    (SetType(form="label"), "a", TextType(), "a"),
    (JsonType(), '{"a": 1}', TextType(), '{"a": 1}'),
    (VectorType(), (1.0, -2.5), TextType(), "[1,-2.5]"),
)


@pytest.mark.parametrize(("kind", "value", "other", "found"), KINDS, ids=str)
def test_kind_comes_back_as_the_table_says(
    kind: Type, value: Value, other: Type, found: Value
) -> None:
    columns = (Column("v", kind),)
    for each, wanted in ((value, found), (None, None)):
        event = RowChange(Table("t", "d", key=()), "insert", None, Image(columns, (each,)), AT)
        (again,) = there_and_back([event])[1]
        assert isinstance(again, RowChange)
        assert again.after is not None
        (column,) = again.after.columns
        assert (kind_text(column.type), column.type) == (kind_text(other), other)
        assert again.after["v"] == wanted
        assert type(again.after["v"]) is type(wanted)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (IntType(8), 128),
        (IntType(64), True),
        (IntType(64), "1"),
        (IntType(64, True), -1),
        (BitType(8), 256),
        (FloatType(64), float("nan")),
        (FloatType(32), 0.1),
        (TextType(), b"\xff"),
        (TextType(), "\ud800"),
        (EnumType(("a",)), 2),
        (SetType(("a",)), 2),
        (TimestampType(3, "text", "+00:00"), "0000-00-00 00:00:00"),
        (TimestampType(3, "us", "+00:00"), 1),
        (ArrayType(IntType(64)), (1,)),
        (UnknownType(), None),
        (TextType(), UNAVAILABLE),
        (DateType(), 1.5),
        (VectorType(), (0.1,)),
    ],
    ids=str,
)
def test_value_without_a_form_is_refused(kind: Type, value: Value) -> None:
    event = replace(INSERT, after=Image((ID, Column("v", kind)), (1, value)))
    with pytest.raises(EncodeError) as caught:
        there_and_back([event])
    assert caught.value.clause.startswith("datahub-blob: ")
    assert caught.value.path[-1] == "v"


@pytest.mark.parametrize(
    "event",
    [
        replace(INSERT, op="upsert"),
        replace(INSERT, op="read"),
        replace(INSERT, position=Position(sequence_id=1)),
        replace(INSERT, position=Position(commit_ms=1)),
        replace(INSERT, position=Position(sequence_id=-1, commit_ms=1)),
        replace(INSERT, table=Table("t", None, key=())),
        replace(INSERT, table=Table("t", "d", key=("x",))),
        replace(INSERT, before=row(1, "a")),
        replace(UPDATE, before=None),
        replace(INSERT, extra={"checkpoint_ms": "x"}),
        replace(INSERT, extra={"version": "1"}),
        replace(UPDATE, before=Image((replace(ID, type=TextType()),), ("1",))),
        SchemaChange("alter", None, None, Table("t", "d"), AT),
        SchemaChange("alter", "x", None, None, AT),
        SchemaChange("alter", "x", None, Table("t", "d"), AT, {"ddl_meta": "text"}),
        Progress("resolved", AT),
        Marker("tombstone", None, AT),
        Marker("begin", "tx", AT),
    ],
    ids=str,
)
def test_event_without_a_form_is_refused(event: Event) -> None:
    with pytest.raises(EncodeError) as caught:
        there_and_back([event])
    assert caught.value.clause.startswith("datahub-blob: ")
    assert caught.value.path[:2] == ("events", 0)


def test_selection_leaves_out_tables_and_columns() -> None:
    (message,) = FORMAT.from_events([INSERT], context=Context())
    for tables, columns, names in (
        (frozenset({("db", "t")}), frozenset({"v"}), [("v",)]),
        (frozenset({("db", "u")}), None, []),
    ):
        found = FORMAT.to_events(message, context=Context(selection=Selection(tables, columns)))
        assert [e.after.names for e in found if isinstance(e, RowChange) and e.after] == names


def test_selection_leaves_out_statements_about_other_tables() -> None:
    of_table = SchemaChange("alter", "x", None, Table("t", "db"), AT)
    of_schema = SchemaChange("query", "y", None, Table(None, "db"), AT)
    messages = list(FORMAT.from_events([of_table, of_schema], context=Context()))
    wanted = Context(selection=Selection(frozenset({("db", "u")})))
    found = [event for message in messages for event in FORMAT.to_events(message, context=wanted)]
    assert [event.query for event in found if isinstance(event, SchemaChange)] == ["y"]


@pytest.mark.parametrize(
    ("encoding", "path"),
    [
        ("json", ("Records", 1, "Data")),
        ("protobuf", ("records", 1, "data")),
        ("batch", ("batches", 0, "records", 1)),
    ],
)
def test_error_in_a_body_names_the_record(encoding: str, path: tuple[str | int, ...]) -> None:
    date = Column("d", TimestampType(form="ms", zone="+00:00"))
    other = replace(INSERT, table=Table("t", "db", key=()), after=Image((date,), (5,)))
    (message,) = FORMAT.from_events(
        [INSERT, other], context=Context(options={"encoding": encoding})
    )
    strict = Context(options={"encoding": encoding, "date-digits": 13})
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(message, context=strict))
    assert caught.value.path == (*path, "payload", "after", "dataColumn", "d")
    assert caught.value.clause == "datahub-blob: date values"
    assert caught.value.offset > 0


def spans_cover(explanation: Explanation, size: int) -> None:
    end = 0
    for span in explanation.spans:
        assert span.start == end, span
        end = span.end
    assert end == size


@pytest.mark.parametrize("encoding", ["record", "json", "protobuf", "batch"])
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_byte_is_explained(encoding: str, event: Event) -> None:
    context = Context(options={"encoding": encoding})
    for message in FORMAT.from_events([event], context=context):
        found = FORMAT.explain(message, context=context)
        assert found.error is None
        assert isinstance(message, KafkaMessage)
        spans_cover(found, len(message.value or b""))
        assert all(span.clause.startswith("datahub") for span in found.spans)


@given(st.integers(0, 10**4), st.integers(0, 255))
def test_damaged_bytes_are_explained_up_to_the_error(place: int, byte: int) -> None:
    (message,) = FORMAT.from_events([INSERT], context=Context())
    assert isinstance(message, KafkaMessage)
    raw = bytearray(message.value or b"")
    raw[place % len(raw)] = byte
    found = explain(KafkaMessage(None, bytes(raw)))
    spans_cover(found, len(raw) if found.error is None else found.error.offset)


def test_settings_refuse_what_is_not_known() -> None:
    for options in ({"encoding": "xml"}, {"other": 1}, {"date-digits": "x"}):
        with pytest.raises(OptionError):
            read_settings(options)


PAGES = "".join(
    (ROOT / "docs" / "formats" / f"{name}.md").read_text("utf-8")
    for name in ("datahub", "datahub-blob")
)


def test_page_has_every_clause_option_and_choice() -> None:
    headings = set(re.findall(r"^### (datahub(?:-blob)?: .+)$", PAGES, re.MULTILINE))
    folder = Path(cdcwire.formats.datahub_blob.__file__).parent
    modules = [*folder.glob("*.py"), *(folder.parent / "datahub").glob("*.py")]
    named = {
        clause
        for module in modules
        for clause in re.findall(
            r'"(datahub(?:-blob)?: [a-zA-Z0-9 ,]+)"', module.read_text("utf-8")
        )
    }
    assert named <= headings
    for option in OPTIONS:
        assert f"`{option.name}`" in PAGES
    for subject in FORMAT.choices:
        assert f"`{subject}`" in PAGES
