"""A prefix of a storage sink, as the driver sees it: what is read of it, and in which order.

Only names, schema files, index files and ``metadata`` are read here. Data files are read by
workers, each whole by one of them; what the driver keeps of one is its name, and what a first pass
found out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeVar

from cdcwire.core.errors import DecodeError, path_text
from cdcwire.core.format import Context, TableName
from cdcwire.core.message import StoredFile
from cdcwire.core.registry import get_format
from cdcwire.model.events import Table
from cdcwire.storage.feeds import completed
from cdcwire.storage.form import StoredSettings
from cdcwire.storage.index_files import read_index
from cdcwire.storage.metadata import read_metadata
from cdcwire.storage.paths import (
    METADATA_NAME,
    DataPath,
    IndexPath,
    Layout,
    SchemaPath,
    StoragePath,
    parse_path,
)
from cdcwire.storage.replay import ApplySchema, Listing, ReadFile, Replay, replay
from cdcwire.storage.rules import Fault, FaultKind, stream_of
from cdcwire.storage.schema_files import SchemaFile, read_schema_file
from cdcwire_conformance.arrow.batches import Place, RowProblem
from cdcwire_conformance.compressions import with_compressions
from cdcwire_conformance.sources.hadoop import check_for_spark
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.sources.storage.forms import stored_form
from cdcwire_conformance.sources.stores import (
    LocalStore,
    OpenFile,
    Store,
    is_hidden,
    is_url,
    opener_of,
    path_under,
)
from cdcwire_conformance.spark.decode.query_labels import told_by_queries

T = TypeVar("T")

# What keeps rows from being read, or from being trusted. Other faults are ``storage check``'s.
_POISON: frozenset[FaultKind] = frozenset(
    {
        "unknown-file",
        "number-twice",
        "empty-file",
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


class StoredData(NamedTuple):
    """A data file of a prefix. ``order``: its number in the order of replay, from 0.

    ``floor``: the largest commit-ts of the rows before it in its table or partition; what is below
    came before, and is dropped. ``content``: its bytes, where a worker can't open it.
    """

    name: str
    order: int
    size: int
    floor: int = 0
    content: bytes | None = None

    @property
    def opener(self) -> OpenFile:
        return opener_of(self.content)


class FileMark(NamedTuple):
    """What a first pass found in a data file, whose rows were taken from ``floor`` on.

    ``rows`` were taken, ``repeats`` are below the largest commit-ts before them, ``beyond`` are
    not below the checkpoint. ``smallest`` and ``largest``: of the rows below it; None without any.
    """

    name: str
    rows: int
    repeats: int
    beyond: int
    smallest: int | None
    largest: int | None


@dataclass(frozen=True, slots=True)
class Prefix:
    """What is to be read of a prefix. ``folder`` is its root; ``files`` are in the order of replay.

    ``problems``: files that can't be had, each with its path and what is wrong. ``context``: with
    the definitions of the tables' versions. ``marks``: by file, once the first pass was made.
    """

    folder: str
    files: tuple[StoredData, ...]
    problems: tuple[tuple[Place, RowProblem, TableName | None], ...]
    checkpoint: int | None
    context: Context
    layout: Layout
    marks: tuple[FileMark, ...] | None = None

    def table_of(self, file: StoredData) -> TableName | None:
        """Return the table that a file's path tells; None where an id stands for it."""
        path = self.path_of(file)
        return (path.schema, path.table) if path.schema else None

    def path_of(self, file: StoredData) -> DataPath:
        path = parse_path(file.name, self.layout)
        assert isinstance(path, DataPath)
        return path

    def files_of(self, tables: Iterable[TableName] | None) -> tuple[StoredData, ...]:
        """Return the files that may have rows of these tables; None: of all."""
        if tables is None:
            return self.files
        wanted = {None, *tables}
        return tuple(file for file in self.files if self.table_of(file) in wanted)

    def problems_of(self, tables: Iterable[TableName] | None) -> list[tuple[Place, RowProblem]]:
        """Return the problems of these tables, and those that are of no table alone."""
        wanted = None if tables is None else {None, *tables}
        return [
            (place, problem)
            for place, problem, table in self.problems
            if wanted is None or table in wanted
        ]

    @property
    def tables(self) -> frozenset[TableName]:
        """The tables that have files or problems, by their paths, read or not."""
        names = {self.table_of(file) for file in self.files}
        names.update(table for _, _, table in self.problems)
        return frozenset(name for name in names if name is not None)

    def drops_of(self, table: TableName) -> tuple[int, int]:
        """Return how many rows of a table are left out: as repeats, and beyond the checkpoint."""
        names = {file.name for file in self.files_of([table])}
        own = [mark for mark in self.marks or () if mark.name in names]
        return sum(mark.repeats for mark in own), sum(mark.beyond for mark in own)

    def with_marks(self, marks: Iterable[FileMark]) -> Prefix:
        """Return the prefix with the floor of each file, by what a first pass found."""
        found = {mark.name: mark for mark in marks}
        largest: dict[object, int] = {}
        files = []
        for file in self.files:
            stream = stream_of(self.path_of(file))
            floor = largest.get(stream, 0)
            files.append(file._replace(floor=floor))
            mark = found.get(file.name)
            if mark is not None and mark.largest is not None:
                largest[stream] = max(floor, mark.largest)
        kept = tuple(found[file.name] for file in files if file.name in found)
        return replace(self, files=tuple(files), marks=kept)


