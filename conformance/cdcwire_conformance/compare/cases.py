"""Differing rows as golden cases: the message of each side, cut down to the row, and its reading.

A message with several rows is kept whole, as to cut it would mean to encode it again. Files of
records are cut to the record. Masked cases are encoded again by the reference, with the row alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

from cdcwire.compressions import known_compressions
from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionError, OptionValue
from cdcwire.format import Format
from cdcwire.model.events import Event, Image, RowChange, Table, TableName
from cdcwire.model.kinds import Column, DatetimeType, TimestampType, TimeType, Value
from cdcwire.model.text import Json, TextFormError, event_from_json, event_to_json, table_to_json
from cdcwire.storage.form import StoredSettings
from cdcwire_conformance.compare.result import RowDifference, SideName
from cdcwire_conformance.compare.value_masks import RowMask
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.property.cases import all_clauses, without_schema_files
from cdcwire_conformance.sources.pieces import LINE_ENDS, records_in
from cdcwire_generators.features import features_of_sample
from cdcwire_generators.samples import Sample

GROUP = "difference"
_SEEN = "producer: unknown; a message of a feed that was compared"
_MASKED = "derived: a message of a feed that was compared, masked and encoded by the reference"


class NotSavedError(ValueError):
    """A row can't become a case. The text says why."""


@dataclass(frozen=True, slots=True)
class RowMessage:
    """The message of a differing row.

    ``table``: the feed's own name of it. ``row``: the number of the row among those of its table.
    ``pieces``: candidates for a shorter message.
    """

    format: Format
    context: Context
    message: Message
    table: TableName
    row: int
    pieces: Iterable[Message] = ()


@dataclass(frozen=True, slots=True)
class SideCase:
    """A case of one side, and the change of the row in it. ``rows``: of the whole message."""

    case: Case
    change: RowChange
    rows: int


