"""Where changes stand in their feed: which come too late, and which were sent again.

The order of a feed holds within its parts: a partition of a topic, a file of lines, a partition of
a table in a storage prefix, as it is replayed. A change without an offset is in no part, and
nothing is said of its order. Within a part

- a change is *late* if it stands behind one of the same key with a larger position. It is out of
  order if all copies of it are late, so that what is sent again later is not;
- an *era* ends where a position is smaller than the one before it in the part, whatever the key,
  and in a prefix with each file. Delivery at least once sends a part of the feed again, and so
  goes back: a copy of a later era than the first is a repeat. Copies of one era are doubles.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

PLACE = ("stream", "offset", "row")

_REPLAYED = 1 << 62  # what an offset in a prefix has more than others
_BITS_OF_RECORD = 40  # of an offset in a prefix, below the number of the file
_DISPATCHER = r"/CDC_([^/]+)_\d+\.[^/]+$"  # in the name of a prefix's file, if it has one


def place_of(source: Column, table_partition: Column) -> list[Column]:
    """Return ``PLACE`` of a row: the part of its feed, and where in it.

    ``table_partition``: of the table, as a prefix has files for each; a dispatcher's files are a
    part of their own, as replay takes those of a date one dispatcher after the other. ``stream`` is
    NULL where no order is known, as of a topic's records without a partition. Rows of one message
    have one offset; there the rows of the frame are in the order of the message.
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
        F.monotonically_increasing_id().alias("row"),
    ]


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


def with_late(changes: DataFrame, keys: Sequence[str], position: str) -> DataFrame:
    """Return the changes of both sides with ``is_late``, and ``behind``: the position of the change
    of the key right before a late one. Both are NULL or false where no order is known.
    """
    in_order = Window.partitionBy(*keys, "is_left", "stream").orderBy("offset", "row")
    largest = F.max(position).over(in_order.rowsBetween(Window.unboundedPreceding, 0))
    changes = changes.withColumns(
        {"largest": largest, "behind": F.lag(position).over(in_order)},
    )
    is_late = F.col("stream").isNotNull() & (F.col("largest") > F.col(position))
    changes = changes.withColumn("is_late", F.coalesce(is_late, F.lit(False)))
    behind = F.when(F.col("is_late"), F.col("behind"))
    return changes.withColumn("behind", behind).drop("largest")
