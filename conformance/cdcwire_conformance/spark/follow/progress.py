"""A first look at new records of a topic: between which positions their rows are, no values.

It runs in Spark's workers and decodes no column where the format can pass over them. A small record
for each run of offsets comes back, and of what belongs to no window the first few places.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from cdcwire.core.errors import DecodeError, path_text
from cdcwire.core.format import Context, Selection, TableName
from cdcwire.core.registry import get_format
from cdcwire.core.rows import Row
from cdcwire.model.events import Event, Progress, RowChange
from cdcwire_conformance.arrow.batches import Place, RowProblem
from cdcwire_conformance.arrow.decoders import place_decoder
from cdcwire_conformance.sources.kafka_url import OffsetRange
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.spark.compare.options import Window
from cdcwire_conformance.spark.compare.rules import PositionName
from cdcwire_conformance.spark.decode.reading import (
    Located,
    OnError,
    error_text,
    few_collections,
    locate_problem,
    messages_of_batches,
)
from cdcwire_conformance.spark.decode.records import messages_of_records
from cdcwire_conformance.spark.follow.watermarks import BLOCKS, NOTICES, Rule, Seen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COMPLETE = frozenset({"resolved", "watermark", "checkpoint"})  # all before it was sent
_LEAST_RECORDS = 256  # of a block


@dataclass(frozen=True, slots=True)
class Look:
    """What a worker needs to know to look at records.

    ``since`` and ``until``: rows outside are not asked for. ``told``: rows below it are late.
    """

    format: str
    context: Context
    position: PositionName
    rule: Rule
    on_error: OnError
    include: frozenset[TableName] | None
    since: int | None
    until: int | None
    told: int | None
    records_of_block: int = _LEAST_RECORDS


def look_at(
    spark: SparkSession, source: Source, ranges: Sequence[OffsetRange], look: Look
) -> list[Seen]:
    """Return what is in these records of a topic, in runs.

    Raises: FeedError's line in what Spark raises, if errors are to stop.
    """
    assert source.topic is not None
    longest = max(each.end - each.start for each in ranges)
    look = replace(look, records_of_block=max(_LEAST_RECORDS, -(-longest // BLOCKS)))
    topic = source.topic.with_ranges(tuple(ranges))
    frame = messages_of_records(spark, replace(source, topic=topic))

    def look_into(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with few_collections():
            found = list(seen_in(look, messages_of_batches(batches)))
        yield pa.RecordBatch.from_arrays(
            [pa.array([pickle.dumps(found)], pa.binary())], names=["found"]
        )

    rows = frame.mapInArrow(look_into, "found binary").collect()
    return [each for row in rows for each in pickle.loads(row["found"])]  # our own workers wrote it


def seen_in(look: Look, messages: Iterable[Located]) -> Iterator[Seen]:
    """Yield what is in messages, which come partition by partition, each in its order."""
    decoder_at = place_decoder(look.format, _context_of(look))
    run: _Run | None = None
    for place, message in messages:
        assert place.partition is not None
        assert place.offset is not None
        if run is not None and (
            run.partition != place.partition
            or run.end > place.offset
            or run.records >= look.records_of_block
        ):
            yield run.seen()
            run = None
        if run is None:
            run = _Run(look, place.partition, place.offset)
        run.records += 1
        run.end = place.offset + 1
        if isinstance(message, RowProblem):
            run.add_problem(message, place)
            continue
        try:
            found = list(decoder_at(place)(message))
        except DecodeError as error:
            path = path_text(error.path)
            run.add_problem(RowProblem(error.offset, path, error.clause, error.problem), place)
            continue
        for each in found:
            run.add(each, place)
    if run is not None:
        yield run.seen()


def only_in(position: PositionName, window: Window) -> Callable[[Row | RowChange], bool]:
    """Return whether a row change is in a window, by a function that travels to workers."""
    start, end = window.start, window.end

    def is_in(change: Row | RowChange) -> bool:
        at = _position_of(change, position)
        return at is not None and (start is None or at >= start) and (end is None or at < end)

    return is_in


def _position_of(change: Row | RowChange, name: PositionName) -> int | None:
    if isinstance(change, Row):  # these are TiCDC's
        return change.commit_ts if name == "commit_ts" else None
    at: int | None = getattr(change.position, name)
    return at


def _context_of(look: Look) -> Context:
    """Return how records are looked at.

    Where a job stops at what is unreadable, comparing finds it in the columns, which are passed
    over here. Where rows are the marks, those of other tables are marks too.
    """
    passes_columns = get_format(look.format).skips_columns and look.on_error == "stop"
    columns: frozenset[str] | None = frozenset() if passes_columns else None
    include = None if look.rule == "rows" else look.include
    return replace(look.context, selection=Selection(include, columns))


@dataclass(slots=True)
class _Run:
    """Neighbouring records of a partition."""

    look: Look
    partition: int
    start: int
    end: int = 0
    records: int = 0
    least: int | None = None
    largest: int | None = None
    mark: int | None = None
    late: int = 0
    unplaced: int = 0
    unreadable: int = 0
    lines: list[str] = field(default_factory=list)

    def add(self, change: Row | Event, place: Place) -> None:
        look = self.look
        if isinstance(change, Progress):
            at = getattr(change.position, look.position)
            if look.rule == "progress" and at is not None and change.what in _COMPLETE:
                self.mark = at if self.mark is None else max(self.mark, at)
            return
        if not isinstance(change, (Row, RowChange)):
            return
        at = _position_of(change, look.position)
        if at is not None and look.rule == "rows":
            self.mark = at if self.mark is None else max(self.mark, at)
        table = change.table
        if look.include is not None and (table.schema, table.name or "") not in look.include:
            return
        if at is None:
            self.unplaced += 1
            self._tell(place, lambda: f"a row of {table.name} has no {look.position}")
        elif look.since is not None and at < look.since:
            return
        elif look.told is not None and at < look.told:
            self.late += 1
            self._tell(place, lambda: f"a row of {table.name} came late, {look.position} {at}")
        elif look.until is None or at < look.until:
            self.least = at if self.least is None else min(self.least, at)
            self.largest = at if self.largest is None else max(self.largest, at)

    def add_problem(self, problem: RowProblem, place: Place) -> None:
        locate_problem(problem, place, self.look.on_error, False)
        self.unreadable += 1
        if len(self.lines) < NOTICES:
            self.lines.append(error_text(problem, place))

    def _tell(self, place: Place, text: Callable[[], str]) -> None:
        if len(self.lines) < NOTICES:
            self.lines.append(f"{place.topic}[{place.partition}]@{place.offset}: {text()}")

    def seen(self) -> Seen:
        return Seen(
            self.partition,
            self.start,
            self.end,
            self.least,
            self.largest,
            self.mark,
            self.late,
            self.unplaced,
            self.unreadable,
            tuple(self.lines),
        )
