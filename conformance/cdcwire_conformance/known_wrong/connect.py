"""Known-wrong decoders of Kafka Connect's types, as Debezium and CDL use them.

A reader meets base64 that is a number, counts whose unit stands in the schema, and a text that
stands for no value. Kafka's own JsonConverter bends what does not fit its schema; it is here too.
"""

from __future__ import annotations

import base64
from dataclasses import replace
from decimal import Decimal
from typing import Any
from unittest.mock import patch

from cdcwire.connect.schema import Schema
from cdcwire.core.format import Context, Format
from cdcwire.core.message import Message
from cdcwire.core.strict_json import JsonValue, Number
from cdcwire.golang.numbers import narrow_float32
from cdcwire.model.events import UNAVAILABLE, Column, Event, Image, Value
from cdcwire.model.kinds import (
    ArrayType,
    BitType,
    BytesType,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    IntType,
    StructType,
    TextType,
    TimestampType,
    TimeType,
)
from cdcwire_conformance.known_wrong.decoder import (
    CONNECT,
    Decode,
    KnownWrong,
    changing_columns,
    changing_values,
    right,
)

_DEBEZIUM = ("debezium-json",)
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_VARIABLE = "io.debezium.data.VariableScaleDecimal"
_EIGHT_HOURS = {"ms": 28_800_000, "us": 28_800_000_000, "ns": 28_800_000_000_000}


