"""Columns of numbers: directly where Arrow is exact, else through decimals, never rounded."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from cdcwire.arrow.building import Build, Values, plain, through
from cdcwire.arrow.types import UNSIGNED_64
from cdcwire.model.floats import narrow_float32, shortest_digits
from cdcwire.model.kinds import BitType, BoolType, DecimalType, FloatType, IntType, YearType

NumberType: TypeAlias = IntType | YearType | BoolType | BitType | FloatType | DecimalType
NUMBER_TYPES = (IntType, YearType, BoolType, BitType, FloatType, DecimalType)

_BOOLEANS: dict[Any, bool | None] = {None: None, 0: False, 1: True}


def number_builder(wire: NumberType, canonical: NumberType, target: pa.DataType) -> Build:
    """Return what builds numbers of a kind as ``target``.

    A negative int64 of a column of unsigned ones is the bits of the number: producers have no type
    for the upper half.
    """
    if wraps(wire, canonical):
        return lambda values: pa.array(list(map(_unwrapped, values)), pa.uint64()).cast(target)
    if isinstance(wire, DecimalType) and (pa.types.is_string(target) or _is_decimal(target)):
        return _decimals(target)
    if isinstance(wire, DecimalType) and pa.types.is_floating(target):
        return through(float, plain(target))
    if isinstance(wire, FloatType) and pa.types.is_string(target):
        return through(float_digits, plain(target))
    if pa.types.is_string(target):
        return through(plain_digits, plain(target))
    if pa.types.is_binary(target):
        return through(_big_endian, plain(target))
    if pa.types.is_boolean(target):
        return lambda values: pa.array([_BOOLEANS[value] for value in values], target)
    if isinstance(wire, (IntType, YearType, BitType)) and pa.types.is_integer(target):
        return plain(target)
    if isinstance(wire, FloatType) and pa.types.is_floating(target):
        is_narrower = wire.bits == 64 and pa.types.is_float32(target)
        return through(_narrow, plain(target)) if is_narrower else plain(target)
    if isinstance(wire, (IntType, BitType)) and target == UNSIGNED_64:
        is_unsigned = isinstance(wire, BitType) or wire.unsigned
        return _whole_decimals(pa.uint64() if is_unsigned else pa.int64())
    return _exact(target)


def wraps(wire: object, canonical: object) -> bool:
    """Return whether numbers of the one kind are bits of the other."""
    return wire == IntType(64) and canonical == IntType(64, unsigned=True)


def _unwrapped(value: Any) -> Any:
    return None if value is None else value & (1 << 64) - 1


def _is_decimal(target: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(target))


def _whole_decimals(narrow: pa.DataType) -> Build:
    return lambda values: pa.array(values, narrow).cast(UNSIGNED_64)


def _decimals(target: pa.DataType) -> Build:
    """Build from plain digits, in the column's own scale where it is known."""

    def build(values: Values) -> pa.Array:
        try:
            texts = pa.array(values, pa.string())
        except TypeError:  # the model's values; the wire has text
            texts = pa.array([_digits_or_text(value) for value in values], pa.string())
        return texts.cast(target)

    return build


def _digits_or_text(value: Any) -> str | None:
    return f"{value:f}" if isinstance(value, Decimal) else value


def plain_digits(value: Any) -> str:
    """Return a number in plain digits. Text that is not a plain number stays as it is."""
    return str(value) if isinstance(value, str) else f"{Decimal(value):f}"


def float_digits(value: float) -> str:
    """Return a float in plain digits: all of a whole number, else the fewest that read back."""
    return f"{Decimal(value if value.is_integer() else repr(value)):f}"


def _big_endian(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8 or 1, "big")


def _narrow(value: float) -> float:
    """Return a float32 that was sent as a double: as it is, or in the digits that name it."""
    narrow = narrow_float32(value)
    is_exact = narrow == value or value != value
    if not is_exact and shortest_digits(narrow, 32) != shortest_digits(value, 64):
        raise ValueError("it is not a 32-bit float")
    return narrow


def _exact(target: pa.DataType) -> Build:
    def build(values: Values) -> pa.Array:
        numbers = [None if value is None else _as_decimal(value) for value in values]
        if _is_decimal(target):
            return _decimals(target)(numbers)
        if pa.types.is_floating(target):
            return pa.array([None if n is None else _as_float(n) for n in numbers], target)
        return pa.array([None if n is None else _as_int(n) for n in numbers], target)

    return build


def _as_decimal(value: Any) -> Decimal:
    number = Decimal(value)
    if not number.is_finite():
        raise ValueError("it is not finite")
    return number


def _as_float(number: Decimal) -> float:
    if Decimal(float(number)) != number:
        raise ValueError("a float can't hold it exactly")
    return float(number)


def _as_int(number: Decimal) -> int:
    if number != number.to_integral_value():
        raise ValueError("it is not a whole number")
    return int(number)


def unsigned_64(values: Any, mask: Any = None) -> pa.Array:
    """Return a numpy array of uint64 as decimals, NULL where the mask is set."""
    words = np.zeros((len(values), 2), np.uint64)
    words[:, 0 if sys.byteorder == "little" else 1] = values
    valid = None if mask is None else pa.array(~mask).buffers()[1]
    return pa.Array.from_buffers(UNSIGNED_64, len(values), [valid, pa.py_buffer(words)])
