"""The MySQL family: every type code of TiDB, with and without its unsigned or binary flag."""

from __future__ import annotations

from cdcwire.model.events import Column
from cdcwire.model.kinds import UnknownType
from cdcwire.mysql.ddl import schema_change_kind
from cdcwire.mysql.types import (
    FLAG_BINARY,
    FLAG_NULLABLE,
    FLAG_UNSIGNED,
    INTEGER_TYPES,
    STRING_TYPES,
    TYPE_BIT,
    TYPE_BLOB,
    TYPE_DATE,
    TYPE_DATETIME,
    TYPE_DOUBLE,
    TYPE_DURATION,
    TYPE_ENUM,
    TYPE_FLOAT,
    TYPE_GEOMETRY,
    TYPE_INT24,
    TYPE_JSON,
    TYPE_LONG,
    TYPE_LONG_BLOB,
    TYPE_LONGLONG,
    TYPE_MEDIUM_BLOB,
    TYPE_NEWDATE,
    TYPE_NEWDECIMAL,
    TYPE_NULL,
    TYPE_SET,
    TYPE_SHORT,
    TYPE_STRING,
    TYPE_TIMESTAMP,
    TYPE_TINY,
    TYPE_TINY_BLOB,
    TYPE_UNSPECIFIED,
    TYPE_VAR_STRING,
    TYPE_VARCHAR,
    TYPE_VECTOR,
    TYPE_YEAR,
    code_and_flags,
    column_of,
)
from cdcwire_generators.families.family import ColumnType, Family, SchemaChangeType

# Simplest first: a failing example shrinks towards the front.
_CODES = (
    TYPE_LONG,
    TYPE_VARCHAR,
    TYPE_TINY,
    TYPE_SHORT,
    TYPE_INT24,
    TYPE_LONGLONG,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_NEWDECIMAL,
    TYPE_DATE,
    TYPE_DURATION,
    TYPE_DATETIME,
    TYPE_TIMESTAMP,
    TYPE_YEAR,
    TYPE_BIT,
    TYPE_ENUM,
    TYPE_SET,
    TYPE_JSON,
    TYPE_STRING,
    TYPE_TINY_BLOB,
    TYPE_BLOB,
    TYPE_MEDIUM_BLOB,
    TYPE_LONG_BLOB,
    TYPE_VAR_STRING,
    TYPE_NEWDATE,
    TYPE_VECTOR,
    TYPE_NULL,
    TYPE_UNSPECIFIED,
    TYPE_GEOMETRY,
)
_NO_KEY = frozenset(
    {TYPE_JSON, TYPE_VECTOR, TYPE_NULL, TYPE_UNSPECIFIED, TYPE_GEOMETRY, TYPE_FLOAT, TYPE_DOUBLE}
)
_SIGNED = INTEGER_TYPES | {TYPE_FLOAT, TYPE_DOUBLE, TYPE_NEWDECIMAL}


def _column_types() -> tuple[ColumnType, ...]:
    found = []
    for code in _CODES:
        flags = [0]
        if code in _SIGNED:
            flags.append(FLAG_UNSIGNED)
        if code in STRING_TYPES or code in (TYPE_ENUM, TYPE_SET):
            flags.append(FLAG_BINARY)
        for flag in flags:
            column = column_of("", code, flag | FLAG_NULLABLE)
            assert column.source is not None
            is_unknown = isinstance(column.type, UnknownType)
            found.append(ColumnType(column.source, column.type, code not in _NO_KEY, is_unknown))
    return tuple(found)


def _as_read(column: Column, clause: str, time_zone: str | None) -> Column:
    """Return the facts that follow from the type code and the flags; the wire has only these."""
    return column_of(column.name, *code_and_flags(column, clause), time_zone)


def _schema_change(code: int, statement: str, names: str = "table") -> SchemaChangeType:
    return SchemaChangeType(code, schema_change_kind(code), statement, names)


MYSQL = Family(
    name="mysql",
    column_types=_column_types(),
    schema_changes=(
        _schema_change(3, "CREATE TABLE {schema}.{table} (id INT PRIMARY KEY)"),
        _schema_change(4, "DROP TABLE {schema}.{table}"),
        _schema_change(5, "ALTER TABLE {schema}.{table} ADD COLUMN c INT"),
        _schema_change(6, "ALTER TABLE {schema}.{table} DROP COLUMN c"),
        _schema_change(7, "CREATE INDEX i ON {schema}.{table} (c)"),
        _schema_change(8, "DROP INDEX i ON {schema}.{table}"),
        _schema_change(11, "TRUNCATE TABLE {schema}.{table}"),
        _schema_change(12, "ALTER TABLE {schema}.{table} MODIFY COLUMN c BIGINT"),
        _schema_change(14, "RENAME TABLE {schema}.{table} TO {schema}.renamed"),
        _schema_change(17, "ALTER TABLE {schema}.{table} COMMENT = 'a;b'"),
        _schema_change(
            19, "ALTER TABLE {schema}.{table} ADD PARTITION (PARTITION p VALUES IN (1))"
        ),
        _schema_change(21, "CREATE VIEW {schema}.{table} AS SELECT 1"),
        _schema_change(1, "CREATE DATABASE {schema}", "schema"),
        _schema_change(2, "DROP DATABASE {schema}", "schema"),
        _schema_change(0, "FLASHBACK CLUSTER TO TIMESTAMP '2024-01-01 00:00:00'", "nothing"),
        _schema_change(255, "", "nothing"),
    ),
    as_read=_as_read,
)
