"""Definitions of tables: those that a schema change carries, and those that rows are read by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from cdcwire.formats.maxwell_json.message import ColumnDefinition, TableDefinition
from cdcwire.model import kinds
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, Role

UTC = "+00:00"  # of TIMESTAMP, whatever the zone of the server is

ColumnsByName: TypeAlias = Mapping[str, Column]
NO_COLUMNS: ColumnsByName = MappingProxyType({})

_PRIMARY: frozenset[Role] = frozenset({"primary"})
_INTEGERS: dict[str, kinds.IntBits] = {
    "tinyint": 8,
    "smallint": 16,
    "mediumint": 24,
    "int": 32,
    "bigint": 64,
}
_PLAIN: dict[str, kinds.Type] = {
    "float": kinds.FloatType(32),
    "double": kinds.FloatType(64),
    "decimal": kinds.DecimalType(),
    "bit": kinds.BitType(),
    "date": kinds.DateType(),
    "year": kinds.YearType(),
    "json": kinds.JsonType(),
    **dict.fromkeys(("binary", "varbinary"), kinds.BytesType()),
    **dict.fromkeys(("tinyblob", "blob", "mediumblob", "longblob"), kinds.BytesType()),
    # Spatial values are written as well-known text.
    **dict.fromkeys(("geometry", "point", "linestring", "polygon"), kinds.TextType()),
    **dict.fromkeys(("multipoint", "multilinestring", "multipolygon"), kinds.TextType()),
    "geometrycollection": kinds.TextType(),
}
_TEXTS = frozenset({"char", "varchar", "tinytext", "text", "mediumtext", "longtext"})


class Definitions:
    """The tables that rows are read by, by schema and name. A later definition wins."""

    __slots__ = ("_columns", "_tables")

    def __init__(self, tables: Iterable[Table]) -> None:
        self._tables = {(table.schema, table.name): table for table in tables}
        self._tables = {name: table for name, table in self._tables.items() if table.columns}
        self._columns: dict[tuple[str | None, str | None], ColumnsByName] = {
            name: {column.name: column for column in table.columns or ()}
            for name, table in self._tables.items()
        }

    def table(self, schema: str, name: str) -> Table | None:
        """Return the definition of a table, or None if it is unknown."""
        return self._tables.get((schema, name))

    def columns(self, schema: str, name: str) -> ColumnsByName:
        """Return the columns of a table by name; none if the table is unknown."""
        return self._columns.get((schema, name), NO_COLUMNS)


NO_DEFINITIONS = Definitions(())


@lru_cache(maxsize=64)
def definitions_of(tables: tuple[Table, ...]) -> Definitions:
    """Return the definitions in a context; the same object for the same tables."""
    return Definitions(tables)


def table_of(definition: TableDefinition) -> Table:
    """Return the table that a schema change defines."""
    return Table(
        definition.table,
        definition.database,
        columns=tuple(column_of(column, definition.primary_key) for column in definition.columns),
        key=definition.primary_key,
    )


def column_of(column: ColumnDefinition, key: tuple[str, ...]) -> Column:
    """Return a column; a type that is not known here is kept by its name."""
    is_unsigned = column.signed is False and column.type in _INTEGERS
    source = f"{column.type} unsigned" if is_unsigned else column.type
    roles: frozenset[Role] = _PRIMARY if column.name in key else frozenset()
    return Column(column.name, _type_of(column, is_unsigned=is_unsigned), source, roles=roles)


def _type_of(column: ColumnDefinition, *, is_unsigned: bool) -> kinds.Type:
    match column.type:
        case name if name in _INTEGERS:
            return kinds.IntType(_INTEGERS[name], is_unsigned)
        case name if name in _TEXTS:
            return kinds.BytesType() if column.charset == "binary" else kinds.TextType()
        case "time":
            return kinds.TimeType(column.column_length)
        case "datetime":
            return kinds.DatetimeType(column.column_length)
        case "timestamp":
            return kinds.TimestampType(column.column_length, zone=UTC)
        case "enum":
            return kinds.EnumType(column.enum_values, "label")
        case "set":
            return kinds.SetType(column.enum_values, "label")
        case name:
            return _PLAIN.get(name, kinds.UnknownType())
