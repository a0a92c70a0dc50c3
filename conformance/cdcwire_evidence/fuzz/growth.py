"""The growth laws: time grows with the bytes, and memory stays within a number of bytes per byte.

Each shape (``shapes``) is decoded plain and fast and explained at doubling sizes.
"""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import pairwise
from math import log2, prod
from pathlib import Path
from time import process_time
from typing import Literal, TypeAlias, get_args

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.options import OptionError
from cdcwire.format import Format
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.processes import process_pool
from cdcwire_evidence.fuzz.event_edits import Grown
from cdcwire_evidence.fuzz.shapes import Shape, shapes

Way: TypeAlias = Literal["plain", "fast", "explain"]
WAYS: tuple[Way, ...] = get_args(Way)

DOUBLINGS = 3  # in a row
STEEP = 2.3
WORTH_SECONDS = 0.002  # below, the clock decides
FIXED_MEMORY = 1 << 20
MOST_MEMORY: Mapping[Way, int] = {"plain": 128, "fast": 128, "explain": 512}
_TRIES = 4
_FURTHER = 8
_QUICK = 0.1  # seconds; a shorter time is measured twice
_LEAST_BYTES = 1 << 12

Work: TypeAlias = Callable[[], object]
Point: TypeAlias = "tuple[int, float]"  # bytes, seconds


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a shape grows. A decoding of more than ``seconds`` is the last of its way.

    ``explained``: the largest size that is explained. ``weighed``: the size whose memory is
    measured, if the shape gets there. ``ratio``: the most times the time for twice the bytes;
    linear is 2, quadratic is 4. ``rise``: the most times the time per byte of a small size.
    """

    bytes: int = 1 << 24
    explained: int = 1 << 21
    weighed: int = 1 << 18
    seconds: float = 1.0
    ratio: float = STEEP
    rise: float = 2.5


LARGE = Limits()
# Short times on a busy machine: only growth that is nearly quadratic is certain.
SMALL = Limits(bytes=1 << 18, explained=1 << 18, weighed=1 << 15, seconds=0.1, ratio=3.0, rise=3.0)


@dataclass(slots=True)
class Growth:
    """The result of one shape in one way. ``memory``: bytes per byte after the fixed amount."""

    shape: str
    way: Way
    is_accepted: bool = False
    points: list[Point] = field(default_factory=list)
    ratio: float = 0.0
    rise: float = 0.0
    memory: float = 0.0
    broken: list[str] = field(default_factory=list)


def measured(shape: Shape, limits: Limits) -> list[Growth]:
    """Return how a shape grows in each way."""
    format_ = get_format(shape.format)
    found = {way: Growth(shape.name, way) for way in WAYS}
    works: dict[Way, list[Work]] = {way: [] for way in WAYS}
    size = _LEAST_BYTES
    while size <= limits.bytes:
        ways = [way for way in WAYS if _goes_on(found[way], size, limits)]
        grown = shape.make(size) if ways else None
        if grown is None:
            break
        for way in ways:
            growth = found[way]
            try:
                works[way].append(_work(format_, growth, grown))
            except OptionError:
                return []
            seconds = _seconds(works[way][-1])
            if seconds < _QUICK:
                seconds = min(seconds, _seconds(works[way][-1]))
            growth.points.append((grown.size, seconds))
            _check_time(growth, works[way], limits)
            if size == limits.weighed:
                _check_memory(growth, grown.size, works[way][-1])
        size *= 2
    return list(found.values())


def _goes_on(growth: Growth, size: int, limits: Limits) -> bool:
    points = growth.points
    if growth.broken or (growth.way == "explain" and size > limits.explained):
        return False
    if len(points) < 2 or points[-1][1] <= limits.seconds:
        return True
    # A steep doubling is followed further, to see whether the next ones are steep as well.
    return _ratio(*points[-2:]) > STEEP and points[-1][1] <= _FURTHER * limits.seconds


def ratio_of(points: Sequence[Point]) -> float:
    """Return how many times longer twice the bytes take: the least of the last doublings.

    One or two steep doublings are a cache that is full. Time that grows faster has three and more.
    """
    if len(points) <= DOUBLINGS:
        return 0.0
    last = points[-DOUBLINGS - 1 :]
    return min(_ratio(*pair) for pair in pairwise(last))


def rise_of(points: Sequence[Point]) -> float:
    """Return how many times longer one byte takes at the last size than at the first.

    The steepest doubling is left out: a cache that is full, or a fallback. This shows slow growth
    next to much linear work, where no doubling is very steep.
    """
    worth = [point for point in points if point[1] >= WORTH_SECONDS]
    steps = sorted(_ratio(*pair) / 2 for pair in pairwise(worth))
    return prod(steps[:-1]) if len(steps) > DOUBLINGS else 0.0


def _ratio(small: Point, large: Point) -> float:
    doublings = log2(large[0] / small[0])
    return (large[1] / max(small[1], WORTH_SECONDS)) ** (1 / doublings) if doublings > 0 else 0.0


def _check_time(growth: Growth, works: list[Work], limits: Limits) -> None:
    """Measure a growth that is too large again; only one that comes again counts."""
    points = growth.points
    for _ in range(_TRIES):
        if ratio_of(points) <= limits.ratio and rise_of(points) <= limits.rise:
            break
        for at in range(max(0, len(points) - 2 * DOUBLINGS), len(points)):
            size, seconds = points[at]
            points[at] = size, min(seconds, _seconds(works[at]))
    ratio, rise = ratio_of(points), rise_of(points)
    growth.ratio, growth.rise = max(growth.ratio, ratio), max(growth.rise, rise)
    shown = " ".join(f"{size:,}: {seconds * 1000:.1f} ms" for size, seconds in points)
    if ratio > limits.ratio:
        growth.broken.append(f"twice the bytes take {ratio:.2f} times the time; {shown}")
    elif rise > limits.rise:
        growth.broken.append(f"a byte takes {rise:.2f} times the time of a small size; {shown}")


def _check_memory(growth: Growth, size: int, work: Work) -> None:
    growth.memory = max(0, _memory(work) - FIXED_MEMORY) / size
    if growth.memory > MOST_MEMORY[growth.way]:
        growth.broken.append(f"{growth.memory:.0f} bytes of memory per byte at {size:,} bytes")


def _work(format_: Format, growth: Growth, grown: Grown) -> Work:
    given, context = grown.given, grown.given.context()
    known = format_.prepared(given.messages, context)
    if growth.way == "explain":
        return partial(_explain, format_, given.message, known)
    if growth.way == "plain":

        def decode() -> object:
            prepared = format_.prepared(given.messages, context)
            return list(format_.to_events(given.message, context=prepared))

        return partial(_read, growth, decode)
    fast = format_.decoder(known)
    return partial(_read, growth, lambda: list(fast(given.message)))


def _explain(format_: Format, message: Message, context: Context) -> None:
    for _ in format_.explain(message, context=context).each():
        pass


def _read(growth: Growth, work: Work) -> object:
    try:
        found = work()
    except (DecodeError, OptionError):
        return None
    growth.is_accepted = True
    return found


def _seconds(work: Work) -> float:
    gc.disable()
    try:
        began = process_time()
        found = work()
        seconds = process_time() - began
        del found
    finally:
        gc.enable()
    return seconds


def _memory(work: Work) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


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
