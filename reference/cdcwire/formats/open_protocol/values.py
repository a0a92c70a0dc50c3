"""Column values: the JSON of ``v``, by type code and flag bits.

A value is read into the form that all formats of the MySQL family share (``mysql.values``). FLOAT
is read as a float32, rounded once from its digits. The text of dates, decimals and JSON is not
looked into; integers are checked for 64 bits, not for the width of their column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.json_record import wrong
from cdcwire.core.json_strings import read_base64, write_base64
from cdcwire.core.strict_json import Member, Number
from cdcwire.formats.open_protocol.members import (
    INT64,
    TEXT,
    UINT64,
    VALUE_RULES,
    WRITE_STRING,
    Dialect,
)
from cdcwire.golang import QuoteError, float_text, padded_float_text, quote, unquote
from cdcwire.model.floats import narrow_float32, read_float32
from cdcwire.mysql import types
from cdcwire.mysql.values import WireValue, is_vector_text

_INTEGERS = "open-protocol: integer values"
_Read: TypeAlias = Callable[[Member, int, int], WireValue]
_Write: TypeAlias = Callable[[WireValue, int, int, Dialect], str]


def read_value(given: Member, code: int, flags: int) -> WireValue:
    """Return the value of a member. ``null`` is NULL of every type.

    Raises: DecodeError when it is not a value of the type.
    """
    if given.value is None:
        return None
    read = _READ.get(code)
    if read is None:
        problem = f"type code {code} has no values, only null"
        raise DecodeError(problem, given.start, "open-protocol: types without values")
    return read(given, code, flags)


def write_value(value: WireValue, code: int, flags: int, dialect: Dialect) -> str:
    """Return the JSON of a value. Raises: EncodeError when it is not a value of the type."""
    if value is None:
        return "null"
    write = _WRITE.get(code)
    if write is None:
        problem = f"type code {code} has no values, only NULL"
        raise EncodeError(problem, "open-protocol: types without values")
    return write(value, code, flags, dialect)


def value_clause(code: int, flags: int) -> str:
    """Return the clause that speaks of the values of a type."""
    if code in types.STRING_TYPES - types.LARGE_STRING_TYPES and flags & types.FLAG_BINARY:
        return "open-protocol: binary quoting"
    for codes, _, _, clause in _CODES:
        if code in codes:
            return clause
    return "open-protocol: types without values"


def _read_integer(given: Member, code: int, flags: int) -> WireValue:
    form = UINT64 if types.is_unsigned(code, flags) else INT64
    return form.read(given, b"", _INTEGERS)


def _write_integer(value: WireValue, code: int, flags: int, dialect: Dialect) -> str:
    if not isinstance(value, int):
        raise _wrong_value(value, "an integer", _INTEGERS)
    form = UINT64 if types.is_unsigned(code, flags) else INT64
    return form.write(value, _INTEGERS, str)


def _read_float(given: Member, code: int, flags: int) -> WireValue:
    clause, value = "open-protocol: float values", given.value
    if not isinstance(value, Number):
        raise wrong(value, "a number", given.start, clause)
    number = read_float32(value.text) if code == types.TYPE_FLOAT else float(value.text)
    if math.isinf(number):
        bits = 32 if code == types.TYPE_FLOAT else 64
        problem = f"{value.text:.40} is too large for a {bits}-bit float"
        raise DecodeError(problem, given.start, clause)
    return number


def _write_float(value: WireValue, code: int, flags: int, dialect: Dialect) -> str:
    clause = "open-protocol: float values"
    if not isinstance(value, float):
        raise _wrong_value(value, "a float", clause)
    if not math.isfinite(value):
        raise EncodeError(f"JSON has no {value}", clause)
    if code == types.TYPE_DOUBLE:
        return float_text_of(dialect, 64)(value)
    if narrow_float32(value) != value:
        raise EncodeError(f"{value!r} is not a 32-bit float", clause)
    return float_text_of(dialect, 32)(value)


def float_text_of(dialect: Dialect, bits: Literal[32, 64]) -> Callable[[float], str]:
    """Return the function that writes the text of a finite float."""
    return partial(float_text if dialect == "tiflow" else padded_float_text, bits=bits)


def _read_text(given: Member, code: int, flags: int) -> WireValue:
    return TEXT.read(given, b"", "open-protocol: text values")


def _write_text(value: WireValue, code: int, flags: int, dialect: Dialect) -> str:
    if not isinstance(value, str):
        raise _wrong_value(value, "text", "open-protocol: text values")
    return TEXT.write(value, VALUE_RULES.string_clause, WRITE_STRING[dialect])


def _read_string(given: Member, code: int, flags: int) -> WireValue:
    value = given.value
    if not isinstance(value, str):
        raise wrong(value, "a string", given.start, "open-protocol: string values")
    if not flags & types.FLAG_BINARY:
        return value.encode()
    try:
        return unquote(value)
    except QuoteError as error:
        raise DecodeError(str(error), given.start, "open-protocol: binary quoting") from None


def _write_string(value: WireValue, code: int, flags: int, dialect: Dialect) -> str:
    if not isinstance(value, bytes):
        raise _wrong_value(value, "bytes", "open-protocol: string values")
    if flags & types.FLAG_BINARY:
        return WRITE_STRING[dialect](quote(value))
    return WRITE_STRING[dialect](value.decode("utf-8", "surrogateescape"))


def _read_base64(given: Member, code: int, flags: int) -> WireValue:
    clause = "open-protocol: base64 values"
    return read_base64(TEXT.read(given, b"", clause), given.start, clause)


def _write_base64(value: WireValue, code: int, flags: int, dialect: Dialect) -> str:
    if not isinstance(value, bytes):
        raise _wrong_value(value, "bytes", "open-protocol: base64 values")
    return f'"{write_base64(value)}"'


def _read_vector(given: Member, code: int, flags: int) -> WireValue:
    clause = "open-protocol: vector values"
    value = TEXT.read(given, b"", clause)
    if not is_vector_text(value):
        raise DecodeError(f"{value!r:.40} is not the text of a vector", given.start, clause)
    return value


def _write_vector(value: WireValue, code: int, flags: int, dialect: Dialect) -> str:
    if not isinstance(value, str) or not is_vector_text(value):
        raise _wrong_value(value, "the text of a vector", "open-protocol: vector values")
    return TEXT.write(value, VALUE_RULES.string_clause, WRITE_STRING[dialect])


def _wrong_value(value: WireValue, expected: str, clause: str) -> EncodeError:
    return EncodeError(f"{value!r:.40} is not {expected}", clause)


_CODES: tuple[tuple[frozenset[int], _Read, _Write, str], ...] = (
    (
        types.INTEGER_TYPES | types.UNSIGNED_TYPES | {types.TYPE_YEAR},
        _read_integer,
        _write_integer,
        _INTEGERS,
    ),
    (
        frozenset({types.TYPE_FLOAT, types.TYPE_DOUBLE}),
        _read_float,
        _write_float,
        "open-protocol: float values",
    ),
    (types.TEXT_TYPES, _read_text, _write_text, "open-protocol: text values"),
    (
        types.STRING_TYPES - types.LARGE_STRING_TYPES,
        _read_string,
        _write_string,
        "open-protocol: string values",
    ),
    (types.LARGE_STRING_TYPES, _read_base64, _write_base64, "open-protocol: base64 values"),
    (frozenset({types.TYPE_VECTOR}), _read_vector, _write_vector, "open-protocol: vector values"),
)
_READ: dict[int, _Read] = {code: read for codes, read, _, _ in _CODES for code in codes}
_WRITE: dict[int, _Write] = {code: write for codes, _, write, _ in _CODES for code in codes}
