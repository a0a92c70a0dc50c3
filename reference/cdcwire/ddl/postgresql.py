"""PostgreSQL's DDL, as ``pg_dump`` writes it and people write it by hand: the tables of a text.

CREATE TABLE, TYPE and DOMAIN, ALTER TABLE, CREATE UNIQUE INDEX, DROP TABLE and the search path are
carried out; everything else is skipped. PARTITION OF, INHERITS, OF a type and LIKE copy
columns. A table inherits no keys, as in PostgreSQL.
"""

from __future__ import annotations

import re
from dataclasses import replace

from cdcwire.ddl.keys import Key, with_keys
from cdcwire.ddl.postgresql_columns import ReadColumn, ReadTable, TableReader
from cdcwire.ddl.postgresql_tokens import tokens_of
from cdcwire.ddl.postgresql_types import (
    PUBLIC,
    Place,
    UserType,
    enum_type,
    range_type,
    unknown_type,
    with_label,
)
from cdcwire.ddl.statements import SqlText
from cdcwire.ddl.tokens import Cursor, DdlError
from cdcwire.model.events import Table
from cdcwire.model.kinds import ABSENT

_BETWEEN = r"(?:\s|/\*.*?\*/|--[^\n]*\n)+"
_READ = re.compile(
    rf"SET\b|SELECT{_BETWEEN}pg_catalog\.set_config\b|(?:CREATE|ALTER|DROP){_BETWEEN}"
    rf"(?:(?:GLOBAL|LOCAL|TEMPORARY|TEMP|UNLOGGED|FOREIGN){_BETWEEN})*"
    r"(?:TABLE|TYPE|DOMAIN|UNIQUE)\b",
    re.IGNORECASE | re.DOTALL,
)
_KINDS_OF_TABLE = ("GLOBAL", "LOCAL", "TEMPORARY", "TEMP", "UNLOGGED", "FOREIGN")


