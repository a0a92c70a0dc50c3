"""The result of a comparison: counts, and the first rows that differ, as values without Spark.

All counts are numbers of changes, after updates of a key were split if that was asked for. For a
table that was compared, ``left == same + changed + only_left + repeated_left + doubled_left +
unsure_left``, and likewise right. Where last rows are compared, they count keys that have one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Literal, TypeAlias

from cdcwire_conformance.compare.record import RunRecord

RowVerdict: TypeAlias = Literal[
    "changed",
    "only left",
    "only right",
    "repeated",
    "doubled",
    "out of order",
    "missing",
    "left over",
    "stale",
]
ImageName: TypeAlias = Literal["before", "after"]
Hidden: TypeAlias = Literal["masked", "redacted"]
SideName: TypeAlias = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Shown:
    """One value of a row. ``text`` of SQL NULL and of an absent column: None.

    ``text``: bytes in hexadecimal, arrays and maps as JSON, all else as it is. ``length``: of the
    whole text, where ``text`` is only its beginning. ``digest``: SHA-256 of the whole text, there.

    ``hidden``: the value is not shown. ``text`` of a masked value is a keyed hash, and ``length``
    is that of the value. ``text`` of a redacted value is empty.
    """

    text: str | None
    is_absent: bool = False
    length: int | None = None
    digest: str | None = None
    hidden: Hidden | None = None


NULL = Shown(None)
ABSENT = Shown(None, is_absent=True)
REDACTED = Shown("", hidden="redacted")


def digest_of(text: str) -> str:
    """Return SHA-256 of a text in UTF-8, as hexadecimal digits."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def beginning_of(shown: Shown, longest: int) -> Shown:
    """Return a value of at most ``longest`` characters that still says what the whole one is."""
    if shown.text is None or len(shown.text) <= longest:
        return shown
    length = shown.length or len(shown.text)
    digest = shown.digest or digest_of(shown.text)
    return replace(shown, text=shown.text[:longest], length=length, digest=digest)


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """A column whose two values differ, or with ``image`` None a field of the event.

    With ``column`` None only one side has the whole image. ``is_unchanged``: one side lacks the
    column in its before image, and its after image has the value that the other side has here.
    ``release``: what a release of the producer changed, if that explains the difference.
    """

    image: ImageName | None
    column: str | None
    kind: str
    left: Shown
    right: Shown
    is_unchanged: bool = False
    release: str | None = None


@dataclass(frozen=True, slots=True)
class RowPlace:
    """The origin of a row, as far as its source says.

    ``row``: its number among those of its table in the message, from 0; None if it is alone.
    """

    file: str | None = None
    line: int | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    row: int | None = None

    def __str__(self) -> str:
        return self._message if self.row is None else f"{self._message}, rows[{self.row}]"

    @property
    def _message(self) -> str:
        if self.topic is not None:
            where = self.topic if self.partition is None else f"{self.topic}[{self.partition}]"
            return f"{where}@{self.offset}"
        if self.file is None:
            return ""
        if self.line is not None:
            return f"{self.file}:{self.line}"
        return self.file if self.offset is None else f"{self.file}@{self.offset}"


@dataclass(frozen=True, slots=True)
class RowDifference:
    """One row that differs: a changed pair, a row of one side, one sent more often or too late.

    ``key``: names and values of the key columns; empty if the table has none. ``left_count`` and
    ``right_count`` say how often each side has this very row. For a row of one side ``columns`` has
    its values, each against an absent one. One that is out of order has counts and places of the
    sides where it is so only. A last row has the op "row".

    Against a table, a row is missing in it, left over or stale: as the feed had it before. ``due``
    and ``due_place``: position and place of the change that the table does not have. For a last
    row of one feed, it is the change that deleted the row in the other feed. ``explained``: the
    columns that differ because of it.
    """

    verdict: RowVerdict
    op: str
    key: tuple[tuple[str, Shown], ...]
    position: tuple[tuple[str, str | None], ...]
    left_count: int
    right_count: int
    columns: tuple[ColumnDifference, ...] = ()
    left_place: RowPlace | None = None
    right_place: RowPlace | None = None
    due: str | None = None
    due_place: RowPlace | None = None
    explained: frozenset[str] = frozenset()

    @property
    def is_of_release(self) -> bool:
        """Return whether releases of the producer explain all that differs."""
        return bool(self.columns) and all(each.release is not None for each in self.columns)

    @property
    def weight(self) -> int:
        """The number of differences in ``Counts`` that this one represents."""
        if self.verdict in ("repeated", "doubled"):
            return abs(self.left_count - self.right_count)
        if self.verdict == "out of order":
            return min(self.left_count, 1) + min(self.right_count, 1)
        return max(self.left_count, self.right_count)


