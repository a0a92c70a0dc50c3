"""CREATE TABLE statements of MySQL and TiDB as table definitions of the model.

Read: every statement of a dump. CREATE TABLE gives a table, USE names the schema of the tables
after it. Refused, as the tables would not be what they say: CREATE TABLE from another table or a
query, ALTER TABLE, RENAME TABLE, CREATE UNIQUE INDEX. Everything else is ignored. Comments are
comments, also those that a MySQL server would carry out (``/*!50100 … */``, ``/*T![…] … */``): what
dumps put there does not change columns. Table options and partitions are ignored.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cdcwire.model.events import Table
from cdcwire_conformance.ddl.definition import finished, read_create
from cdcwire_conformance.ddl.errors import DdlError
from cdcwire_conformance.ddl.tokens import Cursor, Token, error_at, tokens_of
from cdcwire_conformance.whole_files import read_whole


def parse_ddl(text: str, default_schema: str | None = None) -> tuple[Table, ...]:
    """Return the tables that the CREATE TABLE statements of a text define, in its order.

    ``default_schema``: of tables whose schema the text does not say. Each table has its ``key`` and
    its columns with source, nullability, default and roles.
    Raises: DdlError, with line and column; MissingExtraError where sqlglot is not installed.
    """
    cursor = Cursor(text, tokens_of(text))
    tables: dict[tuple[str | None, str], Table] = {}
    schema = default_schema
    while cursor.token.kind != "end":
        if cursor.skip(";"):
            continue
        begin = cursor.token
        if cursor.skip("USE"):
            schema = cursor.name("the name of a schema")
        elif cursor.skip("CREATE", "TABLE") or cursor.skip("CREATE", "TEMPORARY", "TABLE"):
            _add_table(cursor, schema, tables)
        else:
            _refuse_changes(cursor)
        _skip_statement(cursor, begin)
    if not tables:
        raise error_at(text, 0, "there is no CREATE TABLE here")
    return tuple(tables.values())


def read_ddl_file(path: str | Path, default_schema: str | None = None) -> tuple[Table, ...]:
    """Return the tables that a file of CREATE TABLE statements defines.

    Raises: DdlError with the name of the file; MissingExtraError; OSError.
    """
    try:
        return parse_ddl(decoded_ddl(path), default_schema)
    except DdlError as error:
        raise (error if error.file else error.in_file(str(path))) from None


def decoded_ddl(path: str | Path) -> str:
    """Return the text of a file. Raises: DdlError for what is not UTF-8; OSError."""
    raw = read_whole(path)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8", "replace")
        place = error_at(before, len(before), f"byte {error.start} of the file is not UTF-8")
        raise place.in_file(str(path)) from None


def sent_columns(table: Table) -> Table:
    """Return a table with the columns that messages have: all but the virtual generated ones."""
    columns = table.columns or ()
    return replace(table, columns=tuple(c for c in columns if "virtual" not in c.roles))


_CHANGES = (
    ("ALTER", "TABLE"),
    ("RENAME", "TABLE"),
    ("CREATE", "UNIQUE", "INDEX"),
    ("CREATE", "OR", "REPLACE", "TABLE"),
)


def _refuse_changes(cursor: Cursor) -> None:
    begin = cursor.token
    for words in _CHANGES:
        if cursor.skip(*words):
            problem = f"{' '.join(words)} is not read: write the table as it is in the end"
            raise cursor.error(problem, begin)


def _skip_statement(cursor: Cursor, begin: Token) -> None:
    cursor.skip_until(lambda token: token.kind == "sign" and token.text == ";")
    if cursor.token is begin:  # a sign that begins nothing
        cursor.next()


def _add_table(
    cursor: Cursor, schema: str | None, tables: dict[tuple[str | None, str], Table]
) -> None:
    is_conditional, begin, definition = read_create(cursor, schema)
    place = (definition.schema, definition.name)
    if place not in tables:
        tables[place] = finished(cursor, definition)
    elif not is_conditional:
        raise cursor.error(f"the table {definition.name!r:.80} is defined twice", begin)
