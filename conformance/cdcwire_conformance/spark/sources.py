"""Where a feed is, and how it is cut into pieces that workers read.

A source is a topic, ``FORMAT:kafka://HOST:PORT/TOPIC``, or a directory, ``FORMAT:file:DIR``: of
messages, either JSON lines (``*.jsonl``) or Parquet with Kafka's columns (``*.parquet``), in one
format. JSON lines are cut by bytes: a piece begins at the first line that begins in it, so that a
large file is read by many workers, and a worker reads its share of small files. With a format of a
storage sink the directory may be a prefix of it, with the sink's own folders and files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import unquote, urlsplit

from cdcwire.formats import FORMAT_NAMES, get_format
from cdcwire.storage.paths import DATA_PREFIX, METADATA_NAME
from cdcwire_conformance.spark.kafka_url import SCHEME as KAFKA
from cdcwire_conformance.spark.kafka_url import KafkaTopic, parse_kafka_url

Kind: TypeAlias = Literal["jsonl", "parquet", "prefix", "topic"]

SHARE_BYTES = 128 << 20
STORED_FORMATS = frozenset({"csv", "canal-json"})
_LEAST_SHARE_BYTES = 1 << 20
_COUNTED_AT_ONCE = 1 << 20


class SourceError(ValueError):
    """A source is not there, or is none. The text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Source:
    """A feed in files, or in a ``topic``. ``files`` are sorted by name, which is the feed's order.

    They are absolute: Java and the workers keep the directory in which they were started. Those of
    a prefix are named from it on, with ``/``, and their order is the one of replay.
    """

    format: str
    folder: str
    kind: Kind
    files: tuple[str, ...]
    topic: KafkaTopic | None = field(default=None)

    def __str__(self) -> str:
        return f"{self.format}:{self.topic or f'file:{self.folder}'}"

    @property
    def has_records(self) -> bool:
        """Whether Spark itself reads the messages, as frames of Kafka's records."""
        return self.kind in ("parquet", "topic")


class Piece(NamedTuple):
    """The lines of a file that begin in ``start`` up to, not with, ``end``."""

    file: str
    start: int
    end: int


def parse_source(text: str) -> Source:
    """Return the source that ``FORMAT:file:DIR`` or ``FORMAT:kafka://…`` names.

    ``FORMAT:DIR`` is a directory too.

    Raises: SourceError.
    """
    name, colon, url = text.partition(":")
    if name not in FORMAT_NAMES:
        known = ", ".join(FORMAT_NAMES)
        raise SourceError(f"{text!r}: a source begins with its format, one of {known}")
    if not colon or not url:
        raise SourceError(f"{text!r}: a directory is missing, as in {name}:file:DIR")
    if url.startswith(f"{KAFKA}:"):
        return _source_of_topic(name, url, text)
    return source_of_folder(name, _folder_of(url, text))


def _source_of_topic(format_name: str, url: str, text: str) -> Source:
    if "queue" not in get_format(format_name).carriers:
        raise SourceError(f"{text!r}: {format_name} is written to files, not to topics")
    try:
        topic = parse_kafka_url(url)
    except ValueError as error:
        raise SourceError(f"{text!r}: {error}") from error
    return Source(format_name, "", "topic", (), topic)


def source_of_folder(format_name: str, folder: str | Path) -> Source:
    """Return the source of a directory of messages. Raises: SourceError."""
    path = Path(folder)
    if not path.is_dir():
        raise SourceError(f"{path}: there is no such directory")
    found: dict[Kind, list[str]] = {
        "jsonl": sorted(str(file.absolute()) for file in path.glob("*.jsonl")),
        "parquet": sorted(str(file.absolute()) for file in path.glob("*.parquet")),
    }
    if found["jsonl"] and found["parquet"]:
        raise SourceError(f"{path}: has *.jsonl and *.parquet; a feed is one of them")
    for kind, files in found.items():
        if files:
            return Source(format_name, str(path), kind, tuple(files))
    if format_name not in STORED_FORMATS:
        raise SourceError(f"{path}: there is no *.jsonl and no *.parquet in this directory")
    names = tuple(_names_under(path))
    if not any(map(_is_of_prefix, names)):
        raise SourceError(
            f"{path}: there is no *.jsonl, no *.parquet, and no file of a storage sink"
        )
    return Source(format_name, str(path), "prefix", names)


