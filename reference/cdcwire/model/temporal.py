"""Dates and times between their forms: MySQL's text, and counts of days, ms, us or ns.

A count is since 1970-01-01 for dates, date-times and instants, and since midnight for times.
Nothing is rounded: a count without an exact text, or outside the years 0 to 9999, is refused.
"""

from __future__ import annotations

import re

from cdcwire.model.instants import Instant, date_of, extended_date_text, instant_of, local_text
from cdcwire.model.kinds import DatetimeType, DateType, TemporalForm, TimestampType, TimeType, Value

DAYS_OF_MONTH = 30.4375  # on average: a twelfth of 365.25 days
_UNITS_PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}
_DIGITS = {"ms": 3, "us": 6, "ns": 9}
_SECONDS_PER_DAY = 86400
_ZERO_DATE = "0000-00-00"
_USUAL = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?", re.ASCII)
_MAX_DIGITS = 6
_PERIOD = re.compile(
    r"P(?:(-?\d{1,10})Y)?(?:(-?\d{1,10})M)?(?:(-?\d{1,10})D)?"
    r"(?:T(?:(-?\d{1,10})H)?(?:(-?\d{1,10})M)?(?:(-?)(\d{1,10})(?:\.(\d{1,6}))?S)?)?",
    re.ASCII,
)
_LARGEST_COUNT = 2**63 - 1
_INFINITIES: dict[str, dict[int, str]] = {
    "text": {},
    "d": {
        -2147472692: "infinity",
        -2147472691: "-infinity",
        -622191234: "infinity",  # of a snapshot
        -625821272: "-infinity",
    },
    "ms": {9223372036825200: "infinity", -9223372036832400: "-infinity"},
    "us": {9223372036825200000: "infinity", -9223372036832400000: "-infinity"},
    # Since Debezium 3.6. Those of older releases wrapped round to usual days.
    "ns": {2**63 - 1: "infinity", -(2**63): "-infinity"},
}
INFINITE_DAYS = {
    "-5877611-06-21": "infinity",
    "-5877611-06-22": "-infinity",
    "+292278994-08-16": "infinity",  # of a snapshot
    "+292269055-12-02": "-infinity",
    "+294247-01-10 04:00:25.2": "infinity",
    "-290308-12-21 19:59:27.6": "-infinity",
}
"""Infinities by the days that Debezium sends for them in the mode ``isostring``."""


def temporal_text(
    kind: DateType | TimeType | DatetimeType | TimestampType, value: Value, time_zone: str | None
) -> str | None:
    """Return a value as MySQL's text; None if it is not a value of the kind.

    ``time_zone``: where the text of an instant is to be read. It is required when the value's own
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


def extended_text(kind: DateType | TimeType | DatetimeType | TimestampType, count: int) -> str:
    """Return a count as text, outside the years 0 to 9999 too: with a sign, or as an infinity.

    Source: Debezium's PostgreSQL connector sends infinities as counts that no date has. A date
    comes from a snapshot or from the log, and each sends other counts.
    """
    if isinstance(kind, (DatetimeType, DateType)) and count in _INFINITIES[kind.form]:
        return _INFINITIES[kind.form][count]
    if isinstance(kind, DateType) and kind.form == "d":
        return extended_date_text(count)
    if not isinstance(kind, DatetimeType):
        return count_text(kind, count)
    digits = _DIGITS[kind.form]
    seconds, fraction = divmod(count, 10**digits)
    text = f"{fraction:0{digits}d}".rstrip("0").ljust(kind.fraction or 0, "0")
    return Instant(seconds, text).text


def infinite_day(text: Value, *, has_time: bool) -> str | None:
    """Return the day that Debezium's text of an infinity has; None for what is not one."""
    days = (day for day, name in INFINITE_DAYS.items() if name == text)
    return next((day for day in days if (" " in day) == has_time), None)


def infinite_count(text: Value, form: str) -> int | None:
    """Return the count of an infinity, as the log has it; None for what is not one."""
    found = (count for count, name in _INFINITIES.get(form, {}).items() if name == text)
    return next(found, None)


def period_count(text: str) -> int:
    """Return an ISO period of years to seconds as microseconds, as Debezium counts them.

    Each part may have a sign. A month has ``DAYS_OF_MONTH``. Debezium calculates with
    floats and drops what is below a microsecond, so it is done here. Raises: ValueError.

    Examples:
        >>> period_count("P0Y0M-1DT-2H-3M-4.56S"), period_count("P0Y1M0DT0H0M0S")
        (-93784560000, 2629800000000)

    """
    found = _PERIOD.fullmatch(text)
    if found is None or not text[-1].isalpha() or text[-1] in "PT":
        raise ValueError(f"{text!r} is not an ISO period such as P1Y2M3DT4H5M6.7S")
    years, months, days, hours, minutes = (int(part or 0) for part in found.groups()[:5])
    sign, whole, fraction = found.groups()[5:]
    seconds = int(whole or 0) + int((fraction or "").ljust(6, "0")) / 10**6
    total = ((years * 12 + months) * DAYS_OF_MONTH + days) * 24 + hours
    count = int(((total * 60 + minutes) * 60 + (-seconds if sign else seconds)) * 10**6)
    return max(-_LARGEST_COUNT - 1, min(count, _LARGEST_COUNT))


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
    year, month, day = date_of(days)
    if not 0 <= year <= 9999:
        raise ValueError(f"day {days} since 1970 lies outside the years 0 to 9999")
    return f"{year:04d}-{month:02d}-{day:02d}"


def _in_zone(text: str, zone: str | None, wanted: str | None) -> str:
    """Return the text of one instant in another zone; unknown to unknown stays as it is."""
    if zone is None:
        return text  # the value does not say its zone: it is passed on as sent
    if wanted is None:
        raise ValueError(f"the text of an instant in zone {zone} needs the option time-zone")
    if zone == wanted and (_USUAL.fullmatch(text) or text.startswith(_ZERO_DATE)):
        return text
    instant = instant_of(TimestampType(zone=zone), text)
    if instant is None:
        raise ValueError(f"{text!r:.60} is not an instant of the calendar")
    if instant.fraction[_MAX_DIGITS:].strip("0"):
        raise ValueError(f"{text!r} has digits below the microsecond")
    moved = local_text(Instant(instant.seconds, instant.fraction[:_MAX_DIGITS]), wanted)
    if not _USUAL.fullmatch(moved):
        raise ValueError(f"{text!r} lies outside the years 0 to 9999 in zone {wanted}")
    return moved
