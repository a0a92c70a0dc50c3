"""Craft bytes explained: every byte with its field, its value and its clause.

Both Craft formats use these functions. Codes are shown with their names, term numbers with their
terms. A FLOAT that no 32-bit float equals is reported as one. Where its bytes show the fault of the
shipped encoder (see the page of the format), that is reported too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from operator import attrgetter, itemgetter

from cdcwire.core.context import EVERYTHING, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import unread_key
from cdcwire.core.message import Message
from cdcwire.core.reader import EventPart, Reader, RecordingReader, Span, Subject
from cdcwire.formats.craft.columns import INEXACT_FLOAT, is_inexact, is_number_type
from cdcwire.formats.craft.message import (
    EVENT_DDL,
    EVENT_RESOLVED,
    EVENT_ROW,
    GROUP_NEW,
    GROUP_OLD,
)
from cdcwire.formats.craft.profile import CRAFT, Profile
from cdcwire.formats.craft.size_tables import ReadPart, T, read_now
from cdcwire.formats.craft.wire import read_bodies, read_head
from cdcwire.model.events import Path, Step
from cdcwire.mysql.types import FLAG_BINARY, STRING_TYPES, column_of, flag_names

SHIPPED_FLOAT_FAULT = (
    f"{INEXACT_FLOAT}: its upper half repeats the start of the next number, which is the fault of "
    "the shipped encoder"
)

_EVENT_NAMES = {EVENT_ROW: "row", EVENT_DDL: "DDL", EVENT_RESOLVED: "resolved"}
_GROUP_NAMES = {GROUP_NEW: "new", GROUP_OLD: "old"}
_WINDOWS = 128
_LEAST_WINDOW = 4096  # bytes
_FAULT_BYTES = 4  # the upper half of a FLOAT's 8 bytes
_TYPE_PARTS: dict[object, tuple[EventPart, ...]] = {
    EVENT_ROW: ("kind", "op"),
    EVENT_RESOLVED: ("kind", "what"),
}
_HEADER_PARTS: dict[Step, tuple[EventPart, ...]] = {
    name: (name,) for name in ("commit_ts", "partition", "schema", "table", "query")
}


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of a message."""
    yield from spans_of(message, _opened, CRAFT)


def _opened(reader: Reader, read_part: ReadPart) -> Opened:
    head = read_head(reader, read_part)
    read = partial(read_bodies, head=head, selection=EVERYTHING)
    return Opened(head.bodies, read, [each.type for each in head.headers], head.dictionary)


@dataclass(frozen=True, slots=True)
class Opened:
    """A message whose head is read: where its bodies are, and what reads them one by one.

    ``kinds``: the type of each event. ``terms``: the names that numbers mean.
    """

    bodies: Reader
    read: Callable[[Reader], Iterator[object]]
    kinds: Sequence[int] = ()
    terms: Sequence[str] = ()


def spans_of(
    message: Message,
    open_message: Callable[[Reader, ReadPart], Opened],
    profile: Profile,
    more_groups: Mapping[int, str] | None = None,
) -> Iterator[Span]:
    """Yield the spans of key and value: those of the head, of the bodies, and of the tables.

    The head has parts before and after the bodies, and is not read in the order of its bytes.
    """
    yield from unread_key(message, profile.expect_kafka)
    data = message.value or b""
    head = _Head(data)
    try:
        opened = open_message(head.reader, head.read_part)
    except DecodeError:  # decoding reports it
        windows = chain.from_iterable(head.windows(range(len(data))))
        terms = [str(span.value) for span in windows if _is_term(span)]
        opened = Opened(Reader(data, len(data)), lambda reader: iter(()), terms=terms)
    names = _Names(opened, {**_GROUP_NAMES, **(more_groups or {})}, profile)
    at, end = opened.bodies.offset, opened.bodies.end
    del opened  # a message of many rows has a large head
    for found in head.windows(range(at)):
        yield from names.shown(found)
    if at < end:
        bodies = _bodies(RecordingReader(data, at, end), open_message(Reader(data), read_now).read)
        yield from _with_faults(chain.from_iterable(map(names.shown, bodies)), data)
    for found in head.windows(range(end, len(data))):
        yield from names.shown(found)


