"""The events of a prefix in the order of replay.

Several dispatchers may write one table at the same time, each to separate files. Their rows come
together, in the order of the commit-ts.

One data file is read at a time. A file may be broken, incomplete or meanwhile written again. It
then holds back the later files of its table and partition, and all later versions of the table.
Other tables go on.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from heapq import merge
from typing import TypeAlias

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.message import StoredFile
from cdcwire.core.rows import Row, event_of
from cdcwire.files.prefix import (
    PrefixFile,
    StoragePrefix,
    fault_of,
    stored_form,
)
from cdcwire.files.stores import Store
from cdcwire.model.events import Event, Position, Progress, Table
from cdcwire.storage import ApplySchema, DataPath, Fault, RowGate, change_of
from cdcwire.storage.replay import StreamGate, TableKey
from cdcwire.storage.rules import FaultKind, StreamKey, stream_of, table_of_schema_path
from cdcwire.storage.sent_columns import with_sent_columns

Report: TypeAlias = "Callable[[Fault], None]"
Rows: TypeAlias = "Iterator[Row | Event]"
Opened: TypeAlias = "tuple[ApplySchema | PrefixFile, Rows]"


class PrefixReader:
    """Reads the data files of a listed prefix, each whole, one at a time.

    ``report`` is called for each fault, at the time when it is found.
    """

    def __init__(
        self, store: Store, prefix: StoragePrefix, context: Context, report: Report
    ) -> None:
        self._store = store
        self._prefix = prefix
        self._report = report
        self._selection = context.selection
        selectors = prefix.settings.selectors
        own = (with_sent_columns(table, selectors) for table in context.tables)
        tables = (*prefix.tables, *own)
        form = stored_form(prefix.format)
        self._check_definition = form.definition_check and form.definition_check(tables)
        make_decoder = form.decoder or prefix.format.decoder
        self._decode = make_decoder(replace(context, tables=tables))
        self._held: set[StreamKey] = set()
        self._held_versions: dict[TableKey, int] = {}
        self.is_whole = True

    def steps(self, only: Container[StreamKey] | None = None) -> Iterator[Opened]:
        """Yield schema files, and data files with their events; these are to be read at once.

        ``only``: the files of these streams.
        Raises: StoreError.
        """
        for step in self._prefix.steps:
            if isinstance(step, ApplySchema):
                if not self._is_held(_table_of(step), step.parsed.version):
                    yield step, iter(())
            elif (only is None or stream_of(step.parsed) in only) and self._is_wanted(step.parsed):
                yield step, self._rows(step)

    def rows_of(self, file: PrefixFile) -> Rows:
        """Yield the events of a data file; none if it is not wanted, or held back by then."""
        if self._is_wanted(file.parsed):
            yield from self._rows(file)

    def _is_wanted(self, path: DataPath) -> bool:
        if stream_of(path) in self._held or self._is_held((path.schema, path.table), path.version):
            return False
        return not path.schema or self._selection.wants(path.schema, path.table)

    def _is_held(self, table: TableKey, version: int) -> bool:
        return version >= self._held_versions.get(table, version + 1)

    def _rows(self, file: PrefixFile) -> Rows:
        value = self._value(file)
        if value is None:
            return
        try:
            yield from self._decode(StoredFile(file.path, value))
        except DecodeError as error:
            kind: FaultKind = "data-unreadable"
            if isinstance(error, TruncatedError):
                kind = "half-written"
            elif error.path[2:] in _NAMES_OF_TABLE:
                kind = "row-of-another-table"
            self._stop(file, fault_of(error, kind, file.path))

    def _value(self, file: PrefixFile) -> bytes | None:
        """Return the bytes of a file that was put whole and not changed since it was listed."""
        path = file.parsed
        if self._check_definition is not None and path.schema:
            try:
                self._check_definition(path)
            except DecodeError as error:
                if not self._is_undefined(path):
                    self._stop(file, fault_of(error, "schema-missing", file.path))
                return None  # the listing has reported the missing schema file
        if not file.size:
            problem = "the file is empty: its number will be used again"
            self._stop(file, Fault("empty-file", file.path, problem, "storage: index files", 0))
            return None
        clause = "storage: write order"
        try:
            value = self._store.read(file.path)
        except FileNotFoundError:
            problem = "the file is gone since it was listed"
            self._stop(file, Fault("overwritten", file.path, problem, clause))
            return None
        now = self._store.look(file.path)
        is_same = now is not None and (now.size, now.stamp) == (file.size, file.stamp)
        if is_same and len(value) != file.size:
            problem = f"{len(value)} of its {file.size} bytes came; read it again"
            self._stop(file, Fault("data-unreadable", file.path, problem, clause, len(value)))
            return None
        if not is_same:
            problem = f"the file was put again since it was listed with {file.size} bytes"
            self._stop(file, Fault("overwritten", file.path, problem, clause))
            return None
        terminator = self._prefix.settings.terminator
        if not value.endswith(terminator):
            problem = f"the file does not end in the terminator {terminator!r}"
            if value.endswith(b"\n"):
                problem += "; it ends in LF, so give the producer's option terminator"
            self._stop(file, Fault("half-written", file.path, problem, clause, len(value)))
            return None
        return value

    def _is_undefined(self, path: DataPath) -> bool:
        key = (path.schema, path.table, path.version)
        return not any(key == (t.schema, t.name, t.version) for t in self._prefix.tables)

    def _stop(self, file: PrefixFile, fault: Fault) -> None:
        path = file.parsed
        self.is_whole = False
        self._held.add(stream_of(path))
        table, version = (path.schema, path.table), path.version + 1
        self._held_versions[table] = min(version, self._held_versions.get(table, version))
        self._report(fault)


_NAMES_OF_TABLE = (("table",), ("schema",), ("database",))


def _table_of(step: ApplySchema) -> TableKey:
    return table_of_schema_path(step.parsed, step.file)


def commit_ts_of(row: Row | Event) -> int | None:
    """Return the commit-ts of the content of a data file."""
    return row.commit_ts if isinstance(row, Row) else row.position.commit_ts


def read_events(
    store: Store,
    prefix: StoragePrefix,
    context: Context,
    report: Report,
    gate: RowGate | None = None,
) -> Iterator[Event]:
    """Yield the events of a prefix in the order of replay, up to its checkpoint.

    Repeated rows are dropped, as far as their commit-ts shows (``RowGate``; give one to
    see its counts). Rows without commit-ts stay in the order of their files. The checkpoint itself
    comes last, if nothing below it is missing.
    ``report`` is called for each fault that matters to a reader.
    Raises: StoreError.
    """
    for fault in prefix.blocking_faults:
        report(fault)
    reader = PrefixReader(store, prefix, context, report)
    gate = prefix.gate.rows() if gate is None else gate
    shared = _shared_directories(prefix)
    seen: set[_Version] = set()
    for step, rows in reader.steps():
        if isinstance(step, ApplySchema):
            change = change_of(step.file, prefix.settings.time_zone or "")
            if change is not None and _wants(context, change.table):
                yield change
            continue
        version = _version_of(step)
        if version not in shared:
            yield from map(event_of, _taken(rows, gate.of(step.parsed)))
        elif version not in seen:
            seen.add(version)
            streams = [_rows_of_stream(reader, gate, files) for files in shared[version]]
            yield from map(event_of, merge(*streams, key=_place_in_table))
    if prefix.checkpoint is not None and reader.is_whole and not prefix.blocking_faults:
        yield Progress("checkpoint", Position(commit_ts=prefix.checkpoint))


_Version: TypeAlias = "tuple[str, str, int, int | None]"
"""A version of a table, or of one of its partitions."""


def _version_of(file: PrefixFile) -> _Version:
    path = file.parsed
    return path.schema, path.table, path.version, path.partition


def _shared_directories(prefix: StoragePrefix) -> dict[_Version, list[list[PrefixFile]]]:
    """Return the files of each dispatcher, of the tables that several dispatchers write."""
    found: dict[_Version, dict[StreamKey, list[PrefixFile]]] = {}
    for file in prefix.files:
        streams = found.setdefault(_version_of(file), {})
        streams.setdefault(stream_of(file.parsed), []).append(file)
    return {key: list(each.values()) for key, each in found.items() if len(each) > 1}


def _rows_of_stream(reader: PrefixReader, gate: RowGate, files: Iterable[PrefixFile]) -> Rows:
    for file in files:
        yield from _taken(reader.rows_of(file), gate.of(file.parsed))


def _taken(rows: Rows, gate: StreamGate) -> Rows:
    return (row for row in rows if gate.judge(commit_ts_of(row)) == "take")


def _place_in_table(row: Row | Event) -> int:
    return commit_ts_of(row) or 0


def _wants(context: Context, table: Table | None) -> bool:
    if table is None or table.name is None:
        return True
    return context.selection.wants(table.schema, table.name)
