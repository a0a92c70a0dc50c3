"""Debezium's messages as neutral events.

Names of ``extra``: ``connector``, ``connector_version``, ``source_name``, ``snapshot``,
``sequence``, ``source_ts_us``, ``source_ts_ns``, ``ts_us``, ``ts_ns``, ``transaction_id``,
``data_collection_order``, ``column_notes``, ``offsets`` and ``placeholders`` (JSON), and those that
``connectors`` declares.
``schema_name``: of the row's schema without its last word, where it is not that of the source.
``nullable_key`` says that a column of ``message.key.columns`` is nullable. CDL adds
``message_type`` where it is not ``0``, ``lob_columns``, ``heartbeat_identifier``. A tombstone has
``message_key``; a logical message has ``content``, ``database``; a transaction's end has
``event_count``, ``data_collections`` (JSON). A statement has ``table_changes`` (JSON), and
``source_table`` where the source names another table than usual.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from cdcwire.connect.cdl import ROW_CHANGE
from cdcwire.connect.logical import columns_of
from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.debezium.connectors import source_of
from cdcwire.debezium.message import (
    Block,
    Boundary,
    Change,
    Ddl,
    Heartbeat,
    KeyPart,
    LogicalMessage,
    Message,
    Notification,
    Source,
    Tombstone,
    Unwrapped,
    Watermark,
)
from cdcwire.debezium.names import renamed, sent_selection
from cdcwire.debezium.notes import notes_of
from cdcwire.debezium.schema_changes import kind_of, sent_table, table_of_change
from cdcwire.debezium.sent_forms import in_iso_form, sent_forms
from cdcwire.debezium.settings import DEFAULT_SETTINGS, Settings
from cdcwire.debezium.shapes import other_schema_name
from cdcwire.debezium.source import table_named
from cdcwire.debezium.unwrapped import is_sent_whole, key_of_deleted, unwrapped_events
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

OPS: dict[str, Op] = {"c": "insert", "u": "update", "d": "delete", "r": "read"}
"""The operations of changes of rows."""


def events_of(
    message: Message,
    key_bytes: Callable[[KeyPart], bytes | None],
    settings: Settings = DEFAULT_SETTINGS,
    selection: Selection = EVERYTHING,
) -> Iterator[Event]:
    """Yield the event of a message. ``key_bytes``: writes a Kafka key.

    Raises: DecodeError, for a value that its logical type does not have.
    """
    match message:
        case Change():
            table = table_of(message)
            if table.name is None or selection.wants_rows_of(table):
                wanted = sent_selection(selection, message.names)
                yield renamed(_change_event(message, table, settings, wanted), message.names)
        case LogicalMessage():
            extra = source_extra(message.source, message.transaction)
            extra["content"] = message.content
            if message.source.db:
                extra["database"] = message.source.db
            position = _position(message.source, message.ts_ms, message.transaction)
            yield Marker("logical_message", message.prefix, position, extra)
        case Watermark():
            position = _position(message.source, message.ts_ms, None)
            yield Progress("watermark", position, source_extra(message.source, None))
        case Ddl():
            yield from _schema_changes(message, selection)
        case Notification():
            return
        case Boundary():
            yield _boundary_event(message)
        case Heartbeat():
            named = {} if message.server_name is None else {"source_name": message.server_name}
            yield Progress("heartbeat", Position(sent_ms=message.ts_ms), named)
        case (Unwrapped() as row) | Tombstone(row=Unwrapped() as row):
            wanted = sent_selection(selection, row.names)
            for event in unwrapped_events(row, settings, wanted):
                yield renamed(event, row.names)
        case Tombstone():
            yield Marker("tombstone", extra={"message_key": key_bytes(message.key_envelope)})


def table_of(change: Change) -> Table:
    """Return the table of a change. A truncate has the columns, but no Kafka key in any table."""
    if change.op != "t":
        return table_named(change.source, change.key)
    columns = columns_of(change.after.schema)
    return replace(table_named(change.source), columns=columns or None)


def _change_event(
    change: Change, table: Table, settings: Settings, selection: Selection
) -> RowChange | SchemaChange:
    position = _position(change.source, change.ts_ms, change.transaction)
    extra = _extra(change, settings)
    if change.op == "t":
        return SchemaChange("truncate", None, table=table, position=position, extra=extra)
    columns = selection.columns
    op = OPS[change.op]
    if op == "read" and settings.read_r_as_c:
        op = "insert"
    declared = source_of(change.source.connector)
    placeholder = settings.placeholder if declared.has_placeholder else ""
    row_before, row_after = (in_iso_form(row, declared) for row in (change.before, change.after))
    after = row_after.image("after", placeholder, columns)
    # The key alone identifies a row that went, unless the table has none: then all was sent.
    is_whole = settings.replica_identity == "full" or change.key == ()
    is_unknown = change.key is None and change.key_envelope is None
    cut = op == "delete" and not is_whole and not declared.whole_rows
    cut = cut and not is_unknown  # without its key, nothing says which columns are those of the key
    before = row_before.image("before", placeholder, None if cut else columns)
    sent: Sent | None = None
    wanted = columns
    if cut and before is not None:
        key = key_of_deleted(change.key, change.before.origin)
        is_told = settings.replica_identity != "default" or change.cdl is not None
        if is_told or not is_sent_whole(before, key, change.before.schema):
            sent, key = "key", key | _sure_columns(change)
            wanted = key if columns is None else columns & key
        before = before if wanted is None else before.only(wanted)
    extra.update(sent_forms(change.before, change.after, placeholder, wanted))
    return RowChange(table, op, before, after, position, sent=sent, extra=extra)


def _sure_columns(change: Change) -> frozenset[str]:
    """Return the columns to keep of a deleted row where its message has another key than its table.

    The key of ``message.key.columns`` may be NULL, the key of a table never is. So the columns of
    the table's key are among those that are not NULL.
    """
    if not change.key_may_be_null or change.before.values is None:
        return frozenset()
    fields = zip(change.before.schema.fields, change.before.values, strict=True)
    return frozenset(
        field.name for field, value in fields if value is not None and not field.schema.optional
    ) or frozenset(field.name for field in change.before.schema.fields)


def _position(source: Source, ts_ms: int | None, block: Block | None) -> Position:
    return Position(
        tx_order=None if block is None else block.total_order,
        commit_ms=source.ts_ms,
        sent_ms=ts_ms,
        **source.place,  # type: ignore[arg-type]  # each has the type of its field
    )


def _extra(change: Change, settings: Settings) -> Extra:
    extra = source_extra(change.source, change.transaction)
    notes = notes_of(change.after.schema)
    if notes is not None:
        extra["column_notes"] = notes
    if change.key_may_be_null:
        extra["nullable_key"] = "true"
    if change.physical_table is not None:
        extra["physical_table"] = change.physical_table
    name = other_schema_name(change.after.schema, table_named(change.source), extra, settings)
    if name is not None:
        extra["schema_name"] = name
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


def source_extra(source: Source, block: Block | None) -> Extra:
    """Return what ``extra`` has of a source and the place in a transaction."""
    extra: Extra = {
        "connector": source.connector,
        "connector_version": source.version,
        "source_name": source.name,
        "snapshot": source.snapshot,
        **source.extra,
    }
    if not source.connector:  # it is another producer's, which has few of them
        extra = {name: value for name, value in extra.items() if value}
    if block is not None:
        extra["transaction_id"] = block.id
        extra["data_collection_order"] = str(block.data_collection_order)
    return extra


def _schema_changes(ddl: Ddl, selection: Selection) -> Iterator[SchemaChange]:
    """Yield the change of each table; one event in any case."""
    position = _position(ddl.source, ddl.ts_ms, None)
    extra = source_extra(ddl.source, None)
    for change in ddl.changes or (None,):
        table = table_of_change(ddl, change)
        if table is None or table.name is None or selection.wants(table.schema, table.name):
            what = kind_of(ddl, change)
            more: Extra = {"table_changes": "[]" if change is None else f"[{change.text}]"}
            if ddl.source_table != sent_table(what, table):
                more["source_table"] = ddl.source_table
            yield SchemaChange(
                what, ddl.query, table=table, position=position, extra={**extra, **more}
            )


def _boundary_event(boundary: Boundary) -> Marker:
    extra: Extra = {}
    if boundary.event_count is not None:
        extra["event_count"] = str(boundary.event_count)
    if boundary.data_collections is not None:
        extra["data_collections"] = json.dumps(boundary.data_collections, separators=(",", ":"))
    position = Position(sent_ms=boundary.ts_ms)
    what: MarkerKind = "begin" if boundary.status == "BEGIN" else "end"
    return Marker(what, boundary.id, position, extra)
