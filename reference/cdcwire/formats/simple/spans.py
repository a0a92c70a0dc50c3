"""Bytes explained: every byte with its field, its value and its clause.

Punctuation and white space belong to the member that follows them. The closing sign of an object or
array has its own span. In Avro each field has its span, and so have the branch of a union and the
number of a block. A compressed message is one span.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire.core.claim_check import file_spans
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import MAX_TEXT, Spans, json_text, unread_key
from cdcwire.core.json_record import Record, add_members, add_parts, record_of
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.reader import RecordingReader, Span, Subject
from cdcwire.core.strict_json import JsonObject, Member, Number, read_json
from cdcwire.formats.simple.avro_wire import read_message
from cdcwire.formats.simple.definitions import Definition, Definitions, definitions_of
from cdcwire.formats.simple.message import (
    AVRO,
    BOOTSTRAP,
    CHECKSUM,
    CLAIM_CHECK,
    COMPRESSION,
    DELETE,
    FIELDS,
    RECORDS,
    ROW,
    ROWS,
    RULES,
    SCHEMAS,
    TIMESTAMPS,
    UNKNOWN,
    VALUES,
    WATERMARK,
    Bootstrap,
    Checksum,
    Ddl,
    Dml,
    Watermark,
    class_of,
)
from cdcwire.formats.simple.settings import read_settings
from cdcwire.formats.simple.values import value_clause
from cdcwire.formats.simple.wire import decompressed
from cdcwire.model.events import Path

_CHECKSUM = record_of(Checksum, UNKNOWN)
_AVRO_RECORDS: dict[str, Record] = {
    WATERMARK: RECORDS[Watermark],
    BOOTSTRAP: RECORDS[Bootstrap],
    "DDL": RECORDS[Ddl],
    "DML": RECORDS[Dml],
}
_MAX_DIGITS = 20  # of a version


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of a message."""
    settings = read_settings(context)
    if isinstance(message, StoredFile):
        yield from file_spans(message, CLAIM_CHECK)
        return
    yield from unread_key(message, FIELDS)
    data = message.value or b""
    if not data:
        return
    if settings.compression is not None:
        text = f"compressed: {decompressed(data, settings)!r:.{MAX_TEXT}}"
        yield Span((), 0, len(data), text, COMPRESSION, subject=Subject())
    elif settings.encoding_format == "avro":
        yield from _avro_spans(data)
    else:
        found = _Spans(data)
        yield from found.each(found.message(definitions_of(context.tables)))


class _Spans(Spans):
    """The spans of a message in JSON."""

    def message(self, definitions: Definitions) -> Iterator[None]:
        """Add the spans of a message. Raises: DecodeError."""
        document = read_json(self.data, RULES)
        found = document.value
        if not isinstance(found, JsonObject):
            self.add(document.end, (), json_text(found), RULES.text_clause)
        else:
            declared = class_of(found) or Dml
            subject = None if declared is Bootstrap else Subject(0)
            self.add(document.start + 1, (), "message", RULES.text_clause, subject=subject)
            definition = _definition_of(found, definitions)
            for member in found.members:
                self._member(member, RECORDS[declared], definition)
                yield
            self.add(document.end, (), "end", RULES.text_clause)
        yield
        if self.offset < len(self.data):
            self.add(len(self.data), (), "white space", RULES.text_clause)

    def _member(self, member: Member, record: Record, definition: Definition | None) -> None:
        known, path = record.by_name.get(member.name), (member.name,)
        if known is None or not isinstance(member.value, JsonObject):
            record.add(self, member)
        elif known.form is ROW:
            self._row(member, member.value, known.subject, definition)
        elif known.clause == CHECKSUM:
            add_members(self, member, path, CHECKSUM, _CHECKSUM)
        elif known.clause == SCHEMAS:
            add_parts(self, member, path, SCHEMAS, known.subject)
        else:
            record.add(self, member)

    def _row(
        self,
        member: Member,
        row: JsonObject,
        subject: Subject | None,
        definition: Definition | None,
    ) -> None:
        text, path = f"a row of {len(row.members)}", (member.name,)
        self.add(member.start + 1, path, text, ROWS, subject=subject)
        for each in row.members:
            column = definition.columns.get(each.name) if definition is not None else None
            clause = VALUES if column is None else value_clause(column.type)
            if isinstance(each.value, JsonObject):
                clause = TIMESTAMPS
                shown = ", ".join(json_text(part.value) for part in each.value.members)
            else:
                shown = json_text(each.value)
            own = subject and replace(subject, name=each.name)
            self.add(each.end, (*path, each.name), shown, clause, subject=own)
        self.add(member.end, path, "end", ROWS)


def _definition_of(found: JsonObject, definitions: Definitions) -> Definition | None:
    """Return the definition that a row is read by, if there is one."""
    texts = []
    for name in ("database", "table"):
        member = found.get(name)
        texts.append(member.value if member is not None and isinstance(member.value, str) else "")
    version = found.get("schemaVersion")
    number = version.value if version is not None else None
    if not isinstance(number, Number) or not number.is_integer or number.digits > _MAX_DIGITS:
        number = Number("0")
    names = {
        each.name
        for side in ("data", "old")
        if (row := found.get(side)) is not None and isinstance(row.value, JsonObject)
        for each in row.value.members
    }
    try:
        return definitions.of(texts[0], texts[1], int(number.text), names)
    except ValueError:
        return None


def _avro_spans(data: bytes) -> Iterator[Span]:
    reader = RecordingReader(data)
    broken: DecodeError | None = None
    try:
        read_message(reader)
    except DecodeError as error:
        broken = error
    found = reader.spans
    keys = {span.path[:-1]: span.value for span in found if span.path[-1:] == ("key",)}
    values = {span.path: span.value for span in found}
    record = _AVRO_RECORDS.get(str(values.get(("type",))), RECORDS[Dml])
    op = values.get(("payload", "type"))
    for span in found:
        path = span.path
        name = keys.get(path[:3]) if path[1:2] in (("data",), ("old",)) else None
        path = path[1:] if path[:1] == ("payload",) else path
        subject = _avro_subject(path, record, name, op)
        text = f"branch {span.text}" if path[-1:] == ("branch",) else span.text
        known = record.by_name.get(str(path[0])) if path else None
        if name is not None and len(path) > 1:
            path = (path[0], str(name), *path[2:])
        clause = AVRO if known is None else known.clause
        yield replace(span, path=path, text=text, clause=clause, subject=subject)
    start = max((span.end for span in found), default=0)
    if broken is not None and start < broken.offset:
        yield Span(broken.path, start, broken.offset, "read up to the error", AVRO)


def _avro_subject(path: Path, record: Record, column: object, op: object) -> Subject | None:
    if not path or path == ("branch",):
        return None if record is RECORDS[Bootstrap] else Subject(0)
    known = record.by_name.get(str(path[0]))
    if known is None or (path[0] == "data" and op == DELETE):
        return None
    if known.clause == CHECKSUM and len(path) > 1:
        inner = _CHECKSUM.by_name.get(str(path[1]))
        return None if inner is None else inner.subject
    is_value = column is not None and path[2:] not in (("key",), ("branch",))
    if known.form is ROW and known.subject is not None and is_value:
        return replace(known.subject, name=str(column))
    return known.subject
