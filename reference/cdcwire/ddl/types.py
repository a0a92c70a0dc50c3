"""MySQL's column types as a DDL writes them: their own names, and the kinds of the model.

The ``source`` of a column is what MySQL itself would print: ``INT8`` is ``bigint``, ``BOOLEAN`` is
``tinyint(1)``, ``CHAR(3) CHARACTER SET binary`` is ``binary(3)``. ``tinyint(1)`` is a ``bool``:
only a DDL shows this. Spatial types are known, and their values are not: no format here has any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from cdcwire.ddl.tokens import Cursor, Token
from cdcwire.model.kinds import (
    BitType,
    BoolType,
    BytesType,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntBits,
    IntType,
    JsonType,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    VectorType,
    YearType,
)


@dataclass(frozen=True, slots=True)
class ColumnType:
    """``character_set``: the one that the column names itself.

    ``is_serial``: SERIAL, which is also NOT NULL, AUTO_INCREMENT and UNIQUE.
    """

    source: str
    kind: Type
    character_set: str | None = None
    is_serial: bool = False


_ALIASES: tuple[tuple[str, str], ...] = (  # the longest first
    ("NATIONAL CHARACTER VARYING", "varchar"),
    ("NATIONAL CHAR VARYING", "varchar"),
    ("NATIONAL CHARACTER", "char"),
    ("NATIONAL CHAR", "char"),
    ("NATIONAL VARCHARACTER", "varchar"),
    ("NATIONAL VARCHAR", "varchar"),
    ("NCHAR VARYING", "varchar"),
    ("NCHAR VARCHAR", "varchar"),
    ("CHARACTER VARYING", "varchar"),
    ("CHAR VARYING", "varchar"),
    ("CHAR BYTE", "binary"),
    ("DOUBLE PRECISION", "double"),
    ("LONG CHARACTER VARYING", "mediumtext"),
    ("LONG CHAR VARYING", "mediumtext"),
    ("LONG VARBINARY", "mediumblob"),
    ("LONG VARCHARACTER", "mediumtext"),
    ("LONG VARCHAR", "mediumtext"),
    ("LONG", "mediumtext"),
    ("CHARACTER", "char"),
    ("VARCHARACTER", "varchar"),
    ("NVARCHAR", "varchar"),
    ("NCHAR", "char"),
    ("DEC", "decimal"),
    ("FIXED", "decimal"),
    ("NUMERIC", "decimal"),
    ("REAL", "double"),
    ("FLOAT4", "float"),
    ("FLOAT8", "double"),
    ("INTEGER", "int"),
    ("INT1", "tinyint"),
    ("INT2", "smallint"),
    ("INT3", "mediumint"),
    ("INT4", "int"),
    ("INT8", "bigint"),
    ("MIDDLEINT", "mediumint"),
    ("GEOMCOLLECTION", "geometrycollection"),
)
_INT_BITS: dict[str, IntBits] = {
    "tinyint": 8,
    "smallint": 16,
    "mediumint": 24,
    "int": 32,
    "bigint": 64,
}
_PLAIN: dict[str, Type] = {
    "date": DateType(),
    "json": JsonType(),
    **dict.fromkeys(("uuid", "inet4", "inet6"), TextType()),  # of MariaDB
    **{
        name: UnknownType()
        for name in (
            *("geometry", "point", "linestring", "polygon", "geometrycollection"),
            *("multipoint", "multilinestring", "multipolygon"),
        )
    },
}
_BINARY_OF = {
    "char": "binary",
    "varchar": "varbinary",
    "tinytext": "tinyblob",
    "text": "blob",
    "mediumtext": "mediumblob",
    "longtext": "longblob",
}
_TEXTS = frozenset(_BINARY_OF)
_LARGE = frozenset({"tinytext", "text", "mediumtext", "longtext"})
_BLOBS = frozenset({"tinyblob", "blob", "mediumblob", "longblob"})
_LARGE_SIZES = (("tiny", 1 << 8), ("", 1 << 16), ("medium", 1 << 24), ("long", 1 << 32))
_BYTES_PER_CHARACTER = {"latin1": 1, "ascii": 1, "ucs2": 2, "utf8": 3, "utf8mb3": 3, "gbk": 2}
_MAX_BYTES = 65535
_MAX_FRACTION = 6
_MAX_SET_LABELS = 64
_MAX_VECTOR = 16383


def read_type(cursor: Cursor) -> ColumnType:
    """Read a column's type with its length, sign and character set.

    Raises: DdlError for a word that is not a type of MySQL or TiDB, and for a length out of range.
    """
    begin = cursor.token
    name = _type_name(cursor)
    if name in ("bool", "boolean"):
        return ColumnType("tinyint(1)", BoolType())
    if name == "serial":
        return ColumnType("bigint unsigned", IntType(64, True), is_serial=True)
    if name in _INT_BITS:
        return _integer(cursor, name, begin)
    reader = _READERS.get(name)
    if reader is not None:
        return reader(cursor, name, begin)
    if name in _PLAIN:
        return ColumnType(name, _PLAIN[name])
    raise cursor.error(f"{begin.text!r:.60} is not a type of MySQL", begin)


def _type_name(cursor: Cursor) -> str:
    if cursor.token.kind != "word":
        raise cursor.unexpected("a type")
    for words, name in _ALIASES:
        if cursor.skip(*words.split()):
            return name
    return cursor.next().text.lower()


def _integer(cursor: Cursor, name: str, begin: Token) -> ColumnType:
    width = _lengths(cursor, 1)
    attributes = _sign(cursor)
    if name == "tinyint" and width == [1] and not attributes:
        return ColumnType("tinyint(1)", BoolType())
    kind = IntType(_INT_BITS[name], "unsigned" in attributes)
    return ColumnType(_written(name, width) + attributes, kind)


def _float(cursor: Cursor, name: str, begin: Token) -> ColumnType:
    digits = _lengths(cursor, 2)
    attributes = _sign(cursor)
    if name == "float" and len(digits) == 1:  # FLOAT(p) says only which of the two it is
        if digits[0] > 53:
            raise cursor.error(f"a float has up to 53 bits, not {digits[0]}", begin)
        name, digits = ("double" if digits[0] > 24 else "float"), []
    return ColumnType(_written(name, digits) + attributes, FloatType(32 if name == "float" else 64))


def _decimal(cursor: Cursor, name: str, begin: Token) -> ColumnType:
    digits = _lengths(cursor, 2)
    precision, scale = (*digits, *(10, 0)[len(digits) :])
    if not 1 <= precision <= 65 or not scale <= min(precision, 30):
        raise cursor.error(f"a decimal can't have ({precision},{scale})", begin)
    source = f"decimal({precision},{scale})" + _sign(cursor)
    return ColumnType(source, DecimalType(precision, scale))


def _text(cursor: Cursor, name: str, begin: Token) -> ColumnType:
    length = _lengths(cursor, 1)
    character_set = read_character_set(cursor)
    if character_set == "binary":
        return _bytes_of(cursor, _BINARY_OF[name], length, begin)
    if name in _LARGE:
        if length and name == "text":
            size = length[0] * _BYTES_PER_CHARACTER.get(character_set or "", 4)
            name = _large_name(cursor, "text", size, begin)
        return ColumnType(name, TextType(), character_set)
    if name == "varchar" and not length:
        raise cursor.error("a varchar needs its length", begin)
    number = length[0] if length else 1
    if number > (255 if name == "char" else _MAX_BYTES):
        raise cursor.error(f"a {name} can't have {number} characters", begin)
    return ColumnType(f"{name}({number})", TextType(number), character_set)


def _bytes(cursor: Cursor, name: str, begin: Token) -> ColumnType:
    return _bytes_of(cursor, name, _lengths(cursor, 1), begin)


def _bytes_of(cursor: Cursor, name: str, length: list[int], begin: Token) -> ColumnType:
    if name in _BLOBS:
        if length and name == "blob":
            name = _large_name(cursor, "blob", length[0], begin)
        return ColumnType(name, BytesType())
    if name == "varbinary" and not length:
        raise cursor.error("a varbinary needs its length", begin)
    number = length[0] if length else 1
    if number > (255 if name == "binary" else _MAX_BYTES):
        raise cursor.error(f"a {name} can't have {number} bytes", begin)
    return ColumnType(f"{name}({number})", BytesType(number))


def _large_name(cursor: Cursor, name: str, size: int, begin: Token) -> str:
    """Return the smallest TEXT or BLOB for a number of bytes; unknown character sets count as 4."""
    for prefix, limit in _LARGE_SIZES:
        if size < limit:
            return prefix + name
    raise cursor.error(f"a {name} can't have {size} bytes", begin)


def _temporal(cursor: Cursor, name: str, begin: Token) -> ColumnType:
    digits = _lengths(cursor, 1)
    fraction = digits[0] if digits else 0
    if fraction > _MAX_FRACTION:
        raise cursor.error(f"a {name} has up to 6 digits of a second, not {fraction}", begin)
    kinds: dict[str, Type] = {
        "time": TimeType(fraction),
        "datetime": DatetimeType(fraction),
        "timestamp": TimestampType(fraction),
    }
    return ColumnType(f"{name}({fraction})" if fraction else name, kinds[name])


def _year(cursor: Cursor, name: str, begin: Token) -> ColumnType:
    width = _lengths(cursor, 1)
    if width not in ([], [4]):
        raise cursor.error("a year has 4 digits", begin)
    _sign(cursor)
    return ColumnType("year", YearType())


def _bit(cursor: Cursor, name: str, begin: Token) -> ColumnType:
    width = _lengths(cursor, 1) or [1]
    if not 1 <= width[0] <= 64:
        raise cursor.error(f"a bit column has 1 to 64 bits, not {width[0]}", begin)
    return ColumnType(f"bit({width[0]})", BitType(width[0]))


def _vector(cursor: Cursor, name: str, begin: Token) -> ColumnType:
    if cursor.skip("<"):  # VECTOR<FLOAT>
        cursor.expect("FLOAT")
        cursor.expect(">")
    size = _lengths(cursor, 1)
    if size and not 1 <= size[0] <= _MAX_VECTOR:
        raise cursor.error(f"a vector has 1 to {_MAX_VECTOR} numbers, not {size[0]}", begin)
    return ColumnType(_written(name, size), VectorType())


def _labelled(cursor: Cursor, name: str, begin: Token) -> ColumnType:
    labels: dict[str, None] = {}
    cursor.expect("(")
    while True:
        token = cursor.token
        label = cursor.string("a label in quotes").rstrip(" ")  # as MySQL keeps it
        if label in labels:
            raise cursor.error(f"the label {label!r:.60} is duplicated", token)
        if name == "set" and "," in label:
            raise cursor.error(f"a label of a set can't have a comma: {label!r:.60}", token)
        labels[label] = None
        if not cursor.skip(","):
            break
    cursor.expect(")")
    if name == "set" and len(labels) > _MAX_SET_LABELS:
        raise cursor.error(f"a set has up to {_MAX_SET_LABELS} labels, not {len(labels)}", begin)
    read_character_set(cursor)
    quoted = ",".join("'" + label.replace("'", "''") + "'" for label in labels)
    kind = EnumType(tuple(labels)) if name == "enum" else SetType(tuple(labels))
    return ColumnType(f"{name}({quoted})", kind)


def read_character_set(cursor: Cursor) -> str | None:
    """Read CHARACTER SET, CHARSET, ASCII, UNICODE, BINARY and COLLATE. Returns: the set's name."""
    found: str | None = None
    while True:
        if cursor.skip("CHARACTER", "SET") or cursor.skip("CHARSET") or cursor.skip("CHAR", "SET"):
            found = _set_name(cursor)
        elif cursor.skip("COLLATE"):
            collation = _set_name(cursor)
            found = found or ("binary" if collation == "binary" else None)
        elif cursor.skip("ASCII"):
            found = "latin1"
        elif cursor.skip("UNICODE"):
            found = "ucs2"
        elif not cursor.skip("BINARY"):  # the set's binary collation; it stays text
            return found


