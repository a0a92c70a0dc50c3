"""The fields of a Tuple topic: ten types, their texts on the wire, and their limits.

JSON and protobuf carry every value as text; the two SDKs spell numbers differently, and all their
spellings are read. Written is one: shortest digits, plain decimals, lower-case words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite, isinf
from types import MappingProxyType
from typing import Literal, TypeAlias, cast, get_args

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.limits import INT64_END
from cdcwire.model import kinds
from cdcwire.model.floats import is_float32, narrow_float32, read_float32

FieldType: TypeAlias = Literal[
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "BOOLEAN",
    "TIMESTAMP",
    "STRING",
    "DECIMAL",
]
FieldValue: TypeAlias = "int | float | bool | str | Decimal | None"

FIELD_TYPES: tuple[FieldType, ...] = get_args(FieldType)
CLAUSE_TYPES = "datahub: field types"
CLAUSE_INTEGERS = "datahub: integer fields"
CLAUSE_FLOATS = "datahub: float fields"
CLAUSE_BOOLEANS = "datahub: boolean fields"
CLAUSE_TIMESTAMPS = "datahub: timestamp fields"
CLAUSE_STRINGS = "datahub: string fields"
CLAUSE_DECIMALS = "datahub: decimal fields"
CLAUSE_NULL = "datahub: null fields"
CLAUSE_LIMITS = "datahub: limits"

MIN_TIMESTAMP = -62135798400000000  # microseconds; both SDKs refuse what is outside
MAX_TIMESTAMP = 253402271999000000
MAX_STRING_BYTES = 2 * 1024 * 1024
# What a text of a number may need: a DECIMAL is written without exponent.
MAX_EXPONENT = 400
MAX_NUMBER_BYTES = 1024

_BITS: Mapping[str, int] = MappingProxyType(
    {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}
)
_INTEGER = re.compile(rb"-?[0-9]{1,40}")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,9}))?")
_NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf(?:inity)?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a topic's schema.

    ``is_at_end``: it may have been appended later, so that older records end before it.
    ``may_be_absent``: such records are read.
    """

    name: str
    type: FieldType
    nullable: bool = True
    may_be_absent: bool = False
    is_at_end: bool = False


def field_type(name: str) -> FieldType | None:
    """Return the type of this name, in any letter case; None if there is none."""
    upper = name.upper()
    return upper if upper in FIELD_TYPES else None


def kind_of(type_: FieldType) -> kinds.Type:
    """Return the model's kind of a type. A TIMESTAMP counts microseconds in UTC."""
    return _KINDS[type_]


_KINDS: Mapping[str, kinds.Type] = MappingProxyType(
    {
        "TINYINT": kinds.IntType(8),
        "SMALLINT": kinds.IntType(16),
        "INTEGER": kinds.IntType(32),
        "BIGINT": kinds.IntType(64),
        "FLOAT": kinds.FloatType(32),
        "DOUBLE": kinds.FloatType(64),
        "BOOLEAN": kinds.BoolType(),
        "TIMESTAMP": kinds.TimestampType(form="us", zone="+00:00"),
        "STRING": kinds.TextType(),
        "DECIMAL": kinds.DecimalType(),
    }
)


# ---- values ----------------------------------------------------------------------------------


def check_value(type_: FieldType, value: FieldValue) -> str:
    """Return what is wrong with a value of a type (not NULL), "" if nothing is."""
    match type_:
        case "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT":
            return "" if _is_integer(value, integer_end(type_)) else _not_a(type_, value)
        case "TIMESTAMP":
            if not _is_integer(value, INT64_END):
                return _not_a(type_, value)
            count = cast(int, value)
            is_inside = MIN_TIMESTAMP <= count <= MAX_TIMESTAMP
            return "" if is_inside else f"{count} is not a TIMESTAMP: years 1 to 9999 are allowed"
        case "FLOAT" | "DOUBLE":
            if not isinstance(value, float):
                return _not_a(type_, value)
            return "" if type_ == "DOUBLE" or is_float32(value) else _not_a(type_, value)
        case "BOOLEAN":
            return "" if isinstance(value, bool) else _not_a(type_, value)
        case "STRING":
            if not isinstance(value, str):
                return _not_a(type_, value)
            if not is_unicode(value):
                return "an unpaired surrogate in the text"
            size = len(value.encode("utf-8"))
            return "" if size <= MAX_STRING_BYTES else f"a STRING has up to 2 MB, this is {size}"
        case "DECIMAL":
            return "" if isinstance(value, Decimal) and value.is_finite() else _not_a(type_, value)


def is_unicode(text: str) -> bool:
    """Return whether a text has a form in UTF-8: it has no lone surrogate."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def integer_end(type_: FieldType) -> int:
    """Return the first integer above the largest one of an integer type."""
    return 1 << _BITS[type_] - 1


def _is_integer(value: FieldValue, end: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -end <= value < end


def _not_a(type_: str, value: FieldValue) -> str:
    return f"{value!r:.60} is not a valid {type_}"


# ---- texts -----------------------------------------------------------------------------------


def read_text(type_: FieldType, text: bytes, offset: int) -> FieldValue:
    """Return the value of a field's text. Raises: DecodeError at ``offset``."""
    return _READERS[type_](text, offset)


