"""How often each side has a row, and what that says about the pairs."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def both_sides(
    left: DataFrame, right: DataFrame, content: Sequence[str], kept: Sequence[Column] = ()
) -> DataFrame:
    """Return each row of either side once, with its number of copies as ``left`` and ``right``.

    Rows are the same if pair and ``content`` are. ``left_rows`` and ``right_rows`` leave out the
    inserts that came of split updates. ``kept``: more aggregates, over rows that tell their side in
    ``is_left``.
    """
    union = left.withColumn("is_left", F.lit(True)).unionByName(
        right.withColumn("is_left", F.lit(False))
    )
    # By pair alone, so that pairs are then counted without another shuffle.
    together = union.repartition("pair").groupBy("pair", *content)
    is_left, is_row = F.col("is_left"), F.col("part") == 0
    return together.agg(
        F.count_if(is_left).alias("left"),
        F.count_if(~is_left).alias("right"),
        F.count_if(is_left & is_row).alias("left_rows"),
        F.count_if(~is_left & is_row).alias("right_rows"),
        *kept,
    )


def summary_of_pairs(rows: DataFrame) -> DataFrame:
    """Return ``result.Counts`` of each pair that differs, and in a row without pair of all others.

    Within a pair, rows that only one side has are changed ones as far as there is one on each side.
    """
    left, right = F.col("left"), F.col("right")
    is_on_both = (left > 0) & (right > 0)
    pairs = rows.groupBy("pair").agg(
        *(F.sum(name).alias(name) for name in ("left", "right", "left_rows", "right_rows")),
        F.sum(F.least(left, right)).alias("same"),
        F.sum(F.when(right == 0, left).otherwise(0)).alias("lonely_left"),
        F.sum(F.when(left == 0, right).otherwise(0)).alias("lonely_right"),
        F.sum(F.when(is_on_both, F.greatest(left - right, F.lit(0))).otherwise(0)).alias(
            "repeated_left"
        ),
        F.sum(F.when(is_on_both, F.greatest(right - left, F.lit(0))).otherwise(0)).alias(
            "repeated_right"
        ),
    )
    changed = F.least(F.col("lonely_left"), F.col("lonely_right"))
    is_readable = F.col("pair").isNotNull()
    counts = {
        **{name: F.col(name) for name in ("left", "right", "left_rows", "right_rows", "same")},
        "changed": changed,
        "only_left": F.col("lonely_left") - changed,
        "only_right": F.col("lonely_right") - changed,
        "repeated_left": F.col("repeated_left"),
        "repeated_right": F.col("repeated_right"),
    }
    unreadable = {f"unreadable_{side}": F.col(side) for side in ("left", "right")}
    differing = ("lonely_left", "lonely_right", "repeated_left", "repeated_right")
    is_differing = F.greatest(*map(F.col, differing)) > 0
    return pairs.groupBy(F.when(is_readable & is_differing, F.col("pair")).alias("pair")).agg(
        *(F.sum(F.when(is_readable, count).otherwise(0)).alias(n) for n, count in counts.items()),
        *(
            F.sum(F.when(is_readable, 0).otherwise(count)).alias(n)
            for n, count in unreadable.items()
        ),
    )
