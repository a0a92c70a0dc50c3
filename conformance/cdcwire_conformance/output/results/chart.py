"""The share of passed cases over time, as a picture in a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from cdcwire.console.visible import visible
from cdcwire_conformance.output.results.history import Release, share

WIDTH, HEIGHT = 640, 160
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 110, 12, 24
_STYLES = ("", "6 4", "2 3", "10 3 2 3")  # dashes: lines differ without colour
_MOST_LINES = 4


@dataclass(frozen=True, slots=True)
class Line:
    """One release: its name, its points and its dashes."""

    name: str
    points: str
    dashes: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines in a plane of days and shares, and the texts of its axes."""

    lines: tuple[Line, ...]
    first: str
    last: str
    least: str
    most: str
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


def chart_of(releases: Sequence[Release]) -> Chart | None:
    """Return the chart of the newest releases; None if all results have one day."""
    shown = [release for release in releases if release.judged][:_MOST_LINES]
    runs = [run for release in shown for run in release.runs if run.results is not None]
    days = [date.fromisoformat(day).toordinal() for run in runs for day in (run.date, run.last)]
    if not days or min(days) == max(days):
        return None
    first, last = min(days), max(days)
    low = min(map(share, runs))
    least = max(0.0, low - 0.05)
    most = min(1.0, max(map(share, runs)) + 0.05)

    def x_of(day: str) -> float:
        part = (date.fromisoformat(day).toordinal() - first) / (last - first)
        return round(_LEFT + part * (WIDTH - _LEFT - _RIGHT), 1)

    def y_of(value: float) -> float:
        part = (value - least) / ((most - least) or 1)
        return round(HEIGHT - _BOTTOM - part * (HEIGHT - _TOP - _BOTTOM), 1)

    lines = []
    taken: list[float] = []
    for release, dashes in zip(shown, _STYLES, strict=False):
        points = [
            (x_of(day), y_of(share(run)))
            for run in release.runs
            if run.results is not None
            for day in (run.date, run.last)
        ]
        y = points[-1][1]
        while any(abs(y - other) < 12 for other in taken):  # labels do not cover each other
            y += 12
        taken.append(y)
        path = " ".join(f"{x},{y_point}" for x, y_point in points)
        lines.append(Line(visible(release.version)[:14], path, dashes, points[-1][0] + 6, y + 4))
    return Chart(
        tuple(lines),
        date.fromordinal(first).isoformat(),
        date.fromordinal(last).isoformat(),
        f"{least:.0%}",
        f"{most:.0%}",
    )
