"""Known-wrong decoders of formats whose source is MySQL or TiDB."""

from __future__ import annotations

import re
from dataclasses import replace

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Context, Format
from cdcwire.core.message import Message
from cdcwire.model.events import Column, Event, Value
from cdcwire.model.kinds import (
    BitType,
    BytesType,
    DatetimeType,
    DateType,
    EnumType,
    IntType,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    VectorType,
)
from cdcwire_conformance.known_wrong.decoder import KnownWrong, changing_columns, changing_values
from cdcwire_conformance.known_wrong.events import (
    BATCHES,
    COMMIT_TS,
    EVENTS,
    OLD_ROWS,
    ONE_COMMIT_TS_A_MESSAGE,
    OPERATIONS,
    SCHEMA_CHANGES,
    STATEMENTS,
)
from cdcwire_conformance.known_wrong.values import (
    BINARY_AND_JSON,
    CUT_VALUES,
    FLOAT32_AS_DOUBLE,
    NAMES_IN_LOWER_CASE,
    NUMBERS_AND_TEXTS,
    VALUES,
)


def _signed_for_unsigned(column: Column, value: Value) -> Value:
    is_unsigned = isinstance(column.type, IntType) and column.type.unsigned
    return value - (1 << 64) if is_unsigned and value >= 1 << 63 else value


def _signed_bits(column: Column, value: Value) -> Value:
    return value - (1 << 64) if isinstance(column.type, BitType) and value >= 1 << 63 else value


def _set_in_32_bits(column: Column, value: Value) -> Value:
    return value & 0xFFFFFFFF if isinstance(column.type, SetType) else value


def _enum_from_zero(column: Column, value: Value) -> Value:
    return max(value - 1, 0) if isinstance(column.type, EnumType) else value


def _ill_formed_text_replaced(column: Column, value: Value) -> Value:
    if isinstance(column.type, TextType) and isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value


def _medium_text_as_binary(column: Column, value: Value) -> tuple[Column, Value]:
    if column.source == "mediumtext" and isinstance(value, str):
        return replace(column, type=BytesType()), value.encode()
    return column, value


def _zero_date_as_null(column: Column, value: Value) -> Value:
    temporal = (DateType, DatetimeType, TimestampType)
    is_zero = isinstance(column.type, temporal) and value.startswith("0000-00-00")
    return None if is_zero else value


def _time_as_clock(column: Column, value: Value) -> Value:
    found = re.match(r"-?(\d+)(:.*)", value) if isinstance(column.type, TimeType) else None
    return f"{int(found[1]) % 24:02d}{found[2]}" if found else value


def _eight_hours_off(column: Column, value: Value) -> Value:
    found = (
        re.match(r"(\d{4}-\d\d-\d\d) (\d\d)(.*)", value)
        if isinstance(column.type, TimestampType)
        else None
    )
    return f"{found[1]} {(int(found[2]) + 8) % 24:02d}{found[3]}" if found else value


def _fraction_in_milliseconds(column: Column, value: Value) -> Value:
    temporal = (TimeType, DatetimeType, TimestampType)
    if not isinstance(column.type, temporal):
        return value
    return re.sub(r"(\.\d{3})\d+$", r"\1", value)


def _vector_as_null(column: Column, value: Value) -> Value:
    return None if isinstance(column.type, VectorType) else value


def _bit_as_text(column: Column, value: Value) -> tuple[Column, Value]:
    if not isinstance(column.type, BitType) or value is None:
        return column, value
    return replace(column, type=TextType()), str(value)


def _timestamp_in_utc(column: Column, value: Value) -> tuple[Column, Value]:
    if not isinstance(column.type, TimestampType):
        return column, value
    return replace(column, type=replace(column.type, zone="+00:00")), value


def _cut_file_accepted(format_: Format, message: Message, context: Context) -> list[Event]:
    events: list[Event] = []
    try:
        for event in format_.decode(message, context):
            events.append(event)
    except DecodeError:
        if not events:
            raise
    return events


# Every format of the family can show these.
MYSQL_FAULTS: tuple[KnownWrong, ...] = (
    *VALUES,
    FLOAT32_AS_DOUBLE,
    *CUT_VALUES,
    *NUMBERS_AND_TEXTS,
    *BINARY_AND_JSON,
    NAMES_IN_LOWER_CASE,
    *EVENTS,
    *OPERATIONS,
    *SCHEMA_CHANGES,
    *STATEMENTS,
    *COMMIT_TS,
    KnownWrong(
        "signed-for-unsigned",
        "BIGINT UNSIGNED from 2^63 turns negative",
        changing_values(_signed_for_unsigned),
        ("C1",),
    ),
    KnownWrong(
        "signed-bits", "BIT(64) is read as signed", changing_values(_signed_bits), ("C2", "open/45")
    ),
    KnownWrong(
        "zero-date-as-null",
        "0000-00-00 becomes NULL",
        changing_values(_zero_date_as_null),
        ("26", "27"),
    ),
    KnownWrong(
        "time-as-clock", "TIME is taken for a time of day", changing_values(_time_as_clock), ("29",)
    ),
    KnownWrong(
        "eight-hours-off",
        "TIMESTAMP is moved to another zone",
        changing_values(_eight_hours_off),
        ("25",),
    ),
    KnownWrong(
        "fraction-in-milliseconds",
        "digits after the third of a second are cut",
        changing_values(_fraction_in_milliseconds),
        ("28",),
    ),
)


# Most formats have several events in a message, and ENUM and SET as numbers.
BATCHED_MYSQL_FAULTS: tuple[KnownWrong, ...] = (
    *MYSQL_FAULTS,
    *OLD_ROWS,
    *BATCHES,
    ONE_COMMIT_TS_A_MESSAGE,
    KnownWrong(
        "set-in-32-bits",
        "SET members from the 33rd on are lost",
        changing_values(_set_in_32_bits),
        ("C3",),
    ),
    KnownWrong(
        "enum-from-zero", "ENUM's index counts from 0", changing_values(_enum_from_zero), ("42",)
    ),
    KnownWrong(
        "mediumtext-as-binary",
        "code 250 is taken for the BLOB alone",
        changing_columns(_medium_text_as_binary),
        ("C6",),
    ),
)


ILL_FORMED_TEXT_REPLACED = KnownWrong(
    "ill-formed-text-replaced",
    "bytes that are not UTF-8 become question marks",
    changing_values(_ill_formed_text_replaced),
    ("41",),
)
VECTOR_AS_NULL = KnownWrong(
    "vector-as-null", "VECTOR always decodes to NULL", changing_values(_vector_as_null), ("C7",)
)
BIT_AS_TEXT = KnownWrong("bit-as-text", "a BIT is given as text", changing_columns(_bit_as_text))
TIMESTAMP_IN_UTC = KnownWrong(
    "timestamp-in-utc",
    "a TIMESTAMP is taken for UTC, though nobody says so",
    changing_columns(_timestamp_in_utc),
    ("20",),
)
CUT_FILE_ACCEPTED = KnownWrong(
    "cut-file-accepted",
    "a file that was cut off gives its whole rows and no error",
    _cut_file_accepted,
)
