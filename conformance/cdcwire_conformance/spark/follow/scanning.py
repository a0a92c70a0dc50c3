"""Scanning new records of a topic for the positions of their events, without the values.

Spark's workers scan, and decode no column if the format can skip columns. The driver gets a small
record per run of offsets, and a line for each of the first rows that belong to no window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from cdcwire.arrow.batches import MessagePlace, RowProblem, problem_of
from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.rows import Row
from cdcwire.format import Format
from cdcwire.model.events import Event, Progress, RowChange, SchemaChange, TableName
from cdcwire_conformance.compare.rules import Window
from cdcwire_conformance.decode.decoders import place_decoder
from cdcwire_conformance.decode.reading import (
    Located,
    OnError,
    error_place,
    error_text,
    few_collections,
    locate_problem,
    messages_of_batches,
)
from cdcwire_conformance.sources.kafka_url import OffsetRange
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.spark.follow.watermarks import BLOCKS, ScannedRun, WatermarkRule
from cdcwire_conformance.spark.reading.workers import SparkWorkers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COMPLETE = frozenset({"resolved", "watermark", "checkpoint"})  # all before it was sent
_LEAST_RECORDS = 256  # of a block


@dataclass(frozen=True, slots=True)
class ScanJob:
    """The settings of a scan, sent to workers.

    ``since`` and ``until``: rows outside do not count. ``reported_to``: rows below it are late.
    ``hides_values``: lines about messages that can't be read do not quote them. ``ddl_events``: DDL
    events belong to windows, as rows do.
    """

    format: Format
    context: Context
    position: str
    rule: WatermarkRule
    on_error: OnError
    include: frozenset[TableName] | None = None
    since: int | None = None
    until: int | None = None
    reported_to: int | None = None
    hides_values: bool = False
    ddl_events: bool = False
    records_of_block: int = _LEAST_RECORDS


def scan_records(
    spark: SparkSession, source: Source, ranges: Sequence[OffsetRange], job: ScanJob
) -> list[ScannedRun]:
    """Scan these records of a topic, in runs.

    Raises: FeedError's line in what Spark raises, if errors are to stop.
    """
    assert source.topic is not None
    longest = max(each.end - each.start for each in ranges)
    job = replace(job, records_of_block=max(_LEAST_RECORDS, -(-longest // BLOCKS)))
    topic = source.topic.with_ranges(tuple(ranges))

    def scan_batches(batches: Iterable[pa.RecordBatch]) -> list[ScannedRun]:
        with few_collections():
            return list(scan(job, messages_of_batches(batches)))

    return SparkWorkers(spark).found_in_records(replace(source, topic=topic), scan_batches)


def scan(job: ScanJob, messages: Iterable[Located]) -> Iterator[ScannedRun]:
    """Yield the runs of messages that come partition by partition, in the order of offsets."""
    decoder_at = place_decoder(job.format, _context_of(job))
    run: ScannedRun | None = None
    records = 0
    for place, message in messages:
        assert place.partition is not None
        assert place.offset is not None
        if run is not None and (
            run.partition != place.partition
            or run.end > place.offset
            or records >= job.records_of_block
        ):
            yield run
            run = None
        if run is None:
            run, records = ScannedRun(place.partition, place.offset, place.offset), 0
        records += 1
        run.end = place.offset + 1
        if isinstance(message, RowProblem):
            _add_problem(job, run, message, place)
            continue
        try:
            found = list(decoder_at(place)(message))
        except DecodeError as error:
            _add_problem(job, run, problem_of(error), place)
            continue
        for each in found:
            _add(job, run, each, place)
    if run is not None:
        yield run


def only_in(position: str, window: Window) -> Callable[[Row | RowChange], bool]:
    """Return a picklable function: whether a row change is in a window."""
    start, end = window.start, window.end

    def is_in(change: Row | RowChange) -> bool:
        at = _position_of(change, position)
        return at is not None and (start is None or at >= start) and (end is None or at < end)

    return is_in


def _position_of(change: Row | RowChange, name: str) -> int | None:
    position = change if isinstance(change, Row) else change.position
    at: int | None = getattr(position, name, None)
    return at


def _context_of(job: ScanJob) -> Context:
    """Return the context of a scan.

    If errors are to stop, comparing finds those in columns, so columns are skipped here. By the
    rule "rows", rows of tables that are not included raise the watermark too.
    """
    skips_columns = job.format.skips_columns and job.on_error != "row"
    columns: frozenset[str] | None = frozenset() if skips_columns else None
    include = None if job.rule == "rows" else job.include
    selection = replace(job.context.selection, tables=include, columns=columns)
    return replace(job.context, selection=selection)


def _add(job: ScanJob, run: ScannedRun, change: Row | Event, place: MessagePlace) -> None:
    """Add an event to a run."""
    if isinstance(change, Progress):
        at = getattr(change.position, job.position)
        if job.rule == "progress" and at is not None and change.what in _COMPLETE:
            run.raise_watermark(at)
        return
    if isinstance(change, SchemaChange):
        if job.ddl_events:
            at = getattr(change.position, job.position)
            _add_placed(job, run, at, lambda: f"{_message_at(place)}: a DDL event")
        return
    if not isinstance(change, (Row, RowChange)):
        return
    at = _position_of(change, job.position)
    if at is not None and job.rule == "rows":
        run.raise_watermark(at)
    table = change.table
    if Selection(job.include).wants_rows_of(table):
        _add_placed(job, run, at, lambda: f"{_message_at(place)}: a row of {table.name}")


def _add_placed(job: ScanJob, run: ScannedRun, at: int | None, what: Callable[[], str]) -> None:
    """Add an event that belongs to the window of its position."""
    if at is None:
        run.unplaced += 1
        run.add_line(lambda: f"{what()} has no {job.position}")
    elif job.since is not None and at < job.since:
        return
    elif job.reported_to is not None and at < job.reported_to:
        run.late += 1
        run.add_line(lambda: f"{what()} came late, {job.position} {at}")
    elif job.until is None or at < job.until:
        run.add_row(at)


def _message_at(place: MessagePlace) -> str:
    return f"{place.topic}[{place.partition}]@{place.offset}"


def _add_problem(job: ScanJob, run: ScannedRun, problem: RowProblem, place: MessagePlace) -> None:
    locate_problem(problem, place, job.on_error, False)
    run.unreadable += 1
    text = error_place if job.hides_values else error_text
    run.add_line(lambda: text(problem, place))
