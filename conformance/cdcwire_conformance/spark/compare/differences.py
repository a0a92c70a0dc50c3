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

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.difference_files import COLUMNS, check_empty, rows_of_difference
from cdcwire_conformance.compare.masking import Mask
from cdcwire_conformance.compare.result import ImageName
from cdcwire_conformance.compare.shown_rows import (
    CHANGED,
    EVENT_FIELDS,
    difference_of,
)
from cdcwire_conformance.spark.compare.counting import Grouping, both_sides
from cdcwire_conformance.spark.compare.images import text_of
from cdcwire_conformance.spark.compare.pairing import changes_of_pairs
from cdcwire_conformance.spark.compare.splitting import Layout

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

_LAST = 1 << 30  # after all ranks of a pair's rows
_OF_PAIR = ("out_of_order_left", "out_of_order_right", "unread_left", "unread_right")


def rows_of_pairs(left: DataFrame, right: DataFrame, layout: Layout, pairs: DataFrame) -> DataFrame:
    """Return the rows of these pairs that differ, each once.

    ``pairs``: of ``counting.summary_of_pairs``. Columns: pair, feed_order, is_repeated (some copies
    of the pair were sent again, and none is a double), counts of the pair, and ``it``. ``it`` is a
    struct of ``row`` (the content), left, right (counts), left_source, right_source (the first
    sources).
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
    counted = pairs.select("pair", is_again.alias("is_repeated"), *_OF_PAIR)
    rows = rows.join(counted, "pair").where(
        "left <> right OR out_of_order_left + out_of_order_right > 0"
    )
    return rows.select(
        "pair",
        "is_repeated",
        *_OF_PAIR,
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
    "changed" also for rows of one side, "repeated", "doubled", "out of order". Any more of a side
    are left out if the other side can't read all of the pair. Use a persisted frame: it is read
    four times.
    """
    copies = {side: F.col("it").getField(side) for side in ("left", "right")}
    unread = ("unread_left", "unread_right")
    is_left = copies["right"] == 0
    is_right = copies["left"] == 0
    lonely = rows.where(is_left | is_right).select(
        "pair",
        *unread,
        "it",
        "feed_order",
        is_left.alias("is_left"),
        F.col("it.row.op").alias("op"),
    )
    by_op = Window.partitionBy("pair", "is_left", "op").orderBy("feed_order")
    ranked = lonely.withColumn("rank", F.row_number().over(by_op))
    met = ranked.groupBy("pair", *unread, "op", "rank").agg(*_sides())
    is_met = F.col("left").isNotNull() & F.col("right").isNotNull()
    rest = met.where(~is_met).select(
        "pair",
        *unread,
        "op",
        "rank",
        F.coalesce("left", "right").alias("it"),
        F.col("left").isNotNull().alias("is_left"),
    )
    by_side = Window.partitionBy("pair", "is_left").orderBy("op", "rank")
    rest = rest.withColumn("rank", F.row_number().over(by_side))
    rest = rest.groupBy("pair", *unread, "rank").agg(*_sides())
    is_known = F.col("left").isNull() | (F.col("unread_right") == 0)
    is_known &= F.col("right").isNull() | (F.col("unread_left") == 0)
    is_met = F.col("left").isNotNull() & F.col("right").isNotNull()
    rest = rest.where(is_met | is_known).drop(*unread)
    is_on_both = (copies["left"] > 0) & (copies["right"] > 0)
    has_more = (copies["left"] > copies["right"]) & (F.col("unread_right") == 0)
    has_more |= (copies["left"] < copies["right"]) & (F.col("unread_left") == 0)
    copied = rows.where(is_on_both & has_more).select(
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


_IMAGES: tuple[ImageName, ...] = ("before", "after")
_SIDES = ("left", "right")


def texts_of(differences: DataFrame, layout: Layout, longest: int | None = None) -> DataFrame:
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
    if is_final:
        columns.append(F.col("due"))
    if layout.rules.against_table:
        columns.append(F.col("explained"))
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
                    for name in (*EVENT_FIELDS, *layout.rules.fields)
                ),
                *(value.isNotNull().alias(image) for image, value in images.items()),
                *(value.getField("has").alias(f"{name}_has") for name, value in images.items()),
            ).alias(side)
        ]
    columns += [_columns_of(image, layout, longest).alias(image) for image in _IMAGES]
    columns.append(_unchanged(layout).alias("unchanged"))
    return differences.select(*columns)


def _columns_of(image: ImageName, layout: Layout, longest: int | None) -> Column:
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
    nothing = ~F.col("kind").isin(*CHANGED) | (left.isNull() & right.isNull())
    return F.when(~nothing, F.array_compact(F.array(*entries)))


def _unchanged(layout: Layout) -> Column:
    """Return the columns whose before value on the other side is the after value of each side."""
    found = []
    for side, other in (_SIDES, _SIDES[::-1]):
        row, other_row = F.col(side).getField("row"), F.col(other).getField("row")
        has_images = [row.getField("before"), row.getField("after"), other_row.getField("before")]
        numbers = [
            F.when(
                row.getField("after")
                .getField("row")
                .getField(f"c{number}")
                .eqNullSafe(other_row.getField("before").getField("row").getField(f"c{number}")),
                F.lit(number),
            )
            for number in range(len(layout.fields))
        ]
        is_there = reduce(and_, (image.isNotNull() for image in has_images))
        equal = F.when(is_there, F.array_compact(F.array(*numbers)))
        found.append(F.coalesce(equal, F.array().cast("array<int>")).alias(side))
    return F.struct(*found)


def _cut(text: Column, longest: int | None) -> Column:
    """Return the beginning of a text, and length and digest of it all."""
    nothing = F.lit(None).cast("string")
    beginning, digest = text, nothing
    if longest is not None:
        beginning = F.substring(text, 1, longest)
        digest = F.when(F.length(text) > longest, F.sha2(text, 256)).otherwise(nothing)
    return F.struct(beginning.alias("text"), F.length(text).alias("length"), digest.alias("digest"))


_SCHEMA = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
_SHARE = 40  # bits of a difference's number below that of the task that numbers it


def begin_differences(spark: SparkSession, folder: str) -> None:
    """Write no difference, so that the folder can be read if none comes.

    Raises: SchemaError for a folder that has anything.
    """
    check_empty(folder)
    spark.createDataFrame([], _SCHEMA).coalesce(1).write.mode("append").parquet(folder)


def write_differences(
    texts: DataFrame,
    table: CanonicalTable,
    layout: Layout,
    folder: str,
    *,
    hidden: frozenset[str] = frozenset(),
    mask: Mask | None = None,
) -> None:
    """Add the differences of a table to the folder. ``texts``: as ``texts_of`` gives.

    ``hidden``: columns without their values. ``mask``: hides all other values.
    """

    def rows_of(share: int, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        for number, row in enumerate(rows):
            difference = difference_of(row, table, layout, hidden)
            number_in_all = (share << _SHARE) + number
            yield from rows_of_difference(difference, str(table), number_in_all, mask)

    append_differences(texts.sparkSession, texts.rdd.mapPartitionsWithIndex(rows_of), folder)


def append_differences(spark: SparkSession, rows: RDD[tuple[Any, ...]], folder: str) -> None:
    """Add rows of ``rows_of_difference`` to the folder."""
    frame = spark.createDataFrame(rows, _SCHEMA, verifySchema=False)
    frame.write.mode("append").parquet(folder)
