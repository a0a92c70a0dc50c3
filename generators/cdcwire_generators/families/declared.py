"""MySQL's types as they are declared, with lengths, scales and elements, as in schema files.

The storage formats take a column from its definition. A definition without a length gets TiDB's
default when it goes through a schema file. These tables give every length, so that the same column
comes back. Things without a place in a schema file are also left out: indexes, types without
values.
"""

from __future__ import annotations

from dataclasses import replace

from cdcwire.model.kinds import Column, EnumType, Role, SetType, Type
from cdcwire.mysql.declared import (
    TEMPORAL_NAMES,
    declared_text,
    declared_type,
    filled,
    parse_declared,
    type_of_declared,
)
from cdcwire_generators.families.family import ColumnType, Family
from cdcwire_generators.families.mysql import MYSQL

# Simplest first: a failing example shrinks towards the front.
_DECLARED = (
    *("int", "varchar(20)", "tinyint", "smallint", "mediumint", "bigint"),
    *(f"{name} unsigned" for name in ("int", "tinyint", "smallint", "mediumint", "bigint")),
    *("float", "double", "decimal", "decimal(10,4)", "decimal(65,30)", "decimal(5,5)"),
    *("float unsigned", "double unsigned", "decimal(10,4) unsigned"),
    *("date", "time", "time(3)", "datetime", "datetime(6)", "timestamp", "timestamp(3)"),
    *("year", "bit", "bit(64)", "json", "char(10)", "varchar(255)", "tinytext", "text"),
    *("mediumtext", "longtext", "varbinary(40)", "binary(4)", "tinyblob", "blob"),
    *("mediumblob", "longblob", "vector"),
)
_NO_KEY = ("json", "float", "double", "vector")
_LABELS = ("a", "b", "it's", 'quote"', "back\\slash", "é", "c c", "NULL", "\\N")


def schema_file_column(column: Column, clause: str, time_zone: str | None) -> Column:
    """Return a column as in the schema file of its table, but with its labels.

    Raises: EncodeError for kinds that MySQL does not have.
    """
    declared = filled(declared_type(column, clause))
    if declared.base in TEMPORAL_NAMES:
        declared = replace(declared, decimal=declared.decimal or 0)
    kind: Type = type_of_declared(declared, time_zone)
    if isinstance(column.type, (EnumType, SetType)):
        kind = column.type
    roles: frozenset[Role] = column.roles & {"generated", "virtual"}
    is_primary = "primary" in column.roles
    if is_primary:
        roles |= {"primary", "handle"}
    # Neither elements nor ZEROFILL stand in the file.
    source = declared_text(replace(declared, elements=None, is_zerofill=False))
    nullable = not is_primary if column.nullable is None else column.nullable
    return replace(column, type=kind, source=source, nullable=nullable, roles=roles)


def _column_types() -> tuple[ColumnType, ...]:
    found = []
    for text in _DECLARED:
        declared = parse_declared(text)
        column = Column("", type_of_declared(declared), declared_text(declared))
        column = schema_file_column(column, "", None)
        assert column.source is not None
        fits_key = not column.source.startswith(_NO_KEY)
        found.append(ColumnType(column.source, column.type, fits_key))
    for form in ("label", "index"):
        found.append(ColumnType("enum", EnumType(_LABELS, form)))
        found.append(ColumnType("set", SetType(_LABELS, form)))
    return tuple(found)


def _indexed_column(column: Column, clause: str, time_zone: str | None) -> Column:
    """Return a column as declared, and with the indexes that it is in."""
    return replace(schema_file_column(column, clause, time_zone), roles=column.roles)


DECLARED = Family(
    name="mysql declared",
    column_types=_column_types(),
    # A file needs at least a schema to lie in.
    schema_changes=tuple(each for each in MYSQL.schema_changes if each.names != "nothing"),
    as_read=schema_file_column,
)

# The same types in tables whose indexes are known, for formats that have the server's definition.
INDEXED = replace(DECLARED, name="mysql indexed", as_read=_indexed_column)
