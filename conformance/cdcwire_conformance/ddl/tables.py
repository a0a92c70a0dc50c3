"""CREATE TABLE statements of MySQL and TiDB as table definitions of the model.

Read: every statement of a dump. CREATE TABLE gives a table, USE names the schema of those behind
it. Refused, as the tables would not be what they say: CREATE TABLE from another table or a query,
ALTER TABLE, RENAME TABLE, CREATE UNIQUE INDEX. Everything else is passed over. Comments are
comments, also those that a MySQL server would carry out (``/*!50100 … */``, ``/*T![…] … */``): what
dumps put there does not change columns. Table options and partitions are passed over.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cdcwire.model.events import Column, Table
from cdcwire_conformance.ddl.columns import ReadColumn, read_column, skip_check, skip_reference
from cdcwire_conformance.ddl.errors import DdlError
from cdcwire_conformance.ddl.keys import Key, read_key_parts, with_keys
from cdcwire_conformance.ddl.tokens import Cursor, Token, error_at, tokens_of
from cdcwire_conformance.ddl.types import under_character_set


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
    raw = Path(path).read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8", "replace")
        place = error_at(before, len(before), f"byte {error.start} of the file is not UTF-8")
        raise place.in_file(str(path)) from None
    try:
        return parse_ddl(text, default_schema)
    except DdlError as error:
        raise error.in_file(str(path)) from None


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
    is_conditional = cursor.skip("IF", "NOT", "EXISTS")
    begin = cursor.token
    name = cursor.name("the name of a table")
    if cursor.skip("."):
        schema, name = name, cursor.name("the name of a table")
    if cursor.word() == "LIKE" or (cursor.is_sign("(") and cursor.word(1) == "LIKE"):
        raise cursor.error("CREATE TABLE … LIKE has no columns of its own")
    if not cursor.is_sign("("):
        raise cursor.unexpected("'(' and the columns")
    table = _read_table(cursor, schema, name)
    if (schema, name) not in tables:
        tables[schema, name] = table
    elif not is_conditional:
        raise cursor.error(f"the table {name!r:.80} is defined twice", begin)


def _read_table(cursor: Cursor, schema: str | None, name: str) -> Table:
    opening = cursor.next()
    columns: list[ReadColumn] = []
    keys: list[Key] = []
    while True:
        if not _read_element(cursor, keys):
            column = read_column(cursor)
            if any(column.name.casefold() == other.name.casefold() for other in columns):
                raise cursor.error(f"the column {column.name!r:.80} is there twice", column.token)
            columns.append(column)
            keys += column.keys
        if cursor.skip(")"):
            break
        if not cursor.skip(","):
            raise cursor.unexpected("',' or ')'")
    if not columns:
        raise cursor.error(f"the table {name!r:.80} has no columns", opening)
    character_set = _read_options(cursor)
    finished = with_keys(cursor, [_column(column, character_set) for column in columns], keys)
    # In the order of the table, as messages give their key columns.
    key = tuple(column.name for column in finished if "handle" in column.roles)
    return Table(name, schema, columns=tuple(finished), key=key)


def _column(column: ReadColumn, character_set: str | None) -> Column:
    found = under_character_set(column.type, character_set)
    return Column(
        column.name,
        found.kind,
        found.source,
        column.nullable,
        column.default,
        frozenset(column.roles),
    )


def _read_element(cursor: Cursor, keys: list[Key]) -> bool:
    """Read a key or a constraint. Returns: False where a column stands."""
    if cursor.skip("CONSTRAINT"):
        if cursor.word() not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
            cursor.name("the name of a constraint")
        if cursor.word() not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
            raise cursor.unexpected("PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK")
    if cursor.skip("PRIMARY", "KEY"):
        keys.append(_read_key(cursor, "primary"))
    elif cursor.skip("UNIQUE"):
        _ = cursor.skip("KEY") or cursor.skip("INDEX")
        keys.append(_read_key(cursor, "unique"))
    elif cursor.skip("KEY") or cursor.skip("INDEX"):
        keys.append(_read_key(cursor, "plain"))
    elif cursor.word() in ("FULLTEXT", "SPATIAL") or (
        cursor.word() == "VECTOR" and cursor.word(1) in ("KEY", "INDEX")
    ):
        cursor.next()
        _ = cursor.skip("KEY") or cursor.skip("INDEX")
        keys.append(_read_key(cursor, "plain"))
    elif cursor.skip("FOREIGN", "KEY"):
        if not cursor.is_sign("("):
            cursor.name("the name of a key")
        cursor.parenthesised()
        cursor.expect("REFERENCES")
        skip_reference(cursor)
    elif cursor.skip("CHECK"):
        skip_check(cursor)
    else:
        return False
    return True


def _read_key(cursor: Cursor, what: str) -> Key:
    """Read ``[name] [USING BTREE] (columns) options``."""
    if not cursor.is_sign("(") and cursor.word() not in ("USING", "TYPE"):
        cursor.name("the columns of a key")
    if cursor.skip("USING") or cursor.skip("TYPE"):
        cursor.next()
    key = Key(what, read_key_parts(cursor))
    # USING, COMMENT, VISIBLE, CLUSTERED, KEY_BLOCK_SIZE, WITH PARSER, GLOBAL, WHERE … of the key
    cursor.skip_until(lambda token: token.kind == "sign" and token.text in (",", ")", ";"))
    return key


def _read_options(cursor: Cursor) -> str | None:
    """Read a table's options and partitions. Returns: its character set. Raises: DdlError."""
    character_set: str | None = None
    while cursor.token.kind != "end" and not cursor.is_sign(";"):
        if cursor.skip("CHARACTER", "SET") or cursor.skip("CHARSET"):
            cursor.skip("=")
            character_set = cursor.next().text.lower()
        elif cursor.word() in ("SELECT", "AS", "TABLE") or (
            cursor.word() == "WITH" and cursor.word(2) == "AS"
        ):
            raise cursor.error("CREATE TABLE from a query: its columns are not known here")
        elif cursor.is_sign("("):
            cursor.parenthesised()
        elif cursor.is_sign(")"):
            raise cursor.unexpected("';'")
        else:
            cursor.next()
    return character_set
