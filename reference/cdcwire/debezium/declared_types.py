"""The types of columns that ``tableChanges`` declares, by connector.

The declarations are data: a pattern of a type's name, and the kind of its columns. MySQL's types
and those of connectors that are not here are read as MySQL declares them.
Source: the tables of types in Debezium's documents of each connector.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from cdcwire.connect import types
from cdcwire.debezium.connectors import DB2, INFORMIX, ORACLE, SQLSERVER, SourceOf
from cdcwire.model import kinds
from cdcwire.model.instants import UTC
from cdcwire.model.kinds import Column

_Size: TypeAlias = "int | None"
_Make: TypeAlias = "Callable[[_Size, _Size], kinds.Type]"
_INTEGERS: tuple[tuple[int, kinds.IntBits], ...] = ((3, 8), (5, 16), (10, 32), (19, 64))


def _always(kind: kinds.Type) -> _Make:
    return lambda length, scale: kind


def _decimal(length: _Size, scale: _Size) -> kinds.Type:
    return kinds.DecimalType(length, scale or 0)


def _number(length: _Size, scale: _Size) -> kinds.Type:
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
    "number|numeric|decimal": _number,
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