def _set_name(cursor: Cursor) -> str:
    if cursor.token.kind == "text":
        return cursor.next().text.lower()
    return cursor.name("the name of a character set").lower()


def _lengths(cursor: Cursor, most: int) -> list[int]:
    """Read ``(n)`` or ``(n, m)`` where it is."""
    if not cursor.skip("("):
        return []
    found = [cursor.number("a length")]
    while len(found) < most and cursor.skip(","):
        found.append(cursor.number("a length"))
    cursor.expect(")")
    return found


def _sign(cursor: Cursor) -> str:
    is_unsigned = is_zerofill = False
    while True:
        if cursor.skip("UNSIGNED"):
            is_unsigned = True
        elif cursor.skip("ZEROFILL"):
            is_zerofill = True
        elif not cursor.skip("SIGNED"):
            break
    words = " unsigned" if is_unsigned or is_zerofill else ""  # ZEROFILL makes it unsigned
    return words + (" zerofill" if is_zerofill else "")


def _written(name: str, lengths: list[int]) -> str:
    return f"{name}({','.join(map(str, lengths))})" if lengths else name


_Reader: TypeAlias = Callable[[Cursor, str, Token], ColumnType]
_READERS: dict[str, _Reader] = {
    "float": _float,
    "double": _float,
    "decimal": _decimal,
    "year": _year,
    "bit": _bit,
    "vector": _vector,
    "enum": _labelled,
    "set": _labelled,
    **dict.fromkeys(_TEXTS, _text),
    **dict.fromkeys(("binary", "varbinary", *_BLOBS), _bytes),
    **dict.fromkeys(("time", "datetime", "timestamp"), _temporal),
}


def under_character_set(found: ColumnType, character_set: str | None) -> ColumnType:
    """Return a type as it is in a table of this character set; ``binary`` makes texts bytes."""
    kind = found.kind
    if character_set != "binary" or found.character_set or not isinstance(kind, TextType):
        return found
    word, parenthesis, rest = found.source.partition("(")
    source = _BINARY_OF[word] + parenthesis + rest
    return replace(found, source=source, kind=BytesType(kind.length))
