"""Values of MySQL columns as the text that TiDB prints, where formats agree on it.

Integers, bit, year, decimals, dates, times and JSON are the same text in CSV and in Canal-JSON.
Strings, binary values, enums, sets and vectors differ, and are read in those packages. So do the
floats of CSV; those without an exponent, of Canal-JSON and `simple`, are here.

Only the form that a producer writes is read: no white space, no plus sign, no needless leading
zero. Digits are ASCII. A value must fit its type: the width of an integer, the length of a BIT,
precision and scale, the number of fraction digits. Each is checked as far as the type specifies it.
The text of JSON is not looked into.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import TypeAlias

from cdcwire.golang import plain_digits, usual_text32
from cdcwire.model import kinds
from cdcwire.model.floats import narrow_float32, read_float32, shortest_digits
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Value
from cdcwire.model.temporal import temporal_text

_Read: TypeAlias = Callable[[str], Value]

_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
# Zero dates are dates: month and day may be 00, and no month knows its length.
_DATE = r"[0-9]{4}-(?:0[0-9]|1[0-2])-(?:[0-2][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
# 838:59:59 is the end of TIME, without any fraction of a second after it.
_TIME = r"-?(?:[0-9]{2}|[1-7][0-9]{2}|8[0-2][0-9]|83[0-8]):[0-5][0-9]:[0-5][0-9]"
_BEYOND_TIME = r"-?838:59:59\.0*[1-9]"
_YEAR = "(?:0|190[1-9]|19[1-9][0-9]|20[0-9]{2}|21[0-4][0-9]|215[0-5])"

_MAX_INTEGER_DIGITS = 21  # of 64 bits, with a sign
_MAX_DIGITS = 128  # on each side of the point; MySQL has 65 in all
_MAX_BITS = 64
FIRST_YEAR, LAST_YEAR = 1901, 2155


def read_value(kind: kinds.Type, text: str) -> Value:
    """Return the value of a text. ``kind``: any of those that the module names.

    Raises: ValueError with the problem when it is not a text of the kind.
    """
    return reader(kind)(text)


def value_text(kind: kinds.Type, value: Value, time_zone: str | None = None) -> str:
    """Return the text of a value that is not NULL.

    ``time_zone``: where the text of an instant is to be read; see ``temporal_text``.
    Raises: ValueError with the problem when the value does not fit the kind, or has no exact text.
    """
    text = _text(kind, value, time_zone)
    if text is None:
        raise ValueError(f"{value!r:.80} is not a value of kind {kind_text(kind):.80}")
    reader(kind)(text)
    return text


def integer_range(kind: kinds.IntType | kinds.BitType) -> tuple[int, int]:
    """Return the least value of a kind, and the first one after its largest."""
    if isinstance(kind, kinds.BitType):
        return 0, 1 << min(kind.length or _MAX_BITS, _MAX_BITS)
    if kind.unsigned:
        return 0, 1 << kind.bits
    return -1 << kind.bits - 1, 1 << kind.bits - 1


@lru_cache(maxsize=1024)
def pattern(kind: kinds.Type) -> str:
    """Return the regular expression of a kind's texts, without groups, for ASCII only.

    It says all that ``reader`` checks, except the range of integers and BIT values.
    Raises: ValueError for JSON and for kinds that the module does not name.
    """
    match kind:
        case kinds.BoolType():
            return "[01]"
        case kinds.IntType(_, unsigned):
            return "(?:0|[1-9][0-9]{0,19})" if unsigned else "(?:0|-?[1-9][0-9]{0,18})"
        case kinds.BitType():
            return "(?:0|[1-9][0-9]{0,19})"
        case kinds.YearType():
            return _YEAR
        case kinds.DecimalType(precision, scale):
            return _decimal_pattern(precision, scale or 0)
        case kinds.DateType():
            return _DATE
        case kinds.TimeType(fraction):
            return f"(?!{_BEYOND_TIME}){_TIME}{_fraction(fraction)}"
        case kinds.DatetimeType(fraction) | kinds.TimestampType(fraction):
            return f"{_DATE} {_CLOCK}{_fraction(fraction)}"
        case _:
            raise ValueError(f"kind {kind_text(kind):.80} has no text form here")


@lru_cache(maxsize=1024)
def reader(kind: kinds.Type) -> _Read:
    """Return the function that reads the texts of a kind; see ``read_value``."""
    match kind:
        case kinds.BoolType():
            return _read_bool
        case kinds.IntType() | kinds.BitType():
            return _integer_reader(kind)
        case kinds.YearType():
            return _read_year
        case kinds.DecimalType():
            return _decimal_reader(kind)
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return _temporal_reader(kind)
        case kinds.JsonType():
            return _read_json
        case _:
            raise ValueError(f"kind {kind_text(kind):.80} has no text form here")


def _read_bool(text: str) -> Value:
    if text not in ("0", "1"):
        raise ValueError(f"{text[:80]!r:.80} is not 0 or 1")
    return text == "1"


def _integer(text: str) -> int:
    if len(text) > _MAX_INTEGER_DIGITS or not _INTEGER.fullmatch(text):
        raise ValueError(f"{text[:80]!r:.80} is not an integer")
    return int(text)


def _integer_reader(kind: kinds.IntType | kinds.BitType) -> _Read:
    low, high = integer_range(kind)

    def read(text: str) -> Value:
        value = _integer(text)
        if not low <= value < high:
            raise ValueError(f"{text} is not within {low} to {high - 1}")
        return value

    return read


def _read_year(text: str) -> Value:
    value = _integer(text)
    if value != 0 and not FIRST_YEAR <= value <= LAST_YEAR:
        raise ValueError(f"{text} is not 0 or within {FIRST_YEAR} to {LAST_YEAR}")
    return value


def _decimal_pattern(precision: int | None, scale: int) -> str:
    """Return the pattern of a DECIMAL. Zeros at the end may be missing, digits may not be cut."""
    digits, scale = (_MAX_DIGITS, _MAX_DIGITS) if precision is None else (precision - scale, scale)
    whole = f"(?:0|[1-9][0-9]{{0,{digits - 1}}})" if digits > 0 else "0"
    return "-?" + whole + (rf"(?:\.[0-9]{{1,{scale}}})?" if scale else "")


def _decimal_reader(kind: kinds.DecimalType) -> _Read:
    matches = re.compile(pattern(kind)).fullmatch

    def read(text: str) -> Value:
        if not matches(text):
            is_number = _DECIMAL.fullmatch(text) and len(text) < _MAX_DIGITS
            problem = f"does not fit {kind_text(kind)}" if is_number else "is not a decimal number"
            raise ValueError(f"{text[:80]!r:.80} {problem}")
        return Decimal(text)

    return read


def _fraction(fraction: int | None) -> str:
    if fraction is None:
        return r"(?:\.[0-9]{1,6})?"
    return rf"\.[0-9]{{{fraction}}}" if fraction else ""


def _temporal_reader(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType,
) -> _Read:
    matches = re.compile(pattern(kind)).fullmatch
    name = kind_text(kind)

    def read(text: str) -> Value:
        if not matches(text):
            raise ValueError(f"{text[:80]!r:.80} is not a valid {name}")
        return text

    return read


def _read_json(text: str) -> Value:
    if not text:
        raise ValueError("JSON is never empty")
    return text


def _text(kind: kinds.Type, value: Value, time_zone: str | None) -> str | None:
    """Return the text, not checked, or None where the value does not fit the kind."""
    match kind:
        case kinds.BoolType() if isinstance(value, bool):
            return "1" if value else "0"
        case kinds.IntType() | kinds.BitType() | kinds.YearType():
            return str(value) if isinstance(value, int) and not isinstance(value, bool) else None
        case kinds.DecimalType() if isinstance(value, Decimal):
            if not value.is_finite():
                raise ValueError(f"DECIMAL has no {value}")
            return f"{value:f}"
        case kinds.DecimalType() | kinds.JsonType():
            return value if isinstance(value, str) else None
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return temporal_text(kind, value, time_zone)
        case _:
            return None


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
