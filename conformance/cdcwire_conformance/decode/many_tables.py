"""Reads the rows of several tables from a feed at once, in batches with the schema of each.

The jobs of a comparison need facts about all rows of both feeds. Mostly a sample shows the same, so
the rows are decoded in the first scan by its jobs, and kept (``Ahead``). They are used if the jobs
prove right in the end: what a job gives of a message depends on nothing else. Otherwise the feed is
read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from typing import TypeAlias

import pyarrow as pa

from cdcwire.arrow.batches import Change, MessagePlace, RowProblem
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.rows import Row
from cdcwire.feed import FeedError
from cdcwire.files.stores import OpenFile, open_here
from cdcwire.model.events import Event, RowChange, TableName, full_name
from cdcwire_conformance.decode.decoders import place_decoder
from cdcwire_conformance.decode.opening import OpenedSource
from cdcwire_conformance.decode.reading import (
    Job,
    Located,
    RowBatches,
    columns_of,
    decode_messages,
    few_collections,
    messages_of_piece,
)
from cdcwire_conformance.decode.stored_rows import StoredData, decode_files, problem_batches
from cdcwire_conformance.decode.surveying import Scan, Survey, Surveyed
from cdcwire_conformance.decode.workers import (
    HERE,
    IN_ORDER_BYTES,
    Found,
    Numbered,
    T,
    ThisProcess,
    Work,
    work_in_order,
    work_of_lines,
)
from cdcwire_conformance.sources.pieces import Piece
from cdcwire_conformance.sources.source_urls import Source


def decode_here(
    opened: OpenedSource, jobs: Sequence[Job], workers: ThisProcess = HERE
) -> Iterator[Numbered]:
    """Yield the rows of tables in a directory, decoded without Spark. ``jobs``: of its tables.

    Raises: FeedError if errors are to stop.
    """
    prefix = opened.prefix
    if prefix is None:
        work = work_of_lines(opened.source, workers.count, IN_ORDER_BYTES)
        yield from workers.in_order(work, partial(_rows_of_pieces, jobs))
        return
    for number, job in enumerate(jobs):
        names = [(job.table.schema, job.table.table)]
        for batch in problem_batches(job, prefix.problems_of(names)):
            yield number, batch
        files = work_in_order(prefix.files_of(names))
        read = partial(_rows_of_files, number, job, prefix.folder, prefix.checkpoint)
        yield from workers.in_order(files, read)


def _rows_of_pieces(jobs: Sequence[Job], pieces: Sequence[Piece]) -> Iterator[Numbered]:
    return decode_tables(jobs, chain.from_iterable(map(messages_of_piece, pieces)))


def _rows_of_files(
    number: int, job: Job, folder: str, checkpoint: int | None, files: Sequence[StoredData]
) -> Iterator[Numbered]:
    return ((number, batch) for batch in decode_files(job, folder, checkpoint, files))


def decode_tables(
    jobs: Sequence[Job], messages: Iterable[Located], open_file: OpenFile = open_here
) -> Iterator[Numbered]:
    """Yield the rows of tables among messages. The jobs differ in their tables only.

    Raises: FeedError if errors are to stop.
    """
    if len(jobs) == 1:
        yield from ((0, batch) for batch in decode_messages(jobs[0], messages, open_file))
    elif jobs:
        with few_collections():
            yield from _TableRows(jobs, open_file).batches(messages)


class RowsByTable:
    """Sorts the changes of messages by the tables of jobs, and makes batches of them.

    ``drops``: a row that does not fit raises nothing, but ends the batches of its table.
    ``dropped``: the numbers of such tables.
    """

    def __init__(self, jobs: Sequence[Job], open_file: OpenFile, *, drops: bool = False) -> None:
        self.of_tables = [RowBatches(job, open_file) for job in jobs]
        self.dropped: set[int] = set()
        self._drops = drops
        names = [(job.table.schema, job.table.table) for job in jobs]
        self._numbers: dict[TableName, int] = {name: n for n, name in enumerate(names)}

    def added(
        self, place: MessagePlace, changes: Iterable[Row | Event], size: int
    ) -> Iterable[Numbered]:
        """Take the changes of a message of ``size`` bytes, and return batches to be iterated."""
        full = [
            number
            for number, own in self._sorted(changes).items()
            if number not in self.dropped and self.of_tables[number].add(place, own, size)
        ]
        return self._waiting(full) if full else ()

    def waiting(self) -> Iterator[Numbered]:
        """Yield the batches of the changes that are not yet in one."""
        return self._waiting(range(len(self.of_tables)))

    def batches(self, number: int, batches: Iterable[pa.RecordBatch]) -> Iterator[Numbered]:
        """Yield the batches of a table. Raises: FeedError, unless tables are dropped."""
        if number in self.dropped:
            return
        try:
            yield from zip(repeat(number), batches)
        except FeedError:
            if not self._drops:
                raise
            self.dropped.add(number)

    def _waiting(self, numbers: Iterable[int]) -> Iterator[Numbered]:
        for number in numbers:
            yield from self.batches(number, self.of_tables[number].waiting())

    def _sorted(self, changes: Iterable[Row | Event]) -> dict[int, list[Change]]:
        """Return the changes of the tables, by the number of a job."""
        numbers = self._numbers
        found: dict[int, list[Change]] = {}
        for change in changes:
            if isinstance(change, (Row, RowChange)):
                table = change.table
                name: TableName = (table.schema, table.name or "")
                if table.database is not None and name not in numbers:
                    name = full_name(table)
                if name in numbers:
                    found.setdefault(numbers[name], []).append(change)
        return found


class _TableRows:
    """Decodes each message once, and gives its rows to their tables."""

    def __init__(self, jobs: Sequence[Job], open_file: OpenFile) -> None:
        first = jobs[0].context
        names = frozenset((job.table.schema, job.table.table) for job in jobs)
        chosen = [job.context.selection.columns for job in jobs]
        every = None if None in chosen else frozenset().union(*(each or () for each in chosen))
        selection = replace(first.selection, tables=names, columns=every)
        self._decoder_at = place_decoder(jobs[0].format, replace(first, selection=selection))
        self._rows = RowsByTable(jobs, open_file)

    def batches(self, messages: Iterable[Located]) -> Iterator[Numbered]:
        """Yield the batches of messages, none left out."""
        decoder_at, rows = self._decoder_at, self._rows
        for place, message in messages:
            try:
                changes = None if isinstance(message, RowProblem) else decoder_at(place)(message)
            except DecodeError:
                changes = None
            if changes is None or isinstance(message, RowProblem):
                yield from self._each_by_itself(place, message)
            else:
                yield from rows.added(place, changes, len(message.value or b""))
        yield from rows.waiting()

    def _each_by_itself(
        self, place: MessagePlace, message: Message | RowProblem
    ) -> Iterator[Numbered]:
        """Decode a message that can't be read for each table. Not each need look into it."""
        for number, rows in enumerate(self._rows.of_tables):
            yield from self._rows.batches(number, rows.batches([(place, message)]))


