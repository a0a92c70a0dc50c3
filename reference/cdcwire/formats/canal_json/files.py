"""Files of a storage prefix: rows, and the other files next to them.

A data file has one object per row, each with the terminator after it. It is read object by object,
so that any terminator does, and a file that was cut gives its whole rows before the error. The path
says what a file is; a path without directories is a data file outside any layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.core.errors import DecodeError, TruncatedError, step
from cdcwire.core.message import StoredFile
from cdcwire.core.strict_json import JsonObject, JsonValue, read_json_value
from cdcwire.formats.canal_json.columns import Definitions, definitions_of
from cdcwire.formats.canal_json.events import events_of, from_event
from cdcwire.formats.canal_json.images import ImageWriter
from cdcwire.formats.canal_json.members import RULES
from cdcwire.formats.canal_json.message import ROW_TYPES, Message
from cdcwire.formats.canal_json.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.canal_json.wire import message_of, write_object
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.instants import ms_of_tso
from cdcwire.storage.feeds import other_events, path_of
from cdcwire.storage.gathering import StoredRow, gather_files
from cdcwire.storage.paths import DataPath

CLAUSE = "canal-json: files"

_TableName = tuple[str | None, str | None]


def read_file(
    file: StoredFile,
    settings: Settings = DEFAULT_SETTINGS,
    tables: Iterable[Table] = (),
    selection: Selection = EVERYTHING,
) -> Iterator[Event]:
    """Yield the events of a file, those before a fault first.

    Raises: DecodeError, with the number of the row in the path.
    """
    place = path_of(file, settings.layout)
    if not isinstance(place, (DataPath, type(None))):
        yield from other_events(file, place, settings.layout, settings.time_zone, selection)
        return
    definitions = definitions_of(tuple(tables))
    partition, version = (None, None) if place is None else (place.partition, place.version)
    for message in read_messages(file.value, settings.terminator, selection, definitions, place):
        yield from events_of(
            message,
            settings,
            selection=selection,
            definitions=definitions,
            partition=partition,
            version=version,
        )


def read_messages(
    data: bytes,
    terminator: bytes,
    selection: Selection = EVERYTHING,
    definitions: Definitions | None = None,
    place: DataPath | None = None,
) -> Iterator[Message]:
    """Yield the messages of a data file. Raises: DecodeError."""
    known = definitions or Definitions()
    offset = index = 0
    while offset < len(data):
        with step("rows", index):
            message, offset = read_line(data, offset, terminator, selection, known, place)
        if message is not None:
            yield message
        index += 1


def read_line(
    data: bytes,
    offset: int,
    terminator: bytes,
    selection: Selection,
    definitions: Definitions,
    place: DataPath | None = None,
) -> tuple[Message | None, int]:
    """Return the message that begins at ``offset``, and where the next one begins.

    ``place``: the path of the file; all its messages are rows of that table.
    Raises: DecodeError, also where the terminator does not follow.
    """
    document = read_json_value(data, RULES, offset)
    version = None if place is None else place.version
    message = message_of(document, data, selection, definitions, version)
    if message is not None and place is not None:
        _check_belongs(message, document.value, place)
    end = document.end
    if data.startswith(terminator, end):
        return message, end + len(terminator)
    if terminator.startswith(data[end : end + len(terminator)]):
        problem = f"the file ends before the terminator {terminator!r}"
        if place is None:
            problem += "; a *.json is read as a file of a storage sink, not as a queue's message"
        raise TruncatedError(problem, len(data), CLAUSE)
    found = data[end : end + len(terminator)]
    problem = f"expected the terminator {terminator!r}, found {found!r}"
    if found.startswith(b"\n"):
        problem += "; give the producer's option terminator"
    raise DecodeError(problem, end, CLAUSE)


def _check_belongs(message: Message, found: JsonValue, place: DataPath) -> None:
    assert isinstance(found, JsonObject)
    name = problem = ""
    if message.is_ddl or message.type not in ROW_TYPES:
        name, problem = (
            "type",
            f"{message.type} is not a row change; files contain row changes only",
        )
    elif not is_of_table(place, message.database, message.table):
        name = "table" if message.database == place.schema else "database"
        problem = (
            f"a row of {message.database}.{message.table} in a file of {place.schema}.{place.table}"
        )
    member = found.get(name)
    if member is not None:
        raise DecodeError(problem, member.start, CLAUSE, (name,))


def is_of_table(place: DataPath, database: str | None, table: str | None) -> bool:
    """Return whether a path may hold rows of a table; a path of a table id does not show it."""
    return not place.schema or (place.schema, place.table) == (database, table)


def to_files(
    events: Iterable[Event],
    settings: Settings = DEFAULT_SETTINGS,
    tables: Iterable[Table] = (),
    usual_object: Callable[[Event], bytes | None] = lambda event: None,
) -> Iterator[StoredFile]:
    """Yield the files of events.

    Rows are gathered in one file per table and partition, until it is full, the table changes, or
    the events end. A schema change is a schema file. Checkpoints come last, as what they promise is
    stored by then. The date of a path is that of the file's last row, in UTC.
    ``usual_object``: the fast encoder's, for rows; what it does not make is made here.
    Raises: EncodeError for what the format can't carry, with the number of the event in the path.
    """
    rows = _Rows(settings, tables, usual_object)
    clause = "canal-json: framing"
    yield from gather_files(events, rows, settings.layout, settings.file_size, clause)


class _Rows:
    def __init__(
        self,
        settings: Settings,
        tables: Iterable[Table],
        usual_object: Callable[[Event], bytes | None],
    ) -> None:
        self.usual_object = usual_object
        # Messages of files are never compressed and never cut.
        self.settings = replace(settings, compression_name="none", large_message="none")
        self.images = ImageWriter(settings, tables)
        self.versions: dict[_TableName, int] = {}

    def row(self, event: RowChange) -> StoredRow:
        value = self.usual_object(event)
        if value is None:
            message = from_event(event, self.settings, self.images)
            value = write_object(message, self.settings.dialect)
        records = value + self.settings.terminator
        name = event.table.schema or "", event.table.name or ""
        version = self.versions.get(name)
        if version is None:
            defined = self.images.definitions.table(*name)
            version = 0 if defined is None else defined.version or 0
        position = event.position
        milliseconds = position.commit_ms or 0
        if position.commit_ts is not None:
            milliseconds = ms_of_tso(position.commit_ts)
        return StoredRow(*name, version, milliseconds, records)

    def change(self, table: Table, version: int) -> Table:
        self.versions[table.schema, table.name] = version
        if table.columns is not None:
            return table
        defined = self.images.definitions.table(table.schema, table.name or "", version)
        return replace(table, columns=None if defined is None else defined.columns)
