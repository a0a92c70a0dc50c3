"""The driver's plan for reading a storage prefix, in the order of replay.

The driver reads names, schema files, index files and ``metadata``. Workers read the data files,
each whole by one of them. A first pass counts their rows: no column is decoded, and one small
record per file comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from cdcwire.arrow.batches import MessagePlace, RowProblem
from cdcwire.compressions import with_compressions
from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.files.prefix import PrefixFile, StaleIndex, list_prefix
from cdcwire.files.stores import Store, check_for_spark, is_url, path_under
from cdcwire.format import Format
from cdcwire.model.events import Position, Table, TableName, path_text
from cdcwire.storage.feeds import completed
from cdcwire.storage.form import StoredSettings
from cdcwire.storage.paths import DataPath, IndexPath, PathLayout, SchemaPath, parse_path
from cdcwire.storage.replay import ApplySchema
from cdcwire.storage.rules import Fault, stream_of
from cdcwire.storage.schema_files import change_of
from cdcwire.storage.sent_columns import with_sent_columns
from cdcwire_conformance.decode.other_events import DdlEvent, PlacedStatement
from cdcwire_conformance.decode.reading import OnError
from cdcwire_conformance.decode.stored_rows import FileCounts, StoredData, count_files
from cdcwire_conformance.decode.workers import Workers, work_of_files
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.sources.storage.query_labels import tables_of_queries


@dataclass(frozen=True, slots=True)
class PrefixPlan:
    """The files to read from a prefix.

    ``folder`` is its root; ``files`` are in the order of replay. ``problems``: unreadable files,
    each with its path and the problem. ``context``: with the definitions of the tables' versions.
    ``counts``: by file, after the first pass. ``ddl``: the statements of schema files, and
    ``statements`` with their places among the files. ``stale``: the indexes that name an older file
    than the last one.
    """

    folder: str
    files: tuple[StoredData, ...]
    problems: tuple[tuple[MessagePlace, RowProblem, TableName | None], ...]
    checkpoint: int | None
    context: Context
    settings: StoredSettings
    counts: tuple[FileCounts, ...] | None = None
    ddl: tuple[DdlEvent, ...] = ()
    stale: tuple[StaleIndex, ...] = ()
    statements: tuple[PlacedStatement, ...] = ()

    def files_of(self, tables: Iterable[TableName] | None) -> tuple[StoredData, ...]:
        """Return the files that may have rows of these tables; None: of all."""
        if tables is None:
            return self.files
        wanted = {None, *tables}
        return tuple(file for file in self.files if _table_of(file.path) in wanted)

    def problems_of(
        self, tables: Iterable[TableName] | None
    ) -> list[tuple[MessagePlace, RowProblem]]:
        """Return the problems of these tables, and those that concern no table alone."""
        wanted = None if tables is None else {None, *tables}
        return [
            (place, problem)
            for place, problem, table in self.problems
            if wanted is None or table in wanted
        ]

    @property
    def tables(self) -> frozenset[TableName]:
        """The tables that have files or problems, by their paths, read or not."""
        names = {_table_of(file.path) for file in self.files}
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
            stream = stream_of(file.path)
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


def read_prefix(source: Source, context: Context, store: Store) -> PrefixPlan:
    """Return what is to be read of a prefix. Raises: SourceError; StoreError."""
    folder = store.root
    found = list_prefix(store, source.format, with_compressions(context), write_order=None)
    layout = found.settings.layout
    listed = enumerate(found.files)
    data = [StoredData(file.path, file.parsed, order, file.size) for order, file in listed]
    problems = tuple(
        (
            MessagePlace(file=path_under(folder, fault.path)),
            RowProblem(fault.offset, path_text(fault.steps), fault.clause, fault.problem),
            _table_named(fault.path, layout),
        )
        for fault in (*found.blocking_faults, *_empty_files(data))
    )
    data = [file for file in data if not found.is_undefined(file.name)]
    if is_url(folder):
        check_for_spark(folder, {file.name: file.size for file in data})
    known = {(table.schema, table.name, table.version) for table in context.tables}
    own = (t for t in found.tables if (t.schema, t.name, t.version) not in known)
    applied = [step for step in found.steps if isinstance(step, ApplySchema)]
    labelled = tables_of_queries(step.file for step in applied)
    selectors = found.settings.selectors
    given = (with_sent_columns(table, selectors) for table in context.tables)
    tables = tuple(_with_labels(table, labelled) for table in (*given, *own))
    context = replace(context, tables=tables)
    ddl = tuple(_ddl_event(step) for step in applied if step.file.query)
    plan = PrefixPlan(folder, tuple(data), problems, found.checkpoint, context, found.settings)
    statements = tuple(_statements(folder, found.steps))
    return replace(plan, ddl=ddl, stale=found.stale, statements=statements)


def _ddl_event(step: ApplySchema) -> DdlEvent:
    file = step.file
    name = ".".join(part for part in (file.schema, file.table) if part)
    return DdlEvent(Position(commit_ts=step.parsed.version), name, file.query)


def _statements(
    folder: str, steps: Iterable[ApplySchema | PrefixFile]
) -> Iterator[PlacedStatement]:
    """Yield the schema changes of a prefix, each with the number of files that replay reads before.

    A file that only describes its table has none.
    """
    before = 0
    for step in steps:
        if not isinstance(step, ApplySchema):
            before += 1
        elif (change := change_of(step.file)) is not None:
            place = MessagePlace(partition=before, file=path_under(folder, step.path))
            yield PlacedStatement.of(change, place)


def counted(
    workers: Workers,
    format_: Format,
    prefix: PrefixPlan,
    tables: frozenset[TableName] | None,
    on_error: OnError,
) -> PrefixPlan:
    """Return the prefix with the floors of its files, and what they hold from there on.

    Raises: FeedError at what can't be read, if errors are to stop.
    """
    found = {each.name: each for each in _counts(workers, format_, prefix, tables, on_error)}
    prefix = prefix.with_counts(found.values())
    # Where a file begins before its floor, its rows are counted again, from there.
    late = [
        file
        for file in prefix.files_of(tables)
        if (smallest := found[file.name].smallest) is not None and smallest < file.floor
    ]
    if late:
        again = replace(prefix, files=tuple(late))
        for each in _counts(workers, format_, again, tables, on_error):
            found[each.name] = each._replace(largest=found[each.name].largest)
        prefix = prefix.with_counts(found.values())
    return prefix


def _counts(
    workers: Workers,
    format_: Format,
    prefix: PrefixPlan,
    tables: frozenset[TableName] | None,
    on_error: OnError,
) -> list[FileCounts]:
    context = replace(prefix.context, selection=Selection(tables, frozenset()))
    work = work_of_files(prefix.folder, prefix.files_of(tables), workers.count)
    count = partial(count_files, format_, context, on_error, prefix.folder, prefix.checkpoint)
    return workers.found(work, partial(_counted_in, count))


def _counted_in(
    count: Callable[[Sequence[StoredData]], Iterable[FileCounts]],
    number: int,
    files: Sequence[StoredData],
) -> list[FileCounts]:
    return list(count(files))


def _with_labels(table: Table, labelled: Iterable[Table]) -> Table:
    if table.version is None or table.columns is None:
        return table
    return completed(table, [each for each in labelled if each.version == table.version])


def _empty_files(data: Iterable[StoredData]) -> Iterator[Fault]:
    problem = "the file is empty: what it had is lost, or was never put"
    for file in data:
        if not file.size:
            yield Fault("empty-file", file.name, problem, "storage: index files")


def _table_of(path: DataPath) -> TableName | None:
    """Return the table that a file's path names; None where it has an id."""
    return (path.schema, path.table) if path.schema else None


def _table_named(name: str, layout: PathLayout) -> TableName | None:
    try:
        path = parse_path(name, layout)
    except DecodeError:
        return None
    if isinstance(path, (DataPath, IndexPath, SchemaPath)) and path.schema and path.table:
        return path.schema, path.table
    return None
