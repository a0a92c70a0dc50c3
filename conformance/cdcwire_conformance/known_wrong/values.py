"""Known-wrong decoders that misread values, whatever the format."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

from cdcwire.core.json_strings import write_base64
from cdcwire.model import kinds
from cdcwire.model.kinds import Column, Value
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    wrong_columns,
    wrong_values,
)


@wrong_values("integers above 2^53 lose their last digits", "9")
def integers_through_double(column: Column, value: Value) -> Value:
    """Round an integer to the nearest double."""
    return int(float(value)) if isinstance(column.type, kinds.IntType) else value


@wrong_columns("FLOAT 0.1 is shown as 0.10000000149011612", "17")
def float32_as_double(column: Column, value: Value) -> tuple[Column, Value]:
    """Declare a float of 32 bits to have 64 bits."""
    if column.type == kinds.FloatType(32):
        return replace(column, type=kinds.FloatType(64)), value
    return column, value


@wrong_values("-0.0 becomes 0.0")
def minus_zero_lost(column: Column, value: Value) -> Value:
    """Replace -0.0 with 0.0."""
    return value + 0.0 if isinstance(column.type, kinds.FloatType) else value


@wrong_values("DOUBLE is kept with a float's digits")
def double_in_32_bits(column: Column, value: Value) -> Value:
    """Round a double to seven significant digits."""
    if column.type != kinds.FloatType(64):
        return value
    return float(f"{value:.7g}")


@wrong_values("DECIMAL goes through a double", "11")
def decimal_as_float(column: Column, value: Value) -> Value:
    """Round a decimal to the nearest double."""
    return Decimal(repr(float(value))) if isinstance(column.type, kinds.DecimalType) else value


@wrong_values("12.10 becomes 12.1", "16")
def decimal_without_end_zeros(column: Column, value: Value) -> Value:
    """Drop the trailing zeros of a decimal fraction."""
    if not isinstance(value, Decimal):
        return value
    text = f"{value:f}"
    return Decimal(text.rstrip("0").rstrip(".")) if "." in text else value


@wrong_values("UTF-8 is read as Latin-1")
def text_as_latin_1(column: Column, value: Value) -> Value:
    """Decode the UTF-8 bytes of a text as Latin-1."""
    if isinstance(column.type, kinds.TextType) and isinstance(value, str):
        return value.encode().decode("latin-1")
    return value


@wrong_columns("the binary flag is ignored: BLOB comes out as text with U+FFFD", "C5", "32")
def binary_as_text(column: Column, value: Value) -> tuple[Column, Value]:
    """Decode a binary string as UTF-8 with replacement characters."""
    if isinstance(column.type, kinds.BytesType) and isinstance(value, bytes):
        return replace(column, type=kinds.TextType()), value.decode("utf-8", "replace")
    return column, value


@wrong_values("BINARY(n) loses its padding")
def binary_without_end_zeros(column: Column, value: Value) -> Value:
    """Drop the trailing zero bytes of a binary string."""
    return value.rstrip(b"\0") if isinstance(column.type, kinds.BytesType) else value


@wrong_values("text loses spaces at its end")
def text_without_end_spaces(column: Column, value: Value) -> Value:
    """Drop the trailing spaces of a text."""
    if isinstance(column.type, kinds.TextType) and isinstance(value, str):
        return value.rstrip(" ")
    return value


@wrong_values("text ends at the first NUL")
def text_cut_at_nul(column: Column, value: Value) -> Value:
    """Cut a text at its first NUL character."""
    if isinstance(column.type, kinds.TextType) and isinstance(value, str):
        return value.partition("\0")[0]
    return value


@wrong_values("'' becomes NULL")
def empty_text_as_null(column: Column, value: Value) -> Value:
    """Replace an empty text with NULL."""
    return None if isinstance(column.type, kinds.TextType) and not value else value


@wrong_values("the text 'null' becomes NULL", "35")
def word_null_as_null(column: Column, value: Value) -> Value:
    """Replace the text ``null``, in any case, with NULL."""
    return None if isinstance(value, str) and value.lower() == "null" else value


@wrong_values("numbers inside JSON columns are read as doubles")
def json_through_double(column: Column, value: Value) -> Value:
    """Read the integers inside a JSON value as doubles."""
    if not isinstance(column.type, kinds.JsonType):
        return value
    try:
        return json.dumps(json.loads(value, parse_int=float))
    except ValueError:
        return value


@wrong_columns("NULL becomes 0 or ''", "52")
def null_as_zero(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace NULL with 0, or with an empty text in a text column."""
    if value is not None:
        return column, value
    if isinstance(
        column.type, (kinds.IntType, kinds.BitType, kinds.YearType, kinds.EnumType, kinds.SetType)
    ):
        return column, 0
    return column, "" if isinstance(column.type, kinds.TextType) else None


@wrong_columns("columns that are NULL are left out", "52")
def null_left_out(column: Column, value: Value) -> tuple[Column, Value] | None:
    """Drop a column whose value is NULL."""
    return None if value is None else (column, value)


@wrong_columns("null becomes the text 'null'")
def null_as_word(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace NULL in a text column with the text ``null``."""
    if value is None and isinstance(column.type, kinds.TextType):
        return column, "null"
    return column, value


@wrong_values("each part of a surrogate pair becomes U+FFFD")
def surrogates_replaced(column: Column, value: Value) -> Value:
    """Replace each character above U+FFFF with two U+FFFD."""
    if not isinstance(value, str):
        return value
    return "".join("\ufffd\ufffd" if ord(char) > 0xFFFF else char for char in value)


@wrong_columns("binary strings are given as their base64 text", "34")
def binary_as_base64(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace a binary string with its base64 text."""
    if not isinstance(column.type, kinds.BytesType) or not isinstance(value, bytes):
        return column, value
    return replace(column, type=kinds.TextType()), write_base64(value)


@wrong_columns("column names are lower-cased", "49")
def names_in_lower_case(column: Column, value: Value) -> tuple[Column, Value]:
    """Write a column's name in lower case."""
    return replace(column, name=column.name.lower()), value


# Every format has rows that show these.
VALUES: tuple[KnownWrong, ...] = (
    integers_through_double,
    minus_zero_lost,
    text_as_latin_1,
    binary_as_text,
    empty_text_as_null,
    word_null_as_null,
    null_as_zero,
    null_left_out,
)


CUT_VALUES: tuple[KnownWrong, ...] = (
    double_in_32_bits,
    text_cut_at_nul,
)


NUMBERS_AND_TEXTS: tuple[KnownWrong, ...] = (
    decimal_as_float,
    decimal_without_end_zeros,
    text_without_end_spaces,
)


# For formats whose binary and JSON columns keep their types.
BINARY_AND_JSON: tuple[KnownWrong, ...] = (
    binary_without_end_zeros,
    json_through_double,
)
