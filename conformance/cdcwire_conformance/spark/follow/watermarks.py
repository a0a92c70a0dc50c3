"""Watermarks of two growing topics, and the records that the next window needs.

All values here are plain, without Spark and Kafka. A *position* is commit_ts, sequence_id or lsn.
The *watermark* of a partition is the position below which it has all its rows: the largest position
of a progress event, or of a row where the format has no such events. The watermark of a topic is
the smallest one of its partitions. A *window* is the range between two shared watermarks.

Each record is scanned once. A row below a watermark that was already reported is late; every other
row belongs to exactly one window, this one or a later one. For records with rows that are not yet
reported, a partition keeps blocks: ranges of offsets, with the range of their rows' positions. The
number of blocks is bounded, and a window reads the blocks that it overlaps again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from cdcwire_conformance.sources.kafka_url import OffsetRange
from cdcwire_conformance.sources.source_urls import SourceError
from cdcwire_conformance.spark.compare.rules import POSITIONS, PositionName

WatermarkRule: TypeAlias = Literal["progress", "rows"]
Edges: TypeAlias = Mapping[int, tuple[int, int]]  # first offset and the one behind the last

BLOCKS = 64  # of a partition
NOTICES = 5  # lines per topic and window
STATE_VERSION = 1


class Block(NamedTuple):
    """Offsets from ``start`` up to, but not including, ``end``, and the positions of their rows.

    ``least`` and ``largest``: of rows that were not reported when the block was made or cut.
    """

    start: int
    end: int
    least: int
    largest: int


class ScannedRun(NamedTuple):
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
    lines: tuple[str, ...] = ()


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
class Partition:
    """The progress of a partition: the scanned offsets, the watermark, the blocks not reported."""

    number: int
    read_to: int
    watermark: int | None = None
    blocks: tuple[Block, ...] = ()

    def with_run(self, run: ScannedRun) -> Partition:
        """Return the progress after a run was scanned."""
        known = [at for at in (self.watermark, run.watermark) if at is not None]
        blocks = self.blocks
        if run.least is not None and run.largest is not None:
            blocks = _few((*blocks, Block(run.start, run.end, run.least, run.largest)))
        read_to = max(self.read_to, run.end)
        return Partition(self.number, read_to, max(known, default=None), blocks)

    def has_rows_below(self, end: int) -> bool:
        """Return whether there may be rows for a window that ends there."""
        return any(block.least < end for block in self.blocks)

    def range_below(self, end: int) -> OffsetRange:
        """Return the offsets that hold all rows of a window that ends there; it may be empty."""
        needed = [block for block in self.blocks if block.least < end]
        if not needed:
            return OffsetRange(self.number, self.read_to, self.read_to)
        return OffsetRange(self.number, needed[0].start, needed[-1].end)

    def reported_below(self, end: int) -> Partition:
        """Return the progress after the window that ends there is reported."""
        left = tuple(
            block._replace(least=max(block.least, end))
            for block in self.blocks
            if block.largest >= end
        )
        return replace(self, blocks=left)


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
    """The progress of the partitions of one topic."""

    partitions: tuple[Partition, ...]
    notices: Notices = field(default=Notices())

    def with_edges(self, name: str, edges: Edges) -> TopicProgress:
        """Return the progress with partitions that were added.

        Raises: SourceError if the broker removed records that were not reported.
        """
        known = {each.number: each for each in self.partitions}
        for number, each in known.items():
            first, behind = edges.get(number, (0, 0))
            needed = each.blocks[0].start if each.blocks else each.read_to
            if number not in edges or behind < each.read_to:
                raise SourceError(
                    f"{name}: partition {number} was read up to {each.read_to} and ends at {behind}"
                    ": it is another topic of this name; begin without the state"
                )
            if first > needed:
                raise SourceError(
                    f"{name}: partition {number} begins at {first} now; records from {needed} on "
                    "were not compared, and the broker has removed them"
                )
        added = [Partition(number, edges[number][0]) for number in sorted(set(edges) - set(known))]
        return replace(self, partitions=(*self.partitions, *added))

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
        return TopicProgress(tuple(found[number] for number in sorted(found)), notices)

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
        return TopicProgress(tuple(each.reported_below(end) for each in self.partitions))

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
    position: PositionName
    rules: tuple[WatermarkRule, WatermarkRule]
    since: int | None = None
    until: int | None = None

    def __str__(self) -> str:
        asked = "" if self.since is None else f" from {self.since}"
        asked += "" if self.until is None else f" to {self.until}"
        return f"{self.left} against {self.right} by {self.position}{asked}"


@dataclass(frozen=True, slots=True)
class State:
    """The progress of comparing two topics.

    ``start``: where the next window begins; None: at the first row. ``planned``: the end of the
    window being compared, until it is reported. ``reported``: the number of reported windows.
    """

    pair: FollowedPair
    topics: tuple[TopicProgress, TopicProgress]
    start: int | None = None
    planned: int | None = None
    reported: int = 0

    def shared_watermark(
        self, idle: Sequence[frozenset[int]] = (frozenset(), frozenset())
    ) -> int | None:
        """Return the position below which both topics are complete; None: not known yet."""
        left, right = (
            progress.watermark(rule, still)
            for progress, rule, still in zip(self.topics, self.pair.rules, idle, strict=True)
        )
        if left is None or right is None:
            return None
        until = self.pair.until
        return min(left, right) if until is None else min(left, right, until)

    @property
    def is_over(self) -> bool:
        """Return whether everything up to ``until`` is reported."""
        start, until = self.start, self.pair.until
        return start is not None and until is not None and start >= until

    def with_plan(self, watermark: int | None) -> State:
        """Return the state with a window planned, if there is anything to report."""
        start = -1 if self.start is None else self.start
        end = max(start, -1 if watermark is None else watermark)
        has_rows = end > start and any(progress.has_rows_below(end) for progress in self.topics)
        has_notices = any(progress.notices for progress in self.topics)
        is_last = end == self.pair.until
        return replace(self, planned=end) if has_rows or has_notices or is_last else self

    def when_reported(self, *, counts: bool = True) -> State:
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


def write_state(path: Path, state: State) -> None:
    """Replace the state in a file atomically. Raises: OSError."""
    document = {
        "follow": STATE_VERSION,
        "question": asdict(state.pair),
        "told": state.reported,
        "start": state.start,
        "planned": state.planned,
        "sides": [_topic_document(progress) for progress in state.topics],
    }
    new = path.with_name(f"{path.name}.new")
    with new.open("w", encoding="utf-8", newline="\n") as file:
        json.dump(document, file)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_state(path: Path) -> State | None:
    """Return the state of a file; None if there is no such file. Raises: SourceError; OSError."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return None
    try:
        document = json.loads(text)
        if document["follow"] != STATE_VERSION:
            raise ValueError("another version")
        left, right = map(_topic_of, document["sides"])
        return State(
            _pair_of(document["question"]),
            (left, right),
            _number_or_none(document["start"]),
            _number_or_none(document["planned"]),
            int(document["told"]),
        )
    except (ValueError, KeyError, TypeError, StopIteration, RecursionError) as error:
        raise SourceError(f"{path}: it is not a state file of --follow") from error


