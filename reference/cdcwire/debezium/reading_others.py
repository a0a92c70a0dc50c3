"""Reading messages that are about no row: heartbeats, transactions, statements, notifications."""

from __future__ import annotations

from typing import TypeAlias

from cdcwire.connect import Envelope, Parsed
from cdcwire.connect.fields import Fields, Origin, typed
from cdcwire.connect.schema import RULES
from cdcwire.connect.values import write_value
from cdcwire.core.errors import EncodeError
from cdcwire.core.strict_json import JsonObject, JsonValue, read_json
from cdcwire.debezium.connectors import source_of
from cdcwire.debezium.message import (
    Block,
    Boundary,
    Ddl,
    Heartbeat,
    KeyPart,
    LogicalMessage,
    Notification,
    TextKey,
    Watermark,
)
from cdcwire.debezium.schema_changes import table_changes
from cdcwire.debezium.source import read_source

_BLOCK = "debezium-json: transaction block"
_BOUNDARY = "debezium-json: transaction boundaries"
_HEARTBEAT = "debezium-json: heartbeats"
_LOGICAL = "debezium-json: logical messages"
_SCHEMA_CHANGES = "debezium-json: schema changes"
_NOTIFICATIONS = "debezium-json: notifications"
Key: TypeAlias = "Parsed | TextKey | None"


def key_part(key: Key) -> KeyPart:
    """Return the part of a key that is written back."""
    return key.envelope if isinstance(key, Parsed) else key


def physical_table_in(key: KeyPart, router: str) -> str | None:
    """Return the topic that ByLogicalTableRouter put into a key, as the field ``router``."""
    if not isinstance(key, Envelope):
        return None
    found: object = None
    if isinstance(key.payload, JsonObject):
        member = key.payload.get(router)
        found = None if member is None else member.value
    elif key.schema is not None and isinstance(key.payload, tuple):
        place = key.schema.index(router)
        found = None if place is None else key.payload[place]
    return found if isinstance(found, str) else None


def kept(fields: Fields) -> Envelope:
    """Return what is written back: a payload without schema stays as it came."""
    return fields.origin.parsed.envelope


def block_of(fields: Fields) -> Block | None:
    """Return the place of a change in its transaction. Raises: DecodeError."""
    block = fields.optional_struct("transaction")
    if block is None:
        return None
    block.clause = _BLOCK
    return Block(
        block.text("id"), block.integer("total_order"), block.integer("data_collection_order")
    )


def logical_message(fields: Fields, key: Key) -> LogicalMessage:
    """Return a text or bytes of the log. Raises: DecodeError."""
    message = fields.struct("message")
    message.clause = _LOGICAL
    content = message.get("content")
    if content is not None and not isinstance(content, (str, bytes)):
        raise message.error("content is neither text nor bytes", "content")
    return LogicalMessage(
        message.optional_text("prefix"),
        content,
        read_source(fields),
        fields.optional_integer("ts_ms"),
        block_of(fields),
        kept(fields),
        key_part(key),
        fields.origin.parsed.warnings,
    )


def watermark(fields: Fields, key: Key) -> Watermark:
    """Return the progress of TiCDC. Raises: DecodeError."""
    source = read_source(fields)
    if not source_of(source.connector).has_undeclared:
        raise fields.error("message is required", "message", _LOGICAL)
    return Watermark(
        source,
        fields.optional_integer("ts_ms"),
        kept(fields),
        key_part(key),
        fields.origin.parsed.warnings,
    )


def ddl(fields: Fields, key: Key) -> Ddl:
    """Return a statement and its tables. Raises: DecodeError."""
    fields.clause = _SCHEMA_CHANGES
    source = read_source(fields, has_table=False)
    listed = _json_of(fields, "tableChanges")
    changes = tuple(table_changes(listed, source_of(source.connector)))
    return Ddl(
        fields.optional_text("ddl"),
        fields.optional_text("databaseName"),
        fields.optional_text("schemaName"),
        changes,
        source,
        fields.optional_integer("ts_ms"),
        kept(fields),
        key_part(key),
        fields.origin.parsed.warnings,
        fields.struct("source").optional_text("table"),
    )


def _json_of(fields: Fields, name: str) -> JsonValue:
    """Return the JSON of a member; of bytes that are not JSON, what JsonConverter would write."""
    payload = fields.origin.parsed.json
    if isinstance(payload, JsonObject):
        member = payload.get(name)
        return None if member is None else member.value
    schema = fields.schema_of(name)
    if schema is None:
        return None
    try:
        text = write_value(schema, fields.get(name))
    except EncodeError:
        return None  # names twice in a map, which no change has
    return read_json(text.encode(), RULES).value


def notification(fields: Fields, key: Key) -> Notification:
    """Return a note of the connector. Raises: DecodeError."""
    warning = f"a notification is not a change ({_NOTIFICATIONS})"
    warnings = (*fields.origin.parsed.warnings, warning)
    return Notification(kept(fields), key_part(key), warnings)


def boundary(fields: Fields, key: Key) -> Boundary:
    """Return the begin or the end of a transaction. Raises: DecodeError."""
    fields.clause = _BOUNDARY
    status = fields.text("status")
    if status != "BEGIN" and status != "END":
        raise fields.error(f"status is {status!r:.20}, not BEGIN or END", "status")
    collections = fields.get("data_collections")
    counts = None
    if collections is not None:
        schema = fields.schema_of("data_collections")
        if not isinstance(collections, tuple) or schema is None or schema.type != "array":
            raise fields.error("data_collections is not an array", "data_collections")
        entries = [
            Fields(schema.items, item, _BOUNDARY, fields.origin, ("data_collections", index))
            for index, item in enumerate(collections)
        ]
        counts = tuple((one.text("data_collection"), one.integer("event_count")) for one in entries)
    return Boundary(
        "BEGIN" if status == "BEGIN" else "END",
        fields.text("id"),
        fields.optional_integer("ts_ms"),
        fields.optional_integer("event_count"),
        counts,
        kept(fields),
        key_part(key),
        fields.origin.parsed.warnings,
    )


def heartbeat(fields: Fields, key: Key) -> Heartbeat:
    """Return a sign of life. Raises: DecodeError."""
    fields.clause = _HEARTBEAT
    name = None
    if isinstance(key, Parsed):
        origin = Origin("key", key)
        envelope, origin = typed(origin, {})
        members = Fields(envelope.schema, envelope.payload, _HEARTBEAT, origin)
        name = members.optional_text("serverName")
    return Heartbeat(
        fields.integer("ts_ms"),
        name,
        kept(fields),
        key_part(key),
        fields.origin.parsed.warnings,
    )
