"""Messages on disk: raw bytes, bytes in hex, and JSON lines; a directory of messages.

A line of ``*.jsonl`` or ``*.ndjson`` is the message object of the testee protocol:
``{"key": B64|null, "value": B64|null, "headers": {NAME: B64}}`` or ``{"path": "…", "value": B64}``.
An object is such a message if it has the member ``value`` and no other members than these. With
``topic`` it is a record as ``rpk`` and other consumers write it, and may have a few more. A line of
``kcat -J`` has the members ``topic``, ``partition``, ``offset`` and ``payload``. Every other object
is the value of a message whose key is unknown. So is the word null: a value that is null.
A directory of messages is its files of lines, sorted by name. A file of another name, whose
first line is a message, is read as such lines too. ``-`` is standard input or output.
"""

from __future__ import annotations

import io
import json
import re
import sys
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from cdcwire.console.problems import json_problem
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.files.json_messages import message_from_json, message_line, message_to_json
from cdcwire.files.line_files import LINES_TEXT, BlankLines, is_lines, lines_in
from cdcwire.files.local_files import read_rest, read_whole, unreadable, whole_file
from cdcwire.files.stores import LocalStore, Store, open_here
from cdcwire.files.unread import ALL_READ, Unread, unread_files
from cdcwire.format import Carrier
from cdcwire.model.text import Json

__all__ = ["InputError", "line_message", "message_to_json", "read_messages", "write_messages"]

STANDARD_STREAM = "-"

_OF_KCAT = {"topic", "partition", "offset", "payload"}
_MEMBERS = {"key", "value", "headers", "path"}
_OF_RECORD = {"key", "value", "headers", "topic", "partition", "offset", "timestamp"}
_NULL = b"null"
_FIRST_LINE = re.compile(rb"\s*(\S[^\n]*)")
_FACT = re.compile(  # of a message, that kafka-console-consumer prints before it
    rb"NO_TIMESTAMP|NO_HEADERS|(?:CreateTime|LogAppendTime|Partition|Offset|Epoch):-?[0-9]+"
)


class InputError(ValueError):
    """An input can't be read as what it was given as. ``where``: file, and line if it has lines."""

    def __init__(self, problem: str, where: str) -> None:
        super().__init__(problem, where)
        self.problem = problem
        self.where = where

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


class NotAMessageError(ValueError):
    """A line of a feed is JSON and not a message."""


def message_from_line(line: bytes) -> Message:
    """Return the message of a line of a feed, as this project or another tool writes it.

    ``kafka-console-consumer`` prints the value, and before it the key and other facts that it is
    asked for, with tabs between them. Raises: NotAMessageError; ValueError or RecursionError for
    invalid JSON.
    """
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        message = message_of_consumer(line)
        if message is None:
            raise
        return message
    if document is None:
        return KafkaMessage(None, None, has_key=False)
    if isinstance(document, Mapping) and not is_message_object(document):
        return KafkaMessage(None, line.strip(), has_key=False)
    try:
        return line_message(document)
    except ValueError as error:
        raise NotAMessageError(str(error)) from error


def message_of_consumer(line: bytes) -> KafkaMessage | None:
    """Return the message of a line with key and value as JSON; None for other lines.

    No JSON of one line has a tab.
    """
    parts = [part for part in line.strip().split(b"\t") if not _FACT.fullmatch(part)]
    if not 1 <= len(parts) <= 2 or not all(map(_is_document, parts)):
        return None
    key, value = (None if part == _NULL else part for part in (_NULL, *parts)[-2:])
    return KafkaMessage(key, value, has_key=len(parts) == 2)


def _is_document(part: bytes) -> bool:
    try:
        return part == _NULL or isinstance(json.loads(part), dict)
    except (ValueError, RecursionError):
        return False


def is_of_kcat(document: Mapping[str, object]) -> bool:
    """Return whether an object is a line of ``kcat -J``."""
    return document.keys() >= _OF_KCAT


