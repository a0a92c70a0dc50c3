"""The engine that decodes and compares feeds in this process."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cdcwire.arrow.batches import MessagePlace, RowProblem
from cdcwire.arrow.schema import CanonicalTable, event_schema
from cdcwire_conformance.compare.difference_files import COLUMNS, check_empty, rows_of_differences
from cdcwire_conformance.compare.embedded.changes import ColumnChanges, is_in, nulls_first
from cdcwire_conformance.compare.embedded.kept_batches import KeptBatches, Room
from cdcwire_conformance.compare.embedded.shares import rows_of_share
from cdcwire_conformance.compare.embedded.tables import TableSides, Write, compare_batches
from cdcwire_conformance.compare.feed import ComparedFeed, OpenedFeed
from cdcwire_conformance.compare.feeds import (
    UNREADABLE_SHOWN,
    Inspect,
    Report,
    TableTask,
    no_inspection,
    no_report,
    unreadable_message,
)
from cdcwire_conformance.compare.feeds import compare_feeds as compare_on
from cdcwire_conformance.compare.ill_formed import with_bytes
from cdcwire_conformance.compare.result import (
    Comparison,
    RowDifference,
    TableComparison,
    UnreadableMessage,
)
from cdcwire_conformance.compare.rules import DEFAULT_OPTIONS, CompareOptions
from cdcwire_conformance.compare.work import Work
from cdcwire_conformance.decode.many_tables import decode_here
from cdcwire_conformance.decode.opening import ready_job
from cdcwire_conformance.decode.reading import Job
from cdcwire_conformance.decode.workers import HERE, Workers

_ARROW_TYPES = {"STRING": pa.string(), "BIGINT": pa.int64(), "BOOLEAN": pa.bool_()}


def compare_feeds(
    left: ComparedFeed,
    right: ComparedFeed,
    options: CompareOptions = DEFAULT_OPTIONS,
    report: Report = no_report,
    inspect: Inspect = no_inspection,
) -> Comparison:
    """Compare two feeds in directories, in this process. ``report`` is called with each step.

    ``inspect`` is called with both feeds at the end.

    Raises: SchemaError when there is nothing to compare; FeedError at the first message that can't
    be read, if errors are to stop.
    """
    try:
        return compare_on(EmbeddedEngine(), left, right, options, report, inspect)
    finally:
        gc.unfreeze()  # decoding freezes all objects, which suits a worker but not this process


@dataclass(frozen=True, slots=True)
class EmbeddedEngine:
    """Compares in this process. Decoded rows that do not fit into memory are in temporary files."""

    name: str = "embedded"
    is_exact: bool = False
    workers: Workers = HERE

    def begin(self, options: CompareOptions) -> None:
        """Prepare the place for all differences. Raises: SchemaError if it is not empty."""
        if options.differences_to is not None:
            check_empty(options.differences_to)
            _write(options.differences_to, "none", [])  # so that the folder can be read

    def compared(
        self, tasks: Sequence[TableTask], options: CompareOptions, report: Report
    ) -> Iterator[TableComparison]:
        """Yield the comparison of the rows of each table, in their order."""
        if not tasks:
            return
        with Room() as room:
            work = Work(total=sum(each.rows for each in tasks))
            report("decoding both feeds", work)
            sides = []
            for feed in (tasks[0].left, tasks[0].right):
                found = {number: KeptBatches(room) for number in range(len(tasks))}
                for number, batch in batches_of(feed, tasks, options):
                    found[number].append(batch)
                    work = replace(work, done=work.done + batch.num_rows)
                    report("decoding both feeds", work)
                sides.append(found)
            for number, task in enumerate(tasks):
                report(f"table {number + 1} of {len(tasks)}, {task.table}: comparing both sides")
                left, right = (side.pop(number) for side in sides)  # needed no more
                both = sides_of(task.table, task.replaced, options, left, right)
                yield compare_batches(
                    both, task.rules, options, writer_of(task.table, number, options)
                )

    def unreadable(
        self,
        feed: OpenedFeed,
        tables: Iterable[CanonicalTable],
        position: str | None,
        options: CompareOptions,
    ) -> tuple[int, list[UnreadableMessage]]:
        """Return how many messages or rows can't be read, and the first of them."""
        jobs = [job_for(feed, feed.own_table(table), options) for table in tables]
        errors = {
            (
                MessagePlace(*(row["source"][name] for name in MessagePlace._fields)),
                RowProblem(**row["error"]),
            )
            for batches in _decoded(feed, jobs).values()
            for row in _errors_in(batches, position)
            if position is None or is_in(row[position], options.window)
        }
        in_order = sorted(errors, key=lambda each: _error_order(*each))
        return len(errors), [
            unreadable_message(problem, place) for place, problem in in_order[:UNREADABLE_SHOWN]
        ]


