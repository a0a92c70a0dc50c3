"""Texts of FLOAT and DOUBLE without an exponent, as formats whose values are texts have them."""

from __future__ import annotations

import math
import re

from cdcwire.golang.numbers import plain_digits, usual_text32
from cdcwire.model.floats import narrow_float32, read_float32, shortest_digits

_MAX_CHARACTERS = 2048  # plain digits of a double are up to 1078
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def float_text(value: float, bits: int) -> str:
    """Return the shortest digits that read back, without an exponent. Raises: ValueError."""
    if not math.isfinite(value):
        raise ValueError(f"there is no text for {value}")
    if bits == 32 and narrow_float32(value) != value:
        raise ValueError(f"{value!r} is not a 32-bit float")
    if bits == 32:
        usual = usual_text32(value)
        if usual:
            return usual
        sign, digits, exponent = shortest_digits(value, 32)
    elif 1e-3 <= abs(value) < 1e16:  # Python writes these in the same way
        return repr(value).removesuffix(".0")
    else:
        sign, digits, exponent = shortest_digits(value, 64)
    return sign + plain_digits(digits, exponent)


def read_float(text: str) -> float:
    """Return the 32-bit float of a text. Raises: ValueError."""
    _check_float(text)
    return _finite(read_float32(text), text)


def read_double(text: str) -> float:
    """Return the 64-bit float of a text. Raises: ValueError."""
    _check_float(text)
    return _finite(float(text), text)


def _check_float(text: str) -> None:
    if len(text) > _MAX_CHARACTERS or not _FLOAT.fullmatch(text):
        raise ValueError(f"{text!r:.40} is not a number")


def _finite(value: float, text: str) -> float:
    if math.isinf(value):
        raise ValueError(f"{text!r:.40} is too large")
    return value
