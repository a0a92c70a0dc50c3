"""The effects of a schema change on the rows of tables, by the text of its statement.

A statement empties, moves or changes the rows. One that can't be read may have changed them. A feed
has the rows before an ALTER TABLE as they were, and a copy of the table has them as they are after
it. Only values that the statement itself gives are known: of a new column with a constant default,
or with none. ``keeps_values`` decides by both kinds of a column if its other values stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from typing import Literal, TypeAlias

from cdcwire.ddl.columns import ReadColumn, read_column
from cdcwire.ddl.definition import read_element
from cdcwire.ddl.keys import Key
from cdcwire.ddl.tokens import Cursor, DdlError, Token, tokens_of
from cdcwire.ddl.types import read_type
from cdcwire.model import kinds
from cdcwire.model.events import Expression, TableName, full_schema
from cdcwire.model.kinds import ABSENT, Type, Value
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


ChangeKind: TypeAlias = Literal["adds", "drops", "renames", "modifies"]

_NUMBERED = frozenset({"AUTO_INCREMENT", "AUTO_RANDOM"})
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_CLOCK = re.compile(r"-?\d{2,3}:\d\d:\d\d", re.ASCII)
_DATE_AND_CLOCK = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)
# Kinds of whose constants a definition keeps only those that are values.
_PLAIN = (
    *(kinds.BoolType, kinds.IntType, kinds.FloatType, kinds.YearType, kinds.BitType),
    *(kinds.EnumType, kinds.SetType),
)
_DIGITS = 100  # more than any DECIMAL has


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A change of a column. ``column``: None for a change that may be of any.

    ``type``: of a new column, or the new one of a column; None if it is not known. ``value``: what
    rows before the statement get in a new column. ``why``: the reason why values are not known.
    ``to``: the new name of a column.
    """

    kind: ChangeKind
    column: str | None
    type: Type | None = None
    value: Value = None
    why: str = ""
    to: str | None = None


def column_changes(cursor: Cursor) -> Iterator[ColumnChange]:
    """Yield what a part of an ALTER TABLE changes. The cursor is at its first word."""
    begin = cursor.index
    try:
        yield from _changes(cursor)
    except DdlError as error:
        cursor.index = begin
        yield _unread(cursor, error.problem)


def _unread(cursor: Cursor, why: str) -> ColumnChange:
    """Return a change whose text can't be read. The column that it names is known."""
    is_new = cursor.skip("ADD")
    if not is_new:
        cursor.next()
    cursor.skip("COLUMN")
    _ = cursor.skip("IF", "NOT", "EXISTS") or cursor.skip("IF", "EXISTS")
    name = cursor.token.text if cursor.token.kind in ("word", "name") else None
    return ColumnChange("adds" if is_new and name else "modifies", name, why=why)


def keeps_values(old: Type, new: Type | None) -> bool:
    """Return whether a column has the same values in a new type, if the database takes it at all.

    Text and integers that do not fit are refused by databases in their usual mode.
    """
    if isinstance(old, kinds.IntType) and isinstance(new, kinds.IntType):
        return True
    if isinstance(old, kinds.TextType) and isinstance(new, kinds.TextType):
        return True
    if isinstance(old, kinds.EnumType | kinds.SetType) and type(old) is type(new):
        assert isinstance(new, kinds.EnumType | kinds.SetType)
        if old.labels is None or new.labels is None:
            return old.form == "label"
        return old.form == "label" or new.labels[: len(old.labels)] == old.labels
    return old == new and old not in (kinds.DecimalType(), kinds.BytesType())


def _changes(cursor: Cursor) -> Iterator[ColumnChange]:
    if cursor.skip("ADD"):
        yield from _added(cursor)
    elif cursor.skip("DROP"):
        yield ColumnChange("drops", _column(cursor))
    elif cursor.skip("RENAME"):
        name = _column(cursor)
        cursor.expect("TO")
        yield ColumnChange("renames", name, to=cursor.name("the name of a column"))
    elif cursor.skip("MODIFY"):
        _skip_words(cursor)
        yield _modified(read_column(cursor, is_alone=True))
    elif cursor.skip("CHANGE"):
        name = _column(cursor)
        new = read_column(cursor, is_alone=True)
        modified = _modified(new)
        if new.name.casefold() == name.casefold():
            yield modified
        else:
            yield replace(modified, kind="renames", column=name, to=new.name)
    elif cursor.skip("ALTER"):
        name = _column(cursor)
        _ = cursor.skip("SET", "DATA", "TYPE") or cursor.skip("TYPE")
        kind = read_type(cursor).kind
        is_whole = cursor.token.kind == "end" or cursor.is_sign(",") or cursor.is_sign(";")
        yield _converted(name, kind if is_whole else None)
    else:  # CONVERT TO CHARACTER SET
        is_binary = any(token.text.lower() == "binary" for token in cursor.tokens[cursor.index :])
        if is_binary:
            yield ColumnChange("modifies", None, why="it makes bytes of texts")


