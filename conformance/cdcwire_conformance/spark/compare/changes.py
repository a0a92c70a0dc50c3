"""Two DataFrames of one table's changes: equal change for change, or exactly how many differ.

Each change becomes a narrow row of its pair (key and position), two hashes of its content and the
side that it comes from. One shuffle by pair brings both sides together. Hashes that one side has
more often are differences; the rest of a pair on both sides is a change. Only counts come to the
driver. Where places are known, both sides come together by key, so that changes which come too late
are seen as well (see ``order``). If there are differences, their pairs are looked up again in both
frames, with all columns (see ``differences``). The first ones are shown, and all are grouped by
their causes (see ``patterns``).

``exact`` groups by all columns instead of their hashes: dearer, and beyond any doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import Window as Rows
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.layout import layout_of
from cdcwire_conformance.compare.masking import Mask
from cdcwire_conformance.compare.patterns import (
    PatternGroups,
    groups_of,
    merged_patterns,
    patterns_of,
)
from cdcwire_conformance.compare.result import (
    Counts,
    OrderDoubts,
    Pattern,
    TableComparison,
)
from cdcwire_conformance.compare.rules import DEFAULT_LIMIT, ComparisonRules, Window
from cdcwire_conformance.compare.shown_rows import LONGEST_TEXT, difference_of
from cdcwire_conformance.spark.compare.counting import Grouping, both_sides, summary_of_pairs
from cdcwire_conformance.spark.compare.differences import (
    rows_of_pairs,
    side_by_side,
    texts_of,
    write_differences,
)
from cdcwire_conformance.spark.compare.final_state import Look, states_of_pairs, summary_of_keys
from cdcwire_conformance.spark.compare.pairing import (
    Kept,
    narrow_changes,
    passing_name,
    wide_changes,
)
from cdcwire_conformance.spark.compare.splitting import Layout

DEFAULT_RULES = ComparisonRules()

_IMAGES = ("before", "after")
_TOLD_BY_BOTH = ("half", "before_has", "after_has")


def compare_frames(
    left: DataFrame,
    right: DataFrame,
    table: CanonicalTable,
    rules: ComparisonRules = DEFAULT_RULES,
    *,
    limit: int = DEFAULT_LIMIT,
    exact: bool = False,
    window: Window | None = None,
    order: bool = True,
    report: Callable[[str], None] = lambda text: None,
    differences_to: str | None = None,
    hidden: frozenset[str] = frozenset(),
    mask: Mask | None = None,
) -> TableComparison:
    """Compare two frames of ``event_schema(table)``, and name the first ``limit`` differences.

    Against a table, these are the first of each verdict.

    A frame may leave out source and error. If only one frame has half, before_has or after_has,
    that column is not compared, and ``left_out`` says so. ``window``: only changes in it.
    ``order``: find changes that come too late among those of their key, where ``source`` has
    offsets. ``report`` is called with each step. ``differences_to``: a folder to which all of them
    are written. ``hidden``: columns whose values are not shown. ``mask``: hides all values
    in ``differences_to``. If the schemas differ, no row is read. Raises: ValueError for a window
    without a position.
    """
    if limit < 0:
        raise ValueError(f"limit={limit} is less than 0")
    if window is not None and rules.position is None:
        raise ValueError("without a position there is no window")
    lines = frame_difference(left, right, table, rules)
    if lines:
        return TableComparison(str(table), None, schema_differences=tuple(lines))
    left_out = [name for name in _TOLD_BY_BOTH if _lacks_one(left, right, name)]
    has_places = "source" in left.columns or "source" in right.columns
    left, right = left.drop(*left_out), right.drop(*left_out)
    image = left.schema["after"].dataType
    assert isinstance(image, StructType)
    layout = layout_of(image.fields, table, rules, window)
    report(f"{table}: comparing both sides")
    if rules.is_final:
        looks: Look = "quick" if order and has_places and rules.position is not None else "none"
        summary, counts, _, doubts = _summed(
            summary_of_keys(left, right, layout, exact=exact, looks=looks)
        )
        if doubts.backwards:
            summary.unpersist()
            report(f"{table}: telling what was sent again from what goes back")
            summary, counts, _, doubts = _summed(
                summary_of_keys(left, right, layout, exact=exact, looks="whole")
            )
    else:
        summary, counts, doubts = _counted(
            (left, right),
            layout,
            lambda text: report(f"{table}: {text}"),
            has_order=order and has_places,
            has_places=has_places,
            exact=exact,
        )
    found = TableComparison(
        str(table),
        counts,
        left_out=tuple((name, "a frame has no such column") for name in left_out),
        paired_by=layout.paired_by,
        in_halves=rules.in_halves,
        is_final=rules.is_final,
        against_table=rules.against_table,
        doubts=replace(doubts, position=rules.position) if doubts.backwards else doubts,
    )
    try:
        if not counts.differing:
            return found
        pairs = summary.where("pair IS NOT NULL")
        report(f"{table}: looking up {counts.differing:,} differences")
        with _differences(left, right, layout, pairs) as rows:
            first = _first(rows, limit, by_kind=rules.against_table).orderBy("pair", "rank")
            shown = tuple(
                difference_of(row, table, layout, hidden)
                for row in texts_of(first, layout, LONGEST_TEXT).collect()
            )
            if counts.differing <= limit:
                patterns = patterns_of(shown)
            else:
                patterns = _patterns_in(texts_of(rows, layout, LONGEST_TEXT), table, layout, hidden)
            if rules.against_table:
                counts = replace(counts, stale=rows.where("kind = 'stale'").count())
            found = replace(found, counts=counts, differences=shown, patterns=patterns)
            if differences_to is not None:
                report(f"{table}: writing all of {counts.differing:,} differences")
                texts = texts_of(rows, layout)
                write_differences(texts, table, layout, differences_to, hidden=hidden, mask=mask)
        return found
    finally:
        summary.unpersist()


def _first(rows: DataFrame, limit: int, *, by_kind: bool) -> DataFrame:
    """Return the first differences. ``by_kind``: of each kind that a table can have."""
    in_order = rows.orderBy("pair", "rank")
    if not by_kind:
        return in_order.limit(limit)
    is_left_over, is_missing = F.col("left").isNull(), F.col("right").isNull()
    kind = F.when(is_left_over, "left over").when(is_missing, "missing").otherwise(F.col("kind"))
    number = F.row_number().over(Rows.partitionBy("verdict").orderBy("pair", "rank"))
    numbered = rows.withColumn("verdict", kind).withColumn("number", number)
    return numbered.where(F.col("number") <= limit).drop("verdict", "number")


def _patterns_in(
    texts: DataFrame, table: CanonicalTable, layout: Layout, hidden: frozenset[str]
) -> tuple[Pattern, ...]:
    """Return the patterns of the differences that ``texts_of`` gives, in one pass."""

    def groups(rows: Iterable[object]) -> Iterator[PatternGroups]:
        differences = (difference_of(row, table, layout, hidden) for row in rows)
        yield groups_of(enumerate(differences))

    return merged_patterns(texts.rdd.mapPartitions(groups).collect())


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


def _counted(
    sides: tuple[DataFrame, DataFrame],
    layout: Layout,
    report: Callable[[str], None],
    *,
    has_order: bool,
    has_places: bool,
    exact: bool,
) -> tuple[DataFrame, Counts, OrderDoubts]:
    """Return the counts of each pair that differs, persisted, and the sums of all.

    Where one side has more copies of a row than the other, it is done again with eras. Where both
    sides have several changes of a key at a position, it is done again with their order.
    """
    has_position = layout.rules.position is not None
    has_order &= has_position and bool(layout.keys)
    summary, counts, open_, doubts = _summed(
        _summary(*sides, layout, Kept(places=has_order), exact=exact)
    )
    has_eras = bool(open_.copied) and has_position and has_places
    if has_eras or open_.tied:
        summary.unpersist()
        report("telling what was sent again from doubles" if has_eras else "comparing the order")
        kept = Kept(places=has_order, eras=has_eras, ties=bool(open_.tied))
        summary, counts, _, doubts = _summed(_summary(*sides, layout, kept, exact=exact))
    return summary, counts, doubts


def _summary(
    left: DataFrame, right: DataFrame, layout: Layout, kept: Kept, *, exact: bool
) -> DataFrame:
    """Return the counts of each pair that differs, and in one row without a pair all others'.

    The others are equal pairs and unreadable rows, so that this is small where little differs.
    """
    changes = wide_changes if exact else narrow_changes
    ours, theirs = (changes(frame, layout, kept) for frame in (left, right))
    by = Grouping(
        ("is_unknown", *layout.pair_names),
        ("is_readable", *(layout.content if exact else ("row_a", "row_b"))),
        layout.key_names if kept.places else (),
        passing_name(layout),
        kept.eras,
        kept.ties,
        kept.places and layout.rules.has_reads_as_inserts,
    )
    return summary_of_pairs(both_sides(ours, theirs, by), by, F.struct(*layout.pair_names))


class _Open(NamedTuple):
    """Pairs that need another look: with copies that eras may separate, or with an order."""

    copied: int
    tied: int


def _summed(summary: DataFrame) -> tuple[DataFrame, Counts, _Open, OrderDoubts]:
    """Return the frame persisted, its counts, what needs another look, and what is in doubt."""
    summary = summary.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        return summary, *_sums(summary)
    except BaseException:
        summary.unpersist()
        raise


def _sums(summary: DataFrame) -> tuple[Counts, _Open, OrderDoubts]:
    names = [name for name in summary.columns if name not in ("pair", "first_back")]
    sums = [F.sum(name).alias(name) for name in names]
    if "first_back" in summary.columns:
        sums.append(F.min("first_back").cast("string").alias("first_back"))
    (row,) = summary.agg(*sums).collect()
    found = {name: row[name] or 0 for name in names}
    open_ = _Open(*(found.pop(name, 0) for name in _Open._fields))
    unordered, backwards = (found.pop(name, 0) for name in ("unordered", "backwards"))
    for name in ("unread_left", "unread_right"):
        found.pop(name, None)
    first_back = row["first_back"] if backwards else None
    return Counts(**found), open_, OrderDoubts(unordered, backwards, first_back)


@contextmanager
def _differences(
    left: DataFrame, right: DataFrame, layout: Layout, pairs: DataFrame
) -> Iterator[DataFrame]:
    """Give the differences of some pairs, a row each, as ``texts_of`` takes them."""
    if layout.rules.is_final:
        found = states_of_pairs(left, right, layout, pairs).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            yield found
        finally:
            found.unpersist()
        return
    rows = rows_of_pairs(left, right, layout, pairs).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield side_by_side(rows)
    finally:
        rows.unpersist()