def drop_lines(prefix: Prefix, table: TableName) -> list[str]:
    """Return what replay leaves out of a table, a line each."""
    repeats, beyond = prefix.drops_of(table)
    lines = []
    if repeats:
        lines.append(f"{repeats:,} rows dropped as repeats: their commit-ts is below one before")
    if beyond:
        lines.append(f"{beyond:,} rows not read: not below the checkpoint {prefix.checkpoint}")
    return lines


def stored_settings(format_name: str, context: Context) -> StoredSettings:
    """Return the settings of a prefix. Raises: ValueError for an option.

    The compressions of this process are used where the context has none: they can't travel.
    """
    return stored_form(format_name).settings(with_compressions(context))


def read_prefix(source: Source, context: Context, store: Store | None = None) -> Prefix:
    """Return what is to be read of a prefix. Raises: SourceError for a file that can't be opened.

    What is there is listed when its checkpoint is known, as it may grow meanwhile; and again when
    an index names a file that is not there.

    Source: storage, "replay order" and "index files".
    """
    layout = stored_settings(source.format, context).layout
    store = store or LocalStore(source.folder)
    folder = store.root
    problems: list[tuple[Place, RowProblem, TableName | None]] = []
    checkpoint: int | None = None
    if METADATA_NAME in source.files:
        try:
            checkpoint = read_metadata(store.read(METADATA_NAME))
        except DecodeError as error:
            problems.append((_place(folder, METADATA_NAME), problem_of_error(error), None))
    sizes = _sizes(store)
    small = _SmallFiles.read(store, sizes, layout)
    plan = small.replay(sizes, layout, checkpoint)
    missing = (fault.path for fault in _faults_of(plan) if fault.kind == "index-missing-file")
    folders = {path.rpartition("/")[0] for path in missing}
    if folders:  # a file was put since the list was made, or expired before its index
        now = _sizes(store)
        sizes |= {name: size for name, size in now.items() if name.rpartition("/")[0] in folders}
        plan = small.still_in(now).replay(sizes, layout, checkpoint)
    read = [step.path for step in plan.steps if isinstance(step, ReadFile)]
    data = [StoredData(name, order, sizes[name]) for order, name in enumerate(read)]
    unread = _undefined(plan.faults, source.format, context, layout)
    for fault in (*_faults_of(plan), *_empty_files(data)):
        is_undefined = fault.kind == "schema-missing" and _version_of(fault.path, layout) in unread
        if is_undefined or fault.kind in _POISON:
            problem = RowProblem(None, "", fault.clause, fault.problem)
            problems.append((_place(folder, fault.path), problem, _table_of(fault, layout)))
    data = [file for file in data if _version_of(file.name, layout) not in unread]
    if is_url(folder):
        check_for_spark(folder, {file.name: file.size for file in data})
    prepared = get_format(source.format).prepared(small.schema_texts, context)
    told = told_by_queries(s.file for s in plan.steps if isinstance(s, ApplySchema))
    tables = tuple(_with_told(table, told) for table in prepared.tables)
    return Prefix(
        folder,
        tuple(data),
        tuple(problems),
        checkpoint,
        replace(prepared, tables=tables),
        layout,
    )


