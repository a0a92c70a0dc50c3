"""Records that are older than the last fields of their topic."""

from __future__ import annotations

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.formats.datahub_tuple import FORMAT
from cdcwire.formats.datahub_tuple.fast import RowDecoder
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType

ENCODINGS = ("json", "protobuf", "batch")
COLUMNS = (
    Column("id", IntType(64), "BIGINT"),
    Column("v", TextType(), "STRING"),
    Column("added", TextType(), "STRING"),
)
AT = Position(sequence_id=1, commit_ms=2)


def context(encoding: str, columns: tuple[Column, ...] = COLUMNS, mode: str = "absent") -> Context:
    table = Table("t", "s", columns=columns, key=("id",))
    return Context(options={"encoding": encoding, "short-records": mode}, tables=(table,))


def insert(columns: tuple[Column, ...], *values: object) -> RowChange:
    return RowChange(
        Table("t", "s", key=("id",)), "insert", None, Image(columns, tuple(values)), AT
    )


def write(event: RowChange, known: Context) -> KafkaMessage:
    (message,) = FORMAT.from_events([event], context=known)
    assert isinstance(message, KafkaMessage)
    return message


def read(message: KafkaMessage, known: Context) -> list[Event]:
    found = list(FORMAT.to_events(message, context=known))
    assert list(RowDecoder(known).decode_events(message)) == found
    assert FORMAT.explain(message, context=known).error is None
    return found


def columns_of(event: Event) -> dict[str, object]:
    assert isinstance(event, RowChange)
    assert event.after is not None
    return {column.name: value for column, value in event.after.pairs}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_missing_fields_are_absent_and_null_is_null(encoding: str) -> None:
    now = context(encoding)
    for event in (insert(COLUMNS[:2], 1, None), insert(COLUMNS[:1], 1)):
        then = context(encoding, event.after.columns if event.after else ())
        message = write(event, then)
        assert [columns_of(each) for each in read(message, now)] == [columns_of(event)]
        assert write(event, now) == message
    full = insert(COLUMNS, 1, "a", None)
    assert [columns_of(each) for each in read(write(full, now), now)] == [columns_of(full)]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_short_record_is_rejected_without_the_option(encoding: str) -> None:
    message = write(insert(COLUMNS[:2], 1, "a"), context(encoding, COLUMNS[:2]))
    with pytest.raises(DecodeError, match="set short-records=absent"):
        list(FORMAT.to_events(message, context=context(encoding, mode="reject")))


def test_row_without_a_column_in_the_middle_is_not_written() -> None:
    with pytest.raises(EncodeError, match="'v' is not in the row"):
        write(insert((COLUMNS[0], COLUMNS[2]), 1, "x"), context("json"))


@pytest.mark.parametrize("mode", ["absent", "reject"])
def test_record_of_another_service_has_no_hint_that_does_not_help(mode: str) -> None:
    """Alibaba DTS writes five other columns before those of the table."""
    sent = b'{"Action":"pub","Records":[{"Data":["1","I","1649991726000","N","Y","1"]}]}'
    known = context("json", COLUMNS[:1], mode)
    with pytest.raises(DecodeError, match="such as Alibaba DTS"):
        list(FORMAT.to_events(KafkaMessage(None, sent), context=known))
