"""Two growing topics, compared window by window.

Each round asks the brokers for the ends of both topics and scans new records. When the shared
watermark has moved, the rows between the last watermark and this one are compared like a whole
feed. Only records that may have such rows are read. With a state file, a job that was killed
continues: the window that was not reported is compared again, whatever arrived since.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire.arrow.schema import CanonicalTable, name_text, union_tables
from cdcwire.arrow.types import SchemaError
from cdcwire.model.events import TableName
from cdcwire_conformance.compare.feed import ComparedFeed, OpenedFeed
from cdcwire_conformance.compare.feeds import (
    Report,
    compare_tables,
)
from cdcwire_conformance.compare.names import named_by_database, strange_columns
from cdcwire_conformance.compare.notes import unused_definitions
from cdcwire_conformance.compare.other_events import in_window, with_other_events
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.compare.rules import (
    DEFAULT_OPTIONS,
    CompareOptions,
    Window,
    terms_of,
)
from cdcwire_conformance.compare.work import Work
from cdcwire_conformance.sources.kafka_url import KafkaTopic, OffsetRange
from cdcwire_conformance.sources.source_urls import SourceError
from cdcwire_conformance.spark.compare.engine import SparkEngine
from cdcwire_conformance.spark.follow.scanning import ScanJob, only_in, scan_records
from cdcwire_conformance.spark.follow.state_file import read_state, write_state
from cdcwire_conformance.spark.follow.watermarks import (
    NONE_IDLE,
    SIDES,
    Edges,
    FollowedPair,
    FollowState,
    IdlePartitions,
    Notices,
    PartitionEnds,
    PartitionProgress,
    ScannedRun,
    TopicProgress,
    watermark_rule,
)
from cdcwire_conformance.spark.reading.kafka import BrokersSilent, topic_at_rest, topic_edges
from cdcwire_conformance.spark.reading.workers import SparkWorkers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERY_SECONDS = 10.0
RECORDS_OF_ROUND = 1_000_000  # of each side
BROKER_TIMEOUT_SECONDS = 600.0  # with brokers that do not answer


@dataclass(frozen=True, slots=True)
class WindowComparison:
    """The comparison of one window: changes from ``start`` up to, but not including, ``end``.

    ``number``: from 1, counted over all runs with one state. ``start``: None in the first window,
    which has all rows below its end. ``end``: None if nothing was complete yet and there are
    notices to report. ``left`` and ``right``: notices since the last window. ``allows_repeats``:
    late rows count as repeats, which are not a difference. ``unseen``: lines about tables and
    columns that an option names and that no window since the start has.
    """

    number: int
    position: str
    start: int | None
    end: int | None
    comparison: Comparison
    left: Notices
    right: Notices
    allows_repeats: bool = False
    unseen: tuple[str, ...] = ()

    @property
    def is_equal(self) -> bool:
        """True if no row of the window differs, and no notice counts as a difference."""
        for each in (self.left, self.right):
            if each.total > (each.late if self.allows_repeats else 0):
                return False
        return not self.comparison.is_different and not self.comparison.goes_back

    @property
    def changes(self) -> int:
        """The left side's number of changes in the window; an update in two records counts once."""
        return sum(
            table.counts.left_rows if table.in_halves else table.counts.left
            for table in self.comparison.tables
            if table.counts is not None
        )


@dataclass(frozen=True, slots=True)
class FollowStatus:
    """The progress of both topics after a round.

    ``position``: everything below it is compared. ``lags``: records that may not be compared yet.
    ``watermarks``: positions below which the topics are complete. None: not known yet.
    """

    position_name: str
    position: int | None
    lags: tuple[int | None, int | None]
    watermarks: tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """The options of following two topics.

    ``every``: seconds between two requests to the brokers. ``windows``: stop after N windows.
    ``idle``: by the rule "rows", a partition without new records for N seconds no longer holds the
    watermark back; None: it always does. ``by_rows``: take watermarks from rows even if the format
    has progress events. ``records``: scan at most N records per side and round. ``state``: the
    state file.
    """

    every: float = EVERY_SECONDS
    windows: int | None = None
    idle: float | None = None
    by_rows: bool = False
    records: int = RECORDS_OF_ROUND
    state: Path | None = None


DEFAULT_FOLLOW_OPTIONS = FollowOptions()


