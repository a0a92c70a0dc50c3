"""CSV files explained: every byte with its field, its value and its clause.

Quotes, and the delimiter or terminator after a field, belong to the field. The other files of a
prefix are one span each. Without a definition of the table, columns have numbers instead of names.
"""

from __future__ import annotations

from collections.abc import Iterator

from cdcwire.core.context import EVERYTHING, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import Spans
from cdcwire.core.message import Message, StoredFile, expect_file
from cdcwire.core.reader import EventPart, Span, Subject
from cdcwire.formats.csv.events import find_table
from cdcwire.formats.csv.message import Field
from cdcwire.formats.csv.records import CLAUSE_RECORD, FieldReader, text_of
from cdcwire.formats.csv.settings import Settings, read_settings
from cdcwire.formats.csv.tables import Definitions, FilePlan, file_plan, stored_columns
from cdcwire.formats.csv.values import CLAUSE_SCHEMA, ColumnCodec
from cdcwire.formats.csv.wire import read_header
from cdcwire.model.events import Path, Progress, SchemaChange
from cdcwire.storage.feeds import other_events, path_of
from cdcwire.storage.paths import DataPath, IndexPath, MetadataPath, SchemaPath

_OPERATIONS = {b"I": "I (insert)", b"U": "U (update)", b"D": "D (delete)"}
_SHOWN = 120


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of a file."""
    settings = read_settings(context)
    file = expect_file(message, "csv: files")
    place = path_of(file, settings.layout)
    if place is not None and not isinstance(place, DataPath):
        yield from _spans_of_other(file, place, settings)
        return
    plan = _plan(file.value, settings, Definitions(context.tables), place)
    found = _Spans(file.value)
    yield from found.each(found.walk(settings, plan))


def cuts_spans(error: DecodeError) -> bool:
    """Return whether spans end at an error: without a definition all fields are seen, unnamed."""
    return error.clause != CLAUSE_SCHEMA or bool(error.path)


def _spans_of_other(
    file: StoredFile, place: IndexPath | SchemaPath | MetadataPath, settings: Settings
) -> Iterator[Span]:
    clause, text = "storage: schema files", "describes a table"
    subject = None
    if isinstance(place, MetadataPath):
        clause = "storage: metadata"
    elif isinstance(place, IndexPath):
        clause, text = "storage: index files", repr(file.value[:_SHOWN])
    try:
        for event in other_events(file, place, settings.layout, settings.time_zone):
            subject = Subject(0)
            if isinstance(event, Progress):
                text = f"checkpoint {event.position.commit_ts}"
            elif isinstance(event, SchemaChange):
                text = f"{event.what}: {event.query!r:.{_SHOWN}}"
    except DecodeError as error:
        if error.offset:
            yield Span((), 0, error.offset, "read up to the error", error.clause)
        return
    if file.value:
        yield Span((), 0, len(file.value), text, clause, subject=subject)


def _plan(
    value: bytes, settings: Settings, definitions: Definitions, place: DataPath | None
) -> FilePlan | None:
    """Return how the file is read, or None without a definition that fits."""
    try:
        table = find_table(value, settings, definitions, place)
        names = tuple(column.name for column in stored_columns(table))
        found = read_header(value, settings, names)[1]
        return file_plan(table, found or (), settings, EVERYTHING)
    except DecodeError:
        return None


class _Spans(Spans):
    """The spans of a data file."""

    def walk(self, settings: Settings, plan: FilePlan | None) -> Iterator[None]:
        """Add the spans of the header line and of all fields, record by record.

        Raises: DecodeError.
        """
        if not self.data:
            return
        names = None if plan is None else plan.names
        line, _, end = read_header(self.data, settings, names)
        if line is not None:
            self.add(end, ("header",), _shown(line), "csv: header line")
        meta = _meta(settings)
        record = 0
        while self.offset < len(self.data):
            reader = FieldReader(self.data, settings, self.offset)
            index = 0
            side: EventPart = "after"
            while not reader.is_end:
                field = reader.field()
                if index < len(meta):
                    name, clause, parts = meta[index]
                    text = _shown(text_of(field, settings))
                    if name == "op":
                        text = _OPERATIONS.get(field.raw, text)
                        side = "before" if field.raw == b"D" else "after"
                    subject = Subject(record, parts, name if parts == ("extra",) else None)
                    path: Path = ("records", record, name)
                    self.add(reader.offset, path, text, clause, subject=subject)
                else:
                    place = record, index - len(meta), side
                    self._column(reader.offset, place, field, settings, plan)
                index += 1
            record += 1
            yield

    def _column(
        self,
        end: int,
        place: tuple[int, int, EventPart],
        field: Field,
        settings: Settings,
        plan: FilePlan | None,
    ) -> None:
        record, index, side = place
        is_known = plan is not None and index < len(plan.names)
        codec: ColumnCodec | None = plan.codecs[index] if plan is not None and is_known else None
        name = plan.names[index] if plan is not None and is_known else index
        path: Path = ("records", record, "columns", name)
        text, clause, note = _shown(text_of(field, settings)), CLAUSE_RECORD, ""
        if codec is not None:
            clause = codec.clause
            try:
                value, is_ambiguous = codec.read(field, self.offset)
            except DecodeError:
                value, is_ambiguous = field, False
            if value is None:
                text, clause = "NULL", "csv: null values"
            elif isinstance(value, bytes):
                text = value.hex(" ")[:_SHOWN] or "no bytes"
            if is_ambiguous:
                clause, note = "csv: ambiguous null", "a text may be written so too"
        subject = Subject(record, (side,), name) if isinstance(name, str) else None
        self.add(end, path, text, clause, note, subject=subject)


def _meta(settings: Settings) -> list[tuple[str, str, tuple[EventPart, ...]]]:
    """Return name, clause and parts of the event of each field before the columns."""
    found: list[tuple[str, str, tuple[EventPart, ...]]] = [
        ("op", "csv: operations", ("kind", "op")),
        ("table", CLAUSE_RECORD, ("table",)),
        ("schema", CLAUSE_RECORD, ("schema",)),
    ]
    if settings.include_commit_ts:
        found.append(("commit_ts", "csv: commit-ts", ("commit_ts",)))
    if settings.output_old_value:
        found.append(("is_update", "csv: old value", ("half",)))
    if settings.output_handle_key:
        found.append(("handle_key", "csv: handle key", ("extra",)))
    return found


def _shown(text: bytes) -> str:
    shown = text[: _SHOWN * 4].decode("utf-8", "backslashreplace")
    return repr(shown[:_SHOWN]) + ("..." if len(shown) > _SHOWN else "")