@dataclass(frozen=True, slots=True)
class PatternExample:
    """One difference of a pattern: the key of its row, and both values of the column."""

    key: tuple[tuple[str, Shown], ...]
    left: Shown
    right: Shown


@dataclass(frozen=True, slots=True)
class Pattern:
    """Differences of one column with one cause, or rows that differ as a whole in one way.

    ``column``: a column, a field of the event, or None for whole rows and images. ``type``: of the
    column. ``kind``: a stable name of the cause. ``text``: the cause in words. ``count``: the
    number of row differences that have it. ``option``: accepts these differences. ``later``: by
    how many seconds all times of the left side are later. ``lacking``: the side that lacks
    unchanged columns of before images.
    """

    column: str | None
    type: str
    kind: str
    text: str
    count: int
    examples: tuple[PatternExample, ...] = ()
    option: str | None = None
    later: int | None = None
    lacking: SideName | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many changes there are on both sides. ``rows`` counts before key updates were split.

    ``changed``: pairs of one key and position with different content. ``repeated`` and ``doubled``:
    copies of a row beyond what the other side has of it, which were sent again later, or at once.
    ``out_of_order``: pairs that come after a later change of their key in this feed, and not in the
    same way in the other. ``stale``: those of the changed rows of a table that are as the feed had
    them before. ``unreadable``: messages or rows with an error. ``unsure``: rows that the other
    side may have among these. ``released``: those of the changed pairs that releases of the
    producer explain. For last rows, ``rows`` counts the changes that were replayed.
    """

    left_rows: int = 0
    right_rows: int = 0
    left: int = 0
    right: int = 0
    same: int = 0
    changed: int = 0
    only_left: int = 0
    only_right: int = 0
    repeated_left: int = 0
    repeated_right: int = 0
    doubled_left: int = 0
    doubled_right: int = 0
    out_of_order_left: int = 0
    out_of_order_right: int = 0
    unreadable_left: int = 0
    unreadable_right: int = 0
    unsure_left: int = 0
    unsure_right: int = 0
    stale: int = 0
    released: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Return the counts of both."""
        names = (each.name for each in fields(self))
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def differing(self) -> int:
        """How many differences there are; a changed pair is one."""
        return (
            self.changed
            + self.only_left
            + self.only_right
            + self.repeated
            + self.doubled_left
            + self.doubled_right
            + self.out_of_order_left
            + self.out_of_order_right
        )

    @property
    def repeated(self) -> int:
        """The number of repeated rows of both sides."""
        return self.repeated_left + self.repeated_right

    @property
    def unreadable(self) -> int:
        """The number of unreadable rows of both sides."""
        return self.unreadable_left + self.unreadable_right


@dataclass(frozen=True, slots=True)
class OrderDoubts:
    """Changes whose order can't be compared.

    ``unordered``: pairs of one key and position whose changes have no order that both feeds share.
    ``backwards``: changes after a later change of their key, in the same way in both feeds. Of last
    rows: keys whose last row by position is not the one that came last in a feed. ``first_back``:
    the smallest position of these. ``position``: its name.
    """

    unordered: int = 0
    backwards: int = 0
    first_back: str | None = None
    position: str | None = None


NO_DOUBTS = OrderDoubts()


@dataclass(frozen=True, slots=True)
class TableComparison:
    """One table. ``counts``: None if the schemas differ so that no row was read.

    ``schema_differences``: a line each. ``left_out``: columns that were not compared, with the
    reason. ``notes``: what was taken for granted. ``paired_by``: the position (or "ordinal") and
    the columns of the key by which rows met; without a key they met only their equals.
    ``in_halves``: an update counts as two changes. ``is_final``: last rows were compared.
    ``allows_repeats``: copies that were sent again are counted and do not make a difference.
    ``against_table``: the right side is a table. ``patterns``: all differences by their cause, the
    most frequent first; a row may be in several. ``doubts``: about the order of changes.
    """

    table: str
    counts: Counts | None
    differences: tuple[RowDifference, ...] = ()
    schema_differences: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    paired_by: tuple[str, ...] = ()
    in_halves: bool = False
    is_final: bool = False
    allows_repeats: bool = False
    against_table: bool = False
    patterns: tuple[Pattern, ...] = ()
    doubts: OrderDoubts = NO_DOUBTS

    @property
    def is_equal(self) -> bool:
        """True if rows were compared, all could be read, and nothing differs."""
        if self.schema_differences or self.counts is None:
            return False
        return self.differing == 0 and self.counts.unreadable == 0

    def has_changes(self, side: SideName) -> bool:
        """Return whether any change of a side was compared."""
        counts = self.counts
        if counts is None:
            return False
        if side == "left":
            return counts.left > 0 or counts.left_rows > 0
        return counts.right > 0 or counts.right_rows > 0

    @property
    def differing(self) -> int:
        """How many differences count."""
        if self.counts is None:
            return 0
        counted = self.counts.differing - self.counts.released
        return counted - (self.counts.repeated if self.allows_repeats else 0)