def follow_feeds(
    spark: SparkSession,
    left: ComparedFeed,
    right: ComparedFeed,
    options: CompareOptions = DEFAULT_OPTIONS,
    follow: FollowOptions = DEFAULT_FOLLOW_OPTIONS,
    *,
    report: Callable[[str], None] = lambda text: None,
    observe: Callable[[FollowStatus], None] = lambda status: None,
) -> Iterator[WindowComparison]:
    """Compare two topics while they grow, and yield each window after it is compared.

    A window counts as reported when the caller asks for the next one; the state file is written
    then. A window without events on both sides is not reported. ``options.window``: only its rows;
    following ends there. ``report`` gets a line about each step. ``observe`` is called when new
    records were looked at, and when a window is reported.
    Raises: SourceError if the sources can't be followed, or a topic changed; FeedError at an
    unreadable message, if errors are to stop; what Spark raises.
    """
    # A table of one side only means lost rows here; common columns are compared.
    options = replace(options, common=True)
    pair = followed_pair(left, right, options, by_rows=follow.by_rows)
    return _Following(spark, (left, right), options, follow, pair, report, observe).windows()


def unseen_tables(
    options: CompareOptions,
    compared: Collection[TableName] = (),
    rows: tuple[Collection[TableName], Collection[TableName]] = ((), ()),
) -> tuple[str, ...]:
    """Return a line for each table that an option names and that has had no rows so far.

    ``compared``: the tables that were compared. ``rows``: the tables of each feed by its own names.
    """
    included = sorted(map(name_text, (options.include or frozenset()) - set(compared)))
    unused = unused_definitions(options, {*compared, *rows[0], *rows[1]})
    return (
        *(f"--include: no feed has rows of {name} so far" for name in included),
        *options.meaning.without_rows(*rows, options.include, " so far"),
        *(f"{line} so far" for line in unused),
    )


def followed_pair(
    left: ComparedFeed, right: ComparedFeed, options: CompareOptions, *, by_rows: bool = False
) -> FollowedPair:
    """Return the pair of topics to follow. Raises: SourceError if they can't be followed."""
    for feed in (left, right):
        topic = feed.source.topic
        if topic is None:
            raise SourceError(f"{feed.source}: only topics are followed")
        if not topic.is_one:
            raise SourceError(f"{feed.source}: one topic per side is followed, not several")
        if topic.end != "latest":
            raise SourceError(
                f"{feed.source}: a topic to follow has no end (leave out to=, to-ms=)"
            )
    rules = terms_of(left.side, right.side, split_keys=options.split_keys, is_windowed=True).rules
    formats = " and ".join(dict.fromkeys(feed.source.format.name for feed in (left, right)))
    for feed in (left, right):
        if rules.has_bare_deletes and feed.side.lacks_places_of_deletes:
            problem = (
                f"deletes of {feed.source.format.name} have no position, so no window has them"
            )
            raise SourceError(f"{formats}: {problem}")
    if rules.position is None:
        raise SourceError(
            f"{formats}: they share no position by which windows could be cut (with these options)"
        )
    since = None if options.window is None else options.window.start
    until = None if options.window is None else options.window.end
    ours, theirs = (watermark_rule(feed.side, by_rows=by_rows) for feed in (left, right))
    names = [
        f"{feed.source.format.name}:{feed.source.topic.topic}"
        for feed in (left, right)
        if feed.source.topic is not None
    ]
    return FollowedPair(names[0], names[1], rules.position, (ours, theirs), since, until)


