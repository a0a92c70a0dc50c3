"""Known-wrong decoders that misread values, whatever the format."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

from cdcwire.model.events import Column, Value
from cdcwire.model.kinds import (
    BitType,
    BytesType,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    JsonType,
    SetType,
    TextType,
    YearType,
)
from cdcwire_conformance.known_wrong.decoder import KnownWrong, changing_columns, changing_values


def _integers_through_double(column: Column, value: Value) -> Value:
    return int(float(value)) if isinstance(column.type, IntType) else value


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


def _binary_as_text(column: Column, value: Value) -> tuple[Column, Value]:
    if isinstance(column.type, BytesType) and isinstance(value, bytes):
        return replace(column, type=TextType()), value.decode("utf-8", "replace")
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


def _json_through_double(column: Column, value: Value) -> Value:
    if not isinstance(column.type, JsonType):
        return value
    try:
        return json.dumps(json.loads(value, parse_int=float))
    except ValueError:
        return value


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


FLOAT32_AS_DOUBLE = KnownWrong(
    "float32-as-double",
    "FLOAT 0.1 is shown as 0.10000000149011612",
    changing_columns(_float32_as_double),
    ("17",),
)
NAMES_IN_LOWER_CASE = KnownWrong(
    "names-in-lower-case",
    "column names are lower-cased",
    changing_columns(_names_in_lower_case),
    ("49",),
)


# Every format has rows that show these.
VALUES: tuple[KnownWrong, ...] = (
    KnownWrong(
        "integers-through-double",
        "integers above 2^53 lose their last digits",
        changing_values(_integers_through_double),
        ("9",),
    ),
    KnownWrong("minus-zero-lost", "-0.0 becomes 0.0", changing_values(_minus_zero_lost)),
    KnownWrong("text-as-latin-1", "UTF-8 is read as Latin-1", changing_values(_text_as_latin_1)),
    KnownWrong(
        "binary-as-text",
        "the binary flag is ignored: BLOB comes out as text with U+FFFD",
        changing_columns(_binary_as_text),
        ("C5", "32"),
    ),
    KnownWrong("empty-text-as-null", "'' becomes NULL", changing_values(_empty_text_as_null)),
    KnownWrong(
        "word-null-as-null",
        "the text 'null' becomes NULL",
        changing_values(_word_null_as_null),
        ("35",),
    ),
    KnownWrong("null-as-zero", "NULL becomes 0 or ''", changing_columns(_null_as_zero), ("52",)),
    KnownWrong(
        "null-left-out",
        "columns that are NULL are left out",
        changing_columns(_null_left_out),
        ("52",),
    ),
)


CUT_VALUES: tuple[KnownWrong, ...] = (
    KnownWrong(
        "double-in-32-bits",
        "DOUBLE is kept with a float's digits",
        changing_values(_double_in_32_bits),
    ),
    KnownWrong("text-cut-at-nul", "text ends at the first NUL", changing_values(_text_cut_at_nul)),
)


NUMBERS_AND_TEXTS: tuple[KnownWrong, ...] = (
    KnownWrong(
        "decimal-as-float",
        "DECIMAL goes through a double",
        changing_values(_decimal_as_float),
        ("11",),
    ),
    KnownWrong(
        "decimal-without-end-zeros",
        "12.10 becomes 12.1",
        changing_values(_decimal_without_end_zeros),
        ("16",),
    ),
    KnownWrong(
        "text-without-end-spaces",
        "text loses spaces at its end",
        changing_values(_text_without_end_spaces),
    ),
)


# For formats whose binary and JSON columns keep their types.
BINARY_AND_JSON: tuple[KnownWrong, ...] = (
    KnownWrong(
        "binary-without-end-zeros",
        "BINARY(n) loses its padding",
        changing_values(_binary_without_end_zeros),
    ),
    KnownWrong(
        "json-through-double",
        "numbers inside JSON columns are read as doubles",
        changing_values(_json_through_double),
    ),
)
