"""Records to and from the neutral model; ``batching`` makes files.

With ``output-old-value`` an update is two records, and two events: its before and after records,
which the step ``join_halves`` joins. Without, it is one record with the new row only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress

from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.formats.csv.message import Field, File, Handle, Operation, Record
from cdcwire.formats.csv.records import (
    Located,
    commit_ts_hint,
    is_clustered,
    read_names,
    read_record,
)
from cdcwire.formats.csv.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.csv.tables import (
    Definitions,
    FilePlan,
    WritePlan,
    file_plan,
    key_of,
    stored_columns,
    write_plan,
)
from cdcwire.formats.csv.values import CLAUSE_SCHEMA
from cdcwire.formats.csv.wire import header_bytes, read_header, read_records, write_file
from cdcwire.model.events import (
    NO_EXTRA,
    Event,
    Half,
    Image,
    Op,
    Position,
    RowChange,
    Table,
    TableName,
)
from cdcwire.model.kinds import Column, IntType, Value
from cdcwire.storage.paths import DataPath

CLAUSE_RECORD = "csv: record"
_HANDLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
_OPS: dict[Operation, Op] = {"I": "insert", "U": "update", "D": "delete"}
_MAX_LAYOUTS = 256


def events_of(
    file: File,
    table: Table,
    settings: Settings = DEFAULT_SETTINGS,
    partition: int | None = None,
    selection: Selection = EVERYTHING,
) -> list[Event]:
    """Return the neutral events of a data file.

    ``table``: its definition. ``partition``: that of the file's path.
    Raises: DecodeError for a field that is not a value of its column.
    """
    if not selection.wants(table.schema, table.name or ""):
        return []
    names: tuple[str, ...] = tuple(column.name for column in stored_columns(table))
    if file.header is not None:
        found = read_header(file.header + settings.terminator, settings, names)[1]
        names = tuple(found or ())
    plan = file_plan(table, names, settings, selection)
    events: list[Event] = []
    for index, record in enumerate(file.records):
        with step("records", index):
            if len(record.fields) != len(names):
                problem = f"{len(record.fields)} columns, where {len(names)} are defined"
                raise DecodeError(problem, _place(file, index, 0, settings), CLAUSE_RECORD)
            starts = _Starts(file, index, settings)
            events.append(record_event(record, plan, partition, starts))
    return events


class _Starts:
    """The places of a record's columns; found only when asked for, which an error does."""

    def __init__(self, file: File, index: int, settings: Settings) -> None:
        self._of = (file, index, settings)

    def __call__(self, column: int) -> int:
        file, index, settings = self._of
        return _place(file, index, column, settings)


def _place(file: File, index: int, column: int, settings: Settings) -> int:
    start = len(write_file(File(file.records[:index], file.header), settings))
    value = write_file(File(file.records[: index + 1], file.header), settings)
    count = len(file.records[index].fields)
    located = read_record(value, settings, None, start, count)
    return located.columns[column]


def read_events(
    value: bytes,
    settings: Settings,
    definitions: Definitions,
    place: DataPath | None,
    selection: Selection = EVERYTHING,
) -> Iterator[Event]:
    """Yield the events of a data file's bytes.

    ``place``: its path; None for a file outside of any layout, whose first record names the table.
    Raises: DecodeError, after the events of the records before it were given.
    """
    if place is not None and place.schema and not selection.wants(place.schema, place.table):
        return
    if not value:
        return
    table = find_table(value, settings, definitions, place)
    if not selection.wants(table.schema, table.name or ""):
        return
    names = tuple(column.name for column in stored_columns(table))
    _, found, offset = read_header(value, settings, names)
    plan = file_plan(table, found or (), settings, selection)
    partition = None if place is None else place.partition
    for index, located in enumerate(read_records(value, settings, plan.names, offset)):
        with step("records", index):
            yield located_event(located, plan, partition)


def located_event(located: Located, plan: FilePlan, partition: int | None) -> RowChange:
    """Return the event of a record. Raises: DecodeError."""
    record = located.record
    for name, found, expected in (
        ("table", record.table, plan.table.name),
        ("schema", record.schema, plan.table.schema),
    ):
        if found != expected:
            problem = f"{found[:80]!r:.80}, in a file of {expected!r:.80}"
            raise DecodeError(problem, located.start, CLAUSE_RECORD, (name,))
    return record_event(record, plan, partition, located.columns.__getitem__)


def find_table(
    value: bytes, settings: Settings, definitions: Definitions, place: DataPath | None
) -> Table:
    """Return the definition of the table that a data file is of.

    Raises: DecodeError when there is none, none of its version, or one without stored columns.
    """
    table = _defined_table(value, settings, definitions, place)
    if not stored_columns(table):
        names = f"{table.schema!s:.80}.{table.name!s:.80}"
        problem = f"the definition of {names} has no columns that records have"
        raise DecodeError(problem, 0, CLAUSE_SCHEMA)
    return table