def write_text(type_: FieldType, value: FieldValue) -> str:
    """Return the text of a value (not NULL). Raises: EncodeError."""
    problem = check_value(type_, value)
    if problem:
        raise EncodeError(problem, clause_of(type_))
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return float_text(type_, value)
        case Decimal():
            return decimal_text(value)
        case _:
            return str(value)


def float_text(type_: FieldType, value: float) -> str:
    """Return shortest digits that give the value back at its width. Raises: EncodeError."""
    if not isfinite(value):
        raise EncodeError(f"{value} is not written", CLAUSE_FLOATS)
    return shortest_float32(value) if type_ == "FLOAT" else repr(value)


def shortest_float32(value: float) -> str:
    """Return a float32 in shortest digits, spelled as Python spells floats."""
    narrow = narrow_float32(value)
    for digits in range(1, 10):
        text = f"{narrow:.{digits}g}"
        if read_float32(text) == narrow:  # not by way of a double, which rounds twice
            return repr(float(text))
    return repr(narrow)


def decimal_text(value: Decimal) -> str:
    """Return plain digits, the scale kept. Raises: EncodeError beyond the limits."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # it is finite
    if len(digits) + abs(exponent) > MAX_NUMBER_BYTES - 4:  # sign, zero, point
        raise EncodeError("a DECIMAL of over 1,020 digits", CLAUSE_LIMITS)
    return f"{value:f}"


def clause_of(type_: FieldType) -> str:
    """Return the clause about the values of a type."""
    return _CLAUSES[type_]


_CLAUSES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(_BITS, CLAUSE_INTEGERS),
        "FLOAT": CLAUSE_FLOATS,
        "DOUBLE": CLAUSE_FLOATS,
        "BOOLEAN": CLAUSE_BOOLEANS,
        "TIMESTAMP": CLAUSE_TIMESTAMPS,
        "STRING": CLAUSE_STRINGS,
        "DECIMAL": CLAUSE_DECIMALS,
    }
)


def _read_integer(type_: FieldType) -> Callable[[bytes, int], FieldValue]:
    def read(text: bytes, offset: int) -> FieldValue:
        clause = clause_of(type_)
        if _INTEGER.fullmatch(text) is None:
            raise DecodeError(f"{_shown(text)} is not a valid {type_}", offset, clause)
        value = int(text)
        problem = check_value(type_, value)
        if problem:
            raise DecodeError(problem, offset, clause)
        return value

    return read


def _read_float(type_: FieldType) -> Callable[[bytes, int], FieldValue]:
    def read(text: bytes, offset: int) -> FieldValue:
        if _NOT_FINITE.fullmatch(text):
            return float(text)
        if len(text) > MAX_NUMBER_BYTES:
            raise DecodeError("a number of over 1,024 characters", offset, CLAUSE_LIMITS)
        if _NUMBER.fullmatch(text) is None:
            raise DecodeError(f"{_shown(text)} is not a valid {type_}", offset, CLAUSE_FLOATS)
        plain = text.decode("ascii")
        value = read_float32(plain) if type_ == "FLOAT" else float(plain)
        if isinf(value):
            raise DecodeError(f"{_shown(text)} is too large for a {type_}", offset, CLAUSE_FLOATS)
        return value

    return read


def _read_boolean(text: bytes, offset: int) -> FieldValue:
    if text == b"true":
        return True
    if text == b"false":
        return False
    raise DecodeError(f"{_shown(text)} is neither true nor false", offset, CLAUSE_BOOLEANS)


def _read_string(text: bytes, offset: int) -> FieldValue:
    if len(text) > MAX_STRING_BYTES:
        raise DecodeError(
            f"a STRING has up to 2 MB, this has {len(text)} bytes", offset, CLAUSE_LIMITS
        )
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DecodeError("not UTF-8", offset + error.start, CLAUSE_STRINGS) from error


def _read_decimal(text: bytes, offset: int) -> FieldValue:
    if len(text) > MAX_NUMBER_BYTES:
        raise DecodeError("a number of over 1,024 characters", offset, CLAUSE_LIMITS)
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise DecodeError(f"{_shown(text)} is not a DECIMAL", offset, CLAUSE_DECIMALS)
    if found[1] is not None and abs(int(found[1])) > MAX_EXPONENT:
        raise DecodeError(f"the exponent {found[1].decode()} is too large", offset, CLAUSE_LIMITS)
    return Decimal(text.decode("ascii"))


def _shown(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "replace"))


_READERS: Mapping[str, Callable[[bytes, int], FieldValue]] = MappingProxyType(
    {
        **{name: _read_integer(cast(FieldType, name)) for name in (*_BITS, "TIMESTAMP")},
        "FLOAT": _read_float("FLOAT"),
        "DOUBLE": _read_float("DOUBLE"),
        "BOOLEAN": _read_boolean,
        "STRING": _read_string,
        "DECIMAL": _read_decimal,
    }
)
