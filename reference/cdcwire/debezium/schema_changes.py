"""Messages of a schema change topic, and those that TiCDC sends among the rows.

``tableChanges`` gives the table after a statement. A rename is one change, with both names or the
new one. The kind of a change follows from the words of its statement, because the type of a change
only distinguishes CREATE, ALTER and DROP. Without a statement the type decides.

The types of declared columns are data, by connector: a pattern of a type's name, and the kind of
its columns. MySQL's types and those of connectors that are not here are read as MySQL declares
them. Source: the tables of types in Debezium's documents of each connector.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from cdcwire.connect import types
from cdcwire.connect.schema import RULES
from cdcwire.connect.schemaless import json_text
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, Number, read_json
from cdcwire.debezium.connectors import DB2, INFORMIX, ORACLE, SQLSERVER, SourceOf, source_of
from cdcwire.debezium.message import Ddl, TableChange
from cdcwire.model import kinds
from cdcwire.model.events import Extra, SchemaChangeKind, Table
from cdcwire.model.instants import UTC
from cdcwire.model.kinds import Column, EnumType, SetType, UnknownType
from cdcwire.mysql.declared import parse_declared, type_of_declared

MEMBERS = frozenset(("source", "ts_ms", "databaseName", "schemaName", "ddl", "tableChanges"))
_COMMENTS = re.compile(r"/\*.*?\*/|--[^\n]*(?:\n|$)", re.DOTALL)
_NAME = re.compile(r'"((?:[^"]|"")*)"')
_WORDS: dict[SchemaChangeKind, str] = {
    "rename": r"\s*(?:RENAME\s+TABLE|ALTER\s+TABLE\s+\S+\s+RENAME\s+(?:TO|AS)\s)",
    "cindex": r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:UNIQUE\s+|FULLTEXT\s+|SPATIAL\s+)?INDEX\b",
    "dindex": r"\s*DROP\s+INDEX\b",
    "truncate": r"\s*TRUNCATE\b",
    "create": r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMPORARY\s+)?(?:TABLE|DATABASE|SCHEMA)\b",
    "erase": r"\s*DROP\s+(?:TEMPORARY\s+)?(?:TABLE|DATABASE|SCHEMA)\b",
    "alter": r"\s*ALTER\s+TABLE\b",
}
_BY_WORDS: dict[SchemaChangeKind, re.Pattern[str]] = {
    what: re.compile(words, re.IGNORECASE) for what, words in _WORDS.items()
}
_BY_TYPE: dict[str, SchemaChangeKind] = {"CREATE": "create", "ALTER": "alter", "DROP": "erase"}


def kind_of(ddl: Ddl, change: TableChange | None) -> SchemaChangeKind:
    """Return what a statement does; without one, what its change of a table is."""
    if ddl.query is not None:
        words = _COMMENTS.sub(" ", ddl.query[:2000])
        for what, pattern in _BY_WORDS.items():
            if pattern.match(words):
                return what
        return "query"
    return "query" if change is None else _BY_TYPE.get(change.type, "query")


def table_of_change(ddl: Ddl, change: TableChange | None) -> Table | None:
    """Return the table of a change; of a whole database one without name."""
    source = ddl.source
    declared = source_of(source.connector)
    names = () if change is None else tuple(_NAME.findall(change.id))
    parts = tuple(name.replace('""', '"') for name in names)
    if change is None or not parts:
        schema = (ddl.database if declared.schema_member == "db" else ddl.schema) or None
        database = ddl.database if declared.has_database and schema else None
        if source.table:
            return Table(source.table, schema, database)
        return None if schema is None else Table(None, schema, database)
    depth = 3 if declared.has_database and len(parts) % 3 == 0 else 2
    *levels, name = parts[-depth:] if len(parts) >= depth else parts
    schema = levels[-1] if levels else ddl.schema or ddl.database
    database = None
    if declared.has_database:
        database = levels[0] if len(levels) > 1 else ddl.database or source.db or None
    return Table(name, schema, database, change.columns, change.key)


def table_changes(value: JsonValue, source: SourceOf) -> Iterator[TableChange]:
    """Yield the changes of ``tableChanges``; members of another form are left out."""
    if not isinstance(value, JsonArray):
        return
    for item in value.items:
        if not isinstance(item, JsonObject):
            continue
        kind, name, table = (_member(item, each) for each in ("type", "id", "table"))
        if not isinstance(kind, str) or not isinstance(name, str):
            continue
        columns: tuple[Column, ...] | None = None
        key: tuple[str, ...] | None = None
        if isinstance(table, JsonObject):
            listed = _member(table, "columns")
            names = _member(table, "primaryKeyColumnNames")
            key = ()
            if isinstance(names, JsonArray):
                key = tuple(each for each in names.items if isinstance(each, str))
            if isinstance(listed, JsonArray):
                found = [
                    _column(each, source) for each in listed.items if isinstance(each, JsonObject)
                ]
                columns = tuple(each for each in found if each is not None)
        yield TableChange(kind, name, columns, key, json_text(item))


def sent_table(what: SchemaChangeKind, table: Table | None) -> str | None:
    """Return the ``table`` that the source of a statement mostly has; that of an index is empty."""
    if what in ("cindex", "dindex"):
        return ""
    return None if table is None else table.name


def known_changes(extra: Extra, clause: str) -> JsonArray | None:
    """Return the ``tableChanges`` that an event was read with; None without them.

    Raises: EncodeError.
    """
    text = extra.get("table_changes")
    if text is None:
        return None
    try:
        changes = read_json(text.encode() if isinstance(text, str) else text, RULES).value
    except (DecodeError, UnicodeEncodeError):
        changes = None
    if not isinstance(changes, JsonArray):
        raise EncodeError("it is not a JSON list", clause, ("extra", "table_changes"))
    return changes


def _column(item: JsonObject, source: SourceOf) -> Column | None:
    name, type_name = _member(item, "name"), _member(item, "typeName")
    if not isinstance(name, str) or not isinstance(type_name, str):
        return None
    length, scale = (_number(_member(item, each)) for each in ("length", "scale"))
    optional = _member(item, "optional")
    nullable = optional if isinstance(optional, bool) else None
    if length is not None and length < 0:
        length = None
    if has_own_types(source):
        return replace(declared_column(source, name, type_name, length, scale), nullable=nullable)
    labels = _member(item, "enumValues")
    if labels is None and type_name.upper() in ("ENUM", "SET"):  # as before 2.0
        kind = EnumType() if type_name.upper() == "ENUM" else SetType()
        return Column(name, kind, type_name.lower(), nullable)
    text = _declared_text(type_name, length, scale, labels)
    try:
        declared = parse_declared(text)
    except ValueError:
        return Column(name, UnknownType(), type_name, nullable)
    return Column(name, type_of_declared(declared), text.lower(), nullable)


def _declared_text(type_name: str, length: int | None, scale: int | None, labels: JsonValue) -> str:
    """Return a type as MySQL declares it: the size comes before UNSIGNED."""
    base, _, rest = type_name.partition(" ")
    if isinstance(labels, JsonArray) and labels.items:
        size = ",".join(label for label in labels.items if isinstance(label, str))
        return f"{base}({size})"
    if length is None:
        return type_name
    size = f"{length}" if scale is None else f"{length},{scale}"
    return f"{base}({size}){' ' + rest if rest else ''}"


_is_size = re.compile(r"-?[0-9]{1,9}", re.ASCII).fullmatch


def _number(value: JsonValue) -> int | None:
    return int(value.text) if isinstance(value, Number) and _is_size(value.text) else None


def _member(item: JsonObject, name: str) -> JsonValue:
    member = item.get(name)
    return None if member is None else member.value


_Size: TypeAlias = "int | None"
_Make: TypeAlias = "Callable[[_Size, _Size], kinds.Type]"
_INTEGERS: tuple[tuple[int, kinds.IntBits], ...] = ((3, 8), (5, 16), (10, 32), (19, 64))


def _always(kind: kinds.Type) -> _Make:
    return lambda length, scale: kind


def _decimal(length: _Size, scale: _Size) -> kinds.Type:
    return kinds.DecimalType(length, scale or 0)


def _number_kind(length: _Size, scale: _Size) -> kinds.Type:
    """Return the kind of Oracle's NUMBER: an integer, if it has few digits and no fraction."""
    if not length or scale is None:
        return kinds.DecimalType()
    if scale > 0:
        return kinds.DecimalType(length, scale)
    for digits, bits in _INTEGERS:
        if length - scale < digits:
            return kinds.IntType(bits)
    return kinds.DecimalType(length, scale)