def _defined_table(
    value: bytes, settings: Settings, definitions: Definitions, place: DataPath | None
) -> Table:
    version = None if place is None else place.version
    if place is not None and place.schema:
        return definitions.choose(place.schema, place.table, version)
    if not settings.output_field_header:
        with step("records", 0):
            names = read_names(value, settings, 0)
        return definitions.choose(*names, version)
    return _table_of_header(value, settings, definitions, version)


def _table_of_header(
    value: bytes, settings: Settings, definitions: Definitions, version: int | None
) -> Table:
    """Return the table whose names are in the header line and in the first record.

    The header line has no name of a table, and a column's name may hold a terminator. So only the
    line of the right table shows where the records begin. A line that no table has ends at the
    first terminator.
    """
    tables = [table for place in definitions.names() for table in definitions.of(*place)]
    firsts: dict[int, TableName | None] = {}  # by where the line ends
    for table in tables:
        line = header_bytes(settings, [column.name for column in stored_columns(table)])
        if not value.startswith(line):
            continue
        if len(line) == len(value):
            return table
        if len(line) not in firsts:
            firsts[len(line)] = _names_at(value, settings, len(line))
        if firsts[len(line)] == (table.schema, table.name):
            return definitions.choose(table.schema, table.name or "", version)
    _, _, offset = read_header(value, settings, None)
    if offset < len(value):
        with step("records", 0):
            names = read_names(value, settings, offset)
        return definitions.choose(*names, version)
    for table in tables:
        with suppress(DecodeError):
            read_header(value, settings, [column.name for column in stored_columns(table)])
            return table
    problem = "there is no definition of a table with the columns of this header line"
    raise DecodeError(problem, 0, CLAUSE_SCHEMA)


def _names_at(value: bytes, settings: Settings, offset: int) -> TableName | None:
    """Return schema and table of the record at ``offset``; None if there is no record."""
    try:
        return read_names(value, settings, offset)
    except DecodeError:
        return None


def record_event(
    record: Record, plan: FilePlan, partition: int | None, start_of: Callable[[int], int]
) -> RowChange:
    """Return the event of a record. ``start_of``: the place of a column. Raises: DecodeError."""
    values: list[Value] = []
    ambiguous: list[str] = []
    for index, codec in enumerate(plan.codecs):
        if codec is None:
            continue
        with step("columns", plan.names[index]):
            value, is_ambiguous = _read(codec.read, record, index, start_of)
        values.append(value)
        if is_ambiguous:
            ambiguous.append(plan.names[index])
    image = Image(plan.columns, tuple(values))
    return change_of(record, plan.table, image, partition, ambiguous)


def _read(
    read: Callable[[Field, int], tuple[Value, bool]],
    record: Record,
    index: int,
    start_of: Callable[[int], int],
) -> tuple[Value, bool]:
    try:
        return read(record.fields[index], 0)
    except DecodeError as error:
        error.offset = start_of(index)
        if index == 0 and record.commit_ts is None:
            error.add(commit_ts_hint(record.fields[index]))
        raise


def change_of(
    record: Record, table: Table, image: Image, partition: int | None, ambiguous: list[str]
) -> RowChange:
    """Return the event of a record whose columns are read."""
    is_delete = record.op == "D"
    half: Half | None = None
    op = _OPS[record.op]
    if record.is_update:
        op, half = "update", "before" if is_delete else "after"
    position = Position(commit_ts=record.commit_ts, partition=partition)
    before, after = (image, None) if is_delete else (None, image)
    extra: dict[str, str | bytes | None] = {}
    if record.handle_key is not None:
        handle = record.handle_key
        extra["handle_key"] = str(handle) if isinstance(handle, int) else handle
    if ambiguous:
        extra["ambiguous_null"] = ",".join(ambiguous)
    return RowChange(table, op, before, after, position, half, extra=extra or NO_EXTRA)


