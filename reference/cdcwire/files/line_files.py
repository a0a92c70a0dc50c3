"""Files of JSON lines: ``*.jsonl`` or ``*.ndjson``, as they are or compressed (``.gz``, ``.zst``).

Capital letters in a suffix make no difference: ``FEED.JSONL.GZ`` is such a file.
A few compressed bytes can become any number of bytes. So there are limits on what is in memory
after decompression: one line, and all of a ``.zst`` file. An environment variable sets them, since
Spark's workers read files too. Reading the message of a line takes four times its memory.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from errno import EFBIG, EINVAL, EIO
from functools import partial
from pathlib import PurePath
from typing import BinaryIO, cast

from cdcwire.compressions import decompressed_within
from cdcwire.core.limits import SizeLimitError
from cdcwire.extras import load_extra
from cdcwire.files import local_files

LIMIT_VARIABLE = "CDCWIRE_MAX_DECOMPRESSED_BYTES"
MAX_LINE_BYTES = 128 << 20
MAX_DECOMPRESSED_BYTES = 512 << 20
MAX_BLANK_LINES = 1_000_000

LINES = (".jsonl", ".ndjson")
LINES_TEXT = "*.jsonl or *.ndjson"  # for people
_GZIP, _ZSTD = ".gz", ".zst"


def is_lines(name: str) -> bool:
    """Return whether a file has JSON lines, by its name."""
    return _uncompressed(name).lower().endswith(LINES)


UNPACKED = 10
"""How many times larger the content of a compressed file is taken to be."""


def is_compressed(name: str) -> bool:
    """Return whether a file of lines is compressed, so that it is read from its beginning."""
    return name.lower().endswith((_GZIP, _ZSTD))


def stem_of(name: str) -> str:
    """Return a file's name without its folders and suffixes: of a topic, if it is named so."""
    return PurePath(_uncompressed(name)).stem


def _uncompressed(name: str) -> str:
    return PurePath(name).stem if is_compressed(name) else name


def lines_in(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the lines of a file. Raises: OSError, also for a line that is too long to be whole."""
    most = local_files.MAX_BYTES
    for line in iter(partial(file.readline, most + 1), b""):
        if len(line) > most:
            raise OSError(EFBIG, f"a line of more than {most} bytes", name)
        yield line


class BlankLines:
    """Counts the blank lines of a file. Nothing else of it may be left after decompression."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._count = 0

    def add(self) -> None:
        """Count one. Raises: OSError if there are too many."""
        self._count += 1
        if self._count > MAX_BLANK_LINES:
            raise OSError(EFBIG, f"more than {MAX_BLANK_LINES} blank lines", self._name)


def _limit(default: int) -> int:
    text = os.environ.get(LIMIT_VARIABLE, "")
    if not text:
        return default
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
        is_bounded = size is not None and 0 <= size <= self._limit
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
        limit, line_limit = _limit(MAX_DECOMPRESSED_BYTES), _limit(MAX_LINE_BYTES)
    except OSError:
        file.close()
        raise
    if name.lower().endswith(_GZIP):
        return cast(BinaryIO, _Unzipped(name, file, line_limit))
    cramjam = load_extra("cramjam", "compression", f"{PurePath(name).name}")
    with file:
        content = file.read()
    into, refused = cramjam.zstd.decompress_into, cramjam.DecompressionError
    try:
        content = decompressed_within(into, refused, content, limit)
        if not _has_short_lines(content, line_limit):
            raise _too_large(line_limit, name)
        return io.BytesIO(content)
    except SizeLimitError as error:
        raise _too_large(limit, name) from error
    except ValueError as error:
        raise OSError(EIO, "is not whole zstd data", name) from error


def _has_short_lines(content: bytes, limit: int) -> bool:
    """Return whether no line has more than ``limit`` bytes."""
    start = 0
    while len(content) - start > limit:
        start = content.rfind(b"\n", start, start + limit) + 1
        if not start:
            return False
    return True