def _sizes(store: Store) -> dict[str, int]:
    return {each.path: each.size for each in store.list() if not is_hidden(each.path)}


@dataclass(frozen=True, slots=True)
class _SmallFiles:
    """The schema files, as bytes and read, and what index files name; where that fails, errors."""

    schema_texts: tuple[StoredFile, ...]
    schema_files: Mapping[str, SchemaFile | DecodeError]
    index_numbers: Mapping[str, int | DecodeError]

    @classmethod
    def read(cls, store: Store, names: Iterable[str], layout: Layout) -> _SmallFiles:
        texts: list[StoredFile] = []
        schema_files: dict[str, SchemaFile | DecodeError] = {}
        index_numbers: dict[str, int | DecodeError] = {}
        for name in sorted(names):
            path = _path_of(name, layout)
            if isinstance(path, SchemaPath):
                texts.append(StoredFile(name, store.read(name)))
                schema_files[name] = _read_or_error(read_schema_file, texts[-1].value)
            elif isinstance(path, IndexPath):
                read = partial(read_index, layout=layout, dispatcher=path.dispatcher)
                index_numbers[name] = _read_or_error(read, store.read(name))
        return cls(tuple(texts), schema_files, index_numbers)

    def still_in(self, names: Container[str]) -> _SmallFiles:
        """Return them without the index files that are gone."""
        numbers = {name: each for name, each in self.index_numbers.items() if name in names}
        return replace(self, index_numbers=numbers)

    def replay(self, names: Iterable[str], layout: Layout, checkpoint: int | None) -> Replay:
        listing = Listing(tuple(sorted(names)), self.schema_files, self.index_numbers)
        return replay(listing, layout, checkpoint)


def _read_or_error(read: Callable[[bytes], T], value: bytes) -> T | DecodeError:
    try:
        return read(value)
    except DecodeError as error:
        return error


def _faults_of(plan: Replay) -> Iterator[Fault]:
    """Yield a plan's faults, and the files that an index names and nobody has.

    One of them may be about to be put, by a producer that puts the index first. Nobody can tell
    that from a loss.
    """
    yield from plan.faults
    problem = "the index names the file, and it is not there: it is lost, or not put yet"
    for skip in plan.skips:
        if skip.reason == "not written yet":
            yield Fault("index-missing-file", skip.path, problem, "storage: index files")


def problem_of_error(error: DecodeError) -> RowProblem:
    """Return a decoder's error as what stands in the row."""
    return RowProblem(error.offset, path_text(error.path), error.clause, error.problem)


def _with_told(table: Table, told: Iterable[Table]) -> Table:
    if table.version is None or table.columns is None:
        return table
    return completed(table, [each for each in told if each.version == table.version])


def _undefined(
    faults: Iterable[Fault], format_name: str, context: Context, layout: Layout
) -> set[object]:
    """Return the versions of tables whose files can't be read, as nothing tells their columns.

    Those of another version would give values to columns that are not theirs. Rows that name
    their columns are read all the same.
    """
    if not get_format(format_name).needs_tables:
        return set()
    defined = {(table.schema, table.name) for table in context.tables}
    return {
        _version_of(fault.path, layout)
        for fault in faults
        if fault.kind == "schema-missing" and _table_of(fault, layout) not in defined
    }


def _version_of(name: str, layout: Layout) -> object:
    path = parse_path(name, layout)
    assert isinstance(path, DataPath)
    return path.schema, path.table, path.version


def _empty_files(data: Iterable[StoredData]) -> Iterator[Fault]:
    problem = "the file is empty: what it had is lost, or was never put"
    for file in data:
        if not file.size:
            yield Fault("empty-file", file.name, problem, "storage: index files")


def _table_of(fault: Fault, layout: Layout) -> TableName | None:
    path = _path_of(fault.path, layout)
    if isinstance(path, (DataPath, IndexPath, SchemaPath)) and path.schema and path.table:
        return path.schema, path.table
    return None


def _path_of(name: str, layout: Layout) -> StoragePath | None:
    """Return what a name says; None where it is none of the layout, which the replay tells."""
    try:
        return parse_path(name, layout)
    except DecodeError:
        return None


def _place(folder: str, name: str) -> Place:
    return Place(file=path_under(folder, name))
