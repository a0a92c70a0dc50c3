"""Tuple bodies explained: every byte with its field, its value and its clause."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Explanation
from cdcwire.core.message import KafkaMessage
from cdcwire.core.reader import EventPart, Subject
from cdcwire.datahub.explain import body_spans, cut
from cdcwire.datahub.tuple_topic import Topic
from cdcwire.formats.datahub_tuple.events import to_events
from cdcwire.formats.datahub_tuple.settings import DEFAULT_SETTINGS, EXECUTE_TIMES, Settings
from cdcwire.formats.datahub_tuple.topic import (
    AFTER_IMAGE,
    BEFORE_IMAGE,
    OPERATION_TYPE,
    SEQUENCE_ID,
    SOURCE_TABLE,
)
from cdcwire.model.events import Event, RowChange

_PARTS: dict[str | None, tuple[EventPart, ...]] = {
    OPERATION_TYPE: ("kind", "op"),
    AFTER_IMAGE: ("half",),
    SOURCE_TABLE: ("table",),
    SEQUENCE_ID: ("sequence_id",),
    **dict.fromkeys(EXECUTE_TIMES, ("commit_ms",)),
}


def explain(
    message: KafkaMessage, topic: Topic, settings: Settings = DEFAULT_SETTINGS
) -> Explanation:
    """Return the spans of every byte of a body.

    On broken bytes: the spans up to the place of the error, and the error.
    """
    error: DecodeError | None = None
    events: list[Event] = []
    try:
        events = to_events(message, topic, settings)
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
    spans = body_spans(message, topic.fields, settings.body, subject_of)
    return Explanation(cut(spans, error), error)
