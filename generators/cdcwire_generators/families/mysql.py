"""The MySQL family: every type code of TiDB, with and without its unsigned or binary flag."""

from __future__ import annotations

from cdcwire.model.kinds import Column, UnknownType
from cdcwire.mysql import types
from cdcwire.mysql.types import schema_change_kind
from cdcwire_generators.families.family import ColumnType, Family, SchemaChangeType

# Simplest first: a failing example shrinks towards the front.
_CODES = (
    types.TYPE_LONG,
    types.TYPE_VARCHAR,
    types.TYPE_TINY,
    types.TYPE_SHORT,
    types.TYPE_INT24,
    types.TYPE_LONGLONG,
    types.TYPE_FLOAT,
    types.TYPE_DOUBLE,
    types.TYPE_NEWDECIMAL,
    types.TYPE_DATE,
    types.TYPE_DURATION,
    types.TYPE_DATETIME,
    types.TYPE_TIMESTAMP,
    types.TYPE_YEAR,
    types.TYPE_BIT,
    types.TYPE_ENUM,
    types.TYPE_SET,
    types.TYPE_JSON,
    types.TYPE_STRING,
    types.TYPE_TINY_BLOB,
    types.TYPE_BLOB,
    types.TYPE_MEDIUM_BLOB,
    types.TYPE_LONG_BLOB,
    types.TYPE_VAR_STRING,
    types.TYPE_NEWDATE,
    types.TYPE_VECTOR,
    types.TYPE_NULL,
    types.TYPE_UNSPECIFIED,
    types.TYPE_GEOMETRY,
)
_NO_KEY = frozenset(
    {
        types.TYPE_JSON,
        types.TYPE_VECTOR,
        types.TYPE_NULL,
        types.TYPE_UNSPECIFIED,
        types.TYPE_GEOMETRY,
        types.TYPE_FLOAT,
        types.TYPE_DOUBLE,
    }
)
_SIGNED = types.INTEGER_TYPES | {types.TYPE_FLOAT, types.TYPE_DOUBLE, types.TYPE_NEWDECIMAL}


def _column_types() -> tuple[ColumnType, ...]:
    found = []
    for code in _CODES:
        flags = [0]
        if code in _SIGNED:
            flags.append(types.FLAG_UNSIGNED)
        if code in types.STRING_TYPES or code in (types.TYPE_ENUM, types.TYPE_SET):
            flags.append(types.FLAG_BINARY)
        for flag in flags:
            column = types.column_of("", code, flag | types.FLAG_NULLABLE)
            assert column.source is not None
            is_unknown = isinstance(column.type, UnknownType)
            found.append(ColumnType(column.source, column.type, code not in _NO_KEY, is_unknown))
    return tuple(found)


def _as_read(column: Column, clause: str, time_zone: str | None) -> Column:
    """Return the facts that follow from the type code and the flags; the wire has only these."""
    return types.column_of(column.name, *types.code_and_flags(column, clause), time_zone)


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
