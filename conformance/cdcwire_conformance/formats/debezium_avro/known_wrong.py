"""Known-wrong decoders of debezium-avro: of its unions, its schemas, and the envelope in both.

Most read a changed schema: the wrong text, or the right one in the wrong way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.format import Format
from cdcwire.model.events import Event, RowChange
from cdcwire.model.kinds import Column, DatetimeType, Value
from cdcwire_conformance.families import avro_known_wrong
from cdcwire_conformance.known_wrong.decoder import (
    Decode,
    KnownWrong,
    decorator,
    mending,
    refusing,
    right,
    wrong_columns,
    wrong_rows,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import EVENTS, OLD_ROWS, OPERATIONS, SCHEMA_CHANGES
from cdcwire_conformance.known_wrong.values import (
    BINARY_AND_JSON,
    CUT_VALUES,
    NUMBERS_AND_TEXTS,
    VALUES,
)

_OWN = ("connect.", "logicalType", "scale", "precision")


def _by_other_nodes(change: Callable[[Any], Any]) -> Decode:
    """Return a decoder that changes each object of a schema before it reads by it."""

    def changed(node: Any) -> Any:
        if isinstance(node, dict):
            return change({name: changed(item) for name, item in node.items()})
        return [changed(item) for item in node] if isinstance(node, list) else node

    def text_of(text: str) -> str:
        try:
            return json.dumps(changed(json.loads(text)))
        except ValueError:
            return text

    def decode(format_: Format, message: Message, context: Context) -> list[Event]:
        texts = {name: text_of(text) for name, text in context.schemas.items()}
        return right(format_, message, replace(context, schemas=texts))

    return decode


_wrong_by_nodes = decorator(_by_other_nodes)


@_wrong_by_nodes("the first branch of every union is taken for NULL")
def null_first(node: dict[str, Any]) -> dict[str, Any]:
    """Move NULL to the front of the union of a field."""
    kind = node.get("type")
    if isinstance(kind, list) and "null" in kind[1:]:
        others = [branch for branch in kind if branch != "null"]
        return {**node, "type": ["null", *others], "default": None}
    return node


@_wrong_by_nodes("what connect.name and connect.parameters say is ignored")
def connect_members_ignored(node: dict[str, Any]) -> dict[str, Any]:
    """Drop the members of Connect, and the logical types."""
    return {name: item for name, item in node.items() if not name.startswith(_OWN)}


@_wrong_by_nodes("columns have the names of Avro, not those in connect.field")
def original_names_lost(node: dict[str, Any]) -> dict[str, Any]:
    """Drop the original name of a field."""
    return {name: item for name, item in node.items() if name != "connect.field"}


@wrong_values("the scale of a decimal is ignored")
def scale_ignored(column: Column, value: Value) -> Value:
    """Give the unscaled number of a decimal."""
    if not isinstance(value, Decimal) or not value.is_finite():
        return value
    _, _, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # it is finite
    return value.scaleb(-exponent)


@wrong_columns("microseconds are taken for milliseconds")
def micro_as_milli(column: Column, value: Value) -> tuple[Column, Value]:
    """Take a date and time in microseconds for one in milliseconds."""
    kind = column.type
    if isinstance(kind, DatetimeType) and kind.form == "us":
        return replace(column, type=replace(kind, form="ms")), value
    return column, value


@refusing("a message without value breaks it")
def tombstone_crash(message: Message, events: list[Event]) -> bool:
    """Return whether the message has no value."""
    return isinstance(message, KafkaMessage) and message.value is None


@wrong_rows("a delete of any connector has its key only, as PostgreSQL's does")
def delete_cut_to_key(row: RowChange) -> Event:
    """Drop the columns of a deleted row that are not of its key."""
    if row.op != "delete" or row.before is None or not row.table.key:
        return row
    return replace(row, before=row.before.only(row.table.key))


@wrong_rows("the time of the commit is that of the envelope")
def envelope_time(row: RowChange) -> Event:
    """Take the time when the connector handled a change for that of its commit."""
    return replace(row, position=replace(row.position, commit_ms=row.position.sent_ms))


@wrong_rows("rows of a snapshot are inserts, without the option")
def read_as_insert(row: RowChange) -> Event:
    """Turn a row of a snapshot into an insert."""
    return replace(row, op="insert") if row.op == "read" else row


@mending("bytes after the datum of a value are ignored")
def end_of_value_ignored(message: Message) -> Iterable[Message]:
    """Yield the message with its value shortened by 1 to 15 bytes."""
    assert isinstance(message, KafkaMessage)
    value = message.value or b""
    for surplus in range(1, min(len(value), 16)):
        yield replace(message, value=value[:-surplus])


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *VALUES,
    *CUT_VALUES,
    *NUMBERS_AND_TEXTS,
    *BINARY_AND_JSON,
    *EVENTS,
    *OPERATIONS,
    *OLD_ROWS,
    *SCHEMA_CHANGES,
    *avro_known_wrong.SCHEMA_FAULTS,
    null_first,
    connect_members_ignored,
    original_names_lost,
    scale_ignored,
    micro_as_milli,
    tombstone_crash,
    delete_cut_to_key,
    envelope_time,
    read_as_insert,
    end_of_value_ignored,
)
