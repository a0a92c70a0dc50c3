"""The columns of a row: the members ``u``, ``p`` and ``d``, reader and writer side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.json_record import FLAG, Form, expect_object, member, record_of
from cdcwire.core.spans import json_text
from cdcwire.core.strict_json import JsonObject, JsonValue, Member, Number
from cdcwire.formats.open_protocol.members import (
    BYTE,
    COLUMN_MEMBERS,
    UINT64,
    UNKNOWN,
    Dialect,
    write_name,
)
from cdcwire.formats.open_protocol.values import read_value, write_value
from cdcwire.mysql.values import WireValue


class Column(NamedTuple):
    """One column: type code ``type``, handle-key member ``h``, flag bits ``flag``."""

    name: str
    type: int
    h: bool
    flag: int
    value: WireValue


Columns: TypeAlias = "tuple[Column, ...]"


def _unread(given: Member, data: bytes, clause: str) -> Member:
    return given


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMembers:
    """The members of a column. ``v`` is read by type and flags."""

    t: int = member(BYTE, COLUMN_MEMBERS)
    h: bool = member(FLAG, COLUMN_MEMBERS, default=False)
    f: int = member(UINT64, COLUMN_MEMBERS, default=0)
    v: Member = member(Form(_unread), COLUMN_MEMBERS)


COLUMN = record_of(ColumnMembers, UNKNOWN)


def _read_columns(given: Member, data: bytes, clause: str) -> Columns:
    columns = []
    for column in expect_object(given, clause).members:
        try:
            columns.append(_read_column(column, data))
        except DecodeError as error:
            error.path = (column.name, *error.path)
            if given.name == "p" and (column.name, type(column.value)) == ("t", Number):
                error.add("; TiCDC leaves out the name of a column that became NULL")
            raise
    return tuple(columns)


def _read_column(column: Member, data: bytes) -> Column:
    values = COLUMN.read(expect_object(column, COLUMN_MEMBERS), column.end, data)
    code, flag, given = values["t"], values.get("f", 0), values["v"]
    try:
        value = read_value(given, code, flag)
    except DecodeError as error:
        error.path = (given.name, *error.path)
        raise
    return Column(column.name, code, values.get("h", False), flag, value)


def columns_form(what: str) -> Form[Columns]:
    """Return the form of the columns of one side. ``what``: how people call them."""

    def shown(value: JsonValue) -> str:
        return what if isinstance(value, JsonObject) else json_text(value)

    return Form(_read_columns, shown=shown)


def write_columns(columns: Columns, dialect: Dialect) -> str:
    """Return columns, by name in the tiflow dialect. Raises: EncodeError."""
    names: set[str] = set()
    written: list[tuple[bytes, str]] = []
    for column in columns:
        with step(column.name):
            if column.name in names:
                raise EncodeError("a column appears twice", COLUMN_MEMBERS)
            names.add(column.name)
            text = f"{write_name(column.name, dialect)}:{_write_column(column, dialect)}"
            written.append((column.name.encode(), text))
    if dialect == "tiflow":
        written.sort()
    return f"{{{','.join(text for _, text in written)}}}"


def _write_column(column: Column, dialect: Dialect) -> str:
    with step("t"):
        code = BYTE.write(column.type, COLUMN_MEMBERS, str)
    with step("f"):
        flag = UINT64.write(column.flag, COLUMN_MEMBERS, str)
    with step("v"):
        value = write_value(column.value, column.type, column.flag, dialect)
    handle = '"h":true,' if column.h else ""
    return f'{{"t":{code},{handle}"f":{flag},"v":{value}}}'
