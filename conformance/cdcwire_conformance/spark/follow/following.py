"""Two topics compared while they grow, window by window.

Again and again the brokers are asked how far both topics are, new records are looked at, and when
the position below which both are complete has moved on, the rows between it and the last one are
compared as a whole feed would be. What is read for that are the records that may have such rows.
With a state file a job that was killed goes on where it was: the window that was not told is the
same again, whatever has come since.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cdcwire.core.format import TableName
from cdcwire_conformance.arrow.schema import CanonicalTable, union_tables
from cdcwire_conformance.arrow.types import SchemaError
from cdcwire_conformance.sources.kafka_url import KafkaTopic, OffsetRange
from cdcwire_conformance.sources.source_urls import SourceError
from cdcwire_conformance.spark.compare.feed import Feed
from cdcwire_conformance.spark.compare.feeds import (
    compare_tables,
    opened,
    strange_columns,
    tables_of,
)
from cdcwire_conformance.spark.compare.options import DEFAULT_OPTIONS, CompareOptions, Window
from cdcwire_conformance.spark.compare.result import Comparison
from cdcwire_conformance.spark.compare.rules import PositionName, Side, terms_of
from cdcwire_conformance.spark.decode.kafka import BrokersSilent, topic_at_rest, topic_edges
from cdcwire_conformance.spark.follow.progress import Look, look_at, only_in
from cdcwire_conformance.spark.follow.watermarks import (
    Edges,
    Lane,
    Notices,
    Question,
    Rule,
    Seen,
    State,
    Track,
    read_state,
    write_state,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERY_SECONDS = 10.0
RECORDS_OF_ROUND = 1_000_000  # of each side
PATIENCE_SECONDS = 600.0  # with brokers that do not answer
_SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class WindowComparison:
    """What the rows of one window say: those from ``start`` up to, not with, ``end``.

    ``number``: from 1, over all starts of one state. ``start``: None in the first window, which has
    all rows below its end. ``end``: None if nothing was complete yet and there is something to
    tell. ``left`` and ``right``: what belongs to no window and was found since the last one.
    ``allows_repeats``: late rows are taken for such, and are no difference.
    """

    number: int
    position: PositionName
    start: int | None
    end: int | None
    comparison: Comparison
    left: Notices
    right: Notices
    allows_repeats: bool = False

    @property
    def is_equal(self) -> bool:
        """Whether all rows of the window are equal, and there is nothing that is in no window."""
        for each in (self.left, self.right):
            if each.total > (each.late if self.allows_repeats else 0):
                return False
        return self.comparison.is_equal

    @property
    def changes(self) -> int:
        """How many changes the left side has in the window; an update in halves is one."""
        return sum(
            table.counts.left_rows if table.in_halves else table.counts.left
            for table in self.comparison.tables
            if table.counts is not None
        )


@dataclass(frozen=True, slots=True)
class Pace:
    """How two topics are followed.

    ``every``: seconds between two questions to the brokers. ``windows``: end after so many.
    ``idle``: where rows are the marks, a partition to which nothing came for so many seconds holds
    nothing back; None: it does. ``by_rows``: take rows as marks also where a format has progress
    events. ``records``: look at so many of a side at a time. ``state``: the file of the state.
    """

    every: float = EVERY_SECONDS
    windows: int | None = None
    idle: float | None = None
    by_rows: bool = False
    records: int = RECORDS_OF_ROUND
    state: Path | None = None


DEFAULT_PACE = Pace()


def follow_feeds(
    spark: SparkSession,
    left: Feed,
    right: Feed,
    options: CompareOptions = DEFAULT_OPTIONS,
    pace: Pace = DEFAULT_PACE,
    report: Callable[[str], None] = lambda text: None,
) -> Iterator[WindowComparison]:
    """Compare two topics while they grow, and yield each window when it is compared.

    A window counts as told when the next one is asked for; the state file says so then. Windows
    in which neither side has a row are not told. ``options.window``: only the rows in it; it ends
    there. ``report`` is told what is being done.
    Raises: SourceError where two sources can't be followed, and in one line what happens to
    topics; FeedError at a message that can't be read, if errors are to stop; what Spark raises.
    """
    # Tables of one side only are lost rows here, and what schemas have in common is compared.
    options = replace(options, common=True)
    question = question_of(left, right, options, by_rows=pace.by_rows)
    return _Following(spark, (left, right), options, pace, question, report).windows()


def question_of(
    left: Feed, right: Feed, options: CompareOptions, *, by_rows: bool = False
) -> Question:
    """Return what is asked of two topics. Raises: SourceError if they can't be followed."""
    for feed in (left, right):
        topic = feed.source.topic
        if topic is None:
            raise SourceError(f"{feed.source}: only topics are followed")
        if topic.end != "latest":
            raise SourceError(f"{feed.source}: what is followed has no end (to=, to-ms=)")
    rules = terms_of(left.side, right.side, split_keys=options.split_keys).rules
    formats = " and ".join(dict.fromkeys(feed.source.format for feed in (left, right)))
    if rules.has_bare_deletes:
        raise SourceError(f"{formats}: deletes of avro have no position, so no window has them")
    if rules.position is None:
        raise SourceError(
            f"{formats}: they share no position by which windows could be cut (with these options)"
        )
    since = None if options.window is None else options.window.start
    until = None if options.window is None else options.window.end
    marks: list[Rule] = ["rows" if by_rows else rule_of(feed.side) for feed in (left, right)]
    names = [
        f"{feed.source.format}:{feed.source.topic.topic}"
        for feed in (left, right)
        if feed.source.topic is not None
    ]
    return Question(names[0], names[1], rules.position, (marks[0], marks[1]), since, until)


