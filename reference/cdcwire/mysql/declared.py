"""MySQL column types as they are declared: name, length, scale, sign and elements.

The storage formats describe a column by its declared type: schema files by name, precision and
scale, Canal-JSON by ``mysqlType``. ``parse_declared`` reads any spelling of one, ``declared_type``
finds that of a neutral column, ``type_of_declared`` goes back to the kind.

Parts that a declaration leaves open are filled with TiDB's defaults: ``int`` is ``int(11)``. The
name alone decides if a string is text or bytes: ``CHAR(3) CHARACTER SET binary`` is ``binary``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from cdcwire.core.errors import EncodeError
from cdcwire.model import kinds
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column


@dataclass(frozen=True, slots=True)
class DeclaredType:
    """A declared MySQL type.

    ``base`` is the lower case name that MySQL itself would print: ``bigint``, ``tinyblob``,
    ``decimal``; a boolean is ``tinyint`` with ``flen`` 1. ``decimal`` is the scale, or for times
    the digits of a second. ``flen`` and ``decimal``: None where the type has none or the
    declaration does not give it.
    """

    base: str
    flen: int | None = None
    decimal: int | None = None
    is_unsigned: bool = False
    is_zerofill: bool = False
    elements: tuple[str, ...] | None = None


INTEGER_BITS: dict[str, kinds.IntBits] = {
    "tinyint": 8,
    "smallint": 16,
    "mediumint": 24,
    "int": 32,
    "bigint": 64,
}
SIGNED_WIDTHS = {"tinyint": 4, "smallint": 6, "mediumint": 9, "int": 11, "bigint": 20}
UNSIGNED_WIDTHS = {"tinyint": 3, "smallint": 5, "mediumint": 8, "int": 10, "bigint": 20}
LARGE_SIZES = {
    "tinytext": 255,
    "text": 65535,
    "mediumtext": 16777215,
    "longtext": 4294967295,
    "tinyblob": 255,
    "blob": 65535,
    "mediumblob": 16777215,
    "longblob": 4294967295,
}
TEXT_NAMES = frozenset({"char", "varchar", "tinytext", "text", "mediumtext", "longtext"})
BINARY_NAMES = frozenset({"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"})
TEMPORAL_NAMES = frozenset({"time", "datetime", "timestamp"})


def parse_declared(text: str, with_defaults: bool = True) -> DeclaredType:
    r"""Return the type that ``text`` declares, in any spelling that MySQL or TiDB take or print.

    Shape: name, ``(numbers)`` or ``(elements)``, then attributes and a character set. In elements
    a doubled quote, ``\n``, ``\r`` and ``\0`` are escapes, and other backslashes are themselves.
    ``with_defaults``: fill in what is left open. Canal-JSON's short ``mysqlType`` leaves all open.
    Raises: ValueError when it is not such a type.
    Source: choice; the grammar of MySQL's DDL, cut down to what says something about values.
    """
    return _cached(text, with_defaults) if len(text) <= _MAX_CACHED else _parse(text, with_defaults)


def filled(declared: DeclaredType) -> DeclaredType:
    """Return the type with TiDB's defaults for what is left open.

    The length of VARCHAR and VARBINARY has no default: a DDL must say it. Digits of a second stay
    open too, since a short ``datetime`` may have some.
    Source: storage, "schema columns".
    """
    base, flen = declared.base, declared.flen
    if base == "decimal":
        return replace(
            declared,
            flen=10 if flen is None else flen,
            decimal=0 if declared.decimal is None else declared.decimal,
        )
    if flen is not None:
        return declared
    if base in INTEGER_BITS:
        widths = UNSIGNED_WIDTHS if declared.is_unsigned else SIGNED_WIDTHS
        return replace(declared, flen=widths[base])
    default = _DEFAULT_LENGTHS.get(base, LARGE_SIZES.get(base))
    return declared if default is None else replace(declared, flen=default)


@lru_cache(maxsize=4096)
def declared_type(column: Column, clause: str) -> DeclaredType:
    """Return the declared type of a column, with TiDB's defaults.

    ``source`` gives it where it names a MySQL type that can hold the column's kind. The kind adds
    the parts that the source leaves open, and its labels count before those of the source. Without
    such a source it is the plainest type of the kind.
    Raises: EncodeError for kinds that MySQL does not have.
    """
    plain = _plainest(column.type, clause)
    declared = _of_source(column)
    if declared is None:
        return filled(plain)
    if declared.flen is None and declared.decimal is None and declared.base not in LARGE_SIZES:
        declared = replace(declared, flen=plain.flen, decimal=plain.decimal)
    elements = plain.elements if plain.elements is not None else declared.elements
    return filled(replace(declared, elements=elements))


def type_of_declared(declared: DeclaredType, time_zone: str | None = None) -> kinds.Type:
    """Return the kind of a declared type; ``UnknownType`` where MySQL's values are not known.

    ``time_zone``: the zone of TIMESTAMP texts, where the producer's settings specify it.
    """
    base, flen = declared.base, declared.flen
    if base in INTEGER_BITS:
        return kinds.IntType(INTEGER_BITS[base], declared.is_unsigned)
    if base in LARGE_SIZES:
        return kinds.TextType() if base in TEXT_NAMES else kinds.BytesType()
    match base:
        case "float" | "double":
            return kinds.FloatType(32 if base == "float" else 64)
        case "decimal":
            return (
                kinds.DecimalType()
                if flen is None
                else kinds.DecimalType(flen, declared.decimal or 0)
            )
        case "char" | "varchar":
            return kinds.TextType(flen)
        case "binary" | "varbinary":
            return kinds.BytesType(flen)
        case "bit":
            return kinds.BitType(flen)
        case "time":
            return kinds.TimeType(declared.decimal)
        case "datetime":
            return kinds.DatetimeType(declared.decimal)
        case "timestamp":
            return kinds.TimestampType(declared.decimal, zone=time_zone)
        case "enum":
            return kinds.EnumType(declared.elements)
        case "set":
            return kinds.SetType(declared.elements)
        case _:
            return _PLAIN.get(base, kinds.UnknownType())


def quoted_elements(elements: Iterable[str]) -> str:
    """Return elements as TiDB prints them: ``('a','it''s')``.

    Raises: ValueError for a backslash that would be read back as an escape.
    Source: TiDB, ``format.OutputFormat``, which escapes a quote, LF, CR and NUL but no backslash.
    """
    found = tuple(elements)
    for element in found:
        if _ESCAPE.search(element):
            problem = "has a backslash before n, r or 0, which reads back as an escape"
            raise ValueError(f"element {element!r:.40} {problem}")
    return _quoted(found)


def _quoted(elements: Iterable[str]) -> str:
    return "('" + "','".join(element.translate(_ESCAPES) for element in elements) + "')"


def declared_text(declared: DeclaredType) -> str:
    """Return the type as TiDB would print it: ``decimal(10,4)``, ``int(10) unsigned``.

    Read back it is the same value, with two exceptions. Zero digits of a second are not written. A
    backslash before n, r or 0 in an element is read back as an escape.
    """
    text = declared.base
    if declared.elements is not None:
        text += _quoted(declared.elements)
    elif declared.base in TEMPORAL_NAMES:
        text += f"({declared.decimal})" if declared.decimal else ""
    elif declared.flen is not None and declared.base not in LARGE_SIZES:
        scale = "" if declared.decimal is None else f",{declared.decimal}"
        # FLOAT(p) would only say which of the two floats it is.
        if scale or declared.flen != _FLOAT_WIDTHS.get(declared.base):
            text += f"({declared.flen}{scale})"
    text += " unsigned" if declared.is_unsigned else ""
    return text + (" zerofill" if declared.is_zerofill else "")


_MAX_CACHED = 1024
_MAX_NAME_WORDS = 3
_MAX_LENGTH = 1 << 20  # an ENUM of 65535 elements has its place, a file of gigabytes has not
_NAME = re.compile(r"\s*([a-z][a-z0-9_]*(?:\s+[a-z]+)*)", re.IGNORECASE | re.ASCII)
_NUMBERS = re.compile(r"\s*\(\s*([0-9]{1,10})\s*(?:,\s*([0-9]{1,10})\s*)?\)", re.ASCII)
_ELEMENT = re.compile(r"\s*(?:'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\")\s*([,)])")
_ESCAPED = {"n": "\n", "r": "\r", "0": "\0"}
_ESCAPE = re.compile(r"\\([nr0])")
_ESCAPES = str.maketrans({"'": "''", **{text: f"\\{sign}" for sign, text in _ESCAPED.items()}})
_OPEN = re.compile(r"\s*\(")
_TOKEN = re.compile(
    r"\s*(?:([a-z0-9_]+)|=\s*['\"]?([a-z0-9_]+)['\"]?|['\"]([a-z0-9_]+)['\"])", re.I
)
_PLAIN_ATTRIBUTES = frozenset({"unsigned", "signed", "zerofill", "binary", "ascii", "unicode"})
_ALIASES = {
    "bool": "tinyint",
    "boolean": "tinyint",
    "int1": "tinyint",
    "int2": "smallint",
    "int3": "mediumint",
    "middleint": "mediumint",
    "int4": "int",
    "integer": "int",
    "int8": "bigint",
    "serial": "bigint",
    "float4": "float",
    "float8": "double",
    "double precision": "double",
    "real": "double",
    "dec": "decimal",
    "fixed": "decimal",
    "numeric": "decimal",
    "newdecimal": "decimal",
    "newdate": "date",
    "character": "char",
    "nchar": "char",
    "national char": "char",
    "national character": "char",
    "character varying": "varchar",
    "char varying": "varchar",
    "varcharacter": "varchar",
    "nvarchar": "varchar",
    "nchar varchar": "varchar",
    "nchar varying": "varchar",
    "national varchar": "varchar",
    "national varcharacter": "varchar",
    "national char varying": "varchar",
    "national character varying": "varchar",
    "var_string": "varchar",
    "var_string binary": "varbinary",
    "long": "mediumtext",
    "long varchar": "mediumtext",
    "long varcharacter": "mediumtext",
    "long char varying": "mediumtext",
    "long character varying": "mediumtext",
    "long varbinary": "mediumblob",
}
_PLAIN: dict[str, kinds.Type] = {
    "date": kinds.DateType(),
    "year": kinds.YearType(),
    "json": kinds.JsonType(),
    "vector": kinds.VectorType(),
}
# Types whose values no format here has: spatial ones, and codes 0 and 6.
_WITHOUT_VALUES = frozenset(
    {
        *("null", "unspecified", "geometry", "point", "linestring", "polygon"),
        *("geometrycollection", "geomcollection", "multipoint", "multilinestring", "multipolygon"),
    }
)
_LABELLED = frozenset({"enum", "set"})
_SIGNED_NAMES = frozenset({*INTEGER_BITS, "float", "double", "decimal"})
_NAMES = frozenset(
    {
        *_SIGNED_NAMES,
        *TEXT_NAMES,
        *BINARY_NAMES,
        *TEMPORAL_NAMES,
        *_PLAIN,
        *_LABELLED,
        *_WITHOUT_VALUES,
        "bit",
    }
)
_DEFAULT_LENGTHS = {"bit": 1, "year": 4, "float": 12, "double": 22, "char": 1, "binary": 1}
_BINARY_OF = {
    "char": "binary",
    "varchar": "varbinary",
    "tinytext": "tinyblob",
    "text": "blob",
    "mediumtext": "mediumblob",
    "longtext": "longblob",
}
_BYTES_PER_CHARACTER = 4  # utf8mb4, TiDB's own character set
_FLOAT_BITS = 24
_FLOAT_WIDTHS = {"float": 12, "double": 22}
_MAX_FRACTION = 6


def _parse(text: str, with_defaults: bool) -> DeclaredType:
    found = _NAME.match(text)
    if found is None or len(text) > _MAX_LENGTH:
        raise ValueError(f"{text!r:.80} is not a MySQL type")
    spelled, rest = _spelled_name(" ".join(found.group(1).lower().split()))
    numbers, elements, end = _parenthesis(text, found.end() if not rest else _end_of(text, spelled))
    attributes = _attributes(text, end)
    declared = _declared(text, _ALIASES.get(spelled, spelled), numbers, elements, attributes)
    if spelled == "serial":
        declared = replace(declared, is_unsigned=True)
    elif spelled in ("bool", "boolean"):
        declared = replace(declared, flen=1)
    return filled(declared) if with_defaults else declared


_cached = lru_cache(maxsize=4096)(_parse)  # short texts only, so that its memory is bounded


def _spelled_name(words: str) -> tuple[str, str]:
    """Split the leading words in the longest name of a type and the rest."""
    parts = words.split(" ")
    for count in range(min(len(parts), _MAX_NAME_WORDS), 0, -1):
        name = " ".join(parts[:count])
        if name in _NAMES or name in _ALIASES:
            return name, " ".join(parts[count:])
    raise ValueError(f"{words!r:.80} is not a MySQL type")


def _end_of(text: str, name: str) -> int:
    found = re.match(r"\s*" + r"\s+".join(name.split(" ")), text, re.IGNORECASE)
    assert found is not None  # the name was cut from the text
    return found.end()


def _parenthesis(text: str, start: int) -> tuple[list[int], tuple[str, ...] | None, int]:
    """Return numbers or elements after the name, and where they end."""
    found = _NUMBERS.match(text, start)
    if found is not None:
        return [int(group) for group in found.groups() if group is not None], None, found.end()
    found = _OPEN.match(text, start)
    if found is None:
        return [], None, start
    elements: list[str] = []
    while True:
        found = _ELEMENT.match(text, found.end())
        if found is None:
            raise ValueError(f"{text!r:.80}: numbers or quoted elements are expected after '('")
        single, double, sign = found.groups()
        quote, element = ("'", single) if single is not None else ('"', double)
        plain = element.replace(quote * 2, quote)
        elements.append(_ESCAPE.sub(lambda found: _ESCAPED[found[1]], plain))
        if sign == ")":
            return [], tuple(elements), found.end()


def _attributes(text: str, start: int) -> set[str]:
    """Return the attributes after the type; "byte" also stands for the character set binary."""
    words: list[str] = []
    end = len(text.rstrip())
    while start < end:
        found = _TOKEN.match(text, start, end)
        if found is None:
            raise ValueError(f"{text!r:.80}: {text[start:end]!r:.40} is not an attribute")
        words.append((found.group(1) or found.group(2) or found.group(3)).lower())
        start = found.end()
    attributes: set[str] = set()
    while words:
        word = words.pop(0) if len(words) < 64 else ""
        if word in ("character", "char") and words[:1] == ["set"]:
            words.pop(0)
            word = "charset"
        if word in ("charset", "collate") and words:
            if words.pop(0) == "binary":
                attributes.add("byte")
        elif word in _PLAIN_ATTRIBUTES or word == "byte":
            attributes.add(word)
        else:
            raise ValueError(f"{text!r:.80}: {word!r:.40} is not an attribute of a type")
    return attributes


def _declared(
    text: str, base: str, numbers: list[int], elements: tuple[str, ...] | None, words: set[str]
) -> DeclaredType:
    if (elements is not None) != (base in _LABELLED) and (elements is not None or numbers):
        raise ValueError(f"{text!r:.80}: {base} has no such parameters")
    if base in _BINARY_OF and "byte" in words:
        base = _BINARY_OF[base]
    if len(numbers) > 1 and base not in ("float", "double", "decimal"):
        raise ValueError(f"{text!r:.80}: {base} has one number")
    flen: int | None = numbers[0] if numbers else None
    decimal: int | None = numbers[1] if len(numbers) > 1 else None
    is_zerofill = "zerofill" in words and base in _SIGNED_NAMES
    is_unsigned = is_zerofill or ("unsigned" in words and base in _SIGNED_NAMES)
    if base in TEMPORAL_NAMES:
        flen, decimal = None, flen
        if decimal is not None and decimal > _MAX_FRACTION:
            raise ValueError(f"{text!r:.80}: up to {_MAX_FRACTION} digits of a second")
    elif base in ("text", "blob") and flen is not None:
        base, flen = _sized(text, base, flen), None
    elif base == "float" and decimal is None and flen is not None:
        base, flen = ("float" if flen <= _FLOAT_BITS else "double"), None
    return DeclaredType(base, flen, decimal, is_unsigned, is_zerofill, elements)


def _sized(text: str, base: str, length: int) -> str:
    """Return the smallest type that holds ``TEXT(length)`` or ``BLOB(length)``."""
    size = length * _BYTES_PER_CHARACTER if base == "text" else length
    for prefix in ("tiny", "", "medium", "long"):
        if size <= LARGE_SIZES[prefix + base]:
            return prefix + base
    raise ValueError(f"{text!r:.80}: {length} is more than any {base} holds")


def _of_source(column: Column) -> DeclaredType | None:
    """Return what ``source`` declares, if that can hold the column's kind."""
    if column.source is None:
        return None
    try:
        declared = parse_declared(column.source, False)
    except ValueError:
        return None
    kind = type_of_declared(declared)
    if isinstance(column.type, kinds.BoolType):
        return declared if declared.base == "tinyint" else None
    if type(kind) is not type(column.type):
        return None
    if isinstance(kind, kinds.FloatType):
        return declared if kind == column.type else None
    if isinstance(column.type, kinds.IntType):
        # The kind decides: ``source`` of other formats may leave the sign out.
        if declared.base not in INTEGER_BITS or INTEGER_BITS[declared.base] != column.type.bits:
            return None
        is_unsigned = column.type.unsigned
        is_zerofill = declared.is_zerofill and is_unsigned
        return replace(declared, is_unsigned=is_unsigned, is_zerofill=is_zerofill)
    return declared


