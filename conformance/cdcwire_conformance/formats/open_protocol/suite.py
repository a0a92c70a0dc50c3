"""The suite's facts about open-protocol."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.model.text import Json
from cdcwire_conformance.formats.open_protocol.known_wrong import KNOWN_WRONG
from cdcwire_conformance.formats.open_protocol.mutations import RULES
from cdcwire_conformance.known_wrong.lenient import (
    Liberties,
    bytes_at,
    is_scalar,
    normalised_json,
)
from cdcwire_conformance.suite import FormatSuite, SizeFacts

if TYPE_CHECKING:
    from cdcwire.arrow.batches import BatchBuilder
    from cdcwire.arrow.column_decoders import MessageColumns


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
