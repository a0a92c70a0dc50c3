"""The parts of a row checksum, which TiDB makes: CRC32 over all columns.

NULL is left out. Integers, YEAR and the numbers of ENUM, SET and BIT are 8 bytes, little-endian. A
float is a double, little-endian. A VECTOR is the number of its items in 4 bytes, and each item as a
float of 4 bytes. All else is its length in 4 bytes, little-endian, and its bytes. TIMESTAMP is
taken in UTC. A row that TiDB wrote without a checksum has 0.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

_UINT64_MASK = (1 << 64) - 1
_LENGTH = struct.Struct("<I")
_DOUBLE = struct.Struct("<d")


def number_bytes(number: int) -> bytes:
    """Return the part of an integer of 64 bits, signed or not."""
    return (number & _UINT64_MASK).to_bytes(8, "little")


def float_bytes(number: float) -> bytes:
    """Return the part of a float; one that is not finite counts as 0."""
    return _DOUBLE.pack(number if math.isfinite(number) else 0.0)


def vector_bytes(items: Sequence[float]) -> bytes:
    """Return the part of a VECTOR."""
    return struct.pack(f"<I{len(items)}f", len(items), *items)


def text_bytes(raw: bytes) -> bytes:
    """Return the part of text or bytes."""
    return _LENGTH.pack(len(raw)) + raw