class PostgresqlTables(TableReader):
    """The tables as they are after the statements so far."""

    def __init__(self) -> None:
        super().__init__()
        self.composites: dict[Place, list[ReadColumn]] = {}

    def tables(self) -> list[Table]:
        """Return the tables. Raises: DdlError for keys that can't be."""
        return [self._finished(table) for table in self.found.values()]

    def _finished(self, table: ReadTable) -> Table:
        columns = [column.made() for column in table.columns.values()]
        found = with_keys(self.cursor, columns, table.keys, str)
        key = tuple(column.name for column in found if "handle" in column.roles)
        return Table(table.name, table.schema, columns=tuple(found), key=key)

    def carry_out(self, statement: SqlText) -> None:
        """Carry out a statement. Raises: DdlError."""
        if not _READ.match(statement.text, statement.start):
            return
        try:
            statement.check_encoding()
            self.cursor = Cursor(statement.text, tokens_of(statement.text))
            self._carry_out()
        except DdlError as error:
            raise statement.located(error) from None

    def _carry_out(self) -> None:
        cursor = self.cursor
        if cursor.skip("SET") or cursor.skip("SELECT"):
            self._search_path()
        elif cursor.skip("CREATE", "TYPE"):
            self._create_type()
        elif cursor.skip("CREATE", "DOMAIN"):
            self._create_domain()
        elif cursor.skip("CREATE", "UNIQUE", "INDEX"):
            self._create_index()
        elif cursor.skip("ALTER", "TYPE"):
            self._alter_type()
        elif cursor.skip("DROP", "TABLE"):
            self._drop()
        elif cursor.skip("ALTER"):
            cursor.skip("FOREIGN")
            if cursor.skip("TABLE"):
                self._alter()
        elif cursor.skip("CREATE"):
            while any(cursor.skip(word) for word in _KINDS_OF_TABLE):
                pass
            if cursor.skip("TABLE"):
                self._create()

    def _search_path(self) -> None:
        """Read ``SET search_path = a, b``; ``set_config('search_path', '', …)`` names no schema."""
        cursor = self.cursor
        _ = cursor.skip("SESSION") or cursor.skip("LOCAL")
        if cursor.skip("SEARCH_PATH"):
            if not cursor.skip("="):
                cursor.skip("TO")
            name = cursor.next().text
            self.schema = name if name and name != "default" else PUBLIC

    def _create_type(self) -> None:
        cursor = self.cursor
        place = self.read_place("the name of a type")
        source = ".".join(place)
        self.types[place] = unknown_type(source)
        if cursor.skip("AS", "ENUM"):
            self.types[place] = enum_type(source, tuple(self._texts()))
        elif cursor.skip("AS", "RANGE"):
            self.types[place] = range_type(source)
        elif cursor.skip("AS"):
            self.composites[place] = self._composite()

    def _texts(self) -> list[str]:
        cursor = self.cursor
        cursor.expect("(")
        found: list[str] = []
        while not cursor.skip(")"):
            found.append(cursor.string("a label in quotes"))
            if not cursor.is_sign(")"):
                cursor.expect(",")
        return found

    def _composite(self) -> list[ReadColumn]:
        cursor = self.cursor
        cursor.expect("(")
        found: list[ReadColumn] = []
        while not cursor.skip(")"):
            token = cursor.token
            name = cursor.name("the name of an attribute")
            found.append(ReadColumn(name, token, self.read_type().type))
            if cursor.skip("COLLATE"):
                self.read_place("the name of a collation")
            if not cursor.is_sign(")"):
                cursor.expect(",")
        return found

    def _create_domain(self) -> None:
        cursor = self.cursor
        place = self.read_place("the name of a domain")
        cursor.skip("AS")
        found = self.read_type()
        is_not_null = found.is_not_null
        while cursor.token.kind != "end":
            if cursor.skip("NOT", "NULL"):
                is_not_null = True
            elif cursor.is_sign("("):
                cursor.parenthesised()
            else:
                cursor.next()
        self.types[place] = UserType(found.type, is_not_null)

    def _alter_type(self) -> None:
        """Carry out ``ALTER TYPE name ADD VALUE 'x' [BEFORE | AFTER 'y']``."""
        cursor = self.cursor
        place = self.read_place("the name of a type")
        if place not in self.types or not cursor.skip("ADD", "VALUE"):
            return
        cursor.skip("IF", "NOT", "EXISTS")
        label = cursor.string("a label in quotes")
        old = self.types[place]
        labels = getattr(old.type.kind, "labels", None) or ()
        at = None
        if cursor.word() in ("BEFORE", "AFTER"):
            shift = cursor.next().word == "AFTER"
            other = cursor.string("a label in quotes")
            at = labels.index(other) + shift if other in labels else None
        if label in labels:
            return
        new = with_label(old, label, at)
        self.types[place] = new
        for table in self.found.values():
            for column in table.columns.values():
                if column.type == old.type:
                    column.type = new.type

    def _create(self) -> None:
        cursor = self.cursor
        is_conditional = cursor.skip("IF", "NOT", "EXISTS")
        begin = cursor.token
        place = self.read_place()
        if place in self.found:
            if is_conditional:
                return
            raise cursor.error(f"the table {place[1]!r:.80} already exists", begin)
        table = ReadTable(*place)
        if cursor.skip("OF"):
            self.read_inherit(table, self._composite_of(self.read_place("the name of a type")))
        elif cursor.skip("PARTITION", "OF"):
            self.read_inherit(table, self.read_existing().columns, with_roles=True)
        elif not cursor.is_sign("("):
            raise cursor.unexpected("'(' and the columns")
        if cursor.is_sign("("):
            self.read_elements(table)
        if cursor.skip("INHERITS"):
            own, table.columns = table.columns, {}
            cursor.expect("(")
            while True:
                self.read_inherit(table, self.read_existing().columns, with_roles=True)
                if not cursor.skip(","):
                    break
            cursor.expect(")")
            table.columns.update(own)
        if cursor.word() == "AS":
            raise cursor.error("CREATE TABLE from a query: its columns are not known here")
        self.found[place] = table

    def _composite_of(self, place: Place) -> dict[str, ReadColumn]:
        found = self.composites.get(place)
        if found is None:
            raise self.cursor.error(f"there is no type {'.'.join(place)!r:.80} before this")
        return {column.name: column for column in found}

    def _create_index(self) -> None:
        """Carry out ``CREATE UNIQUE INDEX``, unless it indexes expressions or some rows only."""
        cursor = self.cursor
        cursor.skip("CONCURRENTLY")
        cursor.skip("IF", "NOT", "EXISTS")
        name = cursor.name("the name of an index") if not cursor.skip("ON") else None
        if name is not None:
            cursor.expect("ON")
        cursor.skip("ONLY")
        table = self.found.get(self.read_place())
        if table is None:  # of a materialized view
            return
        if cursor.skip("USING"):
            cursor.next()
        parts = self.read_key_parts(table)
        rest = {token.word for token in cursor.tokens[cursor.index :]}
        if parts is not None and "WHERE" not in rest:
            table.keys.append(Key("unique", parts, name))

    def _drop(self) -> None:
        cursor = self.cursor
        cursor.skip("IF", "EXISTS")
        while True:
            self.found.pop(self.read_place(), None)
            if not cursor.skip(","):
                return

    def _alter(self) -> None:
        """Carry out ``ALTER TABLE``, but not of sequences and views."""
        cursor = self.cursor
        cursor.skip("IF", "EXISTS")
        cursor.skip("ONLY")
        place = self.read_place()
        table = self.found.get(place)
        if table is None:
            return
        cursor.skip("*")
        while True:
            self._alteration(table, place)
            if not cursor.skip(","):
                return

    def _alteration(self, table: ReadTable, place: Place) -> None:
        cursor = self.cursor
        if cursor.skip("ADD"):
            if self.read_constraint(table):
                self.read_timing()
            else:
                cursor.skip("COLUMN")
                is_conditional = cursor.skip("IF", "NOT", "EXISTS")
                if not (is_conditional and cursor.token.text in table.columns):
                    self.read_column(table)
        elif cursor.skip("DROP"):
            self._drop_part(table)
        elif cursor.skip("RENAME"):
            self._rename(table, place)
        elif cursor.skip("SET", "SCHEMA"):
            table.schema = cursor.name("the name of a schema")
            self.found[table.schema, table.name] = self.found.pop(place)
        elif cursor.skip("ALTER"):
            cursor.skip("COLUMN")
            self._alter_column(table)
        self._skip_part()

    def _skip_part(self) -> None:
        self.cursor.skip_until(lambda token: token.kind == "sign" and token.text in (",", ";"))

    def _drop_part(self, table: ReadTable) -> None:
        cursor = self.cursor
        is_constraint = cursor.skip("CONSTRAINT")
        cursor.skip("COLUMN")
        cursor.skip("IF", "EXISTS")
        name = cursor.name("a name")
        if is_constraint:
            default = f"{table.name}_pkey"  # the name that PostgreSQL gives
            table.keys = [
                key
                for key in table.keys
                if key.name != name
                and not (key.what == "primary" and key.name is None and name == default)
            ]
            return
        table.columns.pop(name, None)
        table.keys = [key for key in table.keys if all(part.name != name for part in key.parts)]

    def _rename(self, table: ReadTable, place: Place) -> None:
        cursor = self.cursor
        if cursor.skip("TO"):
            table.name = cursor.name("the new name")
            self.found[table.schema, table.name] = self.found.pop(place)
            return
        if cursor.skip("CONSTRAINT"):
            return
        cursor.skip("COLUMN")
        old = cursor.name("the name of a column")
        cursor.expect("TO")
        new = cursor.name("the new name")
        table.columns = {
            (new if name == old else name): replace(column, name=new if name == old else name)
            for name, column in table.columns.items()
        }
        table.keys = [
            replace(
                key,
                parts=tuple(
                    replace(part, name=new if part.name == old else part.name) for part in key.parts
                ),
            )
            for key in table.keys
        ]

    def _alter_column(self, table: ReadTable) -> None:
        cursor = self.cursor
        begin = cursor.token
        name = cursor.name("the name of a column")
        column = table.columns.get(name)
        if column is None:
            raise cursor.error(f"there is no column {name!r:.80}", begin)
        if cursor.skip("SET", "NOT", "NULL"):
            column.nullable = False
        elif cursor.skip("DROP", "NOT", "NULL"):
            column.nullable = True
        elif cursor.skip("SET", "DEFAULT"):
            column.default = self.read_default(column.type.kind)
        elif cursor.skip("DROP", "DEFAULT"):
            column.default = ABSENT
        elif cursor.skip("SET", "DATA", "TYPE") or cursor.skip("TYPE"):
            column.type = self.read_type().type
        elif cursor.skip("ADD", "GENERATED"):
            column.nullable = False
