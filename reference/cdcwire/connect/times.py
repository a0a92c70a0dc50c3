"""Columns of dates and times: counts of a unit or text, as the option for times says."""

from __future__ import annotations

from typing import TypeAlias

from cdcwire.connect import counts
from cdcwire.connect.schema import ConnectType, Schema
from cdcwire.connect.style import ColumnPlan, Convert, Style, TimeMode, as_it_is, cdc_schema
from cdcwire.connect.types import (
    CDC_TIMESTAMP,
    CONNECT_DATE,
    CONNECT_TIME,
    CONNECT_TIMESTAMP,
    DATE,
    ISO_DATE,
    ISO_TIME,
    ISO_TIMESTAMP,
    MICRO_TIME,
    MICRO_TIMESTAMP,
    NANO_TIME,
    NANO_TIMESTAMP,
    TIME,
    TIMESTAMP,
    ZONED_TIME,
    ZONED_TIMESTAMP,
)
from cdcwire.model.kinds import (
    DatetimeType,
    DateType,
    TemporalForm,
    TimestampType,
    TimeType,
    Type,
)

TemporalType: TypeAlias = "DateType | TimeType | DatetimeType | TimestampType"

# Modes of one form for all columns: the names that they have.
_ONE_FORM: dict[TimeMode, tuple[str, ...]] = {
    "connect": (CONNECT_DATE, CONNECT_TIME, CONNECT_TIMESTAMP),
    "isostring": (ISO_DATE, ISO_TIME, ISO_TIMESTAMP),
    "microseconds": (DATE, MICRO_TIME, MICRO_TIMESTAMP),
    "nanoseconds": (DATE, NANO_TIME, NANO_TIMESTAMP),
}
_ONE_UNIT: dict[TimeMode, TemporalForm] = {"microseconds": "us", "nanoseconds": "ns"}


def is_other_time(kind: Type, source: str, style: Style) -> bool:
    """Return whether the option for times asks for another form than the one that came."""
    if style.times == "adaptive_time_microseconds":
        return source in (TIME, CONNECT_TIME)
    names = _ONE_FORM.get(style.times)
    is_time = isinstance(kind, (DateType, TimeType, DatetimeType))
    return names is not None and is_time and source not in names


def temporal_plan(kind: TemporalType, style: Style) -> ColumnPlan:
    """Return schema and conversion of a column of dates or times."""
    match kind:
        case DateType():
            return _date_plan(kind, style)
        case TimeType():
            return _time_plan(kind, style)
        case DatetimeType():
            return _datetime_plan(kind, style)
        case TimestampType():
            return _timestamp_plan(kind)


def _date_plan(kind: DateType, style: Style) -> ColumnPlan:
    if style.times == "isostring":
        return _text_plan(ISO_DATE, lambda value: counts.iso_date(kind, value))
    name = CONNECT_DATE if style.is_cdl or style.times == "connect" else DATE
    schema = Schema("int32", name=name, version=1)
    return ColumnPlan(schema, lambda value: counts.days(kind, value))


def _time_plan(kind: TimeType, style: Style) -> ColumnPlan:
    if kind.zone is not None:
        return _text_plan(ZONED_TIME, as_it_is)
    if style.times == "isostring":
        return _text_plan(ISO_TIME, lambda value: counts.iso_time(kind, value))
    # A text may be more than a day, as MySQL's are: milliseconds of 32 bits would not hold it.
    unit = "us" if kind.form in ("text", "d") else kind.form
    names = {"ms": TIME, "us": MICRO_TIME, "ns": NANO_TIME}
    if style.is_cdl:
        names["ms"] = CONNECT_TIME
    elif style.times == "connect":
        unit, names["ms"] = "ms", CONNECT_TIME
    elif style.times == "adaptive_time_microseconds" and unit == "ms":
        unit = "us"
    unit = _ONE_UNIT.get(style.times, unit)
    base: ConnectType = "int32" if unit == "ms" else "int64"
    schema = Schema(base, name=names[unit], version=1)
    return ColumnPlan(schema, lambda value: counts.clock(kind, value, unit))


def _datetime_plan(kind: DatetimeType, style: Style) -> ColumnPlan:
    if style.way == "cdl-2.0":
        schema = cdc_schema(style, CDC_TIMESTAMP)
        return ColumnPlan(schema, lambda value: counts.calendar_text(kind, value))
    if style.way == "cdl-1.0" or style.times == "connect":
        schema = Schema("int64", name=CONNECT_TIMESTAMP, version=1)
        return ColumnPlan(schema, lambda value: counts.moment(kind, value, "ms"))
    if style.times == "isostring":
        return _text_plan(ISO_TIMESTAMP, lambda value: counts.iso_moment(kind, value))
    is_short = kind.form == "ms" or kind.fraction in (0, 1, 2, 3)
    unit: TemporalForm = "ms" if is_short else "ns" if kind.form == "ns" else "us"
    unit = _ONE_UNIT.get(style.times, unit)
    names = {"ms": TIMESTAMP, "us": MICRO_TIMESTAMP, "ns": NANO_TIMESTAMP}
    schema = Schema("int64", name=names[unit], version=1)
    return ColumnPlan(schema, lambda value: counts.moment(kind, value, unit))


def _timestamp_plan(kind: TimestampType) -> ColumnPlan:
    if kind.zone is None:
        return ColumnPlan(Schema("string"), lambda value: counts.moment_text(kind, value))
    return _text_plan(ZONED_TIMESTAMP, lambda value: counts.zoned_text(kind, value))


def _text_plan(name: str, convert: Convert) -> ColumnPlan:
    return ColumnPlan(Schema("string", name=name, version=1), convert)
