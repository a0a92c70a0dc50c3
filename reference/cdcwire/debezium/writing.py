"""Neutral events as Debezium's messages, in the way of the dialect that the options specify."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from cdcwire.connect import ConnectValue, Envelope, Field, Schema
from cdcwire.connect.cdl import OPTIONAL_STRING, ROW_CHANGE, SOURCE, STRING, VERSION_2
from cdcwire.connect.images import WrittenRows, check_images, schemas_of, written_rows
from cdcwire.core.errors import EncodeError, step
from cdcwire.core.message import KafkaMessage
from cdcwire.debezium.made_up import filled
from cdcwire.debezium.names import adjusted_columns, with_adjusted_columns
from cdcwire.debezium.notes import with_notes
from cdcwire.debezium.schemas import (
    block_schema,
    moments,
    source_schema,
)
from cdcwire.debezium.sent_forms import with_sent_forms
from cdcwire.debezium.settings import Settings
from cdcwire.debezium.shapes import Shape, names_of, shape_of
from cdcwire.debezium.transactions import moved_behind, with_transactions
from cdcwire.debezium.writing_others import write_heartbeat, write_marker, write_statement
from cdcwire.debezium.writing_parts import (
    Writer,
    block_values,
    extra_text,
    moment_values,
    source_values,
)
from cdcwire.debezium.writing_unwrapped import is_own_tombstone, unwrapped_messages
from cdcwire.model.events import (
    Event,
    Extra,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)

_OPERATION = "debezium-json: operation"
_Usual: TypeAlias = "Callable[[Event], KafkaMessage | None]"
OPS = {"insert": "c", "update": "u", "delete": "d", "read": "r"}


def messages_of(
    events: Iterable[Event],
    writer: Writer,
    tables: tuple[Table, ...] = (),
    usual: _Usual = lambda event: None,
) -> Iterator[KafkaMessage]:
    """Yield the messages of events; an update that changes its key is a delete and an insert.

    ``tables``: definitions, from which a delete that has its key only takes the other columns.
    ``usual``: the fast encoder's; messages of rows that it does not make are made here.
    Raises: EncodeError.
    """
    settings = writer.settings
    definitions = {(table.schema, table.name): table for table in tables}
    numbered = _Numbered(events)
    ordered: Iterable[Event] = numbered
    if settings.has_transaction_metadata and settings.dialect != "cdl":
        ordered = with_transactions(numbered, settings)
    last: list[KafkaMessage] = []
    for event in ordered:
        with step("events", numbered.index):
            messages = list(_messages(event, writer, definitions, usual))
        if isinstance(event, Marker) and is_own_tombstone(event, messages == last, settings):
            messages = []
        yield from messages
        last = messages


class _Numbered:
    """Events, and the number of the last one that was taken."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.events = events
        self.index = 0

    def __iter__(self) -> Iterator[Event]:
        for index, event in enumerate(self.events):
            self.index = index
            yield event


def _messages(
    event: Event,
    writer: Writer,
    definitions: dict[tuple[str | None, str | None], Table],
    usual: _Usual,
) -> Iterator[KafkaMessage]:
    match event:
        case RowChange():
            yield from _row_messages(event, writer, definitions, usual)
        case SchemaChange():
            if event.what != "truncate" or "table_changes" in event.extra:
                yield write_statement(event, writer)
            elif writer.settings.transforms == "none":  # the transform drops it
                yield _truncate(event, writer, definitions)
        case Progress():
            yield write_heartbeat(event, writer)
        case Marker():
            yield write_marker(event, writer)


def _row_messages(
    event: RowChange,
    writer: Writer,
    definitions: dict[tuple[str | None, str | None], Table],
    usual: _Usual,
) -> Iterator[KafkaMessage]:
    settings = writer.settings
    known = definitions.get((event.table.schema, event.table.name))
    if event.op == "delete" and event.sent == "key" and known is not None:
        shape = shape_of(event.extra, settings)
        if not shape.source.whole_rows:
            is_default = shape.style_of(settings).with_defaults
            event = replace(event, before=filled(event.before, known, with_defaults=is_default))
    message = usual(event)
    if message is not None:
        yield message
        return
    if event.half is not None:
        raise EncodeError("an update is one event, never two records", _OPERATION, ("half",))
    op = OPS.get(event.op)
    if op is None and event.op == "upsert" and settings.transforms == "unwrap":
        op = "u"  # a row by itself does not say whether it is new
    if op is None:
        raise EncodeError(f"a row of op {event.op} has no form here", _OPERATION, ("op",))
    check_images(event, "debezium-json: images")
    shape = shape_of(event.extra, settings)
    style = shape.style_of(settings, is_snapshot=event.op == "read")
    rows = written_rows(event, style, key_may_be_null="nullable_key" in event.extra)
    if settings.dialect == "cdl":
        yield KafkaMessage(None, writer.value(cdl_envelope(event, rows, settings)))
        return
    rows = with_adjusted_columns(rows, settings.field_names)
    notes = extra_text(event.extra, "column_notes")
    struct, key = with_notes(rows.struct, notes), with_notes(rows.key, notes)
    rows = with_sent_forms(replace(rows, struct=struct, key=key), event.extra, style.placeholder)
    moved = rows.key_before is not None and rows.key_after not in (None, rows.key_before)
    if not moved:
        yield from _row_message(event, rows, op, writer)
        return
    gone = replace(rows, after=None, key_after=None)
    yield from _row_message(event, gone, "d", writer)
    if settings.transforms == "none" or settings.tombstones == "rewrite-with-tombstone":
        yield KafkaMessage(_key_bytes(event, gone, writer), None)
    new = replace(rows, before=None, key_before=None)
    yield from _row_message(moved_behind(event), new, "c", writer)


