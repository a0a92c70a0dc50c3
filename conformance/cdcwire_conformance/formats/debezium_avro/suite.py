"""The suite's facts about debezium-avro, and the rules of its derived cases.

A datum ends where its bytes end, and no datum begins another, so that neither a cut nor a byte more
is ever legal. Other changes, in key and value alike:

* The first bytes of the framing, and the id to one that no registry gives.
* The branch of a union to one that it does not have.
* A length to one that is negative, asks for all memory, or is one off. One off in the middle of a
  datum shifts the bytes after it, which may be legal by chance.
* A number, a length or a branch to a varint of eleven bytes.
* The operation and the status of a transaction to undefined ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.core.reader import Span
from cdcwire.format import Format
from cdcwire.model.events import Event, RowChange
from cdcwire.model.kinds import Column, DatetimeType, Value
from cdcwire_conformance.families import avro as avro_family
from cdcwire_conformance.families.avro import (
    of_branch,
    of_envelope,
    of_length,
    of_number,
    replaced,
    varint_at,
    zigzag,
)
from cdcwire_conformance.families.connect import CONNECT_UNCHECKED, reads_int_as_long
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
from cdcwire_conformance.known_wrong.lenient import Liberties, mend_text
from cdcwire_conformance.known_wrong.values import (
    BINARY_AND_JSON,
    CUT_VALUES,
    NUMBERS_AND_TEXTS,
    VALUES,
)
from cdcwire_conformance.mutations import Change, FormatRules
from cdcwire_conformance.suite import FormatSuite, SizeFacts

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
    """Drop the columns of a deleted row beyond its key."""
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
    *avro_family.SCHEMA_FAULTS,
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

_NO_BRANCH = 63  # unions of several types are read too
_FRAMINGS = frozenset({"avro: envelope", "avro: glue envelope", "debezium-avro: framing"})
_TAGS: Mapping[tuple[str, ...], bytes] = {("value", "op"): b"x", ("value", "status"): b"ABORT"}


def legal_sizes(raw: bytes, spans: Sequence[Span]) -> Container[int]:
    """Return where a part may end before its end: nowhere."""
    return ()


def changes(
    raw: bytes, spans: Sequence[Span], options: Mapping[str, OptionValue]
) -> Iterator[Change]:
    """Yield what can be made wrong at the fields of a key or of a value."""
    is_row = options.get("transforms") == "unwrap"  # whose members may have any text
    for span in spans:
        if span.clause in _FRAMINGS:
            yield from of_envelope(raw, span, str(span.path[-1]))
        elif span.clause == "avro: union index":
            yield from of_branch(raw, span, beyond=_NO_BRANCH)
        elif span.clause == "avro: lengths":
            yield from of_number(raw, span)
        elif isinstance(span.value, (str, bytes)):
            yield from _of_text(raw, span)
            tag = None if is_row else _TAGS.get(tuple(map(str, span.path)))
            if tag is not None:
                title = f"{span.path[-1]} is {tag.decode()}"
                made = replaced(raw, span, zigzag(len(tag)) + tag)
                yield Change("tag", span.start, f"={tag.decode()}", title, made)
        elif isinstance(span.value, int) and not isinstance(span.value, bool):
            yield from of_number(raw, span)


def _of_text(raw: bytes, span: Span) -> Iterator[Change]:
    """Yield the changes of a string or bytes, but not of Avro's enums and of fixed bytes."""
    end, length = varint_at(raw, span.start)
    if end + length == span.end:
        yield from of_length(raw, span)


RULES = FormatRules(parts=("key", "value"), legal_sizes=legal_sizes, changes=changes)

LIBERTIES = Liberties(
    unchecked=CONNECT_UNCHECKED | {"debezium-avro: schemas", "avro: schema limits"},
    scalars=frozenset({"debezium-json: source", "debezium-json: heartbeats"}),
    mend=partial(mend_text, texts=frozenset({"avro: text values"})),
    forgives=reads_int_as_long,
    is_framed=True,
)


SUITE = FormatSuite(
    mutations=RULES,
    known_wrong=KNOWN_WRONG,
    liberties=LIBERTIES,
    size=SizeFacts(
        color="#b5651d",
        note=(
            "`debezium-avro` has one row per message, with both rows of an update. Its schemas are "
            "in a registry and are not counted: a message has only their ids."
        ),
        has_one_row_per_message=True,
    ),
)