def rule_of(side: Side) -> Rule:
    """Return what tells how far a topic is complete: its progress events, or else its rows.

    Heartbeats of other formats tell no position.
    """
    has_events = side.lacks("progress") is None and side.lacks("commit_ts") is None
    return "progress" if has_events else "rows"


@dataclass(slots=True)
class _Following:
    """Two topics that are being followed.

    ``known``: the tables of each side as all windows together have them. ``ends``: of each side's
    partitions, and since when they are there.
    """

    spark: SparkSession
    feeds: tuple[Feed, Feed]
    options: CompareOptions
    pace: Pace
    question: Question
    report: Callable[[str], None]
    known: tuple[dict[TableName, CanonicalTable], dict[TableName, CanonicalTable]] = field(
        default_factory=lambda: ({}, {})
    )
    ends: tuple[dict[int, tuple[int, float]], dict[int, tuple[int, float]]] = field(
        default_factory=lambda: ({}, {})
    )

    def windows(self) -> Iterator[WindowComparison]:
        state = self._first_state()
        self._keep(state)  # where it can't be kept, that is told before anything is read
        told = 0
        while not state.is_over:
            next_time, has_more = time.monotonic() + self.pace.every, False
            if state.planned is None:
                state, has_more = self._looked(state)
                state = state.with_plan(state.shared_frontier(self._idle(state.tracks)))
            if state.planned is not None:
                self._keep(state)
                found = self._compared(state)
                is_told = bool(found.comparison.tables or found.left or found.right)
                if is_told:
                    yield found
                    told += 1
                state = state.when_told(counts=is_told)
                self._keep(state)
                if told == self.pace.windows:
                    return
            if not has_more and not state.is_over:
                self.report(self._waiting(state))
                time.sleep(max(0.0, next_time - time.monotonic()))

    def _keep(self, state: State) -> None:
        if self.pace.state is not None:
            try:
                write_state(self.pace.state, state)
            except OSError as error:
                raise SourceError(f"{self.pace.state}: {error.strerror}") from error

    def _first_state(self) -> State:
        path = self.pace.state
        try:
            state = None if path is None else read_state(path)
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror}") from error
        if state is not None:
            if state.question != self.question:
                raise SourceError(f"{path}: it is the state of {state.question}; name another file")
            return state
        left, right = (
            Track(tuple(Lane(each.partition, each.start) for each in self._starts(number)))
            for number in (0, 1)
        )
        return State(self.question, (left, right), self.question.since)

    def _topic(self, number: int) -> KafkaTopic:
        topic = self.feeds[number].source.topic
        assert topic is not None
        return topic

    def _starts(self, number: int) -> tuple[OffsetRange, ...]:
        ranges = topic_at_rest(self.spark, self._topic(number)).ranges
        assert ranges is not None
        return ranges

    def _looked(self, state: State) -> tuple[State, bool]:
        """Return the state when new records were looked at, and whether there are more.

        The side that is behind comes first. The other is read only if that has passed it, so that
        what waits for a later window does not pile up.
        """
        edges = [self._edges(number) for number in (0, 1)]
        tracks = [
            track.with_edges(f"{side}: {self._topic(number).topic}", edges[number])
            for number, (side, track) in enumerate(zip(_SIDES, state.tracks, strict=True))
        ]
        has_more = False
        frontiers = self._frontiers(tracks)
        behind = int(_order(frontiers[1]) < _order(frontiers[0]))
        for number in (behind, 1 - behind):
            frontiers = self._frontiers(tracks)
            if _order(frontiers[number]) > _order(frontiers[1 - number]):
                continue
            ranges = tracks[number].unread(edges[number], self.pace.records)
            if ranges:
                seen = self._seen(number, ranges, state)
                tracks[number] = tracks[number].with_seen(ranges, seen)
                has_more |= bool(tracks[number].unread(edges[number], self.pace.records))
        return replace(state, tracks=(tracks[0], tracks[1])), has_more

    def _frontiers(self, tracks: Sequence[Track]) -> list[int | None]:
        rules, idle = self.question.rules, self._idle(tracks)
        return [
            track.frontier(rule, still)
            for track, rule, still in zip(tracks, rules, idle, strict=True)
        ]

    def _edges(self, number: int) -> Edges:
        """Return where a topic begins and ends; brokers that don't answer are waited for."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                edges = topic_edges(self.spark, self._topic(number))
            except BrokersSilent as error:
                if time.monotonic() > end:
                    raise
                self.report(f"{error}; waiting for it")
                time.sleep(min(1.0, self.pace.every))
                continue
            self._note_ends(number, edges)
            return edges

    def _seen(self, number: int, ranges: tuple[OffsetRange, ...], state: State) -> list[Seen]:
        records = sum(each.end - each.start for each in ranges)
        self.report(f"{_SIDES[number]}: looking at {records:,} new records")
        feed = self.feeds[number]
        look = Look(
            feed.source.format,
            replace(feed.context, schemas={}),
            self.question.position,
            self.question.rules[number],
            self.options.on_error,
            self.options.include,
            self.question.since,
            self.question.until,
            state.start,
        )
        return look_at(self.spark, feed.source, ranges, look)

    def _note_ends(self, number: int, edges: Edges) -> None:
        """Remember since when nothing came to a partition."""
        noted, now = self.ends[number], time.monotonic()
        for partition, (_, behind) in edges.items():
            if partition not in noted or noted[partition][0] != behind:
                noted[partition] = behind, now

    def _idle(self, tracks: Sequence[Track]) -> list[frozenset[int]]:
        """Return the partitions of each side that are read to their end, and long at rest there."""
        if self.pace.idle is None:
            return [frozenset(), frozenset()]
        last = time.monotonic() - self.pace.idle
        return [
            frozenset(
                lane.number
                for lane in track.lanes
                if (noted := ends.get(lane.number)) is not None
                and noted[1] <= last
                and noted[0] <= lane.read_to
            )
            for track, ends in zip(tracks, self.ends, strict=True)
        ]

    def _waiting(self, state: State) -> str:
        frontiers = self._frontiers(state.tracks)
        for number, frontier in enumerate(frontiers):
            if frontier is None:
                what = "event of progress" if self.question.rules[number] == "progress" else "row"
                where = state.tracks[number].waits_for()
                return f"{_SIDES[number]}: waiting for the first {what} of {where}"
        at = " and ".join(
            f"{side} at {frontier}" for side, frontier in zip(_SIDES, frontiers, strict=True)
        )
        return f"{state.told:,} windows told; waiting, {self.question.position} {at}"

    def _compared(self, state: State) -> WindowComparison:
        start = time.monotonic()
        end = None if state.planned is None or state.planned < 0 else state.planned
        has_rows = end is not None and any(each.has_rows_below(end) for each in state.tracks)
        left, right = self.feeds
        found = Comparison(str(left.source), str(right.source), ())
        if end is not None and has_rows and end != state.start:
            found = self._rows_compared(state, Window(state.start, end, has_unplaced=False))
        return WindowComparison(
            state.told + 1,
            self.question.position,
            state.start,
            end,
            replace(found, seconds=time.monotonic() - start),
            state.tracks[0].notices,
            state.tracks[1].notices,
            # Where rows are the marks, a late one may never have been in time.
            self.options.allow_repeats and "rows" not in self.question.rules,
        )

    def _rows_compared(self, state: State, window: Window) -> Comparison:
        assert window.end is not None
        number = state.told + 1
        options = replace(self.options, window=window)

        def report(text: str) -> None:
            self.report(f"window {number}: {text}")

        report("looking for the tables")
        left, right = (
            self._opened(side, track.ranges_below(window.end), options)
            for side, track in enumerate(state.tracks)
        )
        ours, theirs = (
            tables_of(self.spark, feed, options, only_in(self.question.position, window))
            for feed in (left, right)
        )
        if not ours and not theirs:
            return Comparison(str(left.source), str(right.source), ())
        ours, theirs = self._all_known(0, ours, theirs), self._all_known(1, theirs, ours)
        found = compare_tables(self.spark, left, right, ours, theirs, options, report)
        met = [table for known in self.known for table in known.values()]
        lines = [f"no table so far has a column {name}" for name in strange_columns(met, options)]
        return replace(found, differences=(*found.differences, *lines))

    def _opened(
        self, number: int, ranges: tuple[OffsetRange, ...], options: CompareOptions
    ) -> Feed:
        feed = self.feeds[number]
        source = replace(feed.source, topic=self._topic(number).with_ranges(ranges))
        return opened(self.spark, replace(feed, source=source), options)

    def _all_known(
        self,
        number: int,
        own: Mapping[TableName, CanonicalTable],
        other: Mapping[TableName, CanonicalTable],
    ) -> dict[TableName, CanonicalTable]:
        """Return a side's tables of a window, with what earlier windows knew of them.

        A table of the other side that was never met is taken for one without rows.
        """
        known = self.known[number]
        for name, table in own.items():
            try:
                known[name] = union_tables(known.get(name, table), table)
            except SchemaError:  # a column became one of another kind, and no row is of both
                known[name] = table
        return {name: known.get(name, table) for name, table in {**other, **own}.items()}


def _order(frontier: int | None) -> int:
    return -1 if frontier is None else frontier
