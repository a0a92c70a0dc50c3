"""How much of a comparison is done, in rows of both feeds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_LEAST_SECONDS = 2.0  # before which no rate is shown
_MINUTE, _HOUR = 60, 3600


@dataclass(frozen=True, slots=True)
class Work:
    """Rows of a comparison. ``done``: before a step. ``rows``: of the step. ``total``: of all."""

    done: int = 0
    rows: int = 0
    total: int = 0

    def after(self, share: float) -> int:
        """Return how many rows are done after this share of the step."""
        return self.done + int(self.rows * share)


class Pace:
    """The rate of a comparison and the time that is left, by a clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start: float | None = None
        self._first = self._most = 0

    def text(self, done: int, total: int) -> str:
        """Return how far the work is. The number of rows never falls."""
        now = self._clock()
        if self._start is None:
            self._start, self._first = now, done
        self._most = min(max(self._most, done), total)
        seconds = now - self._start
        shown = f"{self._most:,} of {total:,} rows"
        rows = self._most - self._first
        if rows <= 0 or seconds < _LEAST_SECONDS:
            return shown
        left = seconds * (total - self._most) / rows
        return f"{shown}, {rows / seconds:,.0f} rows/s, about {duration_text(left)} left"


def duration_text(seconds: float) -> str:
    """Return a time in its largest unit."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.1f} h"
