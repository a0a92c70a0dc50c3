"""The tables that SQL, a dump or a file of ``tables`` defines, as definitions of the model.

Statements that make or change tables are carried out. USE names the schema of the tables after it.
Everything else in a dump is skipped. The dialect is that of MySQL, MariaDB
and TiDB unless the text shows that it is PostgreSQL's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from cdcwire.console.problems import UsageError
from cdcwire.ddl.chain import MysqlTables
from cdcwire.ddl.postgresql import PostgresqlTables
from cdcwire.ddl.statements import (
    lines_of_file,
    lines_of_text,
    statements_of,
    with_dialect,
)
from cdcwire.ddl.tokens import DdlError, NoTableError
from cdcwire.files.feed_file import read_tables
from cdcwire.model.events import Table


def parse_ddl(text: str, default_schema: str | None = None) -> tuple[Table, ...]:
    """Return the tables that a text defines, in its order.

    ``default_schema``: of tables whose schema the text does not say; PostgreSQL's says it or means
    ``public``. Each table has its ``key`` and its columns with source, nullability, default and
    roles.
    Raises: DdlError, with line and column; MissingExtraError where sqlglot is not installed.
    """
    return _tables_of(lines_of_text(text), default_schema)


def read_ddl_file(path: str | Path, default_schema: str | None = None) -> tuple[Table, ...]:
    """Return the tables that a file of SQL or a dump defines. Only definitions have to be UTF-8.

    Raises: DdlError with the name of the file; MissingExtraError; OSError.
    """
    try:
        return _tables_of(lines_of_file(path), default_schema)
    except DdlError as error:
        raise (error if error.file else error.in_file(str(path))) from None


def _tables_of(lines: Iterable[str], default_schema: str | None) -> tuple[Table, ...]:
    dialect, lines = with_dialect(lines)
    tables = MysqlTables(default_schema) if dialect == "mysql" else PostgresqlTables()
    for statement in statements_of(lines, dialect):
        tables.carry_out(statement)
    found = tuple(tables.tables())
    if not found:
        raise NoTableError
    return found


def sent_columns(table: Table) -> Table:
    """Return a table with the columns that messages have: all but the virtual generated ones."""
    columns = table.columns or ()
    return replace(table, columns=tuple(c for c in columns if "virtual" not in c.roles))


def read_definitions(tables: str | os.PathLike[str]) -> tuple[Table, ...]:
    """Return the definitions in a text or in a file.

    A text with spaces is DDL; any other is the name of a file, as a path is. A file of JSON is one
    that ``cdcwire tables`` writes, any other is SQL.
    Raises: DdlError, which is a ValueError; ValueError for JSON of another form; OSError.
    """
    if isinstance(tables, str) and len(tables.split()) > 1:
        return parse_ddl(tables)
    path = Path(tables)
    if path.suffix in (".json", ".jsonl"):
        try:
            return read_tables(str(path))
        except UsageError as error:
            raise ValueError(str(error)) from error
    return read_ddl_file(path)
