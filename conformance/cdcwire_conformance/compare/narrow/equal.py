"""Finds the rows of two sides that are surely equal, so that nothing else has to look at them.

A key is in order on a side if each of its changes has a larger position and a later place than the
one before. Such a key has no repeats and no late changes. If it is in order on both sides,

- each change that both sides have is settled, where changes pair by their position;
- where they pair by their order, all are settled if all of them are the same;
- where last rows are compared, the key is settled if its last changes are the same.

All other keys stay with all of their rows, for ``embedded.counting`` and ``embedded.final_state``.
But of a key in order on its side only the last change counts, where last rows are compared. Rows of
a table may be those of an earlier state, so against a table all changes stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cdcwire_conformance.compare.embedded.changes import Layout
from cdcwire_conformance.compare.narrow.digests import Numbers
from cdcwire_conformance.compare.narrow.places import NOWHERE, last_known
from cdcwire_conformance.compare.narrow.rows import NarrowRows
from cdcwire_conformance.compare.result import Counts


@dataclass(frozen=True, slots=True)
class Unsettled:
    """The rows that are still to be compared.

    ``wanted``: for each side a flag for each row. ``settled``: the counts of the others.
    """

    wanted: tuple[Numbers, Numbers]
    settled: Counts


def unsettled_rows(
    left: NarrowRows, right: NarrowRows, layout: Layout, *, settles: bool = True
) -> Unsettled:
    """Return the rows of two sides that may differ. Those outside of the window are not among them.

    With rules for updates in two records nothing is settled, as a row is only a part of a change.
    ``settles``: find what is equal by its digests.
    """
    kept = ~left.is_outside, ~right.is_outside
    if layout.rules.in_halves or not settles:
        return Unsettled(kept, Counts())
    ours, theirs = (_Keys(each, layout) for each in (left, right))
    _, own, other = np.intersect1d(ours.keys, theirs.keys, assume_unique=True, return_indices=True)
    is_good = ours.is_in_order[own] & theirs.is_in_order[other]
    own, other = own[is_good], other[is_good]
    if layout.rules.is_final:
        return Unsettled(
            kept, _settle_last_rows((left, right), (ours, theirs), (own, other), kept, layout)
        )
    rows = ours.rows(own), theirs.rows(other)
    if layout.keys and not layout.needs_order:
        ids = left.ids[rows[0]], right.ids[rows[1]]
        _, *same = np.intersect1d(*ids, assume_unique=True, return_indices=True)
        rows = rows[0][same[0]], rows[1][same[1]]
    else:
        is_same = ours.sizes[own] == theirs.sizes[other]
        own, other = own[is_same], other[is_same]
        rows = ours.rows(own), theirs.rows(other)
        is_same = _all_same(left.content[rows[0]] == right.content[rows[1]], ours.sizes[own])
        rows = ours.rows(own[is_same]), theirs.rows(other[is_same])
    for mask, settled in zip(kept, rows, strict=True):
        mask[settled] = False
    return Unsettled(kept, _counts(len(rows[0]), len(rows[1]), len(rows[0])))


def unsettled_ids(
    left: NarrowRows, right: NarrowRows, layout: Layout, *, settles: bool
) -> tuple[Counts, Numbers]:
    """Return the counts of settled rows, and the ``ids`` of all others, each once.

    So the others are known where the rows are read again. A settled row with the same id, an
    earlier state that came back, is taken as one of them.
    """
    found = unsettled_rows(left, right, layout, settles=settles)
    sides = list(zip((left, right), found.wanted, strict=True))
    ids = np.unique(np.concatenate([rows.ids[wanted] for rows, wanted in sides]))
    ours, theirs = (
        int(np.count_nonzero(np.isin(rows.ids, ids) & ~rows.is_outside & ~wanted))
        for rows, wanted in sides
    )
    counts = found.settled
    left_rows, right_rows = counts.left_rows - ours, counts.right_rows - theirs
    return replace(counts, left_rows=left_rows, right_rows=right_rows), ids


def _settle_last_rows(
    sides: tuple[NarrowRows, NarrowRows],
    keys: tuple[_Keys, _Keys],
    good: tuple[Numbers, Numbers],
    kept: tuple[Numbers, Numbers],
    layout: Layout,
) -> Counts:
    """Settle keys in order, and return their counts. ``good``: the keys that both sides have so."""
    (left, right), (own, other) = sides, good
    lasts = keys[0].last[own], keys[1].last[other]
    is_same = left.content[lasts[0]] == right.content[lasts[1]]
    is_same &= left.has_row[lasts[0]] == right.has_row[lasts[1]]
    if layout.rules.against_table:
        is_same &= keys[1].sizes[other] == 1
    own, other = own[is_same], other[is_same]
    for mask, of_side, settled in zip(kept, keys, (own, other), strict=True):
        if not layout.rules.against_table:
            in_order = np.flatnonzero(of_side.is_in_order)
            mask[of_side.rows(in_order)] = False
            mask[of_side.last[in_order]] = True
        mask[of_side.rows(settled)] = False
    ours, theirs = (
        int(np.count_nonzero(~rows.is_outside) - np.count_nonzero(mask))
        for rows, mask in zip(sides, kept, strict=True)
    )
    return _counts(ours, theirs, int(np.count_nonzero(left.has_row[lasts[0][is_same]])))


def _counts(left: int, right: int, same: int) -> Counts:
    return Counts(left_rows=left, right_rows=right, left=same, right=same, same=same)


class _Keys:
    """The rows of a side by their key.

    ``keys``: in order. ``sizes``: rows of each. ``last``: the last row of each. ``is_in_order``:
    each of its rows comes after the one before, and none is doubtful.
    """

    def __init__(self, rows: NarrowRows, layout: Layout) -> None:
        compared = np.flatnonzero(~rows.is_outside & ~rows.is_left_out)
        keys = rows.key[compared]
        if layout.keys:
            order = np.argsort(keys, kind="stable")
        else:
            order = np.lexsort((rows.content["second"][compared], keys))
        self._order = compared[order]
        keys = keys[order]
        self._starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))[: len(keys)])
        self.keys = keys[self._starts]
        self.sizes = np.diff(np.append(self._starts, len(keys)))
        self.last = self._order[self._starts + self.sizes - 1]
        is_wrong = rows.is_doubtful[self._order]
        if layout.keys:
            is_wrong = is_wrong | self._is_out_of_order(rows, layout)
        wrong = np.logical_or.reduceat(is_wrong, self._starts) if len(keys) else is_wrong
        self.is_in_order = ~wrong & ~np.isin(self.keys, rows.left_keys)

    def rows(self, keys: Numbers) -> Numbers:
        """Return the rows of some keys, by their place among ``keys``."""
        sizes = self.sizes[keys]
        before = np.cumsum(sizes) - sizes
        places = np.arange(int(sizes.sum())) + np.repeat(self._starts[keys] - before, sizes)
        found: Numbers = self._order[places]
        return found

    def _is_out_of_order(self, rows: NarrowRows, layout: Layout) -> Numbers:
        """Return which rows do not come after the row of their key before them."""
        rules, order = layout.rules, self._order
        starts = np.repeat(self._starts, self.sizes)
        position = rows.position[order]
        found = np.zeros(len(order), bool)
        if not len(order):
            return found
        before = last_known(position, starts)[:-1]
        goes_back = position[1:] < before if rules.numbers_ties else position[1:] <= before
        found[1:] = goes_back & (position[1:] != NOWHERE) & (before != NOWHERE)
        found[1:] |= rows.places.goes_back(order[:-1], order[1:])
        if rules.is_final:
            found[1:] |= rows.is_bare[order[1:]]
        found[self._starts] = False
        return found


def _all_same(same: Numbers, sizes: Numbers) -> Numbers:
    """Return which groups of rows are the same. ``sizes``: of the groups."""
    if not len(sizes):
        return np.zeros(0, bool)
    return np.asarray(np.logical_and.reduceat(same, np.cumsum(sizes) - sizes), bool)
