"""The suite's facts about open-protocol, and the rules of its derived cases.

Key and value are lists of items with their lengths, and each item is one JSON object. So an item
can neither lose its last byte nor gain one. The next bytes are a length, and its first byte is 0,
not white space. The exceptions:

* A value of resolved events may be empty: the cut to nothing is legal.
* An unknown version, column type or DDL code has a reading: the rest is as before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.json_strings import write_base64
from cdcwire.core.limits import UINT64_END
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.golang import quote
from cdcwire.model.kinds import BytesType, Column, Value
from cdcwire.model.text import Json
from cdcwire_conformance.families import mysql
from cdcwire_conformance.families.mysql import compression_layers
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    mending,
    wrong_columns,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import (
    absent_as_null,
    claim_check_ignored,
    one_table_a_message,
    partition_lost,
)
from cdcwire_conformance.known_wrong.lenient import (
    Liberties,
    bytes_at,
    is_scalar,
    normalised_json,
)
from cdcwire_conformance.mutations import (
    BOMB_SIZE,
    FormatRules,
    Layer,
    NumberRule,
    Site,
)
from cdcwire_conformance.suite import FormatSuite, SizeFacts

if TYPE_CHECKING:
    from cdcwire.arrow.batches import BatchBuilder
    from cdcwire.arrow.column_decoders import MessageColumns


@mending("any version is read as version 1")
def version_ignored(message: Message) -> Iterable[Message]:
    """Yield the message with version 1 in its key."""
    assert isinstance(message, KafkaMessage)
    if message.key is not None:
        yield replace(message, key=(1).to_bytes(8, "big") + message.key[8:])


def _is_in_base64(column: Column) -> bool:
    return (column.source or "").removesuffix(" unsigned").endswith(("text", "blob"))


@wrong_values("the quoting of binary strings is not undone: byte 89 arrives as four characters")
def quoting_kept(column: Column, value: Value) -> Value:
    """Return a binary string in the quoted form that the message has."""
    is_quoted = isinstance(column.type, BytesType) and not _is_in_base64(column)
    return quote(value).encode() if is_quoted and isinstance(value, bytes) else value


@wrong_columns("TEXT and BLOB are given in base64")
def base64_kept(column: Column, value: Value) -> tuple[Column, Value]:
    """Return a TEXT or BLOB in the base64 that the message has."""
    if not _is_in_base64(column) or value is None:
        return column, value
    text = write_base64(value.encode() if isinstance(value, str) else value)
    return column, text.encode() if isinstance(column.type, BytesType) else text


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *mysql.BATCHED_MYSQL_FAULTS,
    mysql.ill_formed_text_replaced,
    mysql.vector_as_null,
    partition_lost,
    one_table_a_message,
    absent_as_null,
    claim_check_ignored,
    version_ignored,
    quoting_kept,
    base64_kept,
)

_NUMBER_BYTES = 8
_EVENT_TYPES = frozenset({"open-protocol: event types"})
_ITEM_LENGTHS = frozenset({"open-protocol: item lengths"})
_WRAPS_TO_ZERO = UINT64_END - _NUMBER_BYTES  # with the length itself added, modulo 2**64


def _rewrite(site: Site, number: int) -> bytes | None:
    span = site.span
    if span.clause in _ITEM_LENGTHS:
        return _with_number(site.raw, span.start, number)
    written = site.raw[span.start : span.end]
    digits = re.search(rb"[0-9]+$", written)
    length = site.spans.get((*span.path[:2], "length"))
    if digits is None or length is None:
        return None
    member = written[: digits.start()] + str(number).encode()
    raw = site.raw[: span.start] + member + site.raw[span.end :]
    item_size = int.from_bytes(raw[length.start : length.end], "big")
    return _with_number(raw, length.start, item_size + len(member) - len(written))


def _with_number(raw: bytes, start: int, number: int) -> bytes | None:
    if not 0 <= number < UINT64_END:
        return None
    return raw[:start] + number.to_bytes(_NUMBER_BYTES, "big") + raw[start + _NUMBER_BYTES :]


def _is_no_value_of_resolved(message: Message, part: str, size: int) -> bool:
    value = message.value if isinstance(message, KafkaMessage) else None
    return part == "value" and size == 0 and value is not None and not any(value)


def layers(part: str, raw: bytes, context: Context) -> Iterator[Layer]:
    """Yield the items of a frame, or the JSON of a compressed item."""
    at = _NUMBER_BYTES if part == "key" else 0
    found = []
    while at + _NUMBER_BYTES < len(raw):
        start = at + _NUMBER_BYTES
        at = start + int.from_bytes(raw[at:start], "big")
        if at > len(raw):
            yield from compression_layers(raw, context)
            return
        found.append(Layer(raw[start:at], partial(_with_item, raw, start, at)))
    yield from found


def _with_item(raw: bytes, start: int, end: int, item: bytes) -> bytes:
    length = len(item).to_bytes(_NUMBER_BYTES, "big")
    return raw[: start - _NUMBER_BYTES] + length + item + raw[end:]


RULES = FormatRules(
    layers=layers,
    parts=("key", "value"),
    rewrite=_rewrite,
    legal_cut=_is_no_value_of_resolved,
    numbers=(
        NumberRule(
            r"(?:key|value)\[\d+\]\.length",
            "length",
            steps=(-1, 1),
            values=(_WRAPS_TO_ZERO,),
            bomb=BOMB_SIZE,
            clauses=_ITEM_LENGTHS,
        ),
        NumberRule(r"key\[\d+\]\.t", "tag", values=(0, 4), clauses=_EVENT_TYPES),
    ),
)

_VERSION = (1).to_bytes(8, "big")
_LENGTH_BYTES = 8


def _mend(message: Message, error: DecodeError) -> Message | None:
    """Return the message in version 1, and its items as a lenient JSON parser reads them."""
    if not isinstance(message, KafkaMessage) or len(message.key or b"") <= len(_VERSION):
        return None
    key = _VERSION + (message.key or b"")[len(_VERSION) :]
    items, values = _items(key[len(_VERSION) :]), _items(message.value or b"")
    if error.clause == "open-protocol: batch version" or items is None or values is None:
        return replace(message, key=key)
    return replace(message, key=_VERSION + _joined(items), value=_joined(values))


def _items(raw: bytes) -> list[bytes] | None:
    """Return the items, each as plain JSON; None where a length is wrong."""
    items = []
    while raw:
        size = int.from_bytes(raw[:_LENGTH_BYTES], "big")
        item = raw[_LENGTH_BYTES : _LENGTH_BYTES + size]
        if len(raw) < _LENGTH_BYTES or len(item) < size:
            return None
        items.append(normalised_json(item) or item)
        raw = raw[_LENGTH_BYTES + size :]
    return items


def _joined(items: list[bytes]) -> bytes:
    return b"".join(len(item).to_bytes(_LENGTH_BYTES, "big") + item for item in items)


def _forgives(error: DecodeError, message: Message, context: Context) -> bool:
    """Return whether an error is about a row without columns or a column without its value."""
    match error.clause:
        case "open-protocol: row value":
            row = _at(message, error.path[:2])
            return isinstance(row, dict) and (
                all(value in ({}, None) for value in row.values())
                or (bool(row.get("u")) and row.get("p", 0) is None)
            )
        case "open-protocol: column members":
            column = _at(message, error.path[:4])
            if not isinstance(column, dict):
                return False
            return ("t" in column and "v" not in column) or is_scalar(error, message)
        case "open-protocol: key members":
            return is_scalar(error, message) and not bytes_at(error, message).startswith(b'""')
        case _:
            return False


def _at(message: Message, path: tuple[str | int, ...]) -> Json:
    """Return the JSON at a path in the value; None where there is nothing."""
    items = _items(message.value or b"") or []
    if len(path) < 2 or not isinstance(path[1], int) or path[1] >= len(items):
        return None
    try:
        found: Json = json.loads(items[path[1]])
    except ValueError:
        return None
    for step in path[2:]:
        found = found.get(step) if isinstance(found, dict) else None
    return found


LIBERTIES = Liberties(
    unchecked=frozenset({"open-protocol: types without values", "open-protocol: limits"}),
    scalars=frozenset(
        {
            *("open-protocol: partition", "open-protocol: row id", "open-protocol: ddl value"),
            *("open-protocol: handle key only", "open-protocol: integer values"),
            *("open-protocol: float values", "open-protocol: text values"),
            *("open-protocol: string values", "open-protocol: vector values"),
        }
    ),
    mend=_mend,
    forgives=_forgives,
)


def _message_columns(builder: BatchBuilder, context: Context) -> MessageColumns:
    from cdcwire_conformance.formats.open_protocol.arrow_batches import OpenProtocolBatchBuilder

    return OpenProtocolBatchBuilder(builder, context)


SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    message_columns=_message_columns,
    size=SizeFacts(color="#e08a3c", is_json_baseline=True),
)
