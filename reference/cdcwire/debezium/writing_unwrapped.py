"""Rows by themselves: what ExtractNewRecordState makes of a change, as its settings say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire.connect import ConnectValue, Envelope, Field, Schema
from cdcwire.connect.cdl import OPTIONAL_STRING
from cdcwire.connect.images import WrittenRows
from cdcwire.core.errors import EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.debezium.added import DELETED
from cdcwire.debezium.schemas import block_schema, moments, source_schema
from cdcwire.debezium.settings import Settings
from cdcwire.debezium.shapes import Shape, shape_of
from cdcwire.debezium.writing_parts import (
    Writer,
    common_values,
    extra_number,
    extra_text,
    member_value,
)
from cdcwire.model.events import Marker, RowChange

_CLAUSE = "debezium-json: unwrapped rows"
_OF_TRANSACTION = ("id", "total_order", "data_collection_order")
_TO_TOMBSTONE = ("auto", "tombstone", "delete-to-tombstone")


def is_own_tombstone(event: Marker, is_repeated: bool, settings: Settings) -> bool:
    """Return whether the transform drops a tombstone of the connector.

    ``is_repeated``: the delete before it was made the same message.
    """
    if event.what != "tombstone" or settings.transforms == "none":
        return False
    return settings.tombstones in ("drop", "rewrite") or (
        is_repeated and settings.tombstones in _TO_TOMBSTONE
    )


def unwrapped_messages(
    event: RowChange, rows: WrittenRows, op: str, gone: KafkaMessage, name: str, writer: Writer
) -> Iterator[KafkaMessage]:
    """Yield the message of a row, unless the transform drops it. Raises: EncodeError.

    ``gone``: its tombstone. ``name``: of the row's schema.
    """
    mode = writer.settings.tombstones
    if op == "d" and mode in _TO_TOMBSTONE:
        yield gone
    row = rows.before if op == "d" else rows.after
    if row is None or (op == "d" and not mode.startswith("rewrite")):
        return
    fields, values = list(rows.struct.fields), list(row)
    if mode.startswith("rewrite"):
        fields.append(Field(DELETED, OPTIONAL_STRING))
        values.append("true" if op == "d" else "false")
    for field, value in _added(event, op, writer.settings):
        if any(each.name == field.name for each in fields):
            problem = f"the row has a column {field.name!r:.40}: the transform stops there"
            raise EncodeError(problem, _CLAUSE, (field.name,))
        fields.append(field)
        values.append(value)
    struct = Schema("struct", False, name, fields=tuple(fields))
    yield KafkaMessage(gone.key, writer.encode(Envelope(struct, tuple(values))))


def _added(event: RowChange, op: str, settings: Settings) -> Iterator[tuple[Field, ConnectValue]]:
    """Yield the added fields, in the order of the settings. Raises: EncodeError."""
    shape = shape_of(event.extra, settings)
    for listed in filter(None, settings.add_fields.split(",")):
        member, _, own = listed.strip().partition(":")
        struct, _, name = member.rpartition(".")
        if not struct and name in _OF_TRANSACTION:
            struct = "transaction"
        elif not struct and name not in ("op", "ts_ms", "ts_us", "ts_ns"):
            struct = "source"
        schema, values = _members(event, op, struct, settings, shape)
        found = schema.field(name)
        if found is None:
            raise EncodeError(f"a change has no {member!r:.40}", _CLAUSE)
        full = f"{settings.add_fields_prefix}{own or member.replace('.', '_')}"
        yield Field(full, replace(found, optional=True)), values[name]


def _members(
    event: RowChange, op: str, struct: str, settings: Settings, shape: Shape
) -> tuple[Schema, dict[str, ConnectValue]]:
    """Return the members of a part of a change: of ``source``, ``transaction`` or itself."""
    position, extra = event.position, event.extra
    if struct == "transaction":
        order = extra_number(extra, "data_collection_order")
        values = (extra_text(extra, "transaction_id"), position.tx_order, order)
        return block_schema(shape), dict(zip(_OF_TRANSACTION, values, strict=True))
    if not struct:
        own = Schema("struct", fields=(Field("op", OPTIONAL_STRING), *moments(shape)))
        more = {name: extra_number(extra, name) for name in ("ts_us", "ts_ns")}
        return own, {"op": op, "ts_ms": position.sent_ms, **more}
    if struct != "source":
        raise EncodeError(f"a change has no {struct!r:.40}", _CLAUSE)
    members = {
        member.name: member_value(replace(member, optional=True), position, extra)
        for member in shape.source.members_of(shape.version)
        if member.place
    }
    common = common_values(event.table, extra, settings, op)
    return source_schema(shape), {**common, "ts_ms": position.commit_ms, **members}
