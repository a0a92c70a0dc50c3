"""Dates and times: texts as sent, counts by the moment they name, zones where they are known."""

from __future__ import annotations

import pytest

from cdcwire.model.text import Json
from cdcwire_conformance.judge.values import ValueRules, compare_values


def text(kind: str, value: str, **members: str) -> Json:
    return {"type": kind, "value": value, **members}


EQUAL: list[tuple[str, Json, Json]] = [
    ("zero-date", text("date", "0000-00-00"), "0000-00-00"),
    ("long-time", text("time", "-838:59:59.000001"), text("time", "-838:59:59.000001")),
    ("fraction-of-type", text("datetime(3)", "2024-01-02 03:04:05.600"),
     text("datetime", "2024-01-02 03:04:05.600")),
    ("date-count", text("date", "2024-01-01"), text("date", "19723", unit="d")),
    ("date-count-ms", text("date", "2024-01-01"), text("date", "1704067200000", unit="ms")),
    ("date-before-1970", text("date", "0001-01-01"), text("date", "-719162", unit="d")),
    ("datetime-count", text("datetime", "2024-01-01 00:00:01.500000"),
     text("datetime", "1704067201500", unit="ms")),
    ("datetime-count-ns", text("datetime", "9999-12-31 23:59:59"),
     text("datetime", "253402300799000000000", unit="ns")),
    ("time-count", text("time", "-01:00:00"), text("time", "-3600000000", unit="us")),
    ("counts-of-two-units", text("datetime", "1500", unit="ms"),
     text("datetime", "1500000", unit="us")),
    ("count-met-by-text", text("datetime", "1500", unit="ms"), "1970-01-01 00:00:01.5"),
    ("instant-same-zone", text("timestamp", "2024-01-01 08:00:00", zone="+08:00"),
     text("timestamp", "2024-01-01 08:00:00", zone="+08:00")),
    ("instant-other-zone", text("timestamp", "2024-01-01 08:00:00", zone="+08:00"),
     text("timestamp", "2024-01-01 00:00:00", zone="+00:00")),
    ("instant-as-count", text("timestamp", "2024-01-01 08:00:00", zone="+08:00"),
     text("timestamp", "1704067200", unit="ms") | {"value": "1704067200000"}),
    ("instant-zone-left-out", text("timestamp", "2024-01-01 08:00:00", zone="+08:00"),
     "2024-01-01 08:00:00"),
    ("time-other-zone", text("time", "08:00:00Z", zone="+00:00"),
     text("time", "10:00:00+02:00", zone="+02:00")),
    ("zoneless-as-count", text("timestamp", "2024-01-01 00:00:00"),
     text("timestamp", "1704067200000", unit="ms")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "given"), [row[1:] for row in EQUAL], ids=[row[0] for row in EQUAL]
)
def test_temporal_equal_has_no_difference(expected: Json, given: Json) -> None:
    assert list(compare_values(expected, given, ("c",), ValueRules())) == []


DIFFERENT: list[tuple[str, Json, Json, str]] = [
    ("other-day", text("date", "2024-01-01"), "2024-01-02", ""),
    ("zero-date-as-count", text("date", "0000-00-00"), text("date", "0", unit="d"), ""),
    ("fraction-cut", text("datetime", "2024-01-01 00:00:00.500"), "2024-01-01 00:00:00.5",
     "as many digits as were sent"),
    ("iso-t", text("datetime", "2024-01-01 00:00:00"), "2024-01-01T00:00:00", ""),
    ("count-without-unit", text("date", "2024-01-01"), "19723", ""),
    ("count-without-its-unit", text("datetime", "-1", unit="ms"), "-1", '"unit":"ms"'),
    ("unit-unknown", text("date", "2024-01-01"), text("date", "1", unit="days"), "d, ms, us, ns"),
    ("unit-text", text("date", "2024-01-01"), text("date", "2024-01-01", unit="text"), "d, ms"),
    ("days-of-time", text("time", "00:00:00"), text("time", "0", unit="d"), "only dates"),
    ("count-no-digits", text("date", "2024-01-01"), text("date", "1.5", unit="d"), "digits"),
    ("count-out-of-range", text("date", "2024-01-01"), text("date", "9" * 30, unit="d"), "years"),
    ("zone-made-up", text("timestamp", "2024-01-01 00:00:00"),
     text("timestamp", "2024-01-01 00:00:00", zone="+00:00"), "does not say the zone"),
    ("zone-wrong", text("timestamp", "2024-01-01 08:00:00", zone="+08:00"),
     text("timestamp", "2024-01-01 08:00:00", zone="+00:00"), ""),
    ("zone-unknown", text("timestamp", "2024-01-01 08:00:00", zone="+08:00"),
     text("timestamp", "2024-01-01 08:00:00", zone="Mars/Olympus"), "is not known"),
    ("value-number", text("date", "2024-01-01"), {"value": 19723, "unit": "d"}, "as text"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "given", "hint"), [row[1:] for row in DIFFERENT], ids=[row[0] for row in DIFFERENT]
)
def test_temporal_different_is_one_difference(expected: Json, given: Json, hint: str) -> None:
    (difference,) = compare_values(expected, given, ("c",), ValueRules())
    assert hint in difference.hint


def test_temporal_zone_is_needed_where_the_format_carries_it() -> None:
    expected = text("timestamp", "2024-01-01 08:00:00", zone="+08:00")
    rules = ValueRules(zone_needed=True)
    (difference,) = compare_values(expected, "2024-01-01 08:00:00", ("c",), rules)
    assert "zone is missing" in difference.hint
