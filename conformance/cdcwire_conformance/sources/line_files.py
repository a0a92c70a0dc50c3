"""Files of JSON lines, as they are or compressed: ``*.jsonl``, ``*.jsonl.gz``, ``*.jsonl.zst``.

A few compressed bytes can become any number of bytes. So there is a limit on what is in memory
after decompression: one line of a ``.gz`` file, all of a ``.zst`` file. An environment variable
sets it, since Spark's workers read files too.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable
from errno import EFBIG, EINVAL, EIO
from pathlib import PurePath
from typing import BinaryIO, cast

from cdcwire.core.limits import SizeLimitError
from cdcwire_conformance.compressions import decompressed_within
from cdcwire_conformance.extras import load_extra

LIMIT_VARIABLE = "CDCWIRE_MAX_DECOMPRESSED_BYTES"
MAX_DECOMPRESSED_BYTES = 512 << 20

LINES = ".jsonl"
_GZIP, _ZSTD = ".gz", ".zst"


def is_lines(name: str) -> bool:
    """Return whether a file has JSON lines, by its name."""
    return name.removesuffix(_GZIP).removesuffix(_ZSTD).endswith(LINES)


def is_compressed(name: str) -> bool:
    """Return whether a file of lines is compressed, so that it is read from its beginning."""
    return name.endswith((_GZIP, _ZSTD))


def stem_of(name: str) -> str:
    """Return a file's name without its folders and suffixes: of a topic, if it is named so."""
    return PurePath(name.removesuffix(_GZIP).removesuffix(_ZSTD)).stem


def _limit() -> int:
    text = os.environ.get(LIMIT_VARIABLE, "")
    if not text:
        return MAX_DECOMPRESSED_BYTES
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text)):
        raise OSError(EINVAL, f"{LIMIT_VARIABLE} is not a number from 1: {text!r:.40}")
    return int(text)


def _too_large(limit: int, name: str) -> OSError:
    problem = f"more than {limit} bytes after decompression ({LIMIT_VARIABLE} allows more)"
    return OSError(EFBIG, problem, name)


class _Unzipped(gzip.GzipFile):
    """A file without its compression, which closes the compressed one too."""

    def __init__(self, name: str, file: BinaryIO, limit: int) -> None:
        super().__init__(fileobj=file, mode="rb")
        self._path = name
        self._limit = limit
        self._compressed = file

    def readline(self, size: int | None = -1) -> bytes:
        """Return a line, or its first bytes. Raises: OSError for a line that is too long."""
        return self._checked(super().readline, size)

    def read(self, size: int | None = -1) -> bytes:
        """Return bytes; by default all that are left. Raises: OSError if these are too many."""
        return self._checked(super().read, size)

    def _checked(self, read: Callable[[int], bytes], size: int | None) -> bytes:
        is_bounded = size is not None and size >= 0
        try:
            data = read(size if size is not None and is_bounded else self._limit + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise OSError(EIO, "is not whole gzip data", self._path) from error
        if not is_bounded and len(data) > self._limit:
            raise _too_large(self._limit, self._path)
        return data

    def close(self) -> None:
        """Close both files."""
        try:
            super().close()
        finally:
            self._compressed.close()


def plain(name: str, file: BinaryIO) -> BinaryIO:
    """Return a file of lines without its compression. Raises: OSError."""
    if not is_lines(name) or not is_compressed(name):
        return file
    try:
        limit = _limit()
    except OSError:
        file.close()
        raise
    if name.endswith(_GZIP):
        return cast(BinaryIO, _Unzipped(name, file, limit))
    cramjam = load_extra("cramjam", "compression", f"{PurePath(name).name}")
    with file:
        content = file.read()
    into, refused = cramjam.zstd.decompress_into, cramjam.DecompressionError
    try:
        return io.BytesIO(decompressed_within(into, refused, content, limit))
    except SizeLimitError as error:
        raise _too_large(limit, name) from error
    except ValueError as error:
        raise OSError(EIO, "is not whole zstd data", name) from error
