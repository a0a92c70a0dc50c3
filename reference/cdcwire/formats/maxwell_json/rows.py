"""Rows: the columns of ``data`` and ``old``, the values of ``primary_key``, and Kafka keys.

A Kafka key is the primary key of a row, as an object or as an array.
"""

from __future__ import annotations

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, Member, Number, read_json
from cdcwire.formats.maxwell_json.members import (
    MAX_DIGITS,
    RULES,
    array_of,
    expect_object,
    object_of,
    required,
    text_of,
    written_object,
    written_text,
)
from cdcwire.formats.maxwell_json.message import Cell, ColumnValue, Inline, Key

DATA = "maxwell-json: data"
OLD = "maxwell-json: old"
PRIMARY_KEY = "maxwell-json: primary key"
KEYS = "maxwell-json: kafka keys"
_PREFIX = "pk."
_ARRAY_ITEMS = 3


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


def decode_key(data: bytes) -> Key:
    """Return a Kafka key in either form. Paths begin with ``key``.

    Raises: TruncatedError, DecodeError.
    """
    with step("key"):
        document = read_json(data, RULES)
        value = document.value
        if isinstance(value, JsonArray):
            return _array_key(value, document.start, data)
        return _hash_key(expect_object(value, document.start, KEYS), document.end, data)


def _hash_key(found: JsonObject, end: int, data: bytes) -> Key:
    known = found.by_name
    uuid = known.get("_uuid")
    table = known.get("table")
    columns = []
    for cell in read_cells(found, data):
        if cell.name in ("database", "table", "_uuid"):
            continue
        if not cell.name.startswith(_PREFIX):
            problem = f"member {cell.name!r:.40} does not begin with {_PREFIX!r}"
            raise DecodeError(problem, known[cell.name].name_start, KEYS, (cell.name,))
        columns.append(Cell(cell.name[len(_PREFIX) :], cell.value, cell.offset))
    return Key(
        "hash",
        text_of(required(known, "database", end, KEYS), KEYS),
        None if table is None else text_of(table, KEYS),
        tuple(columns),
        None if uuid is None else text_of(uuid, KEYS),
    )


def _array_key(found: JsonArray, start: int, data: bytes) -> Key:
    if len(found.items) != _ARRAY_ITEMS:
        problem = f"{len(found.items)} items instead of {_ARRAY_ITEMS}"
        raise DecodeError(problem, start, KEYS)
    database, table, columns = found.items
    for index, name in enumerate((database, table)):
        if not isinstance(name, str):
            problem = "a name is not a string"
            raise DecodeError(problem, found.places[2 * index], KEYS, (index,))
    with step(2):
        array = array_of(columns, found.places[4], KEYS)
        cells: list[Cell] = []
        for index, item in enumerate(array.items):
            place = array.places[2 * index]
            with step(index):
                one = read_cells(expect_object(item, place, KEYS), data)
                if len(one) != 1:
                    raise DecodeError(f"{len(one)} columns instead of one", place, KEYS)
                cells.extend(one)
    return Key("array", str(database), str(table), tuple(cells))


def encode_key(key: Key) -> bytes:
    """Return the bytes of a Kafka key. Raises: EncodeError."""
    with step("key"):
        if key.form == "array":
            columns = ",".join(
                written_object({cell.name: written_value(cell.value)}) for cell in key.columns
            )
            names = ",".join(map(written_text, (key.database, key.table or "")))
            return f"[{names},[{columns}]]".encode()
        members = {"database": written_text(key.database)}
        if key.table is not None:
            members["table"] = written_text(key.table)
        if key.uuid is not None:
            members["_uuid"] = written_text(key.uuid)
        for cell in key.columns:
            members[f"{_PREFIX}{cell.name}"] = written_value(cell.value)
        return written_object(members).encode()
