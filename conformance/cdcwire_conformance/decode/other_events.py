"""The events of a feed that are not row changes: counts, and schema changes with their places.

A place and the span of a table's rows say which rows came before a statement that empties, drops or
renames it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from cdcwire.arrow.batches import MessagePlace
from cdcwire.model import kinds
from cdcwire.model.events import (
    Position,
    SchemaChange,
    SchemaChangeKind,
    Table,
    TableName,
    full_schema,
)
from cdcwire.model.kinds import Column

MAX_STATEMENTS = 1 << 14  # kept of one feed
PARTS_KEPT = 2  # enough to know that there are several

Part: TypeAlias = "tuple[str | None, int | None, str | None]"
"""A part of a feed, which has an order: a partition of a topic, or a file."""
_CODED = (
    *(kinds.DateType, kinds.TimeType, kinds.DatetimeType, kinds.TimestampType),
    *(kinds.DecimalType, kinds.BytesType, kinds.BitType),
)  # numbers or texts stand for their values


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    """A schema change with its place.

    ``database``: above the schema, if the feed's tables are named with it.
    ``place``: of its message; in a prefix, ``partition`` is how many files of rows are before it.
    ``number``: among the schema changes of its message. ``is_alone``: the message has no rows.
    ``definition``: the table after it, with its columns; None if the message does not describe it.
    """

    what: SchemaChangeKind
    query: str | None
    schema: str | None
    table: str | None
    position: Position
    place: MessagePlace
    number: int = 0
    is_alone: bool = True
    database: str | None = None
    definition: Table | None = None

    @classmethod
    def of(cls, change: SchemaChange, place: MessagePlace) -> PlacedStatement:
        """Return a schema change of a message at a place."""
        table = change.table
        if table is None:
            return cls(change.what, change.query, None, None, change.position, place)
        return cls(
            change.what,
            change.query,
            table.schema,
            table.name,
            change.position,
            place,
            database=table.database,
            definition=None if table.columns is None else table,
        )

    @property
    def named_schema(self) -> str | None:
        """The schema as the feed's tables name theirs."""
        return full_schema(self.database, self.schema)


@dataclass(frozen=True, slots=True)
class RowSpan:
    """Where the rows of a table are in a feed.

    ``parts``: up to two of those that have any. ``offsets``: the smallest and the largest of a row;
    in a prefix, of a file. None if that is not known.
    """

    parts: frozenset[Part] = frozenset()
    offsets: tuple[int, int] | None = None

    def joined(self, other: RowSpan) -> RowSpan:
        """Return the span of the rows of both shares of a feed."""
        parts = sorted(self.parts | other.parts, key=repr)[:PARTS_KEPT]
        offsets = self.offsets if other.offsets is None else widened(self.offsets, *other.offsets)
        return RowSpan(frozenset(parts), offsets)


def widened(known: tuple[int, int] | None, least: int, greatest: int) -> tuple[int, int]:
    """Return the range with two more values."""
    if known is None:
        return least, greatest
    return min(known[0], least), max(known[1], greatest)


def part_of(place: MessagePlace) -> Part:
    """Return the part of a feed that a message is in."""
    if place.topic is not None:
        return place.topic, place.partition, None
    return None, place.partition, place.file


def tables_after(statements: Iterable[PlacedStatement]) -> tuple[Table, ...]:
    """Return the tables that are left after some statements, as far as these describe them."""
    found: dict[tuple[str | None, str | None], Table] = {}
    for each in statements:
        name = each.named_schema, each.table
        if each.definition is not None:
            found[name] = each.definition
        elif each.what == "erase":
            found.pop(name, None)
    return tuple(found.values())


def declared_columns(
    statements: Iterable[PlacedStatement], name: TableName, columns: Iterable[Column]
) -> dict[str, Column]:
    """Return the columns that rows show as other values than the last statement declares.

    So do rows without types: a BIGINT UNSIGNED may be a negative number, a DATE a number of days.
    ``columns``: of the table ``name``, as its rows show them.
    """
    declared: dict[str, Column] = {}
    for each in statements:
        if each.definition is not None and (each.named_schema, each.table) == name:
            declared = {column.name: column for column in each.definition.columns or ()}
    return {
        column.name: declared[column.name]
        for column in columns
        if column.name in declared and _means_other(column.type, declared[column.name].type)
    }


def _means_other(shown: kinds.Type, declared: kinds.Type) -> bool:
    """Return whether values that rows show as one kind stand for values of a declared one."""
    if isinstance(declared, kinds.IntType):
        is_wrapped = declared.bits == 64 and declared.unsigned
        return is_wrapped and isinstance(shown, kinds.IntType) and not shown.unsigned
    return isinstance(shown, (kinds.IntType, kinds.TextType)) and isinstance(declared, _CODED)


MAX_DDL_EVENTS = 1 << 14  # kept of one feed, to be compared


@dataclass(frozen=True, slots=True)
class DdlEvent:
    """A schema change of a feed. ``text``: its statement, else what it does."""

    position: Position
    table: str
    text: str


@dataclass(frozen=True, slots=True)
class OtherEvents:
    """The events of a feed that are not row changes. A feed may send one DDL to many partitions.

    ``statements``: each schema change with its place, in the order of the shares of the feed.
    ``markers``: how many tombstones, borders of transactions and the like there are, by kind.
    ``reads``: how many rows of snapshots each table has, if they are not wanted.
    """

    ddl: frozenset[DdlEvent] = frozenset()
    progress: int = 0
    statements: tuple[PlacedStatement, ...] = ()
    markers: Mapping[str, int] = field(default_factory=dict)
    reads: Mapping[TableName, int] = field(default_factory=dict)

    def joined(self, other: OtherEvents) -> OtherEvents:
        """Return the events of both."""
        return OtherEvents(
            self.ddl | other.ddl,
            self.progress + other.progress,
            (*self.statements, *other.statements)[:MAX_STATEMENTS],
            dict(Counter(self.markers) + Counter(other.markers)),
            dict(Counter(self.reads) + Counter(other.reads)),
        )

    def without_database(self, database: str | None) -> OtherEvents:
        """Return the events of a feed whose tables are named without their only database."""
        return replace(
            self,
            statements=tuple(
                replace(each, database=None) if each.database == database else each
                for each in self.statements
            ),
        )


def ddl_event(event: SchemaChange) -> DdlEvent:
    """Return the facts of a schema change that two feeds can share."""
    table = event.table
    name = "" if table is None else ".".join(p for p in (table.schema, table.name) if p)
    own = event.position
    position = Position(own.commit_ts, own.sequence_id, own.lsn)
    return DdlEvent(position, name, event.query or event.what)
