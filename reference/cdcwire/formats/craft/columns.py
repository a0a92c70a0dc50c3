"""Column groups, their values, and DDL bodies, shared by both Craft formats.

The formats write column names differently (term ids or strings in place), so the functions take
what reads or writes the names.

A value does not say its own size. Its length is in the group's array of nullable bytes, and the
value must fill it exactly. The type code alone decides the form, except for integers, where flag
bit 7 does too. The formats differ in one place: a FLOAT takes 8 bytes as shipped and 4 in the
proposal.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.reader import Reader, read_uvarint, read_varint, write_uvarint, write_varint
from cdcwire.formats.craft.arrays import (
    ArrayPath,
    bytes_of,
    check_count,
    read_uvarints,
    read_varints,
    text_of,
    write_uvarints,
    write_varints,
)
from cdcwire.formats.craft.message import SKIPPED, Column, Skipped
from cdcwire.formats.craft.profile import Profile
from cdcwire.model.events import Path
from cdcwire.model.floats import is_float32
from cdcwire.mysql import types
from cdcwire.mysql.types import TYPE_FLOAT
from cdcwire.mysql.values import WireValue, is_vector_text

_FLOAT_TYPES = frozenset({types.TYPE_FLOAT, types.TYPE_DOUBLE})
_NUMBER_TYPES = types.INTEGER_TYPES | types.UNSIGNED_TYPES | {types.TYPE_YEAR}

_DOUBLE = struct.Struct("<d")
_FLOAT = struct.Struct("<f")
_BITS64 = struct.Struct("<Q")
_BITS32 = struct.Struct("<I")


def value_clause(code: int, profile: Profile) -> str:
    """Return the clause that says how values of a type code are coded."""
    if code in types.INTEGER_TYPES:
        return profile.integer_values
    if code == types.TYPE_YEAR:
        return profile.year_values
    if code in types.UNSIGNED_TYPES:
        return profile.number_values
    if code in _FLOAT_TYPES:
        return profile.float_values
    if code in types.TEXT_TYPES:
        return profile.text_values
    if code in types.STRING_TYPES:
        return profile.string_values
    if code == types.TYPE_VECTOR:
        return profile.vector_values
    return profile.types_without_values


def read_value(reader: Reader, code: int, flags: int, profile: Profile) -> WireValue:
    """Read the value that fills ``reader``, and move to its end. NULL has no bytes and no reader.

    Source: craft, the encoding of column values; YEAR and the vector's text as shipped.
    """
    if code in _NUMBER_TYPES:
        read_number = read_uvarint if types.is_unsigned(code, flags) else read_varint
        number = read_number(reader, profile.integers)
        if reader.offset < reader.end:
            reader.expect_end(value_clause(code, profile))
        return number
    if code in _FLOAT_TYPES:
        return _read_float(reader, code, profile)
    if code in types.TEXT_TYPES:
        return _read_text(reader, profile.text_values)
    if code in types.STRING_TYPES:
        return reader.take(reader.left, profile.string_values)
    if code == types.TYPE_VECTOR:
        start = reader.offset
        text = _read_text(reader, profile.vector_values)
        if not is_vector_text(text):
            raise DecodeError(f"{text!r:.80} is not a vector", start, profile.vector_values)
        return text
    problem = f"{reader.left} bytes for type {code}, which is always NULL"
    raise DecodeError(problem, reader.offset, profile.types_without_values)


def encode_value(value: WireValue, code: int, flags: int, profile: Profile) -> bytes:
    """Return the bytes of a value that is not NULL.

    Raises: EncodeError when the value lacks the form that the type code asks for.
    """
    clause = value_clause(code, profile)
    if code in _NUMBER_TYPES and isinstance(value, int) and not isinstance(value, bool):
        out = bytearray()
        (write_uvarint if types.is_unsigned(code, flags) else write_varint)(out, value, clause)
        return bytes(out)
    if code in _FLOAT_TYPES and isinstance(value, float):
        return _float_bytes(value, code, profile)
    if code in types.TEXT_TYPES and isinstance(value, str):
        return bytes_of(value, clause)
    if code in types.STRING_TYPES and isinstance(value, bytes):
        return value
    if code == types.TYPE_VECTOR and isinstance(value, str) and is_vector_text(value):
        return value.encode()
    raise EncodeError(f"{value!r:.80} is not a value of type {code}", clause)


def _read_text(reader: Reader, clause: str) -> str:
    start = reader.offset
    return text_of(reader.take(reader.left, clause), start, clause)


def _read_float(reader: Reader, code: int, profile: Profile) -> float:
    size = profile.float_size if code == types.TYPE_FLOAT else 8
    if reader.left != size:
        raise DecodeError(
            f"{reader.left} bytes, this type has {size}", reader.offset, profile.float_values
        )
    raw = reader.take(size, profile.float_values)
    return widen_float32(raw) if size == 4 else float(_DOUBLE.unpack(raw)[0])


def _float_bytes(value: float, code: int, profile: Profile) -> bytes:
    if code == types.TYPE_DOUBLE or profile.float_size == 8:
        return _DOUBLE.pack(value)
    return narrow_to_float32(value, profile.float_values)


def widen_float32(raw: bytes) -> float:
    """Return 4 little-endian bytes as a float, exactly.

    A NaN is widened bit by bit: the processor's conversion would make a signalling one quiet.
    """
    bits = _BITS32.unpack(raw)[0]
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF and fraction:
        wide: float = _DOUBLE.unpack(_BITS64.pack(sign << 63 | 0x7FF << 52 | fraction << 29))[0]
        return wide
    return float(_FLOAT.unpack(raw)[0])


def narrow_to_float32(value: float, clause: str) -> bytes:
    """Return a float that is exact in 32 bits as 4 little-endian bytes. Raises: EncodeError."""
    if value == value:
        if not is_float32(value):
            raise EncodeError(f"{value!r} is not exact in 32 bits", clause)
        return _FLOAT.pack(value)
    bits = _BITS64.unpack(_DOUBLE.pack(value))[0]
    fraction = bits & (1 << 52) - 1
    if fraction & (1 << 29) - 1:
        raise EncodeError("the bits of this NaN don't fit into 32", clause)
    return _BITS32.pack(bits >> 63 << 31 | 0xFF << 23 | fraction >> 29)


def is_number_type(code: int) -> bool:
    """Return whether values of a type code are coded as numbers, floats included."""
    return code in _NUMBER_TYPES or code in _FLOAT_TYPES


NULL_LENGTH = -1
INEXACT_FLOAT = "not exactly a 32-bit float"

NameReader: TypeAlias = Callable[[Reader, int, ArrayPath], "list[str]"]
NameWriter: TypeAlias = Callable[[bytearray, "Sequence[str]", ArrayPath], None]

_MAX_BYTE = 255  # of a type code and of a DDL type, which are uvarints of one byte's range


def read_columns(
    reader: Reader,
    read_names: NameReader,
    profile: Profile,
    wanted: frozenset[str] | None,
    path: Path,
) -> tuple[Column, ...]:
    """Read what follows the type of a group: number of columns, names, types, flags, values.

    ``wanted``: the columns whose values are decoded; None means all. The values of the others are
    skipped by their lengths and become ``SKIPPED``.
    """
    start = reader.offset
    with step(*path, "count"):
        count = read_uvarint(reader, profile.integers)
        if count == 0:
            raise DecodeError("a group without columns", start, profile.column_groups)
        check_count(reader, count, (), profile.column_groups)
    reader.note(start, count, profile.column_groups, *path, "count")
    before = (*path, "columns")
    names = read_names(reader, count, ArrayPath(before, ("name",), profile.column_names))
    types = read_uvarints(
        reader, count, ArrayPath(before, ("type",), profile.column_types), profile, _beyond_a_byte
    )
    flags = read_uvarints(
        reader, count, ArrayPath(before, ("flags",), profile.column_flags), profile
    )
    lengths = read_varints(
        reader,
        count,
        ArrayPath(before, ("length",), profile.nullable_bytes_arrays),
        profile,
        _below_null,
    )
    columns = []
    for index, (name, code, flag, length) in enumerate(
        zip(names, types, flags, lengths, strict=True)
    ):
        try:
            is_wanted = wanted is None or name in wanted
            value = _read_nullable(reader, code, flag, length, profile, is_wanted)
        except DecodeError as error:
            error.path = (*before, index, "value", *error.path)
            raise
        start = reader.offset - length
        if length > 0 and start in reader.noted:
            note = INEXACT_FLOAT if is_inexact(code, value) else ""
            clause = value_clause(code, profile)
            reader.note(start, value, clause, *before, index, "value", note=note)
        columns.append(Column(name, code, flag, value))
    return tuple(columns)


def write_columns(
    out: bytearray,
    columns: tuple[Column, ...],
    write_names: NameWriter,
    profile: Profile,
    path: Path,
) -> None:
    """Append what follows the type of a group."""
    if not columns:
        raise EncodeError("a group without columns", profile.column_groups, path)
    before = (*path, "columns")
    _check_names(columns, before, profile)
    write_uvarint(out, len(columns), profile.integers)
    names = [column.name for column in columns]
    write_names(out, names, ArrayPath(before, ("name",), profile.column_names))
    types_place = ArrayPath(before, ("type",), profile.column_types)
    for index, column in enumerate(columns):
        if problem := _beyond_a_byte(index, column.type):
            raise EncodeError(problem, profile.column_types, types_place.at(index))
    write_uvarints(out, [column.type for column in columns], types_place, profile)
    flags_place = ArrayPath(before, ("flags",), profile.column_flags)
    write_uvarints(out, [column.flags for column in columns], flags_place, profile)
    coded = []
    for index, column in enumerate(columns):
        with step(*before, index, "value"):
            coded.append(encode_nullable(column, profile))
    lengths = [NULL_LENGTH if raw is None else len(raw) for raw in coded]
    write_varints(
        out, lengths, ArrayPath(before, ("value",), profile.nullable_bytes_arrays), profile
    )
    for raw in coded:
        out += raw or b""


def encode_nullable(column: Column, profile: Profile) -> bytes | None:
    """Return the bytes of a column's value; None for NULL."""
    if isinstance(column.value, Skipped):
        raise EncodeError(
            "the value was skipped when it was decoded", profile.nullable_bytes_arrays
        )
    if column.value is None:
        return None
    return encode_value(column.value, column.type, column.flags, profile)


