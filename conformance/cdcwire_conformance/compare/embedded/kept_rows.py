"""The rows of a feed that are decoded in the first scan of it, as a sample of both feeds foretells.

They are used if the jobs of the comparison prove to be those that the sample foretold. Batches that
are read again are in memory up to a limit, then in a temporary file.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import IO

import pyarrow as pa

from cdcwire.arrow.types import SchemaError
from cdcwire.console.problems import UsageError
from cdcwire.model.events import TableName
from cdcwire_conformance.compare.embedded.passes import job_for, passes_of
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.feeds import both_described
from cdcwire_conformance.compare.plan import TableTask, plan_of
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.decode.many_tables import Ahead, Sampling
from cdcwire_conformance.decode.reading import Job
from cdcwire_conformance.decode.workers import ThisProcess, bytes_of
from cdcwire_conformance.sources.pieces import Piece

MAX_BYTES = 64 << 20
"""How much of all tables of a comparison stays in memory."""

_COMPRESSION = "lz4"


@dataclass(slots=True)
class Room:
    """The memory that batches may still take, in bytes, and the files of other batches.

    Its end closes the files. They have no names in their directory (``TMPDIR``), so nothing is
    left after an end of any kind.
    """

    left: int = field(default_factory=lambda: MAX_BYTES)
    files: list[IO[bytes]] = field(default_factory=list)

    def __enter__(self) -> Room:
        """Return this object."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the files."""
        for file in self.files:
            file.close()

    def has_taken(self, batch: pa.RecordBatch) -> bool:
        """Take the place of a batch. Return whether there was enough."""
        size = batch.nbytes
        if size > self.left:
            return False
        self.left -= size
        return True


class KeptBatches:
    """The batches of one side of a table. Iterate over them as often as needed.

    Raises: OSError if the disk is full.
    """

    def __init__(self, room: Room, batches: Iterable[pa.RecordBatch] = ()) -> None:
        self.schema: pa.Schema | None = None  # until there is a batch
        self.rows = 0
        self._room = room
        self._in_memory: list[pa.RecordBatch] = []
        self._file: IO[bytes] | None = None
        self._writer: pa.RecordBatchStreamWriter | None = None
        for batch in batches:
            self.append(batch)

    def append(self, batch: pa.RecordBatch) -> None:
        """Add a batch. All have one schema."""
        self.schema = batch.schema
        self.rows += batch.num_rows
        if self._writer is None and self._room.has_taken(batch):
            self._in_memory.append(batch)
            return
        if self._writer is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (the room closes it)
            self._room.files.append(self._file)
            options = pa.ipc.IpcWriteOptions(
                compression=_COMPRESSION if pa.Codec.is_available(_COMPRESSION) else None
            )
            self._writer = pa.ipc.new_stream(self._file, batch.schema, options=options)
        self._writer.write_batch(batch)

    def drop(self) -> None:
        """Forget all batches. Others may take their memory."""
        self._room.left += sum(batch.nbytes for batch in self._in_memory)
        self._in_memory = []
        if self._file is not None:
            self._file.close()
            self._file = self._writer = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield all batches, in their order. None is added afterwards."""
        yield from self._in_memory
        if self._writer is not None and self._file is not None:
            self._writer.close()
            self._file.seek(0)
            yield from pa.ipc.open_stream(self._file)


LEAST_BYTES = 4 << 20
"""The size of both feeds from which on a sample of them takes less time than it saves."""


@dataclass(slots=True)
class KeptRows:
    """Rows of one feed, by the numbers of their jobs in the first scan."""

    _of_jobs: dict[int, tuple[Job, KeptBatches]] = field(default_factory=dict)

    def ahead(self, jobs: Sequence[Job], room: Room, workers: ThisProcess) -> Ahead:
        """Return who keeps the rows of some jobs."""
        self._of_jobs = {number: (job, KeptBatches(room)) for number, job in enumerate(jobs)}
        return Ahead(jobs, self._keep, self._drop, workers)

    def of_tables(
        self, feed: OpenedFeed, tasks: Sequence[TableTask], options: CompareOptions
    ) -> dict[int, KeptBatches]:
        """Return the rows of tables that are kept, by the number of each, and forget all others."""
        jobs = jobs_of(feed, tasks, options) if self._of_jobs else {}
        kept = {_name(job): (job, batches) for job, batches in self._of_jobs.values()}
        self._of_jobs = {}
        found: dict[int, KeptBatches] = {}
        for number, job in jobs.items():
            foretold, batches = kept.get(_name(job), (None, None))
            if batches is not None and foretold == job:
                found[number] = batches
        if feed.facts.databases and len(found) < len(tasks):
            found = {}  # which of these a row belongs to depends on the others
        used = set(map(id, found.values()))
        for _, batches in kept.values():
            if id(batches) not in used:
                batches.drop()
        return found

    def _keep(self, number: int, batch: pa.RecordBatch) -> None:
        if number in self._of_jobs:
            self._of_jobs[number][1].append(batch)

    def _drop(self, number: int) -> None:
        if number in self._of_jobs:
            self._of_jobs.pop(number)[1].drop()


def foretold_jobs(
    left: OpenedFeed, right: OpenedFeed, options: CompareOptions
) -> tuple[list[Job], list[Job]]:
    """Return the jobs of both feeds that the first scans can do, as a sample foretells them."""
    feeds = left, right
    if any(feed.source.kind != "jsonl" for feed in feeds) or _bytes_of(feeds) < LEAST_BYTES:
        return [], []
    try:
        named = both_described(left, right, options, Sampling())
        (ours, own), (theirs, others) = named.left, named.right
        plan = plan_of(ours, theirs, own, others, options)
    except (UsageError, ValueError):
        return [], []  # all of the feeds may have what a sample lacks; what is wrong is said then
    foretold = (jobs_of(feed, plan.tasks(), options).values() for feed in plan.feeds)
    left_jobs, right_jobs = (
        [job for job in jobs if _can_be_done(job, feed)]
        for jobs, feed in zip(foretold, feeds, strict=True)
    )
    return left_jobs, right_jobs


def jobs_of(
    feed: OpenedFeed, tasks: Sequence[TableTask], options: CompareOptions
) -> dict[int, Job]:
    """Return how the rows of tables are decoded, by the number of each.

    Tables are left out that have rows of several names, or not all rows of one.
    """
    parts = [part for each in passes_of(feed, tasks) for part in each]
    numbers = Counter(part.number for part in parts)
    return {
        part.number: job_for(feed, part.own, options)
        for part in parts
        if numbers[part.number] == 1 and part.is_whole
    }


def _can_be_done(job: Job, feed: OpenedFeed) -> bool:
    """Return whether the first scan of a feed decodes what a job does, and a batch can have it."""
    opened = feed.opened.context
    if replace(job.context, selection=opened.selection) != opened:
        return False
    try:
        return job.builder.table == job.table
    except SchemaError:
        return False


def _bytes_of(feeds: Iterable[OpenedFeed]) -> int:
    files = (file for feed in feeds for file in feed.source.files)
    return bytes_of(map(Piece.whole, files))


def _name(job: Job) -> TableName:
    return job.table.schema, job.table.table
