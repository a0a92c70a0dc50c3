"""A storage prefix: the formats that have one, its files in the order of replay, and its faults.

Listing reads the small files (checkpoint, indexes, schema files) and no data file. Memory grows
with the number of files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.files.feed_file import PREFIX_FEED_FILE
from cdcwire.files.messages_io import names_of_lines
from cdcwire.files.stores import (
    Listed,
    LocalStore,
    Store,
    StoreError,
    is_url,
)
from cdcwire.format import Format
from cdcwire.model.events import Table
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire.storage import (
    ApplySchema,
    DataPath,
    Fault,
    IndexPath,
    Listing,
    MetadataPath,
    PathLayout,
    ReadFile,
    Replay,
    RowGate,
    SchemaFile,
    SchemaPath,
    Skip,
    SkipReason,
    parse_path,
    read_index,
    read_metadata,
    read_schema_file,
    replay,
    table_of,
)
from cdcwire.storage.feeds import completed, has_own_path
from cdcwire.storage.form import StoredForm, StoredSettings
from cdcwire.storage.paths import METADATA_NAME
from cdcwire.storage.rules import DirectoryKey, FaultKind, directory_of
from cdcwire.storage.schema_reader import MAX_FILE_BYTES
from cdcwire.storage.sent_columns import with_defined_columns, with_sent_columns
from cdcwire.storage.small_files import MAX_INDEX_BYTES, MAX_METADATA_BYTES
from cdcwire.storage.writing import WriteOrder

_OLD_SCHEMA_FILE = re.compile(r"[^/]+/[^/]+/[0-9]+/schema\.json")
_MOST_HEAD_BYTES = 1 << 20  # of a data file, in which its first record is looked for
_HARMLESS: frozenset[FaultKind] = frozenset({"number-width"})
# With a producer of unknown order: what keeps rows from being read, or from being trusted.
_BLOCKING: frozenset[FaultKind] = frozenset(
    {
        "unknown-file",
        "number-twice",
        "empty-file",
        "metadata-unreadable",
        "schema-unreadable",
        "schema-hash",
        "schema-version",
        "schema-names",
        "hole",
        "half-written",
        "index-unreadable",
        "index-missing-file",
    }
)


def stored_formats() -> tuple[str, ...]:
    """Return the names of the formats that are stored in a prefix."""
    return tuple(name for name in FORMAT_NAMES if get_format(name).stored is not None)


def is_prefix(format_name: str, location: str) -> bool:
    """Return whether a location is a storage prefix: a URL, or a directory without JSON lines.

    Raises: StoreError.
    """
    if get_format(format_name).stored is None:
        return False
    folder = Path(location)
    return is_url(location) or (folder.is_dir() and not names_of_lines(LocalStore(folder)))


def stored_form(format_: Format) -> StoredForm:
    """Return how a format is stored in a prefix. Raises: ValueError where it is not."""
    found = format_.stored
    if found is None:
        known = ", ".join(stored_formats())
        raise ValueError(f"{format_.name} is not stored in files of a prefix; there are: {known}")
    return found


@dataclass(frozen=True, slots=True)
class StaleIndex:
    """An index that names file ``number``, where ``last`` is the largest number there."""

    path: str
    number: int
    last: int

    @property
    def problem(self) -> str:
        """The difference in words."""
        return f"the index names file {self.number}, but {self.last} exists"


def stale_indexes(listing: Listing, layout: PathLayout) -> list[StaleIndex]:
    """Return the indexes that name an older file than the last one of their directory."""
    largest: dict[DirectoryKey, int] = {}
    names: dict[DirectoryKey, str] = {}
    for name in listing.names:
        path = _parsed(name, layout)
        if isinstance(path, DataPath):
            key = directory_of(path)
            largest[key] = max(largest.get(key, 0), path.number)
        elif isinstance(path, IndexPath):
            names[directory_of(path)] = name
    found = []
    for key, name in names.items():
        number, last = (listing.index_numbers or {}).get(name), largest.get(key, 0)
        if isinstance(number, int) and number < last:
            found.append(StaleIndex(name, number, last))
    return found


@dataclass(frozen=True, slots=True)
class ReplayGate:
    """Decides what of a prefix may be replayed.

    ``order``: the producer's write order; None: unknown. Files are replayed up to the last existing
    one in any order: an index may be stale, and only the checkpoint bounds what is complete.
    ``checkpoint``: rows and schema files beyond it wait; None: no limit.
    """

    order: WriteOrder | None
    checkpoint: int | None

    def plan(self, listing: Listing, layout: PathLayout) -> Replay:
        """Return the files and schema files that may be replayed, in their order."""
        if self.order != "data-first":
            return replay(listing, layout, self.checkpoint)
        numbers = dict(listing.index_numbers or {})
        numbers |= {each.path: each.last for each in stale_indexes(listing, layout)}
        return replay(replace(listing, index_numbers=numbers), layout, self.checkpoint, newer=True)

    def faults(self, plan: Replay) -> Iterator[Fault]:
        """Yield what is wrong with the files of a plan.

        A producer that puts the index first may be about to put the file that an index names. With
        an unknown order this can't be distinguished from a loss.
        """
        yield from plan.faults
        problem = "the index names a file that does not exist: it is lost, or not written yet"
        for skip in plan.skips if self.order is None else ():
            if skip.reason is SkipReason.NOT_WRITTEN:
                yield Fault("index-missing-file", skip.path, problem, "storage: index files")

    def blocks(self, fault: Fault) -> bool:
        """Return whether a fault keeps rows from being replayed."""
        if self.order is None:
            return fault.kind in _BLOCKING
        return fault.kind not in _HARMLESS

    def rows(self) -> RowGate:
        """Return the gate of rows: it drops repeats, and rows beyond the checkpoint."""
        return RowGate(self.checkpoint)


@dataclass(frozen=True, slots=True)
class PrefixFile:
    """A data file as it was listed. ``url``: its full name, whose directory a store opens."""

    path: str
    url: str
    size: int
    stamp: str
    parsed: DataPath


@dataclass(frozen=True, slots=True)
class StoragePrefix:
    """The content of a listing of a prefix.

    ``tables``: definitions by version, from the schema files. ``steps``: schema files to apply and
    data files to read, in the order of replay. ``skips``: files that are left out without fault.
    ``faults``: what is wrong before any data file was read. ``undefined``: the data files of a
    format that needs definitions, where neither a schema file nor the caller defines the table.
    ``stale``: the indexes that name an older file than the last one.
    """

    format: Format
    settings: StoredSettings
    gate: ReplayGate
    tables: tuple[Table, ...]
    steps: tuple[ApplySchema | PrefixFile, ...]
    skips: tuple[Skip, ...]
    faults: tuple[Fault, ...]
    listed: Mapping[str, Listed]
    index_numbers: Mapping[str, int | DecodeError]
    stale: tuple[StaleIndex, ...]
    undefined: frozenset[tuple[str, str, int]]

    @property
    def checkpoint(self) -> int | None:
        """The checkpoint of ``metadata``; None without one."""
        return self.gate.checkpoint

    @property
    def files(self) -> tuple[PrefixFile, ...]:
        """The data files to read, in the order of replay."""
        return tuple(step for step in self.steps if isinstance(step, PrefixFile))

    @property
    def blocking_faults(self) -> tuple[Fault, ...]:
        """The faults that keep rows from being replayed."""
        return tuple(
            fault
            for fault in self.faults
            if self.gate.blocks(fault)
            or (fault.kind == "schema-missing" and self.is_undefined(fault.path))
        )

    def is_undefined(self, path: str) -> bool:
        """Return whether no definition says what the columns of a data file are."""
        found = _parsed(path, self.settings.layout)
        return isinstance(found, DataPath) and _version_of(found) in self.undefined


def list_prefix(
    store: Store,
    format_: Format,
    context: Context,
    *,
    write_order: WriteOrder | None = "data-first",
) -> StoragePrefix:
    """List a prefix, read its small files, and return its files in the order of replay.

    The tables of ``context`` say what schema files don't: elements of ENUM and SET, and virtual
    columns. ``write_order``: of the producer; None: unknown. The producer may be writing. The
    checkpoint is read before the list, so that all files below it are listed. Where an index names
    a data file that is not listed, its directory is listed again. Raises: StoreError; OptionError.
    Faults of the prefix are in ``faults``. Source: storage, "replay order" and "index files".
    """
    settings = stored_form(format_).settings(context)
    layout = settings.layout
    metadata = _read_if_there(store, METADATA_NAME, MAX_METADATA_BYTES)
    listed = _listed(store.list())
    old = next(filter(_OLD_SCHEMA_FILE.fullmatch, sorted(listed)), None)
    if old is not None:
        raise StoreError(
            f"{store.url}: {old} has the layout of TiCDC before 6.5.3 and 7.1.0; it is not read"
        )
    small = _SmallFiles(store, layout, listed, metadata)
    gate = ReplayGate(write_order, small.checkpoint)
    plan = gate.plan(small.listing(listed), layout)
    missing = [each.path for each in gate.faults(plan) if each.kind == "index-missing-file"]
    if missing:  # a file was put since the list was made, or expired before its index
        for directory in {path.rpartition("/")[0] for path in missing}:
            now = _listed(store.list(directory))
            small.forget_indexes(directory, now)
            listed |= now
        plan = gate.plan(small.listing(listed), layout)
    faults = (*small.faults, *gate.faults(plan))
    return StoragePrefix(
        format_,
        settings,
        gate,
        _with_defined_columns(small.tables(context, settings), store, listed, format_, context),
        tuple(_step(step, store, listed) for step in plan.steps),
        plan.skips,
        faults,
        listed,
        small.index_numbers,
        tuple(stale_indexes(small.listing(listed), layout)),
        _undefined(faults, format_, context, layout),
    )


def _with_defined_columns(
    tables: tuple[Table, ...],
    store: Store,
    listed: Iterable[str],
    format_: Format,
    context: Context,
) -> tuple[Table, ...]:
    """Return the tables with the columns that their rows have, as far as the caller defines it."""
    form = stored_form(format_)
    if form.column_count is None or not context.tables:
        return tables
    count = form.column_count(context)
    layout = form.settings(context).layout
    names: dict[tuple[str, str, int], str] = {}

    def count_of(table: Table) -> int | None:
        if not names:
            for name in sorted(listed):
                path = _parsed(name, layout)
                if isinstance(path, DataPath):
                    names.setdefault(_version_of(path), name)
        first = names.get((table.schema or "", table.name or "", table.version or 0))
        head = None if first is None else _read_if_there(store, first, _MOST_HEAD_BYTES)
        return None if head is None else count(head)

    return tuple(with_defined_columns(table, context.tables, count_of) for table in tables)


def _listed(found: Iterable[Listed]) -> dict[str, Listed]:
    return {each.path: each for each in found if each.path != PREFIX_FEED_FILE}


def _read_if_there(store: Store, path: str, most: int) -> bytes | None:
    """Return a file's bytes, one more than it may have at most."""
    try:
        return store.read(path, most + 1)
    except FileNotFoundError:
        return None


