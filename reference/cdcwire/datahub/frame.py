"""The frame around protobuf and batch bodies: magic, checksum, length.

Shape: ``DHUB``, CRC-32C of the body and its length, both 4 bytes big-endian, the body.
Source: datahub, "frame".

The checksum is CRC-32C (Castagnoli), reflected; batches have it too. The sum is linear. To get the
sum of two parts, the sum of the first is carried on over as many zero bytes as the second has. It
is then combined with the sum of the second. Long data are therefore halved again and again, all
words of one half at once, with the tables of ``bytes.translate``. The rest is added word by word.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct

from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.reader import Reader

_POLYNOMIAL = 0x82F63B78
_ONES = 0xFFFFFFFF
_WORD = Struct("<I")
_WORD_BYTES = 4
_SHORT = 1 << 10  # bytes; below, halving takes longer than it saves


def _tables() -> tuple[tuple[int, ...], ...]:
    """Return the change of the sum by one byte that is followed by 0, 1, 2 and 3 others."""
    first = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        first.append(value)
    tables = [tuple(first)]
    for _ in range(_WORD.size - 1):
        tables.append(tuple(value >> 8 ^ first[value & 0xFF] for value in tables[-1]))
    return tuple(tables)


_FIRST, _SECOND, _THIRD, _FOURTH = _tables()


def crc32c(data: bytes | memoryview) -> int:
    """Return the checksum, in [0, 2**32). The checksum of ``123456789`` is 0xE3069283."""
    if len(data) < _SHORT:
        return _by_words(data, _ONES) ^ _ONES
    whole = len(data) & -_WORD_BYTES
    return _by_words(data[whole:], _by_halves(bytes(data[:whole]))) ^ _ONES


def joined_crc32c(first: int, second: int, size: int) -> int:
    """Return the checksum of two parts from both checksums. ``size``: of the second part."""
    value = first
    words, rest = divmod(size, _WORD_BYTES)
    for level in range(words.bit_length()):
        if words >> level & 1:
            value = _carry(value, level)
    for _ in range(rest):
        value = value >> 8 ^ _FIRST[value & 0xFF]
    return value ^ second


def _by_words(data: bytes | memoryview, value: int) -> int:
    first, second, third, fourth = _FIRST, _SECOND, _THIRD, _FOURTH
    whole = len(data) & -_WORD_BYTES
    for (word,) in _WORD.iter_unpack(data[:whole]):
        value ^= word
        value = (
            fourth[value & 0xFF]
            ^ third[value >> 8 & 0xFF]
            ^ second[value >> 16 & 0xFF]
            ^ first[value >> 24]
        )
    for byte in data[whole:]:
        value = value >> 8 ^ first[(value ^ byte) & 0xFF]
    return value


def _by_halves(data: bytes) -> int:
    """Return the sum of whole words, begun with ones."""
    begun = (_WORD.unpack_from(data)[0] ^ _ONES).to_bytes(_WORD_BYTES, "little") + data[4:]
    level = (len(begun) // _WORD_BYTES - 1).bit_length()
    words = begun.rjust(_WORD_BYTES << level, b"\0")  # leading zeros change nothing
    columns = [words[column::_WORD_BYTES] for column in range(_WORD_BYTES)]
    while level > 5:
        level -= 1
        half = 1 << level
        heads = [column[:half] for column in columns]
        found = []
        for column, changes in zip(columns, _carried(level), strict=True):
            total = int.from_bytes(column[half:], "little")
            for front, change in zip(heads, changes, strict=True):
                total ^= int.from_bytes(front.translate(change), "little")
            found.append(total.to_bytes(half, "little"))
        columns = found
    rest = bytearray(_WORD_BYTES << level)
    for index, column in enumerate(columns):
        rest[index::_WORD_BYTES] = column
    return _by_words(bytes(rest), 0)


@lru_cache(maxsize=32)
def _carried(level: int) -> tuple[tuple[bytes, ...], ...]:
    """Return what each byte of a word adds to each byte of the sum 2**level words further on.

    The outer index is that of the sum's byte, the inner one that of the word's.
    """
    per_byte = [[_carry(byte << 8 * column, level) for byte in range(256)] for column in range(4)]
    return tuple(
        tuple(bytes(value >> 8 * out & 0xFF for value in values) for values in per_byte)
        for out in range(4)
    )


def _carry(value: int, level: int) -> int:
    """Return a sum 2**level words of zeros further on."""
    basis = _basis(level)
    result = 0
    while value:
        low = value & -value
        result ^= basis[low.bit_length() - 1]
        value ^= low
    return result


@lru_cache(maxsize=32)
def _basis(level: int) -> tuple[int, ...]:
    if level == 0:
        return tuple(_by_words(bytes(_WORD_BYTES), 1 << bit) for bit in range(32))
    return tuple(_carry(value, level - 1) for value in _basis(level - 1))


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
