"""The last row of each key: two feeds replayed, and what is left of them compared.

A replay takes the changes of a key in the order of their position, then of the feed. At one
position an existing row goes before a delete. The reason: an update of a key is the delete of the
old key and the insert of the new one. The new key may be a third row's old key. So neither what is
sent again nor the producer's batches make a difference. A delete without a position takes the last
one that its key had before it, and goes before what is sent again.

Only the after image counts: the last row, or that there is none.

The rows of a table are inserts without a position. One of them is stale if an earlier state of the
feed has more of its columns than the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Literal

from cdcwire_conformance.compare.embedded.changes import (
    Change,
    FedRow,
    Image,
    Key,
    Layout,
    Place,
    Splitter,
    by_key,
    may_be_read,
    nulls_first,
)
from cdcwire_conformance.compare.embedded.counting import place_of
from cdcwire_conformance.compare.embedded.values import Value
from cdcwire_conformance.compare.result import Counts
from cdcwire_conformance.compare.rules import ComparisonRules


@dataclass(frozen=True, slots=True)
class State:
    """The state after the last change of a key. ``after``: None without a row.

    ``is_readable``: false if that change can't be read.
    """

    after: Image | None
    position: Place
    source: tuple[Any, ...] | None
    is_readable: bool = True


@dataclass(frozen=True, slots=True)
class DifferingKey:
    """A key with different last rows. None for a side that has no row.

    ``kind``: None if the rows are the same, and the table only has copies. ``due``: the state of
    the side without a row, if changes of the key left it so. For a stale row it is the one that the
    table lacks. ``explained``: the columns that are right in the state before it. ``copies``: in
    the table.
    """

    key: Key
    left: State | None
    right: State | None
    kind: Literal["changed", "stale"] | None = "changed"
    due: State | None = None
    explained: tuple[int, ...] | None = None
    copies: int = 1


def last_rows(
    sides: tuple[Sequence[FedRow], Sequence[FedRow]],
    layout: Layout,
    key_changes: tuple[Set[int], Set[int]],
    *,
    has_order: bool,
) -> tuple[Counts, list[DifferingKey], list[Place]]:
    """Return the counts of keys, the keys with different last rows, and positions that go back.

    Counted are keys that have a row at the end; ``left_rows`` and ``right_rows`` of changes. Keys
    whose last change can't be read are left out. ``key_changes``: of ``Splitter.key_changes``.
    ``has_order``: look for keys whose position goes back.
    """
    rules = layout.rules
    states: list[dict[Key, State]] = []
    changes_of: list[Mapping[Key, Sequence[Change]]] = []
    backs: list[Place] = []
    rows, unreadable = [], []
    for side, moved in zip(sides, key_changes, strict=True):
        changes = list(Splitter(layout).changes(side, moved))
        replay = _Replay(rules)
        of_keys = by_key(each for each in changes if each.row.is_readable or each.key is not None)
        changes_of.append(of_keys)
        states.append({key: replay.state_of(own) for key, own in of_keys.items()})
        backs += replay.backs if has_order else ()
        rows.append(sum(each.part == 0 and each.row.is_readable for each in changes))
        unreadable.append(sum(each.is_main and not each.row.is_readable for each in changes))
    left, right = states
    same, changed, only_left, only_right, doubled, stale = 0, 0, 0, 0, 0, 0
    differing = []
    for key in dict.fromkeys((*left, *right)):
        ours, theirs = (_row_of(side.get(key)) for side in (left, right))
        if (ours is None and theirs is None) or any(
            key in side and not side[key].is_readable for side in states
        ):
            continue
        copies = len(changes_of[1].get(key, ())) if rules.against_table else 1
        doubled += max(copies - 1, 0)
        if ours is not None and theirs is not None and ours.after == theirs.after:
            same += 1
            if copies > 1:
                differing.append(DifferingKey(key, ours, theirs, None, copies=copies))
            continue
        if ours is None and rules.leaves_left_over:
            continue
        changed += ours is not None and theirs is not None
        only_left += theirs is None
        only_right += ours is None
        gone = left.get(key) if ours is None else right.get(key) if theirs is None else None
        found = DifferingKey(key, ours, theirs, due=gone, copies=copies)
        if rules.against_table and ours is not None and theirs is not None:
            found = _stale(found, changes_of[0][key], _Replay(rules))
            stale += found.kind == "stale"
        differing.append(found)
    counts = Counts(
        left_rows=rows[0],
        right_rows=rows[1],
        left=same + changed + only_left,
        right=same + changed + only_right,
        same=same,
        changed=changed,
        only_left=only_left,
        only_right=only_right,
        doubled_right=doubled,
        unreadable_left=unreadable[0],
        unreadable_right=unreadable[1],
        stale=stale,
    )
    return counts, differing, backs


def _row_of(state: State | None) -> State | None:
    return None if state is None or state.after is None else state


def _stale(found: DifferingKey, of_key: Sequence[Change], replay: _Replay) -> DifferingKey:
    """Return a key as stale if an earlier state has more of the table's columns than the last one.

    Of states with as many of them, the latest counts.
    """
    assert found.right is not None
    assert found.right.after is not None
    row, _ = found.right.after
    states = replay.states_of([change for change in of_key if change.row.is_readable])
    wrong = [None if each.after is None else _wrong(each.after[0], row) for each in states]
    sizes = [len(row) + 1 if each is None else len(each) for each in wrong]
    best = max(range(len(states)), key=lambda n: (-sizes[n], n))
    if sizes[best] >= sizes[-1]:
        return found
    explained = tuple(n for n in range(len(row)) if n not in (wrong[best] or ()))
    return replace(found, kind="stale", due=states[best + 1], explained=explained)


def _wrong(values: Sequence[Value], row: Sequence[Value]) -> set[int]:
    """Return the columns in which a row of the feed is not the table's."""
    pairs = enumerate(zip(values, row, strict=True))
    return {number for number, (own, other) in pairs if own != other}


