"""PostgreSQL's column types as a DDL writes them, and the kinds of the model.

The ``source`` of a column is the type as ``pg_dump`` prints it. Composite types and types of other
extensions are unknown: their values are whatever a message has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from cdcwire.ddl.tokens import Cursor
from cdcwire.ddl.types import ColumnType
from cdcwire.model import kinds

Place: TypeAlias = "tuple[str, str]"
PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class UserType:
    """A type that the database defines. ``is_not_null``: a domain that takes no NULL."""

    type: ColumnType
    is_not_null: bool = False


_ALIASES: tuple[tuple[tuple[str, ...], str], ...] = (  # the longest first
    (("NATIONAL", "CHARACTER", "VARYING"), "character varying"),
    (("NATIONAL", "CHAR", "VARYING"), "character varying"),
    (("NATIONAL", "CHARACTER"), "character"),
    (("NATIONAL", "CHAR"), "character"),
    (("CHARACTER", "VARYING"), "character varying"),
    (("CHAR", "VARYING"), "character varying"),
    (("DOUBLE", "PRECISION"), "double precision"),
    (("BIT", "VARYING"), "bit varying"),
    *(
        ((alias.upper(),), name)
        for alias, name in (
            *(("varchar", "character varying"), ("char", "character"), ("nchar", "character")),
            *(("bpchar", "character"), ("varbit", "bit varying"), ("float4", "real")),
            *(("float8", "double precision"), ("decimal", "numeric"), ("dec", "numeric")),
            *(("int", "integer"), ("int2", "smallint"), ("int4", "integer"), ("int8", "bigint")),
            *(("bool", "boolean"), ("serial", "integer"), ("serial4", "integer")),
            *(("bigserial", "bigint"), ("serial8", "bigint"), ("smallserial", "smallint")),
            *(("serial2", "smallint"), ("timestamptz", "timestamp with time zone")),
            ("timetz", "time with time zone"),
        )
    ),
)
_TEXT = kinds.TextType()
_PLAIN: Mapping[str, kinds.Type] = {
    "boolean": kinds.BoolType(),
    "smallint": kinds.IntType(16),
    "integer": kinds.IntType(32),
    "bigint": kinds.IntType(64),
    "oid": kinds.IntType(64),
    "real": kinds.FloatType(32),
    "double precision": kinds.FloatType(64),
    "money": kinds.DecimalType(19, 2),
    "bytea": kinds.BytesType(),
    "date": kinds.DateType(),
    "json": kinds.JsonType(),
    "jsonb": kinds.JsonType(),
    "hstore": kinds.JsonType(),
    **dict.fromkeys(
        (
            *("text", "name", "citext", "xml", "uuid", "ltree", "inet", "cidr", "macaddr"),
            *("macaddr8", "tsvector", "int4range", "int8range", "numrange", "tsrange"),
            *("tstzrange", "daterange", "isbn", "isbn13"),
        ),
        _TEXT,
    ),
}
_SERIAL = frozenset(
    {"serial", "serial2", "serial4", "serial8", "bigserial", "smallserial"}
)  # also NOT NULL
_INTERVAL_FIELDS = frozenset({"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "TO"})
_DOUBLE_BITS = 24
_CATALOG = "pg_catalog"


def read_type(cursor: Cursor, known: Mapping[Place, UserType], schema: str) -> UserType:
    """Read a column's type. ``known``: the types that the text has defined.

    ``schema``: where a name without one is looked for. Raises: DdlError.
    """
    found = _element(cursor, known, schema)
    levels = 0
    while True:
        if cursor.skip("["):
            if cursor.token.kind == "number":
                cursor.next()
            cursor.expect("]")
        elif not cursor.skip("ARRAY"):
            break
        levels += 1
    if not levels:
        return found
    # PostgreSQL does not keep the number of dimensions.
    item = found.type
    return UserType(ColumnType(f"{item.source}[]", kinds.ArrayType(item.kind)))


def _element(cursor: Cursor, known: Mapping[Place, UserType], schema: str) -> UserType:
    begin = cursor.token
    if begin.kind == "word" and not cursor.is_sign(".", 1):
        is_serial = begin.text in _SERIAL
        for words, name in _ALIASES:
            if cursor.skip(*words):
                return UserType(_built_in(cursor, name), is_serial)
    name = cursor.name("a type")
    place = schema, name
    if cursor.skip("."):
        place = name, cursor.name("a type")
    own = _known(known, place, PUBLIC)
    if own is not None:
        return own
    is_quoted_char = place[1] == "char" and begin.kind == "name"
    if is_quoted_char or (place == (_CATALOG, "char")):
        return UserType(ColumnType('"char"', kinds.TextType(1)))
    return UserType(_built_in(cursor, place[1]))


def _known(known: Mapping[Place, UserType], place: Place, other: str) -> UserType | None:
    return known.get(place) or known.get((other, place[1]))


def _built_in(cursor: Cursor, name: str) -> ColumnType:
    if name.startswith(("timestamp", "time")) and name.partition(" ")[0] in ("timestamp", "time"):
        return _temporal(cursor, name)
    if name == "interval":
        return _interval(cursor)
    numbers = _numbers(cursor)
    match name:
        case "numeric":
            return _numeric(cursor, numbers)
        case "character" | "character varying":
            length = numbers[0] if numbers else (1 if name == "character" else None)
            source = name if length is None else f"{name}({length})"
            return ColumnType(source, kinds.TextType(length))
        case "bit" | "bit varying":
            length = numbers[0] if numbers else (1 if name == "bit" else None)
            source = name if length is None else f"{name}({length})"
            return ColumnType(source, kinds.BitType(length))
        case "float":
            bits = numbers[0] if numbers else 53
            return _built_in(cursor, "real" if bits <= _DOUBLE_BITS else "double precision")
        case _:
            return ColumnType(name, _PLAIN.get(name, kinds.UnknownType()))


def _numeric(cursor: Cursor, numbers: list[int]) -> ColumnType:
    if not numbers:
        return ColumnType("numeric", kinds.DecimalType())
    precision, scale = (*numbers, 0)[:2]
    # A scale below 0 or above the precision is legal since PostgreSQL 15.
    fits = 0 <= scale <= precision
    kind = kinds.DecimalType(precision, scale) if fits else kinds.DecimalType()
    return ColumnType(f"numeric({precision},{scale})", kind)


def _temporal(cursor: Cursor, name: str) -> ColumnType:
    base = name.partition(" ")[0]
    numbers = _numbers(cursor)
    fraction = numbers[0] if numbers else None
    has_zone = name != base
    if cursor.skip("WITH", "TIME", "ZONE"):
        has_zone = True
    else:
        cursor.skip("WITHOUT", "TIME", "ZONE")
    digits = 6 if fraction is None else min(fraction, 6)
    kind: kinds.Type
    if base == "time":
        kind = kinds.TimeType(digits, zone="+00:00") if has_zone else kinds.TimeType(digits)
    else:
        kind = kinds.TimestampType(digits) if has_zone else kinds.DatetimeType(digits)
    written = base if fraction is None else f"{base}({fraction})"
    return ColumnType(f"{written} {'with' if has_zone else 'without'} time zone", kind)


def _interval(cursor: Cursor) -> ColumnType:
    words = ["interval"]
    while cursor.word() in _INTERVAL_FIELDS:
        words.append(cursor.next().text)
    numbers = _numbers(cursor)
    return ColumnType(" ".join(words) + _written(numbers), kinds.IntervalType("us"))


def _written(numbers: list[int]) -> str:
    return f"({','.join(map(str, numbers))})" if numbers else ""


def _numbers(cursor: Cursor) -> list[int]:
    """Read ``(n)``, ``(n, m)`` where it is; of a type that has other parameters, move past them."""
    if not cursor.is_sign("("):
        return []
    found = []
    for part in cursor.parenthesised().split(","):
        digits = part.strip()
        if not digits.lstrip("-").isdecimal() or len(digits) > 9:
            return []
        found.append(int(digits))
    return found


def enum_type(source: str, labels: tuple[str, ...]) -> UserType:
    """Return the type of an ENUM, whose values are sent as labels."""
    return UserType(ColumnType(source, kinds.EnumType(labels, "label")))


def unknown_type(source: str) -> UserType:
    """Return a type whose values are not known here."""
    return UserType(ColumnType(source, kinds.UnknownType()))


def range_type(source: str) -> UserType:
    """Return a type of ranges, whose values are sent as text."""
    return UserType(ColumnType(source, _TEXT))


def with_label(old: UserType, label: str, place: int | None) -> UserType:
    """Return an ENUM with one more label. ``place``: None for the end."""
    kind = old.type.kind
    if not isinstance(kind, kinds.EnumType) or kind.labels is None:
        return old
    labels = list(kind.labels)
    labels.insert(len(labels) if place is None else place, label)
    return replace(old, type=replace(old.type, kind=replace(kind, labels=tuple(labels))))