def batches_of(
    feed: OpenedFeed, tasks: Sequence[TableTask], options: CompareOptions
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the batches of each table by its number, those of a table in the order of its shares.

    Tables with the rows of one name are decoded in one pass, and each share of others in its own.
    """
    shares = [feed.shares_of(with_bytes(each.table, each.replaced)) for each in tasks]
    own = [feed.own_name((each.table.schema, each.table.table)) for each in tasks]
    alone = [n for n, each in enumerate(shares) if [s.name for _, s in each] == [own[n]]]
    passes = [[(n, 0) for n in alone]]
    passes += [[(n, i)] for n in range(len(tasks)) if n not in alone for i in range(len(shares[n]))]
    for parts in passes:
        jobs = [job_for(feed, shares[n][i][0], options) for n, i in parts]
        for number, batch in decode_here(feed.opened, jobs) if jobs else ():
            n, i = parts[number]
            is_last = i == len(shares[n]) - 1
            share, position = shares[n][i][1], tasks[n].rules.position
            yield from (
                (n, each) for each in rows_of_share([batch], share, position, is_last=is_last)
            )


def sides_of(
    table: CanonicalTable,
    replaced: frozenset[str],
    options: CompareOptions,
    left: Iterable[pa.RecordBatch],
    right: Iterable[pa.RecordBatch],
) -> TableSides:
    """Return the decoded rows of both sides. ``replaced``: as in ``TableTask``."""
    image = event_schema(with_bytes(table, replaced), options.temporal).field("after").type
    cuts = options.meaning.cuts(table)
    encodings = [options.meaning.encodings(table, side) for side in ("left", "right")]
    encoded = {name for each in encodings for name in each}
    ours, theirs = (ColumnChanges(replaced, cuts, each, encoded) for each in encodings)
    return TableSides(table, image, left, right, (ours, theirs))


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


def _decoded(feed: OpenedFeed, jobs: Sequence[Job]) -> dict[int, list[pa.RecordBatch]]:
    """Return the batches of each job."""
    found: dict[int, list[pa.RecordBatch]] = {number: [] for number in range(len(jobs))}
    for number, batch in decode_here(feed.opened, jobs):
        found[number].append(batch)
    return found


def _errors_in(batches: Iterable[pa.RecordBatch], position: str | None) -> Iterator[dict[str, Any]]:
    """Yield ``source``, ``error`` and the position of each row that has an error."""
    names = ["source", "error", *([] if position is None else [position])]
    for batch in batches:
        if batch.column("error").null_count < batch.num_rows:
            rows = batch.select(names).to_pylist()
            yield from (row for row in rows if row["error"] is not None)


def _error_order(place: MessagePlace, problem: RowProblem) -> tuple[Any, ...]:
    parts = (place.topic, place.partition, place.file, place.offset, problem.offset)
    return tuple(map(nulls_first, parts))


def writer_of(table: CanonicalTable, number: int, options: CompareOptions) -> Write | None:
    """Return what writes the differences of a table to the folder that the options name."""
    folder = options.differences_to
    if folder is None:
        return None

    numbers, parts = count(), count()

    def write(differences: Iterable[RowDifference]) -> None:
        rows = rows_of_differences(differences, str(table), numbers, options.mask)
        _write(folder, f"table-{number}-{next(parts)}", rows)

    return write


def _write(folder: str, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
    values = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    arrays = [
        pa.array(column, _ARROW_TYPES[kind])
        for column, kind in zip(values, COLUMNS.values(), strict=True)
    ]
    Path(folder).mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(arrays, list(COLUMNS)), Path(folder) / f"{name}.parquet")
