"""Bytes explained: what both formats share, a walk through JSON and the spans of framed bodies.

Punctuation and white space belong to the member or item that follows them. The closing sign of an
object or array has its own span. What is compressed or in base64 is one span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import Spans, json_text
from cdcwire.core.message import KafkaMessage
from cdcwire.core.reader import RecordingReader, Span, Subject
from cdcwire.core.strict_json import (
    Document,
    JsonArray,
    JsonObject,
    JsonRules,
    JsonValue,
    json_kind,
    read_json,
)
from cdcwire.datahub.batch import CLAUSE_COMPRESSION
from cdcwire.datahub.body import (
    CLAUSE_CONTENT,
    BodySettings,
    encoding_of,
    framed_parts,
    open_content,
)
from cdcwire.datahub.carrying import headers_of
from cdcwire.datahub.fields import Field, clause_of
from cdcwire.datahub.json_records import CLAUSE as CLAUSE_JSON
from cdcwire.datahub.json_records import CLAUSE_BASE64, rules_for
from cdcwire.datahub.records import CLAUSE_ATTRIBUTES, CLAUSE_RECORDS
from cdcwire.model.events import Path

# The value at a path: its clause, how it is shown (None: as written), and a note.
Described: TypeAlias = "tuple[str, str | None, str]"
Describe: TypeAlias = Callable[[Path, JsonValue], Described]
# The subject of a field of a record, by the record's number in the body and the field's name; the
# name None is the record of a blob topic.
SubjectOf: TypeAlias = Callable[[int, "str | None"], "Subject | None"]

NOT_KNOWN = "not known, ignored"


class JsonSpans(Spans):
    """The spans of one JSON text."""

    def __init__(self, data: bytes, describe: Describe) -> None:
        super().__init__(data)
        self.describe = describe

    def walk(self, document: Document, rules: JsonRules) -> Iterator[None]:
        """Add the spans of a document, and of the white space after it, in steps."""
        yield from self._value(document.value, document.start, document.end, ())
        if self.offset < len(self.data):
            self.add(len(self.data), (), "white space", rules.text_clause)

    def _value(self, value: JsonValue, start: int, end: int, path: Path) -> Iterator[None]:
        clause, text, note = self.describe(path, value)
        if note == NOT_KNOWN or not isinstance(value, (JsonObject, JsonArray)):
            self.add(end, path, json_text(value) if text is None else text, clause, note)
            return
        self.add(start + 1, path, text or json_kind(value), clause, note)
        if isinstance(value, JsonObject):
            for member in value.members:
                yield from self._value(member.value, member.start, member.end, (*path, member.name))
        else:
            for index, item in enumerate(value.items):
                start, stop = value.places[2 * index : 2 * index + 2]
                yield from self._value(item, start, stop, (*path, index))
        self.add(end, path, "end", clause)
        yield


def json_spans(data: bytes, rules: JsonRules, describe: Describe) -> Iterator[Span]:
    """Yield the spans of a JSON text; none where it can't be read."""
    try:
        document = read_json(data, rules)
    except DecodeError:  # the decoder reports it
        return
    spans = JsonSpans(data, describe)
    yield from spans.each(spans.walk(document, rules))


def body_spans(
    message: KafkaMessage,
    fields: Sequence[Field] | None,
    settings: BodySettings,
    subject_of: SubjectOf,
) -> Iterator[Span]:
    """Yield the spans of a body in the order of its bytes."""
    value, headers = message.value or b"", headers_of(message)
    try:
        opened = open_content(value, settings, headers)
        encoding = encoding_of(opened, settings, headers)
    except DecodeError:
        return
    if opened is not value:
        text = f"{encoding} of {len(opened)} bytes, compressed"
        yield Span((), 0, len(value), text, CLAUSE_CONTENT, subject=Subject())
        return
    if encoding == "json":
        spans = json_spans(value, rules_for(value), _json_describer(fields))
    else:
        reader = RecordingReader(value)
        spans = _framed_spans(reader, framed_parts(reader, encoding, fields, settings))
    yield from _with_subjects(spans, fields, subject_of)


def _framed_spans(reader: RecordingReader, parts: Iterator[object]) -> Iterator[Span]:
    """Yield what a reader notes for each part, in the order of the bytes."""
    with suppress(DecodeError):  # the decoder reports it
        for _ in parts:
            yield from sorted(reader.spans, key=_place)
            reader.spans.clear()
    yield from sorted(reader.spans, key=_place)


def _place(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _with_subjects(
    spans: Iterable[Span], fields: Sequence[Field] | None, subject_of: SubjectOf
) -> Iterator[Span]:
    records = first = 0  # those before the next batch, and before this one
    for span in spans:
        subject: Subject | None = None
        match span.path:
            case ("batches", int(), "count") if isinstance(span.value, int):
                first, records = records, records + span.value
            case ("batches", int()) if span.clause == CLAUSE_COMPRESSION:
                subject = Subject(first if records - first == 1 else None)
            case ("batches", int(), "records", int(index), "data") if fields is None:
                subject = subject_of(first + index, None)
            case ("batches", int(), "records", int(index), str(name)) if fields is not None:
                subject = subject_of(first + index, name)
            case ("records", int(index), "data", 0) if fields is None:
                subject = subject_of(index, None)
            case ("records", int(index), "data", str(name)):
                subject = subject_of(index, name)
            case ("Records", int(index), "Data") if fields is None:
                subject = subject_of(index, None)
            case ("Records", int(index), "Data", int(place)) if fields and place < len(fields):
                subject = subject_of(index, fields[place].name)
            case _:
                pass
        yield span if subject is None else replace(span, subject=subject)


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
                return clause_of(field.type), f"{field.name}: {json_text(value)}", ""
            case ("Records", _, "Attributes", *_):
                return CLAUSE_ATTRIBUTES, None, ""
            case ("Records", _, name):
                return CLAUSE_RECORDS, None, "" if name in _OF_RECORD else NOT_KNOWN
            case _:
                return CLAUSE_JSON, None, NOT_KNOWN

    return describe
