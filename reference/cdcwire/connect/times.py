"""Dates and times: columns of counts or text, as the option for times says, and their values.

Values go from text to counts, and from one unit to another; nothing is rounded.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TypeAlias

from cdcwire.connect import types
from cdcwire.connect.schema import ConnectType, Schema
from cdcwire.connect.style import ColumnPlan, Convert, Style, TimeMode, cdc_schema
from cdcwire.core.errors import EncodeError
from cdcwire.model import kinds
from cdcwire.model.instants import INFINITIES, utc_text, utc_time_text
from cdcwire.model.kinds import DatetimeType, DateType, TimestampType, TimeType, Value
from cdcwire.model.temporal import count_text, infinite_count, infinite_day

KINDS = "connect: kinds"
_PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY = 86400
_EPOCH_DAY = date(1970, 1, 1).toordinal()
# Z: the mode isostring has it after all texts, and it does not specify a zone.
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)Z?", re.ASCII)
_CLOCK = re.compile(r"(-?)(\d{2,4}):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?Z?", re.ASCII)
_DATETIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T]((?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?)Z?", re.ASCII
)


def days(kind: DateType, value: Value) -> int:
    """Return a date as days since 1970. Raises: EncodeError."""
    infinite = infinite_count(value, "d")
    if infinite is not None:
        return infinite
    if kind.form == "d" and _is_int(value):
        return int(value)
    if kind.form == "text":
        return _days(value)
    if not _is_int(value):
        raise _no_value("date", value)
    whole, rest = divmod(value, _DAY * _PER_SECOND[kind.form])
    if rest:
        raise EncodeError(f"{value} is not a whole number of days", KINDS)
    return int(whole)


def clock(kind: TimeType, value: Value, unit: str) -> int:
    """Return a time as a count since midnight. Raises: EncodeError."""
    if kind.form != "text":
        return _rescaled(value, kind.form, unit)
    return _clock(value, unit)


def moment(kind: DatetimeType | TimestampType, value: Value, unit: str) -> int:
    """Return a date and time as a count since 1970. Raises: EncodeError."""
    infinite = infinite_count(value, unit)
    if infinite is not None:
        return infinite
    if kind.form != "text":
        return _rescaled(value, kind.form, unit)
    found = _DATETIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise _no_value("date and time", value)
    return _days(found[1]) * _DAY * _PER_SECOND[unit] + _clock(found[2], unit)


def moment_text(kind: DatetimeType | TimestampType, value: Value, digits: int = 0) -> str:
    """Return a date and time as text with a space; ``digits``: the fewest after the point.

    Raises: EncodeError, outside the years 0 to 9999 too.
    """
    if kind.form != "text":
        if not _is_int(value):
            raise _no_value("date and time", value)
        text = _text_of(kind, value)
    elif isinstance(value, str):
        text = value
    else:
        raise _no_value("date and time", value)
    whole, _, fraction = text.partition(".")
    fraction = fraction.ljust(digits, "0")
    return f"{whole}.{fraction}" if fraction else whole


def calendar_text(kind: DatetimeType, value: Value) -> str:
    """Return a date and time of the calendar as text with milliseconds. Raises: EncodeError."""
    if isinstance(value, str):
        value = value.replace("T", " ", 1).removesuffix("Z")
    text = moment_text(kind, value, 3)
    moment(DatetimeType(), text, "ns")
    return text


def iso_date(kind: DateType, value: Value) -> str:
    """Return a date as ISO 8601 text with ``Z`` after it. Raises: EncodeError."""
    text = infinite_day(value, has_time=False) or _text_of(DateType("d"), days(kind, value))
    return f"{text}Z"


def iso_time(kind: TimeType, value: Value) -> str:
    """Return a time of day as ISO 8601 text with ``Z`` after it. Raises: EncodeError."""
    count = clock(kind, value, "ns")
    if not 0 <= count < _DAY * 10**9:
        raise EncodeError(f"{value!r:.40} is not a time of a day", KINDS)
    return f"{_text_of(TimeType(form='ns'), count)}Z"


def iso_moment(kind: DatetimeType, value: Value) -> str:
    """Return a date and time as ISO 8601 text with ``Z`` after it. Raises: EncodeError."""
    text = infinite_day(value, has_time=True)
    text = text or _text_of(DatetimeType(form="ns"), moment(kind, value, "ns"))
    return f"{text.replace(' ', 'T', 1)}Z"


def zoned_text(kind: TimestampType, value: Value, digits: int | None = None) -> str:
    """Return an instant as ISO 8601 text in UTC; infinities stay. Raises: EncodeError.

    ``digits``: of the fraction, more only where they are not zero; None keeps the fraction.
    """
    try:
        text = utc_text(kind, value)
    except ValueError as error:
        raise EncodeError(str(error), KINDS) from error
    if text in INFINITIES:
        return text
    whole, _, fraction = text.replace(" ", "T", 1).partition(".")
    if digits is not None:
        fraction = fraction.rstrip("0").ljust(digits, "0")
    return f"{whole}.{fraction}Z" if fraction else f"{whole}Z"


def interval_text(value: Value) -> str:
    """Return microseconds as an ISO period of hours, minutes and seconds. Raises: EncodeError.

    Shape: ``P0Y0M0DT4H5M6.789S``, all of it with the sign. Days and months can't be distinguished
    from hours any more.
    """
    if not _is_int(value):
        raise _no_value("interval", value)
    sign = "-" if value < 0 else ""
    seconds, fraction = divmod(abs(value), 10**6)
    parts = [seconds // 3600, seconds // 60 % 60, seconds % 60]
    hours, minutes, rest = (f"{sign}{part}" if part else "0" for part in parts)
    if fraction:
        rest = f"{sign}{parts[2]}.{fraction:06d}".rstrip("0")
    return f"P0Y0M0DT{hours}H{minutes}M{rest}S"


def _text_of(kind: DateType | TimeType | DatetimeType | TimestampType, count: int) -> str:
    try:
        return count_text(kind, count)
    except ValueError as error:
        raise EncodeError(str(error), KINDS) from error


def _days(text: Value) -> int:
    found = _DATE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise _no_value("date", text)
    try:
        return date(*map(int, found.groups())).toordinal() - _EPOCH_DAY
    except ValueError as error:
        raise EncodeError(f"{text!r} is not a day of the calendar", KINDS) from error


def _clock(text: Value, unit: str) -> int:
    found = _CLOCK.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise _no_value("time", text)
    sign, hours, minutes, seconds, fraction = found.groups()
    nanoseconds = int((fraction or "").ljust(9, "0"))
    whole, rest = divmod(nanoseconds, 10**9 // _PER_SECOND[unit])
    if rest:
        raise EncodeError(f"{text!r} has digits below {unit}", KINDS)
    total = (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * _PER_SECOND[unit] + whole
    return -total if sign else total


def _rescaled(value: Value, form: str, unit: str) -> int:
    if not _is_int(value) or form not in _PER_SECOND:
        raise _no_value("time", value)
    count, rest = divmod(value * _PER_SECOND[unit], _PER_SECOND[form])
    if rest:
        raise EncodeError(f"{value} {form} is not a whole number of {unit}", KINDS)
    return int(count)


def _is_int(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _no_value(what: str, value: Value) -> EncodeError:
    return EncodeError(f"{value!r:.40} is not a valid {what}", KINDS)


TemporalType: TypeAlias = (
    "kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType"
)

# Modes of one form for all columns: the names that they have.
_ONE_FORM: dict[TimeMode, tuple[str, ...]] = {
    "connect": (types.CONNECT_DATE, types.CONNECT_TIME, types.CONNECT_TIMESTAMP),
    "isostring": (types.ISO_DATE, types.ISO_TIME, types.ISO_TIMESTAMP),
    "microseconds": (types.DATE, types.MICRO_TIME, types.MICRO_TIMESTAMP),
    "nanoseconds": (types.DATE, types.NANO_TIME, types.NANO_TIMESTAMP),
}
_MILLI_DIGITS, _MICRO_DIGITS = (0, 1, 2, 3), 6
_ONE_UNIT: dict[TimeMode, kinds.TemporalForm] = {"microseconds": "us", "nanoseconds": "ns"}


def is_other_time(kind: kinds.Type, source: str, style: Style) -> bool:
    """Return whether the option for times asks for another form than the one that came."""
    if style.times == "adaptive_time_microseconds":
        return source in (types.TIME, types.CONNECT_TIME, types.NANO_TIME)
    names = _ONE_FORM.get(style.times)
    is_time = isinstance(kind, (kinds.DateType, kinds.TimeType, kinds.DatetimeType))
    return names is not None and is_time and source not in names


def temporal_plan(kind: TemporalType, style: Style) -> ColumnPlan:
    """Return schema and conversion of a column of dates or times."""
    match kind:
        case kinds.DateType():
            return _date_plan(kind, style)
        case kinds.TimeType():
            return _time_plan(kind, style)
        case kinds.DatetimeType():
            return _datetime_plan(kind, style)
        case kinds.TimestampType():
            return _timestamp_plan(kind, style)


def _date_plan(kind: kinds.DateType, style: Style) -> ColumnPlan:
    if style.times == "isostring":
        return _text_plan(types.ISO_DATE, lambda value: iso_date(kind, value))
    name = types.CONNECT_DATE if style.is_cdl or style.times == "connect" else types.DATE
    schema = Schema("int32", name=name, version=1)
    return ColumnPlan(schema, lambda value: days(kind, value))


def _time_plan(kind: kinds.TimeType, style: Style) -> ColumnPlan:
    if kind.zone is not None:
        return _text_plan(types.ZONED_TIME, lambda value: utc_time_text(kind, value))
    if style.times == "isostring":
        return _text_plan(types.ISO_TIME, lambda value: iso_time(kind, value))
    unit = _unit_of_time(kind, style)
    names = {"ms": types.TIME, "us": types.MICRO_TIME, "ns": types.NANO_TIME}
    if style.is_cdl:
        names["ms"] = types.CONNECT_TIME
    elif style.times == "connect":
        unit, names["ms"] = "ms", types.CONNECT_TIME
    elif style.times == "adaptive_time_microseconds":
        unit = "us"
    unit = _ONE_UNIT.get(style.times, unit)
    base: ConnectType = "int32" if unit == "ms" else "int64"
    schema = Schema(base, name=names[unit], version=1)
    return ColumnPlan(schema, lambda value: clock(kind, value, unit))


def _unit_of_time(kind: kinds.TimeType, style: Style) -> kinds.TemporalForm:
    """Return the unit of a time; for a text the one that its digits need."""
    if kind.form not in ("text", "d"):
        return kind.form
    if kind.fraction is not None and kind.fraction > _MICRO_DIGITS:
        return "ns"
    is_short = bool(style.has_short_times) and kind.fraction in _MILLI_DIGITS
    return "ms" if is_short else "us"


def _datetime_plan(kind: kinds.DatetimeType, style: Style) -> ColumnPlan:
    if style.way == "cdl-2.0":
        schema = cdc_schema(style, types.CDC_TIMESTAMP)
        return ColumnPlan(schema, lambda value: calendar_text(kind, value))
    if style.way == "cdl-1.0" or style.times == "connect":
        schema = Schema("int64", name=types.CONNECT_TIMESTAMP, version=1)
        return ColumnPlan(schema, lambda value: moment(kind, value, "ms"))
    if style.times == "isostring":
        return _text_plan(types.ISO_TIMESTAMP, lambda value: iso_moment(kind, value))
    is_short = kind.form == "ms" or kind.fraction in _MILLI_DIGITS
    is_long = kind.form == "ns" or (kind.form == "text" and (kind.fraction or 0) > _MICRO_DIGITS)
    unit: kinds.TemporalForm = "ms" if is_short else "ns" if is_long else "us"
    unit = _ONE_UNIT.get(style.times, unit)
    names = {"ms": types.TIMESTAMP, "us": types.MICRO_TIMESTAMP, "ns": types.NANO_TIMESTAMP}
    schema = Schema("int64", name=names[unit], version=1)
    return ColumnPlan(schema, lambda value: moment(kind, value, unit))


def _timestamp_plan(kind: kinds.TimestampType, style: Style) -> ColumnPlan:
    if kind.zone is None:
        return ColumnPlan(Schema("string"), lambda value: moment_text(kind, value))
    digits = {"cut": 0, "padded": kind.fraction}.get(style.instant_digits)
    return _text_plan(types.ZONED_TIMESTAMP, lambda value: zoned_text(kind, value, digits))


def _text_plan(name: str, convert: Convert) -> ColumnPlan:
    return ColumnPlan(Schema("string", name=name, version=1), convert)