@dataclass(slots=True)
class _Following:
    """Two topics that are being followed.

    ``known``: the tables of each side in all windows so far. ``rows``: their names as each feed has
    them, also of tables that are not compared. ``ends``: of each side's partitions.
    """

    spark: SparkSession
    feeds: tuple[ComparedFeed, ComparedFeed]
    options: CompareOptions
    follow: FollowOptions
    pair: FollowedPair
    report: Callable[[str], None]
    observe: Callable[[FollowStatus], None]
    known: tuple[dict[TableName, CanonicalTable], dict[TableName, CanonicalTable]] = field(
        default_factory=lambda: ({}, {})
    )
    rows: tuple[set[TableName], set[TableName]] = field(default_factory=lambda: (set(), set()))
    ends: tuple[PartitionEnds, PartitionEnds] = field(
        default_factory=lambda: (PartitionEnds(), PartitionEnds())
    )

    def windows(self) -> Iterator[WindowComparison]:
        state = self._first_state()
        self._keep(state)  # before anything is read: the file may not be writable
        reported = 0
        while not state.is_over:
            next_time, has_more = time.monotonic() + self.follow.every, False
            if state.planned is None:
                state, has_more = self._scanned(state)
                self.observe(self._status(state))
                state = state.with_plan(state.shared_watermark(self._idle(state)))
            if state.planned is not None:
                self._keep(state)
                found = self._compared(state)
                comparison = found.comparison
                has_events = bool(comparison.tables or any(comparison.ddl))
                is_reported = has_events or bool(found.left or found.right)
                if is_reported:
                    yield found
                    reported += 1
                state = state.when_reported(counts=is_reported)
                self._keep(state)
                self.observe(self._status(state))
                if reported == self.follow.windows:
                    return
            if not has_more and not state.is_over:
                self.report(state.waiting(self._idle(state)))
                time.sleep(max(0.0, next_time - time.monotonic()))

    def _status(self, state: FollowState) -> FollowStatus:
        left, right = (
            ends.lag(progress) for ends, progress in zip(self.ends, state.topics, strict=True)
        )
        watermarks = state.watermarks(self._idle(state))
        return FollowStatus(self.pair.position, state.start, (left, right), watermarks)

    def _keep(self, state: FollowState) -> None:
        if self.follow.state is not None:
            try:
                write_state(self.follow.state, state)
            except OSError as error:
                raise SourceError(f"{self.follow.state}: {error.strerror}") from error

    def _first_state(self) -> FollowState:
        path = self.follow.state
        try:
            state = None if path is None else read_state(path)
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror}") from error
        if state is not None:
            if state.pair != self.pair:
                raise SourceError(f"{path}: it is the state of {state.pair}; name another file")
            return self._with_edges(state)[0]  # before the window that was planned is compared
        return FollowState(self.pair, (self._begun(0), self._begun(1)), self.pair.since)

    def _topic(self, number: int) -> KafkaTopic:
        topic = self.feeds[number].source.topic
        assert topic is not None
        return topic

    def _begun(self, number: int) -> TopicProgress:
        """Return the progress of a topic before any of it is scanned."""
        ranges = topic_at_rest(self.spark, self._topic(number)).ranges
        assert ranges is not None
        partitions = (PartitionProgress(each.partition, each.start) for each in ranges)
        return TopicProgress(tuple(partitions))

    def _scanned(self, state: FollowState) -> tuple[FollowState, bool]:
        """Return the state after scanning new records, and whether there are more.

        The side with the lower watermark is scanned first. The other side is scanned only if its
        watermark is not ahead, so that rows of later windows do not pile up.
        """
        state, edges = self._with_edges(state)
        has_more = False
        behind = int(state.is_ahead(0, self._idle(state)))
        for number in (behind, 1 - behind):
            if state.is_ahead(number, self._idle(state)):
                continue
            progress = state.topics[number]
            ranges = progress.unread(edges[number], self.follow.records)
            if ranges:
                progress = progress.with_runs(ranges, self._runs(number, ranges, state))
                state = state.with_topic(number, progress)
                has_more |= bool(progress.unread(edges[number], self.follow.records))
        return state, has_more

    def _with_edges(self, state: FollowState) -> tuple[FollowState, list[Edges]]:
        """Return the state with partitions that were added, and where the topics begin and end.

        Raises: SourceError if a topic is not the one that was read, or lacks records.
        """
        found: list[Edges] = []
        for number, side in enumerate(SIDES):
            name = f"{side}: {self._topic(number).topic}"
            topic_id, edges = self._edges(number)
            progress = state.topics[number].with_edges(name, edges, topic_id)
            state = state.with_topic(number, progress)
            found.append(edges)
        return state, found

    def _edges(self, number: int) -> tuple[str | None, Edges]:
        """Return a topic's id and its ends; wait for brokers that do not answer."""
        end = time.monotonic() + BROKER_TIMEOUT_SECONDS
        while True:
            try:
                topic_id, edges = topic_edges(self.spark, self._topic(number))
            except BrokersSilent as error:
                if time.monotonic() > end:
                    raise
                self.report(f"{error}; waiting for it")
                time.sleep(min(1.0, self.follow.every))
                continue
            self.ends[number].note(edges, time.monotonic())
            return topic_id, edges

    def _runs(
        self, number: int, ranges: tuple[OffsetRange, ...], state: FollowState
    ) -> list[ScannedRun]:
        records = sum(each.end - each.start for each in ranges)
        self.report(f"{SIDES[number]}: looking at {records:,} new records")
        feed = self.feeds[number]
        look = ScanJob(
            feed.source.format,
            replace(feed.context_for(self.options), schemas={}),
            self.pair.position,
            self.pair.rules[number],
            self.options.on_error,
            self.options.include,
            self.pair.since,
            self.pair.until,
            state.start,
            self.options.hides_values,
            self.options.ddl_events,
        )
        return scan_records(self.spark, feed.source, ranges, look)

    def _idle(self, state: FollowState) -> IdlePartitions:
        """Return the partitions of each side that are scanned to an end that is long unchanged."""
        if self.follow.idle is None:
            return NONE_IDLE
        last = time.monotonic() - self.follow.idle
        left, right = (
            ends.idle(progress, last)
            for ends, progress in zip(self.ends, state.topics, strict=True)
        )
        return left, right

    def _compared(self, state: FollowState) -> WindowComparison:
        start = time.monotonic()
        end = None if state.planned is None or state.planned < 0 else state.planned
        has_rows = end is not None and any(each.has_rows_below(end) for each in state.topics)
        left, right = self.feeds
        found = Comparison(str(left.source), str(right.source), ())
        if end is not None and has_rows and end != state.start:
            found = self._events_compared(state, Window(state.start, end, has_unplaced=False))
        return WindowComparison(
            state.reported + 1,
            self.pair.position,
            state.start,
            end,
            replace(found, seconds=time.monotonic() - start),
            state.topics[0].notices,
            state.topics[1].notices,
            # By the rule "rows", a late row may never have been in time.
            self.options.allow_repeats and "rows" not in self.pair.rules,
            (
                *unseen_tables(self.options, {*self.known[0], *self.known[1]}, self.rows),
                *self._unseen_columns(),
            ),
        )

    def _unseen_columns(self) -> Iterator[str]:
        """Yield a line for each column that an option names and that no table has had so far.

        A wanted or a redacted column is not among them: it counts as a difference.
        """
        tables = [table for known in self.known for table in known.values()]
        if tables:
            meaning = replace(self.options.meaning, redacted=frozenset())
            yield from meaning.unknown(tables, " so far")

    def _events_compared(self, state: FollowState, window: Window) -> Comparison:
        assert window.end is not None
        number = state.reported + 1
        options = replace(self.options, window=window)

        def report(text: str, work: Work | None = None) -> None:
            self.report(f"window {number}: {text}")

        report("looking for the tables")
        left, right = (
            self._opened(side, progress.ranges_below(window.end), options)
            for side, progress in enumerate(state.topics)
        )
        right = replace(right, renamed=options.meaning.renamed)
        only = only_in(self.pair.position, window)
        workers = SparkWorkers(self.spark)
        (left, ours), (right, theirs) = (
            feed.described(options, only, workers=workers) for feed in (left, right)
        )
        for seen, feed in zip(self.rows, (left, right), strict=True):
            seen.update(feed.facts.names)
        named = named_by_database(left, ours, right, theirs, options.meaning.databases)
        (left, ours), (right, theirs) = named.left, named.right
        found = self._rows_compared(left, right, ours, theirs, options, report)
        found = replace(found, left_out=(*found.left_out, *named.left_out))
        if not options.ddl_events:
            return found
        left, right = (in_window(feed, self.pair.position, window) for feed in (left, right))
        return with_other_events(found, left, right, replace(options, window=None))

    def _rows_compared(
        self,
        left: OpenedFeed,
        right: OpenedFeed,
        ours: dict[TableName, CanonicalTable],
        theirs: dict[TableName, CanonicalTable],
        options: CompareOptions,
        report: Report,
    ) -> Comparison:
        if not ours and not theirs:
            terms = terms_of(left.side, right.side, split_keys=options.split_keys, is_windowed=True)
            sources = str(left.source), str(right.source)
            return Comparison(*sources, (), compared=terms.rules.compared, left_out=terms.left_out)
        ours, theirs = self._all_known(0, ours, theirs), self._all_known(1, theirs, ours)
        engine = SparkEngine(self.spark)
        found = compare_tables(engine, left, right, ours, theirs, options, report=report)
        tables = [table for known in self.known for table in known.values()]
        strange = {*strange_columns(tables, options), *options.meaning.not_redacted(tables)}
        lines = [f"no table so far has a column {name}" for name in sorted(strange)]
        return replace(found, differences=(*found.differences, *lines))

    def _opened(
        self, number: int, ranges: tuple[OffsetRange, ...], options: CompareOptions
    ) -> OpenedFeed:
        feed = self.feeds[number]
        source = replace(feed.source, topic=self._topic(number).with_ranges(ranges))
        return replace(feed, source=source).open(options, SparkWorkers(self.spark))

    def _all_known(
        self,
        number: int,
        own: Mapping[TableName, CanonicalTable],
        other: Mapping[TableName, CanonicalTable],
    ) -> dict[TableName, CanonicalTable]:
        """Return a side's tables of a window, with the columns of earlier windows.

        A table of the other side that this side never had counts as a table without rows.
        """
        known = self.known[number]
        for name, table in own.items():
            try:
                known[name] = union_tables(known.get(name, table), table)
            except SchemaError:  # a column became one of another kind, and no row is of both
                known[name] = table
        return {name: known.get(name, table) for name, table in {**other, **own}.items()}
