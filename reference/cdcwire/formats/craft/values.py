"""Column values: the bytes that each MySQL type code has, shared by both Craft formats.

A value does not say its own size. Its length is in the group's array of nullable bytes, and the
value must fill it exactly. The type code alone decides the form, except for integers, where flag
bit 7 does too. The formats differ in one place: a FLOAT takes 8 bytes as shipped and 4 in the
proposal.
"""

from __future__ import annotations

import struct

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.reader import Reader, read_uvarint, read_varint, write_uvarint, write_varint
from cdcwire.formats.craft.arrays import bytes_of, text_of
from cdcwire.formats.craft.profile import Profile
from cdcwire.model.floats import is_float32
from cdcwire.mysql import types
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

    Raises: EncodeError when the value is not of the form that the type code asks for.
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
