"""The values of a `simple` message, in JSON or in Avro, member by member.

Members keep the meaning of their names. In JSON they may come in any order, and other ones are
ignored. They are written in the order of the fields, which is that of the producer. A value of a
row is as its encoding has it: in JSON a text, in Avro a ``Branch`` of the union of values.

The rules of the JSON, the forms of its members and the clauses of the page come first.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TypeAlias

from cdcwire.apache_avro.schema import Branch
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.json_record import (
    FLAG,
    Form,
    JsonForms,
    Quote,
    array_of,
    expect_object,
    extra,
    member,
    nested,
    part,
    record_of,
    wrong,
)
from cdcwire.core.limits import INT64_END, INT64_START, MAX_JSON_DEPTH, MAX_NAME_BYTES, UINT64_END
from cdcwire.core.strict_json import JsonObject, JsonRules, Member, Number
from cdcwire.model.instants import ms_of_tso

RULES = JsonRules(
    text_clause="simple: json text",
    string_clause="simple: json strings",
    limits_clause="simple: limits",
    max_depth=MAX_JSON_DEPTH,
    max_name_bytes=MAX_NAME_BYTES,
)
FIELDS = "simple: fields"
UNKNOWN = "simple: unknown members"
TYPES = "simple: event types"
ROWS = "simple: rows"
VALUES = "simple: values"
TIMESTAMPS = "simple: timestamp values"
SCHEMAS = "simple: table schemas"
SCHEMA_VERSIONS = "simple: schema versions"
DDL = "simple: ddl events"
BOOTSTRAPS = "simple: bootstrap"
WATERMARKS = "simple: watermarks"
CHECKSUM = "simple: checksum"
HANDLE_KEY_ONLY = "simple: handle key only"
CLAIM_CHECK = "simple: claim check"
COMPRESSION = "simple: compression"
AVRO = "simple: avro"

FORMS = JsonForms(RULES)
TEXT, NAME, TEXTS = FORMS.text, FORMS.name, array_of(FORMS.text)
UINT32 = FORMS.integer(0, 1 << 32)
UINT64 = FORMS.integer(0, UINT64_END)
INT64 = FORMS.integer(INT64_START, INT64_END)
MILLISECONDS = FORMS.integer(INT64_START, INT64_END, int)
TSO = FORMS.integer(0, UINT64_END, ms_of_tso)


def word_of(*allowed: str) -> Form[str]:
    """Return the form of a string that is one of some words."""

    def problem(word: str) -> str:
        return f"type {word!r:.40} is not one of {', '.join(allowed)}"

    def read(given: Member, data: bytes, clause: str) -> str:
        word = TEXT.read(given, data, clause)
        if word not in allowed:
            raise DecodeError(problem(word), given.start, clause)
        return word

    def write(word: str, clause: str, quoted: Quote) -> str:
        if word not in allowed:
            raise EncodeError(problem(word), clause)
        return quoted(word)

    return Form(read, write)


def only(number: int, shown: Form[int] = INT64) -> Form[int]:
    """Return the form of an integer that is always the same. ``shown``: one that shows it."""
    wanted = Number(str(number))

    def read(given: Member, data: bytes, clause: str) -> int:
        if given.value != wanted:
            found = INT64.read(given, data, clause)
            if found != number:  # -0 is 0
                raise DecodeError(f"it is {found}, and must be {number}", given.start, clause)
        return number

    return Form(read, FORMS.integer(number, number + 1).write, shown.shown)


Default: TypeAlias = "str | bytes | Number | None"


def _read_default(given: Member, data: bytes, clause: str) -> Default:
    if isinstance(given.value, Number):
        FORMS.integer_of(given.value, given.start, clause)
        return given.value
    return TEXT.read(given, data, clause)


def _write_default(default: Default, clause: str, quoted: Quote) -> str:
    if isinstance(default, Number):
        return default.text
    if isinstance(default, bytes):
        return quoted(default.decode("utf-8", "surrogateescape"))
    return TEXT.write(default or "", clause, quoted)


@dataclass(frozen=True, slots=True)
class DataType:
    """The declared type of a column. None: the member is absent, or null in Avro."""

    mysql_type: str = member(TEXT, SCHEMAS, name="mysqlType")
    charset: str = member(TEXT, SCHEMAS)
    collate: str = member(TEXT, SCHEMAS)
    length: int = member(INT64, SCHEMAS, default=0)
    decimal: int | None = member(INT64, SCHEMAS, default=None)
    elements: tuple[str, ...] | None = member(TEXTS, SCHEMAS, default=None)
    unsigned: bool | None = member(FLAG, SCHEMAS, default=None)
    zerofill: bool | None = member(FLAG, SCHEMAS, default=None)


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """A column of a table. A default that is not UTF-8, of a BIT in Avro, is bytes."""

    name: str = member(NAME, SCHEMAS)
    data_type: DataType = member(nested(DataType), SCHEMAS, name="dataType")
    nullable: bool = member(FLAG, SCHEMAS)
    default: Default = member(
        Form(_read_default, _write_default), SCHEMAS, default=None, null="", always=True
    )


@dataclass(frozen=True, slots=True)
class IndexSchema:
    """An index of a table."""

    name: str = member(TEXT, SCHEMAS)
    unique: bool = member(FLAG, SCHEMAS)
    primary: bool = member(FLAG, SCHEMAS)
    nullable: bool = member(FLAG, SCHEMAS)
    columns: tuple[str, ...] = member(TEXTS, SCHEMAS)


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The definition of a table. ``version``: the timestamp since when it is so."""

    schema: str = member(NAME, SCHEMAS)
    table: str = member(NAME, SCHEMAS)
    table_id: int = member(INT64, SCHEMAS, name="tableID")
    version: int = member(UINT64, SCHEMAS)
    columns: tuple[ColumnSchema, ...] = member(array_of(nested(ColumnSchema)), SCHEMAS)
    indexes: tuple[IndexSchema, ...] = member(array_of(nested(IndexSchema)), SCHEMAS)


