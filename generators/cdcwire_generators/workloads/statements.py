"""Schema changes of a workload.

Those of most never alter the columns, so that one definition holds all along; ``evolving`` has one
whose tables change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdcwire.model.events import Position, SchemaChange, Table
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column
from cdcwire.mysql.types import schema_change_kind

_CREATE_SCHEMA = 1
_CREATE_TABLE = 3
_ADD_COLUMN = 5
_RENAME_TABLE = 14
_LATER = (
    (17, "ALTER TABLE {name} COMMENT = 'change {number}; still the same'"),
    (7, "CREATE INDEX `by_{number}` ON {name} ({column})"),
    (8, "DROP INDEX `by_{previous}` ON {name}"),
    (11, "TRUNCATE TABLE {name}"),
)


def create_statements(tables: Sequence[Table]) -> Iterator[SchemaChange]:
    """Give the statements that create the schemas, and then the tables."""
    for schema in dict.fromkeys(table.schema for table in tables):
        if schema is not None:
            query = f"CREATE DATABASE {quoted(schema)}"
            yield _change(_CREATE_SCHEMA, query, Table(None, schema))
    for table in tables:
        yield _change(_CREATE_TABLE, create_table(table), table)


def later_statement(table: Table, number: int) -> SchemaChange:
    """Return statement number ``number`` of an existing table."""
    code, template = _LATER[number % len(_LATER)]
    columns = table.columns or ()
    query = template.format(
        name=_full_name(table),
        number=number,
        previous=number - 1,
        column=quoted(columns[0].name) if columns else "`id`",
    )
    return _change(code, query, table)


def create_table(table: Table) -> str:
    """Return the statement that creates a MySQL table; the type is the column's source."""
    lines = [
        f"{quoted(column.name)} {_type(column)}{' NOT NULL' if column.nullable is False else ''}"
        for column in table.columns or ()
    ]
    primary = [column.name for column in table.columns or () if "primary" in column.roles]
    if primary:
        lines.append(f"PRIMARY KEY ({', '.join(map(quoted, primary))})")
    for column in table.columns or ():
        if "unique" in column.roles and "primary" not in column.roles:
            lines.append(f"UNIQUE KEY ({quoted(column.name)})")
    return f"CREATE TABLE {_full_name(table)} ({', '.join(lines)})"


def add_column(table: Table, column: Column, after: str) -> SchemaChange:
    """Return the statement that adds a column; ``table`` has it already."""
    place = f"{quoted(column.name)} {_type(column)} AFTER {quoted(after)}"
    return _defining(_ADD_COLUMN, f"ALTER TABLE {_full_name(table)} ADD COLUMN {place}", table)


def rename_table(table: Table, new: Table) -> SchemaChange:
    """Return the statement that gives a table another name; ``new`` has it already."""
    return _defining(_RENAME_TABLE, f"RENAME TABLE {_full_name(table)} TO {_full_name(new)}", new)


def create_whole_table(table: Table) -> SchemaChange:
    """Return the statement that creates a table, with its definition."""
    return _defining(_CREATE_TABLE, create_table(table), table)


def create_schema(schema: str) -> SchemaChange:
    """Return the statement that creates a database."""
    return _change(_CREATE_SCHEMA, f"CREATE DATABASE {quoted(schema)}", Table(None, schema))


def _defining(code: int, query: str, table: Table) -> SchemaChange:
    position = Position(table.version)
    return SchemaChange(schema_change_kind(code), query, code, table, position)


def _change(code: int, query: str, table: Table) -> SchemaChange:
    named = Table(table.name, table.schema, table.database)
    return SchemaChange(schema_change_kind(code), query, code, named)


def _type(column: Column) -> str:
    return kind_text(column.type) if column.source is None else column.source


def _full_name(table: Table) -> str:
    name = quoted(table.name or "")
    return name if table.schema is None else f"{quoted(table.schema)}.{name}"


def quoted(name: str) -> str:
    """Return a name as MySQL's statements quote it."""
    return "`" + name.replace("`", "``") + "`"
