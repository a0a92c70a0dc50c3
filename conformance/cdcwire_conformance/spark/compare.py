"""Two DataFrames of one table's changes: equal as multisets, or exactly how many rows differ.

The way: each change becomes a narrow row of its pair (key and position), two hashes of its content
and the side that it comes from. One shuffle by pair brings both sides together; hashes that one
side has more often are differences, and what is left of a pair on both sides is a change. Only
counts come to the driver. If there are differences, the first pairs are looked up again in both
frames, with all columns (see ``difference``).

``exact`` groups by all columns instead of their hashes: dearer, and beyond any doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from cdcwire_conformance.arrow.schema import CanonicalTable
from cdcwire_conformance.spark.counting import both_sides, summary_of_pairs
from cdcwire_conformance.spark.difference import rows_of_pairs, side_by_side
from cdcwire_conformance.spark.pairing import Layout, layout_of, narrow_changes, wide_changes
from cdcwire_conformance.spark.result import Counts, RowDifference, TableComparison
from cdcwire_conformance.spark.rules import Rules
from cdcwire_conformance.spark.showing import difference_of, texts_of

DEFAULT_LIMIT = 20
DEFAULT_RULES = Rules()

_IMAGES = ("before", "after")
_TOLD_BY_BOTH = ("half", "before_has", "after_has")


def compare_frames(
    left: DataFrame,
    right: DataFrame,
    table: CanonicalTable,
    rules: Rules = DEFAULT_RULES,
    *,
    limit: int = DEFAULT_LIMIT,
    exact: bool = False,
    report: Callable[[str], None] = lambda text: None,
) -> TableComparison:
    """Compare two frames of ``event_schema(table)``, and name the first ``limit`` differences.

    A frame may leave out source and error. What only one has of half, before_has and after_has is
    not compared, and ``left_out`` says so. ``report`` is told what is being done. If the schemas
    differ, no row is read.
    """
    if limit < 0:
        raise ValueError(f"limit={limit} is less than 0")
    lines = frame_difference(left, right, table, rules)
    if lines:
        return TableComparison(str(table), None, schema_differences=tuple(lines))
    left_out = [name for name in _TOLD_BY_BOTH if _lacks_one(left, right, name)]
    left, right = left.drop(*left_out), right.drop(*left_out)
    image = left.schema["after"].dataType
    assert isinstance(image, StructType)
    layout = layout_of(image, table, rules)
    report(f"{table}: comparing both sides")
    summary = _summary(left, right, layout, exact).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        reasons = tuple((name, "a frame has no such column") for name in left_out)
        found = TableComparison(
            str(table),
            _counts(summary),
            left_out=reasons,
            paired_by=layout.paired_by,
            in_halves=rules.in_halves,
        )
        counts = found.counts
        if counts is None or not counts.differing or not limit:
            return found
        report(f"{table}: looking up the first of {counts.differing:,} differences")
        pairs = summary.where("pair IS NOT NULL").orderBy("pair").limit(limit).select("pair")
        return replace(
            found, differences=_first_differences(left, right, table, layout, pairs, limit)
        )
    finally:
        summary.unpersist()


def frame_difference(
    left: DataFrame, right: DataFrame, table: CanonicalTable, rules: Rules = DEFAULT_RULES
) -> list[str]:
    """Return what keeps two frames from being compared, a line each, from their schemas only."""
    lines = []
    positions = [] if rules.position is None else [rules.position]
    for name in ("op", *positions, *rules.fields):
        lines += _kind_difference(name, _kind(left, name), _kind(right, name))
    for image in _IMAGES:
        ours, theirs = (_fields(frame, image) for frame in (left, right))
        for side, found in (("left", ours), ("right", theirs)):
            if found is None:
                lines.append(f"{image}: the {side} frame has no such struct")
        if ours is None or theirs is None:
            continue
        for name in table.column_names:
            lines += _kind_difference(f"{image}.{name}", ours.get(name), theirs.get(name))
    return lines


def _lacks_one(left: DataFrame, right: DataFrame, name: str) -> bool:
    return (name in left.columns) != (name in right.columns)


def _kind_difference(name: str, left: DataType | None, right: DataType | None) -> list[str]:
    if left is None or right is None:
        sides = (
            "neither side"
            if left is right
            else f"only the {'left' if right is None else 'right'} side"
        )
        return [f"{name}: {sides} has it"]
    ours, theirs = (kind.simpleString() for kind in (left, right))
    return [] if ours == theirs else [f"{name}: {ours} on the left, {theirs} on the right"]


def _kind(frame: DataFrame, name: str) -> DataType | None:
    return frame.schema[name].dataType if name in frame.columns else None


def _fields(frame: DataFrame, image: str) -> dict[str, DataType] | None:
    kind = _kind(frame, image)
    if not isinstance(kind, StructType):
        return None
    return {field.name: field.dataType for field in kind.fields}


def _summary(left: DataFrame, right: DataFrame, layout: Layout, exact: bool) -> DataFrame:
    """Return the counts of each pair that differs, and in one row without a pair all others'.

    The others are equal pairs and unreadable rows, so that this is small where little differs.
    """
    if exact:
        sides = wide_changes(left, layout), wide_changes(right, layout)
        content: tuple[str, ...] = layout.content
    else:
        sides = narrow_changes(left, layout), narrow_changes(right, layout)
        content = ("row_a", "row_b")
    return summary_of_pairs(both_sides(*sides, content))


def _counts(summary: DataFrame) -> Counts:
    names = [field.name for field in fields(Counts)]
    (row,) = summary.agg(*(F.sum(name).alias(name) for name in names)).collect()
    return Counts(**{name: row[name] or 0 for name in names})


def _first_differences(
    left: DataFrame,
    right: DataFrame,
    table: CanonicalTable,
    layout: Layout,
    pairs: DataFrame,
    limit: int,
) -> tuple[RowDifference, ...]:
    rows = rows_of_pairs(left, right, layout, pairs).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        first = side_by_side(rows).orderBy("pair", "rank").limit(limit)
        found = texts_of(first, layout).collect()
    finally:
        rows.unpersist()
    return tuple(difference_of(row, table, layout) for row in found)