class _Used(dict[str, Any]):
    """A mapping that remembers which of its members were looked up."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        super().__init__(members)
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        self.used.add(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """Return a member, or a default."""
        return self[name] if name in self.keys() else default

    @property
    def members(self) -> dict[str, Any]:
        """The members that were looked up; all, if none was by its name."""
        return {name: self[name] for name in sorted(self.used)} or dict(self)


@dataclass(frozen=True, slots=True)
class CaseMaker:
    """Makes cases of rows. ``since``: the version of the corpus. ``mask``: of values, if any."""

    since: str
    mask: RowMask | None = None

    def side_case(self, row: RowMessage, side: SideName) -> SideCase:
        """Return the case of one side. Raises: NotSavedError."""
        plain = _without_headers(row.message)
        change = _change_in(row, plain)
        if self.mask is not None:
            return self._masked(row, side, change)
        events = _events(row, plain)
        for piece in row.pieces:
            found = _read(row, piece)
            if found is not None and found == [change]:
                plain, events = piece, found
                break
        rows = sum(isinstance(event, RowChange) for event in events)
        return SideCase(self._case(row, side, (plain,), row.context, _SEEN), change, rows)

    def _masked(self, row: RowMessage, side: SideName, change: RowChange) -> SideCase:
        assert self.mask is not None
        options = {**_options_shown(row, change), **row.context.options}
        context = replace(row.context, blobs={}, schemas={}, options=options)
        try:
            masked = self.mask.event(change)
            messages = tuple(row.format.from_events([masked], context=context))
            sample = Sample(options, (), (masked,), messages, ())
            kept, found = without_schema_files(sample, row.format)
            found = replace(found, tables=found.tables or row.context.tables)
            events = [e for each in kept for e in row.format.to_events(each, context=found)]
        except (EncodeError, DecodeError, ValueError) as error:
            # The text quotes masked values at most.
            problem = f"{row.format.name} can't encode it with masked values: {error}"
            raise NotSavedError(problem) from error
        changes = [event for event in events if isinstance(event, RowChange)]
        if len(changes) != 1 or _values(changes[0]) != _values(masked):
            raise NotSavedError(f"{row.format.name} does not carry its masked values")
        return SideCase(self._case(row, side, kept, found, _MASKED), changes[0], 1)

    def _case(
        self,
        row: RowMessage,
        side: SideName,
        messages: tuple[Message, ...],
        context: Context,
        origin: str,
    ) -> Case:
        schemas, blobs = _Used(context.schemas), _Used(context.blobs)
        tables = tuple(table for table in context.tables if (table.schema, table.name) == row.table)
        reading = Context(
            dict(context.options), tables, schemas, blobs, compressions=known_compressions()
        )
        events = _read_all(row, messages, reading)
        documents = [event_to_json(event) for event in events]
        if not _are_read(documents, tables):
            tables = tuple(_as_sent(table, events) for table in tables)
            events = _read_all(row, messages, replace(reading, tables=tables))
            if [event_to_json(each) for each in events] != documents or not _are_read(
                documents, tables
            ):
                raise NotSavedError("its values do not have the types of the table")
        digest = hashlib.sha256(repr((side, row.row, messages)).encode()).hexdigest()[:12]
        name = f"{side}-{digest}"
        sample = Sample(dict(context.options), tables, (), messages, events)
        case = Case(
            id=f"{row.format.name}/{GROUP}/{name}",
            format=row.format.name,
            group=GROUP,
            name=name,
            title=f"a row that differs between two feeds: the {side} side",
            level="should",
            expect="accept",
            clauses=(),
            origin=origin,
            since=self.since,
            messages=messages,
            events=documents,
            options=dict(context.options),
            tables=[table_to_json(table) for table in tables],
            schemas=schemas.members,
            blobs=blobs.members,
            features=features_of_sample(sample, row.format),
        )
        clauses = all_clauses(case)
        if not clauses:
            raise NotSavedError("no clause of the format is about its message")
        return replace(case, clauses=clauses)


def _options_shown(row: RowMessage, change: RowChange) -> dict[str, OptionValue]:
    """Return the options that say what only the message does, as the connector: it is lost."""
    found: dict[str, OptionValue] = {}
    for option in row.format.options:
        value = change.extra.get(option.name)
        with suppress(OptionError):
            if isinstance(value, str):
                found[option.name] = option.parse(value)
    return found


def _read_all(
    row: RowMessage, messages: tuple[Message, ...], context: Context
) -> tuple[Event, ...]:
    context = row.format.prepared(messages, context)
    try:
        return tuple(e for each in messages for e in row.format.to_events(each, context=context))
    except DecodeError as error:
        raise NotSavedError("its message can't be read without the rest of the feed") from error


def _are_read(documents: Iterable[Json], tables: tuple[Table, ...]) -> bool:
    """Return whether the values of events have the types of the tables."""
    try:
        for number, each in enumerate(documents):
            event_from_json(each, tables, ("events", number))
    except TextFormError:
        return False
    return True


def _as_sent(table: Table, events: Iterable[Event]) -> Table:
    """Return a table with the types of its rows: a message may decide within a definition."""
    images = (
        image
        for event in events
        if isinstance(event, RowChange)
        for image in (event.before, event.after)
        if image is not None
    )
    sent = {column.name: column.type for image in images for column in image.columns}
    columns = tuple(
        replace(each, type=sent.get(each.name, each.type)) for each in table.columns or ()
    )
    return replace(table, columns=columns)


def with_readings(
    difference: RowDifference,
    sides: Mapping[SideName, SideCase],
    names: Mapping[SideName, Mapping[str, str]],
) -> list[Case]:
    """Return the cases of a difference, each with a note that has the readings of both sides.

    ``names``: the own names of columns on a side, by the common ones, where they differ.
    """
    lines = [f"{difference.verdict}: {difference.op}."]
    for each in difference.columns:
        if each.column is None or each.image is None:
            continue
        values = []
        for side, of_side in sides.items():
            own_name = names[side].get(each.column, each.column)
            values.append(f"{side} {_reading(of_side.change, each.image, own_name)}")
        lines.append(f"{each.image}.{each.column}: {', '.join(values)}.")
    found = []
    for side, own in sides.items():
        other = next((each.case.id for name, each in sides.items() if name != side), None)
        line = "The other feed does not have the row." if other is None else f"See {other}."
        found.append(replace(own.case, note=" ".join([*lines, line])))
    return found


def _reading(change: RowChange, image: str, column: str) -> str:
    found: Any = event_to_json(change)
    columns = found.get(image)
    if columns is None:
        return "without the image"
    return json.dumps(columns[column], ensure_ascii=False) if column in columns else "absent"


def _change_in(row: RowMessage, message: Message) -> RowChange:
    changes = [
        event
        for event in _events(row, message)
        if isinstance(event, RowChange) and (event.table.schema, event.table.name) == row.table
    ]
    if row.row >= len(changes):
        raise NotSavedError("its message has other rows when it is read again")
    return changes[row.row]


def _events(row: RowMessage, message: Message) -> list[Event]:
    found = _read(row, message)
    if found is None:
        raise NotSavedError("its message can't be read without its headers")
    return found


def _read(row: RowMessage, message: Message) -> list[Event] | None:
    try:
        return list(row.format.to_events(message, context=row.context))
    except DecodeError:
        return None


def _without_headers(message: Message) -> Message:
    """Return a message as a golden case holds it, which has no place for headers."""
    return replace(message, headers=()) if isinstance(message, KafkaMessage) else message


def _values(change: RowChange) -> tuple[object, ...]:
    images = (None if each is None else _values_of(each) for each in (change.before, change.after))
    return (change.op, *images)


def _values_of(image: Image) -> dict[str, object]:
    return {column.name: _without_zeros(column, value) for column, value in image.pairs}


def _without_zeros(column: Column, value: Value) -> object:
    """Return a value without zeros at the end of a second's fraction: some producers cut them."""
    is_time = isinstance(column.type, (TimeType, DatetimeType, TimestampType))
    if is_time and isinstance(value, str) and "." in value:
        return value.rstrip("0").rstrip(".")
    return value


def pieces_of(
    file: StoredFile, settings: StoredSettings, number: int | None
) -> Iterator[StoredFile]:
    """Yield candidates for a file cut down to a row: a record, or the two records of an update.

    ``number``: of the record, if it is known. Nothing if the end of a record is not known.
    """
    if settings.terminator not in LINE_ENDS:
        return
    records = list(records_in(BytesIO(file.value), settings.quote, settings.terminator))
    header = b"".join(records[:1]) if settings.has_header else b""
    records = records[1:] if settings.has_header else records
    is_known = number is not None and settings.has_rows_of_one_record
    for start in [number] if is_known and number is not None else range(len(records)):
        for count in (1, 2):
            yield StoredFile(file.path, header + b"".join(records[start : start + count]))


def row_of_record(format_: Format, events: Iterable[Event], number: int) -> int:
    """Return the number of the row change of a record. Joined records are one change."""
    record = 0
    row = -1
    for event in events:
        if not isinstance(event, RowChange):
            continue
        row += 1
        if record >= number:
            break
        has_both = event.half is None and event.before is not None and event.after is not None
        record += 2 if format_.joins_halves and has_both else 1
    return row
