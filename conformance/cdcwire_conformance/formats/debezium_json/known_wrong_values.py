"""Known-wrong decoders that misread values of debezium-json.

Some repeat what Kafka's own JsonConverter does with a value that does not fit its schema.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.format import Format
from cdcwire.model import kinds
from cdcwire.model.events import Event, Image
from cdcwire.model.kinds import UNAVAILABLE, Column, Value
from cdcwire_conformance.known_wrong.decoder import (
    Decode,
    KnownWrong,
    changing_values,
    right,
    wrong_columns,
    wrong_decoder,
    wrong_values,
)

_DECIMAL = "org.apache.kafka.connect.data.Decimal"


_VARIABLE = "io.debezium.data.VariableScaleDecimal"


def _unscaled(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # only numbers come so
    return int(value.scaleb(-exponent))


def _unscaled_bytes(value: Decimal) -> bytes:
    number = _unscaled(value)
    magnitude = number if number >= 0 else ~number
    return number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


@wrong_columns("a precise decimal is shown as the base64 text of its bytes", "6", "12")
def decimal_as_base64(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace a precise decimal with the base64 text of its unscaled bytes."""
    if column.source != _DECIMAL or not isinstance(value, Decimal):
        return column, value
    text = base64.b64encode(_unscaled_bytes(value)).decode()
    return replace(column, type=kinds.TextType()), text


@wrong_values("the scale, which is in the schema only, is ignored", "12")
def decimal_scale_unread(column: Column, value: Value) -> Value:
    """Replace a precise decimal with its unscaled number."""
    if column.source != _DECIMAL or not isinstance(value, Decimal):
        return value
    return Decimal(_unscaled(value))


@wrong_values("negative decimals become large positive ones", "14")
def decimal_sign_unread(column: Column, value: Value) -> Value:
    """Read the unscaled bytes of a negative decimal as unsigned."""
    is_bytes = column.source in (_DECIMAL, _VARIABLE) and isinstance(value, Decimal)
    if not is_bytes or value >= 0:
        return value
    unsigned = int.from_bytes(_unscaled_bytes(value), "big")
    return Decimal(unsigned).scaleb(value.as_tuple().exponent)


@wrong_values("an unsigned integer of 64 bits, which is a decimal, turns negative", "5", "7")
def decimal_in_64_bits(column: Column, value: Value) -> Value:
    """Wrap a whole decimal into a signed integer of 64 bits."""
    is_whole = isinstance(column.type, kinds.DecimalType) and column.type.scale == 0
    if not is_whole or not isinstance(value, Decimal):
        return value
    wrapped = int(value) % (1 << 64)
    return Decimal(wrapped - (wrapped >> 63 << 64))


_PARTS = kinds.StructType((Column("scale", kinds.IntType(32)), Column("value", kinds.BytesType())))


