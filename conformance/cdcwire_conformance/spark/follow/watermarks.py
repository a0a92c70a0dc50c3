"""Watermarks of two growing topics, and the records that the next window needs.

All values here are plain, without Spark and Kafka. A *position* is commit_ts, sequence_id or lsn.
The *watermark* of a partition is the position below which it has all its rows. It is the largest
position of a progress event, or of a row where the format has no such events. The watermark of a
topic is the smallest one of its partitions. A *window* is the range between two shared watermarks.

Each record is scanned once. A row below a watermark that was already reported is late; every other
row belongs to exactly one window, this one or a later one. For records with rows that are not yet
reported, a partition keeps blocks: ranges of offsets, with the range of their rows' positions. The
number of blocks is bounded, and a window reads the blocks that it overlaps again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

from cdcwire_conformance.compare.rules import Side
from cdcwire_conformance.sources.kafka_url import OffsetRange
from cdcwire_conformance.sources.source_urls import SourceError

WatermarkRule: TypeAlias = Literal["progress", "rows"]
Edges: TypeAlias = Mapping[int, tuple[int, int]]  # first offset and the one after the last
IdlePartitions: TypeAlias = "tuple[frozenset[int], frozenset[int]]"  # of each side

BLOCKS = 64  # of a partition
NOTICES = 5  # lines per topic and window
SIDES = ("left", "right")
NONE_IDLE: IdlePartitions = (frozenset(), frozenset())


class Block(NamedTuple):
    """Offsets from ``start`` up to, but not including, ``end``, and the positions of their rows.

    ``least`` and ``largest``: of rows that were not reported when the block was made or cut.
    """

    start: int
    end: int
    least: int
    largest: int


@dataclass(slots=True)
class ScannedRun:
    """The result of scanning a run of a partition's records.

    ``least`` and ``largest``: positions of the rows that are not late; None if there are none.
    ``watermark``: the largest position of a progress event, or of a row, as the rule says.
    """

    partition: int
    start: int
    end: int
    least: int | None = None
    largest: int | None = None
    watermark: int | None = None
    late: int = 0
    unplaced: int = 0
    unreadable: int = 0
    lines: list[str] = field(default_factory=list)

    def raise_watermark(self, position: int) -> None:
        """Note that the partition has reached a position."""
        known = self.watermark
        self.watermark = position if known is None else max(known, position)

    def add_row(self, position: int) -> None:
        """Note a row that belongs to a window."""
        self.least = position if self.least is None else min(self.least, position)
        self.largest = position if self.largest is None else max(self.largest, position)

    def add_line(self, text: Callable[[], str]) -> None:
        """Keep a line about a row that belongs to no window, for the first ones."""
        if len(self.lines) < NOTICES:
            self.lines.append(text())


@dataclass(frozen=True, slots=True)
class Notices:
    """Records of a topic that belong to no window; they are reported with the next one.

    ``late``: rows below a watermark that was reported before. ``unplaced``: rows without a
    position. ``unreadable``: messages. ``lines``: a line for each of the first.
    """

    late: int = 0
    unplaced: int = 0
    unreadable: int = 0
    lines: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The number of records."""
        return self.late + self.unplaced + self.unreadable

    def __bool__(self) -> bool:
        return self.total > 0

    def with_run(self, run: ScannedRun) -> Notices:
        """Return the notices with those of a scanned run added."""
        return Notices(
            self.late + run.late,
            self.unplaced + run.unplaced,
            self.unreadable + run.unreadable,
            (*self.lines, *run.lines)[:NOTICES],
        )


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """The progress of a partition: the scanned offsets, the watermark, the blocks not reported."""

    number: int
    read_to: int
    watermark: int | None = None
    blocks: tuple[Block, ...] = ()

    @property
    def reported_to(self) -> int:
        """The offset of the first record that may have rows of a later window."""
        return self.blocks[0].start if self.blocks else self.read_to

    def with_run(self, run: ScannedRun) -> PartitionProgress:
        """Return the progress after a run was scanned."""
        known = [at for at in (self.watermark, run.watermark) if at is not None]
        blocks = self.blocks
        if run.least is not None and run.largest is not None:
            blocks = _few((*blocks, Block(run.start, run.end, run.least, run.largest)))
        read_to = max(self.read_to, run.end)
        return PartitionProgress(self.number, read_to, max(known, default=None), blocks)

    def has_rows_below(self, end: int) -> bool:
        """Return whether there may be rows for a window that ends there."""
        return any(block.least < end for block in self.blocks)

    def range_below(self, end: int) -> OffsetRange:
        """Return the offsets that hold all rows of a window that ends there; it may be empty."""
        needed = [block for block in self.blocks if block.least < end]
        if not needed:
            return OffsetRange(self.number, self.read_to, self.read_to)
        return OffsetRange(self.number, needed[0].start, needed[-1].end)

    def reported_below(self, end: int) -> PartitionProgress:
        """Return the progress after the window that ends there is reported."""
        left = tuple(
            block._replace(least=max(block.least, end))
            for block in self.blocks
            if block.largest >= end
        )
        return replace(self, blocks=left)


