"""Rows of Tuple topics: definitions, metadata, halves, kinds, refusals, explanations."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

import cdcwire.formats.datahub_tuple
from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.explanation import Explanation
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionError
from cdcwire.datahub.body import BodySettings, write_body
from cdcwire.datahub.carrying import read_records
from cdcwire.datahub.message import Batch, Body, Record
from cdcwire.formats.datahub_tuple import (
    FORMAT,
    OPTIONS,
    SchemaMismatchError,
    Settings,
    UnsupportedInTupleError,
    find_table,
    read_settings,
    record_of,
    topic_of,
)
from cdcwire.formats.datahub_tuple.topic import topic_in
from cdcwire.formats.datahub_tuple.wire import read_rows
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
from cdcwire.model.kinds import (
    UNAVAILABLE,
    ArrayType,
    BitType,
    BoolType,
    BytesType,
    Column,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    TextType,
    TimestampType,
    Type,
    UnknownType,
    Value,
    YearType,
)
from cdcwire.model.steps import IncompleteUpdateError, join_halves

ROOT = Path(__file__).resolve().parents[4]
AT = Position(sequence_id=1649991610688000000, commit_ms=1649991726000)
COLUMNS = (
    Column("id", IntType(64), "BIGINT", nullable=False, roles=frozenset({"primary"})),
    Column("v", TextType(), "STRING"),
)
TABLE = Table("t", "db", columns=COLUMNS, key=("id",))
NAMED = Table("t", "db", key=("id",))


def row(id_: int, text: str | None) -> Image:
    return Image(COLUMNS, (id_, text))


INSERT = RowChange(NAMED, "insert", None, row(1, "a"), AT)
UPDATE = RowChange(NAMED, "update", row(1, "a"), row(1, None), AT)
DELETE = RowChange(NAMED, "delete", row(1, None), None, AT)


def context_of(tables: Sequence[Table] = (TABLE,), **options: Any) -> Context:
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return Context(options=named, tables=tuple(tables))


def there_and_back(events: list[Event], context: Context) -> list[Event]:
    messages = list(FORMAT.from_events(events, context=context))
    return [event for message in messages for event in FORMAT.to_events(message, context=context)]


@pytest.mark.parametrize("encoding", ["auto", "json", "protobuf", "batch"])
@pytest.mark.parametrize("more", [{}, {"compression": "zlib"}, {"content_encoding": "deflate"}])
def test_events_come_back(encoding: str, more: dict[str, Any]) -> None:
    context = context_of(encoding=encoding, **more)
    found = there_and_back([INSERT, UPDATE, DELETE] * 3, context)
    assert list(join_halves(found)) == [INSERT, UPDATE, DELETE] * 3
    halves = [event.half for event in found if isinstance(event, RowChange)]
    assert halves == [None, "before", "after", None] * 3


def test_rows_of_an_update_are_as_the_document_shows() -> None:
    (message,) = FORMAT.from_events([INSERT, UPDATE, DELETE], context=context_of())
    assert isinstance(message, KafkaMessage)
    records = json.loads(message.value or b"")["Records"]
    at = ["1649991610688000000"]
    assert [record["Data"] for record in records] == [
        [*at, "I", "1649991726000", "t", "N", "Y", "1", "a"],
        [*at, "U", "1649991726000", "t", "Y", "N", "1", "a"],
        [*at, "U", "1649991726000", "t", "N", "Y", "1", None],
        [*at, "D", "1649991726000", "t", "Y", "N", "1", None],
    ]


def test_lone_half_is_an_incomplete_update() -> None:
    half = replace(UPDATE, after=None, half="before")
    found = there_and_back([half], context_of())
    assert found == [half]
    with pytest.raises(IncompleteUpdateError):
        list(join_halves(found))


def test_update_stays_in_one_body() -> None:
    context = context_of(max_batch_size=3)
    messages = list(FORMAT.from_events([UPDATE] * 4, context=context))
    assert len(messages) == 4


FULL = (
    Column("v", TextType(), "STRING"),
    *(
        Column(name, TextType(), "string")
        for name in ("_after_image_", "_before_image_", "_operation_type_", "_sequence_id_")
    ),
    Column("_execute_time_", IntType(64), "bigint"),
    Column("id", IntType(64), "bigint"),
)


def test_definition_may_list_all_columns_in_any_order() -> None:
    table = Table("t", "db", columns=FULL, key=("id",))
    topic = topic_of(table)
    assert [topic.fields[index].name for index in topic.data] == ["v", "id"]
    event = replace(INSERT, after=Image((FULL[0], FULL[-1]), ("a", 1)))
    found = there_and_back([event], context_of([table]))
    (again,) = found
    assert isinstance(again, RowChange)
    assert again.table == NAMED
    assert again.after is not None
    assert (again.after.names, again.after.values) == (("v", "id"), ("a", 1))


def test_other_name_of_the_time_column_is_an_option() -> None:
    topic = topic_of(TABLE, Settings(execute_time_column="_execute_time_"))
    assert topic.fields[2].name == "_execute_time_"


@pytest.mark.parametrize(
    "columns",
    [
        (),
        FULL[1:-1],
        FULL[:1] + FULL[2:],
        (*FULL, Column("_excute_time_", IntType(64), "BIGINT")),
        tuple(column for column in FULL if column.name != "_execute_time_"),
        (*FULL, FULL[0]),
        (*FULL[:1], replace(FULL[1], type=IntType(64), source="BIGINT"), *FULL[2:]),
        (Column("", TextType()),),
    ],
)
def test_definition_that_makes_no_topic_is_refused(columns: tuple[Column, ...]) -> None:
    with pytest.raises(OptionError):
        topic_of(Table("t", columns=columns))


def test_one_table_is_needed() -> None:
    other = replace(TABLE, name="u")
    with pytest.raises(OptionError, match="define the topic's table"):
        find_table(())
    with pytest.raises(OptionError):
        find_table((TABLE, other))
    assert find_table((TABLE, other), Settings(table="u")) == other
    assert find_table((TABLE, other), Settings(table="db.t")) == TABLE
    with pytest.raises(OptionError):
        find_table((TABLE, other), Settings(table="x.t"))


GOOD: dict[str, Any] = {
    "_sequence_id_": "1",
    "_operation_type_": "I",
    "_excute_time_": 5,
    "_source_table_": "t",
    "_before_image_": "N",
    "_after_image_": "Y",
    "id": 1,
    "v": "a",
}


@pytest.mark.parametrize(
    ("changes", "clause", "column"),
    [
        *(({name: None}, "metadata columns", name) for name in list(GOOD)[:6]),
        ({"_sequence_id_": ""}, "sequence ids", "_sequence_id_"),
        ({"_sequence_id_": "1.0"}, "sequence ids", "_sequence_id_"),
        ({"_sequence_id_": "-1"}, "sequence ids", "_sequence_id_"),
        ({"_sequence_id_": "1" * 39}, "sequence ids", "_sequence_id_"),
        ({"_operation_type_": "i"}, "operation types", "_operation_type_"),
        ({"_operation_type_": "X"}, "operation types", "_operation_type_"),
        ({"_excute_time_": -1}, "execute time", "_excute_time_"),
        ({"_excute_time_": 10**13}, "execute time", "_excute_time_"),
        ({"_source_table_": ""}, "source table", "_source_table_"),
        ({"_source_table_": "u"}, "topics", "_source_table_"),
        ({"_before_image_": "y"}, "image flags", "_before_image_"),
        ({"_after_image_": "true"}, "image flags", "_after_image_"),
        *(
            (
                {"_operation_type_": op, "_before_image_": before, "_after_image_": after},
                "image flags",
                "_after_image_",
            )
            for op in "IUD"
            for before in "YN"
            for after in "YN"
            if (op, before, after)
            not in (("I", "N", "Y"), ("U", "Y", "N"), ("U", "N", "Y"), ("D", "Y", "N"))
        ),
    ],
)
@pytest.mark.parametrize("encoding", ["json", "protobuf"])
def test_metadata_that_breaks_a_rule_is_rejected(
    changes: dict[str, Any], clause: str, column: str, encoding: Any
) -> None:
    topic = topic_of(TABLE)
    record = Record(tuple({**GOOD, **changes}.values()))
    raw, _ = write_body(Body(encoding, (record,)), topic.fields)
    with pytest.raises(DecodeError) as caught:
        read_rows(KafkaMessage(None, raw), topic)
    prefix = "datahub: " if clause == "topics" else "datahub-tuple: "
    assert caught.value.clause == prefix + clause
    assert caught.value.path[-1] == column
    assert caught.value.path[0] in ("Records", "records")
    assert 0 < caught.value.offset < len(raw)


def test_rows_are_written_again_byte_for_byte() -> None:
    topic = topic_of(TABLE)
    (message,) = FORMAT.from_events([INSERT, UPDATE], context=context_of(encoding="batch"))
    assert isinstance(message, KafkaMessage)
    records = [record for _, record in read_records(message, topic.fields, BodySettings())]
    assert [record_of(row, topic) for row in read_rows(message, topic)] == records


KINDS: tuple[tuple[Type, str | None, Value, Value], ...] = (
    (IntType(8), None, -128, -128),
    (IntType(24), None, -(1 << 23), -(1 << 23)),
    (IntType(32, True), None, 4294967295, 4294967295),
    (IntType(64, True), None, 18446744073709551615, "18446744073709551615"),
    (YearType(), None, 1999, 1999),
    (BitType(8), None, 255, 255),
    (BitType(64), None, 1 << 63, str(1 << 63)),
    (BoolType(), None, False, False),
    (FloatType(32), None, 0.5, 0.5),
    (FloatType(64), "DOUBLE", 0.1, 0.1),
    (FloatType(32), "DOUBLE", 0.5, 0.5),
    (DecimalType(38, 18), None, Decimal("1.10"), Decimal("1.10")),
    (BytesType(), None, b"\0\xff", b"\0\xff"),
    (DateType(), None, "2020-02-29", "2020-02-29"),
    (TimestampType(), None, "2020-01-01 00:00:00", "2020-01-01 00:00:00"),
    (TimestampType(6, "text", "+00:00"), None, "1970-01-01 00:00:01.000002", 1000002),
    (TimestampType(form="ms", zone="+00:00"), None, -1, -1000),
    (TimestampType(form="ns", zone="+00:00"), None, 5000, 5),
    (TimestampType(form="us", zone="+00:00"), "TIMESTAMP", 5, 5),
    (EnumType(("a", "b")), None, 2, "b"),
)


@pytest.mark.parametrize("encoding", ["json", "protobuf", "batch"])
@pytest.mark.parametrize(("kind", "source", "value", "found"), KINDS, ids=str)
def test_kind_comes_back_as_the_table_says(
    kind: Type, source: str | None, value: Value, found: Value, encoding: str
) -> None:
    columns = (Column("v", kind, source),)
    table = Table("t", "db", columns=columns, key=())
    for each, wanted in ((value, found), (None, None)):
        event = RowChange(replace(table, columns=None), "insert", None, Image(columns, (each,)), AT)
        (again,) = there_and_back([event], context_of([table], encoding=encoding))
        assert isinstance(again, RowChange)
        assert again.after is not None
        assert again.after["v"] == wanted
        assert type(again.after["v"]) is type(wanted)


@pytest.mark.parametrize(
    ("kind", "source", "value"),
    [
        (IntType(8), None, 128),
        (IntType(64), None, True),
        (IntType(64), None, "1"),
        (FloatType(64), None, float("inf")),
        (FloatType(64), "FLOAT", 0.1),
        (DecimalType(), None, Decimal("NaN")),
        (DecimalType(), None, "1.1"),
        (TextType(), None, b"\xff"),
        (TextType(), None, "\ud800"),
        (TimestampType(), "TIMESTAMP", "2020-01-01 00:00:00"),
        (TimestampType(form="ns", zone="+00:00"), None, 1),
        (ArrayType(IntType(64)), None, (1,)),
        (UnknownType(), None, b"x"),
        (TextType(), None, UNAVAILABLE),
    ],
    ids=str,
)
def test_value_without_a_form_is_refused(kind: Type, source: str | None, value: Value) -> None:
    columns = (Column("v", kind, source),)
    table = Table("t", "db", columns=columns, key=())
    event = RowChange(table, "insert", None, Image(columns, (value,)), AT)
    with pytest.raises(EncodeError) as caught:
        there_and_back([event], context_of([table]))
    assert caught.value.path == ("events", 0, "after", "v")
    assert caught.value.clause.startswith("datahub")


@pytest.mark.parametrize(
    ("event", "op"),
    [
        (Progress("heartbeat", AT), "MHEARTBEAT"),
        (Progress("resolved", AT), "resolved"),
        (SchemaChange("alter", "x", None, NAMED, AT), "ALTER"),
        (Marker("begin", None, AT), "TRANSACTION_BEGIN"),
        (Marker("tombstone", None, AT), "tombstone"),
        (replace(INSERT, op="upsert"), "upsert"),
        (replace(INSERT, op="read"), "read"),
    ],
)
def test_content_that_a_tuple_does_not_carry_is_refused_by_name(event: Event, op: str) -> None:
    with pytest.raises(UnsupportedInTupleError) as caught:
        there_and_back([event], context_of())
    error = caught.value
    assert (error.op, error.reason) == (op, "tuple topics carry DML only")
    assert "datahub-blob" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("image", "column"),
    [
        (Image(COLUMNS[:1], (1,)), "v"),
        (Image((*COLUMNS, Column("w", TextType())), (1, "a", "b")), "w"),
    ],
)
def test_row_of_other_columns_is_refused(image: Image, column: str) -> None:
    with pytest.raises(SchemaMismatchError) as caught:
        there_and_back([replace(INSERT, after=image)], context_of())
    assert caught.value.column == column
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    "event",
    [
        replace(INSERT, position=Position(sequence_id=1)),
        replace(INSERT, position=Position(commit_ms=1)),
        replace(INSERT, position=Position(sequence_id=1, commit_ms=10**13)),
        replace(INSERT, position=Position(sequence_id=10**38, commit_ms=1)),
        replace(INSERT, table=Table("u", "db")),
        replace(INSERT, table=Table("t", "other")),
        replace(UPDATE, before=None),
        replace(INSERT, half="after"),
        replace(INSERT, before=row(1, "a")),
        replace(INSERT, after=row(None, "a")),  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_event_without_a_form_is_refused(event: Event) -> None:
    with pytest.raises(EncodeError) as caught:
        there_and_back([event], context_of())
    assert caught.value.path[:2] == ("events", 0)


def test_bytes_that_are_not_base64_are_rejected() -> None:
    table = Table("t", columns=(Column("b", BytesType(), "STRING"),))
    topic = topic_of(table)
    data = ("1", "I", 5, "t", "N", "Y", "not base64!")
    raw, _ = write_body(Body("json", (Record(data),)), topic.fields)
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(KafkaMessage(None, raw), context=context_of([table])))
    assert caught.value.clause == "datahub-tuple: bytes values"
    assert caught.value.path == ("Records", 0, "Data", "b")


def test_selection_leaves_out_tables_and_columns() -> None:
    (message,) = FORMAT.from_events([INSERT], context=context_of())
    for tables, columns, names in (
        (frozenset({("db", "t")}), frozenset({"v"}), [("v",)]),
        (frozenset({("db", "u")}), None, []),
    ):
        context = replace(context_of(), selection=Selection(tables, columns))
        found = FORMAT.to_events(message, context=context)
        assert [e.after.names for e in found if isinstance(e, RowChange) and e.after] == names


def spans_cover(explanation: Explanation, size: int) -> None:
    end = 0
    for span in explanation.spans:
        assert span.start == end, span
        end = span.end
    assert end == size


@pytest.mark.parametrize("encoding", ["json", "protobuf", "batch"])
@pytest.mark.parametrize("more", [{}, {"compression": "zlib"}, {"content_encoding": "deflate"}])
def test_every_byte_is_explained(encoding: str, more: dict[str, Any]) -> None:
    context = context_of(encoding=encoding, **more)
    long = replace(INSERT, after=row(1, "a text that is longer than a slot"))
    (message,) = FORMAT.from_events([long, UPDATE, DELETE] * 2, context=context)
    assert isinstance(message, KafkaMessage)
    found = FORMAT.explain(message, context=context)
    assert found.error is None
    spans_cover(found, len(message.value or b""))
    raw = bytearray(message.value or b"")
    raw[-1] ^= 1
    damaged = FORMAT.explain(KafkaMessage(None, bytes(raw), message.headers), context=context)
    assert damaged.error is not None
    spans_cover(damaged, damaged.error.offset)


@pytest.mark.parametrize("encoding", ["json", "protobuf", "batch"])
def test_records_are_read_one_by_one(encoding: str) -> None:
    context = context_of(encoding=encoding)
    settings, topic = topic_in(context)
    (message,) = FORMAT.from_events([INSERT, DELETE], context=context)
    assert isinstance(message, KafkaMessage)
    good, wrong = (record for _, record in read_records(message, topic.fields, settings.body))
    values = list(wrong.data)
    values[topic.operation_type] = "X"
    records = (good, good, replace(wrong, data=tuple(values)))
    entries = (Batch(records),) if encoding == "batch" else records
    raw, headers = write_body(Body(cast(Any, encoding), entries), topic.fields)
    message = KafkaMessage(None, raw, tuple((k, v.encode()) for k, v in headers.items()))
    events = FORMAT.to_events(message, context=context)
    assert [next(events), next(events)] == [INSERT, INSERT]
    with pytest.raises(DecodeError, match="'X' is not I, U or D"):
        next(events)
    found = FORMAT.explain(message, context=context)
    spans = found.each()
    for span in spans:
        if span.subject is not None and span.subject.event == 1:
            break
    assert found.error_so_far is None
    list(spans)
    assert found.error_so_far is not None


def test_settings_refuse_what_is_not_known() -> None:
    for options in ({"encoding": "record"}, {"other": 1}, {"execute-time-column": "x"}):
        with pytest.raises(OptionError):
            read_settings(options)


def test_page_has_every_clause_option_and_choice() -> None:
    page = "".join(
        (ROOT / "docs" / "formats" / f"{name}.md").read_text("utf-8")
        for name in ("datahub", "datahub-tuple")
    )
    headings = set(re.findall(r"^### (datahub(?:-tuple)?: .+)$", page, re.MULTILINE))
    folder = Path(cdcwire.formats.datahub_tuple.__file__).parent
    named = {
        clause
        for module in folder.glob("*.py")
        for clause in re.findall(
            r'"(datahub(?:-tuple)?: [a-zA-Z0-9 ,]+)"', module.read_text("utf-8")
        )
    }
    assert named <= headings
    for option in OPTIONS:
        assert f"`{option.name}`" in page
    for subject in FORMAT.choices:
        assert f"`{subject}`" in page
