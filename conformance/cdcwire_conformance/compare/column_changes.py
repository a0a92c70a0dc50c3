"""The effects of the parts of an ALTER TABLE on columns of rows before it.

A feed has these rows as they were, and a copy of the table has them as they are after it. Only
values that the statement itself gives are known: of a new column with a constant default, or with
none. ``keeps_values`` decides by both kinds of a column if its other values stay the same.
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
from cdcwire.ddl.tokens import Cursor, DdlError
from cdcwire.ddl.types import read_type
from cdcwire.model import kinds
from cdcwire.model.events import Expression
from cdcwire.model.kinds import ABSENT, Type, Value

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
