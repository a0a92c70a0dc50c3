"""What each option changes in the messages that are written and in the events that are read."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.debezium_json.format import FORMAT
from cdcwire.model.events import Event, Image, Marker, Op, Position, Progress, RowChange, Table
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
    FloatType,
    IntervalType,
    IntType,
    JsonType,
    MapType,
    TextType,
    TimeType,
    Type,
)

ID = Column("id", IntType(32), nullable=False)
TABLE = Table("t", "public", key=("id",))
POSITION = Position(lsn=900, tx_id="7", commit_ms=5, sent_ms=6)
VERSIONS = ("debezium-1.4", "debezium-2.7", "debezium-3.2")


def change(
    op: Op, before: int | None, after: int | None, position: Position = POSITION
) -> RowChange:
    old, new = (None if key is None else Image((ID,), (key,)) for key in (before, after))
    return RowChange(TABLE, op, old, new, position)


def column_of(kind: Type, value: object, **options: str | bool) -> tuple[dict[str, Any], Any]:
    """Return schema and JSON of a column's value in a message that is written."""
    column = Column("a", kind, nullable=True)
    event = RowChange(TABLE, "insert", None, Image((ID, column), (1, value)), POSITION)
    given = {name.replace("_", "-"): setting for name, setting in options.items()}
    (message,) = FORMAT.from_events([event], context=Context(options=given))
    assert isinstance(message, KafkaMessage)
    found = json.loads(message.value or b"")
    (after,) = [field for field in found["schema"]["fields"] if field["field"] == "after"]
    return after["fields"][1], found["payload"]["after"]["a"]


TEXTS = MapType(TextType(), TextType())
MODES: dict[str, tuple[Type, object, dict[str, str | bool], str, str, object]] = {
    "interval": (IntervalType("us"), 5, {}, "int64", "io.debezium.time.MicroDuration", 5),
    "interval-string": (
        IntervalType("us"),
        -(3600 * 10**6 + 1_500_000),
        {"interval_handling_mode": "string"},
        "string",
        "io.debezium.time.Interval",
        "P0Y0M0DT-1H0M-1.5S",
    ),
    "interval-text": (
        IntervalType("text"),
        "P1Y2M3DT4H5M6.789S",
        {},
        "string",
        "io.debezium.time.Interval",
        "P1Y2M3DT4H5M6.789S",
    ),
    "map": (TEXTS, (("k", "v"), ("n", None)), {}, "map", "", {"k": "v", "n": None}),
    "map-json": (
        TEXTS,
        (('q"', "é😀"), ("n", None)),
        {"hstore_handling_mode": "json"},
        "string",
        "io.debezium.data.Json",
        '{"q\\"":"é😀","n":null}',
    ),
    "decimal-string": (
        DecimalType(5, 2),
        Decimal("1.50"),
        {"decimal_handling_mode": "string"},
        "string",
        "",
        "1.50",
    ),
    "decimal-double": (
        DecimalType(5, 2),
        Decimal("1.50"),
        {"decimal_handling_mode": "double"},
        "double",
        "",
        1.5,
    ),
    "time-microseconds": (
        TimeType(form="ms"),
        5,
        {"time_precision_mode": "adaptive_time_microseconds"},
        "int64",
        "io.debezium.time.MicroTime",
        5000,
    ),
    "time-connect": (
        DatetimeType(form="us"),
        5000,
        {"time_precision_mode": "connect"},
        "int64",
        "org.apache.kafka.connect.data.Timestamp",
        5,
    ),
    "date-iso": (
        DateType("d"),
        -1,
        {"time_precision_mode": "isostring"},
        "string",
        "io.debezium.time.IsoDate",
        "1969-12-31Z",
    ),
    "time-iso": (
        TimeType(6),
        "23:59:59.500000",
        {"time_precision_mode": "isostring"},
        "string",
        "io.debezium.time.IsoTime",
        "23:59:59.5Z",
    ),
    "datetime-iso": (
        DatetimeType(form="ms"),
        1,
        {"time_precision_mode": "isostring"},
        "string",
        "io.debezium.time.IsoTimestamp",
        "1970-01-01T00:00:00.001Z",
    ),
    "datetime-all-microseconds": (
        DatetimeType(form="ms"),
        5,
        {"time_precision_mode": "microseconds"},
        "int64",
        "io.debezium.time.MicroTimestamp",
        5000,
    ),
    "time-all-nanoseconds": (
        TimeType(3),
        "00:00:00.001",
        {"time_precision_mode": "nanoseconds"},
        "int64",
        "io.debezium.time.NanoTime",
        1_000_000,
    ),
    "date-all-nanoseconds": (
        DateType(),
        "1970-01-02",
        {"time_precision_mode": "nanoseconds"},
        "int32",
        "io.debezium.time.Date",
        1,
    ),
    "bytes-hex": (BytesType(), b"\xfb\xff", {"binary_handling_mode": "hex"}, "string", "", "fbff"),
    "bytes-base64": (
        BytesType(),
        b"\xfb\xff",
        {"binary_handling_mode": "base64"},
        "string",
        "",
        "+/8=",
    ),
    "bytes-url-safe": (
        BytesType(),
        b"\xfb\xff",
        {"binary_handling_mode": "base64-url-safe"},
        "string",
        "",
        "-_8=",
    ),
    "bits-zero": (BitType(10), 0, {}, "bytes", "io.debezium.data.Bits", ""),
    "bits": (BitType(10), 1, {}, "bytes", "io.debezium.data.Bits", "AQ=="),
    "bits-whole": (
        BitType(10),
        1,
        {"connector": "db2"},
        "bytes",
        "io.debezium.data.Bits",
        "AQA=",
    ),
    "bits-unlimited": (  # not the 256 MiB of the length
        BitType(2147483647),
        5,
        {"connector": "db2"},
        "bytes",
        "io.debezium.data.Bits",
        "BQ==",
    ),
}


