"""Open Protocol bytes explained: every byte with its field, its value and its clause.

Punctuation and white space belong to the member that follows them; the closing brace of an object
has its own span. The spans of the Kafka key come first, then those of the value. The content of a
compressed item has no separate place in the bytes: it is one span.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire.core.claim_check import file_spans
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import MAX_TEXT, Spans, json_text
from cdcwire.core.limits import JsonValues
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.reader import EventPart, Span, Subject
from cdcwire.core.strict_json import JsonObject, JsonRules, Member, Number, read_json
from cdcwire.formats.open_protocol.members import (
    CLAIM_CHECK,
    COLUMN_MEMBERS,
    EVENT_NAMES,
    EVENT_RESOLVED,
    EVENT_ROW,
    HANDLE_KEY_ONLY,
    KEY_RULES,
    TYPE,
    TYPES,
    VALUE_RULES,
    event_type,
    value_rules,
)
from cdcwire.formats.open_protocol.message import COLUMN, DDL, KEY, ROW
from cdcwire.formats.open_protocol.settings import Settings, read_settings
from cdcwire.formats.open_protocol.values import read_value, value_clause
from cdcwire.formats.open_protocol.wire import (
    NUMBER_BYTES,
    DecompressedItems,
    ItemBounds,
    read_key,
    read_key_frame,
    read_value_frame,
)
from cdcwire.model.events import Path
from cdcwire.mysql.types import FLAG_BINARY, FLAG_HANDLE_KEY, STRING_TYPES, column_of, flag_names

_TYPE_PARTS: dict[int, tuple[EventPart, ...]] = {
    EVENT_ROW: ("kind", "op"),
    EVENT_RESOLVED: ("kind", "what"),
}


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of key and value."""
    if isinstance(message, StoredFile):
        yield from file_spans(message, CLAIM_CHECK)
        return
    size = len(message.key or b"") + len(message.value or b"")
    values = JsonValues(VALUE_RULES.limits_clause, size)
    key, value = _Part(message.key, "key", values), _Part(message.value, "value", values)
    event_types: list[int] = []
    yield from key.each(_key_spans(key, event_types))
    if key.is_read:
        yield from value.each(_value_spans(value, event_types, read_settings(context)))


class _Part(Spans):
    """The spans of a key or a value."""

    is_read = False  # whether it has the items that decoding reads

    def __init__(self, data: bytes | None, part: str, values: JsonValues) -> None:
        super().__init__(data or b"", part, (part,))
        self._values = values

    def json(self, place: ItemBounds, path: Path, rules: JsonRules, what: str) -> JsonObject | None:
        """Add the opening of an item's object and return it; anything else is one span."""
        self._values.add(self.data, *place)
        document = read_json(self.data, rules, *place)
        if isinstance(document.value, JsonObject):
            self.add(document.start + 1, path, what, rules.text_clause)
            return document.value
        self.add(place[1], path, what, rules.text_clause)
        return None

    def close(self, end: int, path: Path, clause: str) -> None:
        self.add(end, path, "end", clause)


def _key_spans(part: _Part, event_types: list[int]) -> Iterator[None]:
    """Add the spans of the Kafka key, and the event type of each item, 0 where unreadable."""
    places = read_key_frame(part.data)
    part.add(NUMBER_BYTES, ("version",), "1", "open-protocol: batch version", value=1)
    for index, place in enumerate(places):
        _length_span(part, place, index)
        found = part.json(place, (index,), KEY_RULES, "key")
        event_types.append(0)
        if found is None:
            read_key(part.data, *place)
            continue
        for member in found.members:
            if member is not found.get(member.name):
                note, clause = "appears again later; the last one counts", HANDLE_KEY_ONLY
                part.add(member.end, (index, member.name), json_text(member.value), clause, note)
            elif member.name == "t":
                event_types[-1] = event_type(member.value)
                parts = _TYPE_PARTS.get(event_types[-1], ("kind",))
                text, subject = TYPE.shown(member.value), Subject(index, parts)
                part.add(member.end, (index, "t"), text, TYPES, value=member.value, subject=subject)
            else:
                KEY.add(part, member, (index,), index)
        part.close(place[1], (index,), "open-protocol: json text")
        read_key(part.data, *place)
        yield
    part.is_read = True


