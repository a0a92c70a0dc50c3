"""The rows that differ, looked up again with all columns, and put side by side.

Both frames are cut down to the pairs in question by a broadcast join and grouped in exact form, so
that no hash decides what is shown. Rows of one side only meet the other side's within their pair:
first those of the same op, then the rest, each in the order of their feed.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from cdcwire_conformance.spark.compare.counting import Grouping, both_sides
from cdcwire_conformance.spark.compare.pairing import Layout, changes_of_pairs

_LAST = 1 << 30  # behind all ranks of a pair's rows
_ORDER_COUNTS = ("out_of_order_left", "out_of_order_right")


def rows_of_pairs(left: DataFrame, right: DataFrame, layout: Layout, pairs: DataFrame) -> DataFrame:
    """Return the rows of these pairs that differ, each once.

    ``pairs``: of ``counting.summary_of_pairs``. Columns: pair, feed_order, is_repeated (some copies
    of the pair were sent again, and none is a double), out_of_order_left, out_of_order_right, and
    ``it``, a struct of ``row`` (the content), left, right (how often), left_source, right_source
    (where first).
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
    told = pairs.select("pair", is_again.alias("is_repeated"), *_ORDER_COUNTS)
    rows = rows.join(told, "pair").where(
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
    """Return the aggregates that put a row of the left side beside one of the right."""
    return [
        F.first(F.when(F.col("is_left"), F.col("it")), ignorenulls=True).alias("left"),
        F.first(F.when(~F.col("is_left"), F.col("it")), ignorenulls=True).alias("right"),
    ]
