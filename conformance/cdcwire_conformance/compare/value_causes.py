"""The cause for which two values of a column differ, as far as the values show it.

A cause is tried in both directions: either side may be the one that was cut, padded or re-encoded.
"""

from __future__ import annotations

import base64
import html
import json
import re
import struct
import unicodedata
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Literal, TypeAlias

from cdcwire_conformance.compare.result import Shown, SideName

CauseKind: TypeAlias = Literal[
    "null-absent",
    "null-value",
    "absent-value",
    "null-empty",
    "image",
    "event-field",
    "release",
    "scale",
    "zero-sign",
    "number-form",
    "sign",
    "unsigned",
    "float-width",
    "decimals-cut",
    "decimals-rounded",
    "factor",
    "boolean",
    "time-form",
    "time-cut",
    "time-rounded",
    "time-shift",
    "unicode-form",
    "trailing-space",
    "space",
    "line-end",
    "case",
    "quotes",
    "escapes",
    "charset",
    "replaced",
    "text-cut",
    "json-form",
    "zero-bytes",
    "base64",
    "hexadecimal",
    "hexadecimal-read",
    "unseen",
    "value",
    "row",
]


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a difference. ``side``: the altered side. ``amount``: how far, or to what.

    ``seconds``: by how much the time on this side is later, for a shift.
    """

    kind: CauseKind
    side: SideName | None = None
    amount: str = ""
    seconds: int = 0

    def __str__(self) -> str:
        side = self.side or ""
        other = OTHER_SIDE.get(side, "")
        return _TEXTS[self.kind].format(side=side, other=other, amount=self.amount)


OTHER_SIDE: dict[str, SideName] = {"left": "right", "right": "left"}
_TEXTS: dict[CauseKind, str] = {
    "null-absent": "NULL on the {side}, absent on the {other}",
    "null-value": "NULL on the {side}, a value on the {other}",
    "absent-value": "absent on the {side}, a value on the {other}",
    "null-empty": "NULL on the {side}, {amount} on the {other}",
    "image": "{amount} image only on the {side}",
    "event-field": "{amount}",
    "release": "{amount}",
    "scale": "same number, more zeros at the end on the {side}",
    "zero-sign": "-0.0 on the {side}, 0.0 on the {other}",
    "number-form": "same number, written differently",
    "sign": "opposite signs",
    "unsigned": "unsigned {amount}-bit number read as signed on the {side}",
    "float-width": "passed through a {amount}-bit float on the {side}",
    "decimals-cut": "cut to {amount} decimals on the {side}",
    "decimals-rounded": "rounded to {amount} decimals on the {side}",
    "factor": "{amount} times as large on the {side}",
    "boolean": "true and false on the {side}, 1 and 0 on the {other}",
    "time-form": "same time, written differently",
    "time-cut": "cut to {amount} on the {side}",
    "time-rounded": "rounded to {amount} on the {side}",
    "time-shift": "later by {amount} on the {side}",
    "unicode-form": "same text, {amount}",
    "trailing-space": "trailing spaces on the {side}",
    "space": "surrounding white space on the {side}",
    "line-end": "line ends CR LF on the {side}",
    "case": "upper and lower case",
    "quotes": "in quotes on the {side}",
    "escapes": "{amount} on the {side}",
    "charset": "UTF-8 read as {amount} on the {side}",
    "replaced": "characters replaced by {amount} on the {side}",
    "text-cut": "cut to {amount} characters on the {side}",
    "json-form": "same JSON, written differently",
    "zero-bytes": "zero bytes at the end on the {side}",
    "base64": "base64 on the {side}",
    "hexadecimal": "hexadecimal on the {side}",
    "hexadecimal-read": "hexadecimal that was read as base64 on the {side}",
    "unseen": "different after the first {amount} characters",
    "value": "different values",
    "row": "{amount}",
}

Rule: TypeAlias = Callable[[str, str], "Cause | None"]
"""Returns how the second text was made of the first one; its side is filled in later."""

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_TIME = re.compile(
    r"(?:(\d{4})-(\d\d)-(\d\d))?(?:(?:^|[ T])(-?)(\d{1,3}):(\d\d):(\d\d)(?:\.(\d{1,9}))?)?"
    r"(Z|[+-]\d\d:?\d\d)?"
)
_SECOND = 10**9
_DAY = 86_400 * _SECOND
_QUARTER = 900 * _SECOND
_LARGEST_SHIFT = 26 * 3600 * _SECOND  # from UTC-12 to UTC+14
_UNITS = {0: "seconds", 3: "milliseconds", 6: "microseconds"}
_SHORTEST_CUT = 8  # characters, below which a common beginning means nothing
_STANDARD = bytes.maketrans(b"-_", b"+/")  # of base64, from the alphabet that is safe in URLs
_BOOLEANS = frozenset({("1", "true"), ("0", "false")})
_CHARSETS = {"latin-1": "Latin-1", "cp1252": "Windows-1252", "gbk": "GBK"}


def cause_of(left: Shown, right: Shown, kind: str) -> Cause:
    """Return why two values of a column differ. ``kind``: of the column, as ``kind_text`` says."""
    if left.is_absent or right.is_absent:
        side: SideName = "left" if left.is_absent else "right"
        value = right if left.is_absent else left
        if value.text is None:
            return Cause("null-absent", OTHER_SIDE[side])
        return Cause("absent-value", side)
    if left.text is None or right.text is None:
        side = "left" if left.text is None else "right"
        if left.hidden or right.hidden:
            return Cause("null-value", side)
        return _null_cause(side, left.text if right.text is None else right.text)
    if left.hidden or right.hidden:
        return Cause("value")
    if left.text == right.text:
        return Cause("unseen", amount=f"{len(left.text):,}")
    if kind.startswith("array<bytes"):
        return _items_cause(left.text, right.text)
    if kind.startswith(("bytes", "unknown")):
        return _bytes_cause(left.text, right.text)
    return _text_cause(left.text, right.text)


def _null_cause(side: SideName, value: str | None) -> Cause:
    if value == "":
        return Cause("null-empty", side, "an empty value")
    if value is not None and not value.strip("0-: .T") and "0" in value:
        return Cause("null-empty", side, "zero")
    return Cause("null-value", side)


def _text_cause(left: str, right: str) -> Cause:
    are_numbers = _NUMBER.fullmatch(left) is not None and _NUMBER.fullmatch(right) is not None
    ways = tuple(_both_ways(left, right))
    for rule in _NUMBER_RULES if are_numbers else _TEXT_RULES:
        for side, before, after in ways:
            try:
                found = rule(before, after)
            except ArithmeticError:  # beyond the range of a float, or of a decimal's digits
                continue
            if found is not None:
                return Cause(found.kind, found.side or side, found.amount, found.seconds)
    return Cause("value")


def _items_cause(left: str, right: str) -> Cause:
    """Return the one cause of all items of two arrays of bytes that differ."""
    try:
        arrays = [
            [None if item is None else base64.b64decode(item).hex() for item in json.loads(each)]
            for each in (left, right)
        ]
    except ValueError:  # the text was cut
        return Cause("value")
    ours, theirs = arrays
    if len(ours) != len(theirs):
        return Cause("value")
    causes = {
        Cause("value") if a is None or b is None else _bytes_cause(a, b)
        for a, b in zip(ours, theirs, strict=True)
        if a != b
    }
    return causes.pop() if len(causes) == 1 else Cause("value")


def _bytes_cause(left: str, right: str) -> Cause:
    for side, before, after in _both_ways(left, right):
        try:
            long, short = bytes.fromhex(before), bytes.fromhex(after)
        except ValueError:  # cut in the middle of a byte
            return Cause("value")
        if short.rstrip(b"\0") == long:
            return Cause("zero-bytes", side)
        try:
            plain = short.translate(_STANDARD)
            if base64.b64decode(plain, validate=True) == long and long:
                return Cause("base64", side)
        except Base64Error:
            pass
        if short.lower() == before.encode() and long:
            return Cause("hexadecimal", side)
        if base64.b64encode(short).decode().lower() == before and long:
            return Cause("hexadecimal-read", side)
    try:
        return _text_cause(*(bytes.fromhex(each).decode() for each in (left, right)))
    except UnicodeDecodeError:
        return Cause("value")


def _both_ways(left: str, right: str) -> Iterator[tuple[SideName, str, str]]:
    yield "right", left, right
    yield "left", right, left


def _number_of(text: str) -> Decimal | None:
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _boolean(before: str, after: str) -> Cause | None:
    return Cause("boolean") if (before, after.lower()) in _BOOLEANS else None


def _number(before: str, after: str) -> Cause | None:
    old, new = _number_of(before), _number_of(after)
    if new is None or old is None:
        return None
    if old == new:
        if not old and before.startswith("-") != after.startswith("-"):
            return Cause("zero-sign") if after.startswith("-") else None
        is_plain = not {"e", "E"} & {*before, *after}
        if is_plain and "." in after and len(after) > len(before):
            return Cause("scale")
        return None if is_plain else Cause("number-form")
    low, high = min(old, new), max(old, new)
    bits = next((each for each in (8, 16, 24, 32, 64) if high - low == 1 << each), None)
    if bits is not None and low < 0 <= high:
        return Cause("unsigned", amount=str(bits)) if new == low else None  # in the other order
    return Cause("sign") if old == -new else None


def _double(before: str, after: str) -> Cause | None:
    old, new = _number_of(before), _number_of(after)
    if old is None or abs(old) <= 1 << 53 or Decimal(float(old)) != new:
        return None
    return Cause("float-width", amount="64")


def _single(before: str, after: str) -> Cause | None:
    old, new = _number_of(before), _number_of(after)
    if old is None or new is None:
        return None
    is_single = struct.unpack("f", struct.pack("f", float(old)))[0] == float(new)
    return Cause("float-width", amount="32") if is_single else None


def _shortened(before: str, after: str) -> Cause | None:
    """Return how a number lost digits, or by what it was multiplied."""
    old, new = _number_of(before), _number_of(after)
    if old is None or new is None:
        return None
    digits = -int(new.as_tuple().exponent)
    if 0 <= digits < -int(old.as_tuple().exponent):
        unit = Decimal(1).scaleb(-digits)
        if old.quantize(unit, ROUND_DOWN) == new:
            return Cause("decimals-cut", amount=str(digits))
        if old.quantize(unit, ROUND_HALF_UP) == new:
            return Cause("decimals-rounded", amount=str(digits))
    if not old or abs(new) < abs(old):
        return None
    for power in (2, 3, 6, 9):
        if old.scaleb(power) == new:
            return Cause("factor", amount=f"{10**power:,}")
    return None


@dataclass(frozen=True, slots=True)
class _Instant:
    """A point in time or a duration: nanoseconds without the zone, and the zone's nanoseconds."""

    wall: int
    zone: int | None
    has_time: bool

    @property
    def utc(self) -> int:
        return self.wall - (self.zone or 0)


