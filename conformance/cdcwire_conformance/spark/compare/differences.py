"""The differences of a comparison: looked up, as text for people, and as Parquet.

- Lookup: both frames are cut down to the differing pairs by a broadcast join and grouped in exact
  form. So no hash decides which rows are shown. Rows of one side pair with rows of the other side
  within their pair. Rows of the same op come first, then the rest, each in the order of their feed.
- Text: Spark turns values to text, and of a changed row only the values that differ; the driver
  gets at most ``LONGEST_TEXT`` characters of each. Presence bits distinguish an absent column from
  NULL.
- Parquet: a row for each column that differs, made in the workers by the code that makes the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from cdcwire.model.kind_text import kind_text
from cdcwire_conformance.arrow.schema import CanonicalTable
from cdcwire_conformance.arrow.types import SchemaError
from cdcwire_conformance.spark.compare.counting import Grouping, both_sides
from cdcwire_conformance.spark.compare.images import text_of
from cdcwire_conformance.spark.compare.pairing import changes_of_pairs
from cdcwire_conformance.spark.compare.result import (
    ABSENT,
    ColumnDifference,
    ImageName,
    RowDifference,
    RowPlace,
    RowVerdict,
    Shown,
)
from cdcwire_conformance.spark.compare.splitting import PairLayout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LAST = 1 << 30  # after all ranks of a pair's rows
_ORDER_COUNTS = ("out_of_order_left", "out_of_order_right")


def rows_of_pairs(
    left: DataFrame, right: DataFrame, layout: PairLayout, pairs: DataFrame
) -> DataFrame:
    """Return the rows of these pairs that differ, each once.

    ``pairs``: of ``counting.summary_of_pairs``. Columns: pair, feed_order, is_repeated (some copies
    of the pair were sent again, and none is a double), out_of_order_left, out_of_order_right, and
    ``it``. ``it`` is a struct of ``row`` (the content), left, right (counts), left_source,
    right_source (the first sources).
    """
    wanted = pairs.select("pair")
    ours, theirs = (changes_of_pairs(frame, layout, wanted) for frame in (left, right))
    first = F.struct("feed_order", "source")
    kept = [
        F.min(F.when(F.col("is_left"), first)).alias("left_first"),
        F.min(F.when(~F.col("is_left"), first)).alias("right_first"),
    ]
    rows = both_sides(ours, theirs, Grouping(("pair",), layout.content), kept)
    is_again = F.col("doubled_left") + F.col("doubled_right") == 0
    counted = pairs.select("pair", is_again.alias("is_repeated"), *_ORDER_COUNTS)
    rows = rows.join(counted, "pair").where(
        "left <> right OR out_of_order_left + out_of_order_right > 0"
    )
    return rows.select(
        "pair",
        "is_repeated",
        *_ORDER_COUNTS,
        F.coalesce("left_first.feed_order", "right_first.feed_order").alias("feed_order"),
        F.struct(
            F.struct(*layout.content).alias("row"),
            "left",
            "right",
            F.col("left_first.source").alias("left_source"),
            F.col("right_first.source").alias("right_source"),
        ).alias("it"),
    )


def side_by_side(rows: DataFrame) -> DataFrame:
    """Return a row for each difference: pair, rank in it, kind, and ``left`` and ``right``.

    These are ``it`` of ``rows_of_pairs``, NULL where that side has nothing to show. ``kind``:
    "changed" also for rows of one side, "repeated", "doubled", "out of order". Use a persisted
    frame: it is read four times.
    """
    copies = {side: F.col("it").getField(side) for side in ("left", "right")}
    is_left = copies["right"] == 0
    is_right = copies["left"] == 0
    lonely = rows.where(is_left | is_right).select(
        "pair", "it", "feed_order", is_left.alias("is_left"), F.col("it.row.op").alias("op")
    )
    by_op = Window.partitionBy("pair", "is_left", "op").orderBy("feed_order")
    ranked = lonely.withColumn("rank", F.row_number().over(by_op))
    met = ranked.groupBy("pair", "op", "rank").agg(*_sides())
    is_met = F.col("left").isNotNull() & F.col("right").isNotNull()
    rest = met.where(~is_met).select(
        "pair",
        "op",
        "rank",
        F.coalesce("left", "right").alias("it"),
        F.col("left").isNotNull().alias("is_left"),
    )
    by_side = Window.partitionBy("pair", "is_left").orderBy("op", "rank")
    rest = rest.withColumn("rank", F.row_number().over(by_side))
    rest = rest.groupBy("pair", "rank").agg(*_sides())
    is_on_both = (copies["left"] > 0) & (copies["right"] > 0)
    copied = rows.where(is_on_both & (copies["left"] != copies["right"])).select(
        "pair",
        F.lit(0).alias("rank"),
        F.when(F.col("is_repeated"), "repeated").otherwise("doubled").alias("kind"),
        F.col("it").alias("left"),
        F.col("it").alias("right"),
    )
    changed = met.where(is_met).select("pair", "rank", "left", "right").unionByName(rest)
    changed = changed.withColumn("kind", F.lit("changed"))
    return copied.unionByName(changed).unionByName(_out_of_order(rows))


def _out_of_order(rows: DataFrame) -> DataFrame:
    """Return a row for each pair that comes too late, where that side has it."""
    found = []
    for side in ("left", "right"):
        is_late = (F.col(f"out_of_order_{side}") > 0) & (F.col("it").getField(side) > 0)
        first = F.min_by(F.when(is_late, F.col("it")), F.when(is_late, F.col("feed_order")))
        found.append(first.alias(side))
    late = rows.where(F.col("out_of_order_left") + F.col("out_of_order_right") > 0)
    return late.groupBy("pair").agg(
        F.lit(_LAST).alias("rank"), F.lit("out of order").alias("kind"), *found
    )


def _sides() -> list[Column]:
    """Return the aggregates that join a row of the left side with one of the right."""
    return [
        F.first(F.when(F.col("is_left"), F.col("it")), ignorenulls=True).alias("left"),
        F.first(F.when(~F.col("is_left"), F.col("it")), ignorenulls=True).alias("right"),
    ]


LONGEST_TEXT = 1 << 16  # characters of one value
_IMAGES: tuple[ImageName, ...] = ("before", "after")
_SIDES = ("left", "right")
_EVENT_FIELDS = ("op", "half")
_CHANGED = ("changed", "stale")

_OF_TABLE: dict[RowVerdict, RowVerdict] = {"only left": "missing", "only right": "left over"}

Collected: TypeAlias = Any  # a Row of pyspark, whose attributes have no types


def texts_of(differences: DataFrame, layout: PairLayout, longest: int | None = None) -> DataFrame:
    """Return each difference as plain text, in the order that the frame has.

    ``longest``: the maximum number of characters of a value.
    """
    pair = F.col("pair")
    keys = [text_of(pair.getField(f"k{n}"), f.dataType) for n, f in enumerate(layout.keys)]
    place = layout.place_name
    nothing = F.lit(None).cast("string")
    cuts = [_cut(text, longest) for text in keys]
    columns: list[Column] = [
        F.col("kind"),
        F.array(*cuts).alias("key") if keys else F.lit(None).alias("key"),
        (pair.getField(place).cast("string") if place else nothing).alias("position"),
    ]
    is_final = layout.rules.is_final
    if layout.rules.against_table:
        columns += [F.col("due"), F.col("explained")]
    for side in _SIDES:
        it = F.col(side)
        row = it.getField("row")
        images = {image: row.getField(image) for image in _IMAGES}
        columns += [
            F.struct(
                it.isNotNull().alias("is_there"),
                F.coalesce(it.getField(side), F.lit(0)).alias("copies"),
                it.getField(f"{side}_source").alias("source"),
                (it.getField("position") if is_final else nothing).alias("position"),
                *(
                    row.getField(name).cast("string").alias(name)
                    for name in (*_EVENT_FIELDS, *layout.rules.fields)
                ),
                *(value.isNotNull().alias(image) for image, value in images.items()),
                *(value.getField("has").alias(f"{name}_has") for name, value in images.items()),
            ).alias(side)
        ]
    columns += [_columns_of(image, layout, longest).alias(image) for image in _IMAGES]
    return differences.select(*columns)


def _columns_of(image: ImageName, layout: PairLayout, longest: int | None) -> Column:
    """Return number, left and right text of an image's columns that differ.

    For a row that one side has alone it is all columns; nothing if only one of two rows has the
    image.
    """
    left, right = (F.col(side).getField("row").getField(image) for side in _SIDES)
    is_single = F.col("left").isNull() | F.col("right").isNull()
    has_both = left.isNotNull() & right.isNotNull()
    entries = []
    for number, field in enumerate(layout.fields):
        values = [it.getField("row").getField(f"c{number}") for it in (left, right)]
        texts = [text_of(value, field.dataType) for value in values]
        is_shown = is_single | (has_both & ~values[0].eqNullSafe(values[1]))
        entry = F.struct(
            F.lit(number).alias("number"),
            *(_cut(text, longest).alias(side) for side, text in zip(_SIDES, texts, strict=True)),
        )
        entries.append(F.when(is_shown, entry))
    nothing = ~F.col("kind").isin(*_CHANGED) | (left.isNull() & right.isNull())
    return F.when(~nothing, F.array_compact(F.array(*entries)))


def _cut(text: Column, longest: int | None) -> Column:
    """Return the beginning of a text, and the length of it all."""
    beginning = text if longest is None else F.substring(text, 1, longest)
    return F.struct(beginning.alias("text"), F.length(text).alias("length"))


def difference_of(row: Collected, table: CanonicalTable, layout: PairLayout) -> RowDifference:
    """Return what a row of ``texts_of`` says."""
    left, right = row.left, row.right
    verdict: RowVerdict = row.kind
    columns: tuple[ColumnDifference, ...] = ()
    against_table = layout.rules.against_table
    if row.kind in _CHANGED:
        is_changed = left.is_there and right.is_there
        if not is_changed:
            verdict = "only left" if left.is_there else "only right"
            verdict = _OF_TABLE[verdict] if against_table else verdict
        columns = tuple(_column_differences(row, table, layout, is_changed=is_changed))
    op = left.op if left.is_there else right.op
    names = [field.name for field in layout.keys]
    return RowDifference(
        verdict,
        op,
        tuple((name, _shown(cut)) for name, cut in zip(names, row.key or (), strict=True)),
        tuple(_positions(row, layout, op)),
        left.copies,
        right.copies,
        columns,
        _place(left.source),
        _place(right.source),
        due=row.due.position if against_table and row.due else None,
        due_place=_place(row.due.source) if against_table and row.due else None,
        explained=frozenset(
            table.columns[number].name for number in (row.explained or () if against_table else ())
        ),
    )


def _positions(row: Collected, layout: PairLayout, op: str) -> Iterator[tuple[str, str | None]]:
    """Yield names and values of the columns that identify a change, or each side's last one."""
    rules = layout.rules
    if rules.is_final and rules.position is not None:
        for side, it in (("left", row.left), ("right", row.right)):
            if it.is_there:
                yield f"{side} {rules.position}", it.position
    elif layout.place_name is not None:
        is_last = rules.has_bare_deletes and op == "delete" and rules.position
        name = rules.position or "ordinal"
        yield f"last {name}" if is_last else name, row.position


