"""MySQL's type codes, TiCDC's column flags and TiDB's DDL codes, to and from the neutral model.

Craft and Open Protocol describe a column by one type code and one set of flags. Its kind, its
``source`` name (``varchar``, ``int unsigned``) and its roles follow from them. On the way back,
``source`` gives the code where it is known; else it is that of the plainest type of the kind.

Flag bits above 7 are undefined. They are kept by the wire layers and have no place in the model.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cdcwire.core.errors import EncodeError
from cdcwire.model import kinds
from cdcwire.model.events import SchemaChangeKind
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column, Role

TYPE_UNSPECIFIED = 0
TYPE_TINY = 1
TYPE_SHORT = 2
TYPE_LONG = 3
TYPE_FLOAT = 4
TYPE_DOUBLE = 5
TYPE_NULL = 6
TYPE_TIMESTAMP = 7
TYPE_LONGLONG = 8
TYPE_INT24 = 9
TYPE_DATE = 10
TYPE_DURATION = 11
TYPE_DATETIME = 12
TYPE_YEAR = 13
TYPE_NEWDATE = 14
TYPE_VARCHAR = 15
TYPE_BIT = 16
TYPE_VECTOR = 225
TYPE_JSON = 245
TYPE_NEWDECIMAL = 246
TYPE_ENUM = 247
TYPE_SET = 248
TYPE_TINY_BLOB = 249
TYPE_MEDIUM_BLOB = 250
TYPE_LONG_BLOB = 251
TYPE_BLOB = 252
TYPE_VAR_STRING = 253
TYPE_STRING = 254
TYPE_GEOMETRY = 255

FLAG_BINARY = 1 << 0  # bit 0: character set binary, which every type but text, enum and set has;
# these have it where their own character set is binary
FLAG_HANDLE_KEY = 1 << 1
FLAG_GENERATED = 1 << 2
FLAG_PRIMARY_KEY = 1 << 3
FLAG_UNIQUE_KEY = 1 << 4
FLAG_MULTIPLE_KEY = 1 << 5
FLAG_NULLABLE = 1 << 6
FLAG_UNSIGNED = 1 << 7  # bit 7: always set on BIT and YEAR
_FLAG_NAMES = (  # by bit
    "binary",
    "handle key",
    "generated",
    "primary key",
    "unique key",
    "multiple key",
    "nullable",
    "unsigned",
)

INTEGER_TYPES = frozenset({TYPE_TINY, TYPE_SHORT, TYPE_INT24, TYPE_LONG, TYPE_LONGLONG})
UNSIGNED_TYPES = frozenset({TYPE_BIT, TYPE_ENUM, TYPE_SET})
TEXT_TYPES = frozenset(
    {
        TYPE_TIMESTAMP,
        TYPE_DATE,
        TYPE_DURATION,
        TYPE_DATETIME,
        TYPE_NEWDATE,
        TYPE_JSON,
        TYPE_NEWDECIMAL,
    }
)
STRING_TYPES = frozenset(
    {
        TYPE_VARCHAR,
        TYPE_VAR_STRING,
        TYPE_STRING,
        TYPE_TINY_BLOB,
        TYPE_MEDIUM_BLOB,
        TYPE_LONG_BLOB,
        TYPE_BLOB,
    }
)
LARGE_STRING_TYPES = frozenset({TYPE_TINY_BLOB, TYPE_MEDIUM_BLOB, TYPE_LONG_BLOB, TYPE_BLOB})

_ROLE_FLAGS: tuple[tuple[int, Role], ...] = (
    (FLAG_HANDLE_KEY, "handle"),
    (FLAG_GENERATED, "generated"),
    (FLAG_PRIMARY_KEY, "primary"),
    (FLAG_UNIQUE_KEY, "unique"),
    (FLAG_MULTIPLE_KEY, "multiple"),
)

# code: (source name, kind) of the types whose kind follows from the code alone
_PLAIN: dict[int, tuple[str, kinds.Type]] = {
    TYPE_UNSPECIFIED: ("unspecified", kinds.UnknownType()),
    TYPE_FLOAT: ("float", kinds.FloatType(32)),
    TYPE_DOUBLE: ("double", kinds.FloatType(64)),
    TYPE_NULL: ("null", kinds.UnknownType()),
    TYPE_DATE: ("date", kinds.DateType()),
    TYPE_DURATION: ("time", kinds.TimeType()),
    TYPE_DATETIME: ("datetime", kinds.DatetimeType()),
    TYPE_YEAR: ("year", kinds.YearType()),
    TYPE_NEWDATE: ("newdate", kinds.DateType()),
    TYPE_BIT: ("bit", kinds.BitType()),
    TYPE_VECTOR: ("vector", kinds.VectorType()),
    TYPE_JSON: ("json", kinds.JsonType()),
    TYPE_NEWDECIMAL: ("decimal", kinds.DecimalType()),
    TYPE_ENUM: ("enum", kinds.EnumType()),
    TYPE_SET: ("set", kinds.SetType()),
    TYPE_GEOMETRY: ("geometry", kinds.UnknownType()),
}
_INTEGERS: dict[int, tuple[str, kinds.IntType, kinds.IntType]] = {
    TYPE_TINY: ("tinyint", kinds.IntType(8), kinds.IntType(8, True)),
    TYPE_SHORT: ("smallint", kinds.IntType(16), kinds.IntType(16, True)),
    TYPE_INT24: ("mediumint", kinds.IntType(24), kinds.IntType(24, True)),
    TYPE_LONG: ("int", kinds.IntType(32), kinds.IntType(32, True)),
    TYPE_LONGLONG: ("bigint", kinds.IntType(64), kinds.IntType(64, True)),
}
# code: (name of the text type, name of the binary type)
_STRINGS: dict[int, tuple[str, str]] = {
    TYPE_VARCHAR: ("varchar", "varbinary"),
    TYPE_VAR_STRING: ("var_string", "var_string binary"),
    TYPE_STRING: ("char", "binary"),
    TYPE_TINY_BLOB: ("tinytext", "tinyblob"),
    TYPE_MEDIUM_BLOB: ("mediumtext", "mediumblob"),
    TYPE_LONG_BLOB: ("longtext", "longblob"),
    TYPE_BLOB: ("text", "blob"),
}
_CODES: dict[str, int] = {
    **{name: code for code, (name, _) in _PLAIN.items()},
    **{name: code for code, (name, _, _) in _INTEGERS.items()},
    **{names[0]: code for code, names in _STRINGS.items()},
    **{names[1]: code for code, names in _STRINGS.items()},
    "timestamp": TYPE_TIMESTAMP,
    "boolean": TYPE_TINY,
    "bool": TYPE_TINY,
    "integer": TYPE_LONG,
    "double precision": TYPE_DOUBLE,
    "real": TYPE_DOUBLE,
    "numeric": TYPE_NEWDECIMAL,
    "dec": TYPE_NEWDECIMAL,
    "character": TYPE_STRING,
    "character varying": TYPE_VARCHAR,
    "nchar": TYPE_STRING,
    "national char": TYPE_STRING,
    "national character": TYPE_STRING,
    **dict.fromkeys(
        (
            *("nvarchar", "varcharacter", "char varying", "nchar varchar", "nchar varying"),
            *("national varchar", "national varcharacter", "national char varying"),
            "national character varying",
        ),
        TYPE_VARCHAR,
    ),
    **dict.fromkeys(
        (
            *("long", "long varchar", "long varcharacter", "long varbinary"),
            *("long char varying", "long character varying"),
        ),
        TYPE_MEDIUM_BLOB,
    ),
}
# Numbers that are not integers: their sign is not in their kind, so ``source`` has it.
_SIGNED_NUMBERS = frozenset({TYPE_FLOAT, TYPE_DOUBLE, TYPE_NEWDECIMAL})
_LABELLED = frozenset({TYPE_ENUM, TYPE_SET})
_OF_BINARY_LABELS = " character set binary"
_UNSIGNED_SOURCE = re.compile(r"\b(?:unsigned|zerofill)\b", re.IGNORECASE)
# Behind the elements of an ENUM or a SET, which may be any text.
_BINARY_SOURCE = re.compile(
    r"\b(?:byte|(?:charset|char(?:acter)?\s+set)[\s=]+'?binary)\b[^')]*$", re.IGNORECASE
)
# Lengths and attributes after the type's name (``(20) unsigned``) are dropped here.
_SOURCE = re.compile(r"\s*([a-z_]+(?:\s+[a-z]+){0,2})", re.IGNORECASE)
_BOOL_SOURCE = re.compile(r"\s*(?:bool|boolean|tinyint\s*\(\s*1\s*\))\s*$", re.IGNORECASE)


@lru_cache(maxsize=4096)
def column_of(name: str, code: int, flags: int, time_zone: str | None = None) -> Column:
    """Return the neutral column of a type code and flags.

    ``time_zone`` is the zone of TIMESTAMP texts, where the producer's settings specify it.
    """
    source, kind = _source_and_kind(code, flags, time_zone)
    roles: frozenset[Role] = frozenset(role for flag, role in _ROLE_FLAGS if flags & flag)
    return Column(name, kind, source, bool(flags & FLAG_NULLABLE), roles=roles)


def _source_and_kind(code: int, flags: int, time_zone: str | None) -> tuple[str, kinds.Type]:
    if code in _INTEGERS:
        name, signed, unsigned = _INTEGERS[code]
        return (f"{name} unsigned", unsigned) if flags & FLAG_UNSIGNED else (name, signed)
    if code in _STRINGS:
        text, binary = _STRINGS[code]
        return (binary, kinds.BytesType()) if flags & FLAG_BINARY else (text, kinds.TextType())
    if code == TYPE_TIMESTAMP:
        return "timestamp", kinds.TimestampType(zone=time_zone)
    name, kind = _PLAIN.get(code, (f"type {code}", kinds.UnknownType()))
    if code in _SIGNED_NUMBERS and flags & FLAG_UNSIGNED:
        name += " unsigned"
    elif code in _LABELLED and flags & FLAG_BINARY:
        name += _OF_BINARY_LABELS
    return name, kind


@lru_cache(maxsize=4096)
def code_and_flags(column: Column, clause: str) -> tuple[int, int]:
    """Return the type code and the flags that TiCDC gives a column.

    Raises: EncodeError for kinds that MySQL does not have.
    """
    named = _code_of_source(column) if column.source else None
    code = _plainest_code(column.type, clause) if named is None else named
    source = column.source or "" if named is not None else ""
    flags = sum(flag for flag, role in _ROLE_FLAGS if role in column.roles)
    is_key = bool(column.roles & {"primary", "handle"})
    if column.nullable or (column.nullable is None and not is_key):
        flags |= FLAG_NULLABLE
    if _needs_unsigned_flag(code, column.type, source):
        flags |= FLAG_UNSIGNED
    if code in _LABELLED:
        flags |= FLAG_BINARY if _BINARY_SOURCE.search(source) else 0
    elif not isinstance(column.type, kinds.TextType):
        flags |= FLAG_BINARY
    return code, flags


def _needs_unsigned_flag(code: int, kind: kinds.Type, source: str) -> bool:
    if code in _SIGNED_NUMBERS:
        return _UNSIGNED_SOURCE.search(source) is not None
    return code in (TYPE_YEAR, TYPE_BIT) or (isinstance(kind, kinds.IntType) and kind.unsigned)


def _code_of_source(column: Column) -> int | None:
    """Return the code that ``source`` names, if it is one that can hold the column's kind."""
    source = column.source or ""
    numbered = re.fullmatch(r"type (\d{1,3})", source)
    found = _SOURCE.match(source)
    if numbered:
        code: int | None = int(numbered.group(1))
    elif found is None:
        return None
    else:
        words = found.group(1).lower().split()  # the longest name that begins so
        names = (" ".join(words[:count]) for count in range(len(words), 0, -1))
        code = next((_CODES[name] for name in names if name in _CODES), None)
    return code if code is not None and _holds(code, column.type) else None


