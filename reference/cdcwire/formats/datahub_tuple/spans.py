"""Tuple bodies explained: every byte with its field, its value and its clause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Context
from cdcwire.core.message import Message
from cdcwire.core.reader import EventPart, Span, Subject
from cdcwire.datahub.carrying import queued
from cdcwire.datahub.explain import body_spans
from cdcwire.formats.datahub_tuple.events import events_of
from cdcwire.formats.datahub_tuple.settings import EXECUTE_TIMES
from cdcwire.formats.datahub_tuple.topic import (
    AFTER_IMAGE,
    BEFORE_IMAGE,
    OPERATION_TYPE,
    SEQUENCE_ID,
    SOURCE_TABLE,
    topic_in,
)
from cdcwire.model.events import Event, RowChange

_PARTS: dict[str | None, tuple[EventPart, ...]] = {
    OPERATION_TYPE: ("kind", "op"),
    AFTER_IMAGE: ("half",),
    SOURCE_TABLE: ("table",),
    SEQUENCE_ID: ("sequence_id",),
    **dict.fromkeys(EXECUTE_TIMES, ("commit_ms",)),
}


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of a body."""
    settings, topic = topic_in(context)
    body = queued(message)
    events: list[Event] = []
    with suppress(DecodeError):
        events = events_of(body, topic, settings)

    def subject_of(index: int, field: str | None) -> Subject | None:
        if field == BEFORE_IMAGE:
            return Subject(index, ("half",), "before")
        if field in _PARTS:
            return Subject(index, _PARTS[field])
        event = events[index] if index < len(events) else None
        if field is None or not isinstance(event, RowChange) or field not in event_columns:
            return None
        return Subject(index, ("after" if event.before is None else "before",), field)

    event_columns = {column.name for column in topic.columns}
    yield from body_spans(body, topic.fields, settings.body, subject_of)
