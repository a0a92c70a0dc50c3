"""Where a feed is, and how it is cut into pieces that workers read.

A source is a topic, ``FORMAT:kafka://HOST:PORT/TOPIC``, or a directory, ``FORMAT:file:DIR``. The
directory has messages of one format: JSON lines (``*.jsonl`` or ``*.ndjson``, also ``.gz`` or
``.zst``), or Parquet with Kafka's columns (``*.parquet``). Other files in it, and those of its
subdirectories, are not read; a source names those that may have rows. ``FORMAT:file:FILE`` is one
file of any name, and nothing else of its directory. JSON lines are cut by bytes:
a piece begins at the first line that begins in it. Thus many workers share a large file, and one
worker reads its share of small files. Compressed files are not cut. With a format of a storage sink
the directory may be a prefix of it, with the sink's own folders and files. It may be in a bucket or
on any other file system that Spark knows, by its URL; files there are not cut.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from cdcwire.files.line_files import LINES_TEXT, is_lines
from cdcwire.files.stores import (
    LocalStore,
    Store,
    StoreError,
    check_for_spark,
    directory_of,
    has_password,
    is_hidden,
    is_url,
    path_under,
    scheme_of,
)
from cdcwire.files.stores import SourceError as SourceError
from cdcwire.files.unread import (
    ALL_READ,
    PARQUET,
    Unread,
    may_have_messages,
    unread_files,
)
from cdcwire.format import Format
from cdcwire.registry import FORMAT_NAMES, get_format, unknown_format
from cdcwire.storage.paths import DATA_PREFIX, METADATA_NAME
from cdcwire_conformance.sources.kafka_url import SCHEME as KAFKA
from cdcwire_conformance.sources.kafka_url import KafkaTopic, parse_kafka_url

Kind: TypeAlias = Literal["jsonl", "parquet", "prefix", "topic", "place"]

_OTHERS = {  # which are no file systems, or have another name
    "s3": "it is s3a://BUCKET/DIR",
    "s3n": "it is s3a://BUCKET/DIR",
    "http": "",
    "https": "",
    "ftp": "",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A feed in files, or in a ``topic``. ``files`` are sorted by name, which is the feed's order.

    They are absolute: Java and the workers keep the directory in which they were started. Those of
    a prefix are named from it on, with ``/``, and their order is the one of replay. A ``place`` is
    one that only Spark reaches: ``open_source`` finds its files. ``unread``: other files in the
    directory that may have rows. ``name``: the file of the directory, where only one was named.
    """

    format: Format
    folder: str
    kind: Kind
    files: tuple[str, ...]
    topic: KafkaTopic | None = field(default=None)
    unread: Unread = field(default=ALL_READ)
    name: str = ""

    def __str__(self) -> str:
        return f"{self.format.name}:{self.topic or self.where}"

    @property
    def where(self) -> str:
        """Return the folder or the file as it is written after the format."""
        return self.folder if is_url(self.folder) else f"file:{self.path}"

    @property
    def path(self) -> str:
        """Return the folder, or the only file of it that is read, on this machine."""
        return str(Path(self.folder, self.name))

    @property
    def scheme(self) -> str:
        """Return what Spark needs a connector for: ``kafka``, ``s3a`` and others; "" for none."""
        return KAFKA if self.topic is not None else scheme_of(self.folder)

    @property
    def has_records(self) -> bool:
        """True if Spark itself reads the messages, as frames of Kafka's records."""
        return self.kind in ("parquet", "topic")


@dataclass(frozen=True, slots=True)
class SourceUrl:
    """A format, and where its feed is: a directory, a URL of a store, or a ``topic``."""

    format: str
    location: str
    topic: KafkaTopic | None = None


def parse_source_url(text: str) -> SourceUrl:
    """Return the parts of ``FORMAT:file:DIR``, ``FORMAT:kafka://…`` or ``FORMAT:s3a://…``.

    ``FORMAT:DIR`` is a directory too. A file may be in its place. Raises: SourceError.
    """
    name, colon, url = text.partition(":")
    if name not in FORMAT_NAMES:
        if colon:
            raise SourceError(f"{text!r}: {unknown_format(name)}")
        raise SourceError(
            f"{text!r} has no format; write auto:file:{text}, which finds the format, or "
            f"FORMAT:file:{text}"
        )
    if not colon or not url:
        raise SourceError(f"{text!r}: a directory is missing, as in {name}:file:DIR")
    if url.startswith(f"{KAFKA}:"):
        return SourceUrl(name, "", _topic_of(name, url, text))
    try:
        folder = directory_of(url)
    except StoreError as error:
        raise SourceError(f"{text!r}: {error}") from error
    return SourceUrl(name, _checked_url(url, name) if folder is None else folder)


