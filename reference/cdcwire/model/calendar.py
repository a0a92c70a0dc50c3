"""Days since 1970-01-01 and dates of the Gregorian calendar, without a limit of years.

The year 0 is 1 BC, as in ISO 8601.
"""

from __future__ import annotations

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
