"""Finds the rows of two sides that are surely equal, so that nothing else has to look at them.

A key is settled if both sides have the same changes of it, one after the other. Each change needs a
larger position and a later place than the one before. Such a key has no repeats and no late
changes, and each change has its equal. Where last rows are compared, only the last change of each
side has to be the same. All other keys stay with all of their rows, for ``embedded.counting`` and
``embedded.final_state``.
"""

from __future__ import annotations

from dataclasses import dataclass

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
        lasts = ours.last[own], theirs.last[other]
        is_same = left.content[lasts[0]] == right.content[lasts[1]]
        is_same &= left.has_row[lasts[0]] == right.has_row[lasts[1]]
        if layout.rules.against_table:
            is_same &= theirs.sizes[other] == 1
        own, other = own[is_same], other[is_same]
    else:
        is_same = ours.sizes[own] == theirs.sizes[other]
        own, other = own[is_same], other[is_same]
        contents = left.content[ours.rows(own)], right.content[theirs.rows(other)]
        is_same = _all_same(contents[0] == contents[1], ours.sizes[own])
        own, other = own[is_same], other[is_same]
    rows = ours.rows(own), theirs.rows(other)
    for mask, settled in zip(kept, rows, strict=True):
        mask[settled] = False
    if layout.rules.is_final:
        same = int(np.count_nonzero(left.has_row[ours.last[own]]))
    else:
        same = len(rows[0])
    counts = Counts(
        left_rows=len(rows[0]), right_rows=len(rows[1]), left=same, right=same, same=same
    )
    return Unsettled(kept, counts)


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
