"""Two DataFrames of one table's changes: equal change for change, or exactly how they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DataType, StructType

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.embedded.tables import ComparedTable
from cdcwire_conformance.compare.result import TableComparison
from cdcwire_conformance.compare.rules import DEFAULT_OPTIONS, CompareOptions, ComparisonRules
from cdcwire_conformance.spark.compare.large_tables import compare_large
from cdcwire_conformance.spark.compare.shuffle import sent_frame

DEFAULT_RULES = ComparisonRules()

_IMAGES = ("before", "after")
_TOLD_BY_BOTH = ("half", "before_has", "after_has")
_SOURCE = "topic: string, partition: int, offset: bigint, file: string, line: bigint, row: bigint"
_OTHERS = {
    "half": "string",
    "before_has": "binary",
    "after_has": "binary",
    "sequence_id": "decimal(20,0)",
    "partition": "bigint",
    "source": f"struct<{_SOURCE}>",
    "error": "struct<offset: bigint, path: string, clause: string, problem: string>",
}
"""Columns that frames may leave out, and their types."""


def compare_frames(
    left: DataFrame,
    right: DataFrame,
    table: CanonicalTable,
    rules: ComparisonRules = DEFAULT_RULES,
    options: CompareOptions = DEFAULT_OPTIONS,
    *,
    report: Callable[[str], None] = lambda text: None,
) -> TableComparison:
    """Compare two frames of ``event_schema(table)``, and name the first ``limit`` differences.

    Against a table, these are the first of each verdict.

    A frame may leave out source and error. If only one frame has half, before_has or after_has,
    that column is not compared, and ``left_out`` says so. The options that count are limit, exact,
    window, order, differences_to and mask. ``report`` is called with each step. If the schemas
    differ, no row is read. Raises: ValueError for a window without a position.
    """
    if options.limit < 0:
        raise ValueError(f"limit={options.limit} is less than 0")
    if options.window is not None and rules.position is None:
        raise ValueError("without a position there is no window")
    lines = frame_difference(left, right, table, rules)
    if lines:
        return TableComparison(str(table), None, schema_differences=tuple(lines))
    left_out = [name for name in _TOLD_BY_BOTH if _lacks_one(left, right, name)]
    has_places = "source" in left.columns or "source" in right.columns
    sides = [_read_columns(each.drop(*left_out), table, rules) for each in (left, right)]
    image = to_arrow_schema(sides[0].select("after").schema).field(0).type
    compared = ComparedTable(
        table, image, rules, replace(options, order=options.order and has_places)
    )
    found = compare_large(
        left.sparkSession,
        compared,
        (lambda send: sent_frame(sides[0], send), lambda send: sent_frame(sides[1], send)),
        lambda text: report(f"{table}: {text}"),
    )
    return replace(found, left_out=tuple((name, "a frame has no such column") for name in left_out))


def _read_columns(frame: DataFrame, table: CanonicalTable, rules: ComparisonRules) -> DataFrame:
    """Return a frame with all columns that the comparison reads, and no others.

    Each column of each row costs Spark time on the way to Python.
    """
    for image in _IMAGES:
        if list(_fields(frame, image) or ()) != list(table.column_names):
            values = (F.col(image).getField(name).alias(name) for name in table.column_names)
            frame = frame.withColumn(image, F.when(F.col(image).isNotNull(), F.struct(*values)))
    lacking = {name: kind for name, kind in _OTHERS.items() if name not in frame.columns}
    found = frame.withColumns({name: F.lit(None).cast(kind) for name, kind in lacking.items()})
    positions = [] if rules.position is None else [rules.position]
    return found.select(*dict.fromkeys(("op", *positions, *rules.fields, *_IMAGES, *_OTHERS)))


def frame_difference(
    left: DataFrame, right: DataFrame, table: CanonicalTable, rules: ComparisonRules = DEFAULT_RULES
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
