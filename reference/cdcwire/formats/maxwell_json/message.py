"""The values of a Maxwell JSON message: a row, a change of a schema, and a Kafka key.

Members keep the names of the JSON. ``None`` means that the member is absent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cdcwire.core.strict_json import Number

BOOTSTRAP_MARKS = ("bootstrap-start", "bootstrap-complete")
ROW_TYPES = ("insert", "update", "delete", "bootstrap-insert", *BOOTSTRAP_MARKS)
TABLE_CHANGES = ("table-create", "table-alter", "table-drop")
DATABASE_CHANGES = ("database-create", "database-alter", "database-drop")
SCHEMA_CHANGES = (*TABLE_CHANGES, *DATABASE_CHANGES)

KeyForm: TypeAlias = Literal["hash", "array"]


@dataclass(frozen=True, slots=True)
class Inline:
    """A value that is neither a number nor a string: its JSON text."""

    text: str


ColumnValue: TypeAlias = "Number | str | Inline | None"
Unknown: TypeAlias = "tuple[tuple[str, str], ...]"  # name, JSON text


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a row. ``offset`` is the byte where the value begins."""

    name: str
    value: ColumnValue
    offset: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class Key:
    """A Kafka key. Its column names are in lower case. ``uuid`` replaces them without a key."""

    form: KeyForm
    database: str
    table: str | None
    columns: tuple[Cell, ...] = ()
    uuid: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(cell.name for cell in self.columns)


@dataclass(frozen=True, slots=True)
class RowMessage:
    """A row that changed, or the start or end of a bootstrap.

    ``ts``: seconds. ``old``: the previous values of changed columns. ``unknown``: members that the
    format does not name, as JSON text. ``gtid_is_null``: the member is present, as null.
    """

    database: str
    table: str
    type: str
    ts: int
    data: tuple[Cell, ...]
    old: tuple[Cell, ...] | None = None
    query: str | None = None
    xid: int | None = None
    xoffset: int | None = None
    commit: bool | None = None
    position: str | None = None
    gtid: str | None = None
    gtid_is_null: bool = False
    server_id: int | None = None
    thread_id: int | None = None
    schema_id: int | None = None
    push_ts: Number | None = None
    comment: str | None = None
    primary_key: tuple[ColumnValue, ...] | None = None
    primary_key_columns: tuple[str, ...] | None = None
    unknown: Unknown = ()
    key: Key | None = None


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column of a table's definition, by the name of its MySQL type."""

    type: str
    name: str
    signed: bool | None = None
    charset: str | None = None
    enum_values: tuple[str, ...] | None = None
    column_length: int | None = None


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table's definition. ``text`` is its JSON."""

    database: str
    table: str
    charset: str | None
    columns: tuple[ColumnDefinition, ...]
    primary_key: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class SchemaMessage:
    """A schema change. ``ts``: milliseconds. ``definition``: the member ``def``.

    ``charset_is_null``: the member is present, as null. ``key``: the bytes of the Kafka key.
    """

    type: str
    database: str
    ts: int
    sql: str
    table: str | None = None
    charset: str | None = None
    charset_is_null: bool = False
    old: TableDefinition | None = None
    definition: TableDefinition | None = None
    position: str | None = None
    gtid: str | None = None
    gtid_is_null: bool = False
    schema_id: int | None = None
    unknown: Unknown = ()
    key: bytes | None = None


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A message without value. ``key``: the bytes of its Kafka key."""

    key: bytes | None


Message: TypeAlias = "RowMessage | SchemaMessage | Tombstone"
