"""Pairs of both sides and their counts, as ``spark.compare.counting`` has them.

The order of a feed is known within its parts: a partition of a topic, a file, a table's partition
in a storage prefix. See there when a change is late, and what an era is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from cdcwire_conformance.compare.embedded.changes import (
    Change,
    FedRow,
    Layout,
    compared_changes,
    is_in,
)
from cdcwire_conformance.compare.result import Counts

PairKey: TypeAlias = "tuple[Any, ...]"

SIDES = (0, 1)
_NAMES = ("left", "right")
_BITS_OF_RECORD = 40  # of the number of a row in a prefix, below the number of its file
_DISPATCHER = re.compile(r"/CDC_([^/]+)_\d+\.[^/]+$")


@dataclass(slots=True)
class Content:
    """The copies of one change on both sides."""

    copies: tuple[list[Change], list[Change]] = field(default_factory=lambda: ([], []))

    def count(self, side: int) -> int:
        """Return how many copies a side has."""
        return len(self.copies[side])

    def first(self, side: int) -> Change | None:
        """Return the first copy of a side in its feed."""
        return min(self.copies[side], key=lambda change: change.feed_order, default=None)


@dataclass(slots=True)
class DifferingPair:
    """A pair that differs: the changes of both sides by their content.

    ``is_repeated``: some copies were sent again, and none is a double. ``out_of_order``: per side.
    """

    key: PairKey
    contents: list[Content]
    is_repeated: bool
    out_of_order: tuple[bool, bool]


@dataclass(slots=True)
class Summary:
    """The counts of a table, and the pairs that differ."""

    counts: Counts
    pairs: list[DifferingPair]


def summary_of(
    sides: tuple[Sequence[FedRow], Sequence[FedRow]], layout: Layout, *, has_order: bool
) -> Summary:
    """Return the counts of both sides and the pairs that differ.

    Where one side has more copies of a row than the other, they are counted again with eras.
    """
    has_position = layout.rules.position is not None
    has_order = has_order and has_position and bool(layout.keys)
    changes = tuple(compared_changes(rows, layout, layout.window) for rows in sides)
    if has_order:
        for side in changes:
            _find_late(side)
    found, has_copies = _summary(changes, layout, has_order=has_order, has_eras=False)
    if not has_copies or not has_position:
        return found
    changes = tuple(compared_changes(rows, layout, None) for rows in sides)
    for side in changes:
        _find_eras(side)
    changes = tuple(
        [each for each in side if is_in(each.position, layout.window)] for side in changes
    )
    if has_order:
        for side in changes:
            _find_late(side)
    return _summary(changes, layout, has_order=has_order, has_eras=True)[0]


def place_of(row: FedRow) -> tuple[tuple[Any, ...] | None, int]:
    """Return the part of the feed that a row is in, None where no order is known, and where in it.

    A prefix has a part for each partition of a table and each dispatcher.
    """
    topic, partition, offset, file, *_ = row.source or (None,) * 6
    if topic is None and partition is not None and file is not None:
        dispatcher = _DISPATCHER.search(file)
        part = ("prefix", row.partition, dispatcher[1] if dispatcher else "")
        return part, (partition << _BITS_OF_RECORD) + (offset or 0)
    if offset is None or (topic is not None and partition is None):
        return None, 0
    return (("file", file) if topic is None and file is not None else (topic, partition)), offset


def _in_parts(changes: Iterable[Change]) -> Iterator[tuple[Any, list[tuple[int, Change]]]]:
    """Yield each part of a feed that has an order, and its changes with their offsets, in order."""
    parts: dict[tuple[Any, ...], list[tuple[int, Change]]] = {}
    for change in changes:
        part, offset = place_of(change.row)
        if part is not None:
            parts.setdefault(part, []).append((offset, change))
    for part, found in parts.items():
        found.sort(key=lambda each: (each[0], each[1].row.number))
        yield part, found


def _find_late(changes: Iterable[Change]) -> None:
    """Find changes that come after one of their key with a larger position."""
    for _, found in _in_parts(changes):
        seen: dict[Any, tuple[int | None, int | None]] = {}  # largest and last position of a key
        for _, change in found:
            position = change.passing
            largest, last = seen.get(change.key, (None, None))
            if position is not None and largest is not None and largest > position:
                change.is_late, change.behind = True, last
            elif position is not None:
                largest = position
            seen[change.key] = largest, position


def _find_eras(changes: Iterable[Change]) -> None:
    """Find the era of each change. It ends where a position is smaller than the one before it."""
    for part, found in _in_parts(changes):
        backs, before = 0, None
        for offset, change in found:
            position = change.passing
            if position is not None:
                if before is not None and position < before:
                    backs += 1
                before = position
            change.era = (part, backs + (offset >> _BITS_OF_RECORD if part[0] == "prefix" else 0))


def _summary(
    sides: Sequence[Sequence[Change]], layout: Layout, *, has_order: bool, has_eras: bool
) -> tuple[Summary, bool]:
    """Return the summary, and whether there are copies that eras may separate."""
    pairs: dict[PairKey, tuple[list[Change], list[Change]]] = {}
    name_of = _pair_namer(layout)
    totals = dict.fromkeys((each.name for each in fields(Counts)), 0)
    for side, changes in enumerate(sides):
        name = _NAMES[side]
        for change in changes:
            if not change.row.is_readable:
                totals[f"unreadable_{name}"] += 1
                continue
            totals[name] += 1
            totals[f"{name}_rows"] += change.part == 0
            key = name_of(change)
            found = pairs.get(key)
            if found is None:
                pairs[key] = found = ([], [])
            found[side].append(change)
    differing, has_copies = [], False
    for key, (ours, theirs) in pairs.items():
        if len(ours) == 1 == len(theirs):
            own, other = ours[0], theirs[0]
            is_late_alike = (own.is_late, own.behind) == (other.is_late, other.behind)
            if is_late_alike and own.content == other.content:
                totals["same"] += 1
                continue
        counted = _PairCounts(ours, theirs, has_order=has_order, has_eras=has_eras)
        has_copies |= counted.has_copies
        for name, number in counted.counts.items():
            totals[name] += number
        if counted.is_differing:
            is_repeated = not counted.counts["doubled_left"] + counted.counts["doubled_right"]
            late = counted.counts["out_of_order_left"], counted.counts["out_of_order_right"]
            differing.append(
                DifferingPair(key, counted.contents, is_repeated, (bool(late[0]), bool(late[1])))
            )
    return Summary(Counts(**totals), differing), has_copies


def _pair_namer(layout: Layout) -> Callable[[Change], PairKey]:
    """Return what gives the pair of a change: position, key and ordinal, or all of it."""
    if not layout.keys:
        return lambda change: (change.position, change.content)
    return lambda change: (change.position, change.key, change.ordinal)


class _PairCounts:
    """The counts of one pair. ``contents``: its changes, equal ones together."""

    def __init__(
        self, ours: list[Change], theirs: list[Change], *, has_order: bool, has_eras: bool
    ) -> None:
        by_content: dict[Any, Content] = {}
        for side, changes in enumerate((ours, theirs)):
            for change in changes:
                by_content.setdefault(change.content, Content()).copies[side].append(change)
        self.contents = list(by_content.values())
        self.has_copies = False
        self.has_eras = has_eras
        counts = dict.fromkeys(
            ("same", "changed", "only_left", "only_right", "repeated_left", "repeated_right"), 0
        )
        counts |= dict.fromkeys(
            ("doubled_left", "doubled_right", "out_of_order_left", "out_of_order_right"), 0
        )
        lonely = [0, 0]
        for content in self.contents:
            copies = content.count(0), content.count(1)
            counts["same"] += min(copies)
            self.has_copies |= copies[0] != copies[1] and max(copies) > 1
            for side in SIDES:
                alone, repeated, doubled = self._copies(content, side)
                lonely[side] += alone
                counts[f"repeated_{_NAMES[side]}"] += repeated
                counts[f"doubled_{_NAMES[side]}"] += doubled
        counts["changed"] = min(lonely)
        for side in SIDES:
            counts[f"only_{_NAMES[side]}"] = lonely[side] - counts["changed"]
        if has_order:
            states = [_lateness(changes) for changes in (ours, theirs)]
            for side in SIDES:
                (is_late, behind), (is_other_late, other) = states[side], states[1 - side]
                is_out = is_late and not (is_other_late and behind == other)
                counts[f"out_of_order_{_NAMES[side]}"] = int(is_out)
        self.counts = counts
        self.is_differing = any(lonely) or any(
            counts[f"{name}_{side}"]
            for name in ("repeated", "doubled", "out_of_order")
            for side in _NAMES
        )

    def _copies(self, content: Content, side: int) -> tuple[int, int, int]:
        """Return how many copies a side has alone, more often, and more often in one era."""
        own, others = content.count(side), content.count(1 - side)
        excess = max(own - others, 0) if own and others else 0
        lonely = own if not others else 0
        if not self.has_eras:
            return lonely, 0, excess
        eras, other_eras = (
            len({change.era for change in copies})
            for copies in (content.copies[side], content.copies[1 - side])
        )
        doubled = min(excess, max(own - eras - (others - other_eras), 0))
        again = eras - 1 if lonely else 0  # lost once, however often it was sent
        return lonely - again, excess - doubled + again, doubled


def _lateness(changes: Sequence[Change]) -> tuple[bool, int | None]:
    """Return whether all changes of a side come too late, and the last position before one."""
    known = [change.behind for change in changes if change.behind is not None]
    is_late = bool(changes) and all(change.is_late for change in changes)
    return is_late, max(known, default=None)
