"""Kafka keys: the primary key of a row, as an object or as an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from cdcwire.core.errors import DecodeError, step
from cdcwire.core.json_record import (
    Form,
    Quote,
    array_of,
    expect_array,
    expect_object,
    items_of,
    object_text,
    whole_of,
)
from cdcwire.core.strict_json import JsonArray, JsonObject, Member, read_json
from cdcwire.formats.maxwell_json.members import (
    RULES,
    TEXT,
    Cell,
    read_cells,
    written_text,
    written_value,
)

KEYS = "maxwell-json: kafka keys"
KeyForm: TypeAlias = Literal["hash", "array"]
_PREFIX = "pk."


@dataclass(frozen=True, slots=True)
class Key:
    """A Kafka key. Its column names are in lower case. ``uuid`` replaces them without a key."""

    form: KeyForm
    database: str
    table: str | None
    columns: tuple[Cell, ...] = ()
    uuid: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(cell.name for cell in self.columns)


def decode_key(data: bytes) -> Key:
    """Return a Kafka key in either form. Paths begin with ``key``.

    Raises: TruncatedError, DecodeError.
    """
    with step("key"):
        document = read_json(data, RULES)
        whole = whole_of(document)
        if isinstance(document.value, JsonArray):
            return _array_key(whole, data)
        return _hash_key(expect_object(whole, KEYS), document.end, data)


def _hash_key(found: JsonObject, end: int, data: bytes) -> Key:
    texts: dict[str, str] = {}
    columns: list[Cell] = []
    for member, cell in zip(found.members, read_cells(found, data), strict=True):
        name = member.name
        with step(name):
            if name in ("database", "table", "_uuid"):
                texts[name] = TEXT.read(member, data, KEYS)
            elif name.startswith(_PREFIX):
                columns.append(Cell(name[len(_PREFIX) :], cell.value, cell.offset))
            else:
                problem = f"member {name!r:.40} does not begin with {_PREFIX!r}"
                raise DecodeError(problem, member.name_start, KEYS)
    if "database" not in texts:
        raise DecodeError("member 'database' is missing", end - 1, KEYS, ("database",))
    return Key("hash", texts["database"], texts.get("table"), tuple(columns), texts.get("_uuid"))


def _read_column(given: Member, data: bytes, clause: str) -> Cell:
    cells = read_cells(expect_object(given, clause), data)
    if len(cells) != 1:
        raise DecodeError(f"{len(cells)} columns instead of one", given.start, clause)
    return cells[0]


def _written_column(cell: Cell, clause: str, quote: Quote) -> str:
    return object_text({cell.name: written_value(cell.value)}, quote)


_COLUMNS = array_of(Form(_read_column, _written_column))
_ARRAY: tuple[Form[Any], ...] = (TEXT, TEXT, _COLUMNS)  # database, table, columns


def _array_key(whole: Member, data: bytes) -> Key:
    items = list(items_of(expect_array(whole, KEYS)))
    if len(items) != len(_ARRAY):
        raise DecodeError(f"{len(items)} items instead of {len(_ARRAY)}", whole.start, KEYS)
    values = []
    for index, form in enumerate(_ARRAY):
        with step(index):
            values.append(form.read(items[index], data, KEYS))
    return Key("array", *values)


def encode_key(key: Key) -> bytes:
    """Return the bytes of a Kafka key. Raises: EncodeError."""
    with step("key"):
        if key.form == "array":
            columns = _COLUMNS.write(key.columns, KEYS, written_text)
            names = ",".join(map(written_text, (key.database, key.table or "")))
            return f"[{names},{columns}]".encode()
        members = {"database": written_text(key.database)}
        if key.table is not None:
            members["table"] = written_text(key.table)
        if key.uuid is not None:
            members["_uuid"] = written_text(key.uuid)
        for cell in key.columns:
            members[f"{_PREFIX}{cell.name}"] = written_value(cell.value)
        return object_text(members, written_text).encode()
