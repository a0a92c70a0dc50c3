"""Dates and times between their forms: MySQL's text, and counts of days, ms, us or ns.

A count is since 1970-01-01 for dates, date-times and instants, and since midnight for times.
Nothing is rounded: a count without an exact text, or outside the years 0 to 9999, is refused.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo

from cdcwire.model.events import Value
from cdcwire.model.kinds import DatetimeType, DateType, TemporalForm, TimestampType, TimeType

_UNITS_PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}
_DIGITS = {"ms": 3, "us": 6, "ns": 9}
_SECONDS_PER_DAY = 86400
_OFFSET = re.compile(r"([+-])(\d{2}):(\d{2})")
_INSTANT = re.compile(r"(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?")


def temporal_text(
    kind: DateType | TimeType | DatetimeType | TimestampType, value: Value, time_zone: str | None
) -> str | None:
    """Return a value as MySQL's text; None if it is no value of the kind.

    ``time_zone``: where the text of an instant is to be read; it must be told when the value's own
    zone is known. Raises: ValueError when the value has no exact text or the zones can't meet.
    """
    if isinstance(kind, TimeType) and kind.zone is not None:
        raise ValueError("TIME has no zone here")
    if kind.form == "text":
        if not isinstance(value, str):
            return None
        text = value
    elif isinstance(value, int) and not isinstance(value, bool):
        text = count_text(kind, value)
    else:
        return None
    if isinstance(kind, TimestampType):
        return _in_zone(text, kind.zone, time_zone)
    return text


def count_text(kind: DateType | TimeType | DatetimeType | TimestampType, count: int) -> str:
    """Return a count of ``kind.form`` as text. Raises: ValueError outside the years 0 to 9999."""
    form: TemporalForm = kind.form
    if isinstance(kind, DateType):
        days = count if form == "d" else _exact(count, _SECONDS_PER_DAY * _UNITS_PER_SECOND[form])
        return _date_text(days)
    units = _UNITS_PER_SECOND[form]
    if isinstance(kind, TimeType):
        sign, seconds, fraction = _split_time(count, units)
        hours, rest = divmod(seconds, 3600)
        clock = f"{sign}{hours:02d}:{rest // 60:02d}:{rest % 60:02d}"
    else:
        seconds, fraction = divmod(count, units)
        days, rest = divmod(seconds, _SECONDS_PER_DAY)
        clock = f"{_date_text(days)} {rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
    digits = f"{fraction:0{_DIGITS[form]}d}".rstrip("0")
    if kind.fraction is not None:
        digits = digits.ljust(kind.fraction, "0")
    return f"{clock}.{digits}" if digits else clock


def _split_time(count: int, units: int) -> tuple[str, int, int]:
    seconds, fraction = divmod(abs(count), units)
    return ("-" if count < 0 else ""), seconds, fraction


def _exact(count: int, unit: int) -> int:
    whole, rest = divmod(count, unit)
    if rest:
        raise ValueError(f"{count} is not a whole number of days")
    return whole


def _date_text(days: int) -> str:
    """Return days since 1970-01-01 as a date of the Gregorian calendar, years 0 to 9999."""
    shifted = days + 719468  # days since 0000-03-01
    era, day_of_era = divmod(shifted, 146097)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    year = year_of_era + era * 400 + (1 if month <= 2 else 0)
    if not 0 <= year <= 9999:
        raise ValueError(f"day {days} since 1970 lies outside the years 0 to 9999")
    return f"{year:04d}-{month:02d}-{day:02d}"


def _in_zone(text: str, zone: str | None, wanted: str | None) -> str:
    """Return the text of one instant in another zone; unknown to unknown stays as it is."""
    if zone == wanted:
        return text
    if zone is None:
        return text  # the value does not say its zone: it is passed on as sent
    if wanted is None:
        raise ValueError(f"the text of an instant in zone {zone} needs the option time-zone")
    found = _INSTANT.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no instant that can change its zone")
    *parts, fraction = found.groups()
    try:
        local = datetime(*map(int, parts), tzinfo=_zone(zone))  # type: ignore[misc,arg-type]
        moved = local.astimezone(_zone(wanted))
    except OverflowError as error:
        raise ValueError(f"{text!r} leaves the calendar in zone {wanted}") from error
    clock = moved.strftime("%m-%d %H:%M:%S")
    return f"{moved.year:04d}-{clock}" + (f".{fraction}" if fraction else "")


def _zone(name: str) -> tzinfo:
    offset = _OFFSET.fullmatch(name)
    if name in ("UTC", "Z"):
        return timezone.utc
    if offset:
        sign = -1 if offset[1] == "-" else 1
        return timezone(sign * timedelta(hours=int(offset[2]), minutes=int(offset[3])))
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # seldom needed, and slow to import

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:
        raise ValueError(f"time zone {name!r} is not known on this machine") from error