@dataclass(slots=True)
class PartitionEnds:
    """The end of each partition of a topic, and since when it is the end, in seconds."""

    ends: dict[int, tuple[int, float]] = field(default_factory=dict)

    def note(self, edges: Edges, now: float) -> None:
        """Remember since when a partition has no new records."""
        for number, (_, end) in edges.items():
            if number not in self.ends or self.ends[number][0] != end:
                self.ends[number] = end, now

    def lag(self, progress: TopicProgress) -> int | None:
        """Return how many records may not be compared yet; None before the ends are known."""
        if not self.ends:
            return None
        reported = {each.number: each.reported_to for each in progress.partitions}
        return sum(
            max(0, end - reported.get(number, end)) for number, (end, _) in self.ends.items()
        )

    def idle(self, progress: TopicProgress, last: float) -> frozenset[int]:
        """Return the partitions scanned to an end that is unchanged since ``last``."""
        return frozenset(
            each.number
            for each in progress.partitions
            if (known := self.ends.get(each.number)) is not None
            and known[1] <= last
            and known[0] <= each.read_to
        )


def _few(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Return the blocks, the shortest neighbours joined where there are too many."""
    kept = list(blocks)
    while len(kept) > BLOCKS:
        at = min(range(len(kept) - 1), key=lambda at: kept[at + 1].end - kept[at].start)
        one, two = kept[at : at + 2]
        least, largest = min(one.least, two.least), max(one.largest, two.largest)
        kept[at : at + 2] = [Block(one.start, two.end, least, largest)]
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class TopicProgress:
    """The progress of the partitions of one topic. ``topic_id``: None as long as it is unknown."""

    partitions: tuple[PartitionProgress, ...]
    notices: Notices = field(default=Notices())
    topic_id: str | None = None

    def with_edges(self, name: str, edges: Edges, topic_id: str | None = None) -> TopicProgress:
        """Return the progress with partitions that were added.

        Raises: SourceError if it is another topic, or if the brokers lost or removed records that
        were not reported.
        """
        if None not in (self.topic_id, topic_id) and self.topic_id != topic_id:
            raise SourceError(
                f"{name}: it was deleted and made again since it was read; begin without the state"
            )
        known = {each.number: each for each in self.partitions}
        for number, each in known.items():
            first, behind = edges.get(number, (0, 0))
            needed = each.reported_to
            if number not in edges or behind < each.read_to:
                reason = (
                    "it is another topic of this name"
                    if topic_id is None
                    else "the brokers have lost records that were read"
                )
                raise SourceError(
                    f"{name}: partition {number} was read up to {each.read_to} and ends at {behind}"
                    f": {reason}; begin without the state"
                )
            if first > needed:
                raise SourceError(
                    f"{name}: partition {number} begins at {first} now; records from {needed} on "
                    "were not compared, and the broker has removed them"
                )
        added = [
            PartitionProgress(number, edges[number][0])
            for number in sorted(set(edges) - set(known))
        ]
        partitions = (*self.partitions, *added)
        return replace(self, partitions=partitions, topic_id=topic_id or self.topic_id)

    def unread(self, edges: Edges, limit: int) -> tuple[OffsetRange, ...]:
        """Return the next records to scan: ``limit`` of them, in proportion to the partitions."""
        left = {each.number: edges[each.number][1] - each.read_to for each in self.partitions}
        total = sum(left.values())
        ranges = []
        for each in self.partitions:
            count = left[each.number]
            if total > limit:
                count = -(-count * limit // total)
            if count:
                ranges.append(OffsetRange(each.number, each.read_to, each.read_to + count))
        return tuple(ranges)

    def with_runs(self, ranges: Iterable[OffsetRange], runs: Iterable[ScannedRun]) -> TopicProgress:
        """Return the progress after these records were scanned."""
        found = {each.number: each for each in self.partitions}
        notices = self.notices
        for run in sorted(runs, key=lambda run: (run.partition, run.start)):
            found[run.partition] = found[run.partition].with_run(run)
            notices = notices.with_run(run)
        for each in ranges:  # there may be no record at the end of a range
            before = found[each.partition]
            found[each.partition] = replace(before, read_to=max(before.read_to, each.end))
        partitions = tuple(found[number] for number in sorted(found))
        return replace(self, partitions=partitions, notices=notices)

    def watermark(self, rule: WatermarkRule, idle: frozenset[int] = frozenset()) -> int | None:
        """Return the position below which the topic is complete; None: not known yet.

        ``idle``: partitions without new records for long. By the rule "rows" they do not hold the
        watermark back, and if all are idle, even the last position is complete.
        """
        found = {each.number: each.watermark for each in self.partitions}
        if rule == "rows":
            busy = {number: at for number, at in found.items() if number not in idle}
            if not busy:
                known = [at for at in found.values() if at is not None]
                return max(known) + 1 if known else None
            found = busy
        known = [at for at in found.values() if at is not None]
        return min(known) if known and len(known) == len(found) else None

    def has_rows_below(self, end: int) -> bool:
        """Return whether there may be rows for a window that ends at ``end``."""
        return any(each.has_rows_below(end) for each in self.partitions)

    def ranges_below(self, end: int) -> tuple[OffsetRange, ...]:
        """Return the offset ranges to read for a window that ends at ``end``."""
        return tuple(each.range_below(end) for each in self.partitions)

    def reported_below(self, end: int) -> TopicProgress:
        """Return the progress after the window that ends there is reported, with all notices."""
        partitions = tuple(each.reported_below(end) for each in self.partitions)
        return replace(self, partitions=partitions, notices=Notices())

    def waits_for(self) -> str:
        """Return the partitions without a watermark."""
        missing = [str(each.number) for each in self.partitions if each.watermark is None]
        shown = ", ".join(missing[:NOTICES]) + (", …" if len(missing) > NOTICES else "")
        return f"partition {shown}"


@dataclass(frozen=True, slots=True)
class FollowedPair:
    """The names of two topics, and the position and the watermark rules for comparing them.

    ``since`` and ``until``: only rows from the one up to, but not including, the other count.
    """

    left: str
    right: str
    position: str
    rules: tuple[WatermarkRule, WatermarkRule]
    since: int | None = None
    until: int | None = None

    def __str__(self) -> str:
        asked = "" if self.since is None else f" from {self.since}"
        asked += "" if self.until is None else f" to {self.until}"
        return f"{self.left} against {self.right} by {self.position}{asked}"


@dataclass(frozen=True, slots=True)
class FollowState:
    """The progress of comparing two topics.

    ``start``: where the next window begins; None: at the first row. ``planned``: the end of the
    window being compared, until it is reported. ``reported``: the number of reported windows.
    """

    pair: FollowedPair
    topics: tuple[TopicProgress, TopicProgress]
    start: int | None = None
    planned: int | None = None
    reported: int = 0

    def watermarks(self, idle: IdlePartitions = NONE_IDLE) -> tuple[int | None, int | None]:
        """Return the position below which each topic is complete; None: not known yet."""
        left, right = (
            progress.watermark(rule, still)
            for progress, rule, still in zip(self.topics, self.pair.rules, idle, strict=True)
        )
        return left, right

    def shared_watermark(self, idle: IdlePartitions = NONE_IDLE) -> int | None:
        """Return the position below which both topics are complete; None: not known yet."""
        left, right = self.watermarks(idle)
        if left is None or right is None:
            return None
        until = self.pair.until
        return min(left, right) if until is None else min(left, right, until)

    def is_ahead(self, number: int, idle: IdlePartitions = NONE_IDLE) -> bool:
        """Return whether a topic is ahead of the other, so that it need not be scanned."""
        positions = [-1 if at is None else at for at in self.watermarks(idle)]
        return positions[number] > positions[1 - number]

    def with_topic(self, number: int, progress: TopicProgress) -> FollowState:
        """Return the state with another progress of a topic."""
        left, right = self.topics
        return replace(self, topics=(left, progress) if number else (progress, right))

    def waiting(self, idle: IdlePartitions = NONE_IDLE) -> str:
        """Return what the next window waits for."""
        watermarks = self.watermarks(idle)
        for side, progress, rule, at in zip(
            SIDES, self.topics, self.pair.rules, watermarks, strict=True
        ):
            if at is None:
                what = "event of progress" if rule == "progress" else "row"
                return f"{side}: waiting for the first {what} of {progress.waits_for()}"
        reached = " and ".join(f"{s} at {at}" for s, at in zip(SIDES, watermarks, strict=True))
        return f"{self.reported:,} windows reported; waiting, {self.pair.position} {reached}"

    @property
    def is_over(self) -> bool:
        """Return whether everything up to ``until`` is reported."""
        start, until = self.start, self.pair.until
        return start is not None and until is not None and start >= until

    def with_plan(self, watermark: int | None) -> FollowState:
        """Return the state with a window planned, if there is anything to report."""
        start = -1 if self.start is None else self.start
        end = max(start, -1 if watermark is None else watermark)
        has_rows = end > start and any(progress.has_rows_below(end) for progress in self.topics)
        has_notices = any(progress.notices for progress in self.topics)
        is_last = end == self.pair.until
        return replace(self, planned=end) if has_rows or has_notices or is_last else self

    def when_reported(self, *, counts: bool = True) -> FollowState:
        """Return the state after the planned window. ``counts``: it had something to report."""
        assert self.planned is not None
        left, right = (progress.reported_below(self.planned) for progress in self.topics)
        return replace(
            self,
            topics=(left, right),
            start=None if self.planned < 0 else self.planned,
            planned=None,
            reported=self.reported + counts,
        )


def watermark_rule(side: Side, *, by_rows: bool = False) -> WatermarkRule:
    """Return how a topic gets its watermark: from progress events, or else from rows.

    Heartbeats of other formats have no position.
    """
    if by_rows:
        return "rows"
    has_events = side.lacks("progress") is None and side.lacks("commit_ts") is None
    return "progress" if has_events else "rows"