def is_message_object(document: object) -> bool:
    """Return whether JSON is a message, as this project or a consumer of Kafka writes it.

    A value with exactly these members would be a flat row of a table with columns of these names.
    """
    if not isinstance(document, dict):
        return False
    has_members = "value" in document and document.keys() <= _MEMBERS
    return has_members or is_of_kcat(document) or _is_record(document)


def _is_record(document: Mapping[str, object]) -> bool:
    return {"topic", "value"} <= document.keys() <= _OF_RECORD


def line_message(document: Json) -> Message:
    """Return the message of a line of a feed. Raises: ValueError.

    A message without the member ``key`` has an unknown key. A line of ``kcat -J`` has key and value
    as text, and its headers in a row.
    """
    if isinstance(document, Mapping) and is_of_kcat(document):
        return _message_of_kcat(document)
    if isinstance(document, Mapping) and _is_record(document):
        document = _without_place(document)
    if isinstance(document, Mapping) and not {"key", "value"} & document.keys():
        raise ValueError("it has neither key nor value")
    message = message_from_json(document)
    if isinstance(message, KafkaMessage) and "key" not in cast("Mapping[str, Json]", document):
        return replace(message, has_key=False)
    return message


def _message_of_kcat(document: Mapping[str, Json]) -> KafkaMessage:
    """Return the message of a line of ``kcat -J``. Raises: ValueError."""
    key, value = document.get("key"), document["payload"]
    row = document.get("headers", [])
    if not isinstance(row, list) or len(row) % 2:
        raise ValueError("headers of kcat are names and values in turn")
    texts = [key, value, *row]
    if not all(text is None or isinstance(text, str) for text in texts):
        raise ValueError("key, payload and headers of kcat are text or null")
    pairs = zip(row[::2], row[1::2], strict=True)
    headers = tuple((str(name), _bytes_of(text) or b"") for name, text in pairs)
    return KafkaMessage(_bytes_of(key), _bytes_of(value), headers)


