"""Debezium's messages that are about no row: statements, heartbeats, transactions, logged texts."""

from __future__ import annotations

import json
from dataclasses import replace

from cdcwire.connect import ConnectType, ConnectValue, Envelope
from cdcwire.connect.values import read_value
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.debezium.schema_changes import known_changes, sent_table
from cdcwire.debezium.schemas import (
    boundary_key_schema,
    boundary_schema,
    changes_schema,
    heartbeat_key_schema,
    heartbeat_schema,
    logical_key_schema,
    logical_schema,
    source_schema,
    statement_key_schema,
    statement_schema,
)
from cdcwire.debezium.shapes import Shape, shape_of, shape_without_source
from cdcwire.debezium.writing_parts import (
    Writer,
    block_values,
    extra_number,
    extra_text,
    source_values,
    statement_source_values,
)
from cdcwire.model.events import Marker, Progress, SchemaChange, Table

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


_CLAUSE = "debezium-json: schema changes"
_WITHOUT_TABLES = ("cindex", "dindex", "truncate", "query")
_BY_TYPE = ("create", "alter", "erase")  # kinds that tableChanges says without a statement


def write_statement(event: SchemaChange, writer: Writer) -> KafkaMessage:
    """Return the message of a statement. Raises: EncodeError."""
    settings, extra, position = writer.settings, event.extra, event.position
    if settings.dialect == "cdl":
        raise EncodeError("CDL's messages have no schema changes", _CLAUSE, ("what",))
    shape = shape_of(extra, settings)
    if not shape.source.has_statements:
        problem = f"the connector {shape.source.name} sends no schema changes"
        raise EncodeError(problem, _CLAUSE, ("what",))
    if event.query is None and event.what not in _BY_TYPE:
        raise EncodeError(f"a schema change {event.what} needs its query", _CLAUSE, ("query",))
    if position.sent_ms is None and shape.has_schema_versions:
        raise EncodeError("the time is required", _CLAUSE, ("position", "sent_ms"))
    table = event.table or Table(None)
    named = sent_table(event.what, event.table)
    if "source_table" in extra:
        named = extra_text(extra, "source_table")
    about = replace(table, name=named)
    source = statement_source_values(about, position, extra, settings)
    database = source[source_schema(shape).index("db") or 0]
    payload: dict[str, ConnectValue] = {
        "source": source,
        "ts_ms": position.sent_ms,
        "databaseName": database,
        "schemaName": table.schema if shape.source.schema_member == "schema" else None,
        "ddl": event.query,
        "tableChanges": _changes(event, shape),
    }
    schema = statement_schema(shape)
    key = Envelope(statement_key_schema(shape), (database,))
    value = Envelope(schema, tuple(payload[field.name] for field in schema.fields))
    return KafkaMessage(writer.encode(key), writer.value(value, is_like_row=False))


def _changes(event: SchemaChange, shape: Shape) -> ConnectValue:
    """Return the value of ``tableChanges``: as it was read, or of no columns."""
    known = known_changes(event.extra, _CLAUSE)
    if known is not None:
        try:
            return read_value(changes_schema(shape), known, 0, 0)
        except DecodeError as error:
            where = ("extra", "table_changes", *error.path)
            raise EncodeError(error.problem, _CLAUSE, where) from error
    table = event.table
    if table is None or table.name is None or event.what in _WITHOUT_TABLES:
        return ()
    if event.what != "erase":
        problem = (
            f"tableChanges of a statement that is {event.what} needs the JDBC type, character set, "
            "comment, default and auto-increment of each column: extra table_changes gives them"
        )
        raise EncodeError(problem, _CLAUSE, ("what",))
    if not shape.has_schema_versions:
        return ()  # a change has to have a table
    levels = (table.database if shape.source.has_database else None, table.schema, table.name)
    name = ".".join(f'"{level}"' for level in levels if level)
    return (("DROP", name, None),)
