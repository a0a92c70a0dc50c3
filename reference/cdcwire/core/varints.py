"""Variable-length integers: seven bits a byte, least significant group first.

Craft, Avro and protobuf use the same ones. Non-minimal forms (``80 00``) are read, never written.
"""

from __future__ import annotations

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.core.reader import Reader

_MORE = 0x80


def read_uvarint(reader: Reader, clause: str) -> int:
    """Read one unsigned varint and move past it.

    Shape: 1 to 10 bytes, 7 bits each, least significant group first; the high bit says "more".
    Returns: an int in [0, 2**64).
    Raises: TruncatedError; DecodeError when the value needs more than 64 bits.
    """
    start = reader.offset
    if start < reader.end and (byte := reader.data[start]) < _MORE:  # most integers have one byte
        reader.offset = start + 1
        return byte
    value = 0
    for shift in range(0, 70, 7):
        byte = reader.byte(clause)
        value |= (byte & 0x7F) << shift
        if byte < _MORE:
            if value >= UINT64_END:
                break
            return value
    raise DecodeError("varint exceeds 64 bits", start, clause)


def read_varint(reader: Reader, clause: str) -> int:
    """Read one zigzag varint and move past it. Returns: an int in [-2**63, 2**63)."""
    start = reader.offset
    if start < reader.end and (byte := reader.data[start]) < _MORE:  # most integers have one byte
        reader.offset = start + 1
        return (byte >> 1) ^ -(byte & 1)
    value = read_uvarint(reader, clause)
    return (value >> 1) ^ -(value & 1)


def write_uvarint(out: bytearray, value: int, clause: str) -> None:
    """Append the shortest unsigned varint. Raises: EncodeError outside [0, 2**64)."""
    if not 0 <= value < UINT64_END:
        raise EncodeError(f"{value} is not an unsigned 64-bit integer", clause)
    while value >= _MORE:
        out.append(value & 0x7F | _MORE)
        value >>= 7
    out.append(value)


def write_varint(out: bytearray, value: int, clause: str) -> None:
    """Append the shortest zigzag varint. Raises: EncodeError outside [-2**63, 2**63)."""
    if not INT64_START <= value < INT64_END:
        raise EncodeError(f"{value} is not a signed 64-bit integer", clause)
    write_uvarint(out, value << 1 if value >= 0 else (~value << 1) | 1, clause)