@wrong_columns("a decimal without declared scale is given as a struct of two members", "13")
def variable_scale_as_struct(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace a decimal of variable scale with a struct of scale and unscaled bytes."""
    if column.source != _VARIABLE or not isinstance(value, Decimal):
        return column, value
    scale = -int(value.as_tuple().exponent)
    parts = Image(_PARTS.columns, (scale, _unscaled_bytes(value)))
    return replace(column, type=_PARTS), parts


_LONGEST_BITS = 1 << 16  # beyond, the length is that of "no limit"


@wrong_values("the first byte of a bit string is taken for its highest", "46")
def bits_reversed(column: Column, value: Value) -> Value:
    """Reverse the order of the bytes of a bit string."""
    if not isinstance(column.type, kinds.BitType) or value is UNAVAILABLE:
        return value
    length = column.type.length or 1
    declared = 0 if length > _LONGEST_BITS else (length + 7) // 8
    size = max((value.bit_length() + 7) // 8, declared)
    return int.from_bytes(value.to_bytes(size, "little"), "big")


@wrong_columns("columns of bit strings are missing", "47")
def bits_left_out(column: Column, value: Value) -> tuple[Column, Value] | None:
    """Drop a column of bit strings."""
    return None if isinstance(column.type, kinds.BitType) else (column, value)


@wrong_columns("microseconds and nanoseconds are taken for milliseconds", "31")
def all_in_milliseconds(column: Column, value: Value) -> tuple[Column, Value]:
    """Take microseconds and nanoseconds for milliseconds."""
    kind = column.type
    if isinstance(kind, (kinds.TimeType, kinds.DatetimeType)) and kind.form in ("us", "ns"):
        return replace(column, type=replace(kind, form="ms")), value
    return column, value


@wrong_columns("the zone of an instant is cut off its text", "21", "25")
def instant_without_zone(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace a timestamp with the local date and time of its text."""
    if not isinstance(column.type, kinds.TimestampType):
        return column, value
    return replace(column, type=kinds.DatetimeType()), value


_OFFSET = re.compile(rb'(T[0-9]{2}:[0-9]{2}:[0-9]{2}[.0-9]*)[+-][0-9]{2}:[0-9]{2}"')


@wrong_decoder("the offset of an instant is taken for UTC", "25", "time/timestamp-ltz")
def instant_offset_ignored(format_: Format, message: Message, context: Context) -> list[Event]:
    """Read the local time before an offset as a time in UTC."""
    if message.value is None:
        return right(format_, message, context)
    bent = replace(message, value=_OFFSET.sub(rb'\1Z"', message.value))
    return right(format_, bent, context)


@wrong_columns("the placeholder of an unchanged large value overwrites it", "56")
def placeholder_as_text(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace an unavailable value with Debezium's placeholder."""
    if value is not UNAVAILABLE:
        return column, value
    text = "__debezium_unavailable_value"
    if isinstance(column.type, kinds.BytesType):
        return column, text.encode()
    return column, (text,) if isinstance(column.type, kinds.ArrayType) else text


@wrong_columns("an unchanged large value becomes NULL", "56")
def unavailable_as_null(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace an unavailable value with NULL."""
    return column, None if value is UNAVAILABLE else value


@wrong_columns("an enum's label is given as its number, counted from 0", "42")
def label_as_index(column: Column, value: Value) -> tuple[Column, Value]:
    """Replace an enum's label with its index, counted from 0."""
    kind = column.type
    if not isinstance(kind, kinds.EnumType) or not kind.labels or value not in kind.labels:
        return column, value
    return replace(column, type=kinds.EnumType()), kind.labels.index(value)


_WIDTHS = (64, 32, 16, 8)


def _with_bent_number(bend: Callable[[Any], Iterable[str]], clause: str) -> Decode:
    """Return a decoder that bends each JSON value that the reference refuses by this clause.

    ``bend`` gives the JSON texts to try in place of a value.
    """

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        try:
            return right(format_, message, context)
        except DecodeError as error:
            if error.clause != clause or error.path[:1] == ("key",):
                raise
            raw = message.value or b""
            head, rest = raw[: error.offset], raw[error.offset :].decode("utf-8", "replace")
            found, end = json.JSONDecoder(parse_float=Decimal).raw_decode(rest)
            for text in bend(found):
                other = head + text.encode() + rest[end:].encode()
                try:
                    return decode(format_, replace(message, value=other), context)
                except DecodeError:
                    continue
            raise

    return decode


def _bent_integer(value: Any) -> Iterator[str]:
    """Give an integer as JsonConverter reads it: cut, wrapped, or 0 for what is not a number."""
    is_number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
    number = int(value) if is_number else 0
    for bits in _WIDTHS:
        wrapped = number % (1 << bits)
        yield str(wrapped - (wrapped >> bits - 1 << bits))


def _bent_float(value: Any) -> Iterator[str]:
    """Give a number as JsonConverter reads it: infinite where too large, 0 for a text."""
    is_number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
    yield ('"-Infinity"' if value < 0 else '"Infinity"') if is_number else "0.0"


@wrong_decoder("numbers too large become infinite, NaN and texts 0, as by JsonConverter", "19")
def floats_bent(format_: Format, message: Message, context: Context) -> list[Event]:
    """Read NaN and the infinities, which travel as texts, as 0, and zero without its sign."""

    def bent(column: Column, value: Value) -> Value:
        if not isinstance(column.type, kinds.FloatType) or not isinstance(value, float):
            return value
        return value + 0.0 if math.isfinite(value) else 0.0

    try:
        return changing_values(bent)(format_, message, context)
    except DecodeError:
        return _with_bent_number(_bent_float, "connect: float values")(format_, message, context)


VALUE_FAULTS: tuple[KnownWrong, ...] = (
    decimal_as_base64,
    decimal_scale_unread,
    decimal_sign_unread,
    decimal_in_64_bits,
    variable_scale_as_struct,
    bits_reversed,
    bits_left_out,
    all_in_milliseconds,
    instant_without_zone,
    instant_offset_ignored,
    placeholder_as_text,
    unavailable_as_null,
    label_as_index,
    KnownWrong(
        "integers-bent",
        "integers that do not fit are wrapped or cut, and texts are 0, as by JsonConverter",
        _with_bent_number(_bent_integer, "connect: integer values"),
        ("7", "8"),
    ),
    floats_bent,
)
