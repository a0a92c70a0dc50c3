"""The suite's facts about formats of MySQL's or TiDB's changes: known-wrong decoders, layers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.limits import INT64_END
from cdcwire.core.message import Message
from cdcwire.core.reader import Span
from cdcwire.format import Format
from cdcwire.model import kinds
from cdcwire.model.events import Event
from cdcwire.model.kinds import Column, Value
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    wrong_columns,
    wrong_decoder,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import (
    BATCHES,
    COMMIT_TS,
    EVENTS,
    OLD_ROWS,
    OPERATIONS,
    SCHEMA_CHANGES,
    STATEMENTS,
    one_commit_ts_a_message,
)
from cdcwire_conformance.known_wrong.values import (
    BINARY_AND_JSON,
    CUT_VALUES,
    NUMBERS_AND_TEXTS,
    VALUES,
    float32_as_double,
    names_in_lower_case,
)
from cdcwire_conformance.mutations import Layer

_OPTION = "large-message-handle-compression"


def compression_layers(raw: bytes, context: Context) -> Iterator[Layer]:
    """Yield the bytes before compression, if the options name one that is installed."""
    known = context.compressions.get(str(context.options.get(_OPTION, "none")))
    if known is not None:
        with suppress(ValueError):
            yield Layer(known.decompress(raw), known.compress)


def is_read(spans: Sequence[Span]) -> bool:
    """Return whether a reader of rows looks into a file: not into an index file."""
    return not all(span.clause == "storage: index files" for span in spans)


@wrong_values("only the first element of a SET is kept")
def set_cut_at_comma(column: Column, value: Value) -> Value:
    """Keep only the first element of a SET."""
    return value.partition(",")[0] if isinstance(column.type, kinds.SetType) else value


@wrong_values("BIGINT UNSIGNED from 2^63 turns negative", "C1")
def signed_for_unsigned(column: Column, value: Value) -> Value:
    """Read an unsigned integer of 64 bits as signed."""
    is_unsigned = isinstance(column.type, kinds.IntType) and column.type.unsigned
    return value - (1 << 64) if is_unsigned and value >= INT64_END else value


@wrong_values("BIT(64) is read as signed", "C2", "open/45")
def signed_bits(column: Column, value: Value) -> Value:
    """Read a BIT of 64 bits as signed."""
    return (
        value - (1 << 64) if isinstance(column.type, kinds.BitType) and value >= 1 << 63 else value
    )


@wrong_values("SET members from the 33rd on are lost", "C3")
def set_in_32_bits(column: Column, value: Value) -> Value:
    """Keep only the first 32 members of a SET."""
    return value & 0xFFFFFFFF if isinstance(column.type, kinds.SetType) else value


@wrong_values("ENUM's index counts from 0", "42")
def enum_from_zero(column: Column, value: Value) -> Value:
    """Lower the index of an ENUM by one."""
    return max(value - 1, 0) if isinstance(column.type, kinds.EnumType) else value


@wrong_values("bytes that are not UTF-8 become question marks", "41")
def ill_formed_text_replaced(column: Column, value: Value) -> Value:
    """Replace invalid UTF-8 in a text with U+FFFD."""
    if isinstance(column.type, kinds.TextType) and isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value


@wrong_columns("code 250 is taken for the BLOB alone", "C6")
def mediumtext_as_binary(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace a MEDIUMTEXT with the bytes of its UTF-8 text."""
    if column.source == "mediumtext" and isinstance(value, str):
        return replace(column, type=kinds.BytesType()), value.encode()
    return column, value


@wrong_values("0000-00-00 becomes NULL", "26", "27")
def zero_date_as_null(column: Column, value: Value) -> Value:
    """Replace a zero date with NULL."""
    temporal = (kinds.DateType, kinds.DatetimeType, kinds.TimestampType)
    is_zero = isinstance(column.type, temporal) and value.startswith("0000-00-00")
    return None if is_zero else value


@wrong_values("TIME is taken for a time of day", "29")
def time_as_clock(column: Column, value: Value) -> Value:
    """Reduce a TIME modulo 24 hours and drop its sign."""
    found = re.match(r"-?(\d+)(:.*)", value) if isinstance(column.type, kinds.TimeType) else None
    return f"{int(found[1]) % 24:02d}{found[2]}" if found else value


@wrong_values("TIMESTAMP is moved to another zone", "25")
def eight_hours_off(column: Column, value: Value) -> Value:
    """Move the hour of a TIMESTAMP by eight and leave its date."""
    found = (
        re.match(r"(\d{4}-\d\d-\d\d) (\d\d)(.*)", value)
        if isinstance(column.type, kinds.TimestampType)
        else None
    )
    return f"{found[1]} {(int(found[2]) + 8) % 24:02d}{found[3]}" if found else value


@wrong_values("digits after the third of a second are cut", "28")
def fraction_in_milliseconds(column: Column, value: Value) -> Value:
    """Cut the fraction of a second after three digits."""
    temporal = (kinds.TimeType, kinds.DatetimeType, kinds.TimestampType)
    if not isinstance(column.type, temporal):
        return value
    return re.sub(r"(\.\d{3})\d+$", r"\1", value)


@wrong_values("VECTOR always decodes to NULL", "C7")
def vector_as_null(column: Column, value: Value) -> Value:
    """Replace a VECTOR with NULL."""
    return None if isinstance(column.type, kinds.VectorType) else value


@wrong_columns("a BIT is given as text")
def bit_as_text(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace a BIT with its decimal digits as text."""
    if not isinstance(column.type, kinds.BitType) or value is None:
        return column, value
    return replace(column, type=kinds.TextType()), str(value)


@wrong_columns("a TIMESTAMP without a zone is taken for UTC", "20")
def timestamp_in_utc(column: Column, value: Value) -> tuple[Column, Value]:
    """Declare a TIMESTAMP to be in UTC."""
    if not isinstance(column.type, kinds.TimestampType):
        return column, value
    return replace(column, type=replace(column.type, zone="+00:00")), value


@wrong_decoder("a file that was cut off gives its whole rows and no error")
def cut_file_accepted(format_: Format, message: Message, context: Context) -> list[Event]:
    """Return the events before an error; raise the error only if there are none."""
    events: list[Event] = []
    try:
        for event in format_.to_events(message, context=context):
            events.append(event)
    except DecodeError:
        if not events:
            raise
    return events


# Every format of the family can show these.
MYSQL_FAULTS: tuple[KnownWrong, ...] = (
    *VALUES,
    float32_as_double,
    *CUT_VALUES,
    *NUMBERS_AND_TEXTS,
    *BINARY_AND_JSON,
    names_in_lower_case,
    *EVENTS,
    *OPERATIONS,
    *SCHEMA_CHANGES,
    *STATEMENTS,
    *COMMIT_TS,
    signed_for_unsigned,
    signed_bits,
    zero_date_as_null,
    time_as_clock,
    eight_hours_off,
    fraction_in_milliseconds,
)


# Most formats have several events in a message, and ENUM and SET as numbers.
BATCHED_MYSQL_FAULTS: tuple[KnownWrong, ...] = (
    *MYSQL_FAULTS,
    *OLD_ROWS,
    *BATCHES,
    one_commit_ts_a_message,
    set_in_32_bits,
    enum_from_zero,
    mediumtext_as_binary,
)