class _Replay:
    """Finds the last state of each key of a side. ``backs``: the positions of those that go back.

    A key goes back if its last change by position is not the last one of the feed, and leaves
    another row. Repeats do not count. The changes of a key in several parts have no order.
    """

    def __init__(self, rules: ComparisonRules) -> None:
        self.rules = rules
        self.backs: list[Place] = []

    def state_of(self, of_key: Sequence[Change]) -> State:
        """Return the state that the changes of a key leave."""
        best: tuple[Any, ...] | None = None
        found, position, end = of_key[0], None, None
        for change, end, goes_before in self._placed(of_key):
            order = _order(change, end, goes_before)
            if best is None or order > best:
                best, found, position = order, change, end
        if self.rules.position is not None and of_key[-1].after != found.after:
            self._doubt(of_key, position, end)
        return State(found.after, position, found.row.source, found.row.is_readable)

    def states_of(self, of_key: Sequence[Change]) -> list[State]:
        """Return the states that the changes of a key leave, in the order of the replay."""
        placed = sorted(self._placed(of_key), key=lambda each: _order(*each))
        return [State(each.after, position, each.row.source) for each, position, _ in placed]

    def _placed(self, of_key: Sequence[Change]) -> Iterator[tuple[Change, Place, int]]:
        """Yield each change with its position, and whether it goes before others there."""
        rules = self.rules
        has_position = rules.position is not None
        snapshot = of_key[0].position if may_be_read(of_key[0]) else None
        last: Place = None
        for change in of_key:
            is_unplaced = rules.has_bare_reads and change.op == "read"
            if rules.has_reads_as_inserts and may_be_read(change):
                is_unplaced |= change.position == snapshot
            position = None if is_unplaced else change.position
            is_present = change.after is not None
            goes_before = int(is_present and has_position and not rules.numbers_ties)
            if has_position and (rules.bare_ops or rules.has_reads_as_inserts):
                last = last if position is None else position
                goes_before = 2 if position is None and not is_present else goes_before
                position = last
            yield change, position, goes_before

    def _doubt(self, of_key: Sequence[Change], largest: Place, end: Place) -> None:
        """Note that a key goes back from its largest position to that of its last change."""
        if largest is None or end is None or not end < largest:
            return
        parts = {place_of(change.row)[0] for change in of_key}
        *others, last = of_key
        is_again = any(
            each.position == last.position and each.after == last.after for each in others
        )
        if len(parts) == 1 and None not in parts and not is_again:
            self.backs.append(end)


def _order(change: Change, position: Place, goes_before: int) -> tuple[Any, ...]:
    return (*nulls_first(position), goes_before), change.feed_order
