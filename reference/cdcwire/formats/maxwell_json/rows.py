"""Rows: the columns of ``data`` and ``old``, and the values of ``primary_key``."""

from __future__ import annotations

from cdcwire.core.errors import EncodeError, step
from cdcwire.core.strict_json import JsonObject, JsonValue, Member, Number
from cdcwire.formats.maxwell_json.members import (
    MAX_DIGITS,
    array_of,
    object_of,
    written_object,
    written_text,
)
from cdcwire.formats.maxwell_json.message import Cell, ColumnValue, Inline

DATA = "maxwell-json: data"
OLD = "maxwell-json: old"
PRIMARY_KEY = "maxwell-json: primary key"


def read_row(member: Member, clause: str, data: bytes) -> tuple[Cell, ...]:
    """Return the columns of a row. Raises: DecodeError."""
    return read_cells(object_of(member, clause), data)


def read_cells(found: JsonObject, data: bytes) -> tuple[Cell, ...]:
    """Return each member of an object as a column."""
    return tuple(
        Cell(member.name, column_value(member.value, member.start, member.end, data), member.start)
        for member in found.members
    )


def column_value(value: JsonValue, start: int, end: int, data: bytes) -> ColumnValue:
    """Return a JSON value as a column holds it: arrays, objects, true and false stay text."""
    if value is None or isinstance(value, (Number, str)):
        return value
    return Inline(data[start:end].decode())


def read_values(member: Member, data: bytes) -> tuple[ColumnValue, ...]:
    """Return the values of an array. Raises: DecodeError."""
    with step(member.name):
        array = array_of(member.value, member.start, PRIMARY_KEY)
        places = array.places
        return tuple(
            column_value(item, places[2 * index], places[2 * index + 1], data)
            for index, item in enumerate(array.items)
        )


def written_row(cells: tuple[Cell, ...], clause: str) -> str:
    """Return the object of a row. Raises: EncodeError."""
    members: dict[str, str] = {}
    for cell in cells:
        with step(cell.name):
            if cell.name in members:
                raise EncodeError("the column is duplicated", clause)
            members[cell.name] = written_value(cell.value)
    return written_object(members)


def written_values(values: tuple[ColumnValue, ...]) -> str:
    """Return an array of values. Raises: EncodeError."""
    return f"[{','.join(map(written_value, values))}]"


def written_value(value: ColumnValue) -> str:
    """Return the JSON text of a value. Raises: EncodeError."""
    match value:
        case None:
            return "null"
        case str():
            return written_text(value)
        case Number(text):
            if value.digits > MAX_DIGITS:
                problem = f"a number has {value.digits} characters; the limit is {MAX_DIGITS}"
                raise EncodeError(problem, "maxwell-json: limits")
            return text
        case Inline(text):
            return text
