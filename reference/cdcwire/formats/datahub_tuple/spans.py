"""Tuple bodies explained: every byte with its field, its value and its clause."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import NO_CONTEXT, Context, Explanation
from cdcwire.core.message import Message
from cdcwire.core.reader import EventPart, Subject
from cdcwire.datahub.carrying import queued
from cdcwire.datahub.explain import body_spans, cut
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


def explain(message: Message, *, context: Context = NO_CONTEXT) -> Explanation:
    """Return the spans of every byte of a body.

    On broken bytes: the spans up to the place of the error, and the error.
    """
    settings, topic = topic_in(context)
    try:
        body = queued(message)
    except DecodeError as caught:
        return Explanation((), caught)
    error: DecodeError | None = None
    events: list[Event] = []
    try:
        events = events_of(body, topic, settings)
    except DecodeError as caught:
        error = caught

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
    spans = body_spans(body, topic.fields, settings.body, subject_of)
    return Explanation(cut(spans, error), error)
