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
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.reader import EventPart, RecordingReader, Span, Subject
from cdcwire.core.spans import MAX_TEXT, Spans, json_text, unread_key, with_instant
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, Member, Number, read_json
from cdcwire.formats.simple.avro_wire import MESSAGE_TYPES, read_message
from cdcwire.formats.simple.definitions import Definition, Definitions, definitions_of
from cdcwire.formats.simple.json_wire import TIMESTAMPS, VALUES
from cdcwire.formats.simple.members import (
    AVRO,
    CHECKSUM,
    CLAIM_CHECK,
    COMPRESSION,
    DDL,
    FIELDS,
    HANDLE_KEY_ONLY,
    ROWS,
    RULES,
    SCHEMA_VERSIONS,
    SCHEMAS,
    TYPES,
    UNKNOWN,
    WATERMARKS,
)
from cdcwire.formats.simple.message import BOOTSTRAP, DELETE, DML_TYPES, WATERMARK
from cdcwire.formats.simple.settings import read_settings
from cdcwire.formats.simple.values import value_clause
from cdcwire.formats.simple.wire import decompressed
from cdcwire.model.paths import Path
from cdcwire.model.tso import ms_of_tso

_CLAUSES = {
    **dict.fromkeys(("version", "database", "table", "tableID", "commitTs", "buildTs"), FIELDS),
    "type": TYPES,
    "sql": DDL,
    "schemaVersion": SCHEMA_VERSIONS,
    "claimCheckLocation": CLAIM_CHECK,
    "handleKeyOnly": HANDLE_KEY_ONLY,
    "checksum": CHECKSUM,
    "data": ROWS,
    "old": ROWS,
    "tableSchema": SCHEMAS,
    "preTableSchema": SCHEMAS,
}
_PARTS: dict[str, tuple[EventPart, ...]] = {
    "database": ("schema",),
    "table": ("table",),
    "type": ("kind", "op", "what"),
    "commitTs": ("commit_ts",),
    "buildTs": ("sent_ms",),
    "sql": ("query",),
}
_EXTRAS = {
    "tableID": "table_id",
    "claimCheckLocation": "claim_check",
    "preTableSchema": "pre_table_schema",
}
_CHECKSUMS = {
    "version": "checksum_version",
    "corrupted": "corrupted",
    "current": "checksum",
    "previous": "checksum_previous",
}
_WHOLE = Subject(0)
_TIMES = frozenset({"commitTs", "buildTs"})
_MAX_TIME_DIGITS = 20
_UNKNOWN_NOTE = "unknown, ignored"
_SIDES: dict[str, EventPart] = {"data": "after", "old": "before"}


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

    has_event = True

    def message(self, definitions: Definitions) -> Iterator[None]:
        """Add the spans of a message. Raises: DecodeError."""
        document = read_json(self.data, RULES)
        found = document.value
        if not isinstance(found, JsonObject):
            self.add(document.end, (), json_text(found), RULES.text_clause)
        else:
            kind = found.get("type")
            self.has_event = kind is None or kind.value != BOOTSTRAP
            self.add(document.start + 1, (), "message", RULES.text_clause, subject=self._of(_WHOLE))
            definition = _definition_of(found, definitions)
            for member in found.members:
                self._member(member, definition, kind.value if kind is not None else None)
                yield
            self.add(document.end, (), "end", RULES.text_clause)
        yield
        if self.offset < len(self.data):
            self.add(len(self.data), (), "white space", RULES.text_clause)

    def _of(self, subject: Subject | None) -> Subject | None:
        return subject if self.has_event else None

    def _member(self, member: Member, definition: Definition | None, kind: object) -> None:
        name, value, path = member.name, member.value, (member.name,)
        clause = _CLAUSES.get(name, UNKNOWN)
        if clause == FIELDS and name == "commitTs" and kind == WATERMARK:
            clause = WATERMARKS
        if name in _SIDES and kind in DML_TYPES and isinstance(value, JsonObject):
            self._row(member, value, definition)
        elif clause == SCHEMAS and kind not in DML_TYPES and isinstance(value, JsonObject):
            parts: tuple[EventPart, ...] = ("schema", "table", "key")
            subject = Subject(0, parts) if name == "tableSchema" else _subject(name)
            self._nested(value, path, member.start, member.end, self._of(subject))
        elif name == "checksum" and isinstance(value, JsonObject):
            self.add(member.start + 1, path, f"{len(value.members)} members", clause)
            for each in value.members:
                extra = _CHECKSUMS.get(each.name)
                about = None if extra is None else Subject(0, ("extra",), extra)
                self.add(each.end, (*path, each.name), json_text(each.value), clause, subject=about)
            self.add(member.end, path, "end", clause)
        else:
            note = _UNKNOWN_NOTE if clause == UNKNOWN else ""
            shown = value if name == "type" else None
            subject = self._of(_subject(name))
            text = _text(member)
            self.add(member.end, path, text, clause, note, value=shown, subject=subject)

    def _row(self, member: Member, row: JsonObject, definition: Definition | None) -> None:
        side = _SIDES[member.name]
        text, path = f"a row of {len(row.members)}", (member.name,)
        self.add(member.start + 1, path, text, ROWS, subject=Subject(0, (side,)))
        for each in row.members:
            column = definition.columns.get(each.name) if definition is not None else None
            clause = VALUES if column is None else value_clause(column.type)
            if isinstance(each.value, JsonObject):
                clause = TIMESTAMPS
                shown = ", ".join(json_text(part.value) for part in each.value.members)
            else:
                shown = json_text(each.value)
            subject = Subject(0, (side,), each.name)
            self.add(each.end, (*path, each.name), shown, clause, subject=subject)
        self.add(member.end, path, "end", ROWS)

    def _nested(
        self, value: JsonValue, path: Path, start: int, end: int, subject: Subject | None = None
    ) -> None:
        """Add the spans of a table schema or of a part of one."""
        if isinstance(value, JsonObject) and value.members:
            self.add(start + 1, path, f"{len(value.members)} members", SCHEMAS, subject=subject)
            for each in value.members:
                self._nested(each.value, (*path, each.name), each.start, each.end, subject)
            self.add(end, path, "end", SCHEMAS)
        elif isinstance(value, JsonArray) and value.items:
            self.add(start + 1, path, f"{len(value.items)} items", SCHEMAS, subject=subject)
            for index, item in enumerate(value.items):
                first, last = value.places[2 * index : 2 * index + 2]
                self._nested(item, (*path, index), first, last, subject)
            self.add(end, path, "end", SCHEMAS)
        else:
            self.add(end, path, json_text(value), SCHEMAS, subject=subject)


