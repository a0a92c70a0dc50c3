"""Reading schema files: strict about what they say, tolerant where documents and producers differ.

The reader also takes forms that the producer does not write, and names them in
``SchemaFile.tolerated``. These are ``ColumnLength`` for ColumnPrecision, a total that is a numeric
string, ``"true"`` for ColumnNullable and ``"false"`` for ColumnIsPk. So are ``[]`` as the columns
of a database, a default of null, and unknown members. Order and white space are free. Everything
else is an error at its byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from cdcwire.core.errors import DecodeError, step
from cdcwire.core.strict_json import (
    JsonArray,
    JsonObject,
    JsonRules,
    JsonValue,
    Member,
    Number,
    json_kind,
    read_json,
)
from cdcwire.storage.paths import MAX_U64
from cdcwire.storage.schema_columns import ILL_FORMED, Default, SchemaColumn
from cdcwire.storage.schema_text import (
    FILE_VERSION,
    FILES_CLAUSE,
    MAX_TYPE,
    TEXT_CLAUSE,
    RawColumn,
    SchemaFile,
    checksum_of,
    elements_text,
)

COLUMNS_CLAUSE = "storage: schema columns"
LIMITS_CLAUSE = "storage: limits"
MAX_FILE_BYTES = 64 << 20
_RULES = JsonRules(TEXT_CLAUSE, TEXT_CLAUSE, LIMITS_CLAUSE, max_depth=8)

_Value = TypeVar("_Value")


def read_schema_file(value: bytes) -> SchemaFile:
    """Return what a schema file says.

    Raises: TruncatedError where it ends too early; DecodeError.
    Source: storage, "schema files".
    """
    if len(value) > MAX_FILE_BYTES:
        problem = f"a schema file of {len(value)} bytes; {MAX_FILE_BYTES} are allowed"
        raise DecodeError(problem, MAX_FILE_BYTES, LIMITS_CLAUSE)
    document = read_json(value, _RULES)
    if not isinstance(document.value, JsonObject):
        problem = f"the file holds {json_kind(document.value)}, not an object"
        raise DecodeError(problem, document.start, FILES_CLAUSE)
    reader = _Reader(value, document.value, document.end - 1, FILES_CLAUSE, [])
    file = _file(reader)
    return replace(file, tolerated=tuple(dict.fromkeys(reader.tolerated)))


_MEMBERS = (
    "Table",
    "Schema",
    "Version",
    "TableVersion",
    "Query",
    "Type",
    "TableColumns",
    "TableColumnsTotal",
)
_COLUMN_MEMBERS = (
    "ColumnId",
    "ColumnName",
    "ColumnType",
    "ColumnDefault",
    "ColumnPrecision",
    "ColumnScale",
    "ColumnNullable",
    "ColumnIsPk",
    "ColumnElems",
)
_OLD_PRECISION = "ColumnLength"  # of the first document
_FLAGS = {"true": True, "false": False}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_DIGITS = re.compile(r"[0-9]{1,10}")
_ID = re.compile(r"[0-9]{1,19}")
_NUMERIC = re.compile(r"0|[1-9][0-9]{0,9}")


class _Reader:
    """The members of one object. ``end`` is the place of its closing brace."""

    def __init__(
        self, data: bytes, value: JsonObject, end: int, clause: str, tolerated: list[str]
    ) -> None:
        self.data = data
        self.members = dict(value.by_name)
        self.end = end
        self.clause = clause
        self.tolerated = tolerated

    def required(self, name: str) -> Member:
        member = self.members.get(name)
        if member is None:
            raise DecodeError(f"member {name!r} is missing", self.end, self.clause)
        return member

    def optional(self, name: str, read: Callable[[Member], _Value]) -> _Value | None:
        member = self.members.get(name)
        return None if member is None else read(member)

    def text(self, member: Member) -> str:
        if not isinstance(member.value, str):
            raise self.wrong(member, "a string")
        return self.exact_text(member.value, member.start, member.end)

    def exact_text(self, value: str, start: int, end: int) -> str:
        r"""Return the string with ILL_FORMED for each escape \ufffd, other than a real U+FFFD."""
        if "\ufffd" not in value:
            return value
        raw = self.data[start + 1 : end - 1].decode("utf-8")
        pieces: list[str] = []
        done = 0
        for found in _ESCAPE.finditer(raw):
            if (found.group(1) or "").lower() == "fffd":
                if done < found.start():
                    pieces.append(json.loads(f'"{raw[done : found.start()]}"'))
                pieces.append(ILL_FORMED)
                done = found.end()
        return "".join(pieces) + str(json.loads(f'"{raw[done:]}"'))

    def raw(self, member: Member) -> str:
        return self.data[member.start : member.end].decode("utf-8")

    def number(self, member: Member, most: int) -> int:
        value = member.value
        if not isinstance(value, Number) or not value.is_integer or value.digits > 20:
            raise self.wrong(member, "an integer")
        if value.text.startswith("-") or int(value.text) > most:
            problem = f"{value.text} is not in 0 to {most}"
            raise DecodeError(problem, member.start, self.clause, (member.name,))
        return int(value.text)

    def matching(self, member: Member, pattern: re.Pattern[str], what: str) -> str:
        text = self.text(member)
        if pattern.fullmatch(text) is None:
            problem = f"{text!r:.40} is not {what}"
            raise DecodeError(problem, member.start, self.clause, (member.name,))
        return text

    def wrong(self, member: Member, expected: str) -> DecodeError:
        problem = f"expected {expected}, found {json_kind(member.value)}"
        return DecodeError(problem, member.start, self.clause, (member.name,))

    def note_unknown(self, known: tuple[str, ...]) -> None:
        self.tolerated.extend(name for name in self.members if name not in known)


def _file(reader: _Reader) -> SchemaFile:
    for name in _MEMBERS:
        reader.required(name)
    reader.note_unknown(_MEMBERS)
    table = reader.text(reader.members["Table"])
    schema_member = reader.members["Schema"]
    schema = reader.text(schema_member)
    if not schema:
        problem = "the name of the schema is empty"
        raise DecodeError(problem, schema_member.start, FILES_CLAUSE, ("Schema",))
    version = reader.number(reader.members["Version"], MAX_U64)
    if version != FILE_VERSION:
        problem = f"version {version}; it is always {FILE_VERSION}"
        raise DecodeError(problem, reader.members["Version"].start, FILES_CLAUSE, ("Version",))
    columns, raw_columns = _columns(reader, table)
    total = _total(reader, len(columns or ()))
    return SchemaFile(
        table=table,
        schema=schema,
        version=version,
        table_version=reader.number(reader.members["TableVersion"], MAX_U64),
        query=reader.text(reader.members["Query"]),
        type=reader.number(reader.members["Type"], MAX_TYPE),
        columns=columns,
        total=total,
        checksum_as_read=checksum_of(
            reader.raw(reader.members["Table"]), reader.raw(schema_member), raw_columns, total
        ),
    )


def _total(reader: _Reader, count: int) -> int:
    member = reader.members["TableColumnsTotal"]
    if isinstance(member.value, str):
        total = int(reader.matching(member, _NUMERIC, "a number"))
        reader.tolerated.append("TableColumnsTotal as a string")
    else:
        total = reader.number(member, MAX_U64)
    if total != count:
        problem = f"the total is {total}, and there are {count} columns"
        raise DecodeError(problem, member.start, FILES_CLAUSE, ("TableColumnsTotal",))
    return total


def _columns(
    reader: _Reader, table: str
) -> tuple[tuple[SchemaColumn, ...] | None, list[RawColumn]]:
    member = reader.members["TableColumns"]
    value = member.value
    if value is None and not table:
        return None, []
    if not isinstance(value, JsonArray):
        raise reader.wrong(member, "an array" if table else "null")
    if not table:
        if value.items:
            problem = "a database has no columns"
            raise DecodeError(problem, member.start, FILES_CLAUSE, ("TableColumns",))
        reader.tolerated.append("TableColumns [] of a database")
        return None, []
    columns: list[SchemaColumn] = []
    raw_columns: list[RawColumn] = []
    names: set[str] = set()
    for index, item in enumerate(value.items):
        start, end = value.places[2 * index], value.places[2 * index + 1]
        with step("TableColumns", index):
            column, raw = _column(reader, item, start, end)
            if column.name in names:
                problem = f"the column {column.name!r:.80} appears twice"
                raise DecodeError(problem, start, COLUMNS_CLAUSE)
        names.add(column.name)
        columns.append(column)
        raw_columns.append(raw)
    return tuple(columns), raw_columns


def _column(
    outer: _Reader, item: JsonValue, start: int, end: int
) -> tuple[SchemaColumn, RawColumn]:
    if not isinstance(item, JsonObject):
        problem = f"expected an object, found {json_kind(item)}"
        raise DecodeError(problem, start, COLUMNS_CLAUSE)
    reader = _Reader(outer.data, item, end - 1, COLUMNS_CLAUSE, outer.tolerated)
    if _OLD_PRECISION in reader.members:
        _take_old_precision(reader)
    reader.note_unknown(_COLUMN_MEMBERS)
    column = SchemaColumn(
        name=_not_empty(reader, "ColumnName"),
        type=_not_empty(reader, "ColumnType"),
        default=reader.optional("ColumnDefault", lambda member: _default(reader, member)),
        precision=reader.optional(
            "ColumnPrecision", lambda member: reader.matching(member, _DIGITS, "a length")
        ),
        scale=reader.optional(
            "ColumnScale", lambda member: reader.matching(member, _DIGITS, "a scale")
        ),
        is_nullable=_flag(reader, "ColumnNullable", usual=False, otherwise=True),
        is_primary_key=_flag(reader, "ColumnIsPk", usual=True, otherwise=False),
        id=reader.optional("ColumnId", lambda member: reader.matching(member, _ID, "an id")),
        elements=reader.optional("ColumnElems", lambda member: _elements(reader, member)),
    )
    return column, RawColumn(column.name, tuple(_raw_members(reader, column)))


def _take_old_precision(reader: _Reader) -> None:
    member = reader.members.pop(_OLD_PRECISION)
    if "ColumnPrecision" in reader.members:
        problem = f"{_OLD_PRECISION} appears together with ColumnPrecision"
        raise DecodeError(problem, member.name_start, COLUMNS_CLAUSE, (_OLD_PRECISION,))
    reader.members["ColumnPrecision"] = member
    reader.tolerated.append(_OLD_PRECISION)


def _not_empty(reader: _Reader, name: str) -> str:
    member = reader.required(name)
    text = reader.text(member)
    if not text:
        raise DecodeError(f"{name} is empty", member.start, COLUMNS_CLAUSE, (name,))
    return text


def _flag(reader: _Reader, name: str, *, usual: bool, otherwise: bool) -> bool:
    member = reader.members.get(name)
    if member is None:
        return otherwise
    text = reader.text(member)
    flag = _FLAGS.get(text)
    if flag is None:
        problem = f"{text!r:.40} is neither 'true' nor 'false'"
        raise DecodeError(problem, member.start, COLUMNS_CLAUSE, (name,))
    if flag is not usual:
        reader.tolerated.append(f"{name} {text!r}")
    return flag


def _default(reader: _Reader, member: Member) -> Default:
    value = member.value
    if isinstance(value, (JsonArray, JsonObject)):
        raise reader.wrong(member, "a constant")
    if value is None:
        reader.tolerated.append("ColumnDefault null")
        return None
    return reader.text(member) if isinstance(value, str) else value


def _elements(reader: _Reader, member: Member) -> tuple[str, ...]:
    value = member.value
    if not isinstance(value, JsonArray):
        raise reader.wrong(member, "an array")
    elements: list[str] = []
    for index, item in enumerate(value.items):
        start, end = value.places[2 * index], value.places[2 * index + 1]
        if not isinstance(item, str):
            problem = f"expected a string, found {json_kind(item)}"
            raise DecodeError(problem, start, COLUMNS_CLAUSE, (member.name, index))
        elements.append(reader.exact_text(item, start, end))
    return tuple(elements)


def _raw_members(reader: _Reader, column: SchemaColumn) -> list[tuple[str, str]]:
    """Return the members that the hash has, by their texts as written in the file."""
    absent = {
        "ColumnDefault": column.default is None,
        "ColumnNullable": column.is_nullable,
        "ColumnIsPk": not column.is_primary_key,
        "ColumnElems": not column.elements,
    }
    found: list[tuple[str, str]] = []
    for name in _COLUMN_MEMBERS:
        member = reader.members.get(name)
        if member is None or absent.get(name, False):
            continue
        text = reader.raw(member)
        if isinstance(member.value, JsonArray):
            places = member.value.places
            raws = (
                reader.data[places[2 * index] : places[2 * index + 1]].decode("utf-8")
                for index in range(len(member.value.items))
            )
            text = elements_text(raws)
        found.append((name, text))
    return found
