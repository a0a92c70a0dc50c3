"""A prefix read: its files in the order of replay, its tables by version, and its events.

Listing costs memory for the names, reading for one data file at a time. A file that is broken, half
written or put again meanwhile holds back what comes behind it in its table and partition, and all
later versions of the table; other tables go on.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from cdcwire.core.errors import DecodeError, TruncatedError
from cdcwire.core.format import Context
from cdcwire.core.message import StoredFile
from cdcwire.core.registry import get_format
from cdcwire.core.rows import Row
from cdcwire.model.events import Event, Position, Progress, Table
from cdcwire.storage import (
    ApplySchema,
    DataPath,
    Fault,
    IndexPath,
    Layout,
    Listing,
    MetadataPath,
    ReadFile,
    Replay,
    RowGate,
    SchemaFile,
    SchemaPath,
    Skip,
    change_of,
    parse_path,
    read_index,
    read_metadata,
    read_schema_file,
    replay,
    table_of,
)
from cdcwire.storage.feeds import completed
from cdcwire.storage.form import StoredSettings
from cdcwire.storage.paths import METADATA_NAME
from cdcwire.storage.replay import TableKey
from cdcwire.storage.rules import FaultKind, StreamKey, stream_of, table_of_schema_path
from cdcwire.storage.writing import WriteOrder
from cdcwire_conformance.sources.storage.forms import stored_form
from cdcwire_conformance.sources.stores import Listed, Store, path_under


@dataclass(frozen=True, slots=True)
class PrefixFile:
    """A data file as it was listed. ``url``: where it is, as ``open_store`` understands it."""

    path: str
    url: str
    size: int
    stamp: str
    place: DataPath


@dataclass(frozen=True, slots=True)
class Prefix:
    """What a listing of a prefix says.

    ``tables``: definitions by version, from the schema files. ``steps``: schema files to apply and
    data files to read, in the order of replay; ``files``: the latter alone. ``skips``: what is left
    out without fault. ``faults``: what is wrong so far, before a data file was read.
    """

    format_name: str
    settings: StoredSettings
    checkpoint: int | None
    tables: tuple[Table, ...]
    steps: tuple[ApplySchema | PrefixFile, ...]
    skips: tuple[Skip, ...]
    faults: tuple[Fault, ...]
    listed: Mapping[str, Listed]
    index_numbers: Mapping[str, int | DecodeError]

    @property
    def files(self) -> tuple[PrefixFile, ...]:
        return tuple(step for step in self.steps if isinstance(step, PrefixFile))


def list_prefix(
    place: Store,
    format_name: str,
    context: Context,
    *,
    write_order: WriteOrder = "data-first",
) -> Prefix:
    """List a prefix, read its small files, and return what there is in the order of replay.

    The tables of ``context`` say what schema files don't (elements of ENUM and SET, virtual
    columns). ``write_order``: of the producer; ``index-first`` allows an index to name a file that
    is not there yet. The producer may be writing: the checkpoint is read before the list, so that
    all below it is listed, and where an index names a data file that is not, the folder is listed
    again.
    Raises: StoreError; OptionError. What is wrong in the prefix is in ``faults``.
    """
    settings = stored_form(format_name).settings(context)
    layout = settings.layout
    metadata = _read_if_there(place, METADATA_NAME)
    listed = {found.path: found for found in place.list()}
    small = _SmallFiles(place, layout, listed, metadata)
    newer = write_order == "data-first"
    found = _replayed(listed, small, layout, newer)
    missing = [fault.path for fault in found.faults if fault.kind == "index-missing-file"]
    if missing:
        for folder in {path.rpartition("/")[0] for path in missing}:
            listed |= {each.path: each for each in place.list(folder)}
        found = _replayed(listed, small, layout, newer)
    tables = tuple(
        completed(table, context.tables)
        for table in (
            table_of(file, settings.time_zone or "") for file in small.whole_files().values()
        )
        if table.name is not None
    )
    return Prefix(
        format_name=format_name,
        settings=settings,
        checkpoint=small.checkpoint,
        tables=tables,
        steps=tuple(_step(step, place, listed) for step in found.steps),
        skips=found.skips,
        faults=(*small.faults, *found.faults),
        listed=listed,
        index_numbers=small.index_numbers,
    )


def _replayed(
    listed: Mapping[str, Listed], small: _SmallFiles, layout: Layout, newer: bool
) -> Replay:
    listing = Listing(listed, small.schema_files, small.index_numbers)
    return replay(listing, layout, small.checkpoint, newer=newer)


def _read_if_there(place: Store, path: str) -> bytes | None:
    try:
        return place.read(path)
    except FileNotFoundError:
        return None


def _step(
    step: ApplySchema | ReadFile, place: Store, listed: Mapping[str, Listed]
) -> ApplySchema | PrefixFile:
    if isinstance(step, ApplySchema):
        return step
    file = listed[step.path]
    return PrefixFile(
        step.path, path_under(place.url, step.path), file.size, file.stamp, step.parsed
    )


class _SmallFiles:
    """The schema files, the index files and the checkpoint."""

    def __init__(
        self,
        place: Store,
        layout: Layout,
        listed: Mapping[str, Listed],
        metadata: bytes | None,
    ) -> None:
        self.checkpoint: int | None = None
        self.schema_files: dict[str, SchemaFile | DecodeError] = {}
        self.index_numbers: dict[str, int | DecodeError] = {}
        self.faults: list[Fault] = []
        for name in listed:
            try:
                path = parse_path(name, layout)
            except DecodeError:
                continue  # the replay tells it
            if isinstance(path, DataPath):
                continue
            value = metadata if name == METADATA_NAME else None
            value = _read_if_there(place, name) if value is None else value
            if value is None:
                continue  # gone since it was listed: as if it had not been there
            try:
                match path:
                    case MetadataPath():
                        self.checkpoint = read_metadata(value)
                    case SchemaPath():
                        self.schema_files[name] = read_schema_file(value)
                    case IndexPath():
                        self.index_numbers[name] = read_index(value, layout, path.dispatcher)
            except DecodeError as error:
                match path:
                    case MetadataPath():
                        self.faults.append(_fault_of(error, "metadata-unreadable", name))
                    case SchemaPath():
                        self.schema_files[name] = error
                    case IndexPath():
                        self.index_numbers[name] = error

    def whole_files(self) -> dict[str, SchemaFile]:
        return {
            name: file for name, file in self.schema_files.items() if isinstance(file, SchemaFile)
        }


def _fault_of(error: DecodeError, kind: FaultKind, name: str) -> Fault:
    return Fault(kind, name, error.problem, error.clause, error.offset, error.path)


Report: TypeAlias = "Callable[[Fault], None]"
Rows: TypeAlias = "Iterator[Row | Event]"
Opened: TypeAlias = "tuple[ApplySchema | PrefixFile, Rows]"


class PrefixReader:
    """Reads the data files of a listed prefix, each whole, one at a time.

    ``report`` is called for each fault, at the time when it is found.
    """

    def __init__(self, place: Store, prefix: Prefix, context: Context, report: Report) -> None:
        self._place = place
        self._prefix = prefix
        self._report = report
        self._selection = context.selection
        tables = (*prefix.tables, *context.tables)
        form = stored_form(prefix.format_name)
        self._check_definition = form.definition_check and form.definition_check(tables)
        make_decoder = form.decoder or get_format(prefix.format_name).decoder
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
            elif (only is None or stream_of(step.place) in only) and self._is_wanted(step.place):
                yield step, self._rows(step)

    def _is_wanted(self, place: DataPath) -> bool:
        if stream_of(place) in self._held or self._is_held(
            (place.schema, place.table), place.version
        ):
            return False
        return not place.schema or self._selection.wants(place.schema, place.table)

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
            self._stop(file, _fault_of(error, kind, file.path))

    def _value(self, file: PrefixFile) -> bytes | None:
        """Return the bytes of a file that was put whole and not changed since it was listed."""
        place = file.place
        if self._check_definition is not None and place.schema:
            try:
                self._check_definition(place)
            except DecodeError as error:
                if not self._is_undefined(place):
                    self._stop(file, _fault_of(error, "schema-missing", file.path))
                return None  # the listing told already that there is no schema file
        if not file.size:
            problem = "the file is empty: its number will be used again"
            self._stop(file, Fault("empty-file", file.path, problem, "storage: index files", 0))
            return None
        clause = "storage: write order"
        try:
            value = self._place.read(file.path)
        except FileNotFoundError:
            problem = "the file is gone since it was listed"
            self._stop(file, Fault("overwritten", file.path, problem, clause))
            return None
        now = self._place.look(file.path)
        if len(value) != file.size or now is None or now.stamp != file.stamp:
            problem = f"the file was put again since it was listed with {file.size} bytes"
            self._stop(file, Fault("overwritten", file.path, problem, clause))
            return None
        terminator = self._prefix.settings.terminator
        if not value.endswith(terminator):
            problem = f"the file does not end in the terminator {terminator!r}"
            self._stop(file, Fault("half-written", file.path, problem, clause, len(value)))
            return None
        return value

    def _is_undefined(self, place: DataPath) -> bool:
        key = (place.schema, place.table, place.version)
        return not any(key == (t.schema, t.name, t.version) for t in self._prefix.tables)

    def _stop(self, file: PrefixFile, fault: Fault) -> None:
        place = file.place
        self.is_whole = False
        self._held.add(stream_of(place))
        table, version = (place.schema, place.table), place.version + 1
        self._held_versions[table] = min(version, self._held_versions.get(table, version))
        self._report(fault)


_HARMLESS: frozenset[FaultKind] = frozenset({"number-width"})
_NAMES_OF_TABLE = (("table",), ("schema",), ("database",))


def _table_of(step: ApplySchema) -> TableKey:
    return table_of_schema_path(step.parsed, step.file)


def commit_ts_of(row: Row | Event) -> int | None:
    """Return the commit-ts of what a data file has."""
    return row.commit_ts if isinstance(row, Row) else row.position.commit_ts


def read_events(
    place: Store, prefix: Prefix, context: Context, report: Report, gate: RowGate | None = None
) -> Iterator[Event]:
    """Yield the events of a prefix in the order of replay, up to its checkpoint.

    Rows that came before are dropped, as far as their commit-ts tells (``RowGate``; give one to
    see its counts). The checkpoint itself comes last, if nothing below it is missing.
    ``report`` is called for each fault, but those that no reader minds.
    Raises: StoreError.
    """
    faults = [fault for fault in prefix.faults if fault.kind not in _HARMLESS]
    for fault in faults:
        report(fault)
    reader = PrefixReader(place, prefix, context, report)
    gate = RowGate(prefix.checkpoint) if gate is None else gate
    for step, rows in reader.steps():
        if isinstance(step, ApplySchema):
            change = change_of(step.file, prefix.settings.time_zone or "")
            if change is not None and _wants(context, change.table):
                yield change
            continue
        for row in rows:
            if gate.judge(step.place, commit_ts_of(row)) == "take":
                yield row.to_event() if isinstance(row, Row) else row
    if prefix.checkpoint is not None and reader.is_whole and not faults:
        yield Progress("checkpoint", Position(commit_ts=prefix.checkpoint))


def _wants(context: Context, table: Table | None) -> bool:
    if table is None or table.name is None:
        return True
    return context.selection.wants(table.schema, table.name)
