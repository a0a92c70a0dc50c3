"""The effects of a schema change on the rows of tables, by the text of its statement.

A statement empties, moves or changes the rows. The reader looks for tables and ignores columns. A
statement that it can't read may have changed the rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.ddl.tokens import Cursor, DdlError, Token, tokens_of
from cdcwire.model.events import TableName, full_schema
from cdcwire_conformance.compare.column_changes import ColumnChange, column_changes
from cdcwire_conformance.decode.other_events import PlacedStatement

EffectKind: TypeAlias = Literal["creates", "empties", "moves", "changes", "reshapes"]

_MAX_TEXT = 1 << 16
# What MySQL and TiDB carry out although it is in a comment.
_CARRIED_OUT = re.compile(r"/\*(?:!\d*|T!(?:\[[\w,]*\])?)(.*?)\*/", re.DOTALL)
_REPLACING = re.compile(r"\bOR\s+REPLACE\b", re.IGNORECASE)
# Statements that change no row of a table.
_HARMLESS = frozenset(
    {
        *("ANALYZE", "OPTIMIZE", "REPAIR", "CHECK", "GRANT", "REVOKE", "SET", "USE", "FLUSH"),
        *("COMMENT", "BEGIN", "COMMIT", "START", "SAVEPOINT", "INSTALL", "UNINSTALL", "RESET"),
        *("LOCK", "UNLOCK", "KILL", "SHOW", "EXPLAIN", "PURGE", "VACUUM", "REINDEX", "SPLIT"),
    }
)
_NOT_COLUMNS = frozenset(
    {
        *("INDEX", "KEY", "PRIMARY", "UNIQUE", "FULLTEXT", "SPATIAL", "VECTOR", "FOREIGN", "CHECK"),
        *("CONSTRAINT", "PARTITION", "STATS_EXTENDED"),
    }
)
# What may follow the tables of a TRUNCATE or DROP without a change of its effect.
_AFTER_NAMES = frozenset(
    {
        *("RESTRICT", "RESTART", "CONTINUE", "IDENTITY", "PURGE", "WAIT", "NOWAIT", "CONSTRAINTS"),
        *("PRESERVE", "MATERIALIZED", "VIEW", "LOG", "DROP", "REUSE", "ALL", "STORAGE"),
        *("IGNORE", "WHEN", "DELETE", "TRIGGERS", "IMMEDIATE"),
    }
)
_OF_PARTITIONS = frozenset({"DROP", "TRUNCATE", "EXCHANGE", "CONVERT", "DISCARD", "IMPORT"})


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a statement on the rows before it, in one table.

    One that ``reshapes`` a table may change values: a default, a type, the name of a column.
    ``table``: None for all tables of the schema, with ``schema`` None for all of the feed. ``to``:
    the new name of a table that moves. ``why``: what is not known of a table that changes.
    ``columns``: what becomes of the columns of a table that is reshaped.
    """

    kind: EffectKind
    schema: str | None
    table: str | None
    to: TableName | None = None
    why: str = ""
    columns: tuple[ColumnChange, ...] = ()


def effects_of(statement: PlacedStatement) -> list[Effect]:
    """Return the effects of a schema change; none if all rows stay as they are."""
    schema, table, what = statement.named_schema, statement.table, statement.what
    text = statement.query or ""
    if what in ("cindex", "dindex") or (what == "create" and not _REPLACING.search(text)):
        return [Effect("creates", schema, table)] if what == "create" and table else []
    if not text:
        if what in ("truncate", "erase"):
            return [Effect("empties", schema, table)]
        return [Effect("changes", schema, table, why="the feed does not have its text")]
    if len(text) > _MAX_TEXT:
        return [Effect("changes", schema, table, why="its text is too long to be read")]
    text = _CARRIED_OUT.sub(r" \1 ", text)
    try:
        return _Reader(text, statement).effects()
    except DdlError as error:
        return [Effect("changes", schema, table, why=error.problem)]


