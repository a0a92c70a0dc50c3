"""A run of the growth laws: shapes of every format for a time, and the figures of all runs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.processes import process_pool
from cdcwire_evidence.fuzz.growth import LARGE, WAYS, Growth, Limits, measured
from cdcwire_evidence.fuzz.shapes import Shape, shapes

GROWTH = "growth.json"


@dataclass(slots=True)
class GrowthTally:
    """The figures of one format, over all runs of one state.

    ``grown``: shapes that reached at least 1 MiB. ``largest``: bytes of the largest input.
    ``memory``: the most bytes per byte, by way.
    """

    format: str
    shapes: int = 0
    accepted: int = 0
    grown: int = 0
    largest: int = 0
    ratio: float = 0.0
    ratio_name: str = ""
    rise: float = 0.0
    rise_name: str = ""
    memory: dict[str, float] = field(default_factory=lambda: dict.fromkeys(WAYS, 0.0))
    memory_names: dict[str, str] = field(default_factory=lambda: dict.fromkeys(WAYS, ""))
    broken: list[str] = field(default_factory=list)

    def add(self, found: list[Growth]) -> None:
        """Count what one shape showed."""
        self.shapes += 1
        self.accepted += any(each.is_accepted for each in found)
        sizes = [size for each in found for size, _ in each.points]
        self.grown += max(sizes, default=0) >= 1 << 20
        self.largest = max(self.largest, *sizes, 0)
        for each in found:
            if each.ratio > self.ratio:
                self.ratio, self.ratio_name = each.ratio, f"{each.shape} {each.way}"
            if each.rise > self.rise:
                self.rise, self.rise_name = each.rise, f"{each.shape} {each.way}"
            if each.memory > self.memory[each.way]:
                self.memory[each.way], self.memory_names[each.way] = each.memory, each.shape
            self.broken += [f"{each.shape} {each.way}: {text}" for text in each.broken]


@dataclass(frozen=True, slots=True)
class GrowthPlan:
    """One run of one format. ``count``: at most N shapes, 0 means no limit."""

    tally: GrowthTally
    seconds: float
    seed: int
    count: int = 0
    limits: Limits = LARGE


def grow(plan: GrowthPlan) -> GrowthTally:
    """Measure shapes until the time or their number is over. Returns: the figures."""
    tally = plan.tally
    end = time.monotonic() + plan.seconds
    wanted = tally.shapes + plan.count if plan.count else None
    for shape in shapes(tally.format, f"{plan.seed} {tally.shapes}"):
        if time.monotonic() >= end or tally.shapes == wanted:
            break
        found = _measured(shape, plan.limits)
        if found:
            tally.add(found)
    return tally


def _measured(shape: Shape, limits: Limits) -> list[Growth]:
    try:
        return measured(shape, limits)
    except Exception as error:  # noqa: BLE001  # a codec raised what no codec may raise
        return [Growth(shape.name, "plain", broken=[f"{type(error).__name__}: {error!s:.200}"])]


def grow_all(
    formats: tuple[str, ...],
    minutes: float,
    *,
    jobs: int,
    seed: int,
    state: Path,
    limits: Limits = LARGE,
    report: Callable[[GrowthTally], None] = lambda tally: None,
) -> list[GrowthTally]:
    """Measure shapes of all formats, each for its share of the time. Returns: the figures."""
    share = minutes * 60 * min(jobs, len(formats)) / len(formats)
    file = state / GROWTH
    known = {each.format: each for each in read_growth(file)}
    plans = [
        GrowthPlan(known.get(name) or GrowthTally(name), share, seed, limits=limits)
        for name in formats
    ]
    for tally in _grown(plans, min(jobs, len(plans))):
        known[tally.format] = tally
        report(tally)
    found = sorted(known.values(), key=lambda tally: FORMAT_NAMES.index(tally.format))
    state.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n", "utf-8")
    return [tally for tally in found if tally.format in formats]


def read_growth(file: Path) -> list[GrowthTally]:
    """Return the figures of a file; none if there is no file."""
    if not file.is_file():
        return []
    return [GrowthTally(**each) for each in json.loads(file.read_text("utf-8"))]


def _grown(plans: list[GrowthPlan], jobs: int) -> Iterator[GrowthTally]:
    if jobs == 1:
        yield from map(grow, plans)
        return
    with process_pool(jobs) as pool:
        yield from pool.map(grow, plans)
