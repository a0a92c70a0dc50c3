"""The facts about columns in the DDL of schema files that the list of columns lacks.

A schema file has no elements of ENUM and SET and no virtual columns. The statement in its ``Query``
has them, if it is a CREATE TABLE, or an ALTER TABLE that adds columns or changes them. What is
known of a table goes on to its later versions, and with a RENAME to its new name. A statement that
can't be read adds nothing. It is not an error here, since the columns themselves are in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cdcwire.ddl.tables import parse_ddl
from cdcwire.ddl.tokens import Cursor, DdlError, Token, tokens_of
from cdcwire.extras import MissingExtraError
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column
from cdcwire.storage.schema_files import SchemaFile, renamed_from

_Columns = dict[str, Column]
_Name = tuple[str, str]
_MAX_QUERY = 1 << 20
_WORDS_BEHIND = ("FIRST", "AFTER")  # where a column is to stand


def tables_of_queries(files: Iterable[SchemaFile]) -> tuple[Table, ...]:
    """Return the facts in the queries of schema files, a table for each file that has any.

    ``files``: in the order of replay. The tables have the versions of the files; their columns
    are as the statements define them.
    """
    known: dict[_Name, _Columns] = {}
    tables = []
    for file in files:
        if not file.table or file.columns is None:
            continue
        name = file.schema, file.table
        found = dict(known.get(name, {}))
        if file.query:
            for old in renamed_from(file.query, file.schema):
                found = {**known.get(old, {}), **found}
            found = _after_query(file.query, file.schema, name, found)
        there = {column.name for column in file.columns}
        found = {column: each for column, each in found.items() if column in there}
        known[name] = found
        if found:
            columns = tuple(found.values())
            tables.append(
                Table(file.table, file.schema, columns=columns, version=file.table_version)
            )
    return tuple(tables)


def _after_query(query: str, schema: str, name: _Name, before: _Columns) -> _Columns:
    """Return what is known of a table's columns after a statement."""
    if len(query) > _MAX_QUERY:
        return {}
    try:
        cursor = Cursor(query, tokens_of(query))
        if cursor.skip("ALTER", "TABLE"):
            return _altered(cursor, before)
        if not cursor.skip("CREATE", "TABLE"):
            return before
        for table in parse_ddl(query, schema):
            if (table.schema, table.name) == name:
                return {column.name: column for column in table.columns or ()}
        return {}
    except (DdlError, MissingExtraError, UnicodeEncodeError):
        return _without_mentioned(query, before)


def _without_mentioned(query: str, before: _Columns) -> _Columns:
    """Return what a statement that can't be read leaves sure: columns that it does not name."""
    words = set(re.findall(r"\w+", query.casefold()))
    return {
        name: column
        for name, column in before.items()
        if words.isdisjoint(re.findall(r"\w+", name.casefold()))
    }


def _altered(cursor: Cursor, before: _Columns) -> _Columns:
    """Return the columns after an ALTER TABLE. Raises: DdlError."""
    cursor.name("the name of a table")
    if cursor.skip("."):
        cursor.name("the name of a table")
    columns = dict(before)
    while cursor.token.kind != "end":
        if cursor.skip("ADD"):
            for definition in _definitions(cursor):
                _define(columns, definition)
        elif cursor.skip("MODIFY"):
            cursor.skip("COLUMN")
            _define(columns, _clause_text(cursor))
        elif cursor.skip("CHANGE"):
            cursor.skip("COLUMN")
            columns.pop(cursor.name("the name of a column"), None)
            _define(columns, _clause_text(cursor))
        elif cursor.skip("RENAME", "COLUMN"):
            old = columns.pop(cursor.name("the name of a column"), None)
            cursor.expect("TO")
            new = cursor.name("the name of a column")
            if old is not None:
                columns[new] = replace(old, name=new)
        else:
            _clause_text(cursor)
        if not cursor.skip(",") and not cursor.skip(";"):
            break
    return columns


def _definitions(cursor: Cursor) -> Iterator[str]:
    """Yield the texts of the columns after ADD; nothing where an index is added."""
    if cursor.skip("COLUMN"):
        cursor.skip("IF", "NOT", "EXISTS")
    elif cursor.word() in _NO_COLUMN:
        _clause_text(cursor)
        return
    if not cursor.skip("("):
        yield _clause_text(cursor)
        return
    while not cursor.skip(")"):
        yield _clause_text(cursor)
        if not cursor.skip(",") and not cursor.is_sign(")"):
            raise cursor.unexpected("',' or ')'")


_KEYS = ("INDEX", "KEY", "UNIQUE", "PRIMARY", "FULLTEXT", "SPATIAL", "VECTOR", "FOREIGN")
_NO_COLUMN = frozenset({*_KEYS, "CONSTRAINT", "CHECK", "PARTITION"})


def _clause_text(cursor: Cursor) -> str:
    """Return the text up to the next comma, parenthesis or end, and move to that place."""
    start = cursor.token.start
    end = start
    depth = 0
    is_cut = False
    while cursor.token.kind != "end":
        token: Token = cursor.token
        if depth == 0 and token.kind == "sign" and token.text in (",", ")", ";"):
            break
        is_cut = is_cut or (depth == 0 and token.word in _WORDS_BEHIND)
        if token.kind == "sign":
            depth += (token.text == "(") - (token.text == ")")
        if not is_cut:
            end = token.end
        cursor.next()
    return cursor.text[start:end]


def _define(columns: _Columns, definition: str) -> None:
    (table,) = parse_ddl(f"CREATE TABLE t ({definition})")
    for column in table.columns or ():
        columns[column.name] = column
