"""A chain of MySQL's DDL: what each statement of a text makes of the tables before it.

CREATE, ALTER, RENAME, DROP and TRUNCATE TABLE, CREATE and DROP INDEX, DROP DATABASE and USE are
carried out; everything else is ignored. A statement that can't be carried out is an error. Comments
are comments, also those that a MySQL server would carry out (``/*!50100 … */``, ``/*T![…] … */``):
what dumps put there does not change columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from cdcwire.ddl.alter import alter_table, drop_key
from cdcwire.ddl.definition import (
    Definition,
    finished,
    read_create,
    read_table_name,
)
from cdcwire.ddl.keys import Key, read_key_parts
from cdcwire.ddl.statements import (
    SqlText,
    lines_of_file,
    lines_of_text,
    statements_of,
)
from cdcwire.ddl.tokens import Cursor, DdlError, NoTableError, Token, tokens_of
from cdcwire.model.events import Table

_Place: TypeAlias = "tuple[str | None, str]"


@dataclass(frozen=True, slots=True)
class TableChange:
    """A table before and after a statement; None where it does not exist."""

    before: Table | None
    after: Table | None


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement as written, with its line, and the tables that it is about."""

    text: str
    line: int
    changes: tuple[TableChange, ...]


def read_chain(text: str, default_schema: str | None = None) -> tuple[Statement, ...]:
    """Return the statements of a text that are about tables, in its order.

    ``default_schema``: of tables whose schema the text does not say. The tables have the numbers of
    their columns, counted from 1 as TiDB does.
    Raises: DdlError, with line and column; MissingExtraError where sqlglot is not installed.
    """
    return _read(lines_of_text(text), default_schema)


def read_chain_file(path: str | Path, default_schema: str | None = None) -> tuple[Statement, ...]:
    """Return the statements of a file that are about tables. Raises: as ``read_chain``; OSError."""
    try:
        return _read(lines_of_file(path), default_schema)
    except DdlError as error:
        raise (error if error.file else error.in_file(str(path))) from None


def _read(lines: Iterable[str], default_schema: str | None) -> tuple[Statement, ...]:
    tables = MysqlTables(default_schema, is_whole=True)
    found = []
    for statement in statements_of(lines, "mysql"):
        changes = tables.carry_out(statement)
        if changes:
            text = statement.text[statement.start :].rstrip()
            found.append(Statement(text, statement.first_line, tuple(changes)))
    if not found:
        raise NoTableError
    return tuple(found)


