"""The last row of each key, replayed as ``spark.compare.final_state`` describes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cdcwire_conformance.compare.embedded.changes import (
    Change,
    FedRow,
    Image,
    Key,
    Layout,
    Splitter,
    by_key,
    is_in,
    nulls_first,
)
from cdcwire_conformance.compare.result import Counts


@dataclass(frozen=True, slots=True)
class State:
    """The state after the last change of a key. ``after``: None without a row."""

    after: Image | None
    position: int | None
    source: tuple[Any, ...] | None


@dataclass(frozen=True, slots=True)
class DifferingKey:
    """A key with different last rows. None for a side that has no row."""

    key: Key
    left: State | None
    right: State | None


def last_rows(
    sides: tuple[Sequence[FedRow], Sequence[FedRow]], layout: Layout
) -> tuple[Counts, list[DifferingKey]]:
    """Return the counts of keys, and the keys with different last rows.

    Counts are of keys that have a row at the end; ``left_rows`` and ``right_rows`` of changes.
    """
    states: list[dict[Key, State]] = []
    rows, unreadable = [], []
    for side in sides:
        changes = _changes(side, layout)
        good = [change for change in changes if change.row.is_readable]
        states.append(_last_states(good, layout))
        counted = [sum(change.part == 0 for change in each) for each in (good, changes)]
        rows.append(counted[0])
        unreadable.append(counted[1] - counted[0])
    left, right = states
    same, changed, only_left, only_right = 0, 0, 0, 0
    differing = []
    for key in dict.fromkeys((*left, *right)):
        ours, theirs = (_row_of(side.get(key)) for side in (left, right))
        if ours is None and theirs is None:
            continue
        if ours is not None and theirs is not None and ours.after == theirs.after:
            same += 1
            continue
        changed += ours is not None and theirs is not None
        only_left += theirs is None
        only_right += ours is None
        differing.append(DifferingKey(key, ours, theirs))
    counts = Counts(
        left_rows=rows[0],
        right_rows=rows[1],
        left=same + changed + only_left,
        right=same + changed + only_right,
        same=same,
        changed=changed,
        only_left=only_left,
        only_right=only_right,
        unreadable_left=unreadable[0],
        unreadable_right=unreadable[1],
    )
    return counts, differing


def _row_of(state: State | None) -> State | None:
    return None if state is None or state.after is None else state


def _changes(rows: Iterable[FedRow], layout: Layout) -> list[Change]:
    if layout.rules.position is not None:
        rows = (row for row in rows if is_in(row.position, layout.window))
    return list(Splitter(layout).changes(rows))


def _last_states(changes: Iterable[Change], layout: Layout) -> dict[Key, State]:
    rules = layout.rules
    found: dict[Key, State] = {}
    for key, of_key in by_key(changes).items():
        last: int | None = None
        best: tuple[Any, ...] | None = None
        for change in of_key:
            position, is_present = change.position, change.after is not None
            goes_before = int(is_present and rules.position is not None)
            if rules.has_bare_deletes and rules.position is not None:
                last = last if position is None else position
                if position is None and not is_present:
                    position, goes_before = last, 2
                elif position is None:
                    position = last
            order = (*nulls_first(position), goes_before), change.feed_order
            if best is None or order > best:
                best = order
                found[key] = State(change.after, position, change.row.source)
    return found
