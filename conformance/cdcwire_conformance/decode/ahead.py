"""Rows that are decoded in the first scan of a feed, by jobs that a sample of the feed foretells.

The jobs of a comparison need facts about all rows of both feeds. Mostly a sample shows the same, so
the rows are decoded by its jobs, and kept. They are used if the jobs prove right in the end: what a
job gives of a message depends on nothing else. Otherwise the feed is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TypeAlias

import pyarrow as pa

from cdcwire.arrow.batches import Change, MessagePlace, RowProblem
from cdcwire.feed import FeedError
from cdcwire.files.stores import open_here
from cdcwire_conformance.decode.many_tables import RowsByTable
from cdcwire_conformance.decode.reading import (
    ColumnBatches,
    Job,
    RowBatches,
    columns_of,
    few_collections,
    messages_of_piece,
)
from cdcwire_conformance.decode.surveying import Changed, Scan, Survey, Surveyed
from cdcwire_conformance.decode.work import IN_ORDER_BYTES, Work, work_of_lines
from cdcwire_conformance.decode.workers import Found, T, ThisProcess
from cdcwire_conformance.sources.pieces import Piece
from cdcwire_conformance.sources.source_urls import Source

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
        rows = _Rows(jobs)
        scan = Scan(survey, open_here, takes_values=rows.columns is None)
        for changed in scan.changes_of(chain.from_iterable(map(messages_of_piece, pieces))):
            yield from rows.added(changed)
        yield from rows.waiting()
    yield 0, scan.found


class _Rows:
    """Makes batches of changes. A table with a row that does not fit is dropped.

    ``columns``: what decodes the messages of one table by columns; None: their changes are taken.
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._rows = RowsByTable(jobs, open_here)
        tables = self._rows.of_tables
        self.columns = columns_of(jobs[0], tables[0]) if len(jobs) == 1 else None
        self._dropped: set[int] = set()

    def added(self, changed: Changed) -> Iterable[tuple[int, Part]]:
        """Take the changes of a message, and return the batches that are full, to be iterated."""
        place, message, changes = changed
        if changes is None or isinstance(message, RowProblem):  # each table has its error
            return [each for n in range(len(self._rows.of_tables)) for each in self._drop(n)]
        if self.columns is None:
            return self._added(place, changes, len(message.value or b""))
        if self._dropped or not self.columns.add(place, message):
            return ()
        return self._batches(0, self.columns.full())

    def _added(
        self, place: MessagePlace, changes: Iterable[Change], size: int
    ) -> Iterator[tuple[int, Part]]:
        for number, own in self._rows.sorted(changes).items():
            if number not in self._dropped:
                rows = self._rows.of_tables[number]
                yield from self._batches(number, rows.added(place, own, size))

    def waiting(self) -> Iterator[tuple[int, Part]]:
        """Yield the batches of the changes that are not yet in one."""
        makers: Sequence[RowBatches | ColumnBatches] = self._rows.of_tables
        if self.columns is not None:
            makers = [self.columns]
        for number, maker in enumerate(makers):
            if number not in self._dropped:
                yield from self._batches(number, maker.waiting())

    def _batches(
        self, number: int, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[tuple[int, Part]]:
        try:
            for batch in batches:
                yield number, batch
        except FeedError:  # the jobs that prove right may read the row
            yield from self._drop(number)

    def _drop(self, number: int) -> Iterator[tuple[int, Part]]:
        if number not in self._dropped:
            self._dropped.add(number)
            yield number, None


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
