"""Instants in their canonical text and as counts."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.model.instants import (
    clock_change,
    date_of,
    days_of,
    instant_count,
    is_zone,
    utc_text,
    utc_time_text,
)
from cdcwire.model.kinds import TimestampType, TimeType
from cdcwire.model.temporal import temporal_text

UTC = TimestampType(zone="+00:00")


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (UTC, "2024-02-29T12:34:56.120+02:00", "2024-02-29 10:34:56.120"),
        (UTC, "2024-02-29 10:34:56Z", "2024-02-29 10:34:56"),
        (TimestampType(zone="-03:30"), "2023-12-31 20:30:00.5", "2024-01-01 00:00:00.5"),
        (TimestampType(zone="Europe/Berlin"), "2024-07-01 02:00:00", "2024-07-01 00:00:00"),
        (TimestampType(form="ms", zone="+00:00"), -1, "1969-12-31 23:59:59.999"),
        (TimestampType(6, "ms", "+00:00"), 5, "1970-01-01 00:00:00.005000"),
        (UTC, "-0043-03-15T12:00:00Z", "-0043-03-15 12:00:00"),
        (UTC, "0000-01-01T00:00:00+01:00", "-0001-12-31 23:00:00"),
        (UTC, "+294276-12-31 23:59:59", "+294276-12-31 23:59:59"),
        (UTC, "infinity", "infinity"),
    ],
)
def test_every_form_has_one_text(kind: TimestampType, value: str | int, text: str) -> None:
    assert utc_text(kind, value) == text


@pytest.mark.parametrize("value", ["2024-02-30 00:00:00", "", "12345-01-01 00:00:00", 5, None])
def test_text_that_is_not_an_instant_is_refused(value: str | int | None) -> None:
    with pytest.raises(ValueError, match="is not a"):
        utc_text(UTC, value)


def test_text_without_any_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="not known"):
        utc_text(TimestampType(), "2024-02-29 10:34:56")


@given(st.dates())
def test_calendar_agrees_with_the_standard_library(date: datetime.date) -> None:
    days = date.toordinal() - datetime.date(1970, 1, 1).toordinal()
    assert days_of(date.year, date.month, date.day) == days
    assert date_of(days) == (date.year, date.month, date.day)


@given(st.integers(-(10**9), 10**9))
def test_calendar_has_no_limit(days: int) -> None:
    assert days_of(*date_of(days)) == days


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_text_and_count_are_the_same_instant(count: int) -> None:
    text = utc_text(TimestampType(form="us", zone="+00:00"), count)
    assert instant_count(UTC, text, "us") == count


def test_no_digit_is_cut_off() -> None:
    with pytest.raises(ValueError, match="below ms"):
        instant_count(UTC, "2024-01-01 00:00:00.0001", "ms")
    with pytest.raises(ValueError, match="microsecond"):
        temporal_text(UTC, "2024-01-01 00:00:00.0000001", "+08:00")


@pytest.mark.parametrize("value", ["infinity", "-0043-03-15 12:00:00", "+10000-01-01 00:00:00"])
def test_mysql_has_no_text_for_an_instant_beyond_its_years(value: str) -> None:
    for zone in ("+00:00", "UTC", "+08:00", "Europe/Berlin"):
        with pytest.raises(ValueError, match=r"calendar|years|known"):
            temporal_text(UTC, value, zone)


@pytest.mark.parametrize(
    ("zone", "value", "text"),
    [
        ("+00:00", "10:35:06.789+02:00", "08:35:06.789Z"),
        ("+00:00", "23:30:00-02:00", "01:30:00Z"),
        ("+02:00", "00:30:00", "22:30:00Z"),
        ("+02:00", "00:30:00Z", "00:30:00Z"),
        ("+00:00", "12:34:56", "12:34:56Z"),
        ("+00:00", "24:00:00+01:00", "24:00:00+01:00"),
        ("Europe/Berlin", "00:30:00", "00:30:00"),  # which offset it has depends on the day
        (None, "00:30:00", "00:30:00"),
    ],
)
def test_time_of_day_has_one_text_in_utc(zone: str | None, value: str, text: str) -> None:
    assert utc_time_text(TimeType(zone=zone), value) == text


@pytest.mark.parametrize("offset", ["+18:00", "-18:00", "+14:00", "+05:30:15"])
def test_offset_of_up_to_18_hours_is_read(offset: str) -> None:
    assert utc_text(TimestampType(), f"2024-02-29T12:00:00{offset}")


@pytest.mark.parametrize("offset", ["+18:00:01", "-18:01", "+19:00", "+99:00"])
def test_offset_of_more_than_18_hours_is_refused(offset: str) -> None:
    with pytest.raises(ValueError, match="more than 18 hours"):
        utc_text(TimestampType(), f"2024-02-29T12:00:00{offset}")
    assert not is_zone(offset)


@pytest.mark.parametrize(
    ("zone", "text", "change"),
    [
        ("Europe/Berlin", "2024-03-31 01:59:59.9", None),
        ("Europe/Berlin", "2024-03-31 02:00:00", "skipped"),
        ("Europe/Berlin", "2024-03-31T02:59:59", "skipped"),
        ("Europe/Berlin", "2024-03-31 03:00:00", None),
        ("Europe/Berlin", "2024-10-27 02:00:00", "repeated"),
        ("Europe/Berlin", "2024-10-27 02:30:00+01:00", None),
        ("Europe/Berlin", "2024-10-27 03:00:00", None),
        ("Australia/Lord_Howe", "2024-04-07 01:45:00", "repeated"),  # 30 minutes
        ("Australia/Lord_Howe", "2024-04-07 01:15:00", None),
        ("+02:00", "2024-03-31 02:30:00", None),
        ("Europe/Berlin", "0000-00-00 00:00:00", None),
        ("Europe/Berlin", "+12345-03-31 02:30:00", None),
    ],
)
def test_hours_that_clocks_skip_or_repeat_are_known(
    zone: str, text: str, change: str | None
) -> None:
    assert clock_change(zone, text) == change


def test_second_time_of_a_repeated_hour_has_no_local_text() -> None:
    first = temporal_text(UTC, "2024-10-27 00:30:00", "Europe/Berlin")
    assert first == "2024-10-27 02:30:00"
    with pytest.raises(ValueError, match="repeats, the second time"):
        temporal_text(UTC, "2024-10-27 01:30:00", "Europe/Berlin")
    assert temporal_text(UTC, "2024-10-27 02:00:00", "Europe/Berlin") == "2024-10-27 03:00:00"