SCHEMA = nested(TableSchema)


REPLACEMENT = "\ufffd"
BAD_BYTE = "\udcff"  # Go writes \ufffd for a bad byte, and a real U+FFFD as it is
_BAD_ESCAPES = {r"\ufffd": r"\udcff"}
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A TIMESTAMP: its local text, and the zone that it is local to."""

    location: str = member(TEXT, TIMESTAMPS)
    value: str = member(TEXT, TIMESTAMPS)


CellValue: TypeAlias = "str | Timestamp | Branch | None"


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a row. ``offset``: the byte where its value begins."""

    name: str
    value: CellValue
    offset: int = field(default=0, compare=False)


Row: TypeAlias = "tuple[Cell, ...]"
_TIMESTAMP = nested(Timestamp)


def _read_row(given: Member, data: bytes, clause: str) -> Row:
    return tuple(
        [
            Cell(each.name, _read_value(each, data), each.start)
            for each in expect_object(given, clause).members
        ]
    )


def _read_value(given: Member, data: bytes) -> CellValue:
    value = given.value
    if value is None or isinstance(value, str):
        is_replaced = value is not None and REPLACEMENT in value
        return _with_bad_bytes(data[given.start : given.end]) if is_replaced else value
    with step(given.name):
        if isinstance(value, JsonObject):
            return _TIMESTAMP.read(given, data, TIMESTAMPS)
        raise wrong(value, "a string", given.start, VALUES)


def _with_bad_bytes(raw: bytes) -> str:
    r"""Return a string in which each escape ``\ufffd``, the sign of a bad byte, is BAD_BYTE."""
    text = _ESCAPE.sub(lambda found: _BAD_ESCAPES.get(found[0].lower(), found[0]), raw.decode())
    found: str = json.loads(text)
    return found


def _write_row(row: Row, clause: str, quoted: Quote) -> str:
    return f"{{{','.join([_written_cell(cell, clause, quoted) for cell in row])}}}"


def _written_cell(cell: Cell, clause: str, quoted: Quote) -> str:
    with step(cell.name):
        name = NAME.write(cell.name, clause, quoted)
        match cell.value:
            case None:
                value = "null"
            case str():  # lone surrogates are bytes that are not UTF-8
                value = quoted(cell.value)
            case Timestamp():
                value = _TIMESTAMP.write(cell.value, TIMESTAMPS, quoted)
            case other:
                raise EncodeError(f"{other!r:.40} is not a value of JSON", VALUES)
        return f"{name}:{value}"


ROW = Form(_read_row, _write_row)


INSERT, UPDATE, DELETE = "INSERT", "UPDATE", "DELETE"
WATERMARK, BOOTSTRAP = "WATERMARK", "BOOTSTRAP"
DML_TYPES = (INSERT, UPDATE, DELETE)
DDL_TYPES = ("CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY")
VERSION = 1
_KIND = part("kind", "op", "what")


