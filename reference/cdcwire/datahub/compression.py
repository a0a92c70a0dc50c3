"""Compressed bytes of bodies and batches, opened within bounds.

zlib is in the standard library. An LZ4 block is read here, so that the default output of both SDKs
can be read everywhere. Writing one, or reading fast, needs functions that the caller gives.
Source: datahub, "compression".
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from cdcwire.core.context import Compression
from cdcwire.core.errors import DecodeError
from cdcwire.core.options import OptionError

CLAUSE = "datahub: compression"
CLAUSE_LIMITS = "datahub: limits"

MAX_RAW_BYTES = 16 * 1024 * 1024  # of a body, or of its batches; the service takes 4 MB in a put
LZ4 = "lz4-block"
_MIN_MATCH = 4
_LONG = 15  # a length that goes on in further bytes


def inflate(data: bytes, raw_size: int | None, offset: int, limit: int = MAX_RAW_BYTES) -> bytes:
    """Return what zlib's bytes hold.

    ``raw_size``: how many bytes there must be; None is any number up to ``limit``.
    Raises: DecodeError at ``offset``.
    """
    _check_size(raw_size, offset, limit)
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(data, (limit if raw_size is None else raw_size) + 1)
    except zlib.error as error:
        raise DecodeError(f"not zlib: {error}", offset, CLAUSE) from error
    if raw_size is None:
        _check_size(len(raw), offset, limit)
    elif len(raw) != raw_size:
        raise _other_size(raw_size, offset)
    if not stream.eof or stream.unused_data:
        raise DecodeError("zlib's bytes end before or after the data", offset, CLAUSE)
    return raw


def open_lz4(
    data: bytes,
    raw_size: int | None,
    offset: int,
    compressions: Mapping[str, Compression],
    limit: int = MAX_RAW_BYTES,
) -> bytes:
    """Return what an LZ4 block holds; see ``inflate``. Raises: DecodeError at ``offset``."""
    _check_size(raw_size, offset, limit)
    known = compressions.get(LZ4)
    if known is None or raw_size is None:
        raw = _read_lz4(data, limit if raw_size is None else raw_size, offset)
        if raw_size is not None and len(raw) != raw_size:
            raise _other_size(raw_size, offset)
        return raw
    try:
        # Such functions get the size from four leading bytes, little-endian.
        raw = known.decompress(raw_size.to_bytes(4, "little") + data)
    except ValueError as error:
        raise DecodeError(f"not LZ4: {error}", offset, CLAUSE) from error
    if len(raw) != raw_size:
        raise _other_size(raw_size, offset)
    return raw


def deflate(raw: bytes) -> bytes:
    """Return bytes as zlib writes them."""
    return zlib.compress(raw)


def write_lz4(raw: bytes, compressions: Mapping[str, Compression]) -> bytes:
    """Return an LZ4 block. Raises: OptionError where no function for it was given."""
    known = compressions.get(LZ4)
    if known is None:
        raise OptionError("compression=lz4 needs a function to compress; none was given")
    return known.compress(raw)[4:]


def _check_size(raw_size: int | None, offset: int, limit: int) -> None:
    if raw_size is not None and raw_size > limit:
        problem = f"{raw_size} bytes before compression; up to {limit} are read here"
        raise DecodeError(problem, offset, CLAUSE_LIMITS)


def _other_size(raw_size: int, offset: int) -> DecodeError:
    return DecodeError(f"they do not hold the {raw_size} bytes announced", offset, CLAUSE)


def _read_lz4(data: bytes, limit: int, offset: int) -> bytes:
    """Return the content of an LZ4 block.

    Shape: sequences of a token, literals, and a copy of bytes from ``distance`` bytes earlier. The
    last sequence has literals only.
    Raises: DecodeError for a broken block, or for more than ``limit`` bytes.
    """
    out = bytearray()
    position, end = 0, len(data)
    try:
        while True:
            token = data[position]
            literals, position = _length(data, token >> 4, position + 1)
            if literals > end - position or len(out) + literals > limit:
                raise DecodeError("literals beyond the end", offset, CLAUSE)
            out += data[position : position + literals]
            position += literals
            if position == end:
                break
            distance = data[position] | data[position + 1] << 8
            size, position = _length(data, token & 15, position + 2)
            size += _MIN_MATCH
            if not 0 < distance <= len(out) or len(out) + size > limit:
                raise DecodeError("a copy from outside", offset, CLAUSE)
            start = len(out) - distance
            found = bytes(out[start : start + size])
            out += (found * (size // len(found) + 1))[:size]
    except IndexError as error:
        raise DecodeError("an LZ4 block that is cut off", offset, CLAUSE) from error
    return bytes(out)


def _length(data: bytes, length: int, position: int) -> tuple[int, int]:
    if length == _LONG:
        while data[position] == 0xFF:
            length += 0xFF
            position += 1
        length += data[position]
        position += 1
    return length, position
