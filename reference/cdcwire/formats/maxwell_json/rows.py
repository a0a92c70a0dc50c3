"""Rows: the columns of ``data`` and ``old``, and the values of ``primary_key``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from cdcwire.core.errors import EncodeError, step
from cdcwire.core.json_record import Form, Quote, array_of, expect_object, object_text
from cdcwire.core.strict_json import JsonObject, Member, Number
from cdcwire.formats.maxwell_json.members import FORMS, RULES, written_text


@dataclass(frozen=True, slots=True)
class Inline:
    """A value that is neither a number nor a string: its JSON text."""

    text: str


ColumnValue: TypeAlias = "Number | str | Inline | None"


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a row. ``offset`` is the byte where the value begins."""

    name: str
    value: ColumnValue
    offset: int = field(default=-1, compare=False)


def read_cells(found: JsonObject, data: bytes) -> tuple[Cell, ...]:
    """Return each member of an object as a column."""
    return tuple(
        Cell(member.name, _read_value(member, data), member.start) for member in found.members
    )


def _read_row(given: Member, data: bytes, clause: str) -> tuple[Cell, ...]:
    return read_cells(expect_object(given, clause), data)


def _written_row(cells: tuple[Cell, ...], clause: str, quote: Quote) -> str:
    members: dict[str, str] = {}
    for cell in cells:
        with step(cell.name):
            if cell.name in members:
                raise EncodeError("the column is duplicated", clause)
            members[cell.name] = written_value(cell.value)
    return object_text(members, quote)


def _read_value(given: Member, data: bytes, clause: str = "") -> ColumnValue:
    if given.value is None or isinstance(given.value, (Number, str)):
        return given.value
    return Inline(data[given.start : given.end].decode())


def written_value(value: ColumnValue, clause: str = "", quote: Quote = written_text) -> str:
    """Return the JSON text of a value. Raises: EncodeError."""
    match value:
        case None:
            return "null"
        case str():
            return quote(value)
        case Number(text):
            if value.digits > FORMS.max_digits:
                problem = f"a number has {value.digits} characters; the limit is {FORMS.max_digits}"
                raise EncodeError(problem, RULES.limits_clause)
            return text
        case Inline(text):
            return text


ROW = Form(_read_row, _written_row)
VALUES = array_of(Form(_read_value, written_value))
