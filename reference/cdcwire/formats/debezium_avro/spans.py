"""Debezium Avro bytes explained: every byte with its field, its value and its clause.

Spans carry the names of the fields, which come from the schema; without it (an unknown id) nothing
after the id can be explained.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire.apache_avro.binary import LENGTHS, UNION
from cdcwire.apache_avro.sources import KnownSchemas
from cdcwire.connect import Schema
from cdcwire.connect.explain import Subjects
from cdcwire.connect.scalars import decimal_of
from cdcwire.connect.types import BITS, CONNECT_DECIMAL, decimal_scale
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message as AnyMessage
from cdcwire.core.message import StoredFile, expect_kafka
from cdcwire.core.reader import Reader, RecordingReader, Span, Subject
from cdcwire.debezium.message import Message, Tombstone
from cdcwire.debezium.subjects import clauses_of, key_subjects, value_subjects
from cdcwire.formats.debezium_avro.connect_schema import DATUM
from cdcwire.formats.debezium_avro.settings import read_settings
from cdcwire.formats.debezium_avro.wire import MESSAGES, Datum, read_message
from cdcwire.model.events import Path

_INSIDE = ("branch", "block", "key")  # steps to what belongs to a value
_ROWS = Subject(0, ("before", "after"))


def spans(message: AnyMessage, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of key and value."""
    settings = read_settings(context)
    kafka = expect_kafka(message, MESSAGES)
    readers: dict[str, RecordingReader] = {}

    def recording(data: bytes, part: str) -> Reader:
        readers[part] = RecordingReader(data, part=part)
        return readers[part]

    found: Message | None = None
    broken: DecodeError | None = None
    schemas = KnownSchemas(context.schemas)
    try:
        found = read_message(kafka, schemas, settings, context.tables, recording)
    except DecodeError as error:
        broken = error
    subjects = {"key": key_subjects(found), "value": value_subjects(found)}
    clauses, of_parts = clauses_of(found), _schemas(found)
    del found
    for part, reader in readers.items():
        valued = _paths_of_values(reader)
        for span in reader.spans:
            of_member = clauses.get(str(span.path[0])) if part == "value" else None
            yield _named(
                span, subjects[part], of_member, _schema_at(of_parts.get(part), span.path), valued
            )
        if broken is not None and broken.path[:1] == (part,):
            yield from _rest(reader, broken)


def warnings(message: AnyMessage, context: Context) -> tuple[str, ...]:
    """Return what decoding a message ignores. Raises: DecodeError."""
    if isinstance(message, StoredFile):
        return ()
    schemas = KnownSchemas(context.schemas)
    found = read_message(message, schemas, read_settings(context), context.tables)
    return () if isinstance(found, Tombstone) else found.warnings


def _paths_of_values(reader: RecordingReader) -> set[Path]:
    """Return the paths of values that have bytes, and of all that holds them."""
    return {
        span.path[:size]
        for span in reader.spans
        if span.path[-1] != "branch"
        for size in range(1, len(span.path) + 1)
    }


def _schemas(found: Message | None) -> dict[str, Schema]:
    """Return the schemas of key and value."""
    parts = {"key": None if found is None else found.key_envelope}
    if found is not None and not isinstance(found, Tombstone):
        parts["value"] = found.envelope
    return {
        part: each.schema
        for part, each in parts.items()
        if isinstance(each, Datum) and each.schema is not None
    }


def _schema_at(schema: Schema | None, path: Path) -> Schema | None:
    """Return the schema of a member; None for other paths."""
    for step in path:
        if schema is None:
            return None
        inner = schema.items if schema.items is not None else schema.values
        schema = schema.field(str(step)) if schema.type == "struct" else inner
    return schema


def _number_text(schema: Schema | None, value: object) -> str:
    """Return the number that bytes are, before them; empty for other values."""
    if schema is None or not isinstance(value, bytes) or not value:
        return ""
    if schema.name == CONNECT_DECIMAL:
        return f"{decimal_of(value, decimal_scale(schema) or 0)} "
    return f"{int.from_bytes(value, 'little')} " if schema.name == BITS else ""


def _named(
    span: Span,
    subjects: Subjects,
    of_member: str | None,
    schema: Schema | None,
    valued: set[Path],
) -> Span:
    """Return a span with its part before its path, and what it shows."""
    text, clause, member = span.text, span.clause, str(span.path[0])
    if span.clause == UNION:
        text = f"branch {text}"
    elif span.clause == LENGTHS and span.path[-1] == "block":
        text = f"{text} items"
    elif span.clause == DATUM and of_member is not None and member not in subjects.rows:
        clause = of_member
    number = _number_text(schema, span.value)
    text = f"{number}({text})" if number else text
    subject = _subject(span, subjects, valued)
    return replace(span, path=(span.part, *span.path), text=text, clause=clause, subject=subject)


def _subject(span: Span, subjects: Subjects, valued: set[Path]) -> Subject | None:
    """Return what a span shows. The branch of a NULL shows the column, any other one the row."""
    path = span.path
    if path == ("schema_id",):
        return _ROWS if span.part == "value" and subjects.rows else subjects.payload
    if span.clause != DATUM and span.clause not in (UNION, LENGTHS):
        return None  # of the framing
    name = str(path[0])
    while len(path) > 1 and path[-1] in _INSIDE and span.clause != DATUM:
        path = path[:-1]
    if len(path) > 1 and subjects.is_open(name):
        inner = subjects.of_inner(name, str(path[1]))
        is_before_value = span.path[-1] == "branch" and path in valued
        return None if inner is None else replace(inner, name=None) if is_before_value else inner
    found = subjects.of_start(name) if subjects.is_open(name) else subjects.of(name)
    is_before_value = span.path[-1] == "branch" and path in valued
    return replace(found, name=None) if found is not None and is_before_value else found


def _rest(reader: RecordingReader, error: DecodeError) -> Iterator[Span]:
    """Yield what was read of the field that the error is in."""
    start = max((span.end for span in reader.spans), default=0)
    if start < error.offset:
        text = "read up to the error"
        yield Span(error.path, start, error.offset, text, error.clause, reader.part)