def _step(
    step: ApplySchema | ReadFile, store: Store, listed: Mapping[str, Listed]
) -> ApplySchema | PrefixFile:
    if isinstance(step, ApplySchema):
        return step
    file = listed[step.path]
    url = f"{store.url}/{step.path}"
    return PrefixFile(step.path, url, file.size, file.stamp, step.parsed)


def _undefined(
    faults: Iterable[Fault], format_: Format, context: Context, layout: PathLayout
) -> frozenset[tuple[str, str, int]]:
    """Return the versions of tables that no definition describes, if the format needs one.

    The columns of another version would be given values that are not theirs.
    """
    if not format_.needs_tables:
        return frozenset()
    defined = {(table.schema, table.name) for table in context.tables}
    missing = [each.path for each in faults if each.kind == "schema-missing"]
    paths = [_parsed(path, layout) for path in missing]
    return frozenset(
        _version_of(path)
        for path in paths
        if isinstance(path, DataPath) and (path.schema, path.table) not in defined
    )


def _version_of(path: DataPath) -> tuple[str, str, int]:
    return path.schema, path.table, path.version


def _parsed(
    name: str, layout: PathLayout
) -> DataPath | IndexPath | SchemaPath | MetadataPath | None:
    """Return what a name says; None for an invalid one, which the plan reports."""
    try:
        return parse_path(name, layout)
    except DecodeError:
        return None


