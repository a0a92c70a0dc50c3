"""Columns of dates and times: counts of a unit or text, as the option for times says."""

from __future__ import annotations

from typing import TypeAlias

from cdcwire.connect import counts, types
from cdcwire.connect.schema import ConnectType, Schema
from cdcwire.connect.style import ColumnPlan, Convert, Style, TimeMode, cdc_schema
from cdcwire.model import kinds
from cdcwire.model.instants import utc_time_text

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
        return _text_plan(types.ISO_DATE, lambda value: counts.iso_date(kind, value))
    name = types.CONNECT_DATE if style.is_cdl or style.times == "connect" else types.DATE
    schema = Schema("int32", name=name, version=1)
    return ColumnPlan(schema, lambda value: counts.days(kind, value))


def _time_plan(kind: kinds.TimeType, style: Style) -> ColumnPlan:
    if kind.zone is not None:
        return _text_plan(types.ZONED_TIME, lambda value: utc_time_text(kind, value))
    if style.times == "isostring":
        return _text_plan(types.ISO_TIME, lambda value: counts.iso_time(kind, value))
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
    return ColumnPlan(schema, lambda value: counts.clock(kind, value, unit))


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
        return ColumnPlan(schema, lambda value: counts.calendar_text(kind, value))
    if style.way == "cdl-1.0" or style.times == "connect":
        schema = Schema("int64", name=types.CONNECT_TIMESTAMP, version=1)
        return ColumnPlan(schema, lambda value: counts.moment(kind, value, "ms"))
    if style.times == "isostring":
        return _text_plan(types.ISO_TIMESTAMP, lambda value: counts.iso_moment(kind, value))
    is_short = kind.form == "ms" or kind.fraction in _MILLI_DIGITS
    is_long = kind.form == "ns" or (kind.form == "text" and (kind.fraction or 0) > _MICRO_DIGITS)
    unit: kinds.TemporalForm = "ms" if is_short else "ns" if is_long else "us"
    unit = _ONE_UNIT.get(style.times, unit)
    names = {"ms": types.TIMESTAMP, "us": types.MICRO_TIMESTAMP, "ns": types.NANO_TIMESTAMP}
    schema = Schema("int64", name=names[unit], version=1)
    return ColumnPlan(schema, lambda value: counts.moment(kind, value, unit))


def _timestamp_plan(kind: kinds.TimestampType, style: Style) -> ColumnPlan:
    if kind.zone is None:
        return ColumnPlan(Schema("string"), lambda value: counts.moment_text(kind, value))
    digits = {"cut": 0, "padded": kind.fraction}.get(style.instant_digits)
    return _text_plan(types.ZONED_TIMESTAMP, lambda value: counts.zoned_text(kind, value, digits))


def _text_plan(name: str, convert: Convert) -> ColumnPlan:
    return ColumnPlan(Schema("string", name=name, version=1), convert)