@dataclass(frozen=True, slots=True)
class UnreadableMessage:
    """A message or row that can't be read. ``problem`` may quote a value; ``where`` does not.

    ``where``: the place, the byte and the clause. ``problem``: the whole line.
    """

    where: str
    problem: str

    def __str__(self) -> str:
        return self.problem


@dataclass(frozen=True, slots=True)
class DdlDifference:
    """A schema change that only one feed has. ``place``: the table, and the position if known."""

    side: SideName
    place: str
    statement: Shown


@dataclass(frozen=True, slots=True)
class KeyContradiction:
    """A column, or with ``column`` None a table, that a Kafka key names otherwise than its row."""

    side: SideName
    table: str
    place: RowPlace | None
    column: str | None
    in_key: Shown
    in_row: Shown


@dataclass(frozen=True, slots=True)
class KafkaKeys:
    """The Kafka keys of both feeds: of the left, of the right.

    ``keyed``: rows whose message has a key. ``contradicting``: rows whose key contradicts them.
    ``first``: of these, the first of each side. ``differ``: both feeds were compared, and their
    keys are not the same.
    """

    keyed: tuple[int, int] = (0, 0)
    contradicting: tuple[int, int] = (0, 0)
    first: tuple[KeyContradiction, ...] = ()
    differ: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two feeds, table by table.

    ``differences``: tables that only one side has, a line each. ``compared``: fields of an event.
    ``left_out``: what was compared of no table, with the reason. ``errors_left`` and
    ``errors_right``: how many messages or rows can't be read; one message counts once, in however
    many tables it is missed. ``unreadable``: the first of these. ``engine``: the name
    of the engine that compared the rows. ``unread``: files in the directory of each feed that may
    have rows and are not read; ``ignores_unread``: the user accepts that. ``record``: date,
    command, versions and inputs.
    """

    left: str
    right: str
    tables: tuple[TableComparison, ...]
    differences: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    errors_left: int = 0
    errors_right: int = 0
    unreadable: tuple[UnreadableMessage, ...] = ()
    notes: tuple[str, ...] = ()
    is_exact: bool = False
    seconds: float = 0.0
    unwanted: tuple[str, ...] = ()
    ddl: tuple[int, int] = (0, 0)
    progress: tuple[int, int] = (0, 0)
    ddl_differences: tuple[DdlDifference, ...] = ()
    hints: tuple[str, ...] = ()
    engine: str = ""
    unread: tuple[str, ...] = ()
    ignores_unread: bool = False
    keys: KafkaKeys = KafkaKeys()
    record: RunRecord | None = None

    @property
    def is_equal(self) -> bool:
        """True if the feeds have equal tables with changes, and everything could be read."""
        if self.is_different or self.goes_back or (self.unread and not self.ignores_unread):
            return False
        return self.has_changes("left") and self.has_changes("right")

    @property
    def is_different(self) -> bool:
        """True if anything differs or could not be read."""
        if self.differences or self.errors or self.ddl_differences or self.keys.differ:
            return True
        return not all(table.is_equal for table in self.tables)

    @property
    def goes_back(self) -> bool:
        """True if changes of a key come after later ones in both feeds, so no order is right."""
        return any(table.doubts.backwards for table in self.tables)

    def has_changes(self, side: SideName) -> bool:
        """Return whether any change of a side was compared."""
        return any(table.has_changes(side) for table in self.tables)

    @property
    def changes(self) -> tuple[int, int]:
        """How many changes of the left and of the right feed were compared."""
        counts = [table.counts for table in self.tables if table.counts is not None]
        return sum(each.left_rows for each in counts), sum(each.right_rows for each in counts)

    @property
    def errors(self) -> int:
        """The number of unreadable messages or rows of both feeds."""
        return self.errors_left + self.errors_right

    @property
    def has_schema_differences(self) -> bool:
        """True if a table differs in its schema, or only one feed has it."""
        return bool(self.differences) or any(table.schema_differences for table in self.tables)