def _topic_document(progress: TopicProgress) -> dict[str, Any]:
    notices = progress.notices
    return {
        "partitions": [
            [each.number, each.read_to, each.watermark, [list(block) for block in each.blocks]]
            for each in progress.partitions
        ],
        "late": notices.late,
        "unplaced": notices.unplaced,
        "unreadable": notices.unreadable,
        "lines": list(notices.lines),
    }


def _topic_of(document: Mapping[str, Any]) -> TopicProgress:
    partitions = tuple(
        Partition(
            int(number),
            int(read_to),
            _number_or_none(watermark),
            tuple(Block(*map(int, block)) for block in blocks),
        )
        for number, read_to, watermark, blocks in document["partitions"]
    )
    late, unplaced, unreadable = (
        int(document[name]) for name in ("late", "unplaced", "unreadable")
    )
    return TopicProgress(
        partitions, Notices(late, unplaced, unreadable, tuple(map(str, document["lines"])))
    )


def _pair_of(document: Mapping[str, Any]) -> FollowedPair:
    ours, theirs = map(_rule_of, document["rules"])
    return FollowedPair(
        str(document["left"]),
        str(document["right"]),
        next(name for name in POSITIONS if name == document["position"]),
        (ours, theirs),
        _number_or_none(document["since"]),
        _number_or_none(document["until"]),
    )


def _rule_of(text: object) -> WatermarkRule:
    if text not in ("progress", "rows"):
        raise ValueError(f"{text!r} is not a rule")
    return "progress" if text == "progress" else "rows"


def _number_or_none(value: object) -> int | None:
    return None if value is None else int(str(value))
