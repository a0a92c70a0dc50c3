"""Up to where two topics that still grow are complete, and which records the next window needs.

All here is plain values without Spark and Kafka. A *position* is commit_ts, sequence_id or lsn. The
*mark* of a partition is the position below which it has all its rows: the largest that a progress
event told, or where a format has none the largest that a row had. The *frontier* of a topic is the
smallest mark of its partitions.

Each record is looked at once. A row of it below the frontier that is already told is late; each
other row belongs to exactly one window, this one or a later one. Of the records whose rows are not
all told, a partition keeps blocks: which offsets, and between which positions their rows are. So
what is kept does not grow with the topic, and a window reads the blocks that it meets again.
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

Rule: TypeAlias = Literal["progress", "rows"]
Edges: TypeAlias = Mapping[int, tuple[int, int]]  # first offset and the one behind the last

BLOCKS = 64  # of a partition
NOTICES = 5  # told with their place, of a topic and window
STATE_VERSION = 1


class Block(NamedTuple):
    """Records from ``start`` up to, not with, ``end``, and between which positions their rows are.

    ``least`` and ``largest`` are of rows that were not told when the block was made or cut.
    """

    start: int
    end: int
    least: int
    largest: int


class Seen(NamedTuple):
    """What was found in a run of a partition's records.

    ``least`` and ``largest``: of the rows that are not late; None without such. ``mark``: the
    largest position of a progress event, or of a row, as the rule says.
    """

    partition: int
    start: int
    end: int
    least: int | None = None
    largest: int | None = None
    mark: int | None = None
    late: int = 0
    unplaced: int = 0
    unreadable: int = 0
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notices:
    """What of a topic belongs to no window, and is told with the next one.

    ``late``: rows below a frontier that was told before. ``unplaced``: rows without a position.
    ``unreadable``: messages. ``lines``: the first of all these.
    """

    late: int = 0
    unplaced: int = 0
    unreadable: int = 0
    lines: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return self.late + self.unplaced + self.unreadable

    def __bool__(self) -> bool:
        return self.total > 0

    def with_seen(self, seen: Seen) -> Notices:
        return Notices(
            self.late + seen.late,
            self.unplaced + seen.unplaced,
            self.unreadable + seen.unreadable,
            (*self.lines, *seen.lines)[:NOTICES],
        )


@dataclass(frozen=True, slots=True)
class Lane:
    """A partition: how far it was looked at, its mark, and the blocks whose rows are not told."""

    number: int
    read_to: int
    mark: int | None = None
    blocks: tuple[Block, ...] = ()

    def with_seen(self, seen: Seen) -> Lane:
        marks = [mark for mark in (self.mark, seen.mark) if mark is not None]
        blocks = self.blocks
        if seen.least is not None and seen.largest is not None:
            blocks = _few((*blocks, Block(seen.start, seen.end, seen.least, seen.largest)))
        return Lane(self.number, max(self.read_to, seen.end), max(marks, default=None), blocks)

    def has_rows_below(self, end: int) -> bool:
        """Return whether there may be rows for a window that ends there."""
        return any(block.least < end for block in self.blocks)

    def range_below(self, end: int) -> OffsetRange:
        """Return the records that hold all rows of a window that ends there; empty if there are
        none.
        """
        met = [block for block in self.blocks if block.least < end]
        if not met:
            return OffsetRange(self.number, self.read_to, self.read_to)
        return OffsetRange(self.number, met[0].start, met[-1].end)

    def told_below(self, end: int) -> Lane:
        """Return the partition when the window that ends there is told."""
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
class Track:
    """How far one topic was followed."""

    lanes: tuple[Lane, ...]
    notices: Notices = field(default=Notices())

    def with_edges(self, name: str, edges: Edges) -> Track:
        """Return the track with partitions that were added.

        Raises: SourceError when records that are not told are gone.
        """
        known = {lane.number: lane for lane in self.lanes}
        for number, lane in known.items():
            first, behind = edges.get(number, (0, 0))
            needed = lane.blocks[0].start if lane.blocks else lane.read_to
            if number not in edges or behind < lane.read_to:
                raise SourceError(
                    f"{name}: partition {number} was read up to {lane.read_to} and ends at {behind}"
                    ": it is another topic of this name; begin without the state"
                )
            if first > needed:
                raise SourceError(
                    f"{name}: partition {number} begins at {first} now; records from {needed} on "
                    "were not compared, and the broker has removed them"
                )
        added = [Lane(number, edges[number][0]) for number in sorted(edges) if number not in known]
        return replace(self, lanes=(*self.lanes, *added))

    def unread(self, edges: Edges, limit: int) -> tuple[OffsetRange, ...]:
        """Return the next records to look at: ``limit`` of them, in proportion."""
        left = {lane.number: edges[lane.number][1] - lane.read_to for lane in self.lanes}
        total = sum(left.values())
        ranges = []
        for lane in self.lanes:
            count = left[lane.number]
            if total > limit:
                count = -(-count * limit // total)
            if count:
                ranges.append(OffsetRange(lane.number, lane.read_to, lane.read_to + count))
        return tuple(ranges)

    def with_seen(self, ranges: Iterable[OffsetRange], found: Iterable[Seen]) -> Track:
        """Return the track when these records were looked at."""
        lanes = {lane.number: lane for lane in self.lanes}
        notices = self.notices
        for seen in sorted(found, key=lambda seen: (seen.partition, seen.start)):
            lanes[seen.partition] = lanes[seen.partition].with_seen(seen)
            notices = notices.with_seen(seen)
        for each in ranges:  # there may be no record at the end of a range
            lane = lanes[each.partition]
            lanes[each.partition] = replace(lane, read_to=max(lane.read_to, each.end))
        return Track(tuple(lanes[number] for number in sorted(lanes)), notices)

    def frontier(self, rule: Rule, idle: frozenset[int] = frozenset()) -> int | None:
        """Return the position below which the topic is complete; None: it is not known yet.

        ``idle``: partitions to which nothing came for long. With marks of rows they hold nothing
        back, and if all are idle even the last position is complete.
        """
        marks = {lane.number: lane.mark for lane in self.lanes}
        if rule == "rows":
            busy = {number: mark for number, mark in marks.items() if number not in idle}
            if not busy:
                known = [mark for mark in marks.values() if mark is not None]
                return max(known) + 1 if known else None
            marks = busy
        found = [mark for mark in marks.values() if mark is not None]
        return min(found) if found and len(found) == len(marks) else None

    def has_rows_below(self, end: int) -> bool:
        return any(lane.has_rows_below(end) for lane in self.lanes)

    def ranges_below(self, end: int) -> tuple[OffsetRange, ...]:
        return tuple(lane.range_below(end) for lane in self.lanes)

    def told_below(self, end: int) -> Track:
        """Return the track when the window that ends there is told, with all notices."""
        return Track(tuple(lane.told_below(end) for lane in self.lanes))

    def waits_for(self) -> str:
        """Return what keeps the frontier from being known."""
        missing = [str(lane.number) for lane in self.lanes if lane.mark is None]
        shown = ", ".join(missing[:NOTICES]) + (", …" if len(missing) > NOTICES else "")
        return f"partition {shown}"


@dataclass(frozen=True, slots=True)
class Question:
    """What is compared: two topics by their names, and by which position and rules.

    ``since`` and ``until``: only rows from the one up to, not with, the other are asked for.
    """

    left: str
    right: str
    position: PositionName
    rules: tuple[Rule, Rule]
    since: int | None = None
    until: int | None = None

    def __str__(self) -> str:
        asked = "" if self.since is None else f" from {self.since}"
        asked += "" if self.until is None else f" to {self.until}"
        return f"{self.left} against {self.right} by {self.position}{asked}"


@dataclass(frozen=True, slots=True)
class State:
    """How far two topics were compared.

    ``start``: where the next window begins; None: with all that there is. ``planned``: where the
    window ends that is being compared, until it is told. ``told``: how many were.
    """

    question: Question
    tracks: tuple[Track, Track]
    start: int | None = None
    planned: int | None = None
    told: int = 0

    def shared_frontier(
        self, idle: Sequence[frozenset[int]] = (frozenset(), frozenset())
    ) -> int | None:
        """Return the position below which both topics are complete; None: it is not known yet."""
        left, right = (
            track.frontier(rule, still)
            for track, rule, still in zip(self.tracks, self.question.rules, idle, strict=True)
        )
        if left is None or right is None:
            return None
        until = self.question.until
        return min(left, right) if until is None else min(left, right, until)

    @property
    def is_over(self) -> bool:
        """Return whether all that is asked for is told."""
        start, until = self.start, self.question.until
        return start is not None and until is not None and start >= until

    def with_plan(self, frontier: int | None) -> State:
        """Return the state with a window planned, if there is anything to tell."""
        start = -1 if self.start is None else self.start
        end = max(start, -1 if frontier is None else frontier)
        has_rows = end > start and any(track.has_rows_below(end) for track in self.tracks)
        has_notices = any(track.notices for track in self.tracks)
        is_last = end == self.question.until
        return replace(self, planned=end) if has_rows or has_notices or is_last else self

    def when_told(self, *, counts: bool = True) -> State:
        """Return the state when the planned window is told. ``counts``: it had something."""
        assert self.planned is not None
        left, right = (track.told_below(self.planned) for track in self.tracks)
        return replace(
            self,
            tracks=(left, right),
            start=None if self.planned < 0 else self.planned,
            planned=None,
            told=self.told + counts,
        )


def write_state(path: Path, state: State) -> None:
    """Write a state so that a reader finds the old one or the new one, whole, whatever happens.

    Raises: OSError.
    """
    document = {
        "follow": STATE_VERSION,
        "question": asdict(state.question),
        "told": state.told,
        "start": state.start,
        "planned": state.planned,
        "sides": [_track_document(track) for track in state.tracks],
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
        left, right = map(_track_of, document["sides"])
        return State(
            _question_of(document["question"]),
            (left, right),
            _number_or_none(document["start"]),
            _number_or_none(document["planned"]),
            int(document["told"]),
        )
    except (ValueError, KeyError, TypeError, StopIteration, RecursionError) as error:
        raise SourceError(f"{path}: it is no state that --follow has written") from error


def _track_document(track: Track) -> dict[str, Any]:
    notices = track.notices
    return {
        "partitions": [
            [lane.number, lane.read_to, lane.mark, [list(block) for block in lane.blocks]]
            for lane in track.lanes
        ],
        "late": notices.late,
        "unplaced": notices.unplaced,
        "unreadable": notices.unreadable,
        "lines": list(notices.lines),
    }


def _track_of(document: Mapping[str, Any]) -> Track:
    lanes = tuple(
        Lane(
            int(number),
            int(read_to),
            _number_or_none(mark),
            tuple(Block(*map(int, block)) for block in blocks),
        )
        for number, read_to, mark, blocks in document["partitions"]
    )
    late, unplaced, unreadable = (
        int(document[name]) for name in ("late", "unplaced", "unreadable")
    )
    return Track(lanes, Notices(late, unplaced, unreadable, tuple(map(str, document["lines"]))))


def _question_of(document: Mapping[str, Any]) -> Question:
    ours, theirs = map(_rule_of, document["rules"])
    return Question(
        str(document["left"]),
        str(document["right"]),
        next(name for name in POSITIONS if name == document["position"]),
        (ours, theirs),
        _number_or_none(document["since"]),
        _number_or_none(document["until"]),
    )


def _rule_of(text: object) -> Rule:
    if text not in ("progress", "rows"):
        raise ValueError(f"{text!r} is no rule")
    return "progress" if text == "progress" else "rows"


def _number_or_none(value: object) -> int | None:
    return None if value is None else int(str(value))
