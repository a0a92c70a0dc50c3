"""The engine that decodes and compares feeds in this process."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cdcwire.arrow.batches import MessagePlace, RowProblem
from cdcwire.arrow.schema import CanonicalTable, event_schema
from cdcwire_conformance.compare.difference_files import COLUMNS, check_empty, rows_of_differences
from cdcwire_conformance.compare.embedded.changes import ColumnChanges, is_in, nulls_first
from cdcwire_conformance.compare.embedded.kept_rows import (
    KeptBatches,
    KeptRows,
    Room,
    foretold_jobs,
)
from cdcwire_conformance.compare.embedded.passes import batches_of, job_for
from cdcwire_conformance.compare.embedded.tables import ComparedTable, Write
from cdcwire_conformance.compare.feed import ComparedFeed, OpenedFeed
from cdcwire_conformance.compare.feeds import (
    UNREADABLE_SHOWN,
    Inspect,
    Report,
    no_inspection,
    no_report,
    unreadable_message,
)
from cdcwire_conformance.compare.feeds import compare_feeds as compare_on
from cdcwire_conformance.compare.merging import with_bytes
from cdcwire_conformance.compare.plan import TableTask
from cdcwire_conformance.compare.result import (
    Comparison,
    RowDifference,
    TableComparison,
    UnreadableMessage,
)
from cdcwire_conformance.compare.rules import (
    DEFAULT_OPTIONS,
    CompareOptions,
    ComparisonRules,
    Window,
)
from cdcwire_conformance.compare.work import Work
from cdcwire_conformance.decode.many_tables import Ahead, decode_here
from cdcwire_conformance.decode.workers import HERE, ThisProcess

_ARROW_TYPES = {"STRING": pa.string(), "BIGINT": pa.int64(), "BOOLEAN": pa.bool_()}


def compare_feeds(
    left: ComparedFeed,
    right: ComparedFeed,
    options: CompareOptions = DEFAULT_OPTIONS,
    report: Report = no_report,
    inspect: Inspect = no_inspection,
    workers: ThisProcess = HERE,
) -> Comparison:
    """Compare two feeds in directories, in this process. ``report`` is called with each step.

    ``inspect`` is called with both feeds at the end. ``workers``: ``reading_processes`` gives some,
    for large feeds.

    Raises: SchemaError when there is nothing to compare; FeedError at the first message that can't
    be read, if errors are to stop.
    """
    try:
        with Room() as room:
            engine = EmbeddedEngine(workers=workers, room=room)
            return compare_on(engine, left, right, options, report, inspect)
    finally:
        gc.unfreeze()  # decoding freezes all objects, which suits a worker but not this process


@dataclass(frozen=True, slots=True)
class EmbeddedEngine:
    """Compares in this process. Decoded rows that do not fit into memory are in temporary files."""

    name: str = "embedded"
    is_exact: bool = False
    workers: ThisProcess = HERE
    room: Room = field(default_factory=Room)
    kept: tuple[KeptRows, KeptRows] = field(default_factory=lambda: (KeptRows(), KeptRows()))

    def begin(self, options: CompareOptions) -> None:
        """Prepare the place for all differences. Raises: SchemaError if it is not empty."""
        if options.differences_to is not None:
            check_empty(options.differences_to)
            _write(options.differences_to, "none", [])  # so that the folder can be read

    def ahead(
        self, left: OpenedFeed, right: OpenedFeed, options: CompareOptions
    ) -> tuple[Ahead | None, Ahead | None]:
        """Return who keeps rows of each feed in the first scan of it; None: nobody."""
        jobs = foretold_jobs(left, right, options)
        ours, theirs = (
            kept.ahead(own, self.room, self.workers) if own else None
            for kept, own in zip(self.kept, jobs, strict=True)
        )
        return ours, theirs

    def compared(
        self, tasks: Sequence[TableTask], options: CompareOptions, report: Report
    ) -> Iterator[TableComparison]:
        """Yield the comparison of the rows of each table, in their order."""
        if not tasks:
            return
        work = Work(total=sum(each.rows for each in tasks))
        report("decoding both feeds", work)
        sides = []
        for feed, kept in zip((tasks[0].left, tasks[0].right), self.kept, strict=True):
            known = kept.of_tables(feed, tasks, options)
            found = {number: KeptBatches(self.room) for number in range(len(tasks))} | known
            if known:
                work = replace(work, done=work.done + sum(each.rows for each in known.values()))
                report("decoding both feeds", work)
            for number, batch in batches_of(feed, tasks, options, self.workers, known):
                found[number].append(batch)
                work = replace(work, done=work.done + batch.num_rows)
                report("decoding both feeds", work)
            sides.append(found)
        for number, task in enumerate(tasks):
            report(f"table {number + 1} of {len(tasks)}, {task.table}: comparing both sides")
            left, right = (side.pop(number) for side in sides)  # needed no more
            table = compared_table(task.table, task.replaced, task.rules, options)
            yield table.compared(left, right, writer_of(task.table, number, options))

    def unreadable(
        self,
        feed: OpenedFeed,
        tables: Iterable[CanonicalTable],
        position: str | None,
        options: CompareOptions,
    ) -> tuple[int, list[UnreadableMessage]]:
        """Return how many messages or rows can't be read, and the first of them."""
        jobs = [job_for(feed, feed.own_table(table), options) for table in tables]
        found = decode_here(feed.opened, jobs, self.workers)
        errors = {each for _, batch in found for each in errors_in(batch, position, options.window)}
        in_order = sorted(errors, key=lambda each: _error_order(*each))
        return len(errors), [
            unreadable_message(problem, place) for place, problem in in_order[:UNREADABLE_SHOWN]
        ]


def compared_table(
    table: CanonicalTable,
    replaced: frozenset[str],
    rules: ComparisonRules,
    options: CompareOptions,
) -> ComparedTable:
    """Return a table as its decoded rows are compared. ``replaced``: as in ``TableTask``."""
    image = event_schema(with_bytes(table, replaced), options.temporal).field("after").type
    cuts = options.meaning.cuts(table)
    encodings = [options.meaning.encodings(table, side) for side in ("left", "right")]
    encoded = {name for each in encodings for name in each}
    ours, theirs = (ColumnChanges(replaced, cuts, each, encoded) for each in encodings)
    return ComparedTable(table, image, rules, options, (ours, theirs))


def errors_in(
    batch: pa.RecordBatch, position: str | None, window: Window | None
) -> Iterator[tuple[MessagePlace, RowProblem]]:
    """Yield what can't be read of a batch, and where. ``position``: by which a window has it."""
    if batch.column("error").null_count == batch.num_rows:
        return
    names = ["source", "error", *([] if position is None else [position])]
    bad = batch.filter(batch.column("error").is_valid())
    for row in bad.select(names).to_pylist():
        if position is None or is_in(row[position], window):
            place = MessagePlace(*(row["source"][name] for name in MessagePlace._fields))
            yield place, RowProblem(**row["error"])


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
