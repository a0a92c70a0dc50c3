"""Checks whether a prefix keeps the rules of the layout: names, small files, numbers, rows.

Rows are read in the order of replay, one file at a time, and none is kept. Repeated rows break no
rule. To separate them from rows out of order, the tables that have either are read again. Then only
the rows of the commit-ts in question are remembered, by a digest.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from cdcwire.core.context import Context
from cdcwire.core.rows import Row, event_of
from cdcwire.files.prefix import StaleIndex, StoragePrefix, list_prefix
from cdcwire.files.prefix_events import PrefixReader, Rows, commit_ts_of
from cdcwire.files.stores import Store
from cdcwire.model.events import Event, Image, RowChange
from cdcwire.registry import get_format
from cdcwire.storage import (
    ApplySchema,
    DataPath,
    Fault,
    RowMark,
    RowRules,
    ddl_versions,
)
from cdcwire.storage.paths import METADATA_NAME
from cdcwire.storage.replay import TableKey
from cdcwire.storage.rules import StreamKey
from cdcwire.storage.schema_files import RENAME_TABLE, RENAME_TABLES, renamed_from
from cdcwire.storage.small_files import row_is_complete
from cdcwire.storage.writing import WriteOrder

OnProgress: TypeAlias = "Callable[[int, int], None]"  # files read, and files in all

NO_COMMIT_TS = (
    "rows have no commit-ts, so that neither their order nor the checkpoint could be checked"
)
NO_METADATA = (
    f"there is no file {METADATA_NAME}: nothing says up to which commit-ts the rows are complete"
)


@dataclass(slots=True)
class Checked:
    """The results of a check. ``beyond``: rows at or above the checkpoint, which are not faults."""

    checkpoint: int | None
    has_metadata: bool = True
    files: int = 0
    rows: int = 0
    repeats: int = 0
    beyond: int = 0
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check_prefix(
    store: Store,
    format_name: str,
    context: Context,
    *,
    write_order: WriteOrder = "data-first",
    atomic_tables: bool = False,
    on_progress: OnProgress | None = None,
) -> Checked:
    """Return what is wrong with a prefix, all of it.

    ``write_order``: of the producer. ``atomic_tables``: ``transaction-atomicity = "table"`` is set.
    ``on_progress`` is called as files are read.
    Raises: StoreError; OptionError.
    Source: storage, "transactions" and "replay order".
    """
    prefix = list_prefix(store, get_format(format_name), context, write_order=write_order)
    has_metadata = METADATA_NAME in prefix.listed
    found = Checked(prefix.checkpoint, has_metadata, len(prefix.listed), faults=list(prefix.faults))
    if not has_metadata:
        found.notes.append(NO_METADATA)
    if write_order == "data-first" and prefix.checkpoint is None:
        found.faults.extend(_indexes_behind(prefix))
    elif write_order == "data-first":  # rows below the checkpoint are complete all the same
        found.notes.extend(f"{each.path}: {each.problem}" for each in _stale(prefix))
    found.faults.extend(_RowCheck(store, prefix, context, atomic_tables).run(found, on_progress))
    return found


class _RowCheck:
    def __init__(
        self, store: Store, prefix: StoragePrefix, context: Context, atomic_tables: bool
    ) -> None:
        self._store = store
        self._prefix = prefix
        self._context = context
        self._atomic_tables = atomic_tables
        self._ddl_versions = _ddl_versions(prefix)

    def run(self, found: Checked, on_progress: OnProgress | None) -> list[Fault]:
        """Return the faults of data files and their rows, in the order of replay."""
        rules = self._rules(frozenset())
        files: dict[str, list[Fault]] = {}
        for name, stream, marks in self._files(files, None, found, on_progress):
            files.setdefault(name, []).extend(rules.check_file(name, stream, marks))
        if rules.suspects:
            again = self._rules(rules.suspects)
            certain: dict[str, list[Fault]] = {}
            for name, stream, marks in self._files(certain, rules.suspected, None, None):
                certain.setdefault(name, []).extend(again.check_file(name, stream, marks))
            files.update(certain)
            found.repeats = again.repeats
        faults = [fault for each in files.values() for fault in each]
        if any(fault.kind == "commit-ts-unknown" for fault in faults):
            found.notes.append(NO_COMMIT_TS)
        return [fault for fault in faults if fault.kind != "commit-ts-unknown"]

    def _rules(self, watched: Container[int]) -> RowRules:
        return RowRules(self._atomic_tables, self._ddl_versions, watched)

    def _files(
        self,
        faults: dict[str, list[Fault]],
        only: Container[StreamKey] | None,
        found: Checked | None,
        on_progress: OnProgress | None,
    ) -> Iterator[tuple[str, DataPath, Iterator[RowMark]]]:
        def report(fault: Fault) -> None:
            faults.setdefault(fault.path, []).append(fault)

        reader = PrefixReader(self._store, self._prefix, self._context, report)
        count = len(self._prefix.files)
        done = 0
        for step, rows in reader.steps(only):
            if isinstance(step, ApplySchema):
                continue
            yield step.path, step.parsed, self._marks(rows, found)
            done += 1
            if on_progress is not None:
                on_progress(done, count)

    def _marks(self, rows: Rows, found: Checked | None) -> Iterator[RowMark]:
        """Yield rows as the rules need them; only the second pass looks into them."""
        for row in rows:
            commit_ts = commit_ts_of(row)
            if found is None:
                yield RowMark(commit_ts, _content(row))
                continue
            found.rows += 1
            if commit_ts is not None and not row_is_complete(commit_ts, found.checkpoint):
                found.beyond += 1
            yield RowMark(commit_ts, b"")


def _content(row: Row | Event) -> bytes:
    """Return the content that equal rows share, without the time of sending."""
    event = event_of(row)
    assert isinstance(event, RowChange)
    parts = (event.op, event.half, _values(event.before), _values(event.after))
    return repr(parts).encode("utf-8", "surrogatepass")


def _values(image: Image | None) -> object:
    return None if image is None else image.values


def _ddl_versions(prefix: StoragePrefix) -> dict[TableKey, list[int]]:
    """Return when each table changed; a RENAME is the end of its old name."""
    applied = [step for step in prefix.steps if isinstance(step, ApplySchema)]
    versions = ddl_versions((step.parsed, step.file) for step in applied)
    for step in applied:
        if step.file.type in (RENAME_TABLE, RENAME_TABLES):
            for old in renamed_from(step.file.query, step.file.schema):
                versions.setdefault(old, []).append(step.parsed.version)
    return versions


def _indexes_behind(prefix: StoragePrefix) -> Iterator[Fault]:
    for each in _stale(prefix):
        yield Fault("index-behind", each.path, each.problem, "storage: index files")


def _stale(prefix: StoragePrefix) -> Iterator[StaleIndex]:
    """Yield the indexes that name neither the last file nor the one before it.

    The index is put after each data file, and a failed put ends the writer.
    Source: storage, "write order".
    """
    return (each for each in prefix.stale if each.number + 1 < each.last)
