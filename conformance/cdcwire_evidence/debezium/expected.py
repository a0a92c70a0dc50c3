"""What a column has to be in a message, worked out from PostgreSQL's own text of the value.

Nothing here knows the codec: a date is counted from its text, a decimal is its digits. Where
Debezium itself loses or bends a value, ``faults`` says so.

``expected_kind`` says which kind a column has to have in the model.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from dataclasses import dataclass
from decimal import Decimal

from cdcwire.model import kinds
from cdcwire.model.events import Image
from cdcwire.model.kinds import Column, Value

_MICROSECONDS = 10**6
_DAY = 86_400
_MONTH_SECONDS = 2_629_800  # a twelfth of 365.25 days
_DATE = re.compile(r"(\d{4,})-(\d\d)-(\d\d)(?: (.*?))??( BC)?", re.DOTALL)
_CLOCK = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?)?")
_PERIOD = re.compile(
    r"P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?)?"
)


@dataclass(frozen=True, slots=True)
class Modes:
    """The settings that shape values, by Debezium's own words."""

    decimals: str = "precise"
    times: str = "adaptive"
    binary: str = "bytes"
    intervals: str = "numeric"
    hstore: str = "json"

    def properties(self) -> dict[str, str]:
        """Return them as Debezium reads them."""
        return {
            "decimal.handling.mode": self.decimals,
            "time.precision.mode": self.times,
            "binary.handling.mode": self.binary,
            "interval.handling.mode": self.intervals,
            "hstore.handling.mode": self.hstore,
        }


DEFAULT_MODES = Modes()


def declared_as(declared: str) -> tuple[str, tuple[int, ...]]:
    """Return the name of a type and the text in parentheses after it."""
    base, _, numbers = declared.rstrip(")").partition("(")
    return base, tuple(int(number) for number in numbers.split(",") if number)


def expected_value(declared: str, text: str | None, modes: Modes) -> Value:
    """Return the model's value of a column that was declared so and has this text.

    A text that compares equal as another one does (JSON, instants) is what ``same_value`` takes.
    """
    if text is None or text.endswith("infinity"):
        return text
    if declared.endswith("[]"):
        return tuple(expected_value(declared[:-2], item, modes) for item in _items(text))
    base, numbers = declared_as(declared)
    digits = numbers[-1] if numbers else None
    match base:
        case "boolean":
            return text == "t"
        case "smallint" | "integer" | "bigint" | "oid":
            return int(text)
        case "real":
            return _float32(text)
        case "double precision":
            return float(text)
        case "numeric" | "price" | "money":
            return _decimal(text.replace("$", "").replace(",", ""), modes)
        case "bytea":
            return sent_bytes(bytes.fromhex(text[2:]), modes.binary)
        case "date":
            return text if modes.times == "isostring" else days_of(text)
        case "time":
            return _time(text, digits, modes)
        case "timestamp":
            return _timestamp(text, digits, modes)
        case "timetz" | "timestamptz":
            return text
        case "interval":
            return _interval(text, modes)
        case "bit" if digits == 1:
            return text == "1"
        case "bit" | "varbit":
            return int(text or "0", 2)
        case "point":
            x, y = (float(part) for part in text.strip("()").split(","))
            return (x, y)
        case "hstore":
            pairs = _hstore(text)
            return tuple(pairs.items()) if modes.hstore == "map" else json.dumps(pairs)
        case _:
            return text


def same_value(declared: str, expected: Value, found: Value, modes: Modes) -> bool:
    """Return whether a message says what was expected."""
    if expected is None or found is None:
        return expected is None and found is None
    if declared.endswith("[]") and isinstance(expected, tuple):
        return (
            isinstance(found, tuple)
            and len(found) == len(expected)
            and all(
                same_value(declared[:-2], one, other, modes)
                for one, other in zip(expected, found, strict=True)
            )
        )
    base = declared.partition("(")[0]
    if base in ("json", "jsonb"):
        return bool(expected == found)  # its text as it is
    if base == "hstore":
        if modes.hstore == "map":
            return isinstance(found, tuple) and dict(expected) == dict(found)
        return isinstance(found, str) and json.loads(expected) == json.loads(found)
    if base == "point":
        return isinstance(found, Image) and (found["x"], found["y"]) == expected
    if base in ("timetz", "timestamptz") and isinstance(found, str):
        return _instant(expected) == _instant(found)
    if modes.times == "isostring" and base in ("date", "time", "timestamp"):
        return isinstance(found, str) and _instant(expected) == _instant(found)
    if isinstance(expected, float):
        return isinstance(found, float) and _float_key(expected) == _float_key(found)
    if isinstance(expected, Decimal):
        return isinstance(found, Decimal) and expected.as_tuple() == found.as_tuple()
    return type(expected) is type(found) and bool(expected == found)


