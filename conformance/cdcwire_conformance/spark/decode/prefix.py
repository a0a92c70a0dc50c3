"""What the driver plans to read of a storage prefix, in the order of replay.

Only names, schema files, index files and ``metadata`` are read here. Data files are read by
workers, each whole by one of them; what the driver keeps of one is its name, and what a first pass
found out of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from cdcwire.core.errors import DecodeError, path_text
from cdcwire.core.format import Context, TableName
from cdcwire.model.events import Table
from cdcwire.storage.feeds import completed
from cdcwire.storage.form import StoredSettings
from cdcwire.storage.paths import (
    DataPath,
    IndexPath,
    PathLayout,
    SchemaPath,
    parse_path,
)
from cdcwire.storage.replay import ApplySchema
from cdcwire.storage.rules import Fault, stream_of
from cdcwire_conformance.arrow.batches import MessagePlace, RowProblem
from cdcwire_conformance.compressions import with_compressions
from cdcwire_conformance.sources.hadoop import check_for_spark
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.sources.storage.forms import stored_form
from cdcwire_conformance.sources.storage.prefix import list_prefix
from cdcwire_conformance.sources.stores import (
    LocalStore,
    OpenFile,
    Store,
    is_url,
    opener_of,
    path_under,
)
from cdcwire_conformance.spark.decode.query_labels import told_by_queries


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
        """The function that opens the file."""
        return opener_of(self.content)


class FileCounts(NamedTuple):
    """The rows that a first pass found in a data file, whose rows were taken from ``floor`` on.

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
class PrefixPlan:
    """What is to be read of a prefix. ``folder`` is its root; ``files`` are in the order of replay.

    ``problems``: files that can't be had, each with its path and what is wrong. ``context``: with
    the definitions of the tables' versions. ``counts``: by file, after the first pass.
    """

    folder: str
    files: tuple[StoredData, ...]
    problems: tuple[tuple[MessagePlace, RowProblem, TableName | None], ...]
    checkpoint: int | None
    context: Context
    layout: PathLayout
    counts: tuple[FileCounts, ...] | None = None

    def table_of(self, file: StoredData) -> TableName | None:
        """Return the table that a file's path names; None where it has an id."""
        path = self.path_of(file)
        return (path.schema, path.table) if path.schema else None

    def path_of(self, file: StoredData) -> DataPath:
        """Return the parsed path of a data file."""
        path = parse_path(file.name, self.layout)
        assert isinstance(path, DataPath)
        return path

    def files_of(self, tables: Iterable[TableName] | None) -> tuple[StoredData, ...]:
        """Return the files that may have rows of these tables; None: of all."""
        if tables is None:
            return self.files
        wanted = {None, *tables}
        return tuple(file for file in self.files if self.table_of(file) in wanted)

    def problems_of(
        self, tables: Iterable[TableName] | None
    ) -> list[tuple[MessagePlace, RowProblem]]:
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
        own = [mark for mark in self.counts or () if mark.name in names]
        return sum(mark.repeats for mark in own), sum(mark.beyond for mark in own)

    def with_counts(self, counts: Iterable[FileCounts]) -> PrefixPlan:
        """Return the prefix with the floor of each file, by what a first pass found."""
        found = {mark.name: mark for mark in counts}
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
        return replace(self, files=tuple(files), counts=kept)


def drop_lines(prefix: PrefixPlan, table: TableName) -> list[str]:
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


def read_prefix(source: Source, context: Context, store: Store | None = None) -> PrefixPlan:
    """Return what is to be read of a prefix. Raises: SourceError; StoreError."""
    store = store or LocalStore(source.folder)
    folder = store.root
    found = list_prefix(
        store, source.format, with_compressions(context), write_order=None, with_hidden=False
    )
    layout = found.settings.layout
    data = [StoredData(file.path, order, file.size) for order, file in enumerate(found.files)]
    problems = tuple(
        (
            MessagePlace(file=path_under(folder, fault.path)),
            RowProblem(fault.offset, path_text(fault.steps), fault.clause, fault.problem),
            _table_of(fault.path, layout),
        )
        for fault in (*found.blocking_faults, *_empty_files(data))
    )
    data = [file for file in data if not found.is_undefined(file.name)]
    if is_url(folder):
        check_for_spark(folder, {file.name: file.size for file in data})
    known = {(table.schema, table.name, table.version) for table in context.tables}
    own = (t for t in found.tables if (t.schema, t.name, t.version) not in known)
    told = told_by_queries(step.file for step in found.steps if isinstance(step, ApplySchema))
    tables = tuple(_with_labels(table, told) for table in (*context.tables, *own))
    return PrefixPlan(
        folder,
        tuple(data),
        problems,
        found.checkpoint,
        replace(context, tables=tables),
        layout,
    )


def problem_of_error(error: DecodeError) -> RowProblem:
    """Return a decoder's error as the problem of a row."""
    return RowProblem(error.offset, path_text(error.path), error.clause, error.problem)


def _with_labels(table: Table, told: Iterable[Table]) -> Table:
    if table.version is None or table.columns is None:
        return table
    return completed(table, [each for each in told if each.version == table.version])


def _empty_files(data: Iterable[StoredData]) -> Iterator[Fault]:
    problem = "the file is empty: what it had is lost, or was never put"
    for file in data:
        if not file.size:
            yield Fault("empty-file", file.name, problem, "storage: index files")


def _table_of(name: str, layout: PathLayout) -> TableName | None:
    try:
        path = parse_path(name, layout)
    except DecodeError:
        return None
    if isinstance(path, (DataPath, IndexPath, SchemaPath)) and path.schema and path.table:
        return path.schema, path.table
    return None
