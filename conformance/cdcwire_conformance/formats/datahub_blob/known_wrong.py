"""Known-wrong decoders of datahub-blob."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.datahub.frame import MAGIC
from cdcwire.format import Format
from cdcwire.model.events import Event, Marker, Position
from cdcwire.model.kinds import Column, TimestampType, Value
from cdcwire_conformance.families.datahub_known_wrong import (
    DATAHUB_FAULTS,
    FRAME_SIZE,
    HEADER_SIZE,
    RECORD_SIZE,
    moved,
)
from cdcwire_conformance.known_wrong.decoder import (
    KnownWrong,
    mending,
    right,
    under_options,
    wrong_decoder,
    wrong_events,
    wrong_values,
)
from cdcwire_conformance.known_wrong.events import SCHEMA_CHANGES, STATEMENTS, one_table_a_message
from cdcwire_conformance.known_wrong.values import names_in_lower_case


@wrong_values("a DATE of ten digits or less counts seconds")
def short_date_in_seconds(column: Column, value: Value) -> Value:
    """Take a DATE of up to 10 digits for seconds."""
    is_date = isinstance(column.type, TimestampType) and column.type.form == "ms"
    return value * 1000 if is_date and abs(value) < 10**10 else value


@wrong_events("systemTime is taken for the time of the change")
def system_time_as_event_time(event: Event) -> Event:
    """Replace the commit time with the time of sending."""
    position: Position = event.position
    return event if position.sent_ms is None else moved(event, commit_ms=position.sent_ms)


@wrong_events("schemaName is ignored")
def database_as_schema(event: Event) -> Event:
    """Use the database's name as the schema's name."""
    table = event.table if not isinstance(event, Marker) and hasattr(event, "table") else None
    if table is None or table.database is None:
        return event
    found: Any = event
    return replace(found, table=replace(table, schema=table.database, database=None))  # type: ignore[no-any-return]


@wrong_events("markers are skipped")
def marker_lost(event: Event) -> Event | None:
    """Drop markers."""
    return None if isinstance(event, Marker) else event


@wrong_decoder("a record in a batch that says it has no fields is refused")
def field_count_believed(format_: Format, message: Message, context: Context) -> list[Event]:
    """Refuse a batch whose records say that they have no fields."""
    assert isinstance(message, KafkaMessage)
    events = right(format_, message, context)
    value = message.value or b""
    batch = value.find(MAGIC, FRAME_SIZE)
    is_plain = batch > 0 and value[batch + 20] & 3 == 0
    if is_plain and value[batch + HEADER_SIZE + RECORD_SIZE :][:4] == bytes(4):
        raise DecodeError("a record without fields", batch, "datahub: batch records")
    return events


@mending("the last of several members of one name counts")
def members_twice_accepted(message: Message) -> Iterable[Message]:
    """Give the text as a loose parser has it: the last member of each name."""
    assert isinstance(message, KafkaMessage)
    try:
        document = json.loads((message.value or b"").decode("utf-8-sig"))
    except ValueError:
        return
    yield replace(message, value=json.dumps(document, ensure_ascii=False).encode())


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises: ValueError for a repeated name."""
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("a repeated name")
    return found


@mending("times may be texts, and sequence ids numbers")
def numbers_as_texts_accepted(message: Message) -> Iterable[Message]:
    """Exchange numbers and their texts."""
    assert isinstance(message, KafkaMessage)
    try:
        document = json.loads(message.value or b"", object_pairs_hook=_once)
        payload = document["payload"]
        times = payload["timestamp"]
        payload["sequenceId"] = str(payload["sequenceId"])
        document["payload"]["timestamp"] = {name: int(time) for name, time in times.items()}
    except (ValueError, KeyError, TypeError):
        return
    yield replace(message, value=json.dumps(document, ensure_ascii=False).encode())


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *DATAHUB_FAULTS,
    names_in_lower_case,
    *SCHEMA_CHANGES,
    *STATEMENTS,
    one_table_a_message,
    short_date_in_seconds,
    system_time_as_event_time,
    database_as_schema,
    marker_lost,
    KnownWrong(
        "update-before-accepted",
        "UPDATE_BEFORE is taken for UPDATE_BEFOR",
        under_options(lenient_ops=True),
    ),
    members_twice_accepted,
    numbers_as_texts_accepted,
    field_count_believed,
)