def _row_message(
    event: RowChange, rows: WrittenRows, op: str, writer: Writer
) -> Iterator[KafkaMessage]:
    settings, key = writer.settings, _key_bytes(event, rows, writer)
    if settings.transforms == "unwrap":
        name = names_of(event.table, settings, event.extra)
        name = shape_of(event.extra, settings).safe_name(name, "Value")
        yield from unwrapped_messages(event, rows, op, KafkaMessage(key, None), name, writer)
    else:
        envelope = _envelope(event.table, event.position, event.extra, rows, op, settings)
        yield KafkaMessage(key, writer.value(envelope))


def _key_bytes(event: RowChange, rows: WrittenRows, writer: Writer) -> bytes | None:
    values = rows.key_after if rows.after is not None else rows.key_before
    if values is None:
        return None
    name = names_of(event.table, writer.settings, event.extra)
    name = shape_of(event.extra, writer.settings).safe_name(name, "Key")
    fields, table = rows.key.fields, extra_text(event.extra, "physical_table")
    if table is not None:
        fields, values = (*fields, Field(writer.settings.key_field_name, STRING)), (*values, table)
    return writer.encode(Envelope(replace(rows.key, name=name, fields=fields), values))


def _envelope(
    table: Table,
    position: Position,
    extra: Extra,
    rows: WrittenRows,
    op: str,
    settings: Settings,
) -> Envelope:
    shape = shape_of(extra, settings)
    block = block_values(position, extra)
    source = source_values(table, position, extra, settings, op)
    moments_of = moment_values(position, extra, shape)
    images = (rows.before, rows.after, source)
    if shape.has_block_first:
        members: tuple[ConnectValue, ...] = (*images, block, op, *moments_of)
    else:
        members = (*images, op, *moments_of, block)
    return Envelope(envelope_schema(names_of(table, settings, extra), rows.struct, shape), members)


def envelope_schema(name: str, struct: Schema, shape: Shape) -> Schema:
    """Return the schema of an envelope; ``struct``: that of its rows."""
    row = replace(struct, name=shape.safe_name(name, "Value"))
    fields = [Field("before", row), Field("after", row), Field("source", source_schema(shape))]
    transaction = Field("transaction", block_schema(shape))
    if shape.has_block_first:
        fields += [transaction, Field("op", STRING), *moments(shape)]
    else:
        fields += [Field("op", STRING), *moments(shape), transaction]
    full_name = shape.safe_name(name, "Envelope")
    return Schema("struct", False, full_name, shape.envelope_version, fields=tuple(fields))


def cdl_envelope(event: RowChange, rows: WrittenRows, settings: Settings) -> Envelope:
    """Return the envelope of a change as CDL writes it, message_version 2.0."""
    table, position, extra = event.table, event.position, event.extra
    op = "c" if event.op == "read" else OPS[event.op]
    source = source_values(table, position, extra, settings, "r" if event.op == "read" else op)
    sent_ms = position.sent_ms if position.sent_ms is not None else source[3]
    members: list[ConnectValue] = [
        rows.before,
        rows.after,
        source,
        op,
        sent_ms,
        VERSION_2,
        extra_text(extra, "message_type") or ROW_CHANGE,
        extra_text(extra, "lob_columns"),
        rows.key_after if rows.after is not None else rows.key_before,
    ]
    has_heartbeat = settings.heartbeat_identifier == "append"
    if has_heartbeat:
        members.append(extra_text(extra, "heartbeat_identifier"))
    name = f"{table.schema}.{table.name}"
    return Envelope(cdl_schema(name, rows.struct, rows.key, has_heartbeat), tuple(members))


def cdl_schema(name: str, struct: Schema, key: Schema, has_heartbeat: bool) -> Schema:
    """Return the schema of CDL's envelope; ``struct`` and ``key``: those of its rows."""
    fields = [
        Field("before", replace(struct, name="before")),
        Field("after", replace(struct, name="data")),
        Field("source", SOURCE),
        Field("op", STRING),
        Field("ts_ms", Schema("int64")),
        Field("message_version", STRING),
        Field("message_type", STRING),
        Field("LOB_COLUMNS", OPTIONAL_STRING),
        Field("unique", replace(key, name="unique", optional=True)),
    ]
    if has_heartbeat:
        fields.append(Field("HEARTBEAT_IDENTIFIER", OPTIONAL_STRING))
    return Schema("struct", name=name, fields=tuple(fields))


def _truncate(
    event: SchemaChange,
    writer: Writer,
    definitions: dict[tuple[str | None, str | None], Table],
) -> KafkaMessage:
    settings = writer.settings
    if settings.dialect == "cdl":
        raise EncodeError("CDL's messages have no schema changes", "debezium-json: truncate")
    if event.table is None:
        raise EncodeError("a truncate needs its table", "debezium-json: truncate", ("table",))
    table = event.table
    known = definitions.get((table.schema, table.name), table)
    style = shape_of(event.extra, settings).style_of(settings)
    struct, _, _ = schemas_of(replace(known, key=()), known.columns or (), style)
    position, extra = event.position, event.extra
    struct = adjusted_columns(struct, settings.field_names)
    struct = with_notes(struct, extra_text(extra, "column_notes"))
    rows = WrittenRows(struct, None, None, Schema("struct"), None, None)
    return KafkaMessage(None, writer.encode(_envelope(table, position, extra, rows, "t", settings)))
