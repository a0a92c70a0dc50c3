"""Finds the rows of two sides that are surely equal, so that nothing else has to look at them.

A key is in order on a side if none of its changes has a smaller position or an earlier place than
the one before. Such a key has no late changes. Where no order is checked, all keys are in order.
Changes of a key with one position are tied; others have no repeats. If a key is in order on both
sides,

- where changes pair by their position, both sides must have the same ones there, in the same order
  and each once;
- where they pair by their order, all are settled if all of them are the same and none is tied;
- where last rows are compared, the key is settled if its last changes are the same and not tied.

All other keys stay with all of their rows, for ``embedded.counting`` and ``embedded.final_state``.
But where last rows are compared, a last change in order that is not tied is enough. Rows of a table
may be those of an earlier state, so against a table all changes stay.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from cdcwire_conformance.compare.embedded.changes import Layout
from cdcwire_conformance.compare.narrow.digests import Numbers
from cdcwire_conformance.compare.narrow.places import NOWHERE, last_known, ordered_parts_of
from cdcwire_conformance.compare.narrow.rows import NarrowRows
from cdcwire_conformance.compare.result import Counts
from cdcwire_conformance.compare.rules import CompareOptions

ROWS_TOGETHER = 1 << 16
"""How many rows of a side are copied at a time, unless a key has more."""


@dataclass(frozen=True, slots=True)
class Unsettled:
    """The rows that are still to be compared.

    ``wanted``: for each side a flag for each row. ``settled``: the counts of the others.
    ``unordered``: as in ``OrderDoubts``, of the others.
    """

    wanted: tuple[Numbers, Numbers]
    settled: Counts
    unordered: int = 0


def unsettled_rows(
    left: NarrowRows, right: NarrowRows, layout: Layout, options: CompareOptions
) -> Unsettled:
    """Return the rows of two sides that may differ. Those outside of the window are not among them.

    With rules for updates in two records nothing is settled, as a row is only a part of a change.
    Nothing is settled either if rows are to be compared by all columns.
    """
    kept = ~left.is_outside, ~right.is_outside
    if layout.rules.in_halves or options.exact:
        return Unsettled(kept, Counts())
    ours, theirs = (_Keys(each, layout, options) for each in (left, right))
    _, own, other = np.intersect1d(ours.keys, theirs.keys, assume_unique=True, return_indices=True)
    is_good = ours.is_in_order[own] & theirs.is_in_order[other]
    own, other = own[is_good], other[is_good]
    if layout.rules.is_final:
        return Unsettled(
            kept, _settle_last_rows((left, right), (ours, theirs), (own, other), kept, layout)
        )
    unordered = 0
    if layout.keys and not layout.needs_order:
        rows, unordered = _same_positions((left, right), (ours, theirs), (own, other))
    else:
        is_same = ours.sizes[own] == theirs.sizes[other]
        is_same &= ~ours.has_ties[own] & ~theirs.has_ties[other]
        if layout.needs_order and layout.rules.position is not None:
            is_same &= ours.have_one_order[own] & theirs.have_one_order[other]
        own, other = own[is_same], other[is_same]
        rows = ours.rows(own), theirs.rows(other)
        is_same = _all_same(left.content[rows[0]] == right.content[rows[1]], ours.sizes[own])
        rows = ours.rows(own[is_same]), theirs.rows(other[is_same])
    for mask, settled in zip(kept, rows, strict=True):
        mask[settled] = False
    return Unsettled(kept, _counts(len(rows[0]), len(rows[1]), len(rows[0])), unordered)


def unsettled_ids(
    left: NarrowRows, right: NarrowRows, layout: Layout, options: CompareOptions
) -> tuple[Unsettled, Numbers]:
    """Return what is settled, and the ``ids`` of all other rows, each once.

    So the others are known where the rows are read again. A settled row with the same id, an
    earlier state that came back, is taken as one of them.
    """
    found = unsettled_rows(left, right, layout, options)
    sides = list(zip((left, right), found.wanted, strict=True))
    ids = np.unique(np.concatenate([rows.ids_of(wanted) for rows, wanted in sides]))
    ours, theirs = (
        int(np.count_nonzero(np.isin(rows.ids, ids) & ~rows.is_outside & ~wanted))
        for rows, wanted in sides
    )
    counts = found.settled
    left_rows, right_rows = counts.left_rows - ours, counts.right_rows - theirs
    counts = replace(counts, left_rows=left_rows, right_rows=right_rows)
    return replace(found, settled=counts), ids


def _same_positions(
    sides: tuple[NarrowRows, NarrowRows],
    keys: tuple[_Keys, _Keys],
    good: tuple[Numbers, Numbers],
) -> tuple[tuple[Numbers, Numbers], int]:
    """Return the rows of positions that are the same on both sides, and how many have no order.

    ``good``: the keys that both sides have in order. Their rows are copied, so those of some keys
    at a time.
    """
    count = max(1, -(-int(keys[0].sizes[good[0]].sum()) // ROWS_TOGETHER))
    parts = zip(*(np.array_split(each, count) for each in good), strict=True)
    found = [_same_positions_of(sides, keys, (own, other)) for own, other in parts]
    ours, theirs = (np.concatenate(each) for each in zip(*(rows for rows, _ in found), strict=True))
    return (ours, theirs), sum(unordered for _, unordered in found)


def _same_positions_of(
    sides: tuple[NarrowRows, NarrowRows],
    keys: tuple[_Keys, _Keys],
    good: tuple[Numbers, Numbers],
) -> tuple[tuple[Numbers, Numbers], int]:
    runs = [of_side.runs(own) for of_side, own in zip(keys, good, strict=True)]
    left, right = (rows.ids_of(each.rows) for rows, each in zip(sides, runs, strict=True))
    _, own, other = np.intersect1d(left, right, assume_unique=True, return_indices=True)
    ours, theirs = runs[0].taken(own), runs[1].rows[other]
    is_same = sides[0].content[ours.rows] == sides[1].content[theirs]
    is_same &= sides[0].key[ours.rows] == sides[1].key[theirs]
    for name in ("number", "size", "has_order"):
        is_same &= getattr(ours, name) == getattr(runs[1], name)[other]
    same_of_run = np.bincount(ours.run[is_same], minlength=ours.run.max(initial=0) + 1)
    is_same &= same_of_run[ours.run] == ours.size
    lacks_order = is_same & ~ours.has_order & sides[0].has_row[ours.rows]
    unordered = int(np.count_nonzero(np.bincount(ours.run[lacks_order]) > 1))
    return (ours.rows[is_same], theirs[is_same]), unordered


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
    is_same &= ~keys[0].ends_tied[own] & ~keys[1].ends_tied[other]
    if layout.rules.against_table:
        is_same &= keys[1].sizes[other] == 1
    own, other = own[is_same], other[is_same]
    for mask, of_side, settled in zip(kept, keys, (own, other), strict=True):
        if not layout.rules.against_table:
            in_order = np.flatnonzero(of_side.is_in_order & ~of_side.ends_tied)
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


@dataclass(frozen=True, slots=True)
class _Runs:
    """Rows of a side in runs with one key and position. The arrays have an entry for each row.

    ``run``: the number of its run. ``number``: its own in the run. ``size``: of the run.
    ``has_order``: the order in the run is known, or is not asked for.
    """

    rows: Numbers
    run: Numbers
    number: Numbers
    size: Numbers
    has_order: Numbers

    def taken(self, which: Numbers) -> _Runs:
        """Return some of the rows."""
        return _Runs(*(getattr(self, each.name)[which] for each in fields(self)))


class _Keys:
    """The rows of a side by their key.

    ``keys``: in order. ``sizes``: rows of each. ``last``: the last row of each. ``is_in_order``: no
    row goes back, and none is doubtful. ``has_ties``: some are tied. ``ends_tied``: the last is.
    """

    def __init__(self, rows: NarrowRows, layout: Layout, options: CompareOptions) -> None:
        compared = np.flatnonzero(~rows.is_outside & ~rows.is_left_out)
        keys = rows.key[compared]
        needs_order = layout.needs_order or layout.rules.is_final
        has_order = needs_order or (options.order and rows.places.have_order)
        if layout.keys and has_order:
            order = np.argsort(keys, kind="stable")
        elif layout.keys:
            content = rows.content["second"][compared]
            order = np.lexsort((content, rows.position[compared], keys))
        else:
            order = np.lexsort((rows.content["second"][compared], keys))
        self._rows, self._checks_order = rows, options.order
        self._order = compared[order]
        keys = keys[order]
        self._starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))[: len(keys)])
        self.keys = keys[self._starts]
        self.sizes = np.diff(np.append(self._starts, len(keys)))
        self.last = self._order[self._starts + self.sizes - 1]
        is_wrong = rows.is_doubtful[self._order]
        self._is_tied = np.zeros(len(keys), bool)  # with the row before
        if layout.keys and len(keys):
            goes_back, self._is_tied = self._compared_positions(rows, layout)
            is_wrong = is_wrong | (goes_back & has_order)
        self.is_in_order = ~self._any(is_wrong) & ~np.isin(self.keys, rows.left_keys)
        self.has_ties = self._any(self._is_tied)
        self.ends_tied = self._is_tied[self._starts + self.sizes - 1]

    def rows(self, keys: Numbers) -> Numbers:
        """Return the rows of some keys, by their place among ``keys``."""
        found: Numbers = self._order[self._places(keys)]
        return found

    @cached_property
    def _parts(self) -> Numbers:
        """The part of the feed that each row of the side is in, if its order there is known."""
        return ordered_parts_of(self._rows.places)[1]

    @property
    def have_one_order(self) -> Numbers:
        """Return for each key whether the order of its rows is known, or is not asked for."""
        if not self._checks_order:
            return np.broadcast_to(np.True_, len(self.keys))
        part = self._parts[self._order]
        is_odd = (part == NOWHERE) | (part != np.repeat(part[self._starts], self.sizes))
        found: Numbers = ~self._any(is_odd) | (self.sizes == 1)
        return found

    def runs(self, keys: Numbers) -> _Runs:
        """Return the rows of some keys by their position.

        Tied rows are left out if one comes twice, or if only some have a known order.
        """
        places = self._places(keys)
        rows, is_first = self._order[places], ~self._is_tied[places]
        run, firsts = np.cumsum(is_first) - 1, np.flatnonzero(is_first)
        number = np.arange(len(places)) - firsts[run]
        size = np.diff(np.append(firsts, len(places)))[run]
        tied = np.flatnonzero(size > 1)
        part = np.zeros(len(places), np.int64)
        if self._checks_order and len(tied):
            part[tied] = self._parts[rows[tied]]
        is_odd = part != part[firsts[run]]
        _, inverse, copies = np.unique(
            self._rows.ids_of(rows[tied]), return_inverse=True, return_counts=True
        )
        is_odd[tied] |= copies[inverse.reshape(-1)] > 1
        found = _Runs(rows, run, number, size, part != NOWHERE)
        return found.taken(~np.isin(run, run[is_odd])) if is_odd.any() else found

    def _places(self, keys: Numbers) -> Numbers:
        sizes = self.sizes[keys]
        before = np.cumsum(sizes) - sizes
        found: Numbers = np.arange(int(sizes.sum()))
        found += np.repeat(self._starts[keys] - before, sizes)
        return found

    def _any(self, flags: Numbers) -> Numbers:
        """Return for each key whether any of its rows has a flag."""
        return np.logical_or.reduceat(flags, self._starts) if len(flags) else flags

    def _compared_positions(self, rows: NarrowRows, layout: Layout) -> tuple[Numbers, Numbers]:
        """Return which rows go back from the row of their key before, and which are tied to it."""
        rules, order = layout.rules, self._order
        starts = np.repeat(self._starts, self.sizes)
        position = rows.position[order]
        before = last_known(position, starts)[:-1]
        is_placed = (position[1:] != NOWHERE) & (before != NOWHERE)
        is_placed &= starts[1:] == starts[:-1]
        goes_back, is_tied = np.zeros(len(order), bool), np.zeros(len(order), bool)
        goes_back[1:] = is_placed & (position[1:] < before)
        goes_back[1:] |= rows.places.goes_back(order[:-1], order[1:])
        if rules.is_final:
            goes_back[1:] |= rows.is_bare[order[1:]]
        goes_back[self._starts] = False
        if not rules.numbers_ties:
            is_tied[1:] = is_placed & (position[1:] == before)
        return goes_back, is_tied


def _all_same(same: Numbers, sizes: Numbers) -> Numbers:
    """Return which groups of rows are the same. ``sizes``: of the groups."""
    if not len(sizes):
        return np.zeros(0, bool)
    return np.asarray(np.logical_and.reduceat(same, np.cumsum(sizes) - sizes), bool)
