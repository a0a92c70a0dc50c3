"""Events to the files of a prefix, as a producer gathers them; without its clock.

Rows are gathered in one file per table and partition. A file ends when it has ``file-size`` bytes,
at a schema change of its table, and when the events end. The date in a path is the day of the
file's last row in UTC, where the producer takes its own time of the flush.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import StoredFile
from cdcwire.model.events import Event, Position, Progress, RowChange, SchemaChange, Table
from cdcwire.storage.paths import METADATA_NAME, DataPath, PathLayout, date_directory, path_text
from cdcwire.storage.schema_files import schema_file_of
from cdcwire.storage.small_files import write_metadata
from cdcwire.storage.writing import schema_put


class StoredRow(NamedTuple):
    """A row change as it is stored.

    ``version``: of its table. ``milliseconds``: of the date of its file. ``header``: what comes
    first in a file with this row. ``shape``: rows of different shapes are in different files.
    """

    schema: str
    table: str
    version: int
    milliseconds: int
    records: bytes
    header: bytes = b""
    shape: Hashable = None


class RowWriter(Protocol):
    """Encodes the rows of a format, and follows the schema changes of its tables."""

    def row(self, event: RowChange) -> StoredRow:
        """Return the records of a row change. Raises: EncodeError."""
        ...

    def change(self, table: Table, version: int) -> Table:
        """Take a schema change; return the table with its columns, where they are known."""
        ...


class _Group(NamedTuple):
    schema: str
    table: str
    partition: int | None


@dataclass(slots=True)
class _OpenFile:
    """Records that wait for their file to end, and the last row."""

    last: StoredRow
    parts: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, part: bytes) -> None:
        self.parts.append(part)
        self.size += len(part)


def gather_files(
    events: Iterable[Event], rows: RowWriter, layout: PathLayout, file_size: int, clause: str
) -> Iterator[StoredFile]:
    """Yield the files of events, in the order in which they end.

    Checkpoints come last: what they promise is stored by then. ``clause``: of the errors of events
    that a file has no place for.
    Raises: EncodeError for what the format can't carry, with the number of the event in the path.
    """
    gatherer = _Gatherer(rows, layout, file_size)
    checkpoints: list[bytes] = []
    for index, event in enumerate(events):
        try:
            match event:
                case RowChange():
                    yield from gatherer.add(event)
                case SchemaChange():
                    yield from gatherer.change(event)
                case Progress(what="checkpoint", position=Position(commit_ts=int() as commit_ts)):
                    checkpoints.append(write_metadata(commit_ts))
                case _:
                    problem = f"a file has no place for {event.what!r}"
                    raise EncodeError(problem, clause, ("what",))
        except (DecodeError, EncodeError) as error:
            error.path = ("events", index, *error.path)
            raise
    yield from gatherer.finish()
    for checkpoint in checkpoints:
        yield StoredFile(METADATA_NAME, checkpoint)


class _Gatherer:
    def __init__(self, rows: RowWriter, layout: PathLayout, file_size: int) -> None:
        self.rows = rows
        self.layout = layout
        self.file_size = file_size
        self.open: dict[_Group, _OpenFile] = {}
        self.numbers: dict[DataPath, int] = {}

    def add(self, event: RowChange) -> Iterable[StoredFile]:
        row = self.rows.row(event)
        partition = event.position.partition if self.layout.has_partitions else None
        group = _Group(row.schema, row.table, partition)
        file = self.open.get(group)
        if file is None or (file.last.version, file.last.shape) != (row.version, row.shape):
            return self._begin(group, row)
        file.add(row.records)
        file.last = row
        return (self._end(group),) if file.size >= self.file_size else ()

    def _begin(self, group: _Group, row: StoredRow) -> Iterator[StoredFile]:
        if group in self.open:
            yield self._end(group)
        # What no path can have is refused here, where the event is known.
        path_text(self._directory(group, row), self.layout)
        self.open[group] = file = _OpenFile(row)
        if row.header:
            file.add(row.header)
        file.add(row.records)
        if file.size >= self.file_size:
            yield self._end(group)

    def change(self, event: SchemaChange) -> Iterator[StoredFile]:
        table, version = event.table, event.position.commit_ts
        if table is None or version is None:
            missing = "table" if table is None else "commit_ts"
            path = ("table",) if table is None else ("position", "commit_ts")
            problem = f"a schema file needs the {missing}"
            raise EncodeError(problem, "storage: schema files", path)
        concerned = [
            group
            for group in self.open
            if group.schema == table.schema and table.name in (None, group.table)
        ]
        for group in concerned:
            yield self._end(group)
        if table.name is not None:
            table = self.rows.change(table, version)
        put = schema_put(schema_file_of(table, event, version), self.layout)
        yield StoredFile(put.path, put.value)

    def finish(self) -> Iterator[StoredFile]:
        for group in list(self.open):
            yield self._end(group)

    def _end(self, group: _Group) -> StoredFile:
        file = self.open.pop(group)
        directory = self._directory(group, file.last)
        number = self.numbers.get(directory, 0) + 1
        self.numbers[directory] = number
        path = path_text(replace(directory, number=number), self.layout)
        return StoredFile(path, b"".join(file.parts))

    def _directory(self, group: _Group, row: StoredRow) -> DataPath:
        """Return the path of a group's file, with the number 1."""
        try:
            date = date_directory(row.milliseconds, self.layout.date_separator)
        except ValueError as error:
            raise EncodeError(str(error), "storage: separators", ("position",)) from error
        return DataPath(group.schema, group.table, row.version, group.partition, date, 1)
