"""The members ``data`` and ``old``: rows, each an object of texts by column.

A row is read with the kinds of its columns, so that an invalid value is found at its byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, Member, json_kind
from cdcwire.formats.canal_json.columns import CLAUSE as CLAUSE_TYPE
from cdcwire.formats.canal_json.columns import NO_DEFINITION, Definition
from cdcwire.formats.canal_json.members import RULES, WRITE_STRING, write_name
from cdcwire.formats.canal_json.message import DELETE, INSERT, UPDATE, Dialect, Row, Rows
from cdcwire.formats.canal_json.values import Read, value_clause, value_reader

CLAUSE = "canal-json: row events"
CLAUSE_OLD = "canal-json: old"

Types: TypeAlias = "Mapping[str, str]"  # mysqlType by column


class RowReader:
    """The common parts of the rows of one message: how the values of a column are read."""

    def __init__(self, types: Types, definition: Definition = NO_DEFINITION) -> None:
        self._types = types
        self._definition = definition
        self._known: dict[str, tuple[Read, str]] = {}

    def value(self, member: Member) -> str | None:
        """Return the text of a value, or None for NULL. Raises: DecodeError."""
        name, text = member.name, member.value
        read, clause = self._known.get(name) or self._learn(member)
        if text is None:
            return None
        if not isinstance(text, str):
            problem = f"it is {json_kind(text)}, not a string"
            raise DecodeError(problem, member.start, clause, (name,))
        try:
            read(text)
        except ValueError as error:
            raise DecodeError(str(error), member.start, clause, (name,)) from None
        return text

    def _learn(self, member: Member) -> tuple[Read, str]:
        name = member.name
        try:
            kind = self._definition.column(name, self._types.get(name)).type
        except ValueError as error:
            raise DecodeError(str(error), member.name_start, CLAUSE_TYPE, (name,)) from None
        self._known[name] = found = (value_reader(kind), value_clause(kind))
        return found


def read_rows(member: Member | None, clause: str, reader: RowReader) -> Rows | None:
    """Return the rows of ``data`` or ``old``; None where there are none. Raises: DecodeError."""
    if member is None or member.value is None:
        return None
    with step(member.name):
        array = member.value
        if not isinstance(array, JsonArray):
            problem = f"it is {json_kind(array)}, not an array"
            raise DecodeError(problem, member.start, clause)
        rows = []
        for index, item in enumerate(array.items):
            with step(index):
                rows.append(_read_row(item, array.places[2 * index], clause, reader))
        return tuple(rows)


def _read_row(value: JsonValue, start: int, clause: str, reader: RowReader) -> Row | None:
    if value is None:
        return None
    if not isinstance(value, JsonObject):
        raise DecodeError(f"it is {json_kind(value)}, not an object", start, clause)
    return tuple((member.name, reader.value(member)) for member in value.members)


def check_rows(
    kind: str, data: Rows | None, old: Rows | None, places: Mapping[str, Member], end: int
) -> None:
    """Raise DecodeError unless ``data`` and ``old`` are those of an insert, update or delete."""
    fault = fault_of_rows(kind, data, old)
    if fault is not None:
        problem, name, clause = fault
        offset = places[name].start if name in places else end - 1
        raise DecodeError(problem, offset, clause, (name,))


def fault_of_rows(kind: str, data: Rows | None, old: Rows | None) -> tuple[str, str, str] | None:
    """Return what is wrong with the rows of a message, its member and the clause; None if good."""
    has_old = any(row is not None for row in old or ())
    if kind == DELETE and data is None:
        if not has_old or None in (old or ()):
            return "a DELETE needs its row", "data", CLAUSE
        return None  # another producer has the row there
    if data is None:
        return f"an {kind} needs data", "data", CLAUSE
    if None in data:
        return "a row is null", "data", CLAUSE
    if kind == UPDATE:
        if old is not None and len(old) != len(data):
            return f"{len(old)} old rows, but {len(data)} rows", "old", CLAUSE_OLD
    elif has_old:
        article = "an" if kind == INSERT else "a"
        return f"{article} {kind} with data has no old row", "old", CLAUSE_OLD
    return None


def write_rows(rows: Rows | None, name: str, dialect: Dialect) -> str:
    """Return the JSON of ``data`` or ``old``. Raises: EncodeError."""
    if rows is None:
        return "null"
    with step(name):
        texts = []
        for index, row in enumerate(rows):
            with step(index):
                texts.append("null" if row is None else _write_row(row, dialect))
        return f"[{','.join(texts)}]"


def _write_row(row: Row, dialect: Dialect) -> str:
    names: set[str] = set()
    members = []
    for name, text in row:
        with step(name):
            if name in names:
                raise EncodeError("a column is duplicated", CLAUSE)
            names.add(name)
            written = "null" if text is None else write_value_text(text, dialect)
            members.append(f"{write_name(name, dialect)}:{written}")
    return f"{{{','.join(members)}}}"


def write_value_text(text: str, dialect: Dialect) -> str:
    """Return the JSON of a value. Lone surrogates of bad bytes become escapes of U+FFFD.

    Raises: EncodeError.
    """
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        problem = f"U+{ord(text[error.start]):04X} is not a character"
        raise EncodeError(problem, RULES.string_clause) from None
    return WRITE_STRING[dialect](text)
