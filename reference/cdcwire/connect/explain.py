"""The bytes of a Connect message explained, for the formats that travel in one.

The schema is one span for each of its fields; of the payload each member, and of the rows each
column. Punctuation belongs to what follows it; a closing brace has its own span.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from cdcwire.connect.schema import RULES, Schema
from cdcwire.connect.schema_json import read_schema
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import Spans, json_text
from cdcwire.core.message import KafkaMessage
from cdcwire.core.reader import Span, Subject
from cdcwire.core.strict_json import (
    JsonArray,
    JsonObject,
    JsonRules,
    JsonValue,
    Member,
    read_json,
)
from cdcwire.model.events import Path

_ENVELOPE = "connect: envelope"
_MEMBERS = "connect: schema members"
_TEXT = "connect: json text"
_VALUE_CLAUSES: dict[str, str] = {
    "boolean": "connect: boolean values",
    "string": "connect: string values",
    "bytes": "connect: bytes values",
    "float": "connect: float values",
    "double": "connect: float values",
    "array": "connect: array values",
    "map": "connect: map values",
    "struct": "connect: struct values",
}


@dataclass(frozen=True, slots=True)
class Subjects:
    """The subjects that the members of a payload show.

    ``rows``: by name, those whose members are columns. ``members``: the others, by path.
    ``payload``: the payload as a whole, and every member that is not listed. ``rules``: those that
    the decoder read it by.
    """

    rows: Mapping[str, Subject] = field(default_factory=lambda: MappingProxyType({}))
    members: Mapping[Path, Subject] = field(default_factory=lambda: MappingProxyType({}))
    payload: Subject | None = None
    rules: JsonRules = RULES

    def is_open(self, name: str) -> bool:
        """Return whether the members of a member have their own spans."""
        return name in self.rows or any(len(at) > 1 and at[0] == name for at in self.members)

    def of(self, name: str) -> Subject | None:
        """Return the subject of a member, or of the start of a row."""
        return self.rows.get(name) or self.members.get((name,)) or self.payload

    def of_start(self, name: str) -> Subject | None:
        """Return the subject of the start of an object whose members have their own."""
        return self.rows.get(name)

    def of_inner(self, name: str, column: str) -> Subject | None:
        """Return the subject of a member's member."""
        row = self.rows.get(name)
        return self.members.get((name, column)) if row is None else replace(row, name=column)


def part_spans(
    data: bytes, part: str, clauses: Mapping[str, str], subjects: Subjects
) -> list[Span]:
    """Return the spans of every byte of a message's key or value.

    ``clauses``: those of the payload's members. Values need not fit their schema.
    Raises: DecodeError, when the bytes are not JSON.
    """
    spans = Spans(data, part, (part,))
    document = read_json(data, subjects.rules)
    value = document.value
    if not isinstance(value, JsonObject):
        spans.add(len(data), (), json_text(value), _TEXT, subject=subjects.payload)
        return spans.spans
    if {member.name for member in value.members} != {"schema", "payload"}:
        _payload(spans, value, None, (), clauses, subjects)
    else:
        schema = _known_schema(value.get("schema"))
        spans.add(document.start + 1, (), "envelope", _ENVELOPE)
        for member in value.members:
            if member.name == "schema":
                _schema(spans, member)
            elif isinstance(member.value, JsonObject):
                about = subjects.payload
                spans.add(member.start + 1, ("payload",), "payload", _ENVELOPE, subject=about)
                _payload(spans, member.value, schema, ("payload",), clauses, subjects)
                spans.add(member.end, ("payload",), "end", _ENVELOPE)
            else:
                text, about = json_text(member.value), subjects.payload
                spans.add(member.end, ("payload",), text, _ENVELOPE, subject=about)
    spans.add(len(data), (), "end", _ENVELOPE)
    return spans.spans


def message_spans(
    message: KafkaMessage,
    clauses: Mapping[str, str],
    value_subjects: Subjects,
    key_subjects: Subjects,
    text_key: str | None = None,
) -> Iterator[Span]:
    """Yield the spans of key and value; none for a part that is not JSON.

    ``clauses``: those of the members of the value's payload; the members of a key are columns.
    ``text_key``: the clause of a key that is a text, not JSON.
    """
    if message.key and text_key is not None:
        text = repr(message.key.decode("utf-8", "backslashreplace"))
        about = key_subjects.payload
        yield Span(("key",), 0, len(message.key), text, text_key, "key", subject=about)
    elif message.key is not None:
        with suppress(DecodeError):
            yield from part_spans(message.key, "key", {}, key_subjects)
    if message.value is not None:
        with suppress(DecodeError):
            yield from part_spans(message.value, "value", clauses, value_subjects)


def _schema(spans: Spans, member: Member) -> None:
    path: Path = ("schema",)
    if not isinstance(member.value, JsonObject):
        spans.add(member.end, path, json_text(member.value), _ENVELOPE)
        return
    for part in member.value.members:
        if part.name != "fields" or not isinstance(part.value, JsonArray):
            spans.add(part.end, (*path, part.name), json_text(part.value), _MEMBERS)
            continue
        places = part.value.places
        for index, item in enumerate(part.value.items):
            text = _field_text(item)
            inner = (*path, "fields", index)
            spans.add(places[2 * index + 1], inner, text, "connect: fields")
        spans.add(part.end, (*path, "fields"), "end", "connect: fields")
    spans.add(member.end, path, "end", _ENVELOPE)


def _payload(
    spans: Spans,
    value: JsonObject,
    schema: Schema | None,
    path: Path,
    clauses: Mapping[str, str],
    subjects: Subjects,
) -> None:
    for member in value.members:
        name = member.name
        inner = (*path, member.name)
        known = None if schema is None else schema.field(member.name)
        clause = clauses.get(member.name) or _clause(member, schema, known)
        note = "" if schema is None or known is not None else "not in the schema, ignored"
        if subjects.is_open(name) and isinstance(member.value, JsonObject):
            start = member.start + 1
            spans.add(start, inner, name, clause, note, subject=subjects.of_start(name))
            for column in member.value.members:
                schema_of = None if known is None else known.field(column.name)
                text = json_text(column.value)
                if schema_of is not None and column.value is not None:
                    text = f"{text} ({schema_of.name or schema_of.type})"
                at, of_column = (*inner, column.name), _column_clause(column, schema_of)
                about = subjects.of_inner(name, column.name)
                spans.add(column.end, at, text, of_column, value=column.value, subject=about)
            spans.add(member.end, inner, "end", clause)
        else:
            text, about = json_text(member.value), subjects.of(name)
            spans.add(member.end, inner, text, clause, note, value=member.value, subject=about)


def _known_schema(member: Member | None) -> Schema | None:
    """Return the schema of a message; None if there is none, or a broken one."""
    if member is None or member.value is None:
        return None
    try:
        return read_schema(member.value, member.start, member.end)
    except DecodeError:
        return None


def _clause(member: Member, schema: Schema | None, known: Schema | None) -> str:
    """Return the clause of a member of the payload that no format names."""
    if schema is not None and known is None:
        return "connect: unknown members"
    return _column_clause(member, known)


def _column_clause(column: Member, schema: Schema | None) -> str:
    if column.value is None:
        return "connect: null values"
    if schema is None:
        return "connect: struct values"
    return _VALUE_CLAUSES.get(schema.type, "connect: integer values")


def _field_text(field: JsonValue) -> str:
    if not isinstance(field, JsonObject):
        return json_text(field)
    parts = {member.name: member.value for member in field.members}
    kind = parts.get("name") or parts.get("type")
    return f"field {parts.get('field')!r}: {kind}"
