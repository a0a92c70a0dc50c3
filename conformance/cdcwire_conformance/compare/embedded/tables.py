"""Two sides of a table as Arrow batches: equal, or exactly how they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.embedded.changed_rows import ChangedRows
from cdcwire_conformance.compare.embedded.changes import ColumnChanges, rows_in
from cdcwire_conformance.compare.embedded.counting import summary_of
from cdcwire_conformance.compare.embedded.differences import (
    differences_of_keys,
    differences_of_pair,
    in_order,
)
from cdcwire_conformance.compare.embedded.final_state import last_rows
from cdcwire_conformance.compare.layout import layout_of
from cdcwire_conformance.compare.narrow.equal import unsettled_rows
from cdcwire_conformance.compare.narrow.places import Eras
from cdcwire_conformance.compare.narrow.rows import narrow_rows
from cdcwire_conformance.compare.patterns import patterns_of
from cdcwire_conformance.compare.result import RowDifference, TableComparison
from cdcwire_conformance.compare.rules import CompareOptions, ComparisonRules
from cdcwire_conformance.compare.shown_rows import LONGEST_TEXT, difference_of

Write = Callable[[Iterable[RowDifference]], None]


class TooManyRows(Exception):
    """More rows have to be compared by the rules than were allowed."""


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
    sides: TableSides,
    rules: ComparisonRules,
    options: CompareOptions,
    write: Write | None = None,
    most_rows: int | None = None,
) -> TableComparison:
    """Compare the rows of both sides. ``write`` is called with all differences, if any.

    ``most_rows``: how many rows may become Python objects, as those of keys that are not surely
    equal do. Raises: TooManyRows.
    """
    table = sides.table
    fields = [sides.image.field(index) for index in range(sides.image.num_fields)]
    columns = [each.with_name(name) for each, name in zip(fields, table.column_names, strict=True)]
    layout = layout_of(columns, table, rules, options.window)
    batches = sides.left, sides.right
    narrow = tuple(
        narrow_rows(own, layout, changes, has_position=not (rules.against_table and number))
        for number, (own, changes) in enumerate(zip(batches, sides.changes, strict=True))
    )
    left = unsettled_rows(narrow[0], narrow[1], layout, settles=not options.exact)
    if most_rows is not None and sum(map(np.count_nonzero, left.wanted)) > most_rows:
        raise TooManyRows
    rows = tuple(
        list(rows_in(own, layout, changes, wanted))
        for own, changes, wanted in zip(batches, sides.changes, left.wanted, strict=True)
    )
    hidden = options.meaning.redacted_of(table)
    if rules.is_final:
        counts, keys, doubts = last_rows((rows[0], rows[1]), layout, has_order=options.order)

        def found(longest: int | None) -> Iterator[RowDifference]:
            for each in differences_of_keys(keys, layout, longest):
                yield difference_of(each, table, layout, hidden)
    else:
        eras = tuple(partial(Eras, each.places, each.position) for each in narrow)
        summary = summary_of(
            (rows[0], rows[1]), layout, (eras[0], eras[1]), has_order=options.order
        )
        counts, doubts = summary.counts, summary.doubts

        def found(longest: int | None) -> Iterator[RowDifference]:
            changed = ChangedRows(table, layout, hidden, longest)
            for pair in in_order(summary.pairs, layout):
                difference = changed.of(pair)
                if difference is not None:
                    yield difference
                    continue
                for each in differences_of_pair(pair, layout, longest):
                    yield difference_of(each, table, layout, hidden)

    counts += left.settled
    compared = TableComparison(
        str(table),
        counts,
        paired_by=layout.paired_by,
        in_halves=rules.in_halves,
        is_final=rules.is_final,
        against_table=rules.against_table,
        doubts=doubts,
    )
    if not counts.differing:
        return compared
    first: list[RowDifference] = []
    shown: Counter[str] = Counter()  # of each kind, if a table can have several

    def differences() -> Iterator[RowDifference]:
        for difference in found(LONGEST_TEXT):
            kind = difference.verdict if rules.against_table else ""
            if shown[kind] < options.limit:
                shown[kind] += 1
                first.append(difference)
            yield difference

    patterns = patterns_of(differences())
    if write is not None:
        write(found(None))
    return replace(compared, differences=tuple(first), patterns=patterns)
