"""Known-wrong decoders that misread values."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import TypeVar

from cdcwire.model.events import Column, Value
from cdcwire.model.kinds import (
    BitType,
    BytesType,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    JsonType,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    VectorType,
    YearType,
)
from cdcwire_conformance.known_wrong.decoder import (
    ALL_BUT_CDL,
    BY_INDEX,
    CONNECT,
    CRAFTS,
    EVERYWHERE,
    FILES,
    MESSAGES,
    MYSQL,
    Decode,
    KnownWrong,
    changing_columns,
    changing_values,
)

_Kind = TypeVar("_Kind")


def _signed_for_unsigned(column: Column, value: Value) -> Value:
    is_unsigned = isinstance(column.type, IntType) and column.type.unsigned
    return value - (1 << 64) if is_unsigned and value >= 1 << 63 else value


def _signed_bits(column: Column, value: Value) -> Value:
    return value - (1 << 64) if isinstance(column.type, BitType) and value >= 1 << 63 else value


def _integers_through_double(column: Column, value: Value) -> Value:
    return int(float(value)) if isinstance(column.type, IntType) else value


def _set_in_32_bits(column: Column, value: Value) -> Value:
    return value & 0xFFFFFFFF if isinstance(column.type, SetType) else value


def _year_without_zigzag(column: Column, value: Value) -> Value:
    if not isinstance(column.type, YearType):
        return value
    return value << 1 if value >= 0 else (~value << 1) | 1


def _enum_from_zero(column: Column, value: Value) -> Value:
    return max(value - 1, 0) if isinstance(column.type, EnumType) else value


def _float32_as_double(column: Column, value: Value) -> tuple[Column, Value]:
    if column.type == FloatType(32):
        return replace(column, type=FloatType(64)), value
    return column, value


def _minus_zero_lost(column: Column, value: Value) -> Value:
    return value + 0.0 if isinstance(column.type, FloatType) else value


def _double_in_32_bits(column: Column, value: Value) -> Value:
    if column.type != FloatType(64):
        return value
    return float(f"{value:.7g}")


def _decimal_as_float(column: Column, value: Value) -> Value:
    return Decimal(repr(float(value))) if isinstance(column.type, DecimalType) else value


def _decimal_without_end_zeros(column: Column, value: Value) -> Value:
    if not isinstance(value, Decimal):
        return value
    text = f"{value:f}"
    return Decimal(text.rstrip("0").rstrip(".")) if "." in text else value


def _text_as_latin_1(column: Column, value: Value) -> Value:
    if isinstance(column.type, TextType) and isinstance(value, str):
        return value.encode().decode("latin-1")
    return value


def _ill_formed_text_replaced(column: Column, value: Value) -> Value:
    if isinstance(column.type, TextType) and isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value


def _binary_as_text(column: Column, value: Value) -> tuple[Column, Value]:
    if isinstance(column.type, BytesType) and isinstance(value, bytes):
        return replace(column, type=TextType()), value.decode("utf-8", "replace")
    return column, value


def _medium_text_as_binary(column: Column, value: Value) -> tuple[Column, Value]:
    if column.source == "mediumtext" and isinstance(value, str):
        return replace(column, type=BytesType()), value.encode()
    return column, value


def _binary_without_end_zeros(column: Column, value: Value) -> Value:
    return value.rstrip(b"\0") if isinstance(column.type, BytesType) else value


def _text_without_end_spaces(column: Column, value: Value) -> Value:
    if isinstance(column.type, TextType) and isinstance(value, str):
        return value.rstrip(" ")
    return value


def _text_cut_at_nul(column: Column, value: Value) -> Value:
    if isinstance(column.type, TextType) and isinstance(value, str):
        return value.partition("\0")[0]
    return value


def _empty_text_as_null(column: Column, value: Value) -> Value:
    return None if isinstance(column.type, TextType) and not value else value


def _word_null_as_null(column: Column, value: Value) -> Value:
    return None if isinstance(value, str) and value.lower() == "null" else value


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


def _json_through_double(column: Column, value: Value) -> Value:
    if not isinstance(column.type, JsonType):
        return value
    try:
        return json.dumps(json.loads(value, parse_int=float))
    except ValueError:
        return value


def _vector_as_null(column: Column, value: Value) -> Value:
    return None if isinstance(column.type, VectorType) else value


def _null_as_zero(column: Column, value: Value) -> tuple[Column, Value]:
    if value is not None:
        return column, value
    if isinstance(column.type, (IntType, BitType, YearType, EnumType, SetType)):
        return column, 0
    return column, "" if isinstance(column.type, TextType) else None


def _null_left_out(column: Column, value: Value) -> tuple[Column, Value] | None:
    return None if value is None else (column, value)


def _names_in_lower_case(column: Column, value: Value) -> tuple[Column, Value]:
    return replace(column, name=column.name.lower()), value


def _wrong(
    name: str,
    fault: str,
    decode: Decode,
    *seen: str,
    formats: tuple[str, ...] = EVERYWHERE,
) -> KnownWrong:
    return KnownWrong(name, fault, decode, formats, seen)


VALUES: tuple[KnownWrong, ...] = (
    _wrong(
        "signed-for-unsigned",
        "BIGINT UNSIGNED from 2^63 turns negative",
        changing_values(_signed_for_unsigned),
        "C1",
        formats=MYSQL,
    ),
    _wrong(
        "signed-bits",
        "BIT(64) is read as signed",
        changing_values(_signed_bits),
        "C2",
        "open/45",
        formats=MYSQL,
    ),
    _wrong(
        "set-in-32-bits",
        "SET members from the 33rd on are lost",
        changing_values(_set_in_32_bits),
        "C3",
        formats=BY_INDEX,
    ),
    _wrong(
        "integers-through-double",
        "integers above 2^53 lose their last digits",
        changing_values(_integers_through_double),
        "9",
    ),
    _wrong(
        "year-without-zigzag",
        "YEAR is read as unsigned, so that 2024 becomes 4048",
        changing_values(_year_without_zigzag),
        "C10",
        formats=CRAFTS,
    ),
    _wrong(
        "enum-from-zero",
        "ENUM's index counts from 0",
        changing_values(_enum_from_zero),
        "42",
        formats=BY_INDEX,
    ),
    _wrong(
        "float32-as-double",
        "FLOAT 0.1 is shown as 0.10000000149011612",
        changing_columns(_float32_as_double),
        "17",
        formats=(*MYSQL, "datahub-tuple", *CONNECT),
    ),
    _wrong("minus-zero-lost", "-0.0 becomes 0.0", changing_values(_minus_zero_lost)),
    _wrong(
        "double-in-32-bits",
        "DOUBLE is kept with a float's digits",
        changing_values(_double_in_32_bits),
        formats=ALL_BUT_CDL,
    ),
    _wrong(
        "decimal-as-float",
        "DECIMAL goes through a double",
        changing_values(_decimal_as_float),
        "11",
        formats=(*MYSQL, "datahub-tuple", "debezium-json"),
    ),
    _wrong(
        "decimal-without-end-zeros",
        "12.10 becomes 12.1",
        changing_values(_decimal_without_end_zeros),
        "16",
        formats=(*MYSQL, "datahub-tuple", "debezium-json"),
    ),
    _wrong("text-as-latin-1", "UTF-8 is read as Latin-1", changing_values(_text_as_latin_1)),
    _wrong(
        "ill-formed-text-replaced",
        "bytes that are not UTF-8 become question marks",
        changing_values(_ill_formed_text_replaced),
        "41",
        formats=(*MESSAGES, "csv", "avro"),  # Canal-JSON has replaced them already
    ),
    _wrong(
        "binary-as-text",
        "the binary flag is ignored: BLOB comes out as text with U+FFFD",
        changing_columns(_binary_as_text),
        "C5",
        "32",
    ),
    _wrong(
        "mediumtext-as-binary",
        "code 250 is taken for the BLOB alone",
        changing_columns(_medium_text_as_binary),
        "C6",
        formats=(*MESSAGES, *FILES),  # Avro tells no sizes
    ),
    _wrong(
        "binary-without-end-zeros",
        "BINARY(n) loses its padding",
        changing_values(_binary_without_end_zeros),
        formats=(*MYSQL, "debezium-json"),
    ),
    _wrong(
        "text-without-end-spaces",
        "text loses spaces at its end",
        changing_values(_text_without_end_spaces),
        formats=(*MYSQL, "datahub-tuple", "debezium-json"),
    ),
    _wrong(
        "text-cut-at-nul",
        "text ends at the first NUL",
        changing_values(_text_cut_at_nul),
        formats=ALL_BUT_CDL,
    ),
    _wrong("empty-text-as-null", "'' becomes NULL", changing_values(_empty_text_as_null)),
    _wrong(
        "word-null-as-null",
        "the text 'null' becomes NULL",
        changing_values(_word_null_as_null),
        "35",
    ),
    _wrong(
        "zero-date-as-null",
        "0000-00-00 becomes NULL",
        changing_values(_zero_date_as_null),
        "26",
        "27",
        formats=MYSQL,
    ),
    _wrong(
        "time-as-clock",
        "TIME is taken for a time of day",
        changing_values(_time_as_clock),
        "29",
        formats=MYSQL,
    ),
    _wrong(
        "eight-hours-off",
        "TIMESTAMP is moved to another zone",
        changing_values(_eight_hours_off),
        "25",
        formats=MYSQL,
    ),
    _wrong(
        "fraction-in-milliseconds",
        "digits after the third of a second are cut",
        changing_values(_fraction_in_milliseconds),
        "28",
        formats=MYSQL,
    ),
    _wrong(
        "json-through-double",
        "numbers inside JSON columns are read as doubles",
        changing_values(_json_through_double),
        formats=(*MYSQL, "debezium-json"),
    ),
    _wrong(
        "vector-as-null",
        "VECTOR always decodes to NULL",
        changing_values(_vector_as_null),
        "C7",
        formats=(*MESSAGES, "avro"),
    ),
    _wrong("null-as-zero", "NULL becomes 0 or ''", changing_columns(_null_as_zero), "52"),
    _wrong(
        "null-left-out",
        "columns that are NULL are left out",
        changing_columns(_null_left_out),
        "52",
    ),
    _wrong(
        "names-in-lower-case",
        "column names are lower-cased",
        changing_columns(_names_in_lower_case),
        "49",
        formats=(*MYSQL, "datahub-blob", *CONNECT),
    ),
)
