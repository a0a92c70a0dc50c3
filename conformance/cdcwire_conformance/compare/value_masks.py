"""Values of a row replaced by others of the same type and length, so that a case can be shared.

The key and the row decide how each character of a column is replaced. So equal values of a column
stay equal on both sides and in both images, and different ones stay different. Their difference
stays too: trailing spaces, upper and lower case, digits that are cut, a shift in time.

Nothing else of a value stays. A masked value has no three characters in a row that the value has
in the same place. The exceptions are spaces, punctuation, control characters, zeros, NULL,
booleans, NaN and the infinities. The labels of ENUM and SET are a part of the definition: a label
becomes another label.
"""

from __future__ import annotations

import hmac
import math
import re
import struct
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import partial
from hashlib import shake_256
from itertools import pairwise
from typing import TypeAlias

from cdcwire.model import kinds
from cdcwire.model.events import NO_EXTRA, Image, RowChange
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import UNAVAILABLE, Column, Value

Pad: TypeAlias = Callable[[str, int, int], int]
"""Returns a secret number below a bound, for a purpose and a place."""

_INTEGER = re.compile(r"(-?)(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"(-?)(0|[1-9][0-9]*)\.([0-9]+)")
_SCIENTIFIC = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)([eE][+-]?)([0-9]+)")
_KEPT_WORDS = re.compile(r"[+-]?(?:inf|infinity|nan|snan)", re.IGNORECASE)
_TIME = re.compile(
    r"([1-9]\d{3})-(\d\d)-(\d\d)(?:([ T])(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?"
)
_DURATION = re.compile(r"(-?)(\d{2,3}):([0-5]\d):([0-5]\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?")
_DURATIONS = (86_400, 360_000, 3_020_400)  # seconds: times of a day, and MySQL's longer ones
_JSON_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?', re.DOTALL)
_JSON_ESCAPE = re.compile(r"((?:\\u[0-9a-fA-F]{4})+|\\.)")
_FORM_OF_TIME = re.compile(r"[-+0-9:. TZ]*")
_FORM_OF_INTERVAL = re.compile(r"[-+0-9:. PYMWDTHS]*")
# The largest numbers of all types, and those below zero. A number stays between the same two.
_BITS = (8, 16, 24, 32, 64)
_LONGEST_WHOLE = 20  # digits of the largest of them; in longer numbers each digit changes
_BOUNDS = sorted(bound for bits in _BITS for bound in ((1 << bits - 1) - 1, (1 << bits) - 1))
_NEGATIVE_BOUNDS = [1 << bits - 1 for bits in _BITS]
_TRIES = 1000  # to find a shift that changes enough digits
_DAY = 86_400
_EPOCH = date(1970, 1, 1).toordinal()
_INSTANTS = (_EPOCH + 1, date(2038, 1, 1).toordinal())  # days of MySQL's TIMESTAMP
_DATES = (date(1000, 1, 1).toordinal(), date(9999, 12, 31).toordinal() + 1)
_UNITS = {"ms": 3, "us": 6, "ns": 9}
_YEARS = ((1901, 2156), (1000, 1901))
_OTHER_YEAR = 368  # days: moments that are as far apart are not of one year
_OTHER_DECADE = 3653  # days: the years of such moments do not begin alike
_MILLENNIUM = 365_242  # days: the years of such moments end alike
_LARGEST_EXPONENT = 308
# Spaces, punctuation and control characters.
_KEPT_CATEGORIES = frozenset(
    {"Zs", "Zl", "Zp", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Cc", "Cf"}
)
# Characters of two, three and four bytes, for one that has no other like it next to it.
_STAND_INS = (0x0430, 0x4E00, 0x1F400)
_ESCAPED = 0xDC00  # a byte of ill-formed text is a character from here on
# Bytes of ill-formed UTF-8 that can replace one another: the text stays ill-formed.
_ESCAPED_CLASSES = (
    *(tuple(range(first, first + 16)) for first in (0x80, 0x90, 0xA0, 0xB0)),
    (0xC0, 0xC1, *range(0xF5, 0x100)),
    tuple(range(0xC2, 0xE0)),
    (*range(0xE1, 0xED), 0xEE, 0xEF),
    (0xF1, 0xF2, 0xF3),
)


@dataclass(frozen=True, slots=True)
class RowMask:
    """Masks the values of one row.

    ``row``: identifies it on both sides. ``columns``: only these; None: all. ``names``: the common
    names of columns, by those of this side, where they differ.
    """

    key: bytes = field(repr=False)
    row: str
    columns: frozenset[str] | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    def event(self, event: RowChange) -> RowChange:
        """Return a change with masked values, and without what the format adds to it."""
        return replace(
            event, before=self._image(event.before), after=self._image(event.after), extra=NO_EXTRA
        )

    def _image(self, image: Image | None) -> Image | None:
        if image is None:
            return None
        return Image.of((column, self.value(column, value)) for column, value in image.pairs)

    def value(self, column: Column, value: Value) -> Value:
        """Return a masked value of a column."""
        name = self.names.get(column.name, column.name)
        if self.columns is not None and name not in self.columns:
            return value
        return masked_value(column.type, value, partial(self._pad, name))

    def _pad(self, column: str, purpose: str, place: int, bound: int) -> int:
        text = "\0".join((self.row, column, purpose, str(place)))
        digest = hmac.digest(self.key, text.encode("utf-8", "surrogatepass"), "sha256")
        long = shake_256(digest).digest(16 + bound.bit_length() // 8)
        return int.from_bytes(long, "big") % bound


def masked_value(kind: kinds.Type, value: Value, pad: Pad) -> Value:
    """Return another value of the same type. It depends on nothing but the value and the pad."""
    if value is None or value is UNAVAILABLE or isinstance(value, bool):
        return value
    match kind:
        case kinds.ArrayType(item):
            return tuple(masked_value(item, each, pad) for each in value)
        case kinds.MapType(of_key, of_value):
            return tuple(
                (masked_value(of_key, key, pad), masked_value(of_value, each, pad))
                for key, each in value
            )
        case kinds.StructType():
            return Image.of((c, masked_value(c.type, each, pad)) for c, each in value.pairs)
        case kinds.EnumType(labels) if labels:
            return _label(value, labels, pad)
        case kinds.SetType(labels) if labels:
            return _label_set(value, labels, pad)
        case kinds.EnumType() | kinds.SetType():
            return _whole(value, pad) if isinstance(value, int) else _text(value, pad)
        case kinds.IntervalType() if isinstance(value, str):
            if not _FORM_OF_INTERVAL.fullmatch(value):
                return _text(value, pad)
            return re.sub(r"\d+", lambda found: _text(found[0], pad), value)
        case kinds.DecimalType() if isinstance(value, str):
            return value if _KEPT_WORDS.fullmatch(value) else masked_text(value, pad)
        case kinds.BitType() if isinstance(value, int):
            half = 1 << value.bit_length() >> 1
            return value if value < 2 else _rotated(value, (half, 2 * half), pad)
        case kinds.YearType() if isinstance(value, int):
            limits = next((each for each in _YEARS if each[0] <= value < each[1]), None)
            return _rotated(value, limits, pad) if limits else int(_number(str(value), pad))
        case kinds.JsonType() if isinstance(value, str):
            return _json(value, pad)
        case kinds.TimeType(form="ms" | "us" | "ns" as form) if isinstance(value, int):
            return _count_of_day(value, form, pad)
        case kinds.DateType(form) | kinds.DatetimeType(form=form) | kinds.TimestampType(form=form):
            return _count(value, form, pad) if isinstance(value, int) else _temporal(value, pad)
        case _:
            return _plain(kind, value, pad)


def _plain(kind: kinds.Type, value: Value, pad: Pad) -> Value:
    if isinstance(value, tuple):  # a vector
        return tuple(_float(each, 32, pad) for each in value)
    if isinstance(value, int):
        return int(_number(str(value), pad))
    if isinstance(value, float):
        return _float(value, kind.bits if isinstance(kind, kinds.FloatType) else 64, pad)
    if isinstance(value, Decimal):
        return Decimal(_number(f"{value:f}", pad)) if value.is_finite() else value
    if isinstance(value, bytes):
        return _bytes(value, pad, is_text=isinstance(kind, kinds.TextType))
    if isinstance(value, str):
        return masked_text(value, pad)
    raise ValueError(f"a value of {kind_text(kind)} can't be masked")


def masked_text(text: str, pad: Pad) -> str:
    """Return another text of the same form: a number, a date or time, or any other text."""
    if _INTEGER.fullmatch(text) or _DECIMAL.fullmatch(text) or _SCIENTIFIC.fullmatch(text):
        return _number(text, pad)
    if _TIME.fullmatch(text):
        return _temporal(text, pad)
    found = _DURATION.fullmatch(text)
    if found is not None:
        return _duration(found, pad)
    return _text(text, pad)


def _number(text: str, pad: Pad) -> str:
    scientific = _SCIENTIFIC.fullmatch(text)
    if scientific is not None:
        return f"{_number(scientific[1], pad)}{scientific[2]}{_exponent(scientific[3], pad)}"
    sign, digits = text[: text.startswith("-")], text.lstrip("-")
    whole, dot, fraction = digits.partition(".")
    if len(whole) > _LONGEST_WHOLE:
        masked = _digits(whole, "whole", pad)
    else:
        masked = str(_whole(int(whole), pad, is_negative=bool(sign))).rjust(len(whole), "0")
    return f"{sign}{masked}{dot}{_digits(fraction, 'fraction', pad)}"


def _exponent(digits: str, pad: Pad) -> str:
    """Return an exponent of as many digits, which no float is too small for."""
    if len(digits) > _LONGEST_WHOLE:
        return _digits(digits, "exponent", pad)
    number = int(digits)
    if number < 100:  # two digits at most
        return digits
    last = _LARGEST_EXPONENT if number <= _LARGEST_EXPONENT else 10 ** len(str(number))
    return str(_rotated(number, (100, last + 1), pad)).rjust(len(digits), "0")


def _whole(number: int, pad: Pad, *, is_negative: bool = False) -> int:
    """Return another number of as many digits that fits into the same types. Zero stays."""
    if not number:
        return 0
    digits = len(str(number))
    bounds = _NEGATIVE_BOUNDS if is_negative else _BOUNDS
    above = next((bound for bound in bounds if bound >= number), 10**digits)
    below = max((bound for bound in bounds if bound < number), default=0)
    first, last = max(10 ** (digits - 1), below + 1), min(10**digits - 1, above)
    return _rotated(number, (first, last + 1), pad)


def _digits(digits: str, purpose: str, pad: Pad) -> str:
    """Return other digits; zeros stay, so that a cut or padded number is still one."""
    return "".join(
        digit if digit == "0" else str(_moved_on(int(digit), (1, 10), pad(purpose, place, 8)))
        for place, digit in enumerate(digits)
    )


def _moved_on(number: int, limits: tuple[int, int], by: int) -> int:
    """Return another number within limits. ``by``: from 0 to two less than their distance."""
    first, end = limits
    return first + (number - first + by + 1) % (end - first) if end - first > 1 else number


def _rotated(number: int, limits: tuple[int, int], pad: Pad) -> int:
    """Return a number moved on within limits, by a shift that changes one of three digits."""
    first, end = limits
    return first + (number - first + _shift(end - first, len(str(end)), pad)) % (end - first)


def _shift(size: int, digits: int, pad: Pad, least: int = 1) -> int:
    """Return a secret number below ``size`` that changes one of three digits of each number."""
    least = min(least, size // 2)
    found = 0
    for place in range(_TRIES):
        found = least + pad(f"shift {size}", place, max(size - 2 * least, 1))
        is_other_year = least != _OTHER_DECADE or (
            _OTHER_YEAR < found % _MILLENNIUM < _MILLENNIUM - _OTHER_YEAR
        )
        if is_other_year and all(_changes_digits(n, digits) for n in (found, size - found)):
            break
    return found


def _changes_digits(shift: int, digits: int) -> bool:
    """Return whether adding a number changes one of any three digits; a carry adds 1."""
    text = str(shift).rjust(digits, "0")
    windows = (text[place : place + 3] for place in range(max(len(text) - 2, 1)))
    return shift > 0 and all(window.strip("09") for window in windows)


def _float(value: float, bits: int, pad: Pad) -> float:
    if not math.isfinite(value):
        return value
    text = repr(value)
    if text.endswith(".0"):
        text = text.removesuffix(".0")
    masked = _number(text, pad)
    found = float(masked)
    if bits == 32:
        try:
            (found,) = struct.unpack("<f", struct.pack("<f", found))
        except OverflowError:
            found = math.inf
    if math.isfinite(found):
        return found
    # A mantissa that is too large for the largest exponent: a tenth of it is not.
    return _float(float(masked.replace("e+38", "e+37").replace("e+308", "e+307")), bits, pad)


def _text(text: str, pad: Pad) -> str:
    return "".join(_sign(sign, place, pad) for place, sign in enumerate(text))


def _sign(sign: str, place: int, pad: Pad) -> str:
    if "0" <= sign <= "9":
        return chr(_moved_on(ord(sign), (48, 58), pad("digit", place, 9)))
    for first in (65, 97):
        if first <= ord(sign) < first + 26:
            return chr(_moved_on(ord(sign), (first, first + 26), pad("letter", place, 25)))
    if ord(sign) < 128 or unicodedata.category(sign) in _KEPT_CATEGORIES:
        return sign
    alike = _alike(sign)
    if len(alike) == 1 and 0 <= ord(sign) - _ESCAPED < 256:
        return sign  # no other byte keeps the text ill-formed
    if len(alike) == 1:
        first = _STAND_INS[len(sign.encode("utf-8", "surrogatepass")) - 2]
        return chr(first + pad("other", place, 32))
    at = alike.index(sign)
    return alike[_moved_on(at, (0, len(alike)), pad("other", place, len(alike) - 1))]


def _alike(sign: str) -> list[str]:
    """Return the characters of one kind whose UTF-8 differs in the last byte only."""
    if 0 <= (byte := ord(sign) - _ESCAPED) < 256:
        own = next((each for each in _ESCAPED_CLASSES if byte in each), (byte,))
        return [chr(_ESCAPED + each) for each in own]
    start = ord(sign) & ~0x3F
    kind = _kind_of_sign(sign)
    return [each for each in map(chr, range(start, start + 64)) if _kind_of_sign(each) == kind]


def _kind_of_sign(sign: str) -> str:
    is_plain = unicodedata.normalize("NFKC", sign) == sign
    if is_plain and sign.isalpha():
        return "letter"
    return f"{unicodedata.category(sign)} {is_plain}"


def _bytes(value: bytes, pad: Pad, *, is_text: bool) -> bytes:
    try:
        return masked_text(value.decode(), pad).encode()
    except UnicodeDecodeError:
        pass
    if is_text:
        return _text(value.decode("utf-8", "surrogateescape"), pad).encode(
            "utf-8", "surrogateescape"
        )
    return bytes(
        each and _moved_on(each, (1, 256), pad("byte", place, 254))
        for place, each in enumerate(value)
    )


def _label(value: Value, labels: tuple[str, ...], pad: Pad) -> Value:
    by = pad("label", 0, max(len(labels) - 1, 1))
    if isinstance(value, int):
        is_label = 1 <= value <= len(labels)
        return _moved_on(value, (1, len(labels) + 1), by) if is_label else _whole(value, pad)
    if value not in labels:
        return _text(value, pad)
    return labels[_moved_on(labels.index(value), (0, len(labels)), by)]


def _label_set(value: Value, labels: tuple[str, ...], pad: Pad) -> Value:
    by = pad("label", 0, max(len(labels) - 1, 1))

    def moved(numbers: Iterable[int]) -> list[int]:
        return sorted(_moved_on(number, (0, len(labels)), by) for number in numbers)

    if isinstance(value, int):
        others = value >> len(labels)
        own = moved(number for number in range(len(labels)) if value >> number & 1)
        return sum(1 << number for number in own) | _whole(others, pad) << len(labels)
    parts = value.split(",")
    known = [labels[number] for number in moved(labels.index(e) for e in parts if e in labels)]
    return ",".join([*known, *(_text(each, pad) for each in parts if each not in labels)])


def _json(text: str, pad: Pad) -> str:
    """Return JSON with other names, texts and numbers; its form stays."""

    def other(found: re.Match[str]) -> str:
        token = found[0]
        if not token.startswith('"'):
            return _number(token, pad)
        parts = _JSON_ESCAPE.split(token[1:-1])
        return f'"{"".join(_json_part(each, pad) for each in parts)}"'

    return _JSON_TOKEN.sub(other, text)


def _json_part(text: str, pad: Pad) -> str:
    r"""Return other characters for those of a text and of \\uXXXX; other escapes of JSON stay."""
    if not text.startswith("\\"):
        return _text(text, pad)
    if not text.startswith("\\u"):
        return text
    units = bytes.fromhex(text.replace("\\u", ""))
    other = _text(units.decode("utf-16-be", "surrogatepass"), pad)
    masked = other.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{masked[place : place + 4]}" for place in range(0, len(masked), 4))


def _temporal(text: str, pad: Pad) -> str:
    """Return a date, or a date and a time, moved on; of one that no calendar has, other digits."""
    if _KEPT_WORDS.fullmatch(text):
        return text
    found = _TIME.fullmatch(text)
    moved = None if found is None else _time(found, pad)
    if moved is not None:
        return moved
    if not _FORM_OF_TIME.fullmatch(text):
        return _text(text, pad)
    return re.sub(r"[1-9][0-9]*", lambda digits: _part_of_date(digits[0], pad), text)


def _part_of_date(digits: str, pad: Pad) -> str:
    """Return another number: one of a day, month or hour has two digits and is no larger."""
    number = int(digits)
    if len(digits) > 2:
        return _number(digits, pad)
    first = 10 ** (len(digits) - 1)
    return str(_rotated(number, (first, number + 1), pad)) if number > first else digits


def _time(found: re.Match[str], pad: Pad) -> str | None:
    year, month, day, between, hour, minute, second, fraction, zone = found.groups()
    try:
        days = date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None
    if hour is None:
        moved = _moved(days * _DAY, has_time=False, pad=pad)
        return None if moved is None else date.fromordinal(moved // _DAY).isoformat()
    if int(hour) > 23 or int(minute) > 59 or int(second) > 59:
        return None
    seconds = int(hour) * 3600 + int(minute) * 60 + int(second)
    moved = _moved(days * _DAY + seconds, has_time=True, pad=pad)
    if moved is None:
        return None
    days, seconds = divmod(moved, _DAY)
    return f"{date.fromordinal(days)}{between}{_clock(seconds)}{_parts(fraction, pad)}{zone or ''}"


def _duration(found: re.Match[str], pad: Pad) -> str:
    """Return a time of day, or a time of MySQL, moved on by an hour or more."""
    sign, hour, minute, second, fraction, zone = found.groups()
    seconds = int(hour) * 3600 + int(minute) * 60 + int(second)
    moved = _moved_clock(seconds, pad)
    if moved is None:
        return _text(found[0], pad)
    clock = _clock(moved).rjust(len(hour) + 6, "0")
    return f"{sign}{clock}{_parts(fraction, pad)}{zone or ''}"


def _moved_clock(seconds: int, pad: Pad) -> int | None:
    """Return the seconds of a time moved on by an hour or more; None for one that is too long."""
    for first, end in pairwise((1, *_DURATIONS)):
        if first <= seconds < end:
            by = _shift(end - first, 1, pad, least=3600)
            return first + (seconds - first + by) % (end - first)
    return None if seconds else 0


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _parts(fraction: str | None, pad: Pad) -> str:
    return "" if fraction is None else f".{_digits(fraction[1:], 'fraction', pad)}"


def _moved(seconds: int, *, has_time: bool, pad: Pad) -> int | None:
    """Return seconds from the first day of the calendar, moved on by secret days and seconds.

    Returns None for a day outside of the calendar.
    """
    days = seconds // _DAY
    limits = next((each for each in (_INSTANTS, _DATES) if each[0] <= days < each[1]), None)
    if limits is None:
        return None
    first, end = limits
    by = _shift(end - first, len(str(end - _EPOCH)), pad, least=_OTHER_DECADE) * _DAY
    if has_time:
        by += pad("seconds", 0, _DAY)
    return first * _DAY + (seconds - first * _DAY + by) % ((end - first) * _DAY)


def _count_of_day(value: int, form: str, pad: Pad) -> int:
    """Return a count of parts of a second since midnight, moved on as its text would be."""
    digits = _UNITS[form]
    unit: int = 10**digits
    seconds, parts = divmod(abs(value), unit)
    moved = _moved_clock(seconds, pad)
    if moved is None:
        return int(_number(str(value), pad))
    found = moved * unit + int(_digits(f"{parts:0{digits}}", "fraction", pad))
    return -found if value < 0 else found


def _count(value: int, form: str, pad: Pad) -> int:
    """Return a count of days or of parts of a second since 1970, moved on as its text would be."""
    if form == "d":
        moved = _moved((value + _EPOCH) * _DAY, has_time=False, pad=pad)
        return int(_number(str(value), pad)) if moved is None else moved // _DAY - _EPOCH
    digits = _UNITS.get(form, 0)
    unit: int = 10**digits
    seconds, parts = divmod(value, unit)
    moved = _moved(seconds + _EPOCH * _DAY, has_time=True, pad=pad)
    if moved is None:
        return int(_number(str(value), pad))
    fraction = _digits(f"{parts:0{digits}}", "fraction", pad) if digits else "0"
    return (moved - _EPOCH * _DAY) * unit + int(fraction)
