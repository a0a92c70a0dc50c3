"""Events to the files of a storage prefix; ``storage.gathering`` says when a file ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from cdcwire.core.message import StoredFile
from cdcwire.formats.csv.events import RecordWriter
from cdcwire.formats.csv.records import write_record
from cdcwire.formats.csv.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.csv.tables import Definitions, stored_columns
from cdcwire.formats.csv.wire import header_line
from cdcwire.model.events import Event, RowChange, Table, TableName
from cdcwire.model.instants import ms_of_tso
from cdcwire.storage.gathering import StoredRow, gather_files

UsualRecords: TypeAlias = "Callable[[RowChange, Table | None], bytes | None]"


def _no_records(event: RowChange, definition: Table | None) -> bytes | None:
    return None


def messages_of(
    events: Iterable[Event],
    settings: Settings = DEFAULT_SETTINGS,
    tables: Iterable[Table] = (),
    usual_records: UsualRecords = _no_records,
) -> Iterator[StoredFile]:
    """Yield the files of events, in the order in which they end.

    ``tables``: definitions; they give the order of columns, and labels for indexes. Checkpoints
    come last: what they promise is stored by then. ``usual_records``: the fast encoder's; the
    records that it does not make are made here.
    Raises: EncodeError for what the format can't carry, with the number of the event in the path.
    """
    rows = Rows(settings, tables, usual_records)
    yield from gather_files(events, rows, settings.layout, settings.file_size, "csv: files")


class Rows:
    """Encodes rows under the definitions of their tables, which schema changes replace."""

    def __init__(
        self,
        settings: Settings,
        tables: Iterable[Table],
        usual_records: UsualRecords = _no_records,
    ) -> None:
        self.settings = settings
        self.definitions = Definitions(tables)
        self.records = RecordWriter(settings)
        self.usual_records = usual_records
        self.changed: dict[TableName, tuple[int, Table | None]] = {}

    def row(self, event: RowChange) -> StoredRow:
        """Return the records of a row change. Raises: EncodeError."""
        version, definition = self.definition(event)
        settings, position = self.settings, event.position
        records = self.usual_records(event, definition)
        if records is None:
            found = self.records.records(event, definition)
            records = b"".join(write_record(record, settings) for record in found)
        image = event.after or event.before
        assert image is not None  # it has a record
        names = self.records.plan(image.columns, definition).names
        has_header = settings.output_field_header
        return StoredRow(
            event.table.schema or "",
            event.table.name or "",
            version,
            ms_of_tso(position.commit_ts or 0),  # rows without one count as of 0, as readers do it
            records,
            header_line(settings, names) + settings.terminator if has_header else b"",
            names,
        )

    def change(self, table: Table, version: int) -> Table:
        """Take a schema change; return the table with its columns, where they are known."""
        name = table.name or ""
        known = self.definitions.of(table.schema or "", name)
        definition = next((each for each in known if each.version == version), None)
        if table.columns is None:
            definition = definition or (known[0] if len(known) == 1 else None)
            table = replace(table, columns=None if definition is None else definition.columns)
        self.changed[table.schema, name] = (version, definition or table)
        return table

    def definition(self, event: RowChange) -> tuple[int, Table | None]:
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
