"""The closed set of events that every format is translated to, their parts, and names of these.

Nothing assigns to their fields; sequences are tuples. Four ways not to have a value are kept apart.
SQL NULL is the value ``None``. An *absent* column is not in ``Image.columns``. *Unchanged* columns
are absent and the row says ``sent="changed"``. A value that the producer declared unavailable is
``UNAVAILABLE``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Literal, TypeAlias

from cdcwire.model.kinds import Column, Value
from cdcwire.model.slotted import slotted

Op: TypeAlias = Literal["insert", "update", "delete", "upsert", "read"]
Half: TypeAlias = Literal["before", "after"]
Sent: TypeAlias = Literal["all", "key", "changed"]
SchemaChangeKind: TypeAlias = Literal[
    "create", "alter", "erase", "truncate", "rename", "cindex", "dindex", "query"
]
ProgressKind: TypeAlias = Literal["resolved", "watermark", "checkpoint", "heartbeat"]
MarkerKind: TypeAlias = Literal[
    "begin", "end", "gtid", "xa_commit", "xa_rollback", "logical_message", "tombstone"
]
Extra: TypeAlias = Mapping[str, "str | bytes | None"]


NO_EXTRA: Extra = MappingProxyType({})


def _no_extra() -> Extra:
    return NO_EXTRA


@dataclass(frozen=True, slots=True)
class Expression:
    """A column default that is computed, kept as its SQL text."""

    sql: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table, or with ``name`` None a whole schema (CREATE DATABASE).

    ``schema`` is MySQL's database; ``database`` is only there where a level above it exists.
    ``key`` names the key columns: ``()`` if there is none, None if the format does not say.
    ``columns``: None where a message describes columns only with its rows.
    """

    name: str | None
    schema: str | None = None
    database: str | None = None
    columns: tuple[Column, ...] | None = None
    key: tuple[str, ...] | None = None
    version: int | None = None


@slotted(frozen=True, slots=True)
class Image:
    """One state of one row. ``columns`` and ``values`` run side by side; ``image["c1"]``."""

    columns: tuple[Column, ...]
    values: tuple[Value, ...]

    def __getitem__(self, name: str) -> Value:
        for column, value in zip(self.columns, self.values, strict=True):
            if column.name == name:
                return value
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(column.name == name for column in self.columns)

    @classmethod
    def of(cls, pairs: Iterable[tuple[Column, Value]]) -> Image:
        """Return an image of columns with their values."""
        pairs = tuple(pairs)
        return cls(tuple(column for column, _ in pairs), tuple(value for _, value in pairs))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def pairs(self) -> Iterator[tuple[Column, Value]]:
        """The columns in order, each with its value."""
        return zip(self.columns, self.values, strict=True)

    def only(self, names: Container[str]) -> Image:
        """Return an image with the columns of these names."""
        return Image.of(pair for pair in self.pairs if pair[0].name in names)


@slotted(frozen=True, slots=True)
class Position:
    """The place of a change in the stream, in the units of its source.

    ``commit_ts`` and ``start_ts`` are TSOs, ``commit_ms`` and ``sent_ms`` are milliseconds since
    1970 in UTC. The members from ``file`` on belong to one kind of source each. The
    binlog has ``file`` to ``server_id``. SQL Server and Db2 have ``commit_lsn`` to
    ``event_serial_no``, Oracle has ``commit_scn`` to ``ssn``, TiDB has ``start_ts``. Texts are as
    the source writes them.
    """

    commit_ts: int | None = None
    sequence_id: int | None = None
    lsn: int | None = None
    tx_id: str | None = None
    tx_order: int | None = None
    partition: int | None = None
    commit_ms: int | None = None
    sent_ms: int | None = None
    file: str | None = None
    pos: int | None = None
    row: int | None = None
    gtid: str | None = None
    server_id: int | None = None
    commit_lsn: str | None = None
    change_lsn: str | None = None
    event_serial_no: int | None = None
    commit_scn: str | None = None
    scn: str | None = None
    rs_id: str | None = None
    ssn: int | None = None
    start_ts: int | None = None


POSITION_MEMBERS: tuple[str, ...] = tuple(each.name for each in fields(Position))
SOURCE_MEMBERS = POSITION_MEMBERS[POSITION_MEMBERS.index("file") :]
"""Members of a position that only one kind of source has."""
NOWHERE = Position()


@slotted(frozen=True, slots=True)
class RowChange:
    """One row inserted, updated, deleted, upserted or read.

    insert, read and upsert have ``after``; delete has ``before``; update has ``after``, and
    ``before`` unless it was not sent. ``half`` says which of the two records of a split update this
    is. ``sent`` says which columns the producer chose, where bytes or options show it.
    """

    table: Table
    op: Op
    before: Image | None
    after: Image | None
    position: Position = NOWHERE
    half: Half | None = None
    sent: Sent | None = None
    extra: Extra = field(default_factory=_no_extra)


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A DDL. ``code`` is the producer's own number for it; ``what`` follows from it, not back."""

    what: SchemaChangeKind
    query: str | None
    code: int | None = None
    table: Table | None = None
    position: Position = NOWHERE
    extra: Extra = field(default_factory=_no_extra)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the stream has come."""

    what: ProgressKind
    position: Position = NOWHERE
    extra: Extra = field(default_factory=_no_extra)


@dataclass(frozen=True, slots=True)
class Marker:
    """A border or a remark in the stream: transaction begin and end, a tombstone."""

    what: MarkerKind
    id: str | None = None
    position: Position = NOWHERE
    extra: Extra = field(default_factory=_no_extra)


Event: TypeAlias = RowChange | SchemaChange | Progress | Marker


Step: TypeAlias = "str | int"
Path: TypeAlias = "tuple[Step, ...]"
"""The path from an event or a message to one of its values, outermost step first."""


def path_text(path: Path) -> str:
    """Return a path as people write it: ``rows[2].columns[0]``."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).lstrip(".")


TableName: TypeAlias = "tuple[str | None, str]"
"""Schema and table. With a database the schema is ``DATABASE.SCHEMA``, see ``full_schema``."""


def full_schema(database: str | None, schema: str | None) -> str | None:
    """Return a schema with its database before it, where there is one above the schema.

    Examples:
        >>> full_schema("crm", "public"), full_schema(None, "public"), full_schema("a.b", "public")
        ('crm.public', 'public', '"a.b".public')

    """
    if database is None or schema is None:
        return schema
    parts = (f'"{part}"' if "." in part or '"' in part else part for part in (database, schema))
    return ".".join(parts)


def full_name(table: Table) -> TableName:
    """Return the name of a table by which no two tables of a feed are the same."""
    return full_schema(table.database, table.schema), table.name or ""
