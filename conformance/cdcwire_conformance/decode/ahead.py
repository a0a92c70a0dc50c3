"""Rows that are decoded in the first scan of a feed, by jobs that a sample of the feed foretells.

The jobs of a comparison need facts about all rows of both feeds. Mostly a sample shows the same, so
the rows are decoded by its jobs, and kept. They are used if the jobs prove right in the end: what a
job gives of a message depends on nothing else. Otherwise the feed is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TypeAlias

import pyarrow as pa

from cdcwire.arrow.batches import RowProblem
from cdcwire.files.stores import open_here
from cdcwire_conformance.decode.many_tables import RowsByTable
from cdcwire_conformance.decode.reading import (
    Job,
    columns_of,
    few_collections,
    messages_of_piece,
)
from cdcwire_conformance.decode.surveying import Scan, Survey, Surveyed
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
