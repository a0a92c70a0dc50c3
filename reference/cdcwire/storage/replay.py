"""The order in which a prefix is replayed, as a pure function over what is listed in it.

Order holds within a table, not between tables: all rows of one version come before the DDL of the
next, whatever their commit-ts. Delivery is at least once. A table stops at a hole, a file that is
half written, or a schema file that is not what its name says. The later files of that table are
held back; other tables go on.

A replay is repeated as the prefix grows: ``ReplayState`` says what was given out before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Literal, TypeAlias

from cdcwire.core.errors import DecodeError
from cdcwire.storage import paths
from cdcwire.storage.rules import (
    DirectoryKey,
    Fault,
    StreamKey,
    check_names,
    check_schema_file,
    check_versions,
    directory_of,
    is_stray,
    stream_of,
    table_of_schema_path,
)
from cdcwire.storage.schema_files import RENAME_TABLE, RENAME_TABLES, renamed_from
from cdcwire.storage.schema_text import SchemaFile
from cdcwire.storage.small_files import row_is_complete, schema_is_complete

CLAUSE = "storage: replay order"

TableKey: TypeAlias = "tuple[str, str]"


class SkipReason(Enum):
    """Why a replay leaves a file out, with the words for people."""

    BEYOND_CHECKPOINT = "beyond the checkpoint"
    BEYOND_INDEX = "beyond the index"
    NOT_WRITTEN = "not written yet"
    HELD_BACK = "held back"
    OLDER_THAN_DDL = "older than the newest DDL"
    STRAY = "a stray file"


_STOPPING = frozenset({"schema-unreadable", "schema-hash", "schema-version", "schema-names"})


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in a prefix. Paths are relative to it.

    ``names``: every file. ``schema_files``: each one parsed, or the error that it gave.
    ``index_numbers``: what each index file names, or its error; None if none was read. ``cut_off``:
    the data files whose end is missing.
    """

    names: Collection[str]
    schema_files: Mapping[str, SchemaFile | DecodeError]
    index_numbers: Mapping[str, int | DecodeError] | None = None
    cut_off: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class ApplySchema:
    """Take this schema for its version, and run its query if there is one."""

    path: str
    parsed: paths.SchemaPath
    file: SchemaFile

    @property
    def query(self) -> str | None:
        """The DDL to run; None where the file only describes the table."""
        return self.file.query or None


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Apply the rows of this file, each through a ``RowGate``."""

    path: str
    parsed: paths.DataPath


Step: TypeAlias = "ApplySchema | ReadFile"


@dataclass(frozen=True, slots=True)
class Skip:
    """A file that this replay leaves out, and why. It is not a fault."""

    path: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class ReplayState:
    """The progress of earlier replays of the same prefix.

    ``read``: the largest file number by directory. ``applied``: paths of schema files. ``ddl``: the
    version of each table's newest DDL, or of the RENAME that ended a name.
    """

    read: Mapping[DirectoryKey, int] = field(default_factory=dict)
    applied: frozenset[str] = frozenset()
    ddl: Mapping[TableKey, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replay:
    """Steps in order, what is left out, what is wrong, and the state for the next replay."""

    steps: tuple[Step, ...]
    skips: tuple[Skip, ...]
    faults: tuple[Fault, ...]
    state: ReplayState


_START = ReplayState()


def replay(
    listing: Listing,
    layout: paths.PathLayout,
    checkpoint: int | None = None,
    *,
    newer: bool = False,
    state: ReplayState = _START,
) -> Replay:
    """Return the order of replay.

    ``checkpoint``: of ``metadata``; None for no limit. ``newer``: the rules of the newer producer's
    consumer. It reads up to the number in each index, and skips files older than a table's newest
    DDL.
    Source: storage, "replay order".
    """
    parsed, faults = check_names(dict.fromkeys(listing.names, None), layout)
    run = _Run(listing, layout, checkpoint, newer, parsed, state)
    run.faults.extend(faults)
    run.faults.extend(check_versions(parsed, run.schema_files))
    for _, name, path in sorted(run.entries(), key=lambda entry: entry[:2]):
        if isinstance(path, paths.SchemaPath):
            run.schema(name, path)
        else:
            run.directory(path, run.directories[directory_of(path)])
    run.lone_indexes()
    unparsed = sorted(set(listing.names).difference(parsed))
    strays = (Skip(name, SkipReason.STRAY) for name in unparsed if is_stray(name))
    return Replay(
        tuple(run.steps),
        (*strays, *run.skips),
        tuple(run.faults),
        replace(state, read=run.read, applied=frozenset(run.applied), ddl=run.ddl),
    )


_Key: TypeAlias = "tuple[int, int, str, str, str, str]"


class _Run:
    def __init__(
        self,
        listing: Listing,
        layout: paths.PathLayout,
        checkpoint: int | None,
        newer: bool,
        parsed: Mapping[str, paths.StoragePath],
        state: ReplayState,
    ) -> None:
        self.listing = listing
        self.layout = layout
        self.checkpoint = checkpoint
        self.newer = newer
        self.parsed = parsed
        self.steps: list[Step] = []
        self.skips: list[Skip] = []
        self.faults: list[Fault] = []
        self.read = dict(state.read)
        self.applied = set(state.applied)
        self.ddl = dict(state.ddl)
        self.held: set[TableKey | StreamKey] = set()
        self.held_versions: dict[TableKey, int] = {}
        self.directories: dict[DirectoryKey, dict[int, str]] = {}  # files by number
        self.schema_files = {
            name: file
            for name, file in listing.schema_files.items()
            if isinstance(file, SchemaFile)
        }

    def entries(self) -> Iterator[tuple[_Key, str, paths.SchemaPath | paths.DataPath]]:
        """Yield schema files, and each directory once by one of its files, with their places."""
        for name, path in self.parsed.items():
            if isinstance(path, paths.SchemaPath):
                schema, table = table_of_schema_path(path, self.schema_files.get(name))
                yield (path.version, -1, "", schema, table, ""), name, path
            elif isinstance(path, paths.DataPath):
                key = directory_of(path)
                if key not in self.directories:
                    self.directories[key] = {}
                    partition = path.partition or 0
                    owner = path.dispatcher or ""
                    place = (path.version, partition, path.date, path.schema, path.table, owner)
                    yield place, name, path
                self.directories[key][path.number] = name

    def schema(self, name: str, path: paths.SchemaPath) -> None:
        if name in self.applied:
            return
        if not schema_is_complete(path.version, self.checkpoint):
            self.skips.append(Skip(name, SkipReason.BEYOND_CHECKPOINT))
            return
        file = self.listing.schema_files.get(name)
        if not isinstance(file, SchemaFile):
            problem = "the file was not read" if file is None else str(file)
            clause = CLAUSE if file is None else file.clause
            self.faults.append(Fault("schema-unreadable", name, problem, clause))
            self.hold((path.schema, path.table or ""), path.version)
            return
        key = table_of_schema_path(path, file)
        if self.is_held(key, path.version):
            self.skips.append(Skip(name, SkipReason.HELD_BACK))
            return
        if self.newer and path.version < self.ddl.get(key, 0):
            self.skips.append(Skip(name, SkipReason.OLDER_THAN_DDL))
            return
        faults = list(check_schema_file(name, path, file))
        self.faults.extend(faults)
        if any(fault.kind in _STOPPING for fault in faults):
            self.hold(key, path.version)
            return
        self.steps.append(ApplySchema(name, path, file))
        self.applied.add(name)
        if file.query:
            self.ddl[key] = max(self.ddl.get(key, 0), path.version)
            if file.type in (RENAME_TABLE, RENAME_TABLES):
                for old in renamed_from(file.query, file.schema):
                    if old != key:
                        self.ddl[old] = max(self.ddl.get(old, 0), path.version)

    def directory(self, first: paths.DataPath, files: Mapping[int, str]) -> None:
        table = (first.schema, first.table)
        reason = self.skipped_whole(first, table)
        if reason is not None:
            self.skips.extend(Skip(files[number], reason) for number in sorted(files))
            return
        last = self.last_number(first, files)
        seen = self.read.get(directory_of(first), 0)
        for number in range(seen + 1, last + 1):
            found = files.get(number)
            if found is None:
                missing = paths.path_text(replace(first, number=number), self.layout)
                problem = f"file {number} is missing, but {last} exists"
                self.stop(Fault("hole", missing, problem, CLAUSE), first)
            elif found in self.listing.cut_off:
                problem = "the end of the file is missing"
                self.stop(Fault("half-written", found, problem, CLAUSE), first)
            else:
                path = self.parsed[found]
                assert isinstance(path, paths.DataPath)
                self.steps.append(ReadFile(found, path))
                self.read[directory_of(first)] = number
                continue
            later = (files[n] for n in sorted(files) if number < n <= last)
            self.skips.extend(Skip(name, SkipReason.HELD_BACK) for name in later)
            return

    def lone_indexes(self) -> None:
        """Look at the index files of directories without any file of rows."""
        for path in self.parsed.values():
            if isinstance(path, paths.IndexPath) and directory_of(path) not in self.directories:
                key = directory_of(path)
                first = paths.DataPath(*key[:5], 1, path.dispatcher)
                if self.skipped_whole(first, (path.schema, path.table)) is None:
                    self.last_number(first, {})

    def skipped_whole(self, path: paths.DataPath, table: TableKey) -> SkipReason | None:
        if self.checkpoint is not None and path.version > self.checkpoint:
            return SkipReason.BEYOND_CHECKPOINT
        if self.is_held(table, path.version) or stream_of(path) in self.held:
            return SkipReason.HELD_BACK
        if self.newer and path.version < self.ddl.get(table, 0):
            return SkipReason.OLDER_THAN_DDL
        return None

    def last_number(self, first: paths.DataPath, files: Mapping[int, str]) -> int:
        """Return the largest number to read, and report how the index and the files agree."""
        # What was read before may be gone since: files expire.
        largest = max(max(files, default=0), self.read.get(directory_of(first), 0))
        if self.listing.index_numbers is None:
            return largest
        index = paths.IndexPath(*directory_of(first))
        name = paths.path_text(index, self.layout)
        clause = "storage: index files"
        number = self.listing.index_numbers.get(name)
        if not isinstance(number, int):
            kind: Literal["index-missing", "index-unreadable"] = "index-missing"
            problem = "there is no index file"
            if number is not None:
                kind, problem, clause = "index-unreadable", str(number), number.clause
            self.faults.append(Fault(kind, name, problem, clause))
            number = 0 if self.newer else largest
        elif number > largest:
            missing = paths.path_text(replace(first, number=number), self.layout)
            problem = f"the index names file {number}, and {largest} is the last one there"
            fault = Fault("index-missing-file", missing, problem, clause)
            if self.newer:
                self.stop(fault, first)
            elif number > largest + 1:
                self.faults.append(fault)
            else:
                self.skips.append(Skip(missing, SkipReason.NOT_WRITTEN))
        elif number < largest and not self.newer:
            problem = f"the index names file {number}, but {largest} exists"
            self.faults.append(Fault("index-behind", name, problem, clause))
        if not self.newer:
            return largest
        beyond = (files[n] for n in sorted(files) if n > number)
        self.skips.extend(Skip(name, SkipReason.BEYOND_INDEX) for name in beyond)
        return min(number, largest)

    def stop(self, fault: Fault, path: paths.DataPath) -> None:
        """Hold back the rest of this stream, and all later versions of its table."""
        self.faults.append(fault)
        self.skips.append(Skip(fault.path, SkipReason.HELD_BACK))
        self.held.add(stream_of(path))
        self.hold((path.schema, path.table), path.version + 1)

    def hold(self, table: TableKey, version: int) -> None:
        self.held_versions[table] = min(version, self.held_versions.get(table, version))

    def is_held(self, table: TableKey, version: int) -> bool:
        return version >= self.held_versions.get(table, version + 1)


RowVerdict: TypeAlias = Literal["take", "repeat", "beyond the checkpoint"]


@dataclass(slots=True)
class StreamGate:
    """Decides which rows of one stream are applied: a row below the largest commit-ts is a repeat.

    A stream is a table, or one of its partitions; each dispatcher that writes one has its own.
    ``largest`` may begin above 0, at that of the files before. ``smallest``: of the rows below the
    checkpoint. ``taken``, ``repeats`` and ``beyond`` count. Rows without a commit-ts are all taken:
    nothing identifies a repeat.
    """

    checkpoint: int | None = None
    largest: int = 0
    taken: int = 0
    repeats: int = 0
    beyond: int = 0
    smallest: int | None = None

    def judge(self, commit_ts: int | None) -> RowVerdict:
        """Return whether a row is applied, and count it. Source: storage, "replay order"."""
        if commit_ts is None:
            self.taken += 1
            return "take"
        if not row_is_complete(commit_ts, self.checkpoint):
            self.beyond += 1
            return "beyond the checkpoint"
        if self.smallest is None or commit_ts < self.smallest:
            self.smallest = commit_ts
        if commit_ts < self.largest:
            self.repeats += 1
            return "repeat"
        self.largest = commit_ts
        self.taken += 1
        return "take"


@dataclass(slots=True)
class RowGate:
    """Decides which rows of a replay are applied, each by the ``StreamGate`` of its file.

    Some ``repeats`` may not be repeats, where dates or dispatchers are not in the order of writing:
    show the count.
    """

    checkpoint: int | None = None
    streams: dict[StreamKey, StreamGate] = field(default_factory=dict)

    def judge(self, path: paths.DataPath, commit_ts: int | None) -> RowVerdict:
        """Return whether a row of a file is applied, and count it."""
        return self.of(path).judge(commit_ts)

    def of(self, path: paths.DataPath) -> StreamGate:
        """Return the gate of a file's rows."""
        key = stream_of(path)
        found = self.streams.get(key)
        if found is None:
            self.streams[key] = found = StreamGate(self.checkpoint)
        return found

    @property
    def taken(self) -> int:
        """The number of rows that are applied."""
        return sum(stream.taken for stream in self.streams.values())

    @property
    def repeats(self) -> int:
        """The number of rows that came before."""
        return sum(stream.repeats for stream in self.streams.values())

    @property
    def beyond(self) -> int:
        """The number of rows that are not below the checkpoint."""
        return sum(stream.beyond for stream in self.streams.values())


def ddl_versions(files: Iterable[tuple[paths.SchemaPath, SchemaFile]]) -> dict[TableKey, list[int]]:
    """Return the versions of each table's DDL, as ``RowRules`` needs them."""
    versions: dict[TableKey, list[int]] = {}
    for path, file in files:
        if file.query and file.table:
            versions.setdefault(table_of_schema_path(path, file), []).append(path.version)
    return versions