def parse_source(text: str) -> Source:
    """Return the source of a URL; see ``parse_source_url``. Raises: SourceError."""
    found = parse_source_url(text)
    format_ = get_format(found.format)
    if found.topic is not None:
        return Source(format_, "", "topic", (), found.topic)
    if is_url(found.location):
        return Source(format_, found.location, "place", ())
    if Path(found.location).is_file():
        return _source_of_file(format_, Path(found.location))
    return source_in(format_, LocalStore(found.location))


def _source_of_file(format_: Format, file: Path) -> Source:
    """Return the source that one file is: JSON lines, unless its name is that of Parquet."""
    kind: Kind = "parquet" if file.name.lower().endswith(PARQUET) else "jsonl"
    store = LocalStore(file.parent)
    return Source(format_, store.url, kind, (path_under(store.root, file.name),), name=file.name)


def _topic_of(format_name: str, url: str, text: str) -> KafkaTopic:
    if "queue" not in get_format(format_name).carriers:
        raise SourceError(f"{text!r}: {format_name} is written to files, not to topics")
    try:
        return parse_kafka_url(url)
    except ValueError as error:
        raise SourceError(f"{text!r}: {error}") from error


def source_of_folder(format_name: str, folder: str | Path) -> Source:
    """Return the source of a directory of messages. Raises: SourceError."""
    return source_in(get_format(format_name), LocalStore(folder))


def source_in(format_: Format, store: Store) -> Source:
    """Return the source that the files of a store are. Raises: SourceError."""
    top = {each.path: each.size for each in store.list(recursive=False)}
    of_spark = is_url(store.root)
    folder = store.root if of_spark else store.url
    found: dict[Kind, list[str]] = {
        "jsonl": sorted(name for name in top if is_lines(name)),
        "parquet": sorted(name for name in top if name.lower().endswith(PARQUET)),
    }
    if found["jsonl"] and found["parquet"]:
        raise SourceError(f"{folder}: has JSON lines and *.parquet; a feed is one of them")
    for kind, names in found.items():
        if names:
            if of_spark:
                sizes = {name: top[name] if kind == "jsonl" else 0 for name in names}
                check_for_spark(store.root, sizes)
            if _has_prefix(format_, store, top):
                raise SourceError(
                    f"{folder}: is mixed: it has {names[0]} and files of a storage sink; a feed is "
                    "one of them, so move one into its own directory"
                )
            paths = tuple(path_under(store.root, name) for name in names)
            return Source(format_, folder, kind, paths, unread=unread_files(store, names))
    if format_.stored is None:
        raise SourceError(
            f"{folder}: there is no {LINES_TEXT}, and no *.parquet in this directory"
            f"{_beside(unread_files(store, ()))}"
        )
    listed = [each.path for each in store.list()]
    names = sorted(name for name in listed if not is_hidden(name))
    if not any(map(_is_of_prefix, names)):
        raise SourceError(
            f"{folder}: there is no {LINES_TEXT}, no *.parquet, and no file of a storage sink"
            f"{_beside(unread_files(store, ()))}"
        )
    others = Unread(tuple(sorted(n for n in listed if is_hidden(n) and may_have_messages(n))))
    return Source(format_, folder, "prefix", tuple(names), unread=others)


def _beside(unread: Unread) -> str:
    """Return what a directory without a feed has instead."""
    return f"; not read: {unread}" if unread else ""


def _has_prefix(format_: Format, store: Store, top: Iterable[str]) -> bool:
    """Return whether a directory of messages is a storage prefix too.

    All names are listed only for a format that may have a prefix.
    """
    if METADATA_NAME in top:
        return True
    return format_.stored is not None and any(_is_of_prefix(each.path) for each in store.list())


def _is_of_prefix(name: str) -> bool:
    *folders, file = name.split("/")
    return name == METADATA_NAME or (bool(folders) and file.startswith((DATA_PREFIX, "schema_")))


def _checked_url(url: str, format_name: str) -> str:
    """Return the URL of a place that Java may reach. Raises: SourceError."""
    scheme, parts = scheme_of(url), urlsplit(url)
    if has_password(url):
        raise SourceError(
            f"{format_name}:{scheme}: a URL is shown, so it takes no password; keys go into "
            "Spark's settings or into the environment"
        )
    if scheme in _OTHERS:
        problem = _OTHERS[scheme] or "there are file:DIR, kafka: and what Hadoop knows, as s3a:"
        raise SourceError(f"{format_name}:{url}: {scheme} is not read here; {problem}")
    if scheme == "s3a" and not parts.netloc:
        raise SourceError(f"{format_name}:{url}: a bucket is missing, as in s3a://BUCKET/DIR")
    return url.rstrip("/")
