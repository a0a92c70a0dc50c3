"""Columns and constraints of a table in PostgreSQL's DDL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cdcwire.ddl.columns import skip_reference
from cdcwire.ddl.keys import Key, KeyPart
from cdcwire.ddl.postgresql_tokens import tokens_of
from cdcwire.ddl.postgresql_types import PUBLIC, Place, UserType, read_type
from cdcwire.ddl.tokens import Cursor, Token
from cdcwire.ddl.types import ColumnType
from cdcwire.model import kinds
from cdcwire.model.events import Expression
from cdcwire.model.kinds import ABSENT, Column, Role, Value

_AFTER_A_DEFAULT = frozenset(
    {
        *("NOT", "NULL", "CONSTRAINT", "CHECK", "PRIMARY", "UNIQUE", "REFERENCES", "GENERATED"),
        *("COLLATE", "DEFERRABLE", "INITIALLY", "STORAGE", "COMPRESSION"),
    }
)
_OF_TABLES = frozenset({"PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "EXCLUDE", "CONSTRAINT", "LIKE"})
_NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)


@dataclass(slots=True)
class ReadColumn:
    """A column as it is read."""

    name: str
    token: Token
    type: ColumnType
    nullable: bool = True
    default: Value = ABSENT
    roles: set[Role] = field(default_factory=set)

    def made(self) -> Column:
        """Return the column of the model."""
        own = self.type
        return Column(
            self.name, own.kind, own.source, self.nullable, self.default, frozenset(self.roles)
        )


@dataclass(slots=True)
class ReadTable:
    """A table as the statements so far leave it."""

    schema: str
    name: str
    columns: dict[str, ReadColumn] = field(default_factory=dict)
    keys: list[Key] = field(default_factory=list)


class TableReader:
    """Reads the elements of tables. ``found``: the tables so far, ``types``: what they may use."""

    def __init__(self) -> None:
        self.schema = PUBLIC
        self.types: dict[Place, UserType] = {}
        self.found: dict[Place, ReadTable] = {}
        self.cursor = Cursor("", tokens_of(""))

    def read_place(self, what: str = "the name of a table") -> Place:
        """Read ``[schema.]name``. Raises: DdlError."""
        name = self.cursor.name(what)
        if self.cursor.skip("."):
            second = self.cursor.name(what)
            if self.cursor.skip("."):  # DATABASE.SCHEMA.TABLE
                return second, self.cursor.name(what)
            return name, second
        return self.schema, name

    def read_type(self) -> UserType:
        """Read a type. Raises: DdlError."""
        return read_type(self.cursor, self.types, self.schema)

    def read_existing(self) -> ReadTable:
        """Read the name of a table. Returns: the table. Raises: DdlError without a name."""
        begin = self.cursor.token
        place = self.read_place()
        found = self.found.get(place)
        if found is None:
            name = ".".join(place)
            problem = f"there is no table {name!r:.80} before this: it needs its CREATE TABLE"
            raise self.cursor.error(problem, begin)
        return found

    def read_inherit(
        self, table: ReadTable, columns: Mapping[str, ReadColumn], with_roles: bool = False
    ) -> None:
        """Give a table the columns of another."""
        for column in columns.values():
            roles = set(column.roles) if with_roles else set()
            table.columns[column.name] = replace(column, roles=roles)

    def read_elements(self, table: ReadTable) -> None:
        """Read the columns and constraints in parentheses. Raises: DdlError."""
        cursor = self.cursor
        cursor.expect("(")
        while not cursor.skip(")"):
            if not self.read_constraint(table):
                self.read_column(table)
            if not cursor.is_sign(")") and not cursor.skip(","):
                raise cursor.unexpected("',' or ')'")

    def read_column(self, table: ReadTable) -> None:
        """Read a column with its attributes. Raises: DdlError."""
        cursor = self.cursor
        token = cursor.token
        name = cursor.name("the name of a column")
        known = table.columns.get(name)
        # Of a typed table or a partition only what is added to a column is written.
        if known is None:
            found = self.read_type()
            known = ReadColumn(name, token, found.type, not found.is_not_null)
        elif cursor.word() not in (*_AFTER_A_DEFAULT, "DEFAULT", "WITH"):
            raise cursor.error(f"the column {name!r:.80} is defined twice", token)
        cursor.skip("WITH", "OPTIONS")
        column = table.columns[name] = known
        while not (cursor.is_sign(",") or cursor.is_sign(")") or cursor.is_sign(";")):
            if cursor.token.kind == "end":
                break
            if not self._attribute(table, column):
                raise cursor.unexpected("an attribute of a column, ',' or ')'")

    def _attribute(self, table: ReadTable, column: ReadColumn) -> bool:
        cursor = self.cursor
        if cursor.skip("CONSTRAINT"):
            cursor.name("the name of a constraint")
        if cursor.skip("NOT", "NULL"):
            column.nullable = False
            cursor.skip("NO", "INHERIT")
        elif cursor.skip("NULL"):
            column.nullable = True
        elif cursor.skip("DEFAULT"):
            column.default = self.read_default(column.type.kind)
        elif cursor.skip("GENERATED"):
            self._generated(column)
        elif cursor.word() in ("PRIMARY", "UNIQUE"):
            what = "primary" if cursor.skip("PRIMARY", "KEY") else "unique"
            cursor.skip("UNIQUE")
            self._nulls()
            table.keys.append(Key(what, (KeyPart(column.name, column.token),)))
            column.nullable = column.nullable and what != "primary"
            self._index_options()
        elif cursor.skip("CHECK"):
            cursor.parenthesised()
            cursor.skip("NO", "INHERIT")
        elif cursor.skip("REFERENCES"):
            skip_reference(cursor)
        elif cursor.skip("COLLATE"):
            self.read_place("the name of a collation")
        elif cursor.skip("STORAGE") or cursor.skip("COMPRESSION"):
            cursor.next()
        elif cursor.skip("OPTIONS"):
            cursor.parenthesised()
        else:
            return self.read_timing()
        return True

    def read_timing(self) -> bool:
        """Read what says when a constraint is checked."""
        cursor = self.cursor
        ways = (
            ("DEFERRABLE",),
            ("NOT", "DEFERRABLE"),
            ("INITIALLY", "DEFERRED"),
            ("INITIALLY", "IMMEDIATE"),
            ("NOT", "ENFORCED"),
            ("ENFORCED",),
            ("NOT", "VALID"),
        )
        return any(cursor.skip(*words) for words in ways)

    def _nulls(self) -> None:
        cursor = self.cursor
        _ = cursor.skip("NULLS", "NOT", "DISTINCT") or cursor.skip("NULLS", "DISTINCT")

    def _generated(self, column: ReadColumn) -> None:
        cursor = self.cursor
        if not cursor.skip("ALWAYS"):
            cursor.expect("BY", "DEFAULT")
        cursor.expect("AS")
        if cursor.skip("IDENTITY"):
            column.nullable = False
            if cursor.is_sign("("):
                cursor.parenthesised()
            return
        cursor.parenthesised()
        column.roles.add("generated")
        if not cursor.skip("STORED"):
            cursor.skip("VIRTUAL")
            column.roles.add("virtual")

    def read_default(self, kind: kinds.Type) -> Value:
        """Read an expression. Returns: a plain constant as a value of its kind."""
        cursor = self.cursor
        begin = cursor.token
        depth = 0
        while cursor.token.kind != "end":
            if not depth and cursor.token is not begin:
                if cursor.is_sign(",") or cursor.is_sign(")") or cursor.is_sign(";"):
                    break
                if cursor.word() in _AFTER_A_DEFAULT and not _is_null_cast(cursor):
                    break
            depth += cursor.is_sign("(") + cursor.is_sign("[")
            depth -= cursor.is_sign(")") + cursor.is_sign("]")
            cursor.next()
        return _value(kind, cursor.text[begin.start : cursor.tokens[cursor.index - 1].end])

    def read_constraint(self, table: ReadTable) -> bool:
        """Read a constraint of a table, or LIKE. Returns: False where something else begins."""
        cursor = self.cursor
        if cursor.word() not in _OF_TABLES:
            return False
        name = cursor.name("the name of a constraint") if cursor.skip("CONSTRAINT") else None
        if cursor.skip("LIKE"):
            for column in self.read_existing().columns.values():
                table.columns[column.name] = replace(column, roles=set(), default=ABSENT)
            while cursor.word() in ("INCLUDING", "EXCLUDING"):
                cursor.next()
                cursor.next()
        elif cursor.skip("PRIMARY", "KEY"):
            self._key(table, "primary", name)
        elif cursor.skip("UNIQUE"):
            self._nulls()
            self._key(table, "unique", name)
        elif cursor.skip("NOT", "NULL"):  # PostgreSQL 18
            required = table.columns.get(cursor.name("the name of a column"))
            if required is not None:
                required.nullable = False
        elif cursor.word() in ("FOREIGN", "CHECK", "EXCLUDE"):
            cursor.skip_until(lambda token: token.kind == "sign" and token.text in (",", ")", ";"))
        else:
            raise cursor.unexpected("PRIMARY KEY, UNIQUE, FOREIGN KEY, CHECK or EXCLUDE")
        return True

    def _key(self, table: ReadTable, what: str, name: str | None) -> None:
        """Read the columns of a key, or the index that becomes one."""
        cursor = self.cursor
        if cursor.skip("USING", "INDEX"):
            index = cursor.name("the name of an index")
            for number, key in enumerate(table.keys):
                if key.name == index:
                    table.keys[number] = replace(key, what=what)
            return
        begin = cursor.token
        parts = self.read_key_parts(table)
        if parts is None:
            raise cursor.error("a key over an expression", begin)
        if what == "primary":
            for part in parts:
                if part.name in table.columns:
                    table.columns[part.name].nullable = False
        table.keys.append(Key(what, parts, name))
        self._index_options()

    def read_key_parts(self, table: ReadTable) -> tuple[KeyPart, ...] | None:
        """Read ``(a, b DESC)``. Returns: None where a part is an expression."""
        cursor = self.cursor
        cursor.expect("(")
        parts: list[KeyPart] = []
        is_plain = True
        while not cursor.skip(")"):
            begin = cursor.token
            if cursor.is_sign("("):
                cursor.parenthesised()
                is_plain = False
            else:
                name = cursor.name("a column of the key")
                is_plain = is_plain and not cursor.is_sign("(") and not cursor.is_sign(".")
                parts.append(KeyPart(name, begin))
            cursor.skip_until(lambda token: token.kind == "sign" and token.text in (",", ")"))
            if not cursor.is_sign(")"):
                cursor.expect(",")
        return tuple(parts) if is_plain and parts else None

    def _index_options(self) -> None:
        """Move past INCLUDE, WITH, USING INDEX TABLESPACE and when a key is checked."""
        cursor = self.cursor
        while True:
            if cursor.skip("INCLUDE") or cursor.skip("WITH"):
                cursor.parenthesised()
            elif cursor.skip("USING", "INDEX", "TABLESPACE"):
                cursor.next()
            elif not self.read_timing():
                return


def _is_null_cast(cursor: Cursor) -> bool:
    """Return whether a word is a part of ``NULL::text``, at whose end a default may go on."""
    return cursor.word() == "NULL" and cursor.is_sign("::", 1)


def _value(kind: kinds.Type, text: str) -> Value:
    """Return a default as a value of a kind where it is a plain one, else its SQL text."""
    plain = text.partition("::")[0].strip()
    if plain.upper() == "NULL":
        return None
    match kind:
        case kinds.BoolType() if plain in ("true", "false"):
            return plain == "true"
        case kinds.IntType() if _NUMBER.fullmatch(plain.strip("'()")):
            return int(plain.strip("'()"))
        case kinds.TextType() | kinds.EnumType() if re.fullmatch(r"'(?:[^']|'')*'", plain):
            return plain[1:-1].replace("''", "'")
        case _:
            return Expression(text)
