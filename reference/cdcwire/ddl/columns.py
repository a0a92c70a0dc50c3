"""One column of a CREATE TABLE: its type and the attributes after it.

A default is a value of the column's kind where it is a constant, otherwise its SQL text. A constant
that is not a plain value of the kind (``DEFAULT 0`` of a DATE, ``DEFAULT 300`` of a TINYINT) stays
an ``Expression`` too: MySQL's conversions are not repeated here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from cdcwire.ddl.keys import Key, KeyPart
from cdcwire.ddl.tokens import Cursor, Token
from cdcwire.ddl.types import ColumnType, read_character_set, read_type
from cdcwire.model import kinds
from cdcwire.model.events import Expression
from cdcwire.model.floats import read_float32
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


_NUMBER = re.compile(
    r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:e[+-]?\d{1,4})?", re.I | re.A
)
_INTEGER = re.compile(r"[+-]?\d{1,20}", re.ASCII)
_LITERAL_WORDS = frozenset({"DATE", "TIME", "TIMESTAMP"})  # DATE '2024-01-01'


@dataclass(frozen=True, slots=True)
class _Constant:
    """``text``: of a text, or the digits of a number. ``raw``: of a hex or bit literal."""

    text: str | None = None
    raw: bytes | None = None


def read_default(cursor: Cursor, kind: kinds.Type) -> Value:
    """Read the text after DEFAULT. Returns: a value of the kind, None for NULL, Expression."""
    begin = cursor.token
    if cursor.is_sign("("):
        return Expression(cursor.parenthesised())
    if cursor.skip("NULL"):
        return None
    constant = _read_constant(cursor)
    if constant is None:
        skip_function(cursor)
    else:
        value = _value_of(kind, constant)
        if value is not None:
            return value
    return Expression(cursor.text[begin.start : cursor.tokens[cursor.index - 1].end])


def _read_constant(cursor: Cursor) -> _Constant | None:
    if cursor.skip("TRUE"):
        return _Constant("1")
    if cursor.skip("FALSE"):
        return _Constant("0")
    following = cursor.tokens[min(cursor.index + 1, len(cursor.tokens) - 1)]
    introduces = cursor.word() in _LITERAL_WORDS or cursor.word().startswith("_")
    if introduces and following.kind in ("text", "hex", "bit"):
        cursor.next()
    token = cursor.token
    if token.kind == "text":
        text = cursor.next().text
        while cursor.token.kind == "text":  # neighbours are one text
            text += cursor.next().text
        return _Constant(text)
    if token.kind in ("hex", "bit"):
        cursor.next()
        base, digits_of_byte = (16, 2) if token.kind == "hex" else (2, 8)
        size = -(-len(token.text) // digits_of_byte)
        return _Constant(raw=int(token.text or "0", base).to_bytes(size, "big"))
    return _read_number(cursor)


def _read_number(cursor: Cursor) -> _Constant | None:
    begin = cursor.index
    text = ""
    while cursor.is_sign("-") or cursor.is_sign("+") or cursor.is_sign("."):
        text += cursor.next().text
    if cursor.token.kind == "number":
        text += cursor.next().text
    if _NUMBER.fullmatch(text):
        return _Constant(text)
    cursor.index = begin
    return None


def skip_function(cursor: Cursor) -> None:
    """Move past ``CURRENT_TIMESTAMP(3)`` and the like. Raises: DdlError."""
    if cursor.skip("NEXT", "VALUE", "FOR"):
        cursor.name("the name of a sequence")
    else:
        cursor.name("a default")
    while cursor.skip("."):
        cursor.name("a name")
    if cursor.is_sign("("):
        cursor.parenthesised()


def _value_of(kind: kinds.Type, constant: _Constant) -> Value | None:
    """Return a constant as a value of the kind, None where it is not a plain one."""
    text, raw = constant.text, constant.raw
    match kind:
        case kinds.BytesType():
            return raw if text is None else text.encode("utf-8", "surrogatepass")
        case kinds.TextType():
            return text if raw is None else _decoded(raw)
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return text if text is not None and not _NUMBER.fullmatch(text) else None
        case kinds.DecimalType() if text is not None and re.fullmatch(
            r"[+-]?\d+(\.\d+)?", text, re.A
        ):
            return Decimal(text)
        case kinds.FloatType(bits) if text is not None and _NUMBER.fullmatch(text):
            return read_float32(text) if bits == 32 else float(text)
        case kinds.EnumType(labels) if labels is not None:
            return _label_index(labels, text)
        case kinds.SetType(labels) if labels is not None:
            return _label_mask(labels, text)
        case kinds.BoolType() | kinds.IntType() | kinds.YearType() | kinds.BitType():
            return _whole_number(kind, constant)
        case _:
            return None


def _whole_number(
    kind: kinds.BoolType | kinds.IntType | kinds.YearType | kinds.BitType, constant: _Constant
) -> int | bool | None:
    if constant.raw is not None:
        number = int.from_bytes(constant.raw, "big")
    elif constant.text is not None and _INTEGER.fullmatch(constant.text):
        number = int(constant.text)
    else:
        return None
    match kind:
        case kinds.BoolType():
            return number == 1 if number in (0, 1) else None
        case kinds.IntType(bits, unsigned):
            low, high = (0, 1 << bits) if unsigned else (-1 << bits - 1, 1 << bits - 1)
        case kinds.YearType():
            low, high = 1901, 2156
        case kinds.BitType(length):
            low, high = 0, 1 << (length or 1)
    return number if low <= number < high else None


def _label_index(labels: tuple[str, ...], text: str | None) -> int | None:
    return labels.index(text) + 1 if text in labels else None


def _label_mask(labels: tuple[str, ...], text: str | None) -> int | None:
    if text is None:
        return None
    chosen = text.split(",") if text else []
    if not set(chosen) <= set(labels):
        return None
    return sum(1 << labels.index(label) for label in set(chosen))


def _decoded(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None
