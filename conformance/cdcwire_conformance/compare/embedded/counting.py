"""Pairs of both sides and their counts.

The order of a feed is known within its parts (``narrow.places``). A change without an offset is in
no part, and its order is not checked. Within a part

- a change is *late* if it comes after a change of the same key with a larger position. It is out of
  order if all copies of it are late; so a repeat is not out of order;
- changes of one key and position are in the order of their feed, except deletes;
- an *era* ends where a position is smaller than the previous one in the part, whatever the key. In
  a prefix an era also ends with each file. Delivery at least once sends a part of the feed again: a
  copy of a later era than the first is a repeat. Copies of one era are doubles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from cdcwire_conformance.compare.embedded.changes import (
    Change,
    FedRow,
    Layout,
    Place,
    compared_changes,
    may_be_read,
)
from cdcwire_conformance.compare.narrow.places import Eras, Part, part_of, place_in_part
from cdcwire_conformance.compare.result import Counts

PairKey: TypeAlias = "tuple[Any, ...]"
FindEras: TypeAlias = "Callable[[], tuple[Eras, Eras]]"

SIDES = (0, 1)
_NAMES = ("left", "right")
_NO_CHANGES: list[Change] = []  # of a side, in many contents


class ErasUnknown(Exception):
    """Copies of a row are in eras that are not known."""


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
    ``has_unreadable``: per side, whether it also has changes here that can't be read. Any more of
    the other side may be those.
    """

    key: PairKey
    contents: list[Content]
    is_repeated: bool
    out_of_order: tuple[bool, bool]
    has_unreadable: tuple[bool, bool] = (False, False)


@dataclass(slots=True)
class Summary:
    """The counts of changes, and the pairs that differ.

    ``unordered``: as in ``OrderDoubts``. ``backs``: the positions of those that go back.
    ``has_copies``: there are copies that eras may separate.
    """

    counts: Counts
    pairs: list[DifferingPair]
    unordered: int
    backs: list[Place]
    has_copies: bool


def summary_of(
    sides: tuple[Sequence[FedRow], Sequence[FedRow]],
    layout: Layout,
    find_eras: FindEras,
    key_changes: tuple[Set[int], Set[int]],
    *,
    has_order: bool,
) -> Summary:
    """Return the counts of both sides and the pairs that differ.

    Where one side has more copies of a row than the other, they are counted again with
    the eras of both sides. ``key_changes``: of ``Splitter.key_changes``. Raises: ErasUnknown if
    these eras are needed and ``find_eras`` does not know them.
    """
    has_position = layout.rules.position is not None
    has_order = has_order and has_position and bool(layout.keys)
    changes = tuple(
        compared_changes(rows, layout, moved)
        for rows, moved in zip(sides, key_changes, strict=True)
    )
    skips_first = layout.rules.has_reads_as_inserts
    if has_order:
        for side in changes:
            _find_late(side, skips_first=skips_first)
    found = _summary(changes, layout, has_order=has_order, has_eras=False)
    if not found.has_copies or not has_position:
        return found
    for side, known in zip(changes, find_eras(), strict=True):
        for change in side:
            part, place = place_of(change.row)
            row = None if change.row.source is None else change.row.source[-1]
            change.era = () if part is None else known.of(part, place, row)
    return _summary(changes, layout, has_order=has_order, has_eras=True)


def place_of(row: FedRow) -> tuple[Part | None, int]:
    """Return the part of the feed that a row is in, None for no known order, and where in it."""
    topic, partition, offset, file, *_ = row.source or (None,) * 6
    stream = topic, partition, file
    part = part_of(stream, row.partition)
    if part is None or (offset is None and part[0] != "prefix"):
        return None, 0
    return part, place_in_part(part, stream, offset)


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


def _find_late(changes: Iterable[Change], *, skips_first: bool) -> None:
    """Find changes that come after one of their key with a larger position.

    Find also what comes before a change at its position. ``skips_first``: the position of a key's
    first insert may be that of a snapshot. Changes of a transaction that was open then are before.
    """
    for part, found in _in_parts(changes):
        # The largest and the last position of a key, and its last change other than a delete.
        seen: dict[Any, tuple[Place, Place, Change | None]] = {}
        for _, change in found:
            position = change.passing
            largest, last, before = seen.get(change.key, (None, None, None))
            if position is not None and largest is not None and largest > position:
                change.is_late, change.behind = True, last
            elif position is not None and not (
                skips_first and change.key not in seen and may_be_read(change)
            ):
                largest = position
            change.stream = part
            if position is not None and before is not None and before.passing == position:
                change.follows = before.content
            seen[change.key] = largest, position, before if change.op == "delete" else change


