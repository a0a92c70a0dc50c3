"""Open Protocol bytes explained: every byte with its field, its value and its clause.

Punctuation and white space belong to the member that follows them; the closing brace of an object
has its own span. The spans of the Kafka key come first, then those of the value. The content of a
compressed item has no separate place in the bytes: it is one span.
"""

from __future__ import annotations

from collections.abc import Iterator

from cdcwire.core.claim_check import file_spans
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.limits import JsonValues
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.reader import EventPart, Span, Subject
from cdcwire.core.spans import MAX_TEXT, Spans, json_text
from cdcwire.core.strict_json import JsonObject, JsonRules, Member, Number, read_json
from cdcwire.formats.open_protocol.items import read_key
from cdcwire.formats.open_protocol.members import KEY_RULES, VALUE_RULES, value_rules
from cdcwire.formats.open_protocol.message import EVENT_DDL, EVENT_RESOLVED, EVENT_ROW
from cdcwire.formats.open_protocol.settings import Settings, read_settings
from cdcwire.formats.open_protocol.values import read_value, value_clause
from cdcwire.formats.open_protocol.wire import (
    NUMBER_BYTES,
    DecompressedItems,
    ItemBounds,
    read_key_frame,
    read_value_frame,
)
from cdcwire.model.paths import Path
from cdcwire.mysql.types import FLAG_BINARY, FLAG_HANDLE_KEY, STRING_TYPES, column_of, flag_names

