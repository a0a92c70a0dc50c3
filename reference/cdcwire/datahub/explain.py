"""Bytes explained: what both formats share, a walk through JSON and the spans of framed bodies.

Punctuation and white space belong to the member or item that follows them; the closing sign of an
object or array has a span of its own. What is compressed or in base64 is one span.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeAlias

from cdcwire.core.errors import DecodeError, Path
from cdcwire.core.message import KafkaMessage
from cdcwire.core.reader import RecordingReader, Span
from cdcwire.core.strict_json import (
    Document,
    JsonArray,
    JsonObject,
    JsonValue,
    Number,
    Rules,
    json_kind,
    read_json,
)
from cdcwire.datahub.body import (
    CLAUSE_CONTENT,
    DEFAULT_SETTINGS,
    BodySettings,
    encoding_of,
    open_content,
    read_body,
    read_framed,
)
from cdcwire.datahub.carrying import headers_of, value_of
from cdcwire.datahub.fields import Field, clause_of
from cdcwire.datahub.json_records import CLAUSE as CLAUSE_JSON
from cdcwire.datahub.json_records import CLAUSE_BASE64
from cdcwire.datahub.json_records import RULES as BODY_RULES
from cdcwire.datahub.records import CLAUSE_ATTRIBUTES, CLAUSE_RECORDS

# What the value at a path is: its clause, how it is shown (None: as it stands), and a note.
Described: TypeAlias = "tuple[str, str | None, str]"
Describe: TypeAlias = Callable[[Path, JsonValue], Described]

NOT_KNOWN = "not known, ignored"
_SHOWN = 120


class JsonSpans:
    """The spans of one JSON text, without gaps: each begins where the one before ends."""

    def __init__(self, data: bytes, describe: Describe) -> None:
        self.data = data
        self.describe = describe
        self.spans: list[Span] = []
        self.offset = 0

    def walk(self, document: Document, rules: Rules) -> None:
        """Add the spans of a document, and of the white space behind it."""
        self._value(document.value, document.start, document.end, ())
        if self.offset < len(self.data):
            self._add(len(self.data), (), "white space", rules.text_clause)

    def _value(self, value: JsonValue, start: int, end: int, path: Path) -> None:
        clause, text, note = self.describe(path, value)
        if note == NOT_KNOWN or not isinstance(value, (JsonObject, JsonArray)):
            self._add(end, path, shown(value) if text is None else text, clause, note)
            return
        self._add(start + 1, path, text or json_kind(value), clause, note)
        if isinstance(value, JsonObject):
            for member in value.members:
                self._value(member.value, member.start, member.end, (*path, member.name))
        else:
            for index, item in enumerate(value.items):
                start, stop = value.places[2 * index : 2 * index + 2]
                self._value(item, start, stop, (*path, index))
        self._add(end, path, "end", clause)

    def _add(self, end: int, path: Path, text: str, clause: str, note: str = "") -> None:
        self.spans.append(Span(path, self.offset, end, text[:_SHOWN], clause, "value", note))
        self.offset = end


def json_spans(data: bytes, rules: Rules, describe: Describe) -> list[Span]:
    """Return the spans of a JSON text; none where it can't be read."""
    spans = JsonSpans(data, describe)
    with suppress(DecodeError):  # what is wrong is told by the decoder
        spans.walk(read_json(data, rules), rules)
    return spans.spans


def cut(spans: Sequence[Span], error: DecodeError | None) -> tuple[Span, ...]:
    """Return the spans that end before an error, and what was read of the field it is in."""
    if error is None:
        return tuple(spans)
    kept = [span for span in spans if span.end <= error.offset]
    offset = kept[-1].end if kept else 0
    if offset < error.offset:
        text = "read up to the error"
        kept.append(Span(error.path, offset, error.offset, text, error.clause))
    return tuple(kept)


def body_spans(
    message: KafkaMessage,
    fields: Sequence[Field] | None,
    settings: BodySettings = DEFAULT_SETTINGS,
) -> tuple[list[Span], DecodeError | None]:
    """Return the spans of a body in the order of its bytes, and what is wrong with it."""
    error: DecodeError | None = None
    try:
        read_body(value_of(message), fields, settings, headers_of(message))
    except DecodeError as caught:
        error = caught
    value, headers = message.value or b"", headers_of(message)
    try:
        opened = open_content(value, settings, headers)
        encoding = encoding_of(opened, settings, headers)
    except DecodeError:
        return [], error
    if opened is not value:
        text = f"{encoding} of {len(opened)} bytes, compressed"
        return [Span((), 0, len(value), text, CLAUSE_CONTENT)], error
    if encoding == "json":
        return json_spans(value, BODY_RULES, _json_describer(fields)), error
    reader = RecordingReader(value)
    with suppress(DecodeError):
        read_framed(reader, encoding, fields, settings)
    return sorted(reader.spans, key=lambda span: (span.start, span.end)), error


_TOP = frozenset({"Action", "Records", "NextCursor", "RecordCount", "StartSeq"})
_OF_RECORD = frozenset(
    {
        "ShardId",
        "HashKey",
        "PartitionKey",
        "SystemTime",
        "Sequence",
        "Cursor",
        "NextCursor",
        "Data",
    }
)


def _json_describer(fields: Sequence[Field] | None) -> Describe:
    def describe(path: Path, value: JsonValue) -> Described:
        match path:
            case ():
                return CLAUSE_JSON, "body", ""
            case (name,):
                return CLAUSE_JSON, None, "" if name in _TOP else NOT_KNOWN
            case ("Records", int()):
                return CLAUSE_RECORDS, "record", ""
            case ("Records", _, "Data"):
                if fields is None:
                    return CLAUSE_BASE64, "bytes in base64", ""
                return CLAUSE_RECORDS, "values", ""
            case ("Records", _, "Data", int(index)):
                if fields is None or index >= len(fields):
                    return CLAUSE_RECORDS, None, ""
                field = fields[index]
                return clause_of(field.type), f"{field.name}: {shown(value)}", ""
            case ("Records", _, "Attributes", *_):
                return CLAUSE_ATTRIBUTES, None, ""
            case ("Records", _, name):
                return CLAUSE_RECORDS, None, "" if name in _OF_RECORD else NOT_KNOWN
            case _:
                return CLAUSE_JSON, None, NOT_KNOWN

    return describe


def shown(value: JsonValue) -> str:
    """Return a value as people read it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case Number(text):
            return text[:_SHOWN]
        case str():
            return repr(value[:_SHOWN])
        case JsonObject(members):
            return f"an object of {len(members)}"
        case JsonArray(items):
            return f"an array of {len(items)}"