def _summary(
    sides: Sequence[Sequence[Change]], layout: Layout, *, has_order: bool, has_eras: bool
) -> Summary:
    pairs: dict[PairKey, tuple[list[Change], list[Change]]] = {}
    name_of = _pair_namer(layout)
    totals = dict.fromkeys((each.name for each in fields(Counts)), 0)
    for side, changes in enumerate(sides):
        name = _NAMES[side]
        for change in changes:
            if change.row.is_readable:
                totals[name] += 1
                totals[f"{name}_rows"] += change.part == 0
            else:
                totals[f"unreadable_{name}"] += change.is_main
                if change.key is None:
                    continue  # it may be any row
            key = name_of(change)
            found = pairs.get(key)
            if found is None:
                pairs[key] = found = ([], [])
            found[side].append(change)
    differing, has_copies = [], False
    unordered, backwards = 0, []
    for key, (ours, theirs) in pairs.items():
        if len(ours) == 1 == len(theirs):
            own, other = ours[0], theirs[0]
            is_usual = own.row.is_readable and other.row.is_readable
            if is_usual and not own.is_late and not other.is_late:
                if own.content == other.content:
                    totals["same"] += 1
                else:
                    totals["changed"] += 1
                    contents = [Content((ours, _NO_CHANGES)), Content((_NO_CHANGES, theirs))]
                    differing.append(DifferingPair(key, contents, True, (False, False)))
                continue
        counted = _PairCounts(ours, theirs, has_order=has_order, has_eras=has_eras)
        has_copies |= counted.has_copies
        for name, number in counted.counts.items():
            totals[name] += number
        unordered += counted.is_unordered
        backwards += [ours[0].position] if counted.is_backwards else []
        if counted.is_differing:
            is_repeated = not counted.counts["doubled_left"] + counted.counts["doubled_right"]
            late = counted.counts["out_of_order_left"], counted.counts["out_of_order_right"]
            differing.append(
                DifferingPair(
                    key,
                    counted.contents,
                    is_repeated,
                    (bool(late[0]), bool(late[1])),
                    counted.has_unreadable,
                )
            )
    return Summary(Counts(**totals), differing, unordered, backwards, has_copies)


def _pair_namer(layout: Layout) -> Callable[[Change], PairKey]:
    """Return what gives the pair of a change: position, key and ordinal, or all of it."""
    if not layout.keys:
        return lambda change: (change.position, change.content)
    return lambda change: (change.position, change.key, change.ordinal)


class _PairCounts:
    """The counts of one pair. ``contents``: its changes, equal ones together.

    ``is_backwards``: it comes after a later change of its key, in both feeds alike.
    ``is_unordered``: the order of its changes can't be compared.
    """

    def __init__(
        self, ours: list[Change], theirs: list[Change], *, has_order: bool, has_eras: bool
    ) -> None:
        by_content: dict[Any, Content] = {}
        for side, changes in enumerate((ours, theirs)):
            for change in changes:
                if change.row.is_readable:
                    by_content.setdefault(change.content, Content()).copies[side].append(change)
        self.has_unreadable = _has_unreadable(ours), _has_unreadable(theirs)
        self.contents = list(by_content.values())
        self.has_copies = False
        self.has_eras = has_eras
        counts = dict.fromkeys(
            ("same", "changed", "only_left", "only_right", "repeated_left", "repeated_right"), 0
        )
        counts |= dict.fromkeys(
            ("doubled_left", "doubled_right", "out_of_order_left", "out_of_order_right"), 0
        )
        self.is_backwards = self.is_unordered = False
        lonely = [0, 0]
        for content in self.contents:
            copies = content.count(0), content.count(1)
            counts["same"] += min(copies)
            self.has_copies |= copies[0] != copies[1] and max(copies) > 1
            for side in SIDES:
                alone, repeated, doubled = self._copies(content, side)
                lonely[side] += alone
                if not self.has_unreadable[1 - side]:
                    counts[f"repeated_{_NAMES[side]}"] += repeated
                    counts[f"doubled_{_NAMES[side]}"] += doubled
        counts["changed"] = min(lonely)
        for side in SIDES:
            if self.has_unreadable[1 - side]:
                lonely[side] = counts["changed"]  # the rest may be what can't be read
            counts[f"only_{_NAMES[side]}"] = lonely[side] - counts["changed"]
        if has_order:
            states = [_lateness(changes) for changes in (ours, theirs)]
            self.is_backwards = states[0] == states[1] and states[0][0]
            for side in SIDES:
                is_read = any(content.count(side) for content in self.contents)
                is_out = states[side][0] and is_read and not self.is_backwards
                counts[f"out_of_order_{_NAMES[side]}"] = int(is_out)
            is_tied = len(self.contents) > 1 and not any(self.has_unreadable)
            if is_tied and all(each.count(0) == each.count(1) for each in self.contents):
                order = _order_in_pair(self.contents)
                self.is_unordered = order == "unknown"
                if order == "other":
                    counts |= dict.fromkeys(("out_of_order_left", "out_of_order_right"), 1)
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


def _order_in_pair(contents: Sequence[Content]) -> Literal["same", "other", "unknown"]:
    """Return whether both sides have the changes of a pair in one order.

    It is unknown for changes in several parts of a feed. A delete and another change at one
    position have no order, as producers split an update of a key in different ways.
    """
    rest = [content for content in contents if _op(content) != "delete"]
    for side in SIDES:
        streams = {change.stream for content in rest for change in content.copies[side]}
        if len(rest) > 1 and (len(streams) > 1 or None in streams):
            return "unknown"
    is_moved = [
        Counter(change.follows for change in content.copies[0])
        != Counter(change.follows for change in content.copies[1])
        for content in (*rest, *(each for each in contents if _op(each) == "delete"))
    ]
    if any(is_moved[: len(rest)]):
        return "other"
    return "unknown" if any(is_moved) else "same"


def _has_unreadable(changes: Iterable[Change]) -> bool:
    return not all(change.row.is_readable for change in changes)


def _op(content: Content) -> str | None:
    return content.copies[0][0].op


def _lateness(changes: Sequence[Change]) -> tuple[bool, Place]:
    """Return whether all changes of a side come too late, and the last position before one."""
    known = [change.behind for change in changes if change.behind is not None]
    is_late = bool(changes) and all(change.is_late for change in changes)
    return is_late, max(known, default=None)
