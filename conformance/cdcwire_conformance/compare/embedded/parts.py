"""A table that many processes compare: what each of them sends, and what it finds in what it gets.

1. Each process that reads a feed sends its rows as numbers (``narrow_parts``), by buckets of their
   keys. The one that gets a bucket settles what is surely equal (``settled``).
2. The feeds are read again, and all other rows are sent whole (``open_parts``), again by buckets.
   ``ComparedTable.part`` compares a bucket.

Two facts concern no single key. Updates in two records are found by their number in the feed
(``half_parts``), before step 2. Eras belong to a part of the feed (``era_parts``), and found if a
bucket lacks them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdcwire_conformance.compare.embedded.tables import ComparedTable, PartResult
from cdcwire_conformance.compare.narrow.digests import Numbers
from cdcwire_conformance.compare.narrow.equal import unsettled_ids
from cdcwire_conformance.compare.narrow.places import Eras, parts_of
from cdcwire_conformance.compare.narrow.rows import narrow_rows

Sent: TypeAlias = "tuple[int, pa.RecordBatch]"
"""The number of a bucket, and rows for it."""

MOST_IDS = 5_000_000
"""How many unsettled rows are told apart. If there are more, all rows are compared as if open."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The result of settled rows, for each bucket, and the number of all rows in the window.

    ``open_rows``: how many of these are not settled. ``ids``: theirs, of ``NarrowRows``; None if
    they are too many.
    """

    results: list[PartResult]
    ids: Numbers | None
    rows: int
    open_rows: int


def narrow_parts(
    table: ComparedTable, batch: pa.RecordBatch, side: int, count: int
) -> Iterator[Sent]:
    """Yield the rows of a batch as numbers, by the bucket of their key."""
    narrow = table.narrow_batch(batch, side)
    yield from _by_bucket(narrow, narrow.column("key").to_numpy() % np.uint64(count))


def settled(
    table: ComparedTable, left: Iterable[pa.RecordBatch], right: Iterable[pa.RecordBatch]
) -> Settled:
    """Settle the keys of a bucket, all of whose rows these are, as numbers."""
    ours, theirs = narrow_rows(left), narrow_rows(right)
    found, ids = unsettled_ids(ours, theirs, table.layout, table.options)
    rows = sum(int(np.count_nonzero(~each.is_outside)) for each in (ours, theirs))
    result = PartResult(found.settled, found.unordered)
    open_rows = rows - found.settled.left_rows - found.settled.right_rows
    return Settled([result], None if len(ids) > MOST_IDS else ids, rows, open_rows)


def joined(found: Iterable[Settled]) -> Settled:
    """Return what is settled of all buckets. With too many open rows, nothing is."""
    every = list(found)
    rows, open_rows = sum(each.rows for each in every), sum(each.open_rows for each in every)
    ids = [each.ids for each in every if each.ids is not None]
    if len(ids) < len(every) or sum(map(len, ids)) > MOST_IDS:
        return Settled([PartResult()], None, rows, rows)
    results = [result for each in every for result in each.results]
    in_order = np.unique(np.concatenate([np.empty(0, np.uint64), *ids]))
    return Settled(results, in_order, rows, open_rows)


def open_parts(
    table: ComparedTable, batch: pa.RecordBatch, side: int, ids: Numbers | None, count: int
) -> Iterator[Sent]:
    """Yield the rows of a batch that are not settled, for the buckets of their keys.

    ``ids``: of all of these rows, in order; None: all rows are compared.
    """
    rows = narrow_rows([table.narrow_batch(batch, side)])
    wanted = ~rows.is_outside
    if ids is not None:
        places = np.searchsorted(ids, rows.ids).clip(max=max(len(ids) - 1, 0))
        wanted &= ids[places] == rows.ids if len(ids) else False
    if not wanted.any():
        return
    batch = batch.filter(pa.array(wanted))
    before, after = table.buckets(batch, side, count)
    for bucket in np.unique(np.concatenate((before, after))).tolist():
        if bucket >= 0:
            yield bucket, batch.filter(pa.array((before == bucket) | (after == bucket)))


def half_parts(batch: pa.RecordBatch, count: int) -> Iterator[Sent]:
    """Yield the updates in two records of a batch, both records to one bucket."""
    halves = batch.filter(batch.column("half").is_valid())
    if halves.num_rows:
        numbers = halves.column("sequence_id").to_pylist()
        yield from _by_bucket(halves, np.array([int(each or 0) % count for each in numbers]))


def era_parts(table: ComparedTable, batch: pa.RecordBatch, side: int, count: int) -> Iterator[Sent]:
    """Yield the rows of a batch as numbers, by the bucket of their part of the feed."""
    narrow = table.narrow_batch(batch, side)
    narrow = narrow.filter(pc.invert(narrow.column("is_left_key")))
    parts, of_rows = parts_of(narrow_rows([narrow]).places)
    buckets = np.array([crc32(repr(each).encode()) % count for each in parts], np.int64)
    yield from _by_bucket(narrow, buckets[of_rows])


def eras(rows: Iterable[pa.RecordBatch]) -> Eras:
    """Return the eras of the parts of a feed whose rows these are, as numbers."""
    return narrow_rows(rows).eras()


def _by_bucket(batch: pa.RecordBatch, buckets: Numbers) -> Iterator[Sent]:
    order = np.argsort(buckets, kind="stable")
    found, starts = np.unique(buckets[order], return_index=True)
    in_order = batch.take(pa.array(order))
    ends = [*starts[1:].tolist(), len(order)]
    for bucket, start, end in zip(found.tolist(), starts.tolist(), ends, strict=True):
        yield bucket, in_order.slice(start, end - start)
