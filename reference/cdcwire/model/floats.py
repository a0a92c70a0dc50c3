"""Floating-point numbers of 32 and 64 bits: rounded once, and written by the shortest digits.

A 32-bit float is carried as the Python float of the same value.
"""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from typing import Literal

_FLOAT32 = struct.Struct("<f")
_BITS32 = struct.Struct("<I")
_MAX_FLOAT32 = 3.4028234663852886e38  # (2 - 2**-23) * 2**127
_OVERFLOW32 = 3.4028235677973366e38  # half a step further: from here on it rounds to infinity

# The only float32 values (with their negatives) where Go writes other digits than the first C form
# that reads back: each sits at a power of two, where the gap to its neighbours is uneven.
_GO_DIGITS = {
    0x0F800000: ("12621775", -29),
    0x15AE43FD: ("7038531", -26),
    0x15AE43FE: ("70385313", -26),
    0x39800000: ("24414063", -4),
    0x6B000000: ("15474251", 26),
    0x6C800000: ("12379401", 27),
}


def narrow_float32(value: float) -> float:
    """Return the nearest float32: half to even, beyond the range to infinity."""
    try:
        narrowed: float = _FLOAT32.unpack(_FLOAT32.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return narrowed


def read_float32(text: str) -> float:
    """Return the float32 nearest to a decimal number, rounded once.

    Reading the text as a double first and narrowing that rounds twice: where the double lies just
    between two float32 values, the text itself decides.
    """
    wide = float(text)
    near = narrow_float32(wide)
    if near == wide or math.isinf(wide):
        return near
    if math.isinf(near):
        other, middle = math.copysign(_MAX_FLOAT32, near), math.copysign(_OVERFLOW32, near)
    else:
        other = _neighbour(near, upwards=wide > near)
        middle = (near + other) / 2  # exact: a float32 has 29 bits fewer than a double
    if wide != middle:
        return near
    exact, tie = Decimal(text), Decimal(wide)
    if exact == tie:
        return near
    return max(near, other) if exact > tie else min(near, other)


def _neighbour(value: float, *, upwards: bool) -> float:
    if value == 0.0:
        return math.copysign(1.401298464324817e-45, 1.0 if upwards else -1.0)
    bits = _BITS32.unpack(_FLOAT32.pack(value))[0]
    away_from_zero = upwards == (value > 0)
    found: float = _FLOAT32.unpack(_BITS32.pack(bits + 1 if away_from_zero else bits - 1))[0]
    return found


def is_float32(value: float) -> bool:
    """Return whether a float32 holds the value exactly; every NaN and infinity does."""
    return math.isnan(value) or narrow_float32(value) == value


def shortest_digits(value: float, bits: Literal[32, 64]) -> tuple[str, str, int]:
    """Return sign, digits without end zeros, and the power of ten of the first digit."""
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    magnitude = abs(value)
    if bits == 64:
        # repr gives the shortest digits that read back, as Go's 'g' with precision -1 does.
        digits, exponent = _split(f"{Decimal(repr(magnitude)):e}")
        return sign, digits, exponent
    known = _GO_DIGITS.get(_BITS32.unpack(_FLOAT32.pack(magnitude))[0])
    if known is not None:
        return sign, *known
    for precision in range(9):
        text = f"{magnitude:.{precision}e}"
        if narrow_float32(float(text)) == magnitude:
            return sign, *_split(text)
    raise ValueError(f"{value!r} is not a finite 32-bit float")


def _split(text: str) -> tuple[str, int]:
    mantissa, exponent = text.split("e")
    digits = mantissa.replace(".", "").rstrip("0") or "0"
    return digits, int(exponent) if digits != "0" else 0
