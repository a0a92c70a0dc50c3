"""The passes in which a feed is decoded to compare its tables, and the jobs of each.

For last rows, a job takes of each share those that count (``compare.last_state``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cdcwire.arrow.building import where
from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.last_state import Moment, Share
from cdcwire_conformance.compare.merging import with_bytes
from cdcwire_conformance.compare.plan import TableTask
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.decode.many_tables import decode_here
from cdcwire_conformance.decode.opening import ready_job
from cdcwire_conformance.decode.reading import Job
from cdcwire_conformance.decode.workers import HERE, Numbered, ThisProcess


@dataclass(frozen=True, slots=True)
class SharePass:
    """The rows of a share of a table, which are decoded. ``number``: of the table.

    ``own``: the table by the feed's own names. ``position``, ``is_last``: as in ``rows_of_share``.
    """

    number: int
    own: CanonicalTable
    share: Share
    position: str | None
    is_last: bool

    @property
    def is_whole(self) -> bool:
        """Return whether all rows of its name are in the share."""
        return self.share.since is None and self.share.until is None and self.is_last

    def rows_in(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a decoded batch that are in the share."""
        return rows_of_share([batch], self.share, self.position, is_last=self.is_last)


def passes_of(feed: OpenedFeed, tasks: Sequence[TableTask]) -> list[list[SharePass]]:
    """Return what is decoded in each pass through a feed. Those of a table are in their order.

    Tables with the rows of one name are decoded in one pass, and each share of others in its own.
    """
    together: list[SharePass] = []
    alone: list[list[SharePass]] = []
    for number, task in enumerate(tasks):
        shares = feed.shares_of(with_bytes(task.table, task.replaced))
        found = [
            SharePass(number, own, share, task.rules.position, place == len(shares))
            for place, (own, share) in enumerate(shares, 1)
        ]
        own_name = feed.own_name((task.table.schema, task.table.table))
        if [each.share.name for each in found] == [own_name]:
            together += found
        else:
            alone += ([each] for each in found)
    return [together, *alone] if together else alone


def batches_of(
    feed: OpenedFeed,
    tasks: Sequence[TableTask],
    options: CompareOptions,
    workers: ThisProcess = HERE,
    known: Collection[int] = (),
) -> Iterator[Numbered]:
    """Yield the batches of each table by its number, those of a table in its shares' order.

    ``known``: the numbers of tables that are left out.
    """
    for found in passes_of(feed, tasks):
        parts = [each for each in found if each.number not in known]
        if not parts:
            continue
        jobs = [job_for(feed, each.own, options) for each in parts]
        for place, batch in decode_here(feed.opened, jobs, workers):
            yield from ((parts[place].number, rows) for rows in parts[place].rows_in(batch))


def job_for(feed: OpenedFeed, own: CanonicalTable, options: CompareOptions) -> Job:
    """Return how the rows of a table are decoded. ``own``: by the feed's own names."""
    opened = feed.opened
    job = Job(
        opened.source.format,
        feed.decoded_by,
        own,
        options.temporal,
        time_zone=options.time_zone,
        on_error=options.on_error,
        has_lines=opened.source.kind == "jsonl",
        pairs_rows=True,
        order=feed.order,
    )
    return ready_job(job, skips_others=True)


_IMAGES = ("before", "after")


def rows_of_share(
    batches: Iterable[pa.RecordBatch], share: Share, position: str | None, *, is_last: bool
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a share.

    ``position``: the column by which rows are replayed. ``is_last``: what can't be read is in the
    last share of a table only, as no share knows whose rows it had.
    """
    for batch in batches:
        if share.since is None and share.until is None and is_last:
            yield batch
            continue
        is_error = batch.column("error").is_valid()
        kept = pa.scalar(is_last)
        wanted = pc.invert(is_error)
        if share.until is not None:
            wanted = pc.and_(wanted, _is_before(batch, share.until, position))
        emptied = None
        if share.since is not None:
            emptied = pc.and_(wanted, _is_before(batch, share.since, position))
            if not share.keeps_emptied:
                wanted = pc.and_not(wanted, emptied)
        if emptied is not None and share.keeps_emptied:
            batch = _as_deletes(batch, emptied)
        yield batch.filter(pc.if_else(is_error, kept, wanted))


def _is_before(batch: pa.RecordBatch, moment: Moment, position: str | None) -> pa.Array:
    source = batch.column("source")
    if moment.position is not None:
        assert position is not None
        values: Any = batch.column(position)
        limit = pa.scalar(moment.position).cast(values.type)
        found = pc.less_equal(values, limit)
    elif moment.offset is not None:
        found = pc.less(pc.struct_field(source, "offset"), moment.offset)
    else:
        found = pc.less(pc.struct_field(source, "partition"), moment.file)
    return pc.fill_null(found, False)


def _as_deletes(batch: pa.RecordBatch, emptied: pa.Array) -> pa.RecordBatch:
    """Return the batch with deletes of the keys of some rows in their place."""
    columns = {
        "op": where(emptied, pa.scalar("delete"), batch.column("op")),
        "half": where(emptied, pa.scalar(None, pa.string()), batch.column("half")),
    }
    for suffix in ("", "_has"):
        before, after = (batch.column(f"{side}{suffix}") for side in _IMAGES)
        last = where(batch.column("after").is_valid(), after, before)
        columns[f"before{suffix}"] = where(emptied, last, before)
        columns[f"after{suffix}"] = where(emptied, pa.scalar(None, after.type), after)
    for name, values in columns.items():
        place = batch.schema.get_field_index(name)
        batch = batch.set_column(place, batch.schema.field(place), values)
    return batch
