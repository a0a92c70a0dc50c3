"""The definition of a table from the catalogue of its database, by JDBC.

The catalogue gives the types as DDL has them. So the statement is written again and read as DDL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cdcwire.ddl import parse_ddl
from cdcwire.files.stores import SourceError
from cdcwire.model.events import Table
from cdcwire_conformance.compare.database_columns import OWN_SCHEMA, literal, quoted_name
from cdcwire_conformance.sources.tables import TableUrl
from cdcwire_conformance.spark.compare.database_rows import read_by_jdbc

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_COLUMNS = {
    "mariadb": """SELECT c.table_schema AS owner, c.table_name AS tab, c.column_name AS name,
 c.column_type AS written, c.is_nullable = 'YES' AS nullable, c.ordinal_position AS place,
 k.ordinal_position AS key_place, NULL AS labels
 FROM information_schema.columns c LEFT JOIN information_schema.key_column_usage k
 ON k.constraint_name = 'PRIMARY' AND k.table_schema = c.table_schema
 AND k.table_name = c.table_name AND k.column_name = c.column_name
 WHERE lower(c.table_name) = lower({name}) AND c.table_schema = {schema}""",
    "postgresql": """SELECT n.nspname AS owner, r.relname AS tab, a.attname AS name,
 CASE t.typtype WHEN 'd' THEN format_type(t.typbasetype, t.typtypmod)
 ELSE format_type(a.atttypid, a.atttypmod) END AS written, NOT a.attnotnull AS nullable,
 a.attnum AS place, array_position(i.indkey::int2[], a.attnum) AS key_place,
 (SELECT string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)
 FROM pg_enum e WHERE e.enumtypid = t.oid) AS labels
 FROM pg_attribute a JOIN pg_class r ON r.oid = a.attrelid
 JOIN pg_namespace n ON n.oid = r.relnamespace JOIN pg_type t ON t.oid = a.atttypid
 LEFT JOIN pg_index i ON i.indrelid = r.oid AND i.indisprimary
 WHERE lower(r.relname) = lower({name}) AND n.nspname = {schema}
 AND a.attnum > 0 AND NOT a.attisdropped""",
}
_NOT_NULL = {True: "", False: " NOT NULL"}


def table_of_database(spark: SparkSession, table: TableUrl) -> Table:
    """Return the definition of a table: its columns, as DDL has them, and its primary key.

    Raises: SourceError for a table that the database does not have; DdlError for a type that no
    DDL says; what Spark raises.
    """
    schema, name = table.name
    place = OWN_SCHEMA[table.connector] if schema is None else literal(table, schema)
    query = _COLUMNS[table.connector].format(name=literal(table, name), schema=place)
    columns = sorted(read_by_jdbc(spark, table, query=query).collect(), key=lambda row: row.place)
    if not columns:
        raise SourceError(f"{table}: the database has no such table, or the user may not see it")
    (found,) = parse_ddl("\n".join(_statements(table, columns)))
    return found


def _statements(table: TableUrl, columns: list[Row]) -> list[str]:
    types = {column.written: column.labels for column in columns if column.labels is not None}
    found = [f"CREATE TYPE {name} AS ENUM ({labels});" for name, labels in types.items()]
    parts = [
        f"{quoted_name(table, column.name)} {column.written}{_NOT_NULL[bool(column.nullable)]}"
        for column in columns
    ]
    key = sorted((c for c in columns if c.key_place is not None), key=lambda row: row.key_place)
    if key:
        names = ", ".join(quoted_name(table, column.name) for column in key)
        parts.append(f"PRIMARY KEY ({names})")
    owner, name = (quoted_name(table, columns[0][part]) for part in ("owner", "tab"))
    return [*found, f"CREATE TABLE {owner}.{name} ({', '.join(parts)});"]
