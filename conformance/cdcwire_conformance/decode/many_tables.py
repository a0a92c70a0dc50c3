"""Reads the rows of several tables from a feed at once, in batches with the schema of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, repeat

import pyarrow as pa

from cdcwire.arrow.batches import Change, MessagePlace, RowProblem
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.rows import Row
from cdcwire.feed import FeedError
from cdcwire.files.stores import OpenFile, open_here
from cdcwire.model.events import Event, RowChange
from cdcwire.model.names import TableName, full_name
from cdcwire_conformance.decode.decoders import place_decoder
from cdcwire_conformance.decode.opening import OpenedSource
from cdcwire_conformance.decode.reading import (
    Job,
    Located,
    RowBatches,
    decode_messages,
    few_collections,
    messages_of_piece,
)
from cdcwire_conformance.decode.stored_rows import StoredData, decode_files, problem_batches
from cdcwire_conformance.decode.work import IN_ORDER_BYTES, work_in_order, work_of_lines
from cdcwire_conformance.decode.workers import HERE, Numbered, ThisProcess
from cdcwire_conformance.sources.pieces import Piece


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
