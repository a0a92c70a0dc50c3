"""Samples of messages from files, directories, prefixes and topics of unknown format.

Reading is bounded: in messages, in bytes of each and in bytes of all. What is left out is counted.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, TypeAlias, cast

from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.extras import extension, load_extra
from cdcwire.files.line_files import is_lines
from cdcwire.files.local_files import unreadable
from cdcwire.files.messages_io import (
    STANDARD_STREAM,
    InputError,
    begins_with_message,
    message_from_line,
)
from cdcwire.files.stores import (
    Listed,
    LocalStore,
    Store,
    directory_of,
    is_hidden,
    open_here,
    open_store,
    opener_in,
    path_under,
    scheme_of,
)
from cdcwire.identify.ranking import Sample
from cdcwire.storage.paths import METADATA_NAME

Container: TypeAlias = Literal["file", "lines", "messages", "files", "parquet", "topic"]
Encoding: TypeAlias = Literal["bytes", "hex", "base64"]

DEFAULT_MESSAGES = 100
MAX_MESSAGE_BYTES = 16 << 20
_MAX_ALL_BYTES = 32 << 20
_CUT_BYTES = 1 << 20  # of a larger file, which may be of rows
_MAX_LISTED = 100_000
_FILE_SUFFIXES = (".csv", ".json")
_HADOOP_SCHEMES = ("s3a", "hdfs", "abfs", "abfss", "wasb", "wasbs", "viewfs")
_HEX = re.compile(rb"\s*(?:[0-9a-fA-F]{2}\s*)+")
_BASE64 = re.compile(rb"\s*[A-Za-z0-9+/\s]{8,}={0,2}\s*")


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read a place: what it contains, and how its bytes are written.

    ``skipped``: messages that are too large to look into.
    """

    container: Container
    encoding: Encoding
    samples: tuple[Sample, ...]
    skipped: int = 0


class Elsewhere(Protocol):
    """Reads places that this package does not read."""

    def reading_of_topic(self, url: str, limit: int) -> Reading:
        """Return at most ``limit`` records of a topic. Raises: SourceError."""
        ...

    def store_at(self, url: str) -> Store:
        """Return the store of a URL of one of Hadoop's file systems. Raises: SourceError."""
        ...


def read_place(
    place: str,
    limit: int = DEFAULT_MESSAGES,
    key: str | None = None,
    elsewhere: Elsewhere | None = None,
) -> Iterator[Reading]:
    """Yield the ways to read a file, directory, prefix or topic, the likeliest first.

    ``limit``: how many messages are read at most. ``key``: a file with the key of one value.
    ``elsewhere``: reads topics and Hadoop's file systems; by default that of another package.
    Raises: InputError; SourceError; MissingExtraError; ModuleNotFoundError without that package.
    """
    if place == STANDARD_STREAM:
        raw = sys.stdin.buffer.read(MAX_MESSAGE_BYTES + 1)
        yield from _readings_of_file("standard input", raw, limit, key)
        return
    if place.startswith("kafka:"):
        yield (elsewhere or _elsewhere(place)).reading_of_topic(place, limit)
        return
    folder = directory_of(place)
    if folder is None:
        yield _reading_of_store(_store_of(place, elsewhere), limit)
    elif Path(folder).is_dir():
        yield _reading_of_store(LocalStore(folder), limit)
    elif is_lines(folder):
        yield _reading_of_lines({folder: partial(_open, folder)}, limit)
    else:
        yield from _readings_of_file(folder, _start_of(folder), limit, key)


def _open(path: str) -> BinaryIO:
    try:
        return open_here(path)
    except OSError as error:
        problem = unreadable(error, path)
        if len(path) > 16 and _HEX.fullmatch(os.fsencode(path)):
            problem += "; a message in hexadecimal digits is given by standard input (-)"
        raise InputError(problem, path) from error


def _start_of(path: str) -> bytes:
    with _open(path) as file:
        return file.read(MAX_MESSAGE_BYTES + 1)


def _elsewhere(url: str) -> Elsewhere:
    found: Elsewhere = extension("read-elsewhere", f"identify on {scheme_of(url)}:")()
    return found


def _store_of(url: str, elsewhere: Elsewhere | None) -> Store:
    if scheme_of(url) not in _HADOOP_SCHEMES:
        return open_store(url)
    return (elsewhere or _elsewhere(url)).store_at(url)


def _readings_of_file(name: str, raw: bytes, limit: int, key: str | None) -> Iterator[Reading]:
    """Yield the ways to read a file of bytes: as it is, as lines, as text that encodes bytes."""
    key_bytes = None if key is None else _start_of(key)
    if not raw:
        yield Reading("file", "bytes", ())
        return
    if key is None and begins_with_message(raw):
        yield _reading_of_lines({name: partial(io.BytesIO, raw)}, limit)
        return
    is_cut = len(raw) > MAX_MESSAGE_BYTES
    yield Reading("file", "bytes", (_sample(name, Path(name).name, raw, is_cut, key_bytes),))
    if is_cut or key is not None:
        return
    lines = [line for line in raw.splitlines() if line.strip()]
    if len(lines) > 1 and isinstance(_json_of(lines[0]), dict):
        yield _reading_of_lines({name: partial(io.BytesIO, raw)}, limit)
    for encoding, value in _decoded_texts(raw):
        yield Reading("file", encoding, (_sample(name, Path(name).stem, value, False, None),))