SAMPLE_PARTS = 8
SAMPLE_BYTES = 64 << 10  # of each part

Part: TypeAlias = "pa.RecordBatch | Surveyed | None"
"""Rows, what a share has, or None: the rows of a table can't be had in this scan."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Takes rows in the first scan of a feed. ``jobs``: of its tables, as foretold.

    ``keep`` is called with the number of a job and a batch of its rows, in their order; ``drop``
    with the number of a job whose rows are not all kept. ``workers``: those who read the feed.
    """

    jobs: Sequence[Job]
    keep: Callable[[int, pa.RecordBatch], None]
    drop: Callable[[int], None]
    workers: ThisProcess

    def survey(self, source: Source, survey: Survey) -> Surveyed:
        """Return what the messages of JSON lines have. Raises: FeedError, if errors are to stop."""
        work = work_of_lines(source, self.workers.count, IN_ORDER_BYTES)
        found = Surveyed()
        read: Callable[[Sequence[Piece]], Iterator[tuple[int, Part]]]
        read = partial(_rows_and_facts, survey, self.jobs)
        for number, part in self.workers.in_order(work, read):
            if part is None:
                self.drop(number)
            elif isinstance(part, Surveyed):
                found = found.joined(part)
            else:
                self.keep(number, part)
        return found


def _rows_and_facts(
    survey: Survey, jobs: Sequence[Job], pieces: Sequence[Piece]
) -> Iterator[tuple[int, Part]]:
    """Yield the rows of a share by the numbers of their jobs, then what the share has."""
    with few_collections():
        rows = RowsByTable(jobs, open_here, drops=True)
        columns = columns_of(jobs[0], rows.of_tables[0]) if len(jobs) == 1 else None
        scan = Scan(survey, open_here, takes_values=columns is None)
        messages = chain.from_iterable(map(messages_of_piece, pieces))
        for place, message, changes in scan.changes_of(messages):
            if changes is None or isinstance(message, RowProblem):
                rows.dropped.update(range(len(jobs)))  # each table has its error
            elif columns is None:
                yield from rows.added(place, changes, len(message.value or b""))
            elif not rows.dropped and columns.add(place, message):
                yield from rows.batches(0, columns.full())
        yield from rows.waiting() if columns is None else rows.batches(0, columns.waiting())
    yield from ((number, None) for number in rows.dropped)
    yield 0, scan.found


class Sampling(ThisProcess):
    """Reads some lines of each feed only, from places all over it."""

    @property
    def count(self) -> int:
        """Return how many places there are."""
        return SAMPLE_PARTS

    def found(
        self, work: Work[T], search: Callable[[int, Sequence[T]], list[Found]]
    ) -> list[Found]:
        """Return the values that a search of some lines finds."""
        shares = work.shares[:: max(1, len(work.shares) // SAMPLE_PARTS)]
        pieces = [each for share in shares for each in share[:1]]
        return search(0, [_beginning(each) for each in pieces]) if pieces else []


def _beginning(piece: T) -> T:
    if not isinstance(piece, Piece):
        return piece
    return piece._replace(end=min(piece.end, piece.start + SAMPLE_BYTES))
