"""The values of a Maxwell JSON message: a row, a change of a schema, and a Kafka key.

Members keep the names of the JSON. ``None`` means that the member is absent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from cdcwire.core.errors import DecodeError
from cdcwire.core.json_record import (
    FLAG,
    Form,
    Quote,
    Unknown,
    array_of,
    extra,
    member,
    nested,
    part,
    unknown_members,
)
from cdcwire.core.limits import INT64_END
from cdcwire.core.strict_json import JsonObject, Member, Number
from cdcwire.formats.maxwell_json.keys import Key
from cdcwire.formats.maxwell_json.members import (
    DATA,
    DDL,
    DEFINITION,
    FIELDS,
    FORMS,
    INT64,
    MILLISECONDS,
    NUMBER,
    OLD,
    POSITION,
    PRIMARY_KEY,
    QUERY,
    ROW,
    SECONDS,
    TEXT,
    TIMESTAMP,
    TRANSACTION,
    TYPES,
    UNKNOWN,
    VALUES,
    Cell,
    ColumnValue,
)

BOOTSTRAP_MARKS = ("bootstrap-start", "bootstrap-complete")
ROW_TYPES = ("insert", "update", "delete", "bootstrap-insert", *BOOTSTRAP_MARKS)
TABLE_CHANGES = ("table-create", "table-alter", "table-drop")
DATABASE_CHANGES = ("database-create", "database-alter", "database-drop")
SCHEMA_CHANGES = (*TABLE_CHANGES, *DATABASE_CHANGES)

_WITH_FRACTION = frozenset({"time", "datetime", "timestamp"})
_FRACTION_END = 7  # MySQL keeps up to 6 digits of a second


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMessage:
    """A row that changed, or the start or end of a bootstrap.

    ``ts``: seconds. ``old``: the previous values of changed columns. ``unknown``: members that the
    format does not name, as JSON text. ``gtid_is_null``: the member is present, as null.
    """

    database: str = member(TEXT, FIELDS, part("schema"))
    table: str = member(TEXT, FIELDS, part("table"))
    query: str | None = member(TEXT, QUERY, extra("query"), default=None)
    type: str = member(TEXT, TYPES, part("kind", "op", "what"))
    ts: int = member(SECONDS, TIMESTAMP, part("commit_ms"))
    xid: int | None = member(INT64, TRANSACTION, part("tx_id"), default=None)
    xoffset: int | None = member(INT64, TRANSACTION, part("tx_order"), default=None)
    commit: bool | None = member(FLAG, TRANSACTION, extra("commit"), default=None)
    position: str | None = member(TEXT, POSITION, extra("binlog_position"), default=None)
    gtid: str | None = member(TEXT, POSITION, extra("gtid"), default=None, null="gtid_is_null")
    gtid_is_null: bool = False
    server_id: int | None = member(INT64, POSITION, extra("server_id"), default=None)
    thread_id: int | None = member(INT64, POSITION, extra("thread_id"), default=None)
    schema_id: int | None = member(INT64, POSITION, extra("schema_id"), default=None)
    push_ts: Number | None = member(NUMBER, TIMESTAMP, extra("push_ts"), default=None)
    comment: str | None = member(TEXT, FIELDS, extra("comment"), default=None)
    unknown: Unknown = unknown_members(UNKNOWN)
    primary_key: tuple[ColumnValue, ...] | None = member(VALUES, PRIMARY_KEY, default=None)
    primary_key_columns: tuple[str, ...] | None = member(
        array_of(TEXT, unique=True), PRIMARY_KEY, part("key"), default=None
    )
    data: tuple[Cell, ...] = member(ROW, DATA)
    old: tuple[Cell, ...] | None = member(ROW, OLD, default=None)
    key: Key | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDefinition:
    """A column of a table's definition, by the name of its MySQL type."""

    type: str = member(TEXT, DEFINITION)
    name: str = member(TEXT, DEFINITION)
    signed: bool | None = member(FLAG, DEFINITION, default=None)
    charset: str | None = member(TEXT, DEFINITION, default=None, null="")
    enum_values: tuple[str, ...] | None = member(
        array_of(TEXT), DEFINITION, name="enum-values", default=None
    )
    column_length: int | None = member(
        FORMS.integer(0, INT64_END), DEFINITION, name="column-length", default=None
    )


_COLUMN = nested(ColumnDefinition)


def _read_column(given: Member, data: bytes, clause: str) -> ColumnDefinition:
    column = _COLUMN.read(given, data, clause)
    length = column.column_length or 0
    if column.type in _WITH_FRACTION and length >= _FRACTION_END:
        assert isinstance(given.value, JsonObject)
        place = given.value.by_name["column-length"].start
        problem = f"{length} is outside 0 to {_FRACTION_END - 1}"
        raise DecodeError(problem, place, clause, ("column-length",))
    return column


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDefinition:
    """A table's definition. ``text`` is its JSON."""

    database: str = member(TEXT, DEFINITION)
    table: str = member(TEXT, DEFINITION)
    charset: str | None = member(TEXT, DEFINITION, default=None, null="")
    columns: tuple[ColumnDefinition, ...] = member(
        array_of(Form(_read_column, _COLUMN.write)), DEFINITION
    )
    primary_key: tuple[str, ...] = member(array_of(TEXT), DEFINITION, name="primary-key")
    text: str = ""


_TABLE = nested(TableDefinition)


def read_definition(given: Member, data: bytes, clause: str = DEFINITION) -> TableDefinition:
    """Return the definition of a table. Raises: DecodeError."""
    table = _TABLE.read(given, data, clause)
    if len({column.name for column in table.columns}) < len(table.columns):
        assert isinstance(given.value, JsonObject)
        place = given.value.by_name["columns"].start
        raise DecodeError("a column is duplicated", place, clause, ("columns",))
    return replace(table, text=data[given.start : given.end].decode())


def _written_definition(table: TableDefinition, clause: str, quote: Quote) -> str:
    return table.text


_DEFINITION = Form(read_definition, _written_definition)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaMessage:
    """A schema change. ``ts``: milliseconds. ``definition``: the member ``def``.

    ``charset_is_null``: the member is present, as null. ``key``: the bytes of the Kafka key.
    """

    type: str = member(TEXT, TYPES, part("kind", "op", "what"))
    database: str = member(TEXT, DDL, part("schema"))
    table: str | None = member(TEXT, DDL, part("table"), default=None)
    charset: str | None = member(TEXT, DDL, default=None, null="charset_is_null")
    charset_is_null: bool = False
    old: TableDefinition | None = member(_DEFINITION, DEFINITION, default=None)
    definition: TableDefinition | None = member(_DEFINITION, DEFINITION, name="def", default=None)
    ts: int = member(MILLISECONDS, TIMESTAMP, part("commit_ms"))
    sql: str = member(TEXT, DDL, part("query"))
    position: str | None = member(TEXT, POSITION, extra("binlog_position"), default=None)
    gtid: str | None = member(TEXT, POSITION, extra("gtid"), default=None, null="gtid_is_null")
    gtid_is_null: bool = False
    schema_id: int | None = member(INT64, POSITION, extra("schema_id"), default=None)
    unknown: Unknown = unknown_members(UNKNOWN)
    key: bytes | None = None


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A message without value. ``key``: the bytes of its Kafka key."""

    key: bytes | None


Message: TypeAlias = "RowMessage | SchemaMessage | Tombstone"
