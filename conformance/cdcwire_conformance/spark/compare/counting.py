"""How often each side has a row, and what that says about the pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdcwire_conformance.spark.compare.order import with_late

SIDES = ("left", "right")
_OTHER = {"left": "right", "right": "left"}


@dataclass(frozen=True, slots=True)
class Grouping:
    """By what rows are the same, and what is counted of them.

    ``names``: what makes a pair. ``content``: what makes rows of a pair equal. ``keys``: with them,
    changes that come too late among those of their key are counted, by their column ``position``.
    ``has_eras``: copies that were sent again are told from doubles.
    """

    names: tuple[str, ...]
    content: tuple[str, ...]
    keys: tuple[str, ...] = ()
    position: str = "position"
    has_eras: bool = False


def both_sides(
    left: DataFrame, right: DataFrame, by: Grouping, kept: Sequence[Column] = ()
) -> DataFrame:
    """Return each row of either side once, with its number of copies as ``left`` and ``right``.

    ``left_rows`` and ``right_rows`` leave out the inserts that came of split updates. With keys
    ``left_late`` counts copies that come too late, and ``left_behind`` says what was before them;
    with eras ``left_eras`` counts the eras that have a copy. ``kept``: more aggregates, over rows
    that tell their side in ``is_left``.
    """
    union = left.withColumn("is_left", F.lit(True)).unionByName(
        right.withColumn("is_left", F.lit(False))
    )
    # By pair, or by key alone where its changes have to be together, and by nothing else: so all
    # that follows does without another shuffle.
    together = union.repartition(*by.keys or by.names)
    names = list(dict.fromkeys((*by.names, *by.content)))
    totals = {"": F.lit(1), "_rows": F.when(F.col("part") == 0, 1).otherwise(0)}
    if by.keys:
        together = with_late(together, by.keys, by.position)
        totals["_late"] = F.when(F.col("is_late"), 1).otherwise(0)
    if by.has_eras:
        behind = [F.max("behind").alias("behind")] if by.keys else []
        sums = [F.sum(total).alias(f"n{name}") for name, total in totals.items()]
        together = together.groupBy(*names, "is_left", "stream", "era").agg(*sums, *behind)
        totals = {name: F.col(f"n{name}") for name in totals} | {"_eras": F.lit(1)}
    found = []
    for side, is_side in zip(SIDES, (F.col("is_left"), ~F.col("is_left")), strict=True):
        found += [
            F.sum(F.when(is_side, total).otherwise(0)).alias(f"{side}{name}")
            for name, total in totals.items()
        ]
        if by.keys:
            found.append(F.max(F.when(is_side, F.col("behind"))).alias(f"{side}_behind"))
    return together.groupBy(*names).agg(*found, *kept)


def summary_of_pairs(rows: DataFrame, by: Grouping, pair: Column) -> DataFrame:
    """Return ``result.Counts`` of each pair that differs, and in a row without pair of all others.

    Within a pair, rows that only one side has are changed ones as far as there is one on each side.
    ``pair``: made of the names. ``copied`` is 1 for a pair whose copies eras may tell apart.
    """
    left, right = F.col("left"), F.col("right")
    is_copied = (left != right) & (F.greatest(left, right) > 1)
    sums = {
        **{name: F.col(name) for name in ("left", "right", "left_rows", "right_rows")},
        "same": F.least(left, right),
        "copied": F.when(is_copied, 1).otherwise(0),
    }
    for side in SIDES:
        sums |= _copies(side, by)
        if by.keys:
            sums[f"{side}_late"] = F.col(f"{side}_late")
    totals = [F.sum(value).alias(name) for name, value in sums.items()]
    if by.keys:
        totals += [F.max(f"{side}_behind").alias(f"{side}_behind") for side in SIDES]
    pairs = rows.groupBy(*by.names).agg(*totals)
    changed = F.least(F.col("lonely_left"), F.col("lonely_right"))
    counts = {
        **{name: F.col(name) for name in ("left", "right", "left_rows", "right_rows", "same")},
        "changed": changed,
        "copied": F.greatest(F.col("copied"), F.lit(0)),
    }
    for side in SIDES:
        counts[f"only_{side}"] = F.col(f"lonely_{side}") - changed
        counts |= {f"{name}_{side}": F.col(f"{name}_{side}") for name in ("repeated", "doubled")}
        counts[f"out_of_order_{side}"] = _out_of_order(side) if by.keys else F.lit(0)
    differing = [
        counts[f"{name}_{side}"]
        for name in ("repeated", "doubled", "out_of_order")
        for side in SIDES
    ]
    is_differing = F.greatest(F.col("lonely_left"), F.col("lonely_right"), *differing) > 0
    unreadable = {f"unreadable_{side}": F.col(side) for side in SIDES}
    is_readable = F.col("is_readable")
    return pairs.groupBy(F.when(is_readable & is_differing, pair).alias("pair")).agg(
        *(F.sum(F.when(is_readable, count).otherwise(0)).alias(n) for n, count in counts.items()),
        *(
            F.sum(F.when(is_readable, 0).otherwise(count)).alias(n)
            for n, count in unreadable.items()
        ),
    )


def _copies(side: str, by: Grouping) -> dict[str, Column]:
    """Return how many copies of a row one side has alone, more often, and more often in one era.

    Without eras nothing tells that a copy was sent again, and all are doubles.
    """
    own, others = F.col(side), F.col(_OTHER[side])
    is_lonely, is_on_both = (own > 0) & (others == 0), (own > 0) & (others > 0)
    excess = F.when(is_on_both, F.greatest(own - others, F.lit(0))).otherwise(0)
    if not by.has_eras:
        return {
            f"lonely_{side}": F.when(is_lonely, own).otherwise(0),
            f"repeated_{side}": F.lit(0),
            f"doubled_{side}": excess,
        }
    eras = F.col(f"{side}_eras")
    doubles = own - eras - (others - F.col(f"{_OTHER[side]}_eras"))
    doubled = F.least(excess, F.greatest(doubles, F.lit(0)))
    again = F.when(is_lonely, eras - 1).otherwise(0)  # lost once, however often it was sent
    return {
        f"lonely_{side}": F.when(is_lonely, own).otherwise(0) - again,
        f"repeated_{side}": excess - doubled + again,
        f"doubled_{side}": doubled,
    }


def _out_of_order(side: str) -> Column:
    """Return 1 for a change that comes too late on this side, and not just so on the other."""
    other = _OTHER[side]
    is_late, is_other_late = (
        (F.col(s) > 0) & (F.col(f"{s}_late") == F.col(s)) for s in (side, other)
    )
    behind = F.col(f"{side}_behind").eqNullSafe(F.col(f"{other}_behind"))
    return F.when(is_late & ~(is_other_late & behind), 1).otherwise(0)
