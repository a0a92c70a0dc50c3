"""The explanation of a message: its spans in the order of the bytes, and the error that ends them.

A format gives the spans while it reads the message. Decoding runs ahead of them, event by event, so
an error is known before the spans after its byte are given. ``Spans`` makes spans without gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta, timezone

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Span, Subject
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, Number
from cdcwire.model.events import Path


class Explanation:
    """The spans of a message in the order of its bytes, and the error that ended them, if any.

    The spans of the key come before those of the value.
    """

    __slots__ = ("_error", "_spans", "_warnings")

    def __init__(
        self,
        spans: tuple[Span, ...],
        error: DecodeError | None = None,
        warnings: tuple[str, ...] = (),
    ) -> None:
        self._spans: tuple[Span, ...] | None = spans
        self._error = error
        self._warnings: tuple[str, ...] | None = warnings

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanation):
            return NotImplemented
        mine, others = (self.spans, self.error), (other.spans, other.error)
        return mine == others and self.warnings == other.warnings

    __hash__ = None  # type: ignore[assignment]

    @property
    def spans(self) -> tuple[Span, ...]:
        """All spans."""
        if self._spans is None:
            self._spans = tuple(self.each())
        return self._spans

    def each(self) -> Iterator[Span]:
        """Yield the spans, without keeping them if they can be made again."""
        return iter(self._spans or ())

    @property
    def error(self) -> DecodeError | None:
        """The error of decoding the message."""
        return self._error

    @property
    def error_so_far(self) -> DecodeError | None:
        """The error, if it is in the bytes of the spans that were given, or right after them."""
        return self._error

    @property
    def warnings(self) -> tuple[str, ...]:
        """The parts of the message that decoding ignores, a line each."""
        return self._warnings or ()


class DecodedExplanation(Explanation):
    """The explanation of a message whose spans are made while its events are decoded.

    ``made`` yields the spans each time it is called. Its own errors end it silently: decoding
    reports them. ``events``: those of the message. ``is_cut``: whether spans end at an error.
    ``warnings``: returns the warnings; called once the message is known to be right.
    Raises: OptionError.
    """

    __slots__ = ("_decoded", "_events", "_is_cut", "_made", "_warn")

    def __init__(
        self,
        made: Callable[[], Iterator[Span]],
        events: Iterator[object],
        is_cut: Callable[[DecodeError], bool],
        warnings: Callable[[], tuple[str, ...]],
    ) -> None:
        super().__init__(())
        self._spans = self._warnings = None
        self._made = made
        self._events = events
        self._is_cut = is_cut
        self._warn = warnings
        self._decoded = 0
        self._decode(0)

    def each(self) -> Iterator[Span]:
        """Yield the spans, up to the error, and what was read of the field that has it."""
        ends: dict[str, int] = {}
        is_rest_given = False
        with suppress(DecodeError):
            for span in self._made():
                if span.subject is not None and span.subject.event is not None:
                    self._decode(span.subject.event)
                broken = self._broken_part()
                if broken == span.part and span.end > self._offset():
                    continue
                if broken == "key" and span.part == "value" and not is_rest_given:
                    is_rest_given = True
                    yield from self._rest(ends)
                ends[span.part] = span.end
                yield span
        self._decode(None)
        if not is_rest_given:
            yield from self._rest(ends)

    @property
    def error(self) -> DecodeError | None:
        """The error of decoding the message. The first use decodes what is left of it."""
        self._decode(None)
        return self._error

    @property
    def warnings(self) -> tuple[str, ...]:
        """The parts of the message that decoding ignores, a line each."""
        if self._warnings is None:
            self._warnings = ()
            with suppress(DecodeError):
                self._warnings = self._warn()
        return self._warnings

    def _decode(self, event: int | None) -> None:
        """Decode the message up to an event, by default to its end."""
        try:
            while event is None or self._decoded <= event:
                next(self._events)
                self._decoded += 1
        except StopIteration:
            pass
        except DecodeError as error:
            self._error = error

    def _offset(self) -> int:
        return 0 if self._error is None else self._error.offset

    def _broken_part(self) -> str | None:
        """Return the part whose spans end at the error; None without such an error."""
        error = self._error
        if error is None or not self._is_cut(error):
            return None
        return "key" if error.path[:1] == ("key",) else "value"

    def _rest(self, ends: dict[str, int]) -> Iterator[Span]:
        part, error = self._broken_part(), self._error
        if part is None or error is None:
            return
        start = ends.get(part, 0)
        if start < error.offset:
            text = "read up to the error"
            yield Span(error.path, start, error.offset, text, error.clause, part)


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