def _is_term(span: Span) -> bool:
    return span.path[0] == "dictionary" and isinstance(span.value, str)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a head: its bytes, and what reads it."""

    where: range
    read: Callable[[Reader], object]


class _Head:
    """The head of a message, which has too many values to keep the spans of all.

    ``reader`` reads what is between the large parts and keeps its spans. The parts are read again
    for each window of bytes, and only the spans of that window are kept.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.reader = RecordingReader(data)
        self._parts: list[_Part] = []

    def read_part(self, part: Reader, read: Callable[[Reader], T], /) -> T:
        """Read a part without its spans, and remember it. Raises: DecodeError."""
        self._parts.append(_Part(range(part.offset, part.end), read))
        return read(Reader(self.data, part.offset, part.end))

    def windows(self, where: range) -> Iterator[list[Span]]:
        """Yield the spans of the parts that begin within ``where``, in the order of bytes."""
        found = [(span.start, iter([[span]])) for span in self.reader.spans]
        found += [(part.where.start, self._windows(part)) for part in self._parts]
        for start, windows in sorted(found, key=itemgetter(0)):
            if start in where:
                yield from windows

    def _windows(self, part: _Part) -> Iterator[list[Span]]:
        whole = part.where
        size = max(len(self.data) // _WINDOWS, _LEAST_WINDOW)
        for at in range(0, len(whole), size):
            reader = RecordingReader(
                self.data, whole.start, whole.stop, noted=whole[at : at + size]
            )
            with suppress(DecodeError):
                part.read(reader)
            yield reader.spans


def _bodies(
    reader: RecordingReader, read: Callable[[Reader], Iterator[object]]
) -> Iterator[list[Span]]:
    with suppress(DecodeError):
        for _ in read(reader):
            yield reader.spans
            reader.spans.clear()
    yield reader.spans


class _Names:
    """The names of codes and terms, and the subjects, of the spans of one message."""

    def __init__(self, opened: Opened, group_names: Mapping[int, str], profile: Profile) -> None:
        self.terms = opened.terms
        self.group_names = group_names
        self.event_types = profile.event_types
        # Events of types that are not known are in the bytes only.
        self.unknown = [at for at, kind in enumerate(opened.kinds) if kind not in _EVENT_NAMES]
        self.count = len(opened.kinds)

    def shown(self, spans: list[Span]) -> Iterator[Span]:
        """Yield the spans of a head's window or of an event's body, named and in order."""
        values = {span.path: span.value for span in spans}
        for span in sorted(spans, key=attrgetter("start")):
            text, subject = self._text(span), self._subject(span, values)
            yield (
                span
                if text is None and subject is None
                else replace(span, text=text or span.text, subject=subject)
            )

    def _column_name(self, column: Path, values: Mapping[Path, object]) -> str:
        name = values.get((*column, "name"), "")
        return str(self.terms[name] if isinstance(name, int) else name)

    def _subject(self, span: Span, values: Mapping[Path, object]) -> Subject | None:
        event = self._number(span.path[1]) if span.path[0] == "events" else None
        if event is None:
            return None
        match span.path[2:]:
            case ("type",) if span.clause == self.event_types:
                return Subject(event, _TYPE_PARTS.get(span.value, ("kind",)))
            case ("type",):
                return Subject(event, ("what", "code"))
            case ("row_id",):
                return Subject(event, ("extra",), "row_id")
            case ("query", "length") if span.value == 0:
                return Subject(event, ("query",))
            case (name,) if name in _HEADER_PARTS:
                return Subject(event, _HEADER_PARTS[name])
            case ("groups", int(), "type"):
                return Subject(event, (_side_of(span.value),))
            case ("groups", int(), "columns", int(), "flags"):
                return Subject(event, ("key",))
            case ("groups", int(), "columns", int(), "value" | "length") if (
                span.path[-1] == "value" or (*span.path[:-1], "value") not in values
            ):
                side = _side_of(values.get((*span.path[:4], "type")))
                return Subject(event, (side,), self._column_name(span.path[:-1], values))
            case _:
                return None

    def _number(self, place: Step) -> int | None:
        """Return the number of an event among those that are known."""
        if not isinstance(place, int) or place >= self.count:
            return None
        before = bisect_left(self.unknown, place)
        return None if place in self.unknown[before : before + 1] else place - before

    def _text(self, span: Span) -> str | None:
        """Return the text of a code with its meaning; None for other spans."""
        code = span.value
        if not isinstance(code, int):
            return None
        match span.path:
            case (*_, "schema" | "table" | "name") if self.terms and code != -1:
                name = repr(self.terms[code]) if 0 <= code < len(self.terms) else ""
            case ("events", int(), "type") if span.clause == self.event_types:
                name = _EVENT_NAMES.get(code, "not known")
            case ("events", int(), "groups", int(), "type"):
                name = self.group_names.get(code, "not known")
            case ("events", int(), "groups", int(), "columns", int(), "type"):
                name = _type_name(code)
            case ("events", int(), "groups", int(), "columns", int(), "flags"):
                name = flag_names(code)
            case (*_, "length") if code == -1:
                name = "NULL"
            case (*_, "partition" | "schema" | "table") if code == -1:
                name = "none"
            case _:
                return None
        return f"{span.text} ({name})" if name else None


def _side_of(group_type: object) -> EventPart:
    return "after" if group_type == GROUP_NEW else "before"


def _with_faults(spans: Iterable[Span], data: bytes) -> Iterator[Span]:
    """Yield the spans with the note of each inexact FLOAT sharpened where its bytes show more."""
    waiting: list[Span] = []  # an inexact FLOAT, and the spans up to the next number
    types: dict[Path, object] = {}
    for span in spans:
        if span.path[-1] == "count":
            types.clear()
        elif span.path[-3::2] == ("columns", "type"):
            types[span.path[:-1]] = span.value
        code = types.get(span.path[:-1]) if span.path[-1] == "value" else None
        is_number = isinstance(code, int) and is_number_type(code)
        is_odd = isinstance(code, int) and is_inexact(code, span.value)
        if is_number and waiting:
            upper_half = data[waiting[0].end - _FAULT_BYTES : waiting[0].end]
            if data.startswith(upper_half, span.start, span.end):
                waiting[0] = replace(waiting[0], note=SHIPPED_FLOAT_FAULT)
            yield from waiting
            waiting.clear()
        if waiting or (is_number and is_odd):
            waiting.append(span)
        else:
            yield span
    yield from waiting


def _type_name(code: int) -> str:
    text, binary = (column_of("", code, flags).source or "" for flags in (0, FLAG_BINARY))
    return f"{text} or {binary}" if code in STRING_TYPES else text
