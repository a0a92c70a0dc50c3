"""Craft bytes explained: every byte with its field, its value and its clause.

Both Craft formats use these functions. Codes are shown with their names, term numbers with their
terms. A FLOAT that no 32-bit float equals is reported as one. Where its bytes show the fault of the
shipped encoder (see the page of the format), that is reported too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise

from cdcwire.core.errors import DecodeError, Path, Step
from cdcwire.core.format import EVERYTHING, NO_CONTEXT, Context, Explanation
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import EventPart, Reader, RecordingReader, Span, Subject
from cdcwire.formats.craft.columns import INEXACT_FLOAT, is_inexact
from cdcwire.formats.craft.message import (
    EVENT_DDL,
    EVENT_RESOLVED,
    EVENT_ROW,
    GROUP_NEW,
    GROUP_OLD,
)
from cdcwire.formats.craft.profile import CRAFT, Profile
from cdcwire.formats.craft.values import is_number_type
from cdcwire.formats.craft.wire import read_message
from cdcwire.mysql.types import FLAG_BINARY, STRING_TYPES, column_of, flag_names

SHIPPED_FLOAT_FAULT = (
    f"{INEXACT_FLOAT}: its upper half repeats the start of the next number, which is the fault of "
    "the shipped encoder"
)

_EVENT_NAMES = {EVENT_ROW: "row", EVENT_DDL: "DDL", EVENT_RESOLVED: "resolved"}
_GROUP_NAMES = {GROUP_NEW: "new", GROUP_OLD: "old"}
_FAULT_BYTES = 4  # the upper half of a FLOAT's 8 bytes
_TYPE_PARTS: dict[object, tuple[EventPart, ...]] = {
    EVENT_ROW: ("kind", "op"),
    EVENT_RESOLVED: ("kind", "what"),
}
_HEADER_PARTS: dict[Step, tuple[EventPart, ...]] = {
    name: (name,) for name in ("commit_ts", "partition", "schema", "table", "query")
}


def explain(message: Message, *, context: Context = NO_CONTEXT) -> Explanation:
    """Return the spans of every byte of a message, in the order of the bytes.

    On broken bytes: the spans of the bytes read so far, and the error.

    Examples:
        >>> from cdcwire import KafkaMessage, craft
        >>> found = craft.explain(KafkaMessage(None, bytes.fromhex("010003010101020a09010005")))
        >>> span = found.spans[2]
        >>> span.start, span.path, span.text, span.clause
        (2, ('events', 0, 'type'), '3 (resolved)', 'craft: event types')

    """

    def read(reader: Reader) -> None:
        read_message(reader, EVERYTHING)

    return Explanation(*explain_with(message, read, CRAFT))


def explain_with(
    message: Message,
    read: Callable[[Reader], None],
    profile: Profile,
    more_groups: Mapping[int, str] | None = None,
) -> tuple[tuple[Span, ...], DecodeError | None]:
    """Return the spans that ``read`` notes, named and in order, and the error that stopped it."""
    error: DecodeError | None = None
    value = message.value
    reader = RecordingReader(value or b"")
    if value is None:
        error = DecodeError("the Kafka message has no value", 0, profile.expect_kafka)
    else:
        try:
            read(reader)
        except DecodeError as caught:
            error = caught
    spans = sorted(reader.spans, key=lambda span: span.start)
    group_names = {**_GROUP_NAMES, **(more_groups or {})}
    terms = {span.path[1]: span for span in spans if span.path[0] == "dictionary"}
    spans = _with_faults(_with_subjects(spans, terms), value or b"")
    named = [_with_name(span, group_names, terms) for span in spans]
    return (*_key_spans(message, profile), *named), error


def _key_spans(message: Message, profile: Profile) -> tuple[Span, ...]:
    key = message.key if isinstance(message, KafkaMessage) else None
    if not key:
        return ()
    note = "not read: the format leaves the key null"
    return (Span((), 0, len(key), key.hex(" "), profile.expect_kafka, "key", note, key),)


def _with_subjects(spans: list[Span], terms: Mapping[Step, Span]) -> list[Span]:
    values = {span.path: span.value for span in spans}
    # Events of types that are not known are in the bytes only.
    known = [
        span.path[1]
        for span in spans
        if span.clause.endswith(": event types") and span.value in _EVENT_NAMES
    ]
    numbers = {place: number for number, place in enumerate(known)}

    def name_of(column: Path) -> str:
        name = values.get((*column, "name"), "")
        return str(terms[name].value if isinstance(name, int) and name in terms else name)

    def subject_of(span: Span) -> Subject | None:
        if span.path[0] != "events" or span.path[1] not in numbers:
            return None
        event = numbers[span.path[1]]
        match span.path[2:]:
            case ("type",) if span.clause.endswith(": event types"):
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
                return Subject(event, (side,), name_of(span.path[:-1]))
            case _:
                return None

    return [replace(span, subject=subject_of(span)) for span in spans]


def _side_of(group_type: object) -> EventPart:
    return "after" if group_type == GROUP_NEW else "before"


def _with_faults(spans: list[Span], data: bytes) -> list[Span]:
    """Return the spans with the note of each inexact FLOAT sharpened where its bytes show more."""
    types = {
        span.path[:-1]: span.value
        for span in spans
        if len(span.path) >= 3
        and span.path[-3::2] == ("columns", "type")
        and isinstance(span.value, int)
    }
    numbers = [
        index
        for index, span in enumerate(spans)
        if span.path[-1] == "value" and is_number_type(types.get(span.path[:-1], 0))
    ]
    for index, following in pairwise(numbers):
        span, after = spans[index], spans[following]
        upper_half = data[span.end - _FAULT_BYTES : span.end]
        code = types[span.path[:-1]]
        if is_inexact(code, span.value) and data.startswith(upper_half, after.start, after.end):
            spans[index] = replace(span, note=SHIPPED_FLOAT_FAULT)
    return spans


def _with_name(span: Span, group_names: Mapping[int, str], terms: Mapping[Step, Span]) -> Span:
    """Return the span of a code with its meaning in the text."""
    code = span.value
    if not isinstance(code, int):
        return span
    match span.path:
        case (*_, "schema" | "table" | "name") if terms and code != -1:
            name = terms[code].text if code in terms else ""
        case ("events", int(), "type") if span.clause.endswith(": event types"):
            name = _EVENT_NAMES.get(code, "not known")
        case ("events", int(), "groups", int(), "type"):
            name = group_names.get(code, "not known")
        case ("events", int(), "groups", int(), "columns", int(), "type"):
            name = _type_name(code)
        case ("events", int(), "groups", int(), "columns", int(), "flags"):
            name = flag_names(code)
        case (*_, "length") if code == -1:
            name = "NULL"
        case (*_, "partition" | "schema" | "table") if code == -1:
            name = "none"
        case _:
            return span
    return replace(span, text=f"{span.text} ({name})") if name else span


def _type_name(code: int) -> str:
    text, binary = (column_of("", code, flags).source or "" for flags in (0, FLAG_BINARY))
    return f"{text} or {binary}" if code in STRING_TYPES else text
