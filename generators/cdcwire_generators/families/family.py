"""A family of source databases: its column types, its DDL, and how it describes columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cdcwire.model.events import SchemaChangeKind
from cdcwire.model.kinds import Column, Role, Type


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A type as the source database names it, and the neutral type that stands for it.

    ``fits_key``: a primary or unique key may hold a column of this type.
    ``is_always_null``: no value of this type ever travels.
    """

    source: str
    type: Type
    fits_key: bool = True
    is_always_null: bool = False


@dataclass(frozen=True, slots=True)
class SchemaChangeType:
    """A DDL action: its number, its neutral kind, a statement with ``{schema}`` and ``{table}``.

    ``names`` says what the event names: a table, only a schema, or nothing.
    """

    code: int
    what: SchemaChangeKind
    statement: str
    names: str = "table"


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """The column types and DDL of a source database, and how its formats describe columns.

    There is one object per family.

    ``as_read``: a column of any origin as it comes back from a format of the family. It is given
    the column, its clause for errors, and the zone of TIMESTAMP texts where that is known.
    ``vectors``: sources of array columns whose items are never NULL.
    ``has_iso_times``: a count of a time is one of a day, and texts end with a Z, by ISO 8601.
    """

    name: str
    column_types: tuple[ColumnType, ...]
    schema_changes: tuple[SchemaChangeType, ...]
    as_read: Callable[[Column, str, str | None], Column]
    has_iso_times: bool = False
    vectors: frozenset[str] = frozenset()

    def column(
        self, name: str, column_type: ColumnType, nullable: bool, roles: frozenset[Role]
    ) -> Column:
        """Return a column in the form in which the formats of the family give it."""
        described = Column(name, column_type.type, column_type.source, nullable, roles=roles)
        return self.as_read(described, "column types", None)
