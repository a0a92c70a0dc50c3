"""Canal-JSON bytes explained: every byte with its field, its value and its clause.

Punctuation and white space belong to the member that follows them. The closing sign of an object or
array has its own span, and so has the terminator after a row of a file. A compressed message is one
span. Each other file of a prefix is one span.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from cdcwire.core.claim_check import file_spans, is_claim_check
from cdcwire.core.context import Context
from cdcwire.core.explanation import MAX_TEXT, Spans, json_text, unread_key
from cdcwire.core.json_record import add_parts, items_of
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.reader import EventPart, Span, Subject
from cdcwire.core.strict_json import (
    Document,
    JsonArray,
    JsonObject,
    Member,
    read_json,
    read_json_value,
)
from cdcwire.formats.canal_json.columns import Definition, Definitions, definitions_of
from cdcwire.formats.canal_json.members import CLAIM_CHECK, MYSQL_TYPE, RULES
from cdcwire.formats.canal_json.message import DELETE, extension_of
from cdcwire.formats.canal_json.settings import Settings, read_settings
from cdcwire.formats.canal_json.values import ROWS_FORM, value_clause, value_reader
from cdcwire.formats.canal_json.wire import MESSAGE, decompressed
from cdcwire.model.events import Path
from cdcwire.storage.feeds import path_of
from cdcwire.storage.paths import DataPath, IndexPath, MetadataPath, SchemaPath


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of a message or file."""
    settings, definitions = read_settings(context), definitions_of(context.tables)
    if isinstance(message, StoredFile):
        if is_claim_check(message, context.blobs):
            yield from file_spans(message, CLAIM_CHECK)
        else:
            yield from _file_spans(message, settings, definitions)
        return
    yield from unread_key(message, "canal-json: framing")
    data = message.value or b""
    if not data:
        return
    if settings.compression is not None:
        text = f"compressed: {decompressed(data, settings.compression)!r:.{MAX_TEXT}}"
        yield Span((), 0, len(data), text, "canal-json: compression", subject=Subject())
        return
    found = _Spans(data)
    yield from found.each(found.message(definitions))


def _file_spans(file: StoredFile, settings: Settings, definitions: Definitions) -> Iterator[Span]:
    place = path_of(file, settings.layout)
    match place:
        case MetadataPath():
            what, clause = "checkpoint", "storage: metadata"
        case IndexPath():
            what, clause = "name of the latest file", "storage: index files"
        case SchemaPath():
            what, clause = "schema file", "storage: schema files"
        case _:
            found = _Spans(file.value)
            yield from found.each(found.rows(settings.terminator, definitions, place))
            return
    subject = None if isinstance(place, IndexPath) else Subject(0)
    if file.value:
        text = f"{what}: {file.value.decode('utf-8', 'backslashreplace')!r:.{MAX_TEXT}}"
        yield Span((), 0, len(file.value), text, clause, subject=subject)