def days_of(text: str) -> int:
    """Return the days since 1970 of a date, in the calendar that has no Julian part."""
    found = _DATE.fullmatch(text)
    assert found is not None, text
    year, month, day = (int(part) for part in found.groups()[:3])
    year = 1 - year if found[5] else year
    # Days before the year's first of March, years from March to February.
    shifted = year - (month <= 2)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _microseconds(text: str) -> int:
    """Return the microseconds since midnight of a time."""
    found = _CLOCK.fullmatch(text)
    assert found is not None, text
    hours, minutes, seconds = (int(part) for part in found.groups()[:3])
    fraction = int((found[4] or "").ljust(6, "0")[:6])
    return (hours * 3600 + minutes * 60 + seconds) * _MICROSECONDS + fraction


def _time(text: str, digits: int | None, modes: Modes) -> Value:
    if modes.times == "isostring":
        return text
    count = _microseconds(text)
    short = digits is not None and digits <= 3
    if modes.times == "connect" or (modes.times == "adaptive" and short):
        return count // 1000
    return count * 1000 if modes.times == "nanoseconds" else count


def _timestamp(text: str, digits: int | None, modes: Modes) -> Value:
    if modes.times == "isostring":
        return text
    date, clock, era = re.fullmatch(r"(\S+) (\S+)( BC)?", text).groups()  # type: ignore[union-attr]  # PostgreSQL's own form
    count = days_of(date + (era or "")) * _DAY * _MICROSECONDS + _microseconds(clock)
    short = digits is not None and digits <= 3
    if modes.times == "connect" or (modes.times.startswith("adaptive") and short):
        return count // 1000
    return count * 1000 if modes.times == "nanoseconds" else count


def _interval(text: str, modes: Modes) -> Value:
    """Return an interval that PostgreSQL wrote as ISO 8601."""
    found = _PERIOD.fullmatch(text)
    assert found is not None, text
    years, months, days, hours, minutes = (int(part or 0) for part in found.groups()[:5])
    seconds = Decimal(found[6] or 0)
    if modes.intervals == "string":
        clock = f"{hours}H{minutes}M{seconds.normalize() + 0:f}S"
        return f"P{years}Y{months}M{days}DT{clock}"
    whole = (years * 12 + months) * _MONTH_SECONDS + days * _DAY + hours * 3600 + minutes * 60
    return int((whole + seconds) * _MICROSECONDS)


def _decimal(text: str, modes: Modes) -> Value:
    if modes.decimals == "double":
        return float(text)
    return Decimal(text) if modes.decimals == "precise" else text


def sent_bytes(raw: bytes, mode: str) -> Value:
    """Return what is sent for bytes. ``mode``: ``binary.handling.mode`` of any connector."""
    match mode:
        case "hex":
            return raw.hex()
        case "base64":
            return base64.b64encode(raw).decode()
        case "base64-url-safe":
            return base64.urlsafe_b64encode(raw).decode()
        case _:
            return raw


def _float32(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        return value
    narrow: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return narrow


def _float_key(value: float) -> str:
    return repr(value)


def _instant(text: str) -> tuple[int, int] | tuple[str, int] | str:
    """Return an instant as seconds and microseconds; any other text as it is."""
    found = re.fullmatch(r"([+-]?\d{4,}-\d\d-\d\d)?[T ]?([\d:.]+)?(Z|[+-][\d:]+)?( BC)?", text)
    if found is None:
        return text
    date, clock, zone, era = found.groups()
    signed = date or "1970-01-01"
    year = int(signed[:-6])
    if era:
        year = 1 - year
    days = (
        days_of(f"{year:04d}{signed[-6:]}")
        if year > 0
        else days_of(f"{1 - year:04d}{signed[-6:]} BC")
    )
    offset = 0
    if zone not in (None, "Z"):
        parts = [int(part) for part in re.findall(r"\d\d", zone)]
        offset = sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=False))
        offset = -offset if zone[0] == "-" else offset
    micro = _microseconds(clock) if clock else 0
    total = (days * _DAY - offset) * _MICROSECONDS + micro
    if date is None:  # a time of day: what stands beyond midnight is another day's
        total %= _DAY * _MICROSECONDS
    return divmod(total, _MICROSECONDS)


