"""Files of JSON lines, as they are or compressed: ``*.jsonl``, ``*.jsonl.gz``, ``*.jsonl.zst``."""

from __future__ import annotations

import gzip
import io
from errno import EIO
from pathlib import PurePath
from typing import BinaryIO, cast

from cdcwire_conformance.extras import load_extra

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


class _Unzipped(gzip.GzipFile):
    """A file without its compression, which closes the compressed one too."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(fileobj=file, mode="rb")
        self._compressed = file

    def close(self) -> None:
        """Close both files."""
        try:
            super().close()
        finally:
            self._compressed.close()


def plain(name: str, file: BinaryIO) -> BinaryIO:
    """Return a file of lines without its compression. Raises: OSError."""
    if not is_lines(name):
        return file
    if name.endswith(_GZIP):
        return cast(BinaryIO, _Unzipped(file))
    if name.endswith(_ZSTD):
        cramjam = load_extra("cramjam", "compression", f"{PurePath(name).name}")
        with file:
            content = file.read()
        try:
            return io.BytesIO(bytes(cramjam.zstd.decompress(content)))
        except cramjam.DecompressionError as error:
            raise OSError(EIO, "is not whole zstd data", name) from error
    return file
