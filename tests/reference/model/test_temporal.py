"""Counts of days and of parts of a second, as MySQL's text."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.model.kinds import DatetimeType, DateType, TimestampType, TimeType
from cdcwire.model.temporal import count_text, period_count, temporal_text

COUNTS = [
    (DateType("d"), 0, "1970-01-01"),
    (DateType("d"), -719528, "0000-01-01"),
    (DateType("d"), 2932896, "9999-12-31"),
    (DateType("ms"), 86_400_000, "1970-01-02"),
    (DatetimeType(None, "us"), -1, "1969-12-31 23:59:59.999999"),
    (DatetimeType(3, "us"), 0, "1970-01-01 00:00:00.000"),
    (DatetimeType(None, "ns"), 1, "1970-01-01 00:00:00.000000001"),
    (TimeType(None, "us"), -3_020_399_000_001, "-838:59:59.000001"),
    (TimeType(None, "ms"), 1, "00:00:00.001"),
    (TimestampType(None, "ms"), 1_605_339_934_951, "2020-11-14 07:45:34.951"),
]


@pytest.mark.parametrize(("kind", "count", "text"), COUNTS, ids=[row[2] for row in COUNTS])
def test_count_text_is_exact(kind: DateType, count: int, text: str) -> None:
    assert count_text(kind, count) == text


# Worked out by hand with a month of 30.4375 days; Oracle's connector sends the second and third.
PERIODS = [
    ("P0Y0M0DT0H0M0S", 0),
    ("P-3Y-6M0DT0H0M0S", -110_451_600_000_000),
    ("P0Y0M-1DT-2H-3M-4.56S", -93_784_560_000),
    ("P1Y2M3DT4H5M6S", 37_091_106_000_000),
    ("PT1S", 1_000_000),
    ("P1M", 2_629_800_000_000),
    ("P0Y0M0DT0H0M-0.5S", -500_000),
    ("P9999999999Y", 2**63 - 1),  # as Java converts a float that is too large
]


@pytest.mark.parametrize(("text", "count"), PERIODS, ids=[row[0] for row in PERIODS])
def test_period_is_counted_as_debezium_counts_it(text: str, count: int) -> None:
    assert period_count(text) == count


def test_count_of_a_period_drops_what_a_float_is_short_of() -> None:
    assert period_count("PT1.000009S") == 1_000_008  # 1.000009 * 10**6 is 1000008.9999999999


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1DT", "1Y", "P1.5Y", "P1S", "PT1D", "P1Y ", "PT.5S"]
)
def test_text_that_is_no_period_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an ISO period"):
        period_count(text)


@given(st.dates())
def test_count_text_agrees_with_the_standard_library(date: datetime.date) -> None:
    days = date.toordinal() - datetime.date(1970, 1, 1).toordinal()
    assert count_text(DateType("d"), days) == date.isoformat()


@pytest.mark.parametrize("days", [-719529, 2932897, 10**12])
def test_count_outside_the_calendar_is_refused(days: int) -> None:
    with pytest.raises(ValueError, match="outside the years"):
        count_text(DateType("d"), days)


def test_count_of_part_of_a_day_is_not_a_date() -> None:
    with pytest.raises(ValueError, match="whole number of days"):
        count_text(DateType("ms"), 1)


def test_instant_moves_to_the_zone_that_is_asked_for() -> None:
    kind = TimestampType(zone="+00:00")
    assert temporal_text(kind, "2020-01-01 00:00:00.5", "+08:00") == "2020-01-01 08:00:00.5"
    assert temporal_text(kind, "0099-12-31 20:00:00", "+08:00") == "0100-01-01 04:00:00"


def test_instant_of_unknown_zone_stays_as_sent() -> None:
    assert temporal_text(TimestampType(), "0000-00-00 00:00:00", "+08:00") == "0000-00-00 00:00:00"


def test_instant_of_known_zone_needs_a_target_zone() -> None:
    with pytest.raises(ValueError, match="time-zone"):
        temporal_text(TimestampType(zone="+00:00"), "2020-01-01 00:00:00", None)


def test_value_of_another_form_is_none() -> None:
    assert temporal_text(DateType(), 5, None) is None
    assert temporal_text(DateType("d"), "1970-01-01", None) is None
    assert temporal_text(DateType("d"), True, None) is None
