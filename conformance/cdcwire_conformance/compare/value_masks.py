"""Values of a row replaced by others of the same type and length, so that a case can be shared.

The key and the row decide how each character of a column is replaced. So equal values of a column
stay equal on both sides and in both images, and different ones stay different. Their difference
stays too: trailing spaces, upper and lower case, digits that are cut, a shift in time. Spaces,
punctuation, zeros, NULL, booleans and labels of unknown types are not replaced.
"""

from __future__ import annotations

import hmac
import math
import re
import struct
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import pairwise
from typing import TypeAlias

from cdcwire.model import kinds
from cdcwire.model.events import NO_EXTRA, UNAVAILABLE, Column, Image, RowChange, Value

Pad: TypeAlias = Callable[[str, int, int], int]
"""Returns a secret number below a bound, for a purpose and a place."""

_INTEGER = re.compile(r"(-?)(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"(-?)(0|[1-9][0-9]*)\.([0-9]+)")
_FLOAT = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(e[+-]?[0-9]+)?")
_TIME = re.compile(
    r"([1-9]\d{3})-(\d\d)-(\d\d)(?:([ T])(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?"
)
_DURATION = re.compile(r"(-?)(\d{2,3}):([0-5]\d):([0-5]\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?")
_DURATIONS = (86_400, 360_000, 3_020_400)  # seconds: times of a day, and MySQL's longer ones
_JSON_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"(\s*:)?|-?\d+(?:\.\d+)?', re.DOTALL)
_JSON_ESCAPE = re.compile(r"(\\u[0-9a-fA-F]{4}|\\.)")
# The largest numbers of all types. A number stays between the same two of them.
_BOUNDS = sorted(
    bound
    for bits in (8, 16, 24, 32, 64)
    for bound in ((1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 1)
)
_DAY = 86_400
_EPOCH = date(1970, 1, 1).toordinal()
_INSTANTS = (_EPOCH + 1, date(2038, 1, 1).toordinal())  # days of MySQL's TIMESTAMP
_DATES = (date(1000, 1, 1).toordinal(), date(9999, 12, 31).toordinal() + 1)
_UNITS = {"ms": 3, "us": 6, "ns": 9}
_YEARS = (1901, 2156)


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
        return int.from_bytes(digest[:16], "big") % bound


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
            return value if isinstance(value, int) else _text(value, pad)
        case kinds.IntervalType() if isinstance(value, str):
            return re.sub(r"\d+", lambda found: _text(found[0], pad), value)
        case kinds.DecimalType() if isinstance(value, str):
            return masked_text(value, pad) if _DECIMAL.fullmatch(value) else value
        case kinds.BitType():
            return int(value) ^ pad("bits", 0, 1 << max(value.bit_length() - 1, 0))
        case kinds.YearType():
            return _rotated(value, _YEARS, pad("year", 0, 1 << 32)) if value else value
        case kinds.JsonType():
            return _json(value, pad)
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
        text = f"{value:f}"
        return Decimal(_number(text, pad)) if value.is_finite() else value
    if isinstance(value, bytes):
        return _bytes(value, pad, is_text=isinstance(kind, kinds.TextType))
    return masked_text(value, pad) if isinstance(value, str) else value


def masked_text(text: str, pad: Pad) -> str:
    """Return another text of the same form: a number, a date or time, or any other text."""
    if _INTEGER.fullmatch(text) or _DECIMAL.fullmatch(text):
        return _number(text, pad)
    if _TIME.fullmatch(text):
        moved = _temporal(text, pad)
        return _text(text, pad) if moved == text else moved
    found = _DURATION.fullmatch(text)
    if found is not None:
        return _duration(found, pad)
    return _text(text, pad)


def _number(text: str, pad: Pad) -> str:
    sign, digits = text[: text.startswith("-")], text.lstrip("-")
    whole, dot, fraction = digits.partition(".")
    return f"{sign}{_whole(int(whole), pad)}{dot}{_fraction(fraction, pad)}"


def _whole(number: int, pad: Pad) -> int:
    """Return another number of as many digits that fits into the same types. Zero stays."""
    if not number:
        return 0
    digits = len(str(number))
    above = next((bound for bound in _BOUNDS if bound >= number), 10**digits)
    below = max((bound for bound in _BOUNDS if bound < number), default=0)
    first, last = max(10 ** (digits - 1), below + 1), min(10**digits - 1, above)
    return _rotated(number, (first, last + 1), pad("whole", digits, 1 << 64))


def _fraction(digits: str, pad: Pad) -> str:
    """Return other digits; zeros stay, so that a cut or padded number is still one."""
    return "".join(
        digit if digit == "0" else str(_rotated(int(digit), (1, 10), pad("fraction", place, 9)))
        for place, digit in enumerate(digits)
    )


def _rotated(number: int, limits: tuple[int, int], by: int) -> int:
    """Return a number moved on within limits. One outside of them stays."""
    first, end = limits
    return number if not first <= number < end else first + (number - first + by) % (end - first)


def _float(value: float, bits: int, pad: Pad) -> float:
    found = _FLOAT.fullmatch(repr(value))
    if found is None or not math.isfinite(value):
        return value
    masked = float(_number(found[1], pad) + (found[2] or ""))
    if bits == 32:
        try:
            (masked,) = struct.unpack("<f", struct.pack("<f", masked))
        except OverflowError:
            return value
    return masked if math.isfinite(masked) else value


def _text(text: str, pad: Pad) -> str:
    return "".join(_sign(sign, place, pad) for place, sign in enumerate(text))


def _sign(sign: str, place: int, pad: Pad) -> str:
    if "0" <= sign <= "9":
        return chr(_rotated(ord(sign), (48, 58), pad("digit", place, 10)))
    for first in (65, 97):
        if first <= ord(sign) < first + 26:
            return chr(_rotated(ord(sign), (first, first + 26), pad("letter", place, 26)))
    if ord(sign) < 128 or not _is_plain_letter(sign):
        return sign
    start = ord(sign) & ~0x3F  # letters whose UTF-8 differs in the last byte only
    alike = [each for each in map(chr, range(start, start + 64)) if _is_plain_letter(each)]
    return alike[(alike.index(sign) + pad("other", place, len(alike))) % len(alike)]


def _is_plain_letter(sign: str) -> bool:
    return ord(sign) >= 128 and sign.isalpha() and unicodedata.normalize("NFKC", sign) == sign


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
        each and _rotated(each, (1, 256), pad("byte", place, 255))
        for place, each in enumerate(value)
    )


def _label(value: Value, labels: tuple[str, ...], pad: Pad) -> Value:
    by = pad("label", 0, 1 << 32)
    if isinstance(value, int):
        return _rotated(value, (1, len(labels) + 1), by)
    return labels[(labels.index(value) + by) % len(labels)] if value in labels else value


def _label_set(value: Value, labels: tuple[str, ...], pad: Pad) -> Value:
    if isinstance(value, int):
        chosen = [number for number in range(len(labels)) if value >> number & 1]
    else:
        chosen = [labels.index(each) for each in value.split(",") if each in labels]
    by = pad("label", 0, 1 << 32)
    moved = sorted((number + by) % len(labels) for number in chosen)
    if isinstance(value, int):
        return sum(1 << number for number in moved)
    return ",".join(labels[number] for number in moved)


def _json(text: str, pad: Pad) -> str:
    """Return JSON with other texts and numbers; names of members and its form stay."""

    def other(found: re.Match[str]) -> str:
        token = found[0]
        if found[1] is not None:
            return token
        if not token.startswith('"'):
            return _number(token, pad)
        parts = _JSON_ESCAPE.split(token[1:-1])
        inner = (each if number % 2 else _text(each, pad) for number, each in enumerate(parts))
        return f'"{"".join(inner)}"'

    return _JSON_TOKEN.sub(other, text)


def _temporal(text: str, pad: Pad) -> str:
    """Return a date, or a date and a time, moved on. One that no calendar has stays."""
    found = _TIME.fullmatch(text)
    return text if found is None else _time(found, pad) or text


def _time(found: re.Match[str], pad: Pad) -> str | None:
    year, month, day, between, hour, minute, second, fraction, zone = found.groups()
    try:
        days = date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None
    if hour is None:
        moved = _moved(days * _DAY, has_time=False, pad=pad)
        return date.fromordinal(moved // _DAY).isoformat()
    if int(hour) > 23 or int(minute) > 59 or int(second) > 59:
        return None
    seconds = int(hour) * 3600 + int(minute) * 60 + int(second)
    days, seconds = divmod(_moved(days * _DAY + seconds, has_time=True, pad=pad), _DAY)
    return f"{date.fromordinal(days)}{between}{_clock(seconds)}{_parts(fraction, pad)}{zone or ''}"


def _duration(found: re.Match[str], pad: Pad) -> str:
    """Return a time of day, or a time of MySQL, moved on."""
    sign, hour, minute, second, fraction, zone = found.groups()
    seconds = int(hour) * 3600 + int(minute) * 60 + int(second)
    for first, end in pairwise((1, *_DURATIONS)):
        seconds = _rotated(seconds, (first, end), pad("seconds", end, end))
    clock = _clock(seconds).rjust(len(hour) + 6, "0")
    return f"{sign}{clock}{_parts(fraction, pad)}{zone or ''}"


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _parts(fraction: str | None, pad: Pad) -> str:
    return "" if fraction is None else f".{_fraction(fraction[1:], pad)}"


def _moved(seconds: int, *, has_time: bool, pad: Pad) -> int:
    """Return seconds from the first day of the calendar, moved on by secret days and seconds."""
    days = seconds // _DAY
    limits = next((each for each in (_INSTANTS, _DATES) if each[0] <= days < each[1]), None)
    if limits is None:
        return seconds
    by = pad("days", 0, 1 << 32) * _DAY
    if has_time:
        by += pad("seconds", 0, _DAY)
    return _rotated(seconds, (limits[0] * _DAY, limits[1] * _DAY), by)


def _count(value: int, form: str, pad: Pad) -> int:
    """Return a count of days or of parts of a second since 1970, moved on as its text would be."""
    if form == "d":
        return _moved((value + _EPOCH) * _DAY, has_time=False, pad=pad) // _DAY - _EPOCH
    digits = _UNITS.get(form, 0)
    unit: int = 10**digits
    seconds, parts = divmod(value, unit)
    moved = _moved(seconds + _EPOCH * _DAY, has_time=True, pad=pad) - _EPOCH * _DAY
    fraction = _fraction(f"{parts:0{digits}}", pad) if digits else "0"
    return moved * unit + int(fraction)
