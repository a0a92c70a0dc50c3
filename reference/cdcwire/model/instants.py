"""Instants: one canonical text for every format, and counts since 1970.

The canonical text is ``YYYY-MM-DD hh:mm:ss`` in UTC with the digits of the fraction as sent, under
a type whose zone is ``+00:00``. A year before 0 or after 9999 has a sign (``-0043``, ``+12345``);
the year 0000 is 1 BC. An infinite instant is ``infinity`` or ``-infinity``. Days since 1970-01-01
and dates of the Gregorian calendar have no limit of years. Timestamps of TiDB's oracle (TSO), as in
``commit_ts``, are milliseconds and a logical clock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Literal, TypeAlias

from cdcwire.model.kinds import TimestampType, TimeType, Value

_DAYS_TO_1970 = 719468  # from 0000-03-01
_DAYS_OF_ERA = 146097  # 400 years
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def date_of(days: int) -> tuple[int, int, int]:
    """Return year, month and day."""
    era, day_of_era = divmod(days + _DAYS_TO_1970, _DAYS_OF_ERA)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    return year_of_era + era * 400 + (1 if month <= 2 else 0), month, day


def days_of(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01. Raises: ValueError for a day that the calendar lacks."""
    if not 1 <= month <= 12 or not 1 <= day <= _days_in(year, month):
        raise ValueError(f"{year}-{month:02d}-{day:02d} is not a day of the calendar")
    era, year_of_era = divmod(year - (1 if month <= 2 else 0), 400)
    day_of_year = (153 * ((month - 3) % 12) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * _DAYS_OF_ERA + day_of_era - _DAYS_TO_1970


def _days_in(year: int, month: int) -> int:
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and is_leap else _MONTH_DAYS[month - 1]


def extended_date_text(days: int) -> str:
    """Return a date with a sign before a year that lies outside 0 to 9999."""
    year, month, day = date_of(days)
    shown = f"{year:04d}" if 0 <= year <= 9999 else f"{'-' if year < 0 else '+'}{abs(year):04d}"
    return f"{shown}-{month:02d}-{day:02d}"


UTC = "+00:00"
ClockChange: TypeAlias = Literal["skipped", "repeated"]
INFINITIES = frozenset(("infinity", "-infinity"))
_DIGITS = {"ms": 3, "us": 6, "ns": 9}
_DAY = 86400
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_TEXT = re.compile(
    r"([0-9]{4}|[+-][0-9]{4,9})-([0-9]{2})-([0-9]{2})[ T]"
    r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,9}))?"
    r"(Z|[+-][0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?"
)
_TIME = re.compile(
    r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(\.[0-9]{1,9})?"
    r"(Z|[+-][0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?"
)
_AT_END = re.compile(r"[+-]\d\d:\d\d(?::\d\d)?\Z", re.ASCII)
_OFFSET = re.compile(r"([+-])([0-9]{2}):([0-5][0-9])(?::([0-5][0-9]))?")
_MAX_OFFSET = 18 * 3600  # of Java, and more than any zone has


@dataclass(frozen=True, slots=True)
class Instant:
    """A moment: whole seconds since 1970 in UTC, and the digits of the fraction as sent."""

    seconds: int
    fraction: str = ""

    @property
    def text(self) -> str:
        """The canonical text."""
        days, rest = divmod(self.seconds, _DAY)
        clock = f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
        whole = f"{extended_date_text(days)} {clock}"
        return f"{whole}.{self.fraction}" if self.fraction else whole

    def count(self, unit: str) -> int:
        """Return the count of ``ms``, ``us`` or ``ns`` since 1970.

        Raises: ValueError for digits below the unit.
        """
        digits = _DIGITS[unit]
        if self.fraction[digits:].strip("0"):
            raise ValueError(f"{self.text} has digits below {unit}")
        below = int(self.fraction[:digits].ljust(digits, "0"))
        return self.seconds * int(10**digits) + below


def instant_of(kind: TimestampType, value: Value) -> Instant | None:
    """Return the instant of a value; None for an infinity and for what is not an instant.

    A text may be canonical or ISO 8601. An offset in it counts, else the zone of ``kind``; counts
    are of UTC. Raises: ValueError for a day that the calendar lacks, or a zone that is not known.
    """
    if kind.form != "text":
        if not isinstance(value, int) or isinstance(value, bool) or kind.form not in _DIGITS:
            return None
        digits = _DIGITS[kind.form]
        seconds, rest = divmod(value, 10**digits)
        fraction = f"{rest:0{digits}d}".rstrip("0")
        return Instant(seconds, fraction.ljust(kind.fraction or 0, "0"))
    found = _TEXT.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    zone = found[8] or kind.zone
    if zone is None:
        raise ValueError(f"the zone of {value!r} is not known")
    if found[8] is not None and fixed_offset(found[8]) is None:
        raise ValueError(f"the offset {found[8]} of {value!r} is more than 18 hours")
    days = days_of(int(found[1]), int(found[2]), int(found[3]))
    local = days * _DAY + int(found[4]) * 3600 + int(found[5]) * 60 + int(found[6])
    return Instant(local - _offset(zone, local), found[7] or "")


