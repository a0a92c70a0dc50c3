"""Shared parts of explanations: spans without gaps, and JSON values for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta, timezone

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Span, Subject
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, Number
from cdcwire.model.paths import Path

MAX_TEXT = 120
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Spans:
    """Spans without gaps: each begins where the previous one ends. ``root`` begins their paths."""

    def __init__(self, data: bytes, part: str = "value", root: Path = ()) -> None:
        self.data = data
        self.part = part
        self.root = root
        self.spans: list[Span] = []
        self.offset = 0

    def add(
        self,
        end: int,
        path: Path,
        text: str,
        clause: str,
        note: str = "",
        *,
        value: object = None,
        subject: Subject | None = None,
    ) -> None:
        """Add the span up to ``end``. Long texts are cut."""
        if len(text) > MAX_TEXT:
            text = f"{text[:MAX_TEXT]}…"
        path = (*self.root, *path)
        span = Span(path, self.offset, end, text, clause, self.part, note, value, subject)
        self.spans.append(span)
        self.offset = end

    def each(self, walk: Iterator[None]) -> Iterator[Span]:
        """Yield the spans that a walk adds between its steps. Its errors end it silently."""
        with suppress(DecodeError):
            for _ in walk:
                yield from self.spans
                self.spans.clear()
        yield from self.spans
        self.spans.clear()


def unread_key(message: Message, clause: str) -> Iterator[Span]:
    """Yield the span of a Kafka key, for formats that have none and ignore it."""
    key = message.key if isinstance(message, KafkaMessage) else None
    if key:
        note = "not read: the format leaves the key null"
        yield Span((), 0, len(key), key[:MAX_TEXT].hex(" "), clause, "key", note, key)


def json_text(value: JsonValue) -> str:
    """Return a JSON value for people: in full, if it has one level."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case Number(text):
            return text
        case JsonObject(members):
            return f"an object of {len(members)}"
        case str():
            return repr(value[: MAX_TEXT + 1])
        case JsonArray(items):
            if any(isinstance(item, (JsonArray, JsonObject)) for item in items):
                return f"an array of {len(items)}"
            return f"[{', '.join(map(json_text, items[:MAX_TEXT]))}]"


def with_instant(number: str, milliseconds: int) -> str:
    """Return the text of a number with the instant that it means, if there is one."""
    try:
        instant = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return number
    return f"{number} ({instant.isoformat(' ', 'milliseconds')})"