@pytest.mark.parametrize("case", MODES)
def test_mode_gives_the_producers_form(case: str) -> None:
    kind, value, options, base, name, expected = MODES[case]
    schema, found = column_of(kind, value, **options)
    assert (schema["type"], schema.get("name", ""), found) == (base, name, expected)


PLACEHOLDERS: dict[str, tuple[Type, object]] = {
    "text": (TextType(), "?"),
    "json": (JsonType(), "?"),
    "bytes": (BytesType(), "Pw=="),
    "texts": (ArrayType(TextType()), ["?"]),
    "integers": (ArrayType(IntType(32)), [63]),
    "dates": (ArrayType(DateType("d")), [63]),
    "map": (TEXTS, {"?": "?"}),
}


@pytest.mark.parametrize("case", PLACEHOLDERS)
def test_unavailable_value_has_the_placeholder_of_its_type(case: str) -> None:
    kind, expected = PLACEHOLDERS[case]
    _, found = column_of(kind, UNAVAILABLE, unavailable_value_placeholder="?")
    assert found == expected


@pytest.mark.parametrize("kind", [IntType(32), FloatType(64), BoolType(), DecimalType(5, 2)])
def test_unavailable_value_without_placeholder_is_refused(kind: Type) -> None:
    with pytest.raises(EncodeError) as caught:
        column_of(kind, UNAVAILABLE)
    assert caught.value.clause == "connect: kinds"


def test_single_record_of_an_update_is_refused_by_name() -> None:
    with pytest.raises(EncodeError, match="two records") as caught:
        list(
            FORMAT.from_events(
                [replace(change("update", None, 1), half="after")], context=Context()
            )
        )
    assert (caught.value.clause, caught.value.path[-1]) == ("debezium-json: operation", "half")


def written(events: list[Event], dialect: str, **options: str | bool) -> list[Any]:
    given = {name.replace("_", "-"): setting for name, setting in options.items()}
    context = Context(options={"dialect": dialect, "schemas-enable": "false", **given})
    found = []
    for message in FORMAT.from_events(events, context=context):
        assert isinstance(message, KafkaMessage)
        found.append(None if message.value is None else json.loads(message.value))
    return found


@pytest.mark.parametrize("dialect", VERSIONS)
def test_transaction_metadata_is_made_from_the_ids(dialect: str) -> None:
    later = replace(POSITION, lsn=910)
    events: list[Event] = [
        change("insert", None, 1),
        Progress("heartbeat", Position(sent_ms=6)),
        change("update", 1, 2, later),  # which is two changes
        change("insert", None, 3, replace(POSITION, tx_id=None)),
        change("delete", 3, None, replace(later, tx_id="8")),
    ]
    found = written(events, dialect, provide_transaction_metadata=True)
    is_new = dialect != "debezium-1.4"
    ids = ("7:900", "7:910", "8:910") if is_new else ("7", "7", "8")
    borders = [one for one in found if one is not None and "status" in one]
    assert [(one["status"], one["id"], one["event_count"]) for one in borders] == [
        ("BEGIN", ids[0], None),
        ("END", ids[1], 3),
        ("BEGIN", ids[2], None),
        ("END", ids[2], 1),
    ]
    assert borders[1]["data_collections"] == [{"data_collection": "public.t", "event_count": 3}]
    assert borders[0].get("ts_ms") == (POSITION.commit_ms if is_new else None)
    orders = [one["transaction"] for one in found if one is not None and "op" in one]
    assert [None if one is None else (one["id"], one["total_order"]) for one in orders] == [
        (ids[0], 1),
        (ids[1], 2),
        (ids[1], 3),
        None,
        (ids[2], 1),
    ]


