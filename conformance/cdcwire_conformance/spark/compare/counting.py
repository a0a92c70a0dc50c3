"""How often each side has a row, the order of rows in their feed, and the counts of each pair.

The order of a feed is known within its parts. A part is a partition of a topic, a file of lines, or
a table's partition in a storage prefix, in replay order. A change without an offset is in no part,
and its order is not checked. ``compare.embedded.counting`` says when a change is late, and what an
era is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

PLACE = ("stream", "offset", "row")

_IN_PART = ("offset", "row", "part")
_BITS_NOT_SUMMED = 24
_REPLAYED = 1 << 62  # what an offset in a prefix has more than others
_BITS_OF_RECORD = 40  # of an offset in a prefix, below the number of the file
_DISPATCHER = r"/CDC_([^/]+)_\d+\.[^/]+$"  # in the name of a prefix's file, if it has one


def place_of(source: Column, table_partition: Column, row: Column) -> list[Column]:
    """Return ``PLACE`` of a row: the part of its feed, and where in it.

    ``table_partition``: of the table, as a prefix has files for each. A dispatcher's files are a
    separate part, as replay takes those of a date one dispatcher after the other. ``stream`` is
    NULL where no order is known, as of a topic's records without a partition. Rows of one message
    have one offset; there they are in the order of ``row``, their place in the frame.
    """
    topic, partition, file = (source.getField(name) for name in ("topic", "partition", "file"))
    offset = source.getField("offset")
    is_replayed = topic.isNull() & partition.isNotNull() & file.isNotNull()
    is_known = offset.isNotNull() & (topic.isNull() | partition.isNotNull())
    is_in_file = topic.isNull() & file.isNotNull()
    part = F.when(is_in_file, F.xxhash64(file)).otherwise(F.xxhash64(topic, partition))
    dispatcher = F.regexp_extract(file, _DISPATCHER, 1)
    part = F.when(is_replayed, F.xxhash64(table_partition, dispatcher)).otherwise(part)
    in_prefix = F.shiftleft(partition.cast("bigint"), _BITS_OF_RECORD) + offset + _REPLAYED
    return [
        F.when(is_known, part).alias("stream"),
        F.when(is_replayed, in_prefix).otherwise(offset).alias("offset"),
        row.alias("row"),
    ]


SIDES = ("left", "right")
_OTHER = {"left": "right", "right": "left"}


@dataclass(frozen=True, slots=True)
class Grouping:
    """The columns that make rows equal, and the counts of them.

    ``names``: what makes a pair. ``content``: what makes rows of a pair equal. ``keys``: with them,
    changes that come too late among those of their key are counted, by their column ``position``.
    ``has_eras``: copies that were sent again are distinguished from doubles. ``has_ties``: with
    keys, the order of changes at one position is compared. ``skips_first``: the position of a key's
    first insert may be that of a snapshot. Changes of a transaction that was open then are before.
    """

    names: tuple[str, ...]
    content: tuple[str, ...]
    keys: tuple[str, ...] = ()
    position: str = "position"
    has_eras: bool = False
    has_ties: bool = False
    skips_first: bool = False


def with_eras(changes: DataFrame, position: str) -> DataFrame:
    """Return the changes of a side with ``era``, a number that grows along a part of the feed.

    ``position``: the column of each change's own.
    """
    in_order = Window.partitionBy("stream").orderBy("offset", "row")
    before = F.last(position, ignorenulls=True).over(
        in_order.rowsBetween(Window.unboundedPreceding, -1)
    )
    changes = changes.withColumn("back", F.coalesce(F.col(position) < before, F.lit(False)))
    backs = F.count_if("back").over(in_order.rowsBetween(Window.unboundedPreceding, 0))
    file_number = F.shiftright("offset", _BITS_OF_RECORD)
    era = F.when(F.col("offset") >= _REPLAYED, backs + file_number).otherwise(backs)
    return changes.withColumn("era", F.when(F.col("stream").isNotNull(), era)).drop("back")


def with_late(changes: DataFrame, by: Grouping) -> DataFrame:
    """Return the changes of both sides with the columns ``is_late`` and ``behind``.

    ``behind`` is the position of the change of the key right before a late change, else NULL.
    Where the order is unknown, ``is_late`` is false.
    """
    in_order = Window.partitionBy(*by.keys, "is_left", "stream").orderBy(*_IN_PART)
    position = by.position
    counting = F.col(position)
    if by.skips_first:
        is_first = F.row_number().over(in_order) == 1
        changes = changes.withColumn("may_be_read", F.col("may_be_read") & is_first)
        counting = F.when(~F.col("may_be_read"), counting)
    largest = F.max(counting).over(in_order.rowsBetween(Window.unboundedPreceding, 0))
    changes = changes.withColumns(
        {"largest": largest, "behind": F.lag(position).over(in_order)},
    )
    is_late = F.col("stream").isNotNull() & (F.col("largest") > F.col(position))
    changes = changes.withColumn("is_late", F.coalesce(is_late, F.lit(False)))
    behind = F.when(F.col("is_late"), F.col("behind"))
    return changes.withColumn("behind", behind).drop("largest")


def with_followed(changes: DataFrame, by: Grouping) -> DataFrame:
    """Return the changes of both sides with ``follows``: what comes before them at their position.

    It is a hash of the change before, among those of the key, deletes aside; 0 if it has another
    position. Its 40 bits can be summed.
    """
    in_order = Window.partitionBy(*by.keys, "is_left", "stream").orderBy(*_IN_PART)
    own = F.struct(
        F.col(by.position).alias("position"),
        F.shiftright(F.xxhash64(*by.content), _BITS_NOT_SUMMED).alias("hash"),
    )
    rows_before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    followed = F.last(F.when(~F.col("is_delete"), own), ignorenulls=True).over(rows_before)
    changes = changes.withColumn("followed", followed)
    is_tied = F.col("stream").isNotNull() & (F.col("followed.position") == F.col(by.position))
    follows = F.when(is_tied, F.col("followed.hash")).otherwise(0)
    return changes.withColumn("follows", follows).drop("followed")


def both_sides(
    left: DataFrame, right: DataFrame, by: Grouping, kept: Sequence[Column] = ()
) -> DataFrame:
    """Return each row of either side once, with its number of copies as ``left`` and ``right``.

    ``left_rows`` and ``right_rows`` leave out the inserts that came of split updates. With keys
    ``left_late`` counts copies that come too late; ``left_behind`` is the position before them.
    With eras ``left_eras`` counts the eras that have a copy. ``kept``: more aggregates, over rows
    that have their side in ``is_left``.
    """
    union = left.withColumn("is_left", F.lit(True)).unionByName(
        right.withColumn("is_left", F.lit(False))
    )
    # By pair, or by key alone where its changes have to be together, and by nothing else: so all
    # that follows does without another shuffle.
    together = union.repartition(*by.keys or by.names)
    ties = ["is_delete"] if by.has_ties else []
    names = list(dict.fromkeys((*by.names, *by.content, *ties)))
    totals = {"": F.lit(1), "_rows": F.when(F.col("part") == 0, 1).otherwise(0)}
    if by.keys:
        together = with_late(together, by)
        totals["_late"] = F.when(F.col("is_late"), 1).otherwise(0)
    if by.has_ties:
        together = with_followed(together, by)
        totals["_follows"] = F.col("follows")
        totals["_unplaced"] = F.when(F.col("stream").isNull(), 1).otherwise(0)
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
        if by.has_ties:
            stream = F.when(is_side & ~F.col("is_delete"), F.col("stream"))
            found += [F.min(stream).alias(f"{side}_part"), F.max(stream).alias(f"{side}_end_part")]
    return together.groupBy(*names).agg(*found, *kept)


def summary_of_pairs(rows: DataFrame, by: Grouping, pair: Column) -> DataFrame:
    """Return ``result.Counts`` of each pair that differs, and in a row without pair of all others.

    Within a pair, rows that only one side has are changed ones as far as there is one on each side.
    Any more may be those that the other side can't read, if it has such in the pair.
    ``pair``: made of the names. ``copied`` is 1 for a pair with copies that eras may separate.
    ``tied`` is 1 for a pair with several changes, equal on both sides, whose order matters. For
    ``unordered``, ``backwards`` and ``first_back`` see ``result.OrderDoubts``. ``unread_left`` and
    ``unread_right``: changes of a pair that can't be read, with both parts of a split update.
    """
    left, right = F.col("left"), F.col("right")
    is_readable = F.col("is_readable")
    is_copied = (left != right) & (F.greatest(left, right) > 1)
    sums = {
        **{name: F.col(name) for name in ("left", "right", "left_rows", "right_rows")},
        "same": F.least(left, right),
        "copied": F.when(is_copied, 1).otherwise(0),
    }
    for side in SIDES:
        sums |= _copies(side, by)
    sums = {name: F.when(is_readable, value).otherwise(0) for name, value in sums.items()}
    for side in SIDES:
        of_rows = {f"unreadable_{side}": f"{side}_rows", f"unread_{side}": side}
        sums |= {name: F.when(is_readable, 0).otherwise(F.col(of)) for name, of in of_rows.items()}
        if by.keys:
            sums |= {f"{side}_late": F.col(f"{side}_late"), f"{side}_all": F.col(side)}
    totals = [F.sum(value).alias(name) for name, value in sums.items()]
    if by.keys:
        totals += [F.max(f"{side}_behind").alias(f"{side}_behind") for side in SIDES]
    is_odd = is_readable & (left != right)
    totals += [F.count_if(is_odd).alias("odd"), F.count_if(is_readable).alias("contents")]
    if by.has_ties:
        totals += _of_ties()
    pairs = rows.groupBy(*by.names).agg(*totals)
    changed = F.least(F.col("lonely_left"), F.col("lonely_right"))
    names = ("left", "right", "left_rows", "right_rows", "same", "copied")
    unread = ("unreadable_left", "unreadable_right", "unread_left", "unread_right")
    counts = {**{name: F.col(name) for name in (*names, *unread)}, "changed": changed}
    is_all_read = F.col("unread_left") + F.col("unread_right") == 0
    is_tied = (F.col("contents") > 1) & (F.col("odd") == 0) & is_all_read
    if by.keys:
        counts["tied"] = F.when(is_tied, 1).otherwise(0)
        counts["backwards"] = F.when(_is_late_alike(), 1).otherwise(0)
    is_moved = F.lit(False)
    if by.has_ties:
        is_unknown = (F.col("others") > 1) & _is_in_several_parts()
        is_moved = is_tied & ~is_unknown & (F.col("moved") > 0)
        is_unordered = is_tied & ~is_moved & (is_unknown | (F.col("moved_deletes") > 0))
        counts["unordered"] = F.when(is_unordered, 1).otherwise(0)
    for side in SIDES:
        more = {"only": F.col(f"lonely_{side}") - changed}
        more |= {name: F.col(f"{name}_{side}") for name in ("repeated", "doubled")}
        is_known = F.col(f"unread_{_OTHER[side]}") == 0
        counts |= {f"{n}_{side}": F.when(is_known, c).otherwise(0) for n, c in more.items()}
        is_out = _is_out_of_order(side) | is_moved if by.keys else F.lit(False)
        counts[f"out_of_order_{side}"] = F.when(is_out, 1).otherwise(0)
    differing = [
        counts[f"{name}_{side}"]
        for name in ("only", "repeated", "doubled", "out_of_order")
        for side in SIDES
    ]
    is_differing = F.greatest(changed, *differing) > 0
    backs = []
    if by.keys:
        backs = [F.min(F.when(_is_late_alike(), F.col("position"))).alias("first_back")]
    return pairs.groupBy(F.when(is_differing, pair).alias("pair")).agg(
        *backs, *(F.sum(count).alias(name) for name, count in counts.items())
    )


def _copies(side: str, by: Grouping) -> dict[str, Column]:
    """Return how many copies of a row one side has alone, more often, and more often in one era.

    Without eras a copy that was sent again can't be recognised, and all are doubles.
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