def _holds(code: int, kind: kinds.Type) -> bool:
    match kind:
        case kinds.BoolType():
            return code == TYPE_TINY
        case kinds.IntType():
            return code in INTEGER_TYPES
        case kinds.TextType() | kinds.BytesType():
            return code in STRING_TYPES
        case kinds.TimestampType():
            return code == TYPE_TIMESTAMP
        case kinds.UnknownType():
            return code not in _INTEGERS and code not in _STRINGS
        case _:
            plain = _PLAIN.get(code)
            return (
                plain is not None
                and type(plain[1]) is type(kind)
                and (not isinstance(kind, kinds.FloatType) or plain[1] == kind)
            )


def is_boolean_source(source: str | None) -> bool:
    """Return whether a source type is MySQL's spelling of a boolean: BOOL or TINYINT(1)."""
    return source is not None and _BOOL_SOURCE.match(source) is not None


def is_unsigned(code: int, flags: int) -> bool:
    """Return whether a value is unsigned. A YEAR is signed, although TiDB flags it as unsigned."""
    return code in UNSIGNED_TYPES or (code in INTEGER_TYPES and bool(flags & FLAG_UNSIGNED))


def flag_names(flags: int) -> str:
    """Return the names of a column's flags, for people."""
    bits = (bit for bit in range(flags.bit_length()) if flags >> bit & 1)
    return ", ".join(_FLAG_NAMES[bit] if bit < len(_FLAG_NAMES) else f"bit {bit}" for bit in bits)