def test_reported_transaction_is_counted() -> None:
    events: list[Event] = [
        Marker("begin", "tx", Position(sent_ms=6)),
        change("insert", None, 1),
        Marker("end", "tx", Position(sent_ms=6)),
    ]
    begin, row, end = written(events, "debezium-2.7", provide_transaction_metadata=True)
    assert (begin["id"], row["transaction"]["id"], end["event_count"]) == ("tx", "tx", 1)


def test_delete_is_filled_by_the_version() -> None:
    """Where NULL can't be, 1.4 puts a zero, later versions the default."""
    kept = Column("n", IntType(32), nullable=False, default=5)
    text = Column("v", BytesType(), nullable=False)
    table = replace(TABLE, columns=(ID, kept, text, Column("w", TextType(), nullable=True)))
    event = replace(change("delete", 1, None), sent="key")
    for dialect, expected in (("debezium-1.4", 0), ("debezium-2.7", 5)):
        context = Context(options={"dialect": dialect, "schemas-enable": "false"}, tables=(table,))
        (message,) = FORMAT.from_events([event], context=context)
        assert isinstance(message, KafkaMessage)
        before = json.loads(message.value or b"")["before"]
        assert before == {"id": 1, "n": expected, "v": "", "w": None}


@pytest.mark.parametrize(("dialect", "name"), [(VERSIONS[0], "a_b_c"), (VERSIONS[1], "a-b_c")])
def test_schema_name_has_the_letters_that_the_version_allows(dialect: str, name: str) -> None:
    event = replace(change("insert", None, 1), table=Table("a-b c", "public", key=("id",)))
    (message,) = FORMAT.from_events([event], context=Context(options={"dialect": dialect}))
    assert isinstance(message, KafkaMessage)
    assert f'"cdl.public.{name}.Key"'.encode() in (message.key or b"")


def test_snapshot_that_breaks_its_schema_is_a_warning() -> None:
    """2.7.4 sends some that it does not list."""
    event = replace(
        change("insert", None, 1), op="read", extra={"snapshot": "first_in_data_collection"}
    )
    (message,) = FORMAT.from_events([event], context=Context(options={"dialect": "debezium-2.7"}))
    assert isinstance(message, KafkaMessage)
    (warning,) = FORMAT.warnings(message, Context())
    assert "debezium-json: snapshot" in warning
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(message, context=Context(options={"lint": "strict"})))
    assert caught.value.clause == "debezium-json: lint"
    (message,) = FORMAT.from_events([event], context=Context(options={"dialect": "debezium-3.2"}))
    assert FORMAT.warnings(message, Context()) == ()


def test_database_of_a_logical_message_comes_back() -> None:
    extra = {"connector": "postgresql", "connector_version": "3.2.0.Final", "source_name": "cdl"}
    event = Marker(
        "logical_message",
        "p",
        replace(POSITION, tx_id=None),
        {**extra, "snapshot": "false", "content": "text", "database": "d"},
    )
    context = Context(options={"dialect": "debezium-3.2"})
    (message,) = FORMAT.from_events([event], context=context)
    assert list(FORMAT.to_events(message, context=context)) == [event]


def test_number_out_of_range_without_schema_has_its_place() -> None:
    context = Context(options={"schemas-enable": "false"})
    (message,) = FORMAT.from_events([change("insert", None, 1)], context=context)
    assert isinstance(message, KafkaMessage)
    value = (message.value or b"").replace(b'"after":{"id":1}', b'"after":{"id":1e999}')
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(KafkaMessage(message.key, value), context=context))
    error = caught.value
    assert (error.path, error.clause) == (("value", "after", "id"), "connect: float values")
    assert value[error.offset :].startswith(b"1e999")