def _added(cursor: Cursor) -> Iterator[ColumnChange]:
    if not cursor.skip("COLUMN") and read_element(cursor, []):
        return
    cursor.skip("IF", "NOT", "EXISTS")
    if not cursor.skip("("):
        yield _new(cursor)
        return
    keys: list[Key] = []
    while True:
        if not read_element(cursor, keys):
            yield _new(cursor)
        if not cursor.skip(","):
            return


def _new(cursor: Cursor) -> ColumnChange:
    begin = cursor.index
    column = read_column(cursor, is_alone=True)
    words = {token.word for token in cursor.tokens[begin : cursor.index]}
    kind = column.type.kind
    if column.type.is_serial or words & _NUMBERED:
        return ColumnChange("adds", column.name, kind, why="it numbers the rows")
    if "generated" in column.roles or {"GENERATED", "IDENTITY"} & words:
        return ColumnChange("adds", column.name, kind, why="it computes the values")
    try:
        return ColumnChange("adds", column.name, kind, _value(column))
    except ValueError as error:
        return ColumnChange("adds", column.name, kind, why=str(error))


def _value(column: ReadColumn) -> Value:
    """Return what rows get that have no value. Raises: ValueError if it is not known."""
    kind, value = column.type.kind, column.default
    if value is ABSENT:
        return None if column.nullable else _zero(kind)
    if value is None:
        return None
    if isinstance(value, Expression):
        raise ValueError("its default is not a plain constant")
    if not _is_exact(kind, value):
        raise ValueError(f"which value {column.type.source} makes of its default is not known")
    return _scaled(kind, value) if isinstance(value, Decimal) else value


def _zero(kind: Type) -> Value:
    """Return what MySQL takes for NOT NULL without a default."""
    match kind:
        case kinds.IntType():
            return 0
        case kinds.FloatType():
            return 0.0
        case kinds.DecimalType():
            return _scaled(kind, Decimal(0))
        case kinds.TextType():
            return ""
        case _:
            raise ValueError("it is NOT NULL and has no default")


def _scaled(kind: Type, value: Decimal) -> Decimal:
    assert isinstance(kind, kinds.DecimalType)
    with localcontext() as context:
        context.prec = _DIGITS
        return value.quantize(Decimal(1).scaleb(-(kind.scale or 0)))


def _is_exact(kind: Type, value: Value) -> bool:
    """Return whether a row has the constant as it is written."""
    match kind:
        case kinds.DecimalType():
            return isinstance(value, Decimal) and _scaled(kind, value) == value
        case kinds.TextType():
            return isinstance(value, str) and not value.endswith(" ")  # CHAR cuts them
        case kinds.DateType():
            return isinstance(value, str) and _DATE.fullmatch(value) is not None
        case kinds.TimeType(fraction=None | 0):
            return isinstance(value, str) and _CLOCK.fullmatch(value) is not None
        case kinds.DatetimeType(fraction=None | 0):
            return isinstance(value, str) and _DATE_AND_CLOCK.fullmatch(value) is not None
        case _:
            return isinstance(kind, _PLAIN)


def _modified(column: ReadColumn) -> ColumnChange:
    # A CHAR cuts the spaces at the end of a text, which a VARCHAR before it kept.
    is_char = column.type.source.startswith("char")
    return _converted(column.name, None if is_char else column.type.kind)


def _converted(name: str, kind: Type | None) -> ColumnChange:
    return ColumnChange("modifies", name, kind, why="it may convert the values")


def _column(cursor: Cursor) -> str:
    _skip_words(cursor)
    return cursor.name("the name of a column")


def _skip_words(cursor: Cursor) -> None:
    cursor.skip("COLUMN")
    cursor.skip("IF", "EXISTS")
