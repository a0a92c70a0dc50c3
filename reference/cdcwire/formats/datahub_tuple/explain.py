"""Tuple bodies explained: every byte with its field, its value and its clause."""

from __future__ import annotations

from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Explanation
from cdcwire.core.message import KafkaMessage
from cdcwire.datahub.explain import body_spans, cut
from cdcwire.formats.datahub_tuple.events import to_events
from cdcwire.formats.datahub_tuple.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.datahub_tuple.topic import Topic


def explain(
    message: KafkaMessage, topic: Topic, settings: Settings = DEFAULT_SETTINGS
) -> Explanation:
    """Return the spans of every byte of a body.

    On broken bytes: the spans up to the place of the error, and the error.
    """
    error: DecodeError | None = None
    try:
        to_events(message, topic, settings)
    except DecodeError as caught:
        error = caught
    spans, _ = body_spans(message, topic.fields, settings.body)
    return Explanation(cut(spans, error), error)
