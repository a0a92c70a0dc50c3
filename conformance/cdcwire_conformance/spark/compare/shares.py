"""The rows of a share of a feed (``compare.last_state``), as a DataFrame."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.last_state import Moment, Share
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.spark.reading.frames import decode_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows_of_shares(
    spark: SparkSession,
    feed: OpenedFeed,
    table: CanonicalTable,
    options: CompareOptions,
    position: str | None,
) -> DataFrame:
    """Return the rows that count for a table, by the feed's own names of columns."""
    shares = feed.shares_of(table)
    frames = []
    for number, (own, share) in enumerate(shares, 1):
        frame = decode_frame(
            spark,
            replace(feed.opened, context=feed.decoded_by),
            own,
            options.on_error,
            temporal=options.temporal,
            time_zone=options.time_zone,
            other_columns="skip",
            pairs_rows=True,
            order=feed.order,
        )
        frames.append(_rows_of(frame, share, position, is_last=number == len(shares)))
    return reduce(DataFrame.unionByName, frames)


def _rows_of(frame: DataFrame, share: Share, position: str | None, *, is_last: bool) -> DataFrame:
    if share.since is None and share.until is None and is_last:
        return frame
    is_error = F.col("error").isNotNull()
    wanted = ~is_error
    if share.until is not None:
        wanted &= _is_before(share.until, position)
    if share.since is not None and not share.keeps_emptied:
        wanted &= ~_is_before(share.since, position)
    frame = frame.where((is_error & F.lit(is_last)) | wanted)
    if share.since is None or not share.keeps_emptied:
        return frame
    return _with_deletes(frame, ~is_error & _is_before(share.since, position))


def _is_before(moment: Moment, position: str | None) -> Column:
    if moment.position is not None:
        assert position is not None
        limit = F.lit(str(moment.position))
        is_number = isinstance(moment.position, int)
        found = F.col(position) <= (limit.cast("decimal(38,0)") if is_number else limit)
    elif moment.offset is not None:
        found = F.col("source.offset") < F.lit(moment.offset)
    else:
        found = F.col("source.partition") < F.lit(moment.file)
    return F.coalesce(found, F.lit(False))


def _with_deletes(frame: DataFrame, emptied: Column) -> DataFrame:
    """Return the frame with deletes of the keys of some rows in their place."""
    columns = {
        "op": F.when(emptied, "delete").otherwise(F.col("op")),
        "half": F.when(~emptied, F.col("half")),
    }
    has_after = F.col("after").isNotNull()
    for suffix in ("", "_has"):
        before, after = F.col(f"before{suffix}"), F.col(f"after{suffix}")
        columns[f"before{suffix}"] = F.when(emptied & has_after, after).otherwise(before)
        columns[f"after{suffix}"] = F.when(~emptied, after)
    return frame.withColumns(columns)
