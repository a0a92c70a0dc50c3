"""The compressions of large messages that the standard library lacks, from the library cramjam.

Where it is not installed there are none, and the reference says that it does not have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Compression, Context
from cdcwire.core.reader import Reader
from cdcwire.core.varints import read_uvarint

_SNAPPY_MOST = 64  # a snappy copy of 3 bytes gives 64 at the most: what announces more is a lie


@cache
def known_compressions() -> Mapping[str, Compression]:
    """Return the installed compressions: lz4 frames, lz4 blocks after their size, snappy blocks.

    The mapping is empty if cramjam is not installed.
    """
    try:
        import cramjam
    except ImportError:
        return MappingProxyType({})
    snappy = _Checked(cramjam.snappy.decompress_raw, cramjam.DecompressionError)
    lz4 = _Checked(cramjam.lz4.decompress, cramjam.DecompressionError)
    lz4_block = _Checked(cramjam.lz4.decompress_block, cramjam.DecompressionError)
    return MappingProxyType(
        {
            "lz4": Compression(partial(_bytes_of, cramjam.lz4.compress), lz4),
            "lz4-block": Compression(partial(_bytes_of, cramjam.lz4.compress_block), lz4_block),
            "snappy": Compression(
                partial(_bytes_of, cramjam.snappy.compress_raw), _bounded_snappy(snappy)
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


def _bounded_snappy(decompress: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Refuse a block whose announced size no block of these bytes can have."""

    def bounded(data: bytes) -> bytes:
        try:
            size = read_uvarint(Reader(data), "snappy")
        except DecodeError as error:
            raise ValueError(error.problem) from error
        if size > _SNAPPY_MOST * len(data):
            raise ValueError(f"{size} bytes are announced in a block of {len(data)}")
        return decompress(data)

    return bounded


def with_compressions(context: Context) -> Context:
    """Return the context with the known compressions, if it has none."""
    if context.compressions:
        return context
    return replace(context, compressions=known_compressions())