def _instant_of(text: str) -> _Instant | None:
    found = _TIME.fullmatch(text)
    if found is None or not (found[1] or found[5]):
        return None
    year, month, day, sign, hours, minutes, seconds, fraction, zone = found.groups()
    wall = 0
    if year:
        try:
            wall = date(int(year), int(month), int(day)).toordinal() * _DAY
        except ValueError:
            return None
    if hours:
        of_day = (int(hours) * 60 + int(minutes)) * 60 + int(seconds)
        part = of_day * _SECOND + int((fraction or "0").ljust(9, "0"))
        wall += -part if sign else part
    offset = None
    if zone is not None:
        digits = zone.replace(":", "")
        minutes_of_zone = 0 if zone == "Z" else int(digits[1:3]) * 60 + int(digits[3:5])
        offset = minutes_of_zone * 60 * _SECOND * (-1 if zone[0] == "-" else 1)
    return _Instant(wall, offset, hours is not None)


def _time(before: str, after: str) -> Cause | None:
    old, new = _instant_of(before), _instant_of(after)
    if old is None or new is None:
        return None
    if old.utc == new.utc and old.has_time == new.has_time:
        return Cause("time-form")
    for digits in (6, 3, 0):
        unit = 10 ** (9 - digits)
        if new.utc % unit or not old.utc % unit:
            continue
        if old.utc - old.utc % unit == new.utc:
            return Cause("time-cut", amount=_UNITS[digits])
        if old.utc + unit - old.utc % unit == new.utc:
            return Cause("time-rounded", amount=_UNITS[digits])
    later = _later(old.utc, new.utc)
    if later % _QUARTER == 0 and 0 < later <= _LARGEST_SHIFT and (old.has_time or later == _DAY):
        hours, minutes = divmod(later // _SECOND // 60, 60)
        amount = f"{hours} h" if not minutes else f"{hours} h {minutes} min"
        amount = amount if old.has_time else "1 day"
        return Cause("time-shift", amount=amount, seconds=later // _SECOND)
    return None


def is_shifted(left: str, right: str, seconds: int) -> bool:
    """Return whether two texts are times, the left one being later by exactly ``seconds``."""
    ours, theirs = _instant_of(left), _instant_of(right)
    return ours is not None and theirs is not None and ours.utc - theirs.utc == seconds * _SECOND


def _later(old: int, new: int) -> int:
    """Return by how much a time is later, as far as the less precise of both says."""
    for digits in (0, 3, 6):
        unit: int = 10 ** (9 - digits)
        if not new % unit or not old % unit:
            return new - new % unit - (old - old % unit)
    return new - old


def _unicode(before: str, after: str) -> Cause | None:
    if unicodedata.normalize("NFC", before) != unicodedata.normalize("NFC", after):
        return None
    left, right = (
        next((form for form in ("NFC", "NFD") if unicodedata.is_normalized(form, text)), "neither")
        for text in (before, after)
    )
    return Cause("unicode-form", amount=f"{left} on the left, {right} on the right")


def _space(before: str, after: str) -> Cause | None:
    if len(after) <= len(before) or before.strip() != after.strip():
        return None
    is_trailing = after.rstrip(" ") == before.rstrip(" ")
    return Cause("trailing-space" if is_trailing else "space")


def _form(before: str, after: str) -> Cause | None:
    if after.replace("\r\n", "\n") == before:
        return Cause("line-end")
    if before.casefold() == after.casefold():
        return Cause("case", "right")  # neither side is the altered one
    if len(after) > 1 and after[0] == after[-1] and after[0] in "\"'`" and after[1:-1] == before:
        return Cause("quotes")
    escapes = (
        ("escaped as JSON", json.dumps(before)[1:-1]),
        ("escaped as JSON", json.dumps(before, ensure_ascii=False)[1:-1]),
        ("escaped as HTML", html.escape(before)),
        ("backslashes doubled", before.replace("\\", "\\\\")),
    )
    for name, text in escapes:
        if text == after:
            return Cause("escapes", amount=name)
    return None


def _charset(before: str, after: str) -> Cause | None:
    for codec, name in _CHARSETS.items():
        try:
            if after.encode(codec).decode("utf-8") == before:
                return Cause("charset", amount=name)
        except UnicodeError:
            continue
    if len(before) == len(after):
        put = {new for old, new in zip(before, after, strict=True) if old != new}
        if len(put) == 1 and put <= {"?", "\ufffd"}:
            return Cause("replaced", amount="?" if "?" in put else "U+FFFD")
    return None


def _json(before: str, after: str) -> Cause | None:
    if before[:1] not in ("{", "[") or after[:1] not in ("{", "["):
        return None
    try:
        ours, theirs = (
            json.loads(text, parse_int=str, parse_float=str) for text in (before, after)
        )
    except (ValueError, RecursionError):
        return None
    return Cause("json-form", "right") if ours == theirs else None


def _cut(before: str, after: str) -> Cause | None:
    if len(after) >= _SHORTEST_CUT and before.startswith(after):
        return Cause("text-cut", amount=str(len(after)))
    return None


_RULES: tuple[Rule, ...] = (_time, _unicode, _space, _form, _charset, _json, _cut)
_TEXT_RULES: tuple[Rule, ...] = (_boolean, *_RULES)
_NUMBER_RULES: tuple[Rule, ...] = (_number, _double, _single, _shortened, *_RULES)
