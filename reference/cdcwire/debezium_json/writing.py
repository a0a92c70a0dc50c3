"""Neutral events as Debezium's messages, in the way of the dialect that the options tell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cdcwire.connect import ConnectType, ConnectValue, Envelope, Field, Schema
from cdcwire.connect import encode as encode_envelope
from cdcwire.connect.columns import struct_of
from cdcwire.connect.images import WrittenRows, written_rows
from cdcwire.debezium_json.message import MESSAGE_VERSION, ROW_CHANGE
from cdcwire.debezium_json.schemas import (
    OPTIONAL_STRING,
    STRING,
    VERSIONS,
    block_schema,
    boundary_schema,
    is_new,
    key_schema,
    logical_schema,
    moments,
    safe_name,
    source_schema,
)
from cdcwire.debezium_json.settings import DEFAULT_SETTINGS, Settings
from cdcwire.errors import EncodeError
from cdcwire.message import KafkaMessage
from cdcwire.model.events import (
    Column,
    Event,
    Extra,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
    Value,
)
from cdcwire.model.kinds import BoolType, BytesType, FloatType, IntType, TextType

_MEMBERS = "debezium-json: members"
_SOURCE = "debezium-json: source"
_OPERATION = "debezium-json: operation"
_BLOCK = "debezium-json: transaction block"
_BOUNDARY = "debezium-json: transaction boundaries"
_LOGICAL = "debezium-json: logical messages"
_OPS = {"insert": "c", "update": "u", "delete": "d", "read": "r"}
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_TSO_LOGICAL_BITS = 18


def from_events(
    events: Iterable[Event],
    settings: Settings = DEFAULT_SETTINGS,
    tables: tuple[Table, ...] = (),
) -> Iterator[KafkaMessage]:
    """Yield the messages of events; an update that changes its key is a delete and an insert.

    ``tables``: definitions, from which a delete that has its key only takes the other columns.
    Raises: EncodeError.
    """
    definitions = {(table.schema, table.name): table for table in tables}
    for event in events:
        match event:
            case RowChange():
                yield from _row_messages(event, settings, definitions)
            case SchemaChange():
                yield _truncate(event, settings, definitions)
            case Progress():
                yield _heartbeat(event, settings)
            case Marker():
                yield _marker(event, settings)


def _row_messages(
    event: RowChange, settings: Settings, definitions: dict[tuple[str | None, str | None], Table]
) -> Iterator[KafkaMessage]:
    if event.op not in _OPS or event.half is not None:
        raise EncodeError(f"a row of op {event.op} has no form here", _OPERATION)
    known = definitions.get((event.table.schema, event.table.name))
    if event.op == "delete" and event.sent == "key" and known is not None:
        event = replace(event, before=_filled(event.before, known))
    rows = written_rows(event, settings.style)
    if settings.dialect == "cdl":
        yield KafkaMessage(None, _bytes(cdl_envelope(event, rows, settings), settings))
        return
    moved = rows.key_before is not None and rows.key_after not in (None, rows.key_before)
    if not moved:
        yield _row_message(event, rows, _OPS[event.op], settings)
        return
    gone = _row_message(event, replace(rows, after=None, key_after=None), "d", settings)
    yield gone
    yield KafkaMessage(gone.key, None)
    new = replace(rows, before=None, key_before=None)
    yield _row_message(event, new, "c", settings)


def _row_message(event: RowChange, rows: WrittenRows, op: str, settings: Settings) -> KafkaMessage:
    name, key = _name(event.table, settings, event.extra), None
    values = rows.key_after if rows.after is not None else rows.key_before
    if values is not None:
        schema = replace(rows.key, name=safe_name(name, "Key"))
        key = _bytes(Envelope(schema, values), settings)
    envelope = _envelope(
        event.table,
        event.position,
        event.extra,
        rows.struct,
        (rows.before, rows.after),
        op,
        settings,
    )
    return KafkaMessage(key, _bytes(envelope, settings))


def _name(table: Table, settings: Settings, extra: Extra) -> str:
    server = _text(extra, "source_name") or settings.topic_prefix
    parts = (part for part in (server, table.schema, table.name) if part)
    return ".".join(parts)


def _envelope(
    table: Table,
    position: Position,
    extra: Extra,
    struct: Schema,
    images: tuple[ConnectValue, ConnectValue],
    op: str,
    settings: Settings,
) -> Envelope:
    dialect = settings.dialect
    name = _name(table, settings, extra)
    row = replace(struct, name=safe_name(name, "Value"))
    block = _block(position, extra)
    source = _source(table, position, extra, settings, op)
    fields = [Field("before", row), Field("after", row), Field("source", source_schema(dialect))]
    members: list[ConnectValue] = [*images, source]
    if is_new(dialect):
        fields += [Field("transaction", block_schema(dialect)), Field("op", STRING)]
        members += [block, op]
        fields += moments(dialect)
        members += _moments(position, extra, settings)
        version: int | None = 2
    else:
        fields += [Field("op", STRING), *moments(dialect)]
        members += [op, *_moments(position, extra, settings), block]
        fields.append(Field("transaction", block_schema(dialect)))
        version = None
    schema = Schema("struct", False, safe_name(name, "Envelope"), version, fields=tuple(fields))
    return Envelope(schema, tuple(members))


def cdl_envelope(event: RowChange, rows: WrittenRows, settings: Settings) -> Envelope:
    """Return the envelope of a change as CDL writes it, message_version 2.0."""
    table, position, extra = event.table, event.position, event.extra
    op = "c" if event.op == "read" else _OPS[event.op]
    source = _source(table, position, extra, settings, "r" if event.op == "read" else op)
    sent_ms = position.sent_ms if position.sent_ms is not None else source[3]
    fields = [
        Field("before", replace(rows.struct, name="before")),
        Field("after", replace(rows.struct, name="data")),
        Field("source", source_schema("cdl")),
        Field("op", STRING),
        Field("ts_ms", Schema("int64")),
        Field("message_version", STRING),
        Field("message_type", STRING),
        Field("LOB_COLUMNS", OPTIONAL_STRING),
        Field("unique", replace(rows.key, name="unique", optional=True)),
    ]
    members: list[ConnectValue] = [
        rows.before,
        rows.after,
        source,
        op,
        sent_ms,
        MESSAGE_VERSION,
        _text(extra, "message_type") or ROW_CHANGE,
        _text(extra, "lob_columns"),
        rows.key_after if rows.after is not None else rows.key_before,
    ]
    if settings.heartbeat_identifier == "append":
        fields.append(Field("HEARTBEAT_IDENTIFIER", OPTIONAL_STRING))
        members.append(_text(extra, "heartbeat_identifier"))
    name = f"{table.schema}.{table.name}"
    return Envelope(Schema("struct", name=name, fields=tuple(fields)), tuple(members))


def _source(
    table: Table, position: Position, extra: Extra, settings: Settings, op: str
) -> tuple[ConnectValue, ...]:
    """Return the values of ``source`` in the order of its schema."""
    if table.name is None:
        raise EncodeError("a change needs the name of its table", _SOURCE)
    connector = _text(extra, "connector")
    values: dict[str, ConnectValue] = {
        "version": _text(extra, "connector_version") or VERSIONS[settings.dialect],
        "connector": "postgresql" if connector is None else connector.lower(),
        "name": _text(extra, "source_name") or settings.topic_prefix,
        "ts_ms": _commit_ms(position),
        "snapshot": _snapshot(extra, op),
        "db": table.database or settings.database,
        "sequence": _text(extra, "sequence"),
        "ts_us": _number(extra, "source_ts_us"),
        "ts_ns": _number(extra, "source_ts_ns"),
        "schema": table.schema or "",
        "table": table.name,
        "txId": _transaction_number(position),
        "lsn": position.lsn,
        "xmin": _number(extra, "xmin"),
    }
    return tuple(values[field.name] for field in source_schema(settings.dialect).fields)


def _snapshot(extra: Extra, op: str) -> str | None:
    if "snapshot" in extra:
        return _text(extra, "snapshot")
    return "true" if op == "r" else "false"


def _commit_ms(position: Position) -> int:
    if position.commit_ms is not None:
        return position.commit_ms
    if position.commit_ts is not None:
        return position.commit_ts >> _TSO_LOGICAL_BITS
    raise EncodeError("the time of the commit is required", _SOURCE, ("commit_ms",))


def _transaction_number(position: Position) -> int | None:
    if position.tx_id is None:
        return None
    if _INTEGER.fullmatch(position.tx_id) is None:
        problem = f"transaction id {position.tx_id!r:.40} is no integer"
        raise EncodeError(problem, _SOURCE, ("tx_id",))
    return int(position.tx_id)


def _block(position: Position, extra: Extra) -> tuple[ConnectValue, ...] | None:
    name = _text(extra, "transaction_id")
    if name is None:
        return None
    order = _number(extra, "data_collection_order")
    if position.tx_order is None or order is None:
        raise EncodeError("a transaction's id stands without the order in it", _BLOCK)
    return name, position.tx_order, order


def _moments(position: Position, extra: Extra, settings: Settings) -> list[int | None]:
    if not is_new(settings.dialect):
        return [position.sent_ms]
    return [position.sent_ms, _number(extra, "ts_us"), _number(extra, "ts_ns")]


def _filled(image: Image | None, table: Table) -> Image | None:
    """Return a key with the table's other columns, as the producer fills them in."""
    if image is None or table.columns is None:
        return image
    sent = dict(zip(image.names, image.values, strict=True))
    columns = tuple(table.columns)
    if not {column.name for column in columns}.issuperset(sent):
        return image
    values = (sent[column.name] if column.name in sent else _made_up(column) for column in columns)
    return Image(columns, tuple(values))


