"""A chain of DDL: what each statement of a text makes of the tables before it.

CREATE, ALTER, RENAME, DROP and TRUNCATE TABLE, CREATE and DROP INDEX, DROP DATABASE and USE are
carried out; everything else is ignored. A statement that can't be carried out is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cdcwire.model.events import Table
from cdcwire_conformance.ddl.alter import alter_table, drop_key
from cdcwire_conformance.ddl.definition import (
    Definition,
    finished,
    read_create,
    read_table_name,
)
from cdcwire_conformance.ddl.errors import DdlError
from cdcwire_conformance.ddl.keys import Key, read_key_parts
from cdcwire_conformance.ddl.tables import decoded_ddl
from cdcwire_conformance.ddl.tokens import Cursor, Token, error_at, tokens_of

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
    return tuple(_Chain(text, default_schema).statements())


def read_chain_file(path: str | Path, default_schema: str | None = None) -> tuple[Statement, ...]:
    """Return the statements of a file that are about tables. Raises: as ``read_chain``; OSError."""
    try:
        return read_chain(decoded_ddl(path), default_schema)
    except DdlError as error:
        raise (error if error.file else error.in_file(str(path))) from None


class _Chain:
    """The tables as they are after the statements read so far."""

    def __init__(self, text: str, default_schema: str | None) -> None:
        self.cursor = Cursor(text, tokens_of(text))
        self.schema = default_schema
        self.definitions: dict[_Place, Definition] = {}
        self.changes: list[TableChange] = []

    def statements(self) -> Iterator[Statement]:
        cursor = self.cursor
        is_empty = True
        while cursor.token.kind != "end":
            if cursor.skip(";"):
                continue
            begin, self.changes = cursor.token, []
            self._carry_out()
            cursor.skip_until(lambda token: token.kind == "sign" and token.text == ";")
            if cursor.token is begin:
                cursor.next()  # a sign that begins nothing
            if self.changes:
                is_empty = False
                end = cursor.tokens[cursor.index - 1].end
                line = cursor.text.count("\n", 0, begin.start) + 1
                yield Statement(cursor.text[begin.start : end], line, tuple(self.changes))
        if is_empty:
            raise error_at(cursor.text, 0, "there is no CREATE TABLE here")

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
            table = self._existing(self._place(), begin).table
            self.changes.append(TableChange(table, table))
        elif cursor.skip("DROP", "INDEX"):
            self._drop_index()
        elif cursor.skip("DROP", "DATABASE") or cursor.skip("DROP", "SCHEMA"):
            cursor.skip("IF", "EXISTS")
            self._drop_schema(cursor.name("the name of a schema"))
        elif cursor.skip("CREATE", "OR", "REPLACE", "TABLE"):
            raise cursor.error("CREATE OR REPLACE TABLE is not read: write DROP TABLE before it")
        elif cursor.word() == "CREATE":
            self._create_index()

    def _create(self) -> None:
        is_conditional, begin, definition = read_create(self.cursor, self.schema)
        place = (definition.schema, definition.name)
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
        is_conditional = self.cursor.skip("IF", "EXISTS")
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