def _value_spans(part: _Part, event_types: list[int], settings: Settings) -> Iterator[None]:
    compression = settings.compression
    rules = value_rules(settings.dialect)
    opened = None if compression is None else DecompressedItems(part.data, compression)
    for index, place in enumerate(read_value_frame(part.data)):
        _length_span(part, place, index)
        kind = event_types[index] if index < len(event_types) else 0
        if place[0] == place[1]:
            continue
        if opened is not None:
            text = f"compressed: {opened.read(place)!r:.{MAX_TEXT}}"
            clause = "open-protocol: compression"
            part.add(place[1], (index,), text, clause, subject=Subject(index))
            continue
        found = part.json(place, (index,), rules, EVENT_NAMES.get(kind, "value"))
        if found is None:
            continue
        if kind == EVENT_ROW:
            _row_spans(part, found, index)
        else:
            for member in found.members:
                DDL.add(part, member, (index,), index)
        part.close(place[1], (index,), "open-protocol: json text")
        yield


def _length_span(part: _Part, place: ItemBounds, index: int) -> None:
    size = place[1] - place[0]
    part.add(
        place[0], (index, "length"), f"{size} bytes", "open-protocol: item lengths", value=size
    )


def _row_spans(part: _Part, row: JsonObject, index: int) -> None:
    for member in row.members:
        known, group = ROW.by_name.get(member.name), member.value
        if known is None or not isinstance(group, JsonObject):
            ROW.add(part, member, (index,), index)
            continue
        path: Path = (index, member.name)
        subject = known.subject and replace(known.subject, event=index)
        part.add(member.start + 1, path, known.form.shown(group), known.clause, subject=subject)
        for column in group.members:
            _column_spans(part, column, path, subject and replace(subject, name=column.name))
        part.close(member.end, path, known.clause)


def _column_spans(part: _Part, column: Member, path: Path, subject: Subject | None) -> None:
    inner, found = (*path, column.name), column.value
    if not isinstance(found, JsonObject):
        text = json_text(found)
        part.add(column.end, inner, text, COLUMN_MEMBERS, value=found, subject=subject)
        return
    known = found.by_name
    whole = None if "v" in known else subject
    part.add(column.start + 1, inner, f"column {column.name!r}", COLUMN_MEMBERS, subject=whole)
    code, flag = (_small_number(known.get(name)) for name in ("t", "f"))
    key = subject and Subject(subject.event, ("key",))
    for member in found.members:
        text, note, clause, about = json_text(member.value), "", COLUMN_MEMBERS, None
        match member.name:
            case "t":
                text = f"{text} ({column_of('', code, flag).source})"
            case "h":
                about = None if "f" in known else key
            case "f":
                about = key
                text = f"{text} ({flag_names(flag)})" if flag else text
                if bool(flag & FLAG_HANDLE_KEY) != ("h" in known and known["h"].value is True):
                    note = "h and the handle-key flag differ"
            case "v":
                about, text = subject, _value_text(member, code, flag)
                is_null = member.value is None
                clause = "open-protocol: null values" if is_null else value_clause(code, flag)
            case _:
                COLUMN.add(part, member, inner)
                continue
        end, place = member.end, (*inner, member.name)
        part.add(end, place, text, clause, note, value=member.value, subject=about)
    part.close(column.end, inner, COLUMN_MEMBERS)


def _value_text(member: Member, code: int, flag: int) -> str:
    """Return what a value is; an invalid value stays as written."""
    try:
        value = read_value(member, code, flag)
    except DecodeError:
        return json_text(member.value)
    if isinstance(value, bytes):
        if code in STRING_TYPES and not flag & FLAG_BINARY:
            return repr(value.decode("utf-8", "backslashreplace"))
        return value.hex(" ") or "no bytes"
    return json_text(member.value) if isinstance(value, float) or value is None else str(value)


def _small_number(member: Member | None) -> int:
    """Return a type code or flags, 0 where there are none that can be read."""
    number = member.value if member is not None else None
    if isinstance(number, Number) and number.is_integer and number.digits <= 20:
        return max(int(number.text), 0)
    return 0