def _column_differences(
    row: Collected, table: CanonicalTable, layout: PairLayout, *, is_changed: bool
) -> Iterator[ColumnDifference]:
    left, right = row.left, row.right
    if is_changed:
        for name in (*_EVENT_FIELDS, *layout.rules.fields):
            if left[name] != right[name]:
                yield ColumnDifference(None, name, "field", Shown(left[name]), Shown(right[name]))
    for image in _IMAGES:
        if is_changed and left[image] != right[image]:
            sent = [Shown("sent") if side[image] else ABSENT for side in (left, right)]
            yield ColumnDifference(image, None, "image", sent[0], sent[1])
            continue
        texts = {entry.number: entry for entry in row[image] or ()}
        presence = [
            (side[image], side[f"{image}_has"]) if side.is_there else (False, None)
            for side in (left, right)
        ]
        for number, column in enumerate(table.columns):
            entry = texts.get(number)
            is_absent = [_is_absent(is_there, has, number) for is_there, has in presence]
            if all(is_absent) or (entry is None and is_absent[0] == is_absent[1]):
                continue
            shown = [
                ABSENT if absent else _shown(entry[side] if entry else None)
                for absent, side in zip(is_absent, _SIDES, strict=True)
            ]
            yield ColumnDifference(image, column.name, kind_text(column.type), shown[0], shown[1])