def _decoded_texts(raw: bytes) -> Iterator[tuple[Encoding, bytes]]:
    if _HEX.fullmatch(raw):
        yield "hex", bytes.fromhex(raw.decode("ascii"))
    if _BASE64.fullmatch(raw):
        try:
            yield "base64", base64.b64decode(b"".join(raw.split()), validate=True)
        except binascii.Error:
            return


def _sample(where: str, path: str, raw: bytes, is_cut: bool, key: bytes | None) -> Sample:
    """Return a file as what it may be: a message's value, or a file of a prefix."""
    if is_cut:
        raw = raw[: raw.rfind(b"\n", 0, _CUT_BYTES) + 1] or raw[:_CUT_BYTES]
        return Sample(where, (StoredFile(path, raw),), is_cut)
    message = KafkaMessage(key, raw, has_key=key is not None)
    file = StoredFile(path, raw)
    if key is not None:
        return Sample(where, (message,))
    is_file = "/" in path or path.endswith(_FILE_SUFFIXES)
    return Sample(where, (file, message) if is_file else (message, file))


def _json_of(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _reading_of_lines(files: Mapping[str, Callable[[], BinaryIO]], limit: int) -> Reading:
    """Return the messages of JSON lines; a line that is not a message object is a value."""
    samples: list[Sample] = []
    skipped = size = 0
    are_messages = False
    for name, open_file in files.items():
        with open_file() as lines:
            for number in range(1, _MAX_LISTED):
                line = lines.readline(2 * MAX_MESSAGE_BYTES)
                if not line or len(samples) >= limit or size > _MAX_ALL_BYTES:
                    break
                if not line.strip():
                    continue
                found, is_message = _message_of_line(line)
                are_messages |= is_message
                size += len(line)
                if len(found.value or b"") > MAX_MESSAGE_BYTES:
                    skipped += 1
                    continue
                samples.append(Sample(f"{name}:{number}", (found,)))
    return Reading("messages" if are_messages else "lines", "bytes", tuple(samples), skipped)


def _message_of_line(line: bytes) -> tuple[Message, bool]:
    """Return the message of a line, and whether the line has more of it than the value."""
    try:
        message = message_from_line(line)
    except (ValueError, RecursionError):
        return KafkaMessage(None, line.rstrip(b"\r\n"), has_key=False), False
    return message, isinstance(message, StoredFile) or message.has_key


def _reading_of_store(store: Store, limit: int) -> Reading:
    """Return a sample of a directory: JSON lines, Parquet with Kafka's columns, or files."""
    listed = [each for each in islice(store.list(), _MAX_LISTED) if not is_hidden(each.path)]
    names = sorted(each.path for each in listed)
    lines = [name for name in names if is_lines(name) and "/" not in name]
    if lines:
        return _reading_of_lines(
            {name: partial(opener_in(store), path_under(store.root, name)) for name in lines}, limit
        )
    parquet = [name for name in names if name.endswith(".parquet")]
    if parquet:
        return _reading_of_parquet(store, parquet, limit)
    if not listed:
        raise InputError("the directory has no files", store.url)
    return _reading_of_files(store, sorted(listed, key=_order), limit)


def _order(file: Listed) -> tuple[bool, str]:
    """Order the files that describe others first: they are small."""
    is_small = "/meta/" in f"/{file.path}" or file.path == METADATA_NAME
    return not is_small, file.path


def _reading_of_files(store: Store, files: Sequence[Listed], limit: int) -> Reading:
    samples: list[Sample] = []
    size, data = 0, 0
    for file in files:
        is_data = _order(file)[0]
        if data >= limit or size > _MAX_ALL_BYTES or len(samples) >= 10 * limit:
            break
        with store.open(file.path) as opened:
            raw = opened.read(MAX_MESSAGE_BYTES + 1)
        samples.append(_sample(file.path, file.path, raw, len(raw) > MAX_MESSAGE_BYTES, None))
        data += is_data
        size += len(raw)
    return Reading("files", "bytes", tuple(samples), len(files) - len(samples))


def _reading_of_parquet(store: Store, names: Sequence[str], limit: int) -> Reading:
    parquet = load_extra("pyarrow.parquet", "arrow", "Parquet")
    samples: list[Sample] = []
    for name in names:
        with store.open(name) as opened:
            file = parquet.ParquetFile(opened)
            if not {"key", "value"} <= set(file.schema_arrow.names):
                raise InputError("the Parquet file has no columns key and value", name)
            for batch in file.iter_batches(limit - len(samples), columns=["key", "value"]):
                for row in batch.to_pylist():
                    message = KafkaMessage(_bytes_of(row["key"]), _bytes_of(row["value"]))
                    samples.append(Sample(f"{name}: row {len(samples)}", (message,)))
                break
        if len(samples) >= limit:
            break
    return Reading("parquet", "bytes", tuple(samples))


def _bytes_of(value: object) -> bytes | None:
    return value.encode() if isinstance(value, str) else cast("bytes | None", value)