def _made_up(column: Column) -> Value:
    """Return NULL, or what the producer puts where NULL can't be: the zero of the type."""
    if column.nullable is not False:
        return None
    match column.type:
        case BoolType():
            return False
        case IntType():
            return 0
        case FloatType():
            return 0.0
        case TextType():
            return ""
        case BytesType():
            return b"\0"
        case _:
            return None


def _truncate(
    event: SchemaChange,
    settings: Settings,
    definitions: dict[tuple[str | None, str | None], Table],
) -> KafkaMessage:
    if event.what != "truncate" or event.table is None or settings.dialect == "cdl":
        problem = f"a schema change {event.what} has no form here"
        raise EncodeError(problem, "debezium-json: truncate")
    table = event.table
    known = definitions.get((table.schema, table.name), table)
    struct = struct_of(known.columns or (), settings.style)
    position, extra = event.position, event.extra
    envelope = _envelope(table, position, extra, struct, (None, None), "t", settings)
    return KafkaMessage(None, _bytes(envelope, settings))


def _heartbeat(event: Progress, settings: Settings) -> KafkaMessage:
    if event.what != "heartbeat" or settings.dialect == "cdl":
        problem = f"progress {event.what} has no form here"
        raise EncodeError(problem, "debezium-json: heartbeats")
    moment = event.position.sent_ms
    if moment is None:
        raise EncodeError("the time is required", "debezium-json: heartbeats", ("sent_ms",))
    name = _text(event.extra, "source_name") or settings.topic_prefix
    prefix = "io.debezium.connector.common."
    key = Envelope(key_schema(f"{prefix}ServerNameKey", "serverName"), (name,))
    schema = Schema("struct", name=f"{prefix}Heartbeat", fields=(Field("ts_ms", Schema("int64")),))
    return KafkaMessage(_bytes(key, settings), _bytes(Envelope(schema, (moment,)), settings))


