"""Usual values of MySQL columns as TiDB's text, for fast encoders; see ``value_texts``.

The functions here give the same text as ``value_text``. They raise ``Irregular`` for every value
that is not a usual one, whether it has a text or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

from cdcwire.core.compiled import Irregular
from cdcwire.golang.numbers import narrow_float32
from cdcwire.model import kinds
from cdcwire.mysql.value_texts import integer_range, pattern

Write: TypeAlias = Callable[[Any], str]

_MAX_DIGITS = 64  # of a decimal, sign and point included


def usual_text(kind: kinds.Type, time_zone: str | None, quote: str = "") -> Write | None:
    """Return the function that writes values of a kind; None if ``value_text`` has to.

    ``time_zone``: where the text of an instant is to be read. ``quote``: is put around texts.
    """
    match kind:
        case kinds.IntType() | kinds.BitType():
            return integer_writer(*integer_range(kind), quote)
        case kinds.DecimalType():
            return _decimal_writer(kind, quote)
        case kinds.TimeType(zone=str()):
            return None
        case kinds.TimestampType(zone=str() as zone) if zone != time_zone:
            return None
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return _temporal_writer(pattern(kind), quote) if kind.form == "text" else None
        case _:
            return None


def integer_writer(low: int, high: int, quote: str = "") -> Write:
    """Return the function that writes integers from ``low`` up to ``high - 1``."""

    def write(value: Any) -> str:
        if type(value) is not int or not low <= value < high:
            raise Irregular
        return f"{quote}{value}{quote}"

    return write


def float_writer(bits: int, text: Callable[[float], str], plainly: Write) -> Write:
    """Return the function that writes finite floats, if need be those that fit into 32 bits.

    ``text`` gives the text of such a float. ``plainly`` writes every other value.
    """

    def double(value: Any) -> str:
        if type(value) is float and value - value == 0:  # finite
            return text(value)
        return plainly(value)

    def single(value: Any) -> str:
        if type(value) is float and value - value == 0 and narrow_float32(value) == value:
            return text(value)
        return plainly(value)

    return single if bits == 32 else double


def digits_writer(plainly: Write, quote: str = "") -> Write:
    """Return the function that writes decimals without exponent as all their digits.

    ``plainly`` writes every other value, and very long decimals.
    """

    def write(value: Any) -> str:
        if type(value) is Decimal and value.is_finite():
            digits = str(value)
            if len(digits) < _MAX_DIGITS and "E" not in digits:
                return f"{quote}{digits}{quote}"
        return plainly(value)

    return write


def unscaled_bytes(value: Any, scale: int) -> bytes | None:
    """Return a decimal x 10^scale in the fewest bytes of big-endian two's complement.

    None for every value that is not a short decimal with exactly ``scale`` fraction digits.
    """
    text = str(value)
    whole, _, fraction = text.partition(".")
    if type(value) is not Decimal or len(fraction) != scale or len(text) >= _MAX_DIGITS:
        return None
    if "E" in text or not value.is_finite():
        return None
    number = int(whole + fraction)
    magnitude = number if number >= 0 else ~number
    return number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def _decimal_writer(kind: kinds.DecimalType, quote: str) -> Write:
    """Return the writer of decimals that have all digits of their scale and no exponent."""
    matches = re.compile(pattern(kind)).fullmatch
    scale = kind.scale or 0
    point = -scale - 1

    def write(value: Any) -> str:
        text = str(value)
        if type(value) is not Decimal or not matches(text):
            raise Irregular
        if scale and text[point] != ".":
            raise Irregular
        return f"{quote}{text}{quote}"

    return write


def _temporal_writer(texts: str, quote: str) -> Write:
    matches = re.compile(texts, re.ASCII).fullmatch

    def write(value: Any) -> str:
        if type(value) is not str or not matches(value):
            raise Irregular
        return f"{quote}{value}{quote}"

    return write
