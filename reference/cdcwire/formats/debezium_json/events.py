"""Debezium's messages as neutral events.

Names of ``extra``: ``connector``, ``connector_version``, ``source_name``, ``snapshot``, ``xmin``,
``sequence``, ``source_ts_us``, ``source_ts_ns``, ``ts_us``, ``ts_ns``, ``gtid``,
``transaction_id``, ``data_collection_order``. CDL adds ``message_type`` where it is not ``0``,
``lob_columns``, ``heartbeat_identifier``. A tombstone has ``message_key``; a logical message has
``content``, ``database``; a transaction's end has ``event_count``, ``data_collections`` (JSON).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypeAlias

from cdcwire.connect.cdl import ROW_CHANGE
from cdcwire.core.format import EVERYTHING, Selection
from cdcwire.formats.debezium_json.message import (
    Block,
    Boundary,
    Change,
    Heartbeat,
    LogicalMessage,
    Message,
    Source,
    Tombstone,
    Unwrapped,
)
from cdcwire.formats.debezium_json.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.debezium_json.unwrapped import key_of_deleted, unwrapped_events
from cdcwire.formats.debezium_json.wire import encode
from cdcwire.model.events import (
    Event,
    Marker,
    MarkerKind,
    Op,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Sent,
    Table,
)

Extra: TypeAlias = "dict[str, str | bytes | None]"

_OPS: dict[str, Op] = {"c": "insert", "u": "update", "d": "delete", "r": "read"}
_SOURCE_EXTRAS = {
    "xmin": "xmin",
    "sequence": "sequence",
    "ts_us": "source_ts_us",
    "ts_ns": "source_ts_ns",
    "gtid": "gtid",
}


def events_of(
    message: Message, settings: Settings = DEFAULT_SETTINGS, selection: Selection = EVERYTHING
) -> Iterator[Event]:
    """Yield the event of a message.

    Raises: DecodeError, for a value that its logical type does not have.
    """
    match message:
        case Change():
            table = table_of(message)
            if table.name is None or selection.wants(table.schema, table.name):
                yield _change_event(message, table, settings, selection)
        case LogicalMessage():
            extra = _source_extra(message.source, message.transaction)
            extra["content"] = message.content
            if message.source.db:
                extra["database"] = message.source.db
            position = _position(message.source, message.ts_ms, message.transaction)
            yield Marker("logical_message", message.prefix, position, extra)
        case Boundary():
            yield _boundary_event(message)
        case Heartbeat():
            named = {} if message.server_name is None else {"source_name": message.server_name}
            yield Progress("heartbeat", Position(sent_ms=message.ts_ms), named)
        case Unwrapped():
            yield from unwrapped_events(message, settings, selection)
        case Tombstone():
            sent, _ = encode(message)
            yield Marker("tombstone", extra={"message_key": sent})


def table_of(change: Change) -> Table:
    """Return the table of a change: MySQL's database is the schema, as everywhere here."""
    source = change.source
    key = None if change.op == "t" else change.key  # a truncate has no Kafka key in any table
    if source.schema:
        return Table(source.table, source.schema, source.db or None, key=key)
    return Table(source.table, source.db or None, key=key)


def _change_event(
    change: Change, table: Table, settings: Settings, selection: Selection
) -> RowChange | SchemaChange:
    position = _position(change.source, change.ts_ms, change.transaction)
    extra = _extra(change)
    if change.op == "t":
        return SchemaChange("truncate", None, table=table, position=position, extra=extra)
    columns = selection.columns
    op = _OPS[change.op]
    if op == "read" and settings.read_r_as_c:
        op = "insert"
    after = change.after.image("after", settings.placeholder, columns)
    # The key alone identifies a row that went, unless the table has none: then all was sent.
    cut = op == "delete" and settings.replica_identity != "full" and change.key != ()
    wanted = columns
    if cut:
        key = key_of_deleted(change.key, change.before.origin)
        wanted = key if columns is None else columns & key
    before = change.before.image("before", settings.placeholder, wanted)
    sent: Sent | None = "key" if cut else None
    return RowChange(table, op, before, after, position, sent=sent, extra=extra)


def _position(source: Source, ts_ms: int | None, block: Block | None) -> Position:
    return Position(
        lsn=source.lsn,
        tx_id=None if source.tx_id is None else str(source.tx_id),
        tx_order=None if block is None else block.total_order,
        commit_ms=source.ts_ms,
        sent_ms=ts_ms,
    )


def _extra(change: Change) -> Extra:
    extra = _source_extra(change.source, change.transaction)
    for name, value in (("ts_us", change.ts_us), ("ts_ns", change.ts_ns)):
        if value is not None:
            extra[name] = str(value)
    if change.cdl is not None:
        if change.cdl.message_type != ROW_CHANGE:
            extra["message_type"] = change.cdl.message_type
        if change.cdl.lob_columns is not None:
            extra["lob_columns"] = change.cdl.lob_columns
        if change.cdl.heartbeat_identifier is not None:
            extra["heartbeat_identifier"] = change.cdl.heartbeat_identifier
    return extra


def _source_extra(source: Source, block: Block | None) -> Extra:
    extra: Extra = {
        "connector": source.connector,
        "connector_version": source.version,
        "source_name": source.name,
        "snapshot": source.snapshot,
    }
    for name, value in source.others:
        if name in _SOURCE_EXTRAS and value is not None:
            extra[_SOURCE_EXTRAS[name]] = str(value)
    if block is not None:
        extra["transaction_id"] = block.id
        extra["data_collection_order"] = str(block.data_collection_order)
    return extra


def _boundary_event(boundary: Boundary) -> Marker:
    extra: Extra = {}
    if boundary.event_count is not None:
        extra["event_count"] = str(boundary.event_count)
    if boundary.data_collections is not None:
        extra["data_collections"] = json.dumps(boundary.data_collections, separators=(",", ":"))
    position = Position(sent_ms=boundary.ts_ms)
    what: MarkerKind = "begin" if boundary.status == "BEGIN" else "end"
    return Marker(what, boundary.id, position, extra)
