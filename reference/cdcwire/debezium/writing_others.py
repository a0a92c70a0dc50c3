"""Debezium's messages that are about no row: heartbeats, transactions, logical messages."""

from __future__ import annotations

import json

from cdcwire.connect import ConnectType, ConnectValue, Envelope
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.debezium.schemas import (
    boundary_key_schema,
    boundary_schema,
    heartbeat_key_schema,
    heartbeat_schema,
    logical_key_schema,
    logical_schema,
)
from cdcwire.debezium.shapes import shape_of, shape_without_source
from cdcwire.debezium.writing_parts import (
    Writer,
    block_values,
    extra_number,
    extra_text,
    source_values,
)
from cdcwire.model.events import Marker, Progress, Table

_OPERATION = "debezium-json: operation"
_BOUNDARY = "debezium-json: transaction boundaries"
_HEARTBEAT = "debezium-json: heartbeats"


def write_heartbeat(event: Progress, writer: Writer) -> KafkaMessage:
    """Return the message of a heartbeat. Raises: EncodeError, for other progress."""
    settings = writer.settings
    if event.what != "heartbeat" or settings.dialect == "cdl":
        problem = f"progress {event.what} has no form here"
        raise EncodeError(problem, "debezium-json: heartbeats")
    moment = event.position.sent_ms
    if moment is None:
        raise EncodeError(
            "the time is required", "debezium-json: heartbeats", ("position", "sent_ms")
        )
    name = extra_text(event.extra, "source_name") or settings.topic_prefix
    shape = shape_without_source(settings)
    key = Envelope(heartbeat_key_schema(shape), (name,))
    value = Envelope(heartbeat_schema(shape), (moment,))
    return _message(key, value, writer, is_known_by_key=True)


def write_marker(event: Marker, writer: Writer) -> KafkaMessage:
    """Return the message of a marker. Raises: EncodeError, for what has no form."""
    if event.what == "tombstone":
        key = event.extra.get("message_key")
        return KafkaMessage(key if isinstance(key, bytes) else None, None)
    if writer.settings.dialect != "cdl":
        if event.what in ("begin", "end"):
            return _boundary(event, writer)
        if event.what == "logical_message":
            return _logical(event, writer)
    raise EncodeError(f"a marker {event.what} has no form here", _OPERATION)


def _boundary(event: Marker, writer: Writer) -> KafkaMessage:
    settings = writer.settings
    moment, extra, shape = event.position.sent_ms, event.extra, shape_without_source(settings)
    if event.id is None or (moment is None and shape.has_schema_versions):
        raise EncodeError("the border of a transaction needs its id and time", _BOUNDARY)
    text = extra_text(extra, "data_collections")
    payload: list[ConnectValue] = [
        event.what.upper(),
        event.id,
        extra_number(extra, "event_count"),
        None if text is None else _collections(text),
    ]
    if shape.has_schema_versions:
        payload.append(moment)
    key = Envelope(boundary_key_schema(shape), (event.id,))
    value = Envelope(boundary_schema(shape), tuple(payload))
    return _message(key, value, writer, is_known_by_key=True)


def _collections(text: str) -> tuple[tuple[str, int], ...]:
    try:
        return tuple((name, count) for name, count in json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        problem = "data_collections is not a JSON array of pairs"
        raise EncodeError(problem, _BOUNDARY, ("extra", "data_collections")) from error


def _logical(event: Marker, writer: Writer) -> KafkaMessage:
    settings = writer.settings
    extra, position, shape = event.extra, event.position, shape_of(event.extra, settings)
    if shape.source.name != "postgresql":
        problem = f"the connector {shape.source.name} has no logical messages"
        raise EncodeError(problem, "debezium-json: logical messages", ("extra", "connector"))
    content = extra.get("content")
    block = block_values(position, extra)
    kind: ConnectType = "string" if isinstance(content, str) else "bytes"
    has_block = block is not None or shape.version >= (3, 2)  # there always, 2.7 has none
    schema = logical_schema(shape, kind, has_block)
    table = Table("", "", extra_text(extra, "database") or settings.database)
    source = source_values(table, position, extra, settings, "m")
    payload: list[ConnectValue] = ["m", position.sent_ms, source]
    if has_block:
        payload.append(block)
    payload.append((event.id, content))
    key = Envelope(logical_key_schema(shape), (event.id,))
    value = Envelope(schema, tuple(payload))
    return _message(key, value, writer, is_known_by_key=False)


def _message(
    key: Envelope, value: Envelope, writer: Writer, *, is_known_by_key: bool
) -> KafkaMessage:
    """Return a message that its members distinguish from a row, for some also the key's name."""
    is_like_row = is_known_by_key and writer.settings.key_converter == "string"
    return KafkaMessage(writer.encode(key), writer.value(value, is_like_row=is_like_row))
