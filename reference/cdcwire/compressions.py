"""The compressions of large messages that the standard library lacks, from the library cramjam.

Where it is not installed there are none, and the reference says that it does not have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from cdcwire.core.context import Compression, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.limits import MAX_DECOMPRESSED_BYTES, SizeLimitError
from cdcwire.core.reader import Reader, read_uvarint
from cdcwire.extras import MissingExtraError, load_extra

_NO_ROOM = "failed to write whole buffer"
_FIRST_ROOM = 1 << 12
_USUAL_RATIO = 8
_SNAPPY_MOST = 64  # a snappy copy of 3 bytes gives 64 at the most: what announces more is a lie


@cache
def known_compressions() -> Mapping[str, Compression]:
    """Return the installed compressions: lz4 frames, lz4 blocks after their size, snappy blocks.

    The mapping is empty if cramjam is not installed.
    """
    try:
        cramjam = load_extra("cramjam", "compression", "decompressing")
    except MissingExtraError:
        return MappingProxyType({})
    error = cramjam.DecompressionError
    lz4 = _Checked(cramjam.lz4.decompress, error)
    lz4_block = _Checked(cramjam.lz4.decompress_block, error)
    snappy = _Checked(cramjam.snappy.decompress_raw, error)
    growing = partial(decompressed_within, cramjam.lz4.decompress_into, error)
    return MappingProxyType(
        {
            "lz4": Compression(partial(_bytes_of, cramjam.lz4.compress), lz4, growing),
            "lz4-block": Compression(
                partial(_bytes_of, cramjam.lz4.compress_block),
                lz4_block,
                partial(_announced, lz4_block, _size_of_block),
            ),
            "snappy": Compression(
                partial(_bytes_of, cramjam.snappy.compress_raw),
                partial(_announced, snappy, _size_of_snappy, limit=MAX_DECOMPRESSED_BYTES),
                partial(_announced, snappy, _size_of_snappy),
            ),
        }
    )


def _bytes_of(function: Callable[[bytes], Any], data: bytes) -> bytes:
    return bytes(function(data))


class _Checked:
    """A decompression whose library's error is a ValueError."""

    def __init__(self, decompress: Callable[[bytes], Any], error: type[Exception]) -> None:
        self._decompress = decompress
        self._error = error

    def __call__(self, data: bytes) -> bytes:
        try:
            return bytes(self._decompress(data))
        except self._error as error:
            raise ValueError(str(error)) from error


def decompressed_within(
    into: Callable[[bytes, bytearray], int], error: type[Exception], data: bytes, limit: int
) -> bytes:
    """Decompress into growing buffers, since frames need not announce their size.

    Raises: SizeLimitError beyond the limit; ValueError for bytes that the library refuses.
    """
    size = min(limit, _FIRST_ROOM + _USUAL_RATIO * len(data))
    while True:
        out = bytearray(size)
        try:
            return bytes(memoryview(out)[: into(data, out)])
        except error as problem:
            if _NO_ROOM not in str(problem):
                raise ValueError(str(problem)) from problem
            if size == limit:
                raise SizeLimitError(limit) from problem
        size = min(limit, _USUAL_RATIO * size)


def _announced(
    decompress: Callable[[bytes], bytes], size_of: Callable[[bytes], int], data: bytes, limit: int
) -> bytes:
    """Decompress a block that announces its size."""
    size = size_of(data)
    if size > limit:
        raise SizeLimitError(limit)
    return decompress(data)


def _size_of_block(data: bytes) -> int:
    return int.from_bytes(data[:4], "little")


def _size_of_snappy(data: bytes) -> int:
    """Return the announced size, which is at most 64 times the size of the block."""
    try:
        size = read_uvarint(Reader(data), "snappy")
    except DecodeError as error:
        raise ValueError(error.problem) from error
    if size > _SNAPPY_MOST * len(data):
        raise ValueError(f"{size} bytes are announced in a block of {len(data)}")
    return size


def with_compressions(context: Context) -> Context:
    """Return the context with the known compressions, if it has none."""
    if context.compressions:
        return context
    return replace(context, compressions=known_compressions())