def _subject(name: str) -> Subject | None:
    if name in _EXTRAS:
        return Subject(0, ("extra",), _EXTRAS[name])
    return Subject(0, _PARTS[name]) if name in _PARTS else None


def _definition_of(found: JsonObject, definitions: Definitions) -> Definition | None:
    """Return the definition that a row is read by, if there is one."""
    texts = []
    for name in ("database", "table"):
        member = found.get(name)
        texts.append(member.value if member is not None and isinstance(member.value, str) else "")
    version = found.get("schemaVersion")
    number = version.value if version is not None else None
    if not isinstance(number, Number) or not number.is_integer or number.digits > _MAX_TIME_DIGITS:
        number = Number("0")
    names = {
        each.name
        for side in _SIDES
        if (row := found.get(side)) is not None and isinstance(row.value, JsonObject)
        for each in row.value.members
    }
    try:
        return definitions.of(texts[0], texts[1], int(number.text), names)
    except ValueError:
        return None


def _text(member: Member) -> str:
    """Return a member's value, with the instant that a time means."""
    number = member.value
    if not isinstance(number, Number) or not number.is_integer or member.name not in _TIMES:
        return json_text(number)
    if number.digits > _MAX_TIME_DIGITS:
        return number.text
    value = int(number.text)
    return with_instant(number.text, ms_of_tso(value) if member.name == "commitTs" else value)


def _avro_spans(data: bytes) -> Iterator[Span]:
    reader = RecordingReader(data)
    broken: DecodeError | None = None
    try:
        read_message(reader)
    except DecodeError as error:
        broken = error
    found = reader.spans
    keys = {span.path[:-1]: span.value for span in found if span.path[-1:] == ("key",)}
    kind = next((span.value for span in found if span.path == ("type",)), None)
    has_event = kind != MESSAGE_TYPES[1]
    op = next((span.value for span in found if span.path == ("payload", "type")), None)
    for span in found:
        path = span.path
        name = keys.get(path[:3]) if path[1:2] in (("data",), ("old",)) else None
        path = path[1:] if path[:1] == ("payload",) else path
        subject = _avro_subject(path, name, op) if has_event else None
        text = f"branch {span.text}" if path[-1:] == ("branch",) else span.text
        if name is not None and len(path) > 1:
            path = (path[0], str(name), *path[2:])
        clause = _CLAUSES.get(str(path[0]), AVRO) if path else AVRO
        yield replace(span, path=path, text=text, clause=clause, subject=subject)
    start = max((span.end for span in found), default=0)
    if broken is not None and start < broken.offset:
        yield Span(broken.path, start, broken.offset, "read up to the error", AVRO)


def _avro_subject(path: Path, column: object, op: object) -> Subject | None:
    if not path or path == ("branch",):
        return _WHOLE
    first = str(path[0])
    if first in _SIDES and (first == "old" or op != DELETE):
        side = _SIDES[first]
        is_value = column is not None and path[2:] not in (("key",), ("branch",))
        return Subject(0, (side,), str(column) if is_value else None)
    if first == "checksum" and len(path) > 1 and str(path[1]) in _CHECKSUMS:
        return Subject(0, ("extra",), _CHECKSUMS[str(path[1])])
    if first == "tableSchema":
        return Subject(0, ("schema", "table", "key"))
    return _subject(first)