def _marker(event: Marker, settings: Settings) -> KafkaMessage:
    if event.what == "tombstone":
        key = event.extra.get("message_key")
        return KafkaMessage(key if isinstance(key, bytes) else None, None)
    if settings.dialect != "cdl":
        if event.what in ("begin", "end"):
            return _boundary(event, settings)
        if event.what == "logical_message":
            return _logical(event, settings)
    raise EncodeError(f"a marker {event.what} has no form here", _OPERATION)


def _boundary(event: Marker, settings: Settings) -> KafkaMessage:
    moment, extra = event.position.sent_ms, event.extra
    if event.id is None or moment is None:
        raise EncodeError("the border of a transaction needs its id and time", _BOUNDARY)
    text = _text(extra, "data_collections")
    payload = (
        event.what.upper(),
        event.id,
        _number(extra, "event_count"),
        None if text is None else _collections(text),
        moment,
    )
    name = "io.debezium.connector.common.TransactionMetadataKey"
    key = Envelope(key_schema(name, "id"), (event.id,))
    value = Envelope(boundary_schema(), payload)
    return KafkaMessage(_bytes(key, settings), _bytes(value, settings))


def _collections(text: str) -> tuple[tuple[str, int], ...]:
    try:
        return tuple((name, count) for name, count in json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        problem = "data_collections is no JSON array of pairs"
        raise EncodeError(problem, _BOUNDARY, ("extra", "data_collections")) from error


def _logical(event: Marker, settings: Settings) -> KafkaMessage:
    extra, position = event.extra, event.position
    content = extra.get("content")
    block = _block(position, extra)
    kind: ConnectType = "string" if isinstance(content, str) else "bytes"
    schema = logical_schema(settings.dialect, kind, block is not None)
    table = Table("", "", settings.database)
    source = _source(table, position, extra, settings, "m")
    payload: list[ConnectValue] = ["m", *_moments(position, extra, settings), source]
    if block is not None:
        payload.append(block)
    payload.append((event.id, content))
    name = "io.debezium.connector.postgresql.MessageKey"
    key_value = event.id or ""
    key = Envelope(key_schema(name, "prefix"), (key_value,))
    return KafkaMessage(_bytes(key, settings), _bytes(Envelope(schema, tuple(payload)), settings))


def _bytes(envelope: Envelope, settings: Settings) -> bytes:
    return encode_envelope(replace(envelope, wrapped=settings.schemas_enable != "false"))


def _text(extra: Extra, name: str) -> str | None:
    value = extra.get(name)
    if value is not None and not isinstance(value, str):
        raise EncodeError(f"{name} is text", _MEMBERS, ("extra", name))
    return value


def _number(extra: Extra, name: str) -> int | None:
    text = _text(extra, name)
    if text is None:
        return None
    if _INTEGER.fullmatch(text) is None:
        raise EncodeError(f"{name} {text!r:.40} is no integer", _MEMBERS, ("extra", name))
    return int(text)