def _without_place(document: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the message object of a record. Its key, value and headers are base64, or all text.

    The text of a message is a JSON object, which base64 never is.
    """
    document = {name: each for name, each in document.items() if name in _MEMBERS}
    both = [document.get(name) for name in ("value", "key")]
    if not any(isinstance(text, str) and text.lstrip().startswith("{") for text in both):
        return document
    document |= {name: _base64_of(document.get(name)) for name in ("value", "key")}
    row = document.get("headers")
    if isinstance(row, list) and all(isinstance(each, Mapping) for each in row):
        pairs = [
            (each.get("key"), each.get("value")) for each in cast("list[Mapping[str, Json]]", row)
        ]
        document["headers"] = {str(name): _base64_of(text) for name, text in pairs}
    return document


def _base64_of(text: Json) -> Json:
    data = _bytes_of(text)
    return text if data is None else b64encode(data).decode()


def _bytes_of(text: Json) -> bytes | None:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else None


def read_messages(
    source: str,
    hex: bool = False,
    key: str | None = None,
    carriers: tuple[Carrier, ...] = ("queue",),
) -> Iterator[tuple[str, Message]]:
    """Yield each message of a file, of a directory or of standard input, with its place.

    A directory and ``*.jsonl`` are JSON lines, and so is other input that begins with a message.
    All else is the bytes of one value, with ``hex`` as hexadecimal digits. ``key``: a file with the
    key that belongs to one value, in the same form. ``carriers``: of the format. Where it has
    queues and files, ``*.json`` is a file of a storage sink; a file's path is its name, without the
    folders before it. Raises: InputError.
    """
    path = Path(source)
    is_folder = source != STANDARD_STREAM and path.is_dir()
    if is_folder or is_lines(path.name):
        if key is not None or hex:
            raise InputError("JSON lines have their own keys, in base64", source)
        lines = _read_lines(str(path), partial(open_here, source))
        yield from _read_folder(path) if is_folder else lines
        return
    raw = _read_all(source)
    is_file = "queue" not in carriers or ("storage" in carriers and path.suffix == ".json")
    may_be_lines = not hex and key is None and (source == STANDARD_STREAM or not is_file)
    if may_be_lines and (begins_with_message(raw) or has_value_lines(raw)):
        yield from _messages_of(io.BytesIO(raw), _name(source))
        return
    value = _from_hex(raw, source) if hex else raw
    if key is None:
        yield (
            _name(source),
            StoredFile(path.name, value) if is_file else KafkaMessage(None, value, has_key=False),
        )
        return
    if source == key == STANDARD_STREAM:
        raise InputError("key and value can't both be standard input", source)
    key_bytes = _read_all(key)
    yield _name(source), KafkaMessage(_from_hex(key_bytes, key) if hex else key_bytes, value)


def write_messages(target: str, messages: Iterable[Message]) -> int:
    """Write messages as JSON lines and return how many there were. Raises: InputError."""
    if target == STANDARD_STREAM:
        return _write_lines(sys.stdout.buffer, messages)
    try:
        with whole_file(Path(target)) as file:
            return _write_lines(file, messages)
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", target) from error


def _read_folder(folder: Path) -> Iterator[tuple[str, Message]]:
    store = LocalStore(folder)
    names = names_of_lines(store)
    if not names:
        unread = unread_files(store, ())
        beside = f"; not read: {unread}" if unread else ""
        raise InputError(f"there is no {LINES_TEXT} in this directory{beside}", str(folder))
    for name in names:
        yield from _read_lines(str(folder / name), partial(store.open, name))


def names_of_lines(store: Store) -> list[str]:
    """Return the files of lines that are the feed of a directory. Raises: StoreError."""
    listed = (each.path for each in store.list(recursive=False))
    return sorted(filter(is_lines, listed))


def unread_beside(source: str) -> Unread:
    """Return what of a local directory is not read with its messages; nothing for other sources."""
    path = Path(source)
    if source == STANDARD_STREAM or not path.is_dir():
        return ALL_READ
    store = LocalStore(path)
    return unread_files(store, names_of_lines(store))


def begins_with_message(raw: bytes) -> bool:
    """Return whether the first line is a message, as a tool prints it, and not a value."""
    found = _FIRST_LINE.match(raw)
    line = found[1] if found else b""
    try:
        return is_message_object(json.loads(line))
    except (ValueError, RecursionError):
        return b"\t" in line and message_of_consumer(line) is not None


def has_value_lines(raw: bytes) -> bool:
    """Return whether bytes are values of messages, one per line: a JSON object, and another."""
    objects = 0
    for line in islice(filter(bytes.strip, io.BytesIO(raw)), 2):
        try:
            objects += isinstance(json.loads(line), dict)
        except (ValueError, RecursionError):
            return False
    return objects == 2


def _from_hex(raw: bytes, source: str) -> bytes:
    try:
        return bytes.fromhex(raw.decode("ascii"))
    except ValueError as error:
        raise InputError("is not hexadecimal", _name(source)) from error


def _read_all(source: str) -> bytes:
    try:
        if source == STANDARD_STREAM:
            return read_rest(sys.stdin.buffer, source)
        return read_whole(source)
    except OSError as error:
        raise InputError(unreadable(error, source), _name(source)) from error


def _read_lines(name: str, open_file: Callable[[], BinaryIO]) -> Iterator[tuple[str, Message]]:
    try:
        with open_file() as lines:
            yield from _messages_of(lines, name)
    except OSError as error:
        raise InputError(unreadable(error, name), name) from error


def _messages_of(lines: BinaryIO, name: str) -> Iterator[tuple[str, Message]]:
    blank = BlankLines(name)
    for number, line in enumerate(lines_in(lines, name), 1):
        if line.isspace():
            blank.add()
            continue
        where = f"{name}:{number}"
        try:
            message = message_from_line(line)
        except NotAMessageError as error:
            raise InputError(f"the line is not a message: {error}", where) from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"is {json_problem(error)}", where) from error
        yield where, message


def _write_lines(file: BinaryIO, messages: Iterable[Message]) -> int:
    count = 0
    for message in messages:
        file.write(message_line(message))
        count += 1
    return count


def _name(source: str) -> str:
    return "standard input" if source == STANDARD_STREAM else source
