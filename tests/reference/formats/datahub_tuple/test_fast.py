"""The fast decoder gives what the plain one gives, for good bodies and for bad ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdcwire.core.compiled import Irregular
from cdcwire.core.context import NO_CONTEXT
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Row
from cdcwire.datahub.body import write_body
from cdcwire.datahub.fast_batch import BatchReader
from cdcwire.datahub.fields import MAX_TIMESTAMP, MIN_TIMESTAMP
from cdcwire.datahub.frame import crc32c, write_frame
from cdcwire.datahub.message import Batch, Body, Record
from cdcwire.datahub.protobuf import write_bytes
from cdcwire.formats.datahub_tuple import Settings, TupleRow, record_of, to_event, topic_of
from cdcwire.formats.datahub_tuple.events import events_of
from cdcwire.formats.datahub_tuple.fast import RowDecoder
from cdcwire.formats.datahub_tuple.settings import DEFAULT_SETTINGS
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.kinds import (
    BoolType,
    Column,
    DecimalType,
    FloatType,
    IntType,
    TextType,
    TimestampType,
)

COLUMNS = (
    Column("tiny", IntType(8)),
    Column("small", IntType(16)),
    Column("int", IntType(32)),
    Column("big", IntType(64)),
    Column("float", FloatType(32)),
    Column("double", FloatType(64)),
    Column("bool", BoolType()),
    Column("time", TimestampType(form="us", zone="+00:00")),
    Column("text", TextType()),
    Column("decimal", DecimalType()),
    Column("key", IntType(64), nullable=False),
)
TOPIC = topic_of(Table("t", "db", columns=COLUMNS))
VALUES = st.tuples(
    st.none() | st.integers(-128, 127),
    st.none() | st.integers(-32768, 32767),
    st.none() | st.integers(-(1 << 31), (1 << 31) - 1),
    st.none() | st.integers(-(1 << 63), (1 << 63) - 1),
    st.none() | st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | st.booleans(),
    st.none() | st.integers(MIN_TIMESTAMP, MAX_TIMESTAMP),
    st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.none() | st.decimals(-(10**9), 10**9, allow_nan=False, places=4),
    st.integers(0, 9),
)
ROWS = st.builds(
    lambda flags, number, values: TupleRow._make((*flags, str(number), 5, "t", values)),
    st.sampled_from(
        [("I", False, True), ("U", True, False), ("U", False, True), ("D", True, False)]
    ),
    st.integers(0, 10**38 - 1),
    VALUES,
)
KINDS = st.sampled_from(["none", "zlib", "deflate"])


def body(rows: list[TupleRow], compression: Any = "none", attributes: Any = ()) -> KafkaMessage:
    records = [record_of(row, TOPIC) for row in rows]
    if attributes:
        records = [Record(record.data, attributes) for record in records]
    entries = (Batch(tuple(records), compression), Batch(tuple(records[:1]), compression))
    raw, headers = write_body(Body("batch", entries), TOPIC.fields)
    return KafkaMessage(None, raw, tuple((k, v.encode()) for k, v in headers.items()))


def plain(message: KafkaMessage, options: Settings) -> list[Event]:
    return list(events_of(message, TOPIC, options))


def fast(message: KafkaMessage, options: Settings = DEFAULT_SETTINGS) -> list[Event]:
    return RowDecoder(NO_CONTEXT, options, TOPIC).decode_events(message)


def plain_events(rows: list[TupleRow]) -> list[RowChange]:
    return [to_event(row, TOPIC) for row in rows]


def outcome(read: Any, *given: Any) -> object:
    """Return rows with the types of their values, or all that an error says."""
    try:
        return repr(read(*given))
    except DecodeError as error:
        return error.offset, error.clause, error.path, error.problem


@given(st.lists(ROWS, max_size=5), KINDS)
@settings(max_examples=60)
def test_bodies_are_read_as_the_plain_decoder_reads_them(
    rows: list[TupleRow], compression: str
) -> None:
    message = body(rows, compression)
    options = Settings()
    assert fast(message) == plain_events(rows + rows[:1])
    for each in (message, KafkaMessage(None, message.value)):
        assert outcome(fast, each) == outcome(plain, each, options)
    usual = RowDecoder(NO_CONTEXT, options, TOPIC)._usual_rows(message)
    assert [row.to_event() for row in usual if isinstance(row, Row)] == plain_events(
        rows + rows[:1]
    )


@given(
    st.lists(ROWS, min_size=1, max_size=2),
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 255)), min_size=1, max_size=20),
)
@settings(max_examples=60)
def test_damaged_bodies_are_read_as_the_plain_decoder_reads_them(
    rows: list[TupleRow], changes: list[tuple[int, int]]
) -> None:
    """The changes are sealed with right checksums, so that they reach the records."""
    message = body(rows)
    value = message.value or b""
    records = tuple(record_of(row, TOPIC) for row in rows)
    batch, _ = write_body(Body("batch", (Batch(records),)), TOPIC.fields)
    start = batch.index(b"DHUB", 4)
    for place, byte in changes:
        changed = bytearray(batch[start:])
        changed[place % len(changed)] = byte
        changed[16:20] = crc32c(bytes(changed[26:])).to_bytes(4, "little")
        inner, out = bytearray(), bytearray()
        write_bytes(inner, 6, changed)
        write_bytes(out, 1, inner)
        each = KafkaMessage(None, write_frame(bytes(out)))
        assert outcome(fast, each) == outcome(plain, each, Settings())
        raw = bytearray(value)
        raw[place % len(raw)] = byte
        each = KafkaMessage(None, bytes(raw))
        assert outcome(fast, each) == outcome(plain, each, Settings())


ROW = TupleRow("I", False, True, "7", 5, "t", (*(None,) * 8, "a", None, 1))


@pytest.mark.parametrize("encoding", ["json", "protobuf", "batch"])
@pytest.mark.parametrize("content", ["none", "deflate"])
def test_other_bodies_are_read_by_the_plain_decoder(encoding: Any, content: Any) -> None:
    options = Settings(encoding=encoding, content_encoding=content)
    record = record_of(ROW, TOPIC)
    entries = (Batch((record,)),) if encoding == "batch" else (record,)
    raw, headers = write_body(Body(encoding, entries), TOPIC.fields, options.body)
    for each in (
        KafkaMessage(None, raw, tuple((k, v.encode()) for k, v in headers.items())),
        KafkaMessage(None, raw),
        KafkaMessage(None, raw, (("content-type", b"application/json"),)),
        KafkaMessage(None, raw, (("x-datahub-request-action", b"sub"),)),
        KafkaMessage(None, None),
    ):
        found = outcome(fast, each, options)
        assert found == outcome(plain, each, options)


@pytest.mark.parametrize(
    "row",
    [
        ROW._replace(values=(*(None,) * 8, "a longer text é", None, 1)),
        ROW._replace(values=(*(None,) * 8, "", None, 1)),
    ],
)
def test_attributes_and_long_texts_are_read(row: TupleRow) -> None:
    for message in (body([row]), body([row], attributes=(("k", "v"),))):
        assert fast(message) == plain_events([row, row])


@pytest.mark.parametrize(
    "changes",
    [
        {"_sequence_id_": "x"},
        {"_sequence_id_": None},
        {"_sequence_id_": "²"},
        {"_operation_type_": "X"},
        {"_excute_time_": -1},
        {"_excute_time_": None},
        {"_source_table_": "u"},
        {"_source_table_": None},
        {"_before_image_": "Y"},
        {"_after_image_": None},
    ],
)
def test_metadata_that_breaks_a_rule_is_reported_by_the_plain_decoder(
    changes: dict[str, Any],
) -> None:
    data = dict(
        zip([field.name for field in TOPIC.fields], record_of(ROW, TOPIC).data, strict=True)
    )
    record = Record(tuple({**data, **changes}.values()))
    raw, _ = write_body(Body("batch", (Batch((record,)),)), TOPIC.fields)
    message = KafkaMessage(None, raw)
    found = outcome(fast, message)
    assert isinstance(found, tuple)
    assert found == outcome(plain, message, Settings())


@pytest.mark.parametrize("raw", [b"", b"DHUB", bytes(26), bytes(40)])
def test_reader_of_batches_takes_what_is_usual_only(raw: bytes) -> None:
    with pytest.raises(Irregular):
        BatchReader(TOPIC.fields).read(raw)
