"""Numbers and strings as Connect's producers write them.

A decimal is the bytes of its unscaled integer. A float has the shortest digits that read back, as
Java 19 and later writes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from math import frexp
from typing import Literal

from cdcwire.core.errors import EncodeError
from cdcwire.golang import plain_digits, usual_text32
from cdcwire.model.floats import read_float32

MAX_DECIMAL_BYTES = 65536  # 157,000 digits; PostgreSQL stops at 147,455
_MAX_DIGITS = 157000
_DIGITS = re.compile("-?[0-9]{1,20}")
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def decimal_of(unscaled: bytes, scale: int) -> Decimal:
    """Return the number; ``unscaled`` is big-endian two's complement, of one byte or more."""
    return EXACT.scaleb(Decimal(int.from_bytes(unscaled, "big", signed=True)), -scale)


def unscaled_bytes(value: Decimal, scale: int, clause: str) -> bytes:
    """Return the shortest bytes of the unscaled integer.

    Raises: EncodeError for NaN and infinities, and for a number with more digits than the scale.
    """
    if not value.is_finite():
        raise EncodeError(f"{value} has no unscaled integer", clause)
    if value and abs(value.adjusted()) + abs(scale) > _MAX_DIGITS:
        raise EncodeError(f"a number of more than {_MAX_DIGITS} digits", clause)
    shifted = EXACT.scaleb(value, scale)
    unscaled = int(shifted)
    if shifted != unscaled:
        raise EncodeError(f"{value} has more digits after the point than scale {scale}", clause)
    magnitude = unscaled if unscaled >= 0 else ~unscaled
    return unscaled.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def read_digits(text: str) -> int | str:
    """Return digits as a number, up to 20 of them; any other text stays text."""
    return int(text) if _DIGITS.fullmatch(text) else text


def java_float_text(value: float, bits: Literal[32, 64]) -> str:
    """Return a finite number as ``Double.toString`` or ``Float.toString`` does.

    Shape: one digit or more after the point; plain from 0.001 up to below 10**7, else ``1.0E20``.
    Where one digit would do, the nearest number of two digits is written (``4.9E-324``).
    """
    magnitude = abs(value)
    if bits == 32:
        # At a power of two, the gap below is smaller.
        usual = usual_text32(value) if frexp(magnitude)[0] != 0.5 else ""
        if usual:
            return usual if "." in usual else f"{usual}.0"
    elif 1e-3 <= magnitude < 1e7:  # Python writes these in the same way
        return repr(value)
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if magnitude == 0.0:
        return f"{sign}0.0"
    digits, exponent = _shortest(magnitude, bits)
    if -3 <= exponent < 7:
        plain = plain_digits(digits, exponent)
        return f"{sign}{plain}" if "." in plain else f"{sign}{plain}.0"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _shortest(magnitude: float, bits: Literal[32, 64]) -> tuple[str, int]:
    """Return the digits without end zeros, and the power of ten of the first one."""
    if bits == 64:
        digits, exponent = _split(f"{Decimal(repr(magnitude)):e}")
    else:
        digits, exponent = _shortest32(magnitude)
    # Java takes the nearest of all numbers with two digits, also where one digit reads back.
    return _split(f"{magnitude:.1e}") if len(digits) == 1 else (digits, exponent)


def _shortest32(magnitude: float) -> tuple[str, int]:
    for precision in range(9):
        text = f"{magnitude:.{precision}e}"
        if read_float32(text) == magnitude:
            return _split(text)
        # At a power of two the gap below is half of that above: the number above may read back
        # though the nearer one below does not.
        above = f"{Decimal(text) + Decimal(1).scaleb(Decimal(text).adjusted() - precision):e}"
        if read_float32(above) == magnitude:
            return _split(above)
    raise ValueError(f"{magnitude!r} is not a finite 32-bit float")


def _split(text: str) -> tuple[str, int]:
    mantissa, exponent = text.split("e")
    return mantissa.replace(".", "").rstrip("0") or "0", int(exponent)


_STRINGS = "connect: strings"
_SPECIAL = re.compile(r'["\\\x00-\x1f\U00010000-\U0010ffff]')
_SPECIAL_WITHIN = re.compile(r'["\\\x00-\x1f]')
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SHORT = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def quoted(text: str) -> str:
    r"""Return a string as JSON text, with its quotes.

    The text has short escapes where JSON defines them, and ``\u001F`` for other characters below
    U+0020. Characters above U+FFFF become the escapes of their two surrogates. All others are
    plain.
    Raises: EncodeError for a lone surrogate, which UTF-8 cannot hold and no reader here accepts.
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return _quoted(text, _SPECIAL)


def hstore_json(pairs: Iterable[tuple[str, str | None]]) -> str:
    """Return a map of texts as the JSON that the producer makes of an hstore.

    It is a text of characters and not of bytes, so that those above U+FFFF are plain.
    Raises: as ``quoted``.
    """
    members = (
        f"{_quoted(name, _SPECIAL_WITHIN)}:"
        f"{'null' if text is None else _quoted(text, _SPECIAL_WITHIN)}"
        for name, text in pairs
    )
    return f"{{{','.join(members)}}}"


def _quoted(text: str, special: re.Pattern[str]) -> str:
    found = _SURROGATE.search(text)
    if found is not None:
        problem = f"unpaired surrogate U+{ord(found.group()):04X}"
        raise EncodeError(problem, _STRINGS)
    return f'"{special.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04X}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}"