class _Reader:
    def __init__(self, text: str, statement: PlacedStatement) -> None:
        self.tokens = tokens_of(text)
        self.cursor = Cursor(text, [_as_name(token) for token in self.tokens])
        self.schema = statement.named_schema
        self.database = statement.database
        self.table = statement.table
        self.found: list[Effect] = []

    def effects(self) -> list[Effect]:
        """Return the effects of all statements of the text. Raises: DdlError."""
        cursor = self.cursor
        while cursor.token.kind != "end":
            if cursor.skip(";"):
                continue
            self._statement()
            cursor.skip_until(lambda token: token.kind == "sign" and token.text == ";")
        return self.found

    def _statement(self) -> None:
        cursor = self.cursor
        if cursor.skip("TRUNCATE"):
            self._truncate()
        elif cursor.skip("DROP"):
            self._drop()
        elif cursor.skip("RENAME"):
            self._rename()
        elif cursor.skip("ALTER"):
            self._alter()
        elif cursor.skip("CREATE"):
            if cursor.skip("OR", "REPLACE", "TABLE"):
                self._empty(self._name())
        elif cursor.word() in _HARMLESS:
            cursor.next()
        else:
            why = f"{cursor.shown()} begins no statement that is known"
            self.found.append(Effect("changes", self.schema, self.table, why=why))
            cursor.next()

    def _truncate(self) -> None:
        cursor = self.cursor
        cursor.skip("TABLE")
        cursor.skip("ONLY")
        names = self._names()
        if self._ends_with_cascade():
            why = "which other tables it empties is not known"
            self.found.append(Effect("changes", self.schema, None, why=why))
        for name in names:
            self._empty(name)

    def _drop(self) -> None:
        cursor = self.cursor
        if cursor.skip("TABLE"):
            self._if_exists()
            names = self._names()
            self._ends_with_cascade()
            for name in names:
                self._empty(name)
        elif cursor.word() in ("DATABASE", "SCHEMA"):
            database = None if cursor.skip("DATABASE") else self.database
            cursor.skip("SCHEMA")
            self._if_exists()
            schema = full_schema(database, cursor.name("the name of a schema"))
            self.found.append(Effect("empties", schema, None))
        elif cursor.token.kind == "end":
            raise cursor.unexpected("what is dropped")

    def _rename(self) -> None:
        cursor = self.cursor
        if not (cursor.skip("TABLE") or cursor.skip("TABLES")):
            return
        while True:
            self._if_exists()
            before = self._name()
            if cursor.skip("WAIT"):
                cursor.next()
            cursor.skip("NOWAIT")
            cursor.expect("TO")
            self.found.append(Effect("moves", *before, self._name(before[0])))
            if not cursor.skip(","):
                return

    def _alter(self) -> None:
        cursor = self.cursor
        cursor.skip("ONLINE")
        cursor.skip("IGNORE")
        if not cursor.skip("TABLE"):
            return
        self._if_exists()
        cursor.skip("ONLY")
        name = self._name()
        to: TableName | None = None
        is_reshaped = False
        columns: list[ColumnChange] = []
        while not (cursor.token.kind == "end" or cursor.is_sign(";")):
            if cursor.word() in _OF_PARTITIONS and cursor.word(1) in (
                "PARTITION",
                "TABLESPACE",
                "TABLE",
            ):
                why = "which of its rows are in a partition is not known"
                self.found.append(Effect("changes", *name, why=why))
                if cursor.skip("EXCHANGE", "PARTITION"):
                    cursor.skip_until(lambda token: token.word in ("WITH", ""))
                    if cursor.skip("WITH", "TABLE"):
                        self.found.append(Effect("changes", *self._name(name[0]), why=why))
            elif cursor.word() == "RENAME" and cursor.word(1) not in (
                "COLUMN",
                "INDEX",
                "KEY",
                "CONSTRAINT",
            ):
                cursor.next()
                _ = cursor.skip("TO") or cursor.skip("AS") or cursor.skip("=")
                to = self._name(name[0])
            elif _is_of_columns(cursor):
                is_reshaped = True
                columns += column_changes(self._as_written())
            cursor.skip_until(lambda token: token.kind == "sign" and token.text in (",", ";"))
            cursor.skip(",")
        if is_reshaped:
            self.found.append(Effect("reshapes", *name, columns=tuple(columns)))
        if to is not None:
            self.found.append(Effect("moves", *name, to))

    def _as_written(self) -> Cursor:
        """Return a cursor at the same place over tokens whose texts are not names."""
        found = Cursor(self.cursor.text, self.tokens)
        found.index = self.cursor.index
        return found

    def _ends_with_cascade(self) -> bool:
        """Read the words after the names of tables. Returns: whether other tables may change.

        Raises: DdlError for what is not known, such as the rest of a name without quotes.
        """
        cursor = self.cursor
        cursor.skip("*")
        is_cascade = False
        while not (cursor.token.kind == "end" or cursor.is_sign(";")):
            if cursor.skip("CASCADE"):
                is_cascade = True
            elif cursor.word() in _AFTER_NAMES or cursor.token.kind == "number":
                cursor.next()
            else:
                raise cursor.unexpected("the end of the statement")
        return is_cascade

    def _if_exists(self) -> None:
        if self.cursor.skip("IF"):  # no table has this name without quotes
            self.cursor.expect("EXISTS")

    def _names(self) -> list[TableName]:
        names = [self._name()]
        while self.cursor.skip(","):
            names.append(self._name())
        return names

    def _name(self, schema: str | None = None) -> TableName:
        """Read a name of one, two or three parts, and return it as the feed names its tables."""
        cursor = self.cursor
        parts = [cursor.name("the name of a table")]
        while cursor.skip("."):
            parts.append(cursor.name("the name of a table"))
        if len(parts) == 1:
            return (self.schema if schema is None else schema), parts[0]
        if self.database is None:
            return parts[-2], parts[-1]
        return full_schema(self.database if len(parts) == 2 else parts[-3], parts[-2]), parts[-1]

    def _empty(self, name: TableName) -> None:
        self.found.append(Effect("empties", *name))


def _is_of_columns(cursor: Cursor) -> bool:
    """Return whether a part of an ALTER TABLE is about columns."""
    verb, what = cursor.word(), cursor.word(1)
    if verb in ("ADD", "DROP"):
        return what == "COLUMN" or what not in _NOT_COLUMNS
    if verb == "ALTER":
        return "TYPE" in (cursor.word(2), cursor.word(3))
    return verb in ("MODIFY", "CHANGE") or (verb, what) in (("RENAME", "COLUMN"), ("CONVERT", "TO"))


def _as_name(token: Token) -> Token:
    """Return a text in quotes as the name that it is outside of MySQL."""
    return Token("name", token.text, token.start, token.end) if token.kind == "text" else token