def _of_ties() -> list[Column]:
    """Return what a pair has for the order of its changes.

    ``others``: changes except deletes. ``moved``: those of them that come after a different change
    on the other side. ``moved_deletes``: such deletes. The parts of each side.
    """
    is_moved = F.col("left_follows") != F.col("right_follows")
    is_delete = F.col("is_delete")
    found = [
        F.count_if(~is_delete).alias("others"),
        F.count_if(~is_delete & is_moved).alias("moved"),
        F.count_if(is_delete & is_moved).alias("moved_deletes"),
    ]
    for side in SIDES:
        unplaced = F.when(~is_delete, F.col(f"{side}_unplaced")).otherwise(0)
        found += [
            F.min(f"{side}_part").alias(f"{side}_part"),
            F.max(f"{side}_end_part").alias(f"{side}_end_part"),
            F.sum(unplaced).alias(f"{side}_unplaced"),
        ]
    return found


def _is_in_several_parts() -> Column:
    """Return whether the changes of a pair are in several parts of a feed, or in none."""
    left, right = (
        (F.col(f"{side}_part") != F.col(f"{side}_end_part")) | (F.col(f"{side}_unplaced") > 0)
        for side in SIDES
    )
    return F.coalesce(left, F.lit(True)) | F.coalesce(right, F.lit(True))


def _is_late(side: str) -> Column:
    """Return whether all changes of a side come too late, also those that can't be read."""
    return (F.col(f"{side}_all") > 0) & (F.col(f"{side}_late") == F.col(f"{side}_all"))


def _is_late_alike() -> Column:
    """Return whether a change comes too late on both sides, after the same change."""
    behind = F.col("left_behind").eqNullSafe(F.col("right_behind"))
    return _is_late("left") & _is_late("right") & behind


def _is_out_of_order(side: str) -> Column:
    """Return whether a change comes too late on this side, and not just so on the other."""
    return (F.col(side) > 0) & _is_late(side) & ~_is_late_alike()