class _Spans(Spans):
    """The spans of one message or file."""

    events = 0  # those of the lines before

    def message(self, definitions: Definitions) -> Iterator[None]:
        """Add the spans of a message. Raises: DecodeError."""
        yield from self.walk(read_json(self.data, RULES), definitions, ())
        if self.offset < len(self.data):
            self.add(len(self.data), (), "white space", RULES.text_clause)

    def rows(
        self, terminator: bytes, definitions: Definitions, place: DataPath | None
    ) -> Iterator[None]:
        """Add the spans of a data file, line by line. Raises: DecodeError."""
        version = None if place is None else place.version
        index = 0
        while self.offset < len(self.data):
            path = ("rows", index)
            document = read_json_value(self.data, RULES, self.offset)
            yield from self.walk(document, definitions, path, version)
            if not self.data.startswith(terminator, document.end):
                return
            end = document.end + len(terminator)
            self.add(end, (*path, "terminator"), repr(terminator), "canal-json: framing")
            index += 1

    def walk(
        self,
        document: Document,
        definitions: Definitions,
        path: Path,
        version: int | None = None,
    ) -> Iterator[None]:
        """Add the spans of an object, member by member and row by row."""
        found = document.value
        if not isinstance(found, JsonObject):
            self.add(document.end, path, json_text(found), RULES.text_clause)
            return
        self.add(document.start + 1, path, "message", RULES.text_clause)
        known = found.by_name
        names = _text_of(known, "database"), _text_of(known, "table")
        definition = definitions.columns(*names, version)
        types = _types_of(known.get("mysqlType"))
        is_delete = _text_of(known, "type") == DELETE
        line = _Line(path, self.events if path else None, is_delete, types, definition)
        for member in found.members:
            yield from self._member(member, line)
            yield
        self.add(document.end, path, "end", RULES.text_clause)
        rows = known["data"].value if "data" in known else None
        self.events += len(rows.items) if isinstance(rows, JsonArray) else 1

    def _member(self, member: Member, line: _Line) -> Iterator[None]:
        name, value = member.name, member.value
        known, inner = MESSAGE.by_name.get(name), (*line.path, name)
        if known is not None and known.form is ROWS_FORM and isinstance(value, JsonArray):
            self.add(member.start + 1, inner, f"{len(value.items)} rows", known.clause)
            for index, item in enumerate(items_of(value)):
                side: EventPart = "before" if name == "old" or line.is_delete else "after"
                row = Subject(self.events + index, (side,))
                self._row(item, (*inner, index), known.clause, line, row)
                yield
            self.add(member.end, inner, "end", known.clause)
        elif known is not None and name == "_tidb" and isinstance(value, JsonObject):
            self.add(member.start + 1, inner, f"{len(value.members)} members", known.clause)
            for each in value.members:
                extension_of(value).add(self, each, inner, line.event)
            self.add(member.end, inner, "end", known.clause)
        elif known is not None and name in ("sqlType", "mysqlType"):
            add_parts(self, member, inner, known.clause)
        else:
            MESSAGE.add(self, member, line.path, line.event)

    def _row(self, item: Member, path: Path, clause: str, line: _Line, subject: Subject) -> None:
        row = item.value
        if not isinstance(row, JsonObject):
            self.add(item.end, path, json_text(row), clause, subject=subject)
            return
        self.add(item.start + 1, path, f"a row of {len(row.members)}", clause, subject=subject)
        for member in row.members:
            text, own = _value_text(member, line.types.get(member.name), line.definition)
            column = replace(subject, name=member.name)
            self.add(member.end, (*path, member.name), text, own, subject=column)
        self.add(item.end, path, "end", clause)


@dataclass(frozen=True, slots=True)
class _Line:
    """The object of a message, or of a file's line. ``event``: None for that of a message.

    ``types``: what it says of its columns. ``definition``: of its table.
    """

    path: Path
    event: int | None
    is_delete: bool
    types: Mapping[str, str]
    definition: Definition


def _text_of(known: Mapping[str, Member], name: str) -> str | None:
    member = known.get(name)
    return member.value if member is not None and isinstance(member.value, str) else None


def _types_of(member: Member | None) -> dict[str, str]:
    if member is None or not isinstance(member.value, JsonObject):
        return {}
    return {each.name: each.value for each in member.value.members if isinstance(each.value, str)}


def _value_text(member: Member, mysql_type: str | None, definition: Definition) -> tuple[str, str]:
    """Return what a value is, and its clause; an invalid value stays as written."""
    try:
        column = definition.column(member.name, mysql_type)
    except ValueError:
        return json_text(member.value), MYSQL_TYPE
    if member.value is None:
        return "NULL", "canal-json: null values"
    clause = value_clause(column.type)
    if not isinstance(member.value, str):
        return json_text(member.value), clause
    try:
        value = value_reader(column.type)(member.value)
    except ValueError:
        return json_text(member.value), clause
    if isinstance(value, bytes):
        return value.hex(" ") or "no bytes", clause
    return repr(value) if isinstance(value, str) else member.value, clause
