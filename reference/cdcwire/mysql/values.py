"""Column values of the MySQL family, between the wire layers and the neutral model.

The wire layers of Craft and Open Protocol give a value in one shared form, which follows from the
type code. It is int, float, ``str`` for decimals, temporal types, JSON and VECTOR, ``bytes`` for
strings, None for NULL. The model narrows FLOAT, reads decimals and vectors, and decodes text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

from cdcwire.core.errors import EncodeError
from cdcwire.golang import plain_digits
from cdcwire.model import kinds
from cdcwire.model.floats import narrow_float32, read_float32, shortest_digits
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import UNAVAILABLE, Column, Value, index_of_label, mask_of_labels
from cdcwire.model.temporal import temporal_text
from cdcwire.mysql import types

WireValue: TypeAlias = "int | float | str | bytes | None"
_Converter: TypeAlias = Callable[[Any], Value]

PLAIN_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_VECTOR_ITEM = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
MAX_DECIMAL_TEXT = 4096  # MySQL has 65; longer text is kept as text


def model_converter(code: int, flags: int) -> _Converter | None:
    """Return what turns a non-NULL wire value into the model's; None where they are the same."""
    if code == types.TYPE_NEWDECIMAL:
        return read_decimal
    if code == types.TYPE_FLOAT:
        return narrow_float32
    if code == types.TYPE_VECTOR:
        return read_vector
    if code in types.STRING_TYPES and not flags & types.FLAG_BINARY:
        return read_text
    return None


def read_decimal(text: str) -> Decimal | str:
    """Return a plain number as Decimal, scale kept; any other text as it is."""
    if len(text) <= MAX_DECIMAL_TEXT and PLAIN_DECIMAL.fullmatch(text):
        return Decimal(text)
    return text


def read_text(raw: bytes) -> str | bytes:
    """Return bytes as text, or as they are where they are not UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def is_vector_text(text: str) -> bool:
    """Return whether text is a vector as TiDB prints it: ``[1,-2.5]``, each finite as float32."""
    if len(text) < 2 or text[0] != "[" or text[-1] != "]":
        return False
    # Item by item: one pattern with a repeated group needs 190 bytes of memory a character.
    return text == "[]" or all(
        _VECTOR_ITEM.fullmatch(item) and abs(read_float32(item)) != float("inf")
        for item in text[1:-1].split(",")
    )


def read_vector(text: str) -> tuple[float, ...]:
    """Return the items of a vector's text, each rounded once to a float32."""
    inner = text[1:-1]
    return tuple(map(read_float32, inner.split(","))) if inner else ()


def vector_text(items: tuple[float, ...]) -> str:
    """Return a vector's text: shortest float32 digits, never an exponent, no spaces."""
    texts = []
    for item in items:
        sign, digits, exponent = shortest_digits(item, 32)
        texts.append(sign + plain_digits(digits, exponent))
    return f"[{','.join(texts)}]"


def wire_value(column: Column, value: Value, time_zone: str | None, clause: str) -> WireValue:
    """Return a model value in the form that the wire layers take.

    ``time_zone`` is the zone in which TIMESTAMP texts are written, where the settings specify it.
    Raises: EncodeError when the value is not one of the column's kind, or MySQL has no such value.
    """
    if value is None:
        return None
    if value is UNAVAILABLE:
        raise EncodeError("an unavailable value has no form here", clause)
    try:
        found = _wire_value(column, value, time_zone)
    except ValueError as error:
        raise EncodeError(str(error), clause) from error
    if found is None:
        raise EncodeError(
            f"{value!r:.80} is not a value of kind {kind_text(column.type):.80} here", clause
        )
    return found


def _wire_value(column: Column, value: Value, time_zone: str | None) -> WireValue:
    """Return the wire's form, or None where the value does not fit the kind."""
    match column.type:
        case kinds.BoolType() if isinstance(value, bool):
            return int(value)
        case kinds.IntType(bits, unsigned) if _is_int(value):
            low, high = (0, 1 << bits) if unsigned else (-1 << bits - 1, 1 << bits - 1)
            return int(value) if low <= value < high else None
        case kinds.YearType() | kinds.BitType() if _is_int(value):
            return int(value)
        case kinds.FloatType(bits) if isinstance(value, float):
            if bits == 32 and value == value and narrow_float32(value) != value:
                raise ValueError(f"{value!r} is not a 32-bit float")
            return value
        case kinds.DecimalType() if isinstance(value, Decimal):
            if not value.is_finite():
                raise ValueError(f"DECIMAL has no {value}")
            return f"{value:f}"
        case kinds.DecimalType() | kinds.JsonType() if isinstance(value, str):
            return value
        case kinds.TextType() if isinstance(value, (str, bytes)):
            return value.encode() if isinstance(value, str) else value
        case kinds.BytesType() if isinstance(value, bytes):
            return value
        case (
            kinds.DateType()
            | kinds.TimeType()
            | kinds.DatetimeType()
            | kinds.TimestampType() as kind
        ):
            return temporal_text(kind, value, time_zone)
        case kinds.EnumType() as kind:
            return index_of_label(kind, value)
        case kinds.SetType() as kind:
            return mask_of_labels(kind, value)
        case kinds.VectorType() if isinstance(value, tuple):
            if not all(isinstance(item, float) and narrow_float32(item) == item for item in value):
                raise ValueError("a vector holds finite 32-bit floats only")
            return vector_text(value)
    return None


def _is_int(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