def _digits(length: _Size, scale: _Size) -> int:
    """Return the digits of Oracle's TIMESTAMP after the second: 6, where none are declared."""
    return scale if scale is not None else 6 if length is None else length


def _floating(length: _Size, scale: _Size) -> kinds.Type:
    """Return the kind of Informix's DECIMAL: without a declared scale each value has its own."""
    return kinds.DecimalType() if scale in (None, _NO_SCALE) else kinds.DecimalType(length, scale)


def _fraction(length: _Size, scale: _Size) -> int:
    """Return the digits of Informix's DATETIME after the second: those beyond 20 characters."""
    return scale if scale is not None else max((length or 0) - 20, 0)


_NO_SCALE = 255  # so Informix's catalogue has it
_TEXT, _BYTES = _always(kinds.TextType()), _always(kinds.BytesType())
_INSTANT = _always(kinds.TimestampType(form="text", zone=UTC))
_COMMON: dict[str, _Make] = {
    "smallint": _always(kinds.IntType(16)),
    "int|integer": _always(kinds.IntType(32)),
    "bigint": _always(kinds.IntType(64)),
    "real": _always(kinds.FloatType(32)),
    "decimal|numeric": _decimal,
    "date": _always(kinds.DateType()),
    "time": lambda length, scale: kinds.TimeType(scale or 0),
    "xml": _TEXT,
}
_SQLSERVER: dict[str, _Make] = {
    **_COMMON,
    "bit": _always(kinds.BoolType()),
    "tinyint": _always(kinds.IntType(8, unsigned=True)),
    "float": _always(kinds.FloatType(64)),
    "money": _always(kinds.DecimalType(19, 4)),
    "smallmoney": _always(kinds.DecimalType(10, 4)),
    "n?char|n?varchar|n?text|uniqueidentifier|sysname": _TEXT,
    "binary|varbinary|image|timestamp|rowversion": _BYTES,
    "time": lambda length, scale: kinds.TimeType(7 if scale is None else scale),
    "datetime|smalldatetime": _always(kinds.DatetimeType(3)),
    "datetime2": lambda length, scale: kinds.DatetimeType(7 if scale is None else scale),
    "datetimeoffset": _INSTANT,
}
_DB2: dict[str, _Make] = {
    **_COMMON,
    "boolean": _always(kinds.BoolType()),
    "double": _always(kinds.FloatType(64)),
    "decfloat": _always(kinds.DecimalType()),
    "(?:var)?char|(?:var)?graphic|clob|dbclob": _TEXT,
    "(?:var)?binary|blob|(?:var)?char .*bit data": _BYTES,
    "timestamp": lambda length, scale: kinds.DatetimeType(6 if scale is None else scale),
}
_INFORMIX: dict[str, _Make] = {
    **_COMMON,
    "serial": _always(kinds.IntType(32)),
    "int8|serial8|bigserial": _always(kinds.IntType(64)),
    "smallfloat": _always(kinds.FloatType(32)),
    "float|double precision": _always(kinds.FloatType(64)),
    "decimal|numeric": _floating,
    "money": lambda length, scale: kinds.DecimalType(length or 16, 2 if scale is None else scale),
    "boolean": _always(kinds.BoolType()),
    "n?char|n?varchar|lvarchar|text|clob": _TEXT,
    "byte|blob": _BYTES,
    "datetime hour to .*": lambda length, scale: kinds.TimeType(_fraction(length, scale)),
    "datetime year to .*": lambda length, scale: kinds.DatetimeType(_fraction(length, scale)),
    "interval .*": _always(kinds.IntervalType("us")),
}
_ORACLE: dict[str, _Make] = {
    "number|numeric|decimal": _number_kind,
    "float|real|double precision": _always(kinds.DecimalType()),
    "integer|smallint|int": _always(kinds.DecimalType(38, 0)),
    "binary_float": _always(kinds.FloatType(32)),
    "binary_double": _always(kinds.FloatType(64)),
    "n?char|n?varchar2?|n?clob|rowid|xmltype": _TEXT,
    "raw|blob": _BYTES,
    "json": _always(kinds.JsonType()),
    "date": _always(kinds.DatetimeType(0)),
    "timestamp": lambda length, scale: kinds.DatetimeType(_digits(length, scale)),
    "timestamp with (?:local )?time zone": _INSTANT,
    "interval .*": _always(kinds.IntervalType("us")),
}
_TYPES: dict[str, tuple[tuple[re.Pattern[str], _Make], ...]] = {
    source.name: tuple(
        (re.compile(rf"(?:{names})(?:\s*identity)?", re.IGNORECASE), make)
        for names, make in declared.items()
    )
    for source, declared in (
        *((SQLSERVER, _SQLSERVER), (DB2, _DB2), (ORACLE, _ORACLE)),
        (INFORMIX, _INFORMIX),
    )
}
_SIZE = re.compile(r"\s*\(([0-9]{1,5})(?:\s*,\s*(-?[0-9]{1,5}))?\)")