def utc_text(kind: TimestampType, value: Value) -> str:
    """Return the canonical text of an instant. Raises: ValueError for what is not an instant."""
    if isinstance(value, str) and kind.form == "text" and value in INFINITIES:
        return value
    instant = instant_of(kind, value)
    if instant is None:
        raise ValueError(f"{value!r:.60} is not an instant")
    return instant.text


def utc_time_text(kind: TimeType, value: Value) -> Value:
    """Return the text of a time of day in UTC, with ``Z`` after it.

    An offset in the text counts, else the zone of ``kind``. The time stays within its day: 23:00 at
    -02:00 is ``01:00:00Z``. Any other value is returned as it is.
    """
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None or kind.zone is None:
        return value
    offset = fixed_offset(found[5] or kind.zone)
    if offset is None:
        return value
    seconds = (int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3]) - offset) % _DAY
    clock = f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"
    return f"{clock}{found[4] or ''}Z"


def instant_count(kind: TimestampType, value: Value, unit: str) -> int:
    """Return an instant as a count since 1970. Raises: ValueError, for an infinity too."""
    instant = instant_of(kind, value)
    if instant is None:
        raise ValueError(f"{value!r:.60} is not an instant of the calendar")
    return instant.count(unit)


def local_text(instant: Instant, zone: str) -> str:
    """Return an instant as the clocks of a zone show it.

    Raises: ValueError, also for the second time of an hour that the zone repeats: its text means
    the first time.
    """
    offset = fixed_offset(zone)
    if offset is None:
        try:
            moment = _EPOCH + timedelta(seconds=instant.seconds)
            shift = moment.astimezone(_named_zone(zone)).utcoffset()
        except OverflowError as error:
            raise ValueError(f"{instant.text} leaves the calendar in zone {zone}") from error
        offset = _seconds(shift)
        local = instant.seconds + offset
        if _offset(zone, local) != offset:
            text = Instant(local, instant.fraction).text
            raise ValueError(f"{text} is in an hour that zone {zone} repeats, the second time")
    return Instant(instant.seconds + offset, instant.fraction).text


@lru_cache(4096)
def clock_change(zone: str, text: str) -> ClockChange | None:
    """Return whether the clocks of a zone skip or repeat a local time; None if they do neither.

    A text with its own offset, or that is not a time of the calendar, is neither. A skipped time is
    read with the offset before the change, and a repeated one as its first time.
    """
    found = None if fixed_offset(zone) is not None else _TEXT.fullmatch(text)
    if found is None or found[8] is not None:
        return None
    try:
        days = days_of(int(found[1]), int(found[2]), int(found[3]))
        local = days * _DAY + int(found[4]) * 3600 + int(found[5]) * 60 + int(found[6])
        first, second = _offset(zone, local), _offset(zone, local, fold=1)
    except ValueError:
        return None
    if first == second:
        return None
    return "repeated" if first > second else "skipped"


@lru_cache(64)
def is_zone(name: str) -> bool:
    """Return whether a name is a time zone: an offset, or a zone of this machine's database.

    Where a machine has no database, every name counts as one.
    """
    if fixed_offset(name) is not None:
        return True
    try:
        _named_zone(name)
    except ValueError:
        return not _has_zones()
    return True


def _has_zones() -> bool:
    try:
        _named_zone("Europe/London")
    except ValueError:
        return False
    return True


def _offset(zone: str, local: int, fold: int = 0) -> int:
    """Return by how many seconds the clocks of a zone are ahead of UTC.

    ``fold``: 1 for the second time of a repeated hour, and for the offset after a skipped one.
    """
    offset = fixed_offset(zone)
    if offset is not None:
        return offset
    try:
        moment = _EPOCH.replace(tzinfo=None) + timedelta(seconds=local)
    except OverflowError as error:
        raise ValueError(f"zone {zone} is known for the years 1 to 9999 only") from error
    return _seconds(moment.replace(tzinfo=_named_zone(zone), fold=fold).utcoffset())


def fixed_offset(zone: str) -> int | None:
    """Return the seconds of an offset like ``+05:30``; None for a name, or above 18 hours."""
    if zone in ("Z", "UTC", UTC):
        return 0
    found = _OFFSET.fullmatch(zone)
    if found is None:
        return None
    sign, hours, minutes, seconds = found.groups()
    total = int(hours) * 3600 + int(minutes) * 60 + int(seconds or 0)
    if total > _MAX_OFFSET:
        return None
    return -total if sign == "-" else total


def offset_at_end(text: str) -> str | None:
    """Return the offset at the end of an instant's text; None if it ends in ``Z``, or has none."""
    found = None if text.endswith("Z") else _AT_END.search(text)
    return None if found is None else found.group()


def _seconds(offset: timedelta | None) -> int:
    assert offset is not None  # every zone has one
    return offset.days * _DAY + offset.seconds


def _named_zone(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # seldom needed, and slow to import

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:
        raise ValueError(f"time zone {name!r} is not known on this machine") from error


LOGICAL_BITS = 18  # of the logical clock, below the milliseconds since 1970


def ms_of_tso(tso: int) -> int:
    """Return the milliseconds since 1970 of a TSO."""
    return tso >> LOGICAL_BITS


def tso_of_ms(milliseconds: int) -> int:
    """Return the first TSO of a millisecond."""
    return milliseconds << LOGICAL_BITS
