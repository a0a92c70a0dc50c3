"""The frame around protobuf and batch bodies: magic, checksum, length.

Shape: ``DHUB``, CRC-32C of the body and its length, both 4 bytes big-endian, the body.
Source: datahub, "frame".
"""

from __future__ import annotations

from struct import Struct

from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.reader import Reader
from cdcwire.datahub.crc32c import crc32c

CLAUSE = "datahub: frame"
CLAUSE_CHECKSUM = "datahub: checksums"
MAGIC = b"DHUB"

_NUMBER = Struct(">I")


def read_frame(reader: Reader) -> Reader:
    """Return a reader of the body. Raises: DecodeError."""
    start = reader.offset
    if reader.take(len(MAGIC), CLAUSE) != MAGIC:
        raise DecodeError("a frame begins with DHUB", start, CLAUSE, ("magic",))
    reader.note(start, "DHUB", CLAUSE, "magic")
    sum_at = reader.offset
    (checksum,) = _NUMBER.unpack(reader.take(_NUMBER.size, CLAUSE))
    reader.note(sum_at, f"{checksum:08x}", CLAUSE_CHECKSUM, "crc")
    size_at = reader.offset
    (size,) = _NUMBER.unpack(reader.take(_NUMBER.size, CLAUSE))
    reader.note(size_at, size, CLAUSE, "length")
    if size > reader.left:
        problem = f"{size} bytes are announced, {reader.left} are left"
        raise TruncatedError(problem, reader.end, CLAUSE)
    if size != reader.left:
        problem = f"the length says {size} bytes, {reader.left} follow"
        raise DecodeError(problem, size_at, CLAUSE, ("length",))
    body = memoryview(reader.data)[reader.offset : reader.end]
    found = crc32c(body)
    if found != checksum:
        problem = f"the checksum of the body is {found:08x}, not {checksum:08x}"
        raise DecodeError(problem, sum_at, CLAUSE_CHECKSUM, ("crc",))
    return reader.region(size, CLAUSE)


def write_frame(body: bytes) -> bytes:
    """Return the body in its frame."""
    return b"".join((MAGIC, _NUMBER.pack(crc32c(body)), _NUMBER.pack(len(body)), body))