def _is_absent(is_there: bool, has: bytearray | None, number: int) -> bool:
    """Return whether an image lacks a column. One without presence bits has them all."""
    if not is_there:
        return True
    return has is not None and len(has) > 0 and not has[number // 8] >> number % 8 & 1


def _shown(cut: Collected) -> Shown:
    if cut is None or cut.text is None:
        return Shown(None)
    return Shown(cut.text, length=cut.length if cut.length > len(cut.text) else None)


def _place(source: Collected) -> RowPlace | None:
    if source is None:
        return None
    place = RowPlace(source.file, source.line, source.topic, source.partition, source.offset)
    return None if place == RowPlace() else place


# The columns of the files.
COLUMNS = """
  `table` STRING, `difference` BIGINT, `kind` STRING, `op` STRING, `position` STRING, `key` STRING,
  `left_copies` BIGINT, `right_copies` BIGINT, `left_place` STRING, `right_place` STRING,
  `image` STRING, `column` STRING, `type` STRING, `left` STRING, `right` STRING,
  `left_absent` BOOLEAN, `right_absent` BOOLEAN
"""
_SHARE = 40  # bits of a difference's number below that of the task that numbers it


def begin_differences(spark: SparkSession, folder: str) -> None:
    """Write no difference, so that the folder can be read if none comes.

    Raises: SchemaError for a folder that has anything.
    """
    path = Path(folder)
    if "://" not in folder and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise SchemaError(f"{folder}: differences are written to a new or an empty folder")
    spark.createDataFrame([], COLUMNS).coalesce(1).write.mode("append").parquet(folder)


def write_differences(
    texts: DataFrame, table: CanonicalTable, layout: PairLayout, folder: str
) -> None:
    """Add the differences of a table to the folder. ``texts``: as ``showing.texts_of`` gives."""

    def rows_of(share: int, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        for number, row in enumerate(rows):
            difference = difference_of(row, table, layout)
            yield from rows_of_difference(difference, str(table), (share << _SHARE) + number)

    found = texts.rdd.mapPartitionsWithIndex(rows_of)
    frame = texts.sparkSession.createDataFrame(found, COLUMNS, verifySchema=False)
    frame.write.mode("append").parquet(folder)


def rows_of_difference(found: RowDifference, table: str, number: int) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each column that differs, or one where the row is shown as a whole."""
    start = (
        table,
        number,
        found.verdict,
        found.op,
        ", ".join(f"{name} {value}" for name, value in found.position) or None,
        json.dumps({name: shown.text for name, shown in found.key}, ensure_ascii=False),
        found.left_count,
        found.right_count,
        _text_of(found.left_place),
        _text_of(found.right_place),
    )
    for each in found.columns:
        sides = (each.left, each.right)
        values = (side.text for side in sides)
        yield (*start, each.image, each.column, each.kind, *values, *map(_is_absent_text, sides))
    if not found.columns:
        yield (*start, *(None,) * 7)


def _text_of(place: RowPlace | None) -> str | None:
    return None if place is None else str(place)


def _is_absent_text(shown: Shown) -> bool:
    return shown.is_absent