def _plainest(kind: kinds.Type, clause: str) -> DeclaredType:
    match kind:
        case kinds.BoolType():
            return DeclaredType("tinyint", 1)
        case kinds.IntType(bits, unsigned):
            base = next(name for name, width in INTEGER_BITS.items() if width == bits)
            return DeclaredType(base, is_unsigned=unsigned)
        case kinds.FloatType(bits):
            return DeclaredType("float" if bits == 32 else "double")
        case kinds.DecimalType(precision, scale):
            return DeclaredType("decimal", precision, None if precision is None else scale or 0)
        case kinds.TextType(length):
            return DeclaredType("varchar", length)
        case kinds.BytesType(length):
            return DeclaredType("varbinary", length)
        case kinds.BitType(length):
            return DeclaredType("bit", length)
        case kinds.DateType():
            return DeclaredType("date")
        case kinds.TimeType(fraction):
            return DeclaredType("time", decimal=fraction)
        case kinds.DatetimeType(fraction):
            return DeclaredType("datetime", decimal=fraction)
        case kinds.TimestampType(fraction):
            return DeclaredType("timestamp", decimal=fraction)
        case kinds.YearType():
            return DeclaredType("year")
        case kinds.EnumType(labels):
            return DeclaredType("enum", elements=labels)
        case kinds.SetType(labels):
            return DeclaredType("set", elements=labels)
        case kinds.JsonType():
            return DeclaredType("json")
        case kinds.VectorType():
            return DeclaredType("vector")
        case kinds.UnknownType():
            return DeclaredType("null")
        case kinds.IntervalType() | kinds.ArrayType() | kinds.MapType() | kinds.StructType():
            raise EncodeError(f"MySQL has no type for {kind_text(kind)}", clause)
