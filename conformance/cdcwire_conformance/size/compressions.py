"""The compressions that are compared: each by a library, with a fixed level.

zlib and gzip come with Python; zstd, lz4 and snappy with cramjam (extra ``size``).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from cdcwire.extras import load_extra

Compress: TypeAlias = Callable[[bytes], int]

RAW = "none"
COMPRESSION_NAMES: tuple[str, ...] = (RAW, "zlib", "gzip", "zstd", "lz4", "snappy")

_DEFLATE_LEVEL = 6
_ZLIB_FRAME = 2 + 4  # bytes of header and checksum
_GZIP_FRAME = 10 + 8
_ZSTD_LEVEL = 3
_LZ4_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Compression:
    """``size_of`` gives the compressed size in bytes. ``library``: with its version."""

    name: str
    setting: str
    library: str
    size_of: Compress


def compressions(names: Sequence[str] = COMPRESSION_NAMES) -> tuple[Compression, ...]:
    """Return compressions by their names.

    Raises: ValueError for a name that is not known; MissingExtraError where cramjam is needed and
    not installed.
    """
    for name in names:
        if name not in COMPRESSION_NAMES:
            known = ", ".join(COMPRESSION_NAMES)
            raise ValueError(f"compression {name!r} is not known; there are: {known}")
    return tuple(map(_compression, names))


def _compression(name: str) -> Compression:
    deflate = f"zlib {zlib.ZLIB_RUNTIME_VERSION}"
    if name == RAW:
        return Compression(name, "", "", len)
    if name == "zlib":
        return Compression(name, f"level {_DEFLATE_LEVEL}", deflate, _zlib_size)
    if name == "gzip":
        setting = f"level {_DEFLATE_LEVEL}, no time stamp"
        return Compression(name, setting, deflate, _gzip_size)
    cramjam: Any = load_extra("cramjam", "size", f"the compression {name}")
    library = f"cramjam {cramjam.__version__}"
    if name == "zstd":
        zstd = cramjam.zstd.compress
        return Compression(
            name, f"level {_ZSTD_LEVEL}", library, lambda raw: len(zstd(raw, level=_ZSTD_LEVEL))
        )
    if name == "lz4":
        lz4 = cramjam.lz4.compress
        return Compression(
            name,
            f"level {_LZ4_LEVEL}, frame format",
            library,
            lambda raw: len(lz4(raw, level=_LZ4_LEVEL)),
        )
    snappy = cramjam.snappy.compress_raw
    return Compression(name, "without framing", library, lambda raw: len(snappy(raw)))


def _zlib_size(raw: bytes) -> int:
    return _deflated_size(raw) + _ZLIB_FRAME


def _gzip_size(raw: bytes) -> int:
    return _deflated_size(raw) + _GZIP_FRAME


@lru_cache(maxsize=1)  # zlib and gzip have the same data in two frames
def _deflated_size(raw: bytes) -> int:
    return len(zlib.compress(raw, _DEFLATE_LEVEL)) - _ZLIB_FRAME
