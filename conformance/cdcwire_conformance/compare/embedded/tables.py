"""Two sides of a table as Arrow batches: equal, or exactly how they differ.

The rows of some keys are compared by themselves, and the results are added. Only the eras of a feed
and the updates in two records that change a key are found in all rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.embedded.changes import (
    ColumnChanges,
    FedRow,
    Layout,
    Place,
    Splitter,
    Wanted,
    is_in,
    rows_in,
)
from cdcwire_conformance.compare.embedded.counting import (
    DifferingPair,
    ErasUnknown,
    FindEras,
    summary_of,
)
from cdcwire_conformance.compare.embedded.differences import (
    ChangedRows,
    differences_of_key,
    differences_of_pair,
    order_of_key,
    order_of_pair,
)
from cdcwire_conformance.compare.embedded.final_state import DifferingKey, last_rows
from cdcwire_conformance.compare.layout import layout_of
from cdcwire_conformance.compare.narrow.buckets import Buckets, buckets_of
from cdcwire_conformance.compare.narrow.digests import Numbers
from cdcwire_conformance.compare.narrow.equal import unsettled_rows
from cdcwire_conformance.compare.narrow.places import Eras
from cdcwire_conformance.compare.narrow.rows import NarrowRows, narrow_batch, narrow_rows
from cdcwire_conformance.compare.patterns import (
    PatternGroups,
    groups_of,
    joined_groups,
    patterns_in,
)
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
Batches: TypeAlias = "Iterable[pa.RecordBatch]"
Bucket: TypeAlias = "tuple[int, int]"
"""The number of a bucket of keys, and how many buckets there are."""
Here: TypeAlias = "tuple[Numbers, Numbers]"
"""For each row, whether the keys of its images before and after are compared here."""

WHOLE: Bucket = (0, 1)

ROWS_TOGETHER = 50_000
"""How many rows are Python objects at a time, unless a key has more."""


@dataclass(slots=True)
class PartResult:
    """The result of some keys.

    ``first``: the first differences, in their order. ``unordered``, ``backs``: as in ``Summary``.
    ``lacks_eras``: nothing is counted, as its copies are in eras that are not known.
    """

    counts: Counts = field(default_factory=Counts)
    unordered: int = 0
    backs: Sequence[Place] = ()
    first: list[Ordered] = field(default_factory=list)
    patterns: PatternGroups = field(default_factory=dict)
    lacks_eras: bool = False


@dataclass(frozen=True, slots=True)
class WholeSides:
    """What is found in all rows of the two sides.

    ``key_changes``: of ``Splitter.key_changes``. ``eras``: of each side; None: not known.
    """

    key_changes: tuple[Set[int], Set[int]] = (frozenset(), frozenset())
    eras: tuple[Eras, Eras] | None = None

    def find_eras(self) -> tuple[Eras, Eras]:
        """Return the eras of both sides. Raises: ErasUnknown."""
        if self.eras is None:
            raise ErasUnknown
        return self.eras


@dataclass(frozen=True)
class ComparedTable:
    """A table, and how its two sides are compared. Each side is numbered, 0 or 1.

    ``image``: the struct of ``before`` and ``after``. ``changes``: of the values of each side,
    before they compare. Batches are read several times.
    """

    table: CanonicalTable
    image: pa.DataType
    rules: ComparisonRules
    options: CompareOptions
    changes: tuple[ColumnChanges, ColumnChanges] = (ColumnChanges(), ColumnChanges())

    @cached_property
    def layout(self) -> Layout:
        """Return how the changes pair."""
        image, table = self.image, self.table
        fields = [image.field(index) for index in range(image.num_fields)]
        columns = [
            each.with_name(name) for each, name in zip(fields, table.column_names, strict=True)
        ]
        return layout_of(columns, table, self.rules, self.options.window)

    def compared(
        self, left: Batches, right: Batches, write: Write | None = None
    ) -> TableComparison:
        """Compare all rows of both sides. ``write`` is called with the differences of some keys."""
        return self.merged([self.part(left, right, write=write)])

    def part(
        self,
        left: Batches,
        right: Batches,
        bucket: Bucket = WHOLE,
        known: WholeSides | None = None,
        *,
        write: Write | None = None,
    ) -> PartResult:
        """Compare the keys of a bucket. ``left``, ``right``: all rows that have such a key.

        ``known``: None if they are all rows of their sides. ``write``: as in ``compared``.
        """
        sides = left, right
        ours, theirs = (self.narrow(side, number) for number, side in enumerate(sides))
        here = self._here(left, 0, bucket), self._here(right, 1, bucket)
        for rows, (before, after) in zip((ours, theirs), here, strict=True):
            rows.is_doubtful |= ~np.where(rows.has_row, after, before)
        open_ = unsettled_rows(ours, theirs, self.layout, self.options)
        if known is None:
            moved = self.key_changes(left, 0), self.key_changes(right, 1)
            find_eras: FindEras = cache(lambda: (ours.eras(), theirs.eras()))
        else:
            moved, find_eras = known.key_changes, known.find_eras
        found = [PartResult(open_.settled, open_.unordered)]
        try:
            for wanted in self._in_buckets(sides, open_.wanted, here):
                mine, other = (
                    list(rows_in(side, self.layout, changes, flags))
                    for side, changes, flags in zip(sides, self.changes, wanted, strict=True)
                )
                found.append(self._found((mine, other), moved, find_eras, write))
        except ErasUnknown:
            return PartResult(lacks_eras=True)
        return self._joined(found)

    def narrow_batch(self, batch: pa.RecordBatch, side: int) -> pa.RecordBatch:
        """Return rows as numbers, for ``narrow_rows``."""
        has_position = not (self.rules.against_table and side)
        return narrow_batch(batch, self.layout, self.changes[side], has_position=has_position)

    def narrow(self, batches: Batches, side: int) -> NarrowRows:
        """Return the rows of a side as numbers."""
        return narrow_rows(self.narrow_batch(each, side) for each in batches)

    def key_changes(self, batches: Batches, side: int) -> Set[int]:
        """Return the updates in two records that change a key."""
        if not self.rules.joins_halves:
            return frozenset()
        halves = [each.filter(each.column("half").is_valid()) for each in batches]
        size = sum(each.num_rows for each in halves)
        wanted = Wanted.whole(np.broadcast_to(np.True_, size))
        rows = rows_in(halves, self.layout, self.changes[side], wanted)
        window = self.layout.window
        return Splitter(self.layout).key_changes(
            [row for row in rows if is_in(row.position, window)]
        )

    def buckets(self, batch: pa.RecordBatch, side: int, count: int) -> Buckets:
        """Return the buckets of rows."""
        return buckets_of(batch, self.layout, self.changes[side], count)

    def _here(self, batches: Batches, side: int, bucket: Bucket) -> Here:
        """Return which rows have the key of their image before, and after, in a bucket."""
        number, count = bucket
        if count == 1:
            every = np.broadcast_to(np.True_, sum(each.num_rows for each in batches))
            return every, every
        before, after = self._all_buckets(batches, side, count)
        return before == number, after == number

    def _all_buckets(self, batches: Batches, side: int, count: int) -> Buckets:
        of_batches = [self.buckets(each, side, count) for each in batches]
        before, after = zip(*of_batches, strict=True) if of_batches else ((), ())
        return _joined(before), _joined(after)

    def _in_buckets(
        self,
        sides: tuple[Batches, Batches],
        flags: tuple[Numbers, Numbers],
        here: tuple[Here, Here],
    ) -> Iterator[tuple[Wanted, Wanted]]:
        """Yield the flagged rows of both sides, those of some keys at a time if they are many."""
        count = -(-sum(map(np.count_nonzero, flags)) // ROWS_TOGETHER)
        if count <= 1:
            yield Wanted.of_keys(flags[0], here[0]), Wanted.of_keys(flags[1], here[1])
            return
        buckets = [self._all_buckets(each, side, count) for side, each in enumerate(sides)]
        for number in range(count):
            ours, theirs = (
                Wanted.of_keys(own, (before & (old == number), after & (new == number)))
                for own, (before, after), (old, new) in zip(flags, here, buckets, strict=True)
            )
            yield ours, theirs

    def _found(
        self,
        rows: tuple[Sequence[FedRow], Sequence[FedRow]],
        moved: tuple[Set[int], Set[int]],
        find_eras: FindEras,
        write: Write | None,
    ) -> PartResult:
        """Return the result of all rows of some keys. Raises: ErasUnknown."""
        layout, has_order = self.layout, self.options.order
        differing: list[tuple[Any, DifferingPair | DifferingKey]]
        if self.rules.is_final:
            counts, keys, backs = last_rows(rows, layout, moved, has_order=has_order)
            differing = [(order_of_key(each.key), each) for each in keys]
            unordered = 0
        else:
            summary = summary_of(rows, layout, find_eras, moved, has_order=has_order)
            counts, backs, unordered = summary.counts, summary.backs, summary.unordered
            differing = [(order_of_pair(each, layout), each) for each in summary.pairs]
        differing.sort(key=itemgetter(0))
        found = PartResult(counts, unordered, backs)
        if not differing:
            return found
        first = _First(self.rules, self.options)
        found.patterns = groups_of(map(first.met, self._differences(differing, LONGEST_TEXT)))
        found.first, found.counts = first.kept, replace(counts, released=first.released)
        if write is not None:
            write(each for _, each in self._differences(differing, None))
        return found

    def _differences(
        self, differing: Iterable[tuple[Any, DifferingPair | DifferingKey]], longest: int | None
    ) -> Iterator[Ordered]:
        table, layout = self.table, self.layout
        hidden = self.options.meaning.redacted_of(table)
        changed = ChangedRows(table, layout, hidden, longest)
        for place, each in differing:
            if isinstance(each, DifferingKey):
                rows = differences_of_key(each, layout, longest)
            else:
                difference = changed.of(each)
                if difference is not None:
                    yield (place, 0), self._explained(difference)
                    continue
                rows = differences_of_pair(each, layout, longest)
            for number, row in enumerate(rows):
                difference = difference_of(row, table, layout, hidden)
                yield (place, number), self._explained(difference)

    def _explained(self, difference: RowDifference) -> RowDifference:
        return self.options.meaning.upgrade.explained(difference, self.rules.position)

    def _joined(self, results: Sequence[PartResult]) -> PartResult:
        first = _First(self.rules, self.options)
        for one in sorted(chain.from_iterable(each.first for each in results), key=itemgetter(0)):
            first.met(one)
        return PartResult(
            sum((each.counts for each in results), Counts()),
            sum(each.unordered for each in results),
            [position for each in results for position in each.backs],
            first.kept,
            joined_groups(each.patterns for each in results),
        )

    def merged(self, results: Sequence[PartResult]) -> TableComparison:
        """Return the comparison of the table from the results of all of its keys."""
        found = self._joined(results)
        backs = found.backs
        doubts = OrderDoubts(
            found.unordered,
            len(backs),
            str(min(backs)) if backs else None,
            self.rules.position if backs else None,
        )
        return TableComparison(
            str(self.table),
            found.counts,
            paired_by=self.layout.paired_by,
            in_halves=self.rules.in_halves,
            is_final=self.rules.is_final,
            against_table=self.rules.against_table,
            doubts=doubts,
            differences=tuple(difference for _, difference in found.first),
            patterns=patterns_in(found.patterns),
        )


class _First:
    """Keeps the first differences that it meets, of each kind if a table can have several.

    ``released``: how many of all a release explains.
    """

    def __init__(self, rules: ComparisonRules, options: CompareOptions) -> None:
        self.kept: list[Ordered] = []
        self.released = 0
        self._limit, self._has_kinds = options.limit, rules.against_table
        self._met: Counter[str] = Counter()

    def met(self, each: Ordered) -> Ordered:
        """Return a difference as it is."""
        if each[1].is_of_release:
            self.released += each[1].weight
        kind = each[1].verdict if self._has_kinds else ""
        self._met[kind] += 1
        if self._met[kind] <= self._limit:
            self.kept.append(each)
        return each


def _joined(arrays: Sequence[Numbers]) -> Numbers:
    return np.concatenate(arrays) if arrays else np.empty(0, np.int64)
