"""Usual values of MySQL columns as TiDB's text, for fast encoders; see ``value_texts``.

The writers here give the same text as ``value_text``. They leave every value that is not a usual
one to ``plainly``, whether it has a text or not, or raise ``Irregular``.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from cdcwire.core.compiled import Irregular, Usual, Write, Writer, refuse
from cdcwire.model import kinds
from cdcwire.model.floats import narrow_float32
from cdcwire.mysql.value_texts import integer_range, pattern

_MAX_DIGITS = 64  # of a decimal, sign and point included
_QUOTED = "f'{$quote}{$v}{$quote}'"


def usual_text(kind: kinds.Type, time_zone: str | None, quote: str = "") -> Writer | None:
    """Return the writer of values of a kind; None if ``value_text`` has to write them.

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


def integer_writer(low: int, high: int, quote: str = "", plainly: Write = refuse) -> Usual:
    """Return the writer of integers from ``low`` up to ``high - 1``."""
    return Usual(
        "type($v) is int and $low <= $v < $high",
        _QUOTED if quote else "f'{$v}'",
        plainly,
        {"low": low, "high": high, "quote": quote},
    )


def float_writer(bits: int, text: Callable[[float], str], plainly: Write, quote: str = "") -> Usual:
    """Return the writer of finite floats, if need be those that fit into 32 bits.

    ``text`` gives the text of such a float. ``plainly`` writes every other value.
    """
    narrow = " and $narrow($v) == $v" if bits == 32 else ""
    return Usual(
        f"type($v) is float and $v - $v == 0{narrow}",
        "f'{$quote}{$write($v)}{$quote}'" if quote else "$write($v)",
        plainly,
        {"narrow": narrow_float32, "write": text, "quote": quote},
    )


def digits_writer(plainly: Write, quote: str = "") -> Usual:
    """Return the writer of decimals without exponent as all their digits.

    ``plainly`` writes every other value, and very long decimals.
    """
    return Usual(
        "type($v) is $Decimal and $v.is_finite() and 'E' not in ($t := str($v)) and len($t) < $end",
        "f'{$quote}{$t}{$quote}'" if quote else "$t",
        plainly,
        {"Decimal": Decimal, "end": _MAX_DIGITS, "quote": quote},
    )


def base64_writer(plainly: Write, *, of_text: bool = False) -> Usual:
    """Return the writer of bytes, or of texts in UTF-8, as a JSON string of base64."""
    raw = "$v.encode()" if of_text else "$v"
    return Usual(
        "type($v) is str" if of_text else "type($v) is bytes",
        f"""f'"{{$base64({raw}, newline=False).decode()}}"'""",
        plainly,
        {"base64": b2a_base64},
    )


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


def _decimal_writer(kind: kinds.DecimalType, quote: str) -> Writer:
    """Return the writer of decimals that have all digits of their scale and no exponent."""
    matches = re.compile(pattern(kind)).fullmatch
    scale = kind.scale or 0
    point = -scale - 1

    def plainly(value: Any) -> str:
        text = str(value)
        if type(value) is not Decimal or not matches(text):
            raise Irregular
        if scale and text[point] != ".":
            raise Irregular
        return f"{quote}{text}{quote}"

    if not scale or kind.precision is None or kind.precision <= scale:
        return plainly
    return Usual(
        "type($v) is $Decimal and ($t := str($v))[$point] == '.'"
        " and len($t) < $end and 'E' not in $t",
        "f'{$quote}{$t}{$quote}'",
        plainly,
        {"Decimal": Decimal, "point": point, "end": kind.precision + 2, "quote": quote},
    )


def _temporal_writer(texts: str, quote: str) -> Usual:
    matches = re.compile(texts, re.ASCII).fullmatch
    return Usual(
        "type($v) is str and $matches($v)",
        _QUOTED if quote else "$v",
        names={"matches": matches, "quote": quote},
    )
