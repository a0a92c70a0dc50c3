"""The bytes of a Connect message explained, for the formats that travel in one.

The schema is one span for each of its fields; of the payload each member, and of the rows each
column. Punctuation belongs to what follows it; a closing brace has a span of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from cdcwire.connect.schema import RULES, Schema, read_schema
from cdcwire.core.errors import DecodeError, Path
from cdcwire.core.reader import Span
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, Member, Number, read_json

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


def part_spans(
    data: bytes, part: str, clauses: Mapping[str, str], rows: frozenset[str]
) -> list[Span]:
    """Return the spans of every byte of a message's key or value.

    ``clauses``: those of the payload's members. ``rows``: the members whose members are shown too.
    Values need not fit their schema. Raises: DecodeError, when the bytes are no JSON.
    """
    spans = _Spans(data, part)
    document = read_json(data, RULES)
    value = document.value
    if not isinstance(value, JsonObject):
        spans.add(len(data), (), _shown(value), _TEXT)
        return spans.spans
    if {member.name for member in value.members} != {"schema", "payload"}:
        _payload(spans, value, None, (), clauses, rows)
    else:
        schema = _known_schema(value.get("schema"))
        spans.add(document.start + 1, (), "envelope", _ENVELOPE)
        for member in value.members:
            if member.name == "schema":
                _schema(spans, member)
            elif isinstance(member.value, JsonObject):
                spans.add(member.start + 1, ("payload",), "payload", _ENVELOPE)
                _payload(spans, member.value, schema, ("payload",), clauses, rows)
                spans.add(member.end, ("payload",), "end", _ENVELOPE)
            else:
                spans.add(member.end, ("payload",), _shown(member.value), _ENVELOPE)
    spans.add(len(data), (), "end", _ENVELOPE)
    return spans.spans


def cut_spans(spans: list[Span], part: str, error: DecodeError) -> list[Span]:
    """Return the spans up to the place of an error in this part."""
    kept = [span for span in spans if span.end <= error.offset]
    start = kept[-1].end if kept else 0
    if start < error.offset:
        kept.append(
            Span(error.path, start, error.offset, "read up to the error", error.clause, part)
        )
    return kept


class _Spans:
    """Spans without gaps: each begins where the one before ends."""

    def __init__(self, data: bytes, part: str) -> None:
        self.data = data
        self.part = part
        self.spans: list[Span] = []
        self.offset = 0

    def add(self, end: int, path: Path, text: str, clause: str, note: str = "") -> None:
        if end > self.offset:
            span = Span((self.part, *path), self.offset, end, text, clause, self.part, note)
            self.spans.append(span)
            self.offset = end


def _schema(spans: _Spans, member: Member) -> None:
    path: Path = ("schema",)
    if not isinstance(member.value, JsonObject):
        spans.add(member.end, path, _shown(member.value), _ENVELOPE)
        return
    for part in member.value.members:
        if part.name != "fields" or not isinstance(part.value, JsonArray):
            spans.add(part.end, (*path, part.name), _shown(part.value), _MEMBERS)
            continue
        places = part.value.places
        for index, field in enumerate(part.value.items):
            text = _field_text(field)
            inner = (*path, "fields", index)
            spans.add(places[2 * index + 1], inner, text, "connect: fields")
        spans.add(part.end, (*path, "fields"), "end", "connect: fields")
    spans.add(member.end, path, "end", _ENVELOPE)


def _payload(
    spans: _Spans,
    value: JsonObject,
    schema: Schema | None,
    path: Path,
    clauses: Mapping[str, str],
    rows: frozenset[str],
) -> None:
    for member in value.members:
        inner = (*path, member.name)
        known = None if schema is None else schema.field(member.name)
        clause = clauses.get(member.name) or _clause(member, schema, known)
        note = "" if schema is None or known is not None else "not in the schema, passed over"
        if member.name in rows and isinstance(member.value, JsonObject):
            spans.add(member.start + 1, inner, member.name, clause, note)
            for column in member.value.members:
                field = None if known is None else known.field(column.name)
                text = _shown(column.value)
                if field is not None and column.value is not None:
                    text = f"{text} ({field.name or field.type})"
                spans.add(column.end, (*inner, column.name), text, _column_clause(column, field))
            spans.add(member.end, inner, "end", clause)
        else:
            spans.add(member.end, inner, _shown(member.value), clause, note)


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
        return _shown(field)
    parts = {member.name: member.value for member in field.members}
    kind = parts.get("name") or parts.get("type")
    return f"field {parts.get('field')!r}: {kind}"


def _shown(value: JsonValue) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case Number(text):
            return text
        case str():
            return repr(value)
        case JsonArray(items):
            return f"an array of {len(items)}"
        case JsonObject(members):
            return f"an object of {len(members)}"
