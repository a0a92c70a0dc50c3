"""Debezium JSON bytes explained: every byte with its field, its value and its clause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from cdcwire.connect.explain import message_spans
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message as AnyMessage
from cdcwire.core.message import expect_kafka
from cdcwire.core.reader import Span
from cdcwire.debezium.message import (
    Message,
)
from cdcwire.debezium.subjects import clauses_of, key_subjects, value_subjects
from cdcwire.formats.debezium_json.settings import read_settings
from cdcwire.formats.debezium_json.wire import read_message


def spans(message: AnyMessage, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of key and value."""
    settings = read_settings(context)
    kafka = expect_kafka(message, "debezium-json: members")
    if settings.compression is not None:
        for part, data in (("key", kafka.key), ("value", kafka.value)):
            if data:
                yield Span((part,), 0, len(data), "compressed", "debezium-json: ticdc", part)
        return
    found: Message | None = None
    with suppress(DecodeError):
        found = read_message(kafka, settings, context.tables)
    text_key = "debezium-json: keys" if settings.key_converter == "string" else None
    clauses = clauses_of(found)
    subjects = value_subjects(found), key_subjects(found)
    del found
    yield from message_spans(kafka, clauses, *subjects, text_key)