def read_ddl_body(reader: Reader, profile: Profile, path: Path) -> tuple[int, str]:
    """Read the body of a DDL event: its type, and the query."""
    start = reader.offset
    with step(*path, "type"):
        code = read_uvarint(reader, profile.integers)
        if problem := _beyond_a_byte(0, code):
            raise DecodeError(problem, start, profile.ddl_events)
    reader.note(start, code, profile.ddl_events, *path, "type")
    with step(*path, "query"):
        start = reader.offset
        length = read_uvarint(reader, profile.integers)
        reader.note(start, length, profile.strings, *path, "query", "length")
        start = reader.offset
        query = text_of(reader.take(length, profile.strings), start, profile.ddl_events)
    if length:
        reader.note(start, query, profile.ddl_events, *path, "query")
    return code, query


def write_ddl_body(out: bytearray, code: int, query: str, profile: Profile, path: Path) -> None:
    """Append the body of a DDL event: its type, and the query. Raises: EncodeError."""
    if problem := _beyond_a_byte(0, code):
        raise EncodeError(problem, profile.ddl_events, (*path, "type"))
    raw = bytes_of(query, profile.ddl_events, (*path, "query"))
    write_uvarint(out, code, profile.integers)
    write_uvarint(out, len(raw), profile.integers)
    out += raw


