"""Two sides of a table as Arrow batches: equal, or exactly how they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from cdcwire_conformance.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.embedded.changes import ColumnChanges, rows_in
from cdcwire_conformance.compare.embedded.counting import summary_of
from cdcwire_conformance.compare.embedded.differences import (
    differences_of_keys,
    differences_of_pairs,
)
from cdcwire_conformance.compare.embedded.final_state import last_rows
from cdcwire_conformance.compare.layout import layout_of
from cdcwire_conformance.compare.patterns import patterns_of
from cdcwire_conformance.compare.result import RowDifference, TableComparison
from cdcwire_conformance.compare.rules import CompareOptions, ComparisonRules
from cdcwire_conformance.compare.shown_rows import LONGEST_TEXT, Collected, difference_of

Write = Callable[[Iterable[RowDifference]], None]


@dataclass(frozen=True, slots=True)
class TableSides:
    """The decoded rows of a table on both sides.

    ``image``: the struct of ``before`` and ``after``. ``changes``: of values, before they compare.
    """

    table: CanonicalTable
    image: pa.DataType
    left: Sequence[pa.RecordBatch]
    right: Sequence[pa.RecordBatch]
    changes: ColumnChanges = field(default_factory=ColumnChanges)


def compare_batches(
    sides: TableSides,
    rules: ComparisonRules,
    options: CompareOptions,
    write: Write | None = None,
) -> TableComparison:
    """Compare the rows of both sides. ``write`` is called with all differences, if any."""
    table = sides.table
    fields = [sides.image.field(index) for index in range(sides.image.num_fields)]
    columns = [each.with_name(name) for each, name in zip(fields, table.column_names, strict=True)]
    layout = layout_of(columns, table, rules, options.window)
    rows = tuple(list(rows_in(side, layout, sides.changes)) for side in (sides.left, sides.right))
    if rules.is_final:
        counts, keys = last_rows((rows[0], rows[1]), layout)

        def found(longest: int | None) -> Iterator[Collected]:
            return differences_of_keys(keys, layout, longest)
    else:
        summary = summary_of((rows[0], rows[1]), layout, has_order=options.order)
        counts = summary.counts

        def found(longest: int | None) -> Iterator[Collected]:
            return differences_of_pairs(summary.pairs, layout, longest)

    compared = TableComparison(
        str(table),
        counts,
        paired_by=layout.paired_by,
        in_halves=rules.in_halves,
        is_final=rules.is_final,
        against_table=rules.against_table,
    )
    if not counts.differing:
        return compared
    hidden = options.meaning.redacted_of(table)
    differences = [difference_of(each, table, layout, hidden) for each in found(LONGEST_TEXT)]
    if write is not None:
        write(difference_of(each, table, layout, hidden) for each in found(None))
    return replace(
        compared,
        differences=tuple(differences[: options.limit]),
        patterns=patterns_of(differences),
    )