def _names_under(folder: Path) -> list[str]:
    """Return the files under a folder, with ``/``; hidden ones are none of a sink."""
    names = []
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = Path(parent).relative_to(folder)
        names += [(inside / name).as_posix() for name in files if not name.startswith(".")]
    return sorted(names)


def _is_of_prefix(name: str) -> bool:
    *folders, file = name.split("/")
    return name == METADATA_NAME or (bool(folders) and file.startswith((DATA_PREFIX, "schema_")))


def shares_of(files: Iterable[str], share_bytes: int = SHARE_BYTES) -> list[tuple[Piece, ...]]:
    """Return pieces that cover JSON-lines files, in order, in shares of about so many bytes."""
    shares: list[tuple[Piece, ...]] = []
    share: list[Piece] = []
    room = share_bytes
    for file in files:
        start, size = 0, Path(file).stat().st_size
        while start < size:
            end = min(size, start + room)
            share.append(Piece(file, start, end))
            room -= end - start
            start = end
            if room == 0:
                shares.append(tuple(share))
                share, room = [], share_bytes
    return [*shares, tuple(share)] if share else shares


def share_bytes_of(source: Source, workers: int) -> int:
    """Return how large shares are to be: one for each worker, but not beyond ``SHARE_BYTES``.

    A share costs a task, which takes Spark some tenth of a second.
    """
    total = sum(Path(file).stat().st_size for file in source.files)
    return share_bytes_for(total, workers)


def share_bytes_for(total: int, workers: int) -> int:
    """Return how large shares of so many bytes are to be."""
    return max(_LEAST_SHARE_BYTES, min(SHARE_BYTES, -(-total // max(1, workers))))


def read_lines(piece: Piece) -> Iterator[tuple[int, bytes]]:
    """Yield each line of a piece with the byte of the file where it begins."""
    with open(piece.file, "rb") as file:
        offset = piece.start
        if offset:
            # The line that reaches into the piece belongs to the piece before.
            file.seek(offset - 1)
            offset += len(file.readline()) - 1
        for line in file:
            if offset >= piece.end:
                return
            if not line.isspace():
                yield offset, line
            offset += len(line)


def line_number(file: str, offset: int) -> int:
    """Return the number, from 1, of the line that begins at a byte: for errors and shown rows."""
    count = 1
    with open(file, "rb") as lines:
        left = offset
        while left and (chunk := lines.read(min(left, _COUNTED_AT_ONCE))):
            count += chunk.count(b"\n")
            left -= len(chunk)
    return count


def line_numbers(file: str, offsets: Iterable[int]) -> dict[int, int]:
    """Return the numbers of the lines that begin at these bytes, given in order, in one pass."""
    found: dict[int, int] = {}
    count, at = 1, 0
    with open(file, "rb") as lines:
        for offset in offsets:
            while at < offset and (chunk := lines.read(min(offset - at, _COUNTED_AT_ONCE))):
                count += chunk.count(b"\n")
                at += len(chunk)
            found[offset] = count
    return found


def _folder_of(url: str, text: str) -> str:
    if not url.startswith("file:"):
        scheme = urlsplit(url).scheme
        if "://" in url:
            raise SourceError(f"{text!r}: {scheme} is not read here; there are file:DIR and kafka:")
        return url
    path = url.removeprefix("file:")
    if path.startswith("//"):
        parts = urlsplit(url)
        if parts.netloc not in ("", "localhost"):
            raise SourceError(f"{text!r}: a file URL has three slashes, as in file:///data/feed")
        path = unquote(parts.path)
    if not path:
        raise SourceError(f"{text!r}: a directory is missing behind file:")
    return path