@dataclass(frozen=True, slots=True)
class Checksum:
    """The checksums of the row after and of the row before."""

    version: int = member(UINT32, CHECKSUM, extra("checksum_version"))
    corrupted: bool = member(FLAG, CHECKSUM, extra("corrupted"))
    current: int = member(UINT32, CHECKSUM, extra("checksum"))
    previous: int = member(UINT32, CHECKSUM, extra("checksum_previous"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The members of every message: the type says which other ones there are."""

    version: int = member(only(VERSION), FIELDS, default=VERSION, required=True)
    type: str = member(word_of(*DML_TYPES, *DDL_TYPES, BOOTSTRAP, WATERMARK), TYPES, _KIND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dml:
    """A row. ``data``: the new row, ``old``: the old one. ``offset``: of the schema's version."""

    version: int = member(only(VERSION), FIELDS, default=VERSION, required=True)
    database: str = member(NAME, FIELDS, part("schema"), default="")
    table: str = member(NAME, FIELDS, part("table"), default="")
    table_id: int = member(INT64, FIELDS, extra("table_id"), name="tableID", default=0)
    type: str = member(word_of(*DML_TYPES), TYPES, _KIND)
    commit_ts: int = member(TSO, FIELDS, part("commit_ts"), name="commitTs")
    build_ts: int = member(MILLISECONDS, FIELDS, part("sent_ms"), name="buildTs")
    schema_version: int = member(UINT64, SCHEMA_VERSIONS, name="schemaVersion", default=0)
    claim_check_location: str | None = member(
        TEXT, CLAIM_CHECK, extra("claim_check"), name="claimCheckLocation", default=None
    )
    handle_key_only: bool | None = member(FLAG, HANDLE_KEY_ONLY, name="handleKeyOnly", default=None)
    checksum: Checksum | None = member(nested(Checksum), CHECKSUM, default=None)
    data: Row | None = member(ROW, ROWS, part("after"), default=None)
    old: Row | None = member(ROW, ROWS, part("before"), default=None)
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ddl:
    """A schema change."""

    version: int = member(only(VERSION), FIELDS, default=VERSION, required=True)
    type: str = member(word_of(*DDL_TYPES), TYPES, _KIND)
    sql: str = member(TEXT, DDL, part("query"))
    commit_ts: int = member(TSO, FIELDS, part("commit_ts"), name="commitTs")
    build_ts: int = member(MILLISECONDS, FIELDS, part("sent_ms"), name="buildTs")
    table_schema: TableSchema | None = member(
        SCHEMA, SCHEMAS, part("schema", "table", "key"), name="tableSchema", default=None
    )
    pre_table_schema: TableSchema | None = member(
        SCHEMA, SCHEMAS, extra("pre_table_schema"), name="preTableSchema", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """The definition of a table, sent before its rows and again from time to time. No event."""

    version: int = member(only(VERSION), FIELDS, default=VERSION, required=True)
    type: str = member(word_of(BOOTSTRAP), TYPES, default=BOOTSTRAP, required=True)
    commit_ts: int = member(only(0, TSO), BOOTSTRAPS, name="commitTs", default=0, required=True)
    build_ts: int = member(MILLISECONDS, FIELDS, name="buildTs")
    table_schema: TableSchema = member(SCHEMA, SCHEMAS, name="tableSchema")


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """All changes up to ``commit_ts`` were sent."""

    version: int = member(only(VERSION), FIELDS, default=VERSION, required=True)
    type: str = member(word_of(WATERMARK), TYPES, _KIND, default=WATERMARK, required=True)
    commit_ts: int = member(TSO, WATERMARKS, part("commit_ts"), name="commitTs")
    build_ts: int = member(MILLISECONDS, FIELDS, part("sent_ms"), name="buildTs")


Message: TypeAlias = "Dml | Ddl | Bootstrap | Watermark"
CLASSES: dict[str, type[Message]] = {
    **dict.fromkeys(DML_TYPES, Dml),
    **dict.fromkeys(DDL_TYPES, Ddl),
    BOOTSTRAP: Bootstrap,
    WATERMARK: Watermark,
}
RECORDS = {each: record_of(each, UNKNOWN) for each in (Dml, Ddl, Bootstrap, Watermark)}
HEAD = record_of(Head)


def class_of(found: JsonObject) -> type[Message] | None:
    """Return the class of the message that an object is; None for another type."""
    given = found.get("type")
    kind = None if given is None else given.value
    return CLASSES.get(kind) if isinstance(kind, str) else None
