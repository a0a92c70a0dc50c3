"""Events to files, as the producer gathers them; without its clock.

Rows are gathered in one file a table and partition. A file ends when it has ``file-size`` bytes, at
a schema change of its table, and when the events end. The date in a path is the day of the file's
last row in UTC, where the producer takes its own time of the flush.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from cdcwire.core.errors import EncodeError, step
from cdcwire.core.format import TableName
from cdcwire.core.message import StoredFile
from cdcwire.formats.csv.events import RecordWriter
from cdcwire.formats.csv.header import header_line
from cdcwire.formats.csv.records import write_record
from cdcwire.formats.csv.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.csv.tables import Definitions, stored_columns
from cdcwire.model.events import Event, Position, Progress, RowChange, SchemaChange, Table
from cdcwire.model.tso import ms_of_tso
from cdcwire.storage.dates import date_directory
from cdcwire.storage.metadata import write_metadata
from cdcwire.storage.paths import METADATA_NAME, DataPath, path_text
from cdcwire.storage.schema_files import schema_file_of
from cdcwire.storage.writing import schema_put


def from_events(
    events: Iterable[Event], settings: Settings = DEFAULT_SETTINGS, tables: Iterable[Table] = ()
) -> Iterator[StoredFile]:
    """Yield the files of events, in the order in which they end.

    ``tables``: definitions; they give the order of columns, and labels for indexes. Checkpoints
    come last: what they promise is stored by then.
    Raises: EncodeError for what the format can't carry, with the number of the event in the path.
    """
    writer = _FileWriter(settings, tables)
    checkpoints: list[bytes] = []
    for index, event in enumerate(events):
        with step("events", index):
            match event:
                case RowChange():
                    yield from writer.add(event)
                case SchemaChange():
                    yield from writer.change(event)
                case Progress(what="checkpoint", position=Position(commit_ts=int() as commit_ts)):
                    checkpoints.append(write_metadata(commit_ts))
                case _:
                    problem = f"a file has no place for {event.what!r}"
                    raise EncodeError(problem, "csv: files", ("what",))
    yield from writer.finish()
    for checkpoint in checkpoints:
        yield StoredFile(METADATA_NAME, checkpoint)


_Group = tuple[str, str, "int | None"]  # schema, table, partition


@dataclass(slots=True)
class _OpenFile:
    """Records that wait for their file to end."""

    version: int
    names: tuple[str, ...]
    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    commit_ts: int | None = None


class _FileWriter:
    def __init__(self, settings: Settings, tables: Iterable[Table]) -> None:
        self.settings = settings
        self.definitions = Definitions(tables)
        self.records = RecordWriter(settings)
        self.open: dict[_Group, _OpenFile] = {}
        self.numbers: dict[DataPath, int] = {}
        self.changed: dict[TableName, tuple[int, Table | None]] = {}

    def add(self, event: RowChange) -> Iterator[StoredFile]:
        version, definition = self._definition(event)
        records = self.records.records(event, definition)
        image = event.after or event.before
        assert image is not None  # it has a record
        names = self.records.plan(image.columns, definition).names
        partition = event.position.partition if self.settings.layout.has_partitions else None
        group = (event.table.schema or "", event.table.name or "", partition)
        file = self.open.get(group)
        if file is not None and (file.version, file.names) != (version, names):
            yield self._end(group)
            file = None
        if file is None:
            file = _OpenFile(version, names, commit_ts=event.position.commit_ts)
            # What no path can have is refused here, where the event is known.
            path_text(self._directory(group, file), self.settings.layout)
            self.open[group] = file
            if self.settings.output_field_header:
                file.parts.append(header_line(self.settings, names) + self.settings.terminator)
                file.size += len(file.parts[0])
        for record in records:
            file.parts.append(write_record(record, self.settings))
            file.size += len(file.parts[-1])
        file.commit_ts = event.position.commit_ts
        if file.size >= self.settings.file_size:
            yield self._end(group)

    def change(self, event: SchemaChange) -> Iterator[StoredFile]:
        table, version = event.table, event.position.commit_ts
        if table is None or version is None:
            missing = "table" if table is None else "commit_ts"
            path = ("table",) if table is None else ("position", "commit_ts")
            problem = f"a schema file needs the {missing}"
            raise EncodeError(problem, "storage: schema files", path)
        for group in [group for group in self.open if _concerns(table, group)]:
            yield self._end(group)
        name = table.name
        if name is not None:
            known = self.definitions.of(table.schema or "", name)
            told = next((each for each in known if each.version == version), None)
            if table.columns is None:
                told = told or (known[0] if len(known) == 1 else None)
                table = replace(table, columns=None if told is None else told.columns)
            self.changed[table.schema, name] = (version, told or table)
        put = schema_put(schema_file_of(table, event, version), self.settings.layout)
        yield StoredFile(put.path, put.value)

    def finish(self) -> Iterator[StoredFile]:
        for group in list(self.open):
            yield self._end(group)

    def _definition(self, event: RowChange) -> tuple[int, Table | None]:
        """Return the version that a row is written under, and its definition if there is one."""
        schema, name = event.table.schema or "", event.table.name or ""
        changed = self.changed.get((schema, name))
        if changed is not None:
            return changed
        known = self.definitions.of(schema, name)
        if not known:
            return 0, None
        found = known[0]
        if len(known) > 1:
            image = event.after or event.before
            names = set() if image is None else set(image.names)
            fitting = [t for t in known if {c.name for c in stored_columns(t)} == names]
            found = max(fitting or known, key=lambda table: table.version or 0)
        return found.version or 0, found

    def _end(self, group: _Group) -> StoredFile:
        file = self.open.pop(group)
        directory = self._directory(group, file)
        number = self.numbers.get(directory, 0) + 1
        self.numbers[directory] = number
        path = path_text(replace(directory, number=number), self.settings.layout)
        return StoredFile(path, b"".join(file.parts))

    def _directory(self, group: _Group, file: _OpenFile) -> DataPath:
        """Return the path of a file but for its number."""
        schema, table, partition = group
        return DataPath(schema, table, file.version, partition, self._date(file), 1)

    def _date(self, file: _OpenFile) -> str:
        """Return the date of a file; rows without commit_ts count as of 0, as readers do it."""
        milliseconds = ms_of_tso(file.commit_ts or 0)
        try:
            return date_directory(milliseconds, self.settings.layout.date_separator)
        except ValueError as error:
            path = ("position", "commit_ts")
            raise EncodeError(str(error), "storage: separators", path) from error


def _concerns(table: Table, group: _Group) -> bool:
    return group[0] == table.schema and table.name in (None, group[1])
