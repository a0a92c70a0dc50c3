"""Tuple bodies explained: every byte with its field, its value and its clause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import unread_key
from cdcwire.core.message import Message
from cdcwire.core.reader import EventPart, Span, Subject
from cdcwire.datahub.carrying import queued
from cdcwire.datahub.explain import body_spans
from cdcwire.datahub.records import CLAUSE_RECORDS
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
    yield from unread_key(body, CLAUSE_RECORDS)
    events = enumerate(events_of(body, topic, settings))
    current = -1
    image: EventPart = "after"

    def image_of(index: int) -> EventPart | None:
        """Return the image that a record has; None from an error on."""
        nonlocal current, image
        with suppress(DecodeError, StopIteration):
            while current < index:
                current, event = next(events)
                image = "after" if event.before is None else "before"
        return image if current == index else None

    def subject_of(index: int, field: str | None) -> Subject | None:
        if field == BEFORE_IMAGE:
            return Subject(index, ("half",), "before")
        if field in _PARTS:
            return Subject(index, _PARTS[field])
        part = image_of(index) if field in event_columns else None
        return None if part is None else Subject(index, (part,), field)

    event_columns = {column.name for column in topic.columns}
    yield from body_spans(body, topic.fields, settings.body, subject_of)
