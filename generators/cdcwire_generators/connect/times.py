"""Dates and times in the forms that Kafka Connect has for them, and columns of them that come back.

Nothing is cut: a value with digits below a unit, or a day that the calendar lacks, has no form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Literal, TypeAlias

from cdcwire.model import kinds
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import DatetimeType, DateType, TimestampType, TimeType, Value
from cdcwire.model.temporal import count_text
from cdcwire_generators.round_trip import NotCarriedError

Producer: TypeAlias = Literal["cdl 1.0", "cdl 2.0", "debezium"]

CONNECT_PREFIX = "org.apache.kafka.connect.data."
TIME_PREFIX = "io.debezium.time."
DATA_PREFIX = "io.debezium.data."


@dataclass(frozen=True, slots=True)
class Modes:
    """The settings by which a producer writes columns.

    ``prefix``: the start of type names, before ``.cdc.data``.

    ``decimals``, ``times``, ``binary``, ``intervals``, ``maps``: Debezium's modes. ``placeholder``:
    the text for an unavailable value; "" for none. ``has_money``: money stays a Decimal.
    ``has_exponents``: small decimals have an exponent in their text, as of Java's BigDecimal.
    ``numbers``: ``wide`` and ``widest`` as MySQL's connectors have them before 3.7 and 2.0, else
    ``tiny``.
    """

    producer: Producer
    prefix: str = "com.xxx"
    decimals: str = "precise"
    times: str = "adaptive"
    binary: str = "bytes"
    intervals: str = "numeric"
    maps: str = "map"
    placeholder: str = ""
    has_money: bool = False
    numbers: str = "exact"
    has_exponents: bool = False


@dataclass(frozen=True, slots=True)
class Conversion:
    """A column after a round trip: its kind, the name of its type, and a conversion of values."""

    type: kinds.Type
    source: str
    value: Convert


Convert: TypeAlias = Callable[[Value], Value]

UTC = "+00:00"
DAY = 86400
_PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}
# A Z after a text belongs to the mode isostring. It is not a zone.
_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})Z?")
_CLOCK = re.compile(r"(-?)([0-9]{2,3}):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,9}))?Z?")
_MOMENT = re.compile(r"([0-9-]{10})[ T]((?:[01][0-9]|2[0-3]):[0-9:.]+)Z?")
_INSTANT = re.compile(r"([0-9-]{10})[ T]([0-9:]{8}(?:\.[0-9]{1,9})?)(Z|[+-][0-9]{2}:[0-9]{2})?")
_ZONED_CLOCK = re.compile(r"([0-9:]{8})(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})?")
# An instant outside the years 0 to 9999, or none of the calendar.
_UTC_TEXT = re.compile(r"-?infinity|[+-][0-9]{4,6}-[0-9]{2}-[0-9]{2} [0-9:]{8}(?:\.[0-9]{1,9})?")


def of_type(kind: type) -> Convert:
    """Return what gives a value back if it is one of a type, and raises NotCarriedError else."""

    def checked(value: Value) -> Value:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise NotCarriedError(kind.__name__)
        return value

    return checked


def text_value(value: Value) -> str:
    """Return a text that JSON has. Raises: NotCarriedError."""
    if not isinstance(value, str):
        raise NotCarriedError("text ill-formed" if isinstance(value, bytes) else "text")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise NotCarriedError("text")
    return value


def within(value: Value, bits: int, what: str, *, unsigned: bool = False) -> int:
    """Return an integer of ``bits`` bits. Raises: NotCarriedError, which names ``what``."""
    low, high = (0, 1 << bits) if unsigned else (-(1 << bits - 1), 1 << bits - 1)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value < high:
        raise NotCarriedError(what)
    return value


def days(kind: DateType, value: Value) -> int:
    """Return a date as days since 1970. Raises: NotCarriedError."""
    if kind.form == "text":
        return within(_day_of(value), 32, "date")
    if kind.form == "d":
        return within(value, 32, "date")
    days, rest = divmod(of_type(int)(value), DAY * _PER_SECOND[kind.form])
    if rest:
        raise NotCarriedError("date")
    return within(days, 32, "date")


def _day_of(text: Value) -> int:
    found = _DATE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise NotCarriedError("date")
    try:
        return date.fromisoformat(found[1]).toordinal() - date(1970, 1, 1).toordinal()
    except ValueError as error:
        raise NotCarriedError("date") from error


def count_of(kind: TimeType | DatetimeType, value: Value, unit: str) -> int:
    """Return a time, or a date and time, as a count of a unit; nothing is cut."""
    if kind.form != "text":
        nanoseconds = of_type(int)(value) * (10**9 // _PER_SECOND[kind.form])
    elif not isinstance(value, str):
        raise NotCarriedError("time")
    elif isinstance(kind, TimeType):
        nanoseconds = _clock(value)
    else:
        found = _MOMENT.fullmatch(value)
        if found is None:
            raise NotCarriedError("datetime")
        nanoseconds = _day_of(found[1]) * DAY * 10**9 + _clock(found[2])
    count, rest = divmod(nanoseconds, 10**9 // _PER_SECOND[unit])
    if rest:
        raise NotCarriedError("time")
    return int(count)


def _clock(text: str) -> int:
    found = _CLOCK.fullmatch(text)
    if found is None:
        raise NotCarriedError("time")
    sign, hours, minutes, seconds, fraction = found.groups()
    whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    total = whole * 10**9 + int((fraction or "").ljust(9, "0"))
    return -total if sign else total


def iso_text(kind: DateType | TimeType | DatetimeType, value: Value) -> str:
    """Return a date or time as ISO 8601 has it, without end zeros, followed by Z."""
    if isinstance(kind, DateType):
        return f"{_text_of(DateType('d'), days(kind, value))}Z"
    count = count_of(kind, value, "ns")
    if isinstance(kind, DatetimeType):
        return f"{_text_of(DatetimeType(form='ns'), count).replace(' ', 'T')}Z"
    if not 0 <= count < DAY * 10**9:
        raise NotCarriedError("time")
    return f"{_text_of(TimeType(form='ns'), count)}Z"


def _text_of(kind: DateType | TimeType | DatetimeType | TimestampType, count: int) -> str:
    try:
        return count_text(kind, count)
    except ValueError as error:
        raise NotCarriedError(kind_text(kind)) from error


def moment_text(kind: DatetimeType | TimestampType, value: Value) -> str:
    """Return a date and time as text, whatever its form. Raises: NotCarriedError."""
    if kind.form == "text":
        return text_value(value)
    return _text_of(kind, of_type(int)(value))


def cdl_text(kind: DatetimeType, value: Value) -> str:
    """Return a date and time with at least three digits after the point."""
    text = moment_text(kind, value)
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise NotCarriedError("datetime")
    _day_of(found[1])
    _clock(found[2])
    whole, _, fraction = found[2].partition(".")
    return f"{found[1]} {whole}.{fraction.ljust(3, '0')}"


def instant_text(kind: TimestampType, value: Value) -> str:
    """Return an instant in UTC, with the digits of its fraction. Infinities stay."""
    text = moment_text(kind, value)
    found = _INSTANT.fullmatch(text)
    if found is None:
        if _UTC_TEXT.fullmatch(text) is None or kind.zone != UTC:
            raise NotCarriedError("timestamp")
        return text
    # A count is of UTC, whatever the zone of its kind.
    zone = found[3] or (UTC if kind.form != "text" or kind.zone in ("UTC", "Z") else kind.zone)
    if zone in (UTC, "Z"):
        return f"{found[1]} {found[2]}"
    whole, point, fraction = found[2].partition(".")
    try:
        moved = datetime.fromisoformat(f"{found[1]}T{whole}{zone}").astimezone(timezone.utc)
    except (ValueError, OverflowError) as error:
        raise NotCarriedError("timestamp") from error
    return f"{moved.replace(tzinfo=None).isoformat(' ')}{point}{fraction}"


def zoned_time_text(kind: TimeType, value: Value) -> str:
    """Return a time of day in UTC, with ``Z``. A text that is not a time of a day stays."""
    text = text_value(value)
    found = _ZONED_CLOCK.fullmatch(text)
    if found is None:
        return text
    zone = found[3] or kind.zone
    try:
        there = datetime.fromisoformat(f"2000-01-02T{found[1]}{UTC if zone == 'Z' else zone}")
    except ValueError:
        return text
    return f"{there.astimezone(timezone.utc):%H:%M:%S}{found[2] or ''}Z"


def period(value: Value) -> str:
    """Return microseconds as hours, minutes and seconds, each with the sign."""
    sign = "-" if within(value, 80, "interval") < 0 else ""
    seconds, micros = divmod(abs(value), 10**6)
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    shown = [f"{sign}{part}" if part else "0" for part in (hours, minutes, rest)]
    if micros:
        shown[2] = f"{sign}{rest}.{micros:06d}".rstrip("0")
    return f"P0Y0M0DT{shown[0]}H{shown[1]}M{shown[2]}S"


# Modes in which dates and times keep the names that they came by; the others have one form for all.
_KEEPING = ("adaptive", "adaptive_time_microseconds")
_ONE_UNIT: dict[str, kinds.TemporalForm] = {"microseconds": "us", "nanoseconds": "ns"}
_ISO: dict[type[kinds.Type], str] = {
    kinds.DateType: "IsoDate",
    kinds.TimeType: "IsoTime",
    kinds.DatetimeType: "IsoTimestamp",
}


def temporal(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType,
    name: str | None,
    modes: Modes,
) -> Conversion:
    """Return what becomes of a column of this kind and type name. Raises: NotCarriedError."""
    if isinstance(kind, kinds.TimestampType):
        return _instant(kind, name)
    if isinstance(kind, kinds.TimeType) and kind.zone is not None:
        return Conversion(
            kinds.TimeType(form="text", zone=UTC),
            f"{TIME_PREFIX}ZonedTime",
            lambda value: zoned_time_text(kind, value),
        )
    text = _iso(kind, name, modes)
    if text is not None:
        return text
    if isinstance(kind, kinds.TimeType):
        return _time(kind, name, modes)
    if isinstance(kind, kinds.DatetimeType):
        return _moment(kind, name, modes)
    of_connect = modes.producer != "debezium" or modes.times == "connect"
    kept = name if modes.times in _KEEPING and kind.form == "d" else None
    source = kept or f"{CONNECT_PREFIX if of_connect else TIME_PREFIX}Date"
    return Conversion(kinds.DateType("d"), source, lambda value: days(kind, value))


def _instant(kind: kinds.TimestampType, name: str | None) -> Conversion:
    if kind.zone is None:
        return Conversion(kinds.TextType(), "string", lambda value: moment_text(kind, value))
    result = kinds.TimestampType(form="text", zone=UTC)
    return Conversion(
        result, f"{TIME_PREFIX}ZonedTimestamp", lambda value: instant_text(kind, value)
    )


def _iso(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType, name: str | None, modes: Modes
) -> Conversion | None:
    """Return what becomes of a column that is sent as ISO 8601; None if it is sent as a count."""
    result = type(kind)()
    source = f"{TIME_PREFIX}{_ISO[type(kind)]}"
    is_own = modes.producer == "debezium" or not isinstance(kind, kinds.DatetimeType)
    if (kind, name) == (result, source) and is_own and modes.times in (*_KEEPING, "isostring"):
        return Conversion(result, source, text_value)
    if modes.producer != "debezium" or modes.times != "isostring":
        return None
    return Conversion(result, source, lambda value: iso_text(kind, value))


def _time(kind: kinds.TimeType, name: str | None, modes: Modes) -> Conversion:
    unit: kinds.TemporalForm = "us" if kind.form == "text" else kind.form
    is_connects = name is None if modes.producer != "debezium" else modes.times == "connect"
    if modes.producer == "debezium" and modes.times == "connect":
        unit = "ms"
    elif modes.times == "adaptive_time_microseconds" and unit == "ms":
        unit = "us"
    unit = _ONE_UNIT.get(modes.times, unit)
    names = {"ms": "Time", "us": "MicroTime", "ns": "NanoTime"}
    of_day = unit == "ms" and (is_connects or name == f"{CONNECT_PREFIX}Time")
    source = f"{CONNECT_PREFIX if of_day else TIME_PREFIX}{names[unit]}"

    def count(value: Value) -> int:
        found = count_of(kind, value, unit)
        if of_day and not 0 <= found <= DAY * 1000:
            raise NotCarriedError("time")
        return within(found, 32 if unit == "ms" else 64, "time")

    return Conversion(kinds.TimeType(form=unit), source, count)


def _moment(kind: kinds.DatetimeType, name: str | None, modes: Modes) -> Conversion:
    if modes.producer == "cdl 2.0":
        source = f"{modes.prefix}.cdc.data.timestamp"
        return Conversion(kinds.DatetimeType(), source, lambda value: cdl_text(kind, value))
    if modes.producer == "cdl 1.0" or modes.times == "connect":
        unit: kinds.TemporalForm = "ms"
        source = f"{CONNECT_PREFIX}Timestamp"
    else:
        is_short = kind.form == "ms" or kind.fraction in (0, 1, 2, 3)
        unit = "ms" if is_short else "ns" if kind.form == "ns" else "us"
        unit = _ONE_UNIT.get(modes.times, unit)
        names = {"ms": "Timestamp", "us": "MicroTimestamp", "ns": "NanoTimestamp"}
        is_connect = name == f"{CONNECT_PREFIX}Timestamp" and kind.form == unit == "ms"
        source = f"{CONNECT_PREFIX if is_connect else TIME_PREFIX}{names[unit]}"
    result = kinds.DatetimeType(form=unit)
    return Conversion(
        result, source, lambda value: within(count_of(kind, value, unit), 64, "datetime")
    )
