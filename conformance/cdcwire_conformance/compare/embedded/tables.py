"""Two sides of a table as Arrow batches: equal, or exactly how they differ.

The rows of some keys are compared by themselves, and the results are added. Only the eras of a feed
and the updates in two records that change a key are found in all rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, partial, reduce
from itertools import chain
from operator import add, itemgetter
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.embedded.changed_rows import ChangedRows
from cdcwire_conformance.compare.embedded.changes import (
    ColumnChanges,
    FedRow,
    Place,
    Splitter,
    Wanted,
    rows_in,
)
from cdcwire_conformance.compare.embedded.counting import DifferingPair, FindEras, summary_of
from cdcwire_conformance.compare.embedded.differences import (
    differences_of_key,
    differences_of_pair,
    order_of_key,
    order_of_pair,
)
from cdcwire_conformance.compare.embedded.final_state import DifferingKey, last_rows
from cdcwire_conformance.compare.layout import layout_of
from cdcwire_conformance.compare.narrow.buckets import buckets_of
from cdcwire_conformance.compare.narrow.digests import Numbers
from cdcwire_conformance.compare.narrow.equal import unsettled_rows
from cdcwire_conformance.compare.narrow.places import eras_of
from cdcwire_conformance.compare.narrow.rows import narrow_rows
from cdcwire_conformance.compare.patterns import PatternGroups, groups_of, merged_patterns
from cdcwire_conformance.compare.result import (
    Counts,
    OrderDoubts,
    RowDifference,
    TableComparison,
)
from cdcwire_conformance.compare.rules import CompareOptions, ComparisonRules
from cdcwire_conformance.compare.shown_rows import LONGEST_TEXT, difference_of

Write = Callable[[Iterable[RowDifference]], None]
Ordered: TypeAlias = "tuple[Any, RowDifference]"
"""A difference after its place among all."""

ROWS_TOGETHER = 50_000
"""How many rows are Python objects at a time, unless a key has more."""


@dataclass(frozen=True, slots=True)
class TableSides:
    """The decoded rows of a table on both sides.

    ``image``: the struct of ``before`` and ``after``. ``left``, ``right``: read several times.
    ``changes``: of the values of each side, before they compare.
    """

    table: CanonicalTable
    image: pa.DataType
    left: Iterable[pa.RecordBatch]
    right: Iterable[pa.RecordBatch]
    changes: tuple[ColumnChanges, ColumnChanges] = (ColumnChanges(), ColumnChanges())


def compare_batches(
    sides: TableSides, rules: ComparisonRules, options: CompareOptions, write: Write | None = None
) -> TableComparison:
    """Compare the rows of both sides. ``write`` is called with the differences of some keys."""
    return _Compared(sides, rules, options).result(write)


@dataclass(slots=True)
class _Found:
    """The result of some keys.

    ``first``: the first differences, in their order. ``unordered``, ``backs``: as in ``Summary``.
    """

    counts: Counts
    unordered: int = 0
    backs: Sequence[Place] = ()
    first: list[Ordered] = field(default_factory=list)
    patterns: PatternGroups = field(default_factory=dict)


class _Compared:
    """A table that is compared."""

    def __init__(self, sides: TableSides, rules: ComparisonRules, options: CompareOptions) -> None:
        self.sides, self.rules, self.options = sides, rules, options
        self.both = (sides.left, sides.changes[0]), (sides.right, sides.changes[1])
        image, table = sides.image, sides.table
        fields = [image.field(index) for index in range(image.num_fields)]
        columns = [
            each.with_name(name) for each, name in zip(fields, table.column_names, strict=True)
        ]
        self.layout = layout_of(columns, table, rules, options.window)

    def result(self, write: Write | None) -> TableComparison:
        """Return the comparison of all rows."""
        rules, layout = self.rules, self.layout
        left, right = (
            narrow_rows(own, layout, changes, has_position=not (rules.against_table and number))
            for number, (own, changes) in enumerate(self.both)
        )
        open_ = unsettled_rows(left, right, layout, settles=not self.options.exact)
        moved = self._key_changes(0, open_.wanted[0]), self._key_changes(1, open_.wanted[1])
        eras = (
            cache(partial(eras_of, left.places, left.position)),
            cache(partial(eras_of, right.places, right.position)),
        )
        found = [_Found(open_.settled)]
        for wanted in self._in_buckets(open_.wanted):
            ours, theirs = (
                list(rows_in(own, layout, changes, flags))
                for (own, changes), flags in zip(self.both, wanted, strict=True)
            )
            found.append(self._found((ours, theirs), moved, eras, write))
        return self._merged(found)

    def _key_changes(self, side: int, flags: Numbers) -> Set[int]:
        """Return the updates in two records that change a key."""
        if not self.rules.joins_halves:
            return frozenset()
        batches, changes = self.both[side]
        rows = rows_in(batches, self.layout, changes, Wanted.whole(flags))
        return Splitter(self.layout).key_changes([row for row in rows if row.half is not None])

    def _in_buckets(self, flags: tuple[Numbers, Numbers]) -> Iterator[tuple[Wanted, Wanted]]:
        """Yield the flagged rows of both sides, those of some keys at a time if they are many."""
        count = -(-sum(map(np.count_nonzero, flags)) // ROWS_TOGETHER)
        if count <= 1:
            yield Wanted.whole(flags[0]), Wanted.whole(flags[1])
            return
        buckets = []
        for batches, changes in self.both:
            of_batches = [buckets_of(each, self.layout, changes, count) for each in batches]
            before, after = zip(*of_batches, strict=True) if of_batches else ((), ())
            buckets.append((_joined(before), _joined(after)))
        for number in range(count):
            ours, theirs = (
                (own, (before == number, after == number))
                for own, (before, after) in zip(flags, buckets, strict=True)
            )
            yield Wanted.of_keys(*ours), Wanted.of_keys(*theirs)

    def _found(
        self,
        rows: tuple[Sequence[FedRow], Sequence[FedRow]],
        moved: tuple[Set[int], Set[int]],
        eras: tuple[FindEras, FindEras],
        write: Write | None,
    ) -> _Found:
        """Return the result of all rows of some keys. ``moved``: of ``Splitter.key_changes``."""
        layout, has_order = self.layout, self.options.order
        differing: list[tuple[Any, DifferingPair | DifferingKey]]
        if self.rules.is_final:
            counts, keys, backs = last_rows(rows, layout, moved, has_order=has_order)
            differing = [(order_of_key(each.key), each) for each in keys]
            unordered = 0
        else:
            summary = summary_of(rows, layout, eras, moved, has_order=has_order)
            counts, backs, unordered = summary.counts, summary.backs, summary.unordered
            differing = [(order_of_pair(each, layout), each) for each in summary.pairs]
        differing.sort(key=itemgetter(0))
        found = _Found(counts, unordered, backs)
        if not differing:
            return found
        first = _First(self.rules, self.options)
        found.patterns = groups_of(map(first.met, self._differences(differing, LONGEST_TEXT)))
        found.first = first.kept
        if write is not None:
            write(each for _, each in self._differences(differing, None))
        return found

    def _differences(
        self, differing: Iterable[tuple[Any, DifferingPair | DifferingKey]], longest: int | None
    ) -> Iterator[Ordered]:
        table, layout = self.sides.table, self.layout
        hidden = self.options.meaning.redacted_of(table)
        changed = ChangedRows(table, layout, hidden, longest)
        for place, each in differing:
            if isinstance(each, DifferingKey):
                rows = differences_of_key(each, layout, longest)
            else:
                difference = changed.of(each)
                if difference is not None:
                    yield (place, 0), difference
                    continue
                rows = differences_of_pair(each, layout, longest)
            for number, row in enumerate(rows):
                yield (place, number), difference_of(row, table, layout, hidden)

    def _merged(self, results: Sequence[_Found]) -> TableComparison:
        first = _First(self.rules, self.options)
        for one in sorted(chain.from_iterable(each.first for each in results), key=itemgetter(0)):
            first.met(one)
        backs = [position for each in results for position in each.backs]
        doubts = OrderDoubts(
            sum(each.unordered for each in results),
            len(backs),
            str(min(backs)) if backs else None,
            self.rules.position if backs else None,
        )
        return TableComparison(
            str(self.sides.table),
            reduce(add, (each.counts for each in results)),
            paired_by=self.layout.paired_by,
            in_halves=self.rules.in_halves,
            is_final=self.rules.is_final,
            against_table=self.rules.against_table,
            doubts=doubts,
            differences=tuple(difference for _, difference in first.kept),
            patterns=merged_patterns(each.patterns for each in results),
        )


class _First:
    """Keeps the first differences that it meets, of each kind if a table can have several."""

    def __init__(self, rules: ComparisonRules, options: CompareOptions) -> None:
        self.kept: list[Ordered] = []
        self._limit, self._has_kinds = options.limit, rules.against_table
        self._met: Counter[str] = Counter()

    def met(self, each: Ordered) -> Ordered:
        """Return a difference as it is."""
        kind = each[1].verdict if self._has_kinds else ""
        self._met[kind] += 1
        if self._met[kind] <= self._limit:
            self.kept.append(each)
        return each


def _joined(arrays: Sequence[Numbers]) -> Numbers:
    return np.concatenate(arrays) if arrays else np.empty(0, np.int64)