def no_repeated_names() -> Callable[[int, str], str | None]:
    """Return a check that finds the second column of the same name."""
    seen: set[str] = set()

    def check(index: int, name: str) -> str | None:
        if not name:
            return "a column without name"
        if name in seen:
            return f"column {name!r:.80} appears twice in the group"
        seen.add(name)
        return None

    return check


def _read_nullable(
    reader: Reader, code: int, flags: int, length: int, profile: Profile, is_wanted: bool
) -> WireValue | Skipped:
    if length == NULL_LENGTH:
        return None if is_wanted else SKIPPED
    value = reader.region(length, profile.nullable_bytes_arrays)
    return read_value(value, code, flags, profile) if is_wanted else SKIPPED


def _check_names(columns: tuple[Column, ...], before: Path, profile: Profile) -> None:
    check = no_repeated_names()
    for index, column in enumerate(columns):
        if problem := check(index, column.name):
            raise EncodeError(problem, profile.column_names, (*before, index, "name"))


def _beyond_a_byte(index: int, value: int) -> str | None:
    if 0 <= value <= _MAX_BYTE:
        return None
    return f"type {value} is not in 0 to {_MAX_BYTE}"


def _below_null(index: int, length: int) -> str | None:
    return None if length >= NULL_LENGTH else f"length {length}; -1 is NULL, less is not allowed"


def is_inexact(code: int, value: object) -> bool:
    """Return whether the value of a FLOAT is not exactly a 32-bit float."""
    return code == TYPE_FLOAT and isinstance(value, float) and not is_float32(value)
