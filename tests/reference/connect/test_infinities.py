"""Infinite dates and times: PostgreSQL has them, and Debezium sends counts that no date has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.connect.columns import plan_column
from cdcwire.connect.style import Style, TimeMode
from cdcwire.core.errors import EncodeError
from cdcwire.model import parse_kind
from cdcwire.model.kinds import Column, DatetimeType, DateType, TimeType
from cdcwire.model.temporal import extended_text

STYLE = Style("debezium")


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("timestamp", None),
        ("datetime(6)", 9223372036825200000),
        ("datetime(3)", 9223372036825200),
        ("date", -2147472692),
    ],
)
def test_infinity_as_text_is_written_as_the_producer_sends_it(kind: str, count: int | None) -> None:
    plan = plan_column(Column("c", parse_kind(kind)), STYLE)
    if count is None:
        assert plan.convert("infinity") == "infinity"
        return
    assert plan.convert("infinity") == count
    with pytest.raises(EncodeError):
        plan.convert("Infinity")


@pytest.mark.parametrize(
    ("mode", "kind", "text", "sent"),
    [  # as connector 3.6.1 sends them
        ("nanoseconds", "datetime(6)", "infinity", 9223372036854775807),
        ("nanoseconds", "datetime(6)", "-infinity", -9223372036854775808),
        ("connect", "datetime(6)", "-infinity", -9223372036832400),
        ("isostring", "datetime(6)", "infinity", "+294247-01-10T04:00:25.2Z"),
        ("isostring", "datetime(6)", "-infinity", "-290308-12-21T19:59:27.6Z"),
        ("isostring", "date", "infinity", "-5877611-06-21Z"),
    ],
)
def test_infinity_as_text_is_written_in_each_mode(
    mode: TimeMode, kind: str, text: str, sent: int | str
) -> None:
    plan = plan_column(Column("c", parse_kind(kind)), replace(STYLE, times=mode))
    assert plan.convert(text) == sent


def test_counts_of_both_ends_are_infinities() -> None:
    assert extended_text(DateType("d"), -2147472691) == "-infinity"
    assert extended_text(DatetimeType(form="us"), -9223372036832400000) == "-infinity"
    assert extended_text(DatetimeType(form="ns"), 2**63 - 1) == "infinity"
    assert extended_text(DatetimeType(form="ns"), -(2**63)) == "-infinity"


@pytest.mark.parametrize(
    ("kind", "count", "text"),
    [
        (DateType("d"), 2932896, "9999-12-31"),
        (DateType("d"), 2932897, "+10000-01-01"),
        (DatetimeType(form="ns"), 1, "1970-01-01 00:00:00.000000001"),
        (DatetimeType(6, "ms"), 500, "1970-01-01 00:00:00.500000"),
        (TimeType(form="us"), -3020399000000, "-838:59:59"),
    ],
)
def test_other_counts_are_days_of_the_calendar(
    kind: DateType | DatetimeType | TimeType, count: int, text: str
) -> None:
    assert extended_text(kind, count) == text