def _plainest_code(kind: kinds.Type, clause: str) -> int:
    match kind:
        case kinds.BoolType():
            return TYPE_TINY
        case kinds.IntType(bits):
            return {8: TYPE_TINY, 16: TYPE_SHORT, 24: TYPE_INT24, 32: TYPE_LONG, 64: TYPE_LONGLONG}[
                bits
            ]
        case kinds.FloatType(bits):
            return TYPE_FLOAT if bits == 32 else TYPE_DOUBLE
        case kinds.DecimalType():
            return TYPE_NEWDECIMAL
        case kinds.TextType() | kinds.BytesType():
            return TYPE_VARCHAR
        case kinds.BitType():
            return TYPE_BIT
        case kinds.DateType():
            return TYPE_DATE
        case kinds.TimeType():
            return TYPE_DURATION
        case kinds.DatetimeType():
            return TYPE_DATETIME
        case kinds.TimestampType():
            return TYPE_TIMESTAMP
        case kinds.YearType():
            return TYPE_YEAR
        case kinds.EnumType():
            return TYPE_ENUM
        case kinds.SetType():
            return TYPE_SET
        case kinds.JsonType():
            return TYPE_JSON
        case kinds.VectorType():
            return TYPE_VECTOR
        case kinds.UnknownType():
            return TYPE_NULL
        case kinds.IntervalType() | kinds.ArrayType() | kinds.MapType() | kinds.StructType():
            raise EncodeError(f"MySQL has no type for {kind_text(kind)}", clause)


# TiDB's list of DDL actions, as TiCDC's Canal-JSON groups it.
_CODES_BY_KIND: dict[SchemaChangeKind, tuple[int, ...]] = {
    "create": (3,),
    "rename": (14, 47),
    "cindex": (7, 9, 32),
    "dindex": (8, 10, 33),
    "erase": (4,),
    "truncate": (11,),
    "alter": (5, 6, 12, 13, 15, 17, 18, 19, 20, 22, 23, 37, 38, 41, 61, 64, 71, 72),
}
_KIND_BY_CODE: dict[int, SchemaChangeKind] = {
    code: kind for kind, codes in _CODES_BY_KIND.items() for code in codes
}


def schema_change_kind(code: int) -> SchemaChangeKind:
    """Return the neutral kind of a DDL code; "query" for every code that no other kind names."""
    return _KIND_BY_CODE.get(code, "query")