def _items(text: str) -> list[str | None]:
    """Return the items of an array of one dimension, in PostgreSQL's own text."""
    items: list[str | None] = []
    for quoted, plain in re.findall(r'"((?:[^"\\]|\\.)*)"|([^,{}]+)', text):
        if plain:
            items.append(None if plain == "NULL" else plain)
        else:
            items.append(re.sub(r"\\(.)", r"\1", quoted))
    return items


def _hstore(text: str) -> dict[str, str | None]:
    pattern = r'"((?:[^"\\]|\\.)*)"=>(?:(NULL)|"((?:[^"\\]|\\.)*)")'
    return {
        _unescaped(name): None if null else _unescaped(value)
        for name, null, value in re.findall(pattern, text)
    }


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


_UTC = "+00:00"
_PLAIN: dict[str, kinds.Type] = {
    "boolean": kinds.BoolType(),
    "smallint": kinds.IntType(16),
    "integer": kinds.IntType(32),
    "bigint": kinds.IntType(64),
    "oid": kinds.IntType(64),
    "real": kinds.FloatType(32),
    "double precision": kinds.FloatType(64),
    "json": kinds.JsonType(),
    "jsonb": kinds.JsonType(),
    "mood": kinds.EnumType(("sad", "ok", "hap", "py"), "label"),  # a comma in a label is ambiguous
    "timetz": kinds.TimeType(form="text", zone=_UTC),
    "timestamptz": kinds.TimestampType(form="text", zone=_UTC),
}
_ISO: dict[str, kinds.Type] = {
    "date": kinds.DateType(),
    "time": kinds.TimeType(),
    "timestamp": kinds.DatetimeType(),
}
_POINT = kinds.StructType(
    (
        Column("x", kinds.FloatType(64), "double", False),
        Column("y", kinds.FloatType(64), "double", False),
        Column("wkb", kinds.BytesType(), "bytes", True),
        Column("srid", kinds.IntType(32), "int32", True),
    )
)


def expected_kind(declared: str, modes: Modes) -> kinds.Type:
    """Return the kind of a column that was declared so."""
    if declared.endswith("[]"):
        return kinds.ArrayType(expected_kind(declared[:-2], modes))
    base, numbers = declared_as(declared)
    if modes.times == "isostring" and base in _ISO:
        return _ISO[base]
    if base in _PLAIN:
        return _PLAIN[base]
    match base:
        case "numeric" | "price" | "money":
            return _decimal_kind(base, numbers, modes)
        case "bytea":
            return kinds.BytesType() if modes.binary == "bytes" else kinds.TextType()
        case "date":
            return kinds.DateType("d")
        case "time":
            return kinds.TimeType(form=_form(numbers, modes))
        case "timestamp":
            is_exact = modes.times == "adaptive_time_microseconds"
            adaptive = Modes(times="adaptive") if is_exact else modes
            return kinds.DatetimeType(form=_form(numbers, adaptive))
        case "interval":
            return kinds.IntervalType("us" if modes.intervals == "numeric" else "text")
        case "bit" if numbers == (1,):
            return kinds.BoolType()
        case "bit" | "varbit":
            return kinds.BitType(numbers[0])
        case "point":
            return _POINT
        case "hstore":
            return (
                kinds.MapType(kinds.TextType(), kinds.TextType())
                if modes.hstore == "map"
                else kinds.JsonType()
            )
        case _:
            return kinds.TextType()


def _decimal_kind(base: str, numbers: tuple[int, ...], modes: Modes) -> kinds.Type:
    if modes.decimals == "string":
        return kinds.TextType()
    if modes.decimals == "double":
        return kinds.FloatType(64)
    if base == "price":
        return kinds.DecimalType(12, 3)
    if base == "money":
        return kinds.DecimalType(None, 2)
    if not numbers:
        return kinds.DecimalType()
    precision, scale = numbers
    return kinds.DecimalType(precision, scale if scale >= 0 else 2048 + scale)


def _form(numbers: tuple[int, ...], modes: Modes) -> kinds.TemporalForm:
    is_short = bool(numbers) and numbers[0] <= 3
    if modes.times == "connect" or (modes.times == "adaptive" and is_short):
        return "ms"
    return "ns" if modes.times == "nanoseconds" else "us"