def has_own_types(source: SourceOf) -> bool:
    """Return whether a connector's types are declared here."""
    return source.name in _TYPES


def declared_column(
    source: SourceOf, name: str, type_name: str, length: _Size, scale: _Size
) -> Column:
    """Return a column; that of a type that is not known has an unknown kind.

    The type's name may have the size in it: ``TIMESTAMP(6) WITH TIME ZONE``. The column's source is
    the type's name. For a date or time it is the name of its form in the mode ``adaptive``.
    """
    declared = type_name.lower()
    found = _SIZE.search(type_name)
    if found is not None:
        type_name = f"{type_name[: found.start()]}{type_name[found.end() :]}"
        length = length or int(found[1])
        if scale is None:
            scale = int(found[2] or found[1])
    for pattern, make in _TYPES[source.name]:
        if pattern.fullmatch(type_name.strip()):
            kind = make(length, scale)
            return Column(name, kind, _adaptive_name(kind) or declared)
    return Column(name, kinds.UnknownType(), declared)


def _adaptive_name(kind: kinds.Type) -> str | None:
    match kind:
        case kinds.TimeType(int(digits)):
            return _by_digits(digits, (types.TIME, types.MICRO_TIME, types.NANO_TIME))
        case kinds.DatetimeType(int(digits)):
            names = (types.TIMESTAMP, types.MICRO_TIMESTAMP, types.NANO_TIMESTAMP)
            return _by_digits(digits, names)
        case _:
            return None


def _by_digits(digits: int, names: tuple[str, str, str]) -> str:
    """Return the name of milliseconds, microseconds or nanoseconds, whichever has the digits."""
    return names[0 if digits <= 3 else 1 if digits <= 6 else 2]
