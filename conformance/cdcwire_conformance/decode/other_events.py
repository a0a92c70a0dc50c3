"""The events of a feed that are not row changes, and statements that two feeds can share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cdcwire.model.events import Position, SchemaChange
from cdcwire.model.names import TableName
from cdcwire_conformance.decode.statements import MAX_STATEMENTS, PlacedStatement

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
