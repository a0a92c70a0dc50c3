"""How far a comparison is: rows, rate and the time that is left."""

from __future__ import annotations

import pytest

from cdcwire_conformance.compare.work import Pace, Work, duration_text


class Clock:
    """A clock that a test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_rate_and_time_left_follow_from_rows_and_time() -> None:
    clock = Clock()
    pace = Pace(clock)
    assert pace.text(0, 40_000) == "0 of 40,000 rows"
    clock.now += 1
    assert pace.text(2_000, 40_000) == "2,000 of 40,000 rows"  # too early for a rate
    clock.now += 3
    assert pace.text(10_000, 40_000) == "10,000 of 40,000 rows, 2,500 rows/s, about 12 s left"
    clock.now += 12
    assert pace.text(40_000, 40_000) == "40,000 of 40,000 rows, 2,500 rows/s, about 0 s left"


def test_nothing_done_has_no_rate() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.text(0, 10)
    clock.now += 100
    assert pace.text(0, 10) == "0 of 10 rows"


def test_rows_do_not_fall_and_do_not_pass_the_total() -> None:
    pace = Pace(Clock())
    assert pace.text(8, 10) == "8 of 10 rows"
    assert pace.text(3, 10) == "8 of 10 rows"
    assert pace.text(25, 10) == "10 of 10 rows"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (59, "59 s"), (60, "1 min"), (3540, "59 min"), (5400, "1.5 h")],
)
def test_a_time_is_in_its_largest_unit(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(("share", "rows"), [(0, 100), (0.5, 125), (1, 150)])
def test_a_step_is_done_by_its_share(share: float, rows: int) -> None:
    assert Work(100, 50, 1000).after(share) == rows