class MysqlTables:
    """The tables as they are after the statements so far.

    ``is_whole``: every table that is dropped was created before; a dump may drop others.
    """

    def __init__(self, default_schema: str | None, is_whole: bool = False) -> None:
        self.schema = default_schema
        self.is_whole = is_whole
        self.definitions: dict[_Place, Definition] = {}
        self.changes: list[TableChange] = []
        self.cursor = Cursor("", tokens_of(""))

    def tables(self) -> list[Table]:
        """Return the tables, without the numbers of their columns."""
        found = (definition.table for definition in self.definitions.values())
        return [_without_ids(table) for table in found if table is not None]

    def carry_out(self, statement: SqlText) -> Sequence[TableChange]:
        """Return what a statement changes. Raises: DdlError; MissingExtraError."""
        if not _OF_TABLES.match(statement.text, statement.start):
            return ()
        self.changes = []
        try:
            statement.check_encoding()
            self.cursor = cursor = Cursor(statement.text, tokens_of(statement.text))
            self._carry_out()
            cursor.skip_until(lambda token: False)
        except DdlError as error:
            raise statement.located(error) from None
        return self.changes

    def _carry_out(self) -> None:
        cursor = self.cursor
        if cursor.skip("USE"):
            self.schema = cursor.name("the name of a schema")
        elif cursor.skip("CREATE", "TABLE") or cursor.skip("CREATE", "TEMPORARY", "TABLE"):
            self._create()
        elif cursor.skip("ALTER", "TABLE") or cursor.skip("ALTER", "IGNORE", "TABLE"):
            self._alter()
        elif cursor.skip("RENAME", "TABLE"):
            self._rename()
        elif cursor.skip("DROP", "TABLE") or cursor.skip("DROP", "TEMPORARY", "TABLE"):
            self._drop()
        elif cursor.skip("TRUNCATE"):
            cursor.skip("TABLE")
            begin = cursor.token
            place = self._place()
            if place in self.definitions or self.is_whole:
                table = self._existing(place, begin).table
                self.changes.append(TableChange(table, table))
        elif cursor.skip("DROP", "INDEX"):
            self._drop_index()
        elif cursor.skip("DROP", "DATABASE") or cursor.skip("DROP", "SCHEMA"):
            cursor.skip("IF", "EXISTS")
            self._drop_schema(cursor.name("the name of a schema"))
        elif any(cursor.skip("CREATE", "OR", "REPLACE", *words) for words in _TABLE_WORDS):
            self._create(replaces=True)
        elif cursor.word() == "CREATE":
            self._create_index()

    def _create(self, replaces: bool = False) -> None:
        is_conditional, begin, definition = read_create(self.cursor, self.schema, self.definitions)
        place = (definition.schema, definition.name)
        if replaces and place in self.definitions:
            self.changes.append(TableChange(self.definitions.pop(place).table, None))
        if place in self.definitions:
            if is_conditional:
                return
            problem = f"the table {definition.name!r:.80} already exists"
            raise self.cursor.error(problem, begin)
        self._note(definition)
        self.definitions[place] = definition

    def _alter(self) -> None:
        self.cursor.skip("IF", "EXISTS")
        begin = self.cursor.token
        place = self._place()
        definition = self._existing(place, begin).copy()
        alter_table(self.cursor, definition)
        self._move(place, definition, begin)
        self._note(definition)

    def _rename(self) -> None:
        while True:
            begin = self.cursor.token
            place = self._place()
            definition = self._existing(place, begin).copy()
            self.cursor.expect("TO")
            begin = self.cursor.token
            definition.schema, definition.name = self._place()
            self._move(place, definition, begin)
            self._note(definition)
            if not self.cursor.skip(","):
                return

    def _move(self, place: _Place, definition: Definition, begin: Token) -> None:
        new = (definition.schema, definition.name)
        if new != place and new in self.definitions:
            problem = f"the table {definition.name!r:.80} already exists"
            raise self.cursor.error(problem, begin)
        del self.definitions[place]
        self.definitions[new] = definition

    def _drop(self) -> None:
        is_conditional = self.cursor.skip("IF", "EXISTS") or not self.is_whole
        while True:
            begin = self.cursor.token
            place = self._place()
            if place in self.definitions or not is_conditional:
                self.changes.append(TableChange(self._existing(place, begin).table, None))
                del self.definitions[place]
            if not self.cursor.skip(","):
                return

    def _drop_schema(self, schema: str) -> None:
        for place in [each for each in self.definitions if each[0] == schema]:
            self.changes.append(TableChange(self.definitions.pop(place).table, None))

    def _create_index(self) -> None:
        """Carry out ``CREATE [UNIQUE] INDEX name ON table (columns)``; ignore other objects."""
        cursor = self.cursor
        begin = cursor.index
        cursor.next()
        what = "unique" if cursor.skip("UNIQUE") else "plain"
        if what == "plain":
            _ = cursor.skip("FULLTEXT") or cursor.skip("SPATIAL") or cursor.skip("VECTOR")
        if not (cursor.skip("INDEX") or cursor.skip("KEY")):
            cursor.index = begin
            return
        cursor.skip("IF", "NOT", "EXISTS")
        name = cursor.name("the name of an index")
        if cursor.skip("USING"):
            cursor.next()
        cursor.expect("ON")
        definition = self._changed()
        definition.keys.append(Key(what, read_key_parts(cursor), name))
        self._note(definition)

    def _drop_index(self) -> None:
        cursor = self.cursor
        begin = cursor.index
        cursor.skip("IF", "EXISTS")
        cursor.name("the name of an index")
        cursor.expect("ON")
        definition = self._changed()
        behind, cursor.index = cursor.index, begin
        drop_key(cursor, definition)
        cursor.index = behind
        self._note(definition)

    def _changed(self) -> Definition:
        """Read the name of a table. Returns: a definition that may be changed in its place."""
        begin = self.cursor.token
        place = self._place()
        self.definitions[place] = self._existing(place, begin).copy()
        return self.definitions[place]

    def _place(self) -> _Place:
        return read_table_name(self.cursor, self.schema)

    def _existing(self, place: _Place, begin: Token | None = None) -> Definition:
        found = self.definitions.get(place)
        if found is None:
            name = place[1] if place[0] is None else f"{place[0]}.{place[1]}"
            problem = f"there is no table {name!r:.80} before this: it needs its CREATE TABLE"
            raise self.cursor.error(problem, begin)
        return found

    def _note(self, definition: Definition) -> None:
        """Note what a statement has made of a table."""
        before = definition.table
        definition.table = finished(self.cursor, definition, has_ids=True)
        self.changes.append(TableChange(before, definition.table))


def _without_ids(table: Table) -> Table:
    return replace(table, columns=tuple(replace(each, id=None) for each in table.columns or ()))


_TABLE_WORDS = (("TABLE",), ("TEMPORARY", "TABLE"))
_BETWEEN = r"(?:\s|/\*.*?\*/|--\s[^\n]*\n|#[^\n]*\n)+"
_OF_TABLES = re.compile(
    rf"USE\b|TRUNCATE\b|RENAME{_BETWEEN}TABLE\b|ALTER{_BETWEEN}(?:IGNORE{_BETWEEN})?TABLE\b"
    rf"|(?:CREATE|DROP){_BETWEEN}(?:OR{_BETWEEN}REPLACE{_BETWEEN})?(?:TEMPORARY{_BETWEEN})?"
    r"(?:TABLE|UNIQUE|FULLTEXT|SPATIAL|VECTOR|INDEX|KEY|DATABASE|SCHEMA)\b",
    re.IGNORECASE | re.DOTALL,
)