class RecordWriter:
    """Makes records from row changes, with the help of table definitions."""

    def __init__(self, settings: Settings = DEFAULT_SETTINGS) -> None:
        self.settings = settings
        self._plans: dict[tuple[int, int], tuple[Table | None, WritePlan]] = {}

    def records(self, event: RowChange, definition: Table | None) -> list[Record]:
        """Return the record of an event, two for an update with its old value.

        Raises: EncodeError.
        """
        settings = self.settings
        clause = "csv: operations"
        if event.op not in _OPS.values():
            raise EncodeError(f"there is no record for {event.op!r}", clause, ("op",))
        if not event.table.schema or not event.table.name:
            raise EncodeError("a record needs schema and table", CLAUSE_RECORD, ("table",))
        if event.half is not None and event.op != "update":
            raise EncodeError(f"{event.op} has no before and after records", clause, ("half",))
        needs_before, needs_after = self._needs(event)
        for side, image, is_needed in (
            ("before", event.before, needs_before),
            ("after", event.after, needs_after),
        ):
            is_allowed = is_needed or (event.op == "update" and event.half is None)
            if (image is None and is_needed) or (image is not None and not is_allowed):
                problem = f"{event.op} {'needs' if is_needed else 'has no'} {side}"
                clause = "csv: old value" if event.op == "update" else clause
                raise EncodeError(problem, clause, (side,))
        found = []
        if needs_before:
            found.append(self._record(event, "D", event.before, "before", definition))
        if needs_after:
            is_whole_update = event.op == "update" and not settings.output_old_value
            op: Operation = "U" if is_whole_update else "I"
            found.append(self._record(event, op, event.after, "after", definition))
        return found

    def _needs(self, event: RowChange) -> tuple[bool, bool]:
        """Return whether there is a record of the row before, and of the row after."""
        if event.op != "update":
            return event.op == "delete", event.op == "insert"
        if event.half is not None:
            if not self.settings.output_old_value:
                problem = "without output-old-value an update is one record, not two"
                raise EncodeError(problem, "csv: old value", ("half",))
            return event.half == "before", event.half == "after"
        return self.settings.output_old_value, True

    def _record(
        self,
        event: RowChange,
        op: Operation,
        image: Image | None,
        side: str,
        definition: Table | None,
    ) -> Record:
        table, schema = event.table.name, event.table.schema
        assert image is not None  # checked before, as the names are
        assert table is not None
        assert schema is not None
        settings = self.settings
        is_cut = event.sent == "key" or (event.sent == "changed" and side == "before")
        if is_cut and definition is None:
            problem = "every column has its field, and the row was sent with some of them"
            raise EncodeError(problem, CLAUSE_RECORD, (side,))
        with step(side):
            plan = self.plan(image.columns, definition)
            fields = []
            for place, codec in plan.fields:
                column = image.columns[place]
                with step(column.name):
                    fields.append(codec.write(column.type, image.values[place]))
        commit_ts = handle_key = None
        if settings.include_commit_ts:
            commit_ts = _commit_ts(event.position)
        if settings.output_handle_key:
            handle_key = handle_key_of(event, image, definition)
        for name, text in (("table", table), ("schema", schema)):
            if not _is_text(text):
                raise EncodeError(f"the name {text!r:.80} is not UTF-8", CLAUSE_RECORD, (name,))
        is_update = event.op == "update" if settings.output_old_value else None
        return Record(op, table, schema, commit_ts, is_update, handle_key, tuple(fields))

    def plan(self, columns: tuple[Column, ...], definition: Table | None) -> WritePlan:
        """Return how images with these columns are written. Raises: EncodeError."""
        place = (id(columns), id(definition))
        known = self._plans.get(place)
        if known is None:
            if len(self._plans) >= _MAX_LAYOUTS:
                self._plans.clear()
            known = (definition, write_plan(columns, definition, self.settings))
            self._plans[place] = known  # it keeps both, so that the ids stay theirs
        return known[1]


def from_event(
    event: RowChange, settings: Settings = DEFAULT_SETTINGS, definition: Table | None = None
) -> list[Record]:
    """Return the records of one row change. Raises: EncodeError."""
    return RecordWriter(settings).records(event, definition)


def _commit_ts(position: Position) -> int:
    commit_ts = position.commit_ts
    if commit_ts is None or not 0 <= commit_ts < UINT64_END:
        problem = "a record needs a commit_ts of 64 bits under include-commit-ts"
        raise EncodeError(problem, "csv: commit-ts", ("position", "commit_ts"))
    return commit_ts


def handle_key_of(event: RowChange, image: Image, definition: Table | None) -> Handle:
    """Return the row's handle: the one that the event has, else the integer primary key.

    Raises: EncodeError.
    """
    clause = "csv: handle key"
    path = ("extra", "handle_key")
    handle = event.extra.get("handle_key")
    if handle is not None:
        if isinstance(handle, bytes):
            raw = handle
        else:
            raw = handle.encode() if _is_text(handle) else b""
            if _HANDLE.fullmatch(handle) and INT64_START <= int(handle) < INT64_END:
                return int(handle)
        if is_clustered(raw):
            return handle
        problem = f"{handle!r:.80} is not an integer of 64 bits, nor a clustered key in braces"
        raise EncodeError(problem, clause, path)
    key = event.table.key or (() if definition is None else key_of(definition))
    if len(key) == 1 and key[0] in image:
        value = image[key[0]]
        kind = next(column.type for column in image.columns if column.name == key[0])
        if isinstance(kind, IntType) and isinstance(value, int):
            return value - UINT64_END if value >= INT64_END else value
    problem = (
        "a handle that is not one integer column has to be given: the hidden row id, or the text "
        "of a clustered key in braces"
    )
    raise EncodeError(problem, clause, path)


def _is_text(name: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in name)
