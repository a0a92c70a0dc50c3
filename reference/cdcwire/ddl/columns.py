"""One column of a CREATE TABLE: its type and the attributes after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cdcwire.ddl.defaults import read_default, skip_function
from cdcwire.ddl.keys import Key, KeyPart
from cdcwire.ddl.tokens import Cursor, Token
from cdcwire.ddl.types import ColumnType, read_character_set, read_type
from cdcwire.model.kinds import ABSENT, Role, Value


@dataclass(slots=True)
class ReadColumn:
    """A column as it is read. ``keys``: those that are written after it.

    ``id``: its number in a table that is followed through its changes.
    """

    name: str
    token: Token
    type: ColumnType
    nullable: bool = True
    default: Value = ABSENT
    roles: set[Role] = field(default_factory=set)
    keys: list[Key] = field(default_factory=list)
    id: int | None = None


def read_column(cursor: Cursor, is_alone: bool = False) -> ReadColumn:
    """Read a column up to the comma or parenthesis after it.

    ``is_alone``: a statement may end after the column, or say where it goes (FIRST, AFTER). Raises:
    DdlError.
    """
    token = cursor.token
    name = cursor.name("the name of a column")
    column = ReadColumn(name, token, read_type(cursor))
    if column.type.is_serial:
        column.nullable = False
        _add_key(column, "unique")
    while not (cursor.is_sign(",") or cursor.is_sign(")")):
        if is_alone and _is_end(cursor):
            break
        if not _read_attribute(cursor, column):
            raise cursor.unexpected("an attribute of a column, ',' or ')'")
    return column


def _is_end(cursor: Cursor) -> bool:
    return cursor.token.kind == "end" or cursor.is_sign(";") or cursor.word() in ("FIRST", "AFTER")


def _read_attribute(cursor: Cursor, column: ReadColumn) -> bool:
    """Read one attribute. Returns: whether there was one that is known."""
    word = cursor.word()
    if word in _IGNORED:
        cursor.next()
        _IGNORED[word](cursor)
        return True
    if cursor.skip("NOT", "NULL"):
        column.nullable = False
    elif cursor.skip("NULL"):
        column.nullable = True
    elif cursor.skip("SERIAL", "DEFAULT", "VALUE"):
        column.nullable = False
        _add_key(column, "unique")
    elif cursor.skip("DEFAULT"):
        column.default = read_default(cursor, column.type.kind)
    elif cursor.skip("PRIMARY", "KEY") or cursor.skip("PRIMARY") or cursor.skip("KEY"):
        column.nullable = False
        _add_key(column, "primary")
    elif cursor.skip("UNIQUE", "KEY") or cursor.skip("UNIQUE"):
        _add_key(column, "unique")
    elif cursor.skip("GENERATED", "ALWAYS", "AS") or cursor.skip("AS"):
        _read_generated(cursor, column)
    elif word in ("CHARACTER", "CHARSET", "COLLATE", "ASCII", "UNICODE"):
        read_character_set(cursor)
    elif cursor.skip("CONSTRAINT"):
        if cursor.word() != "CHECK":
            cursor.name("the name of a constraint")
        cursor.expect("CHECK")
        skip_check(cursor)
    else:
        return any(cursor.skip(word, "SYSTEM", "VERSIONING") for word in ("WITH", "WITHOUT"))
    return True


def _add_key(column: ReadColumn, what: str) -> None:
    column.keys.append(Key(what, (KeyPart(column.name, column.token),)))


def _read_generated(cursor: Cursor, column: ReadColumn) -> None:
    if cursor.skip("ROW", "START") or cursor.skip("ROW", "END"):  # MariaDB's system versioning
        column.nullable = False
        return
    cursor.parenthesised()
    is_stored = cursor.skip("STORED") or cursor.skip("PERSISTENT")
    if not is_stored:
        cursor.skip("VIRTUAL")
    column.roles.add("generated")
    if not is_stored:
        column.roles.add("virtual")


def skip_check(cursor: Cursor) -> None:
    """Move past ``(condition) [NOT] ENFORCED``, where CHECK was read."""
    cursor.parenthesised()
    if not cursor.skip("NOT", "ENFORCED"):
        cursor.skip("ENFORCED")


def skip_reference(cursor: Cursor) -> None:
    """Move past ``other (id) MATCH … ON DELETE …``, where REFERENCES was read."""
    cursor.name("the name of a table")
    if cursor.skip("."):
        cursor.name("the name of a table")
    if cursor.is_sign("("):
        cursor.parenthesised()
    while cursor.word() in ("MATCH", "ON"):
        if cursor.next().word == "MATCH":
            cursor.next()
            continue
        if not cursor.skip("DELETE"):
            cursor.expect("UPDATE")
        ways = (("SET", "NULL"), ("SET", "DEFAULT"), ("NO", "ACTION"), ("CASCADE",), ("RESTRICT",))
        if not any(cursor.skip(*way) for way in ways):
            raise cursor.unexpected("what becomes of a reference")


def skip_value(cursor: Cursor) -> None:
    """Move past ``[=] value``."""
    cursor.skip("=")
    if cursor.token.kind in ("end", "sign"):
        raise cursor.unexpected("a value")
    cursor.next()


def skip_nothing(cursor: Cursor) -> None:
    """Move nowhere: the word alone says all."""


def skip_parenthesis(cursor: Cursor) -> None:
    """Move past a parenthesis, if one begins here."""
    if cursor.is_sign("("):
        cursor.parenthesised()


def _skip_on_update(cursor: Cursor) -> None:
    cursor.expect("UPDATE")
    skip_function(cursor)


_IGNORED: dict[str, Callable[[Cursor], None]] = {
    "AUTO_INCREMENT": skip_nothing,
    "AUTO_RANDOM": skip_parenthesis,
    "BINARY": skip_nothing,
    "CHECK": skip_check,
    "CLUSTERED": skip_nothing,
    "COLUMN_FORMAT": skip_value,
    "COMMENT": skip_value,
    "COMPRESSED": skip_nothing,
    "ENGINE_ATTRIBUTE": skip_value,
    "GLOBAL": skip_nothing,
    "INVISIBLE": skip_nothing,
    "LOCAL": skip_nothing,
    "NONCLUSTERED": skip_nothing,
    "ON": _skip_on_update,
    "REF_SYSTEM_ID": skip_value,
    "REFERENCES": skip_reference,
    "SECONDARY_ENGINE_ATTRIBUTE": skip_value,
    "SRID": skip_value,
    "STORAGE": skip_value,
    "VISIBLE": skip_nothing,
}