def _most_bytes(path: MetadataPath | SchemaPath | IndexPath) -> int:
    match path:
        case MetadataPath():
            return MAX_METADATA_BYTES
        case SchemaPath():
            return MAX_FILE_BYTES
        case IndexPath():
            return MAX_INDEX_BYTES


class _SmallFiles:
    """The schema files, the index files and the checkpoint."""

    def __init__(
        self, store: Store, layout: PathLayout, listed: Mapping[str, Listed], metadata: bytes | None
    ) -> None:
        self.checkpoint: int | None = None
        self.schema_files: dict[str, SchemaFile | DecodeError] = {}
        self.index_numbers: dict[str, int | DecodeError] = {}
        self.faults: list[Fault] = []
        self._own: list[SchemaFile] = []  # with the names, version and hash of their paths
        for name in sorted(listed):
            path = _parsed(name, layout)
            if path is None or isinstance(path, DataPath):
                continue
            value = metadata if name == METADATA_NAME else None
            value = _read_if_there(store, name, _most_bytes(path)) if value is None else value
            if value is None:
                continue  # gone since it was listed: as if it had not been there
            try:
                match path:
                    case MetadataPath():
                        self.checkpoint = read_metadata(value)
                    case SchemaPath():
                        self.schema_files[name] = file = read_schema_file(value)
                        if has_own_path(name, path, file):
                            self._own.append(file)
                    case IndexPath():
                        self.index_numbers[name] = read_index(value, layout, path.dispatcher)
            except DecodeError as error:
                match path:
                    case MetadataPath():
                        self.faults.append(fault_of(error, "metadata-unreadable", name))
                    case SchemaPath():
                        self.schema_files[name] = error
                    case IndexPath():
                        self.index_numbers[name] = error

    def listing(self, names: Iterable[str]) -> Listing:
        return Listing(tuple(sorted(names)), self.schema_files, self.index_numbers)

    def forget_indexes(self, directory: str, now: Mapping[str, Listed]) -> None:
        """Drop the index files of a directory that are gone."""
        gone = [
            name
            for name in self.index_numbers
            if name.startswith(f"{directory}/") and name not in now
        ]
        for name in gone:
            del self.index_numbers[name]

    def tables(self, context: Context, settings: StoredSettings) -> tuple[Table, ...]:
        """Return the definitions of the schema files, completed by those of the caller."""
        tables = (table_of(file, settings.time_zone or "") for file in self._own)
        return tuple(
            with_sent_columns(completed(table, context.tables), settings.selectors)
            for table in tables
            if table.name is not None
        )


def fault_of(error: DecodeError, kind: FaultKind, name: str) -> Fault:
    """Return a decoder's error as a fault of a file."""
    return Fault(kind, name, error.problem, error.clause, error.offset, error.path)
