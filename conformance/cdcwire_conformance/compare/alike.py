"""Pairs of similar rows in a table without key, and the causes of their differences.

Rows without a key are found on one side only. A row of each side with most values in common is
probably one row. The causes of the other values help more than two such rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire_conformance.compare.patterns import patterns_of
from cdcwire_conformance.compare.proposals import of_table
from cdcwire_conformance.compare.result import ColumnDifference, RowDifference, TableComparison


def alike_hints(table: TableComparison) -> Iterator[str]:
    """Yield the columns and causes of the differences between similar rows that are shown."""
    for pattern in patterns_of(_pairs(table.differences)):
        option = ""
        if pattern.option is not None:
            option = f"; {of_table(pattern.option, table.table)} accepts it"
        yield (
            f"{table.table} has no key; rows of both sides are alike except in {pattern.column}: "
            f"{pattern.text}{option}"
        )


def _pairs(differences: tuple[RowDifference, ...]) -> Iterator[RowDifference]:
    """Yield a changed row for each left row and the most similar right row."""
    alone = [each for each in differences if not each.key and each.columns]
    rest = [each for each in alone if each.verdict == "only right"]
    for left in alone:
        if left.verdict != "only left":
            continue
        found = [(len(columns), right) for right in rest if (columns := _different(left, right))]
        size, right = min(found, key=lambda each: each[0], default=(0, left))
        if 0 < size <= len(left.columns) // 2:
            rest.remove(right)
            columns = _different(left, right)
            yield replace(left, verdict="changed", columns=columns, right_count=right.right_count)


def _different(left: RowDifference, right: RowDifference) -> tuple[ColumnDifference, ...]:
    """Return the columns whose values differ; none if the rows have other columns."""
    others = {(each.image, each.column): each for each in right.columns}
    names = {(each.image, each.column) for each in left.columns}
    if left.op != right.op or names != others.keys():
        return ()
    pairs = [(each, others[each.image, each.column]) for each in left.columns]
    return tuple(replace(a, right=b.right) for a, b in pairs if a.left != b.right)
