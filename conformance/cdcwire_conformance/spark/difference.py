"""The rows that differ, looked up again with all columns, and put side by side.

Both frames are cut down to the pairs in question by a broadcast join and grouped in exact form, so
that no hash decides what is shown. Rows of one side only meet the other side's within their pair:
first those of the same op, then the rest, each in the order of their feed.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from cdcwire_conformance.spark.counting import both_sides
from cdcwire_conformance.spark.pairing import Layout, wide_changes


def rows_of_pairs(left: DataFrame, right: DataFrame, layout: Layout, pairs: DataFrame) -> DataFrame:
    """Return the rows of these pairs that one side has more often than the other, each once.

    ``pairs``: few, with the one column ``pair``. Columns: pair, feed_order, and ``it``, a struct of
    ``row`` (the content), left, right (how often), left_source, right_source (where first).
    """
    ours, theirs = (wide_changes(frame, layout, pairs) for frame in (left, right))
    first = F.struct("feed_order", "source")
    kept = [
        F.min(F.when(F.col("is_left"), first)).alias("left_first"),
        F.min(F.when(~F.col("is_left"), first)).alias("right_first"),
    ]
    rows = both_sides(ours, theirs, layout.content, kept).where("left <> right")
    return rows.select(
        "pair",
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
    """Return a row for each difference: pair, rank in it, is_repeated, and ``left`` and ``right``.

    These are ``it`` of ``rows_of_pairs``, NULL where that side has nothing to show. Use a persisted
    frame: it is read three times.
    """
    copies = {side: F.col("it").getField(side) for side in ("left", "right")}
    is_left = copies["right"] == 0
    lonely = rows.where(is_left | (copies["left"] == 0)).select(
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
    repeated = rows.where((copies["left"] > 0) & (copies["right"] > 0)).select(
        "pair",
        F.lit(0).alias("rank"),
        F.lit(True).alias("is_repeated"),
        F.col("it").alias("left"),
        F.col("it").alias("right"),
    )
    changed = met.where(is_met).select("pair", "rank", "left", "right").unionByName(rest)
    return repeated.unionByName(changed.withColumn("is_repeated", F.lit(False)))


def _sides() -> list[Column]:
    """Return the aggregates that put a row of the left side beside one of the right."""
    return [
        F.first(F.when(F.col("is_left"), F.col("it")), ignorenulls=True).alias("left"),
        F.first(F.when(~F.col("is_left"), F.col("it")), ignorenulls=True).alias("right"),
    ]