_KEY_CLAUSES = {
    "ts": "open-protocol: key members",
    "scm": "open-protocol: key members",
    "tbl": "open-protocol: key members",
    "t": "open-protocol: event types",
    "rid": "open-protocol: row id",
    "ptn": "open-protocol: partition",
    "ohk": "open-protocol: handle key only",
    "ccl": "open-protocol: claim check",
}
_TYPE_PARTS: dict[int, tuple[EventPart, ...]] = {
    EVENT_ROW: ("kind", "op"),
    EVENT_RESOLVED: ("kind", "what"),
}
_KEY_PARTS: dict[str, EventPart] = {
    "ts": "commit_ts",
    "scm": "schema",
    "tbl": "table",
    "ptn": "partition",
}
_KEY_EXTRAS = {"rid": "row_id", "ccl": "claim_check"}
_GROUP_SIDES: dict[str, EventPart] = {"u": "after", "p": "before", "d": "before"}
_DDL_PARTS: dict[str, tuple[EventPart, ...]] = {"q": ("query",), "t": ("what", "code")}
_ROW_CLAUSES: dict[str, str] = dict.fromkeys(("u", "p", "d"), "open-protocol: row value")
_COLUMN_CLAUSES: dict[str, str] = dict.fromkeys(
    ("t", "h", "f", "v"), "open-protocol: column members"
)
_DDL_CLAUSES: dict[str, str] = dict.fromkeys(("q", "t"), "open-protocol: ddl value")
_UNKNOWN = "open-protocol: unknown members"
_EVENT_NAMES = {EVENT_ROW: "row", EVENT_DDL: "DDL", EVENT_RESOLVED: "resolved"}
_GROUP_NAMES: dict[str, str] = {"u": "new columns", "p": "columns before", "d": "deleted columns"}


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of key and value."""
    if isinstance(message, StoredFile):
        yield from file_spans(message, _KEY_CLAUSES["ccl"])
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

    def member(
        self,
        member: Member,
        path: Path,
        clause: str,
        text: str = "",
        note: str = "",
        subject: Subject | None = None,
    ) -> None:
        if clause == _UNKNOWN:
            note = "not known, ignored"
        text = text or json_text(member.value)
        path = (*path, member.name)
        self.add(member.end, path, text, clause, note, value=member.value, subject=subject)


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
            text, note = "", ""
            if member.name == "t" and isinstance(member.value, Number):
                event_types[-1] = next(
                    (code for code in _EVENT_NAMES if member.value.text == str(code)), 0
                )
                text = f"{member.value.text} ({_EVENT_NAMES.get(event_types[-1], 'not defined')})"
            if member is not found.get(member.name):
                note = "appears again later; the last one counts"
            clause = _KEY_CLAUSES.get(member.name, _UNKNOWN)
            subject = None
            if member is found.get(member.name):
                subject = _key_subject(member.name, index, event_types[-1])
            part.member(member, (index,), clause, text, note, subject)
        part.close(place[1], (index,), "open-protocol: json text")
        read_key(part.data, *place)
        yield
    part.is_read = True


def _key_subject(name: str, index: int, event_type: int) -> Subject | None:
    if name == "t":
        return Subject(index, _TYPE_PARTS.get(event_type, ("kind",)))
    if name in _KEY_EXTRAS:
        return Subject(index, ("extra",), _KEY_EXTRAS[name])
    return Subject(index, (_KEY_PARTS[name],)) if name in _KEY_PARTS else None


def _value_spans(part: _Part, event_types: list[int], settings: Settings) -> Iterator[None]:
    compression = settings.compression
    rules = value_rules(settings.dialect)
    opened = None if compression is None else DecompressedItems(part.data, compression)
    for index, place in enumerate(read_value_frame(part.data)):
        _length_span(part, place, index)
        event_type = event_types[index] if index < len(event_types) else 0
        if place[0] == place[1]:
            continue
        if opened is not None:
            text = f"compressed: {opened.read(place)!r:.{MAX_TEXT}}"
            clause = "open-protocol: compression"
            part.add(place[1], (index,), text, clause, subject=Subject(index))
            continue
        found = part.json(place, (index,), rules, _EVENT_NAMES.get(event_type, "value"))
        if found is None:
            continue
        if event_type == EVENT_ROW:
            _row_spans(part, found, index)
        else:
            for member in found.members:
                clause = _DDL_CLAUSES.get(member.name, _UNKNOWN)
                parts = _DDL_PARTS.get(member.name)
                subject = None if parts is None else Subject(index, parts)
                part.member(member, (index,), clause, subject=subject)
        part.close(place[1], (index,), "open-protocol: json text")
        yield


def _length_span(part: _Part, place: ItemBounds, index: int) -> None:
    size = place[1] - place[0]
    part.add(
        place[0], (index, "length"), f"{size} bytes", "open-protocol: item lengths", value=size
    )


def _row_spans(part: _Part, row: JsonObject, index: int) -> None:
    path: Path = (index,)
    for member in row.members:
        clause = _ROW_CLAUSES.get(member.name, _UNKNOWN)
        group = member.value
        if clause == _UNKNOWN or not isinstance(group, JsonObject):
            part.member(member, path, clause)
            continue
        inner = (*path, member.name)
        side = _GROUP_SIDES[member.name]
        text = _GROUP_NAMES[member.name]
        part.add(member.start + 1, inner, text, clause, subject=Subject(index, (side,)))
        for column in group.members:
            _column_spans(part, column, inner, Subject(index, (side,), column.name))
        part.close(member.end, inner, clause)


def _column_spans(part: _Part, column: Member, path: Path, subject: Subject) -> None:
    clause = "open-protocol: column members"
    if not isinstance(column.value, JsonObject):
        part.member(column, path, clause, subject=subject)
        return
    inner = (*path, column.name)
    known = column.value.by_name
    key = Subject(subject.event, ("key",))
    whole = None if "v" in known else subject
    part.add(column.start + 1, inner, f"column {column.name!r}", clause, subject=whole)
    code, flag = (_small_number(known.get(name)) for name in ("t", "f"))
    for member in column.value.members:
        text, note, member_clause = "", "", _COLUMN_CLAUSES.get(member.name, _UNKNOWN)
        about = {"v": subject, "f" if "f" in known else "h": key}.get(member.name)
        if member.name == "t":
            text = f"{json_text(member.value)} ({column_of('', code, flag).source})"
        elif member.name == "f":
            text = f"{json_text(member.value)} ({flag_names(flag)})" if flag else ""
            if bool(flag & FLAG_HANDLE_KEY) != ("h" in known and known["h"].value is True):
                note = "h and the handle-key flag differ"
        elif member.name == "v":
            is_null = member.value is None
            member_clause = "open-protocol: null values" if is_null else value_clause(code, flag)
            text = _value_text(member, code, flag)
        part.member(member, inner, member_clause, text, note, about)
    part.close(column.end, inner, clause)


def _value_text(member: Member, code: int, flag: int) -> str:
    """Return what a value is; an invalid value stays as written."""
    try:
        value = read_value(member.value, code, flag, member.start)
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