def _unscaled(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # only numbers come so
    return int(value.scaleb(-exponent))


def _unscaled_bytes(value: Decimal) -> bytes:
    number = _unscaled(value)
    magnitude = number if number >= 0 else ~number
    return number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def _decimal_as_base64(column: Column, value: Value) -> tuple[Column, Value]:
    if column.source != _DECIMAL or not isinstance(value, Decimal):
        return column, value
    text = base64.b64encode(_unscaled_bytes(value)).decode()
    return replace(column, type=TextType()), text


def _decimal_without_scale(column: Column, value: Value) -> Value:
    if column.source != _DECIMAL or not isinstance(value, Decimal):
        return value
    return Decimal(_unscaled(value))


def _decimal_without_sign(column: Column, value: Value) -> Value:
    is_bytes = column.source in (_DECIMAL, _VARIABLE) and isinstance(value, Decimal)
    if not is_bytes or value >= 0:
        return value
    unsigned = int.from_bytes(_unscaled_bytes(value), "big")
    return Decimal(unsigned).scaleb(value.as_tuple().exponent)


def _decimal_in_64_bits(column: Column, value: Value) -> Value:
    is_whole = isinstance(column.type, DecimalType) and column.type.scale == 0
    if not is_whole or not isinstance(value, Decimal):
        return value
    wrapped = int(value) % (1 << 64)
    return Decimal(wrapped - (wrapped >> 63 << 64))


_PARTS = StructType((Column("scale", IntType(32)), Column("value", BytesType())))


def _variable_scale_as_struct(column: Column, value: Value) -> tuple[Column, Value]:
    if column.source != _VARIABLE or not isinstance(value, Decimal):
        return column, value
    scale = -int(value.as_tuple().exponent)
    parts = Image(_PARTS.columns, (scale, _unscaled_bytes(value)))
    return replace(column, type=_PARTS), parts


def _bits_reversed(column: Column, value: Value) -> Value:
    if not isinstance(column.type, BitType) or value is UNAVAILABLE:
        return value
    size = max((value.bit_length() + 7) // 8, ((column.type.length or 1) + 7) // 8)
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def _bits_left_out(column: Column, value: Value) -> tuple[Column, Value] | None:
    return None if isinstance(column.type, BitType) else (column, value)


def _binary_as_base64(column: Column, value: Value) -> tuple[Column, Value]:
    if not isinstance(column.type, BytesType) or not isinstance(value, bytes):
        return column, value
    return replace(column, type=TextType()), base64.b64encode(value).decode()


def _all_in_milliseconds(column: Column, value: Value) -> tuple[Column, Value]:
    kind = column.type
    if isinstance(kind, (TimeType, DatetimeType)) and kind.form in ("us", "ns"):
        return replace(column, type=replace(kind, form="ms")), value
    return column, value


def _days_as_milliseconds(column: Column, value: Value) -> tuple[Column, Value]:
    if column.type == DateType("d"):
        return replace(column, type=DateType("ms")), value
    return column, value


def _unit_by_digits(column: Column, value: Value) -> tuple[Column, Value]:
    kind = column.type
    if not isinstance(kind, DatetimeType) or not isinstance(value, int):
        return column, value
    form = "ms" if abs(value) < 10**14 else "us" if abs(value) < 10**17 else "ns"
    return replace(column, type=replace(kind, form=form)), value  # type: ignore[arg-type]


def _datetime_eight_hours_off(column: Column, value: Value) -> Value:
    kind = column.type
    if not isinstance(kind, DatetimeType) or not isinstance(value, int):
        return value
    return value + _EIGHT_HOURS[kind.form]


def _instant_without_zone(column: Column, value: Value) -> tuple[Column, Value]:
    kind = column.type
    if not isinstance(kind, TimestampType) or not isinstance(value, str):
        return column, value
    local = value.replace("T", " ", 1).removesuffix("Z").partition("+")[0]
    return replace(column, type=DatetimeType()), local


def _placeholder_as_text(column: Column, value: Value) -> Value:
    if value is not UNAVAILABLE:
        return value
    text = "__debezium_unavailable_value"
    if isinstance(column.type, BytesType):
        return text.encode()
    return (text,) if isinstance(column.type, ArrayType) else text


def _unavailable_as_null(column: Column, value: Value) -> Value:
    return None if value is UNAVAILABLE else value


def _enum_as_index(column: Column, value: Value) -> tuple[Column, Value]:
    kind = column.type
    if not isinstance(kind, EnumType) or not kind.labels or value not in kind.labels:
        return column, value
    return replace(column, type=EnumType()), kind.labels.index(value)


def _patched(name: str, function: Any) -> Decode:
    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        with patch(f"cdcwire.connect.values.{name}", function):
            return right(format_, message, context)

    return decode


_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


def _bent_integer(schema: Schema, json: JsonValue, start: int) -> int:
    """Read an integer as JsonConverter does: cut, wrapped, or 0 for what is no number."""
    bits = _BITS[schema.type]
    number = int(float(json.text)) if isinstance(json, Number) and not json.is_integer else 0
    if isinstance(json, Number) and json.is_integer:
        number = int(json.text)
    wrapped = number % (1 << bits)
    return wrapped - (wrapped >> bits - 1 << bits)


def _bent_float(schema: Schema, json: JsonValue, start: int) -> float:
    """Read a number as JsonConverter does: 0 for a text, no sign of zero."""
    if not isinstance(json, Number):
        return 0.0
    wide = float(json.text)
    return (wide if schema.type == "double" else narrow_float32(wide)) + 0.0


CONNECT_FAULTS: tuple[KnownWrong, ...] = (
    KnownWrong(
        "decimal-as-base64",
        "a precise decimal is shown as the base64 text of its bytes",
        changing_columns(_decimal_as_base64),
        _DEBEZIUM,
        ("6", "12"),
    ),
    KnownWrong(
        "decimal-scale-unread",
        "the scale, which stands in the schema only, is not looked at",
        changing_values(_decimal_without_scale),
        _DEBEZIUM,
        ("12",),
    ),
    KnownWrong(
        "decimal-sign-unread",
        "negative decimals become large positive ones",
        changing_values(_decimal_without_sign),
        _DEBEZIUM,
        ("14",),
    ),
    KnownWrong(
        "decimal-in-64-bits",
        "an unsigned integer of 64 bits, which is a decimal, turns negative",
        changing_values(_decimal_in_64_bits),
        _DEBEZIUM,
        ("5", "7"),
    ),
    KnownWrong(
        "variable-scale-as-struct",
        "a decimal without declared scale is given as a struct of two members",
        changing_columns(_variable_scale_as_struct),
        _DEBEZIUM,
        ("13",),
    ),
    KnownWrong(
        "bits-reversed",
        "the first byte of a bit string is taken for its highest",
        changing_values(_bits_reversed),
        _DEBEZIUM,
        ("46",),
    ),
    KnownWrong(
        "bits-left-out",
        "columns of bit strings are missing",
        changing_columns(_bits_left_out),
        _DEBEZIUM,
        ("47",),
    ),
    KnownWrong(
        "binary-as-base64",
        "binary strings are given as their base64 text",
        changing_columns(_binary_as_base64),
        CONNECT,
        ("34",),
    ),
    KnownWrong(
        "all-in-milliseconds",
        "microseconds and nanoseconds are taken for milliseconds",
        changing_columns(_all_in_milliseconds),
        _DEBEZIUM,
        ("31",),
    ),
    KnownWrong(
        "days-as-milliseconds",
        "a date, which counts days, is taken for milliseconds",
        changing_columns(_days_as_milliseconds),
        CONNECT,
        ("31",),
    ),
    KnownWrong(
        "unit-by-digits",
        "the unit of a moment is guessed from the number of its digits",
        changing_columns(_unit_by_digits),
        CONNECT,
        ("23",),
    ),
    KnownWrong(
        "datetime-as-local",
        "a date and time without zone is moved as if it had one",
        changing_values(_datetime_eight_hours_off),
        CONNECT,
        ("24",),
    ),
    KnownWrong(
        "instant-without-zone",
        "the zone of an instant is cut off its text",
        changing_columns(_instant_without_zone),
        _DEBEZIUM,
        ("21", "25"),
    ),
    KnownWrong(
        "placeholder-as-text",
        "the text that stands for an unchanged large value overwrites it",
        changing_values(_placeholder_as_text),
        _DEBEZIUM,
        ("56",),
    ),
    KnownWrong(
        "unavailable-as-null",
        "an unchanged large value becomes NULL",
        changing_values(_unavailable_as_null),
        _DEBEZIUM,
        ("56",),
    ),
    KnownWrong(
        "label-as-index",
        "an enum's label is given as its number, counted from 0",
        changing_columns(_enum_as_index),
        _DEBEZIUM,
        ("42",),
    ),
    KnownWrong(
        "integers-bent",
        "integers that do not fit are wrapped or cut, and texts are 0, as by JsonConverter",
        _patched("_read_integer", _bent_integer),
        _DEBEZIUM,
        ("7", "8"),
    ),
    KnownWrong(
        "floats-bent",
        "numbers too large become infinite, NaN and texts 0, as by JsonConverter",
        _patched("_read_float", _bent_float),
        _DEBEZIUM,
        ("19",),
    ),
)
