"""The faults that a prefix can have, found over names, sizes, parsed files and rows.

Each function looks at one rule or a few that belong together and yields a ``Fault`` for each
break. Nothing is read here: the caller lists, reads and decodes.

Rows may repeat, since delivery is at least once; a repeat breaks no rule. A row is known as a
repeat if it was seen before with the same commit-ts in the same table. So rows are kept by a
digest: all of them, or in a second pass only some. These are the rows of the commit-ts that the
first pass found out of order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from cdcwire.core.errors import DecodeError
from cdcwire.model.events import Path
from cdcwire.model.events import path_text as path_steps_text
from cdcwire.storage import paths
from cdcwire.storage.schema_text import SchemaFile, check_checksum, shipped_checksum
from cdcwire.storage.writing import WriteOrder

FaultKind: TypeAlias = Literal[
    "unknown-file",
    "number-width",
    "number-twice",
    "empty-file",
    "schema-unreadable",
    "schema-missing",
    "schema-hash",
    "schema-hash-not-checkable",
    "schema-hash-shipped",
    "schema-version",
    "schema-names",
    "index-unreadable",
    "index-missing",
    "index-missing-file",
    "index-behind",
    "hole",
    "half-written",
    "commit-ts-falls",
    "commit-ts-unknown",
    "transaction-split",
    "row-before-version",
    "row-after-ddl",
    "put-order",
    "put-twice",
    "checkpoint-regress",
    "metadata-unreadable",
    "data-unreadable",
    "row-of-another-table",
    "overwritten",
]


@dataclass(frozen=True, slots=True)
class Fault:
    """One break of a rule: which kind, in which file, and the clause.

    ``offset`` and ``steps``: the byte in the file and the way to the value, where they are known.
    """

    kind: FaultKind
    path: str
    problem: str
    clause: str
    offset: int | None = None
    steps: Path = ()

    def __str__(self) -> str:
        if self.offset is None:
            return f"{self.path}: {self.problem} ({self.clause})"
        where = f"in {path_steps_text(self.steps)}; " if self.steps else ""
        return f"{self.path}: byte {self.offset}: {self.problem} ({where}{self.clause})"


DirectoryKey: TypeAlias = "tuple[str, str, int, int | None, str, str | None]"
StreamKey: TypeAlias = "tuple[str, str, int | None, str | None]"


def directory_of(path: paths.DataPath | paths.IndexPath) -> DirectoryKey:
    """Return what files share that are counted together: a directory, and its dispatcher."""
    return path.schema, path.table, path.version, path.partition, path.date, path.dispatcher


def stream_of(path: paths.DataPath) -> StreamKey:
    """Return what rows share that come in order: a table, its partition, and the dispatcher."""
    return path.schema, path.table, path.partition, path.dispatcher


def table_of_schema_path(path: paths.SchemaPath, file: SchemaFile | None) -> tuple[str, str]:
    """Return the names that the data files of a schema file's table have in their paths.

    Where table ids are paths, a table's schema file looks like a database's.
    """
    if path.table is None and file is not None and file.table:
        return "", path.schema
    return path.schema, path.table or ""


def is_stray(name: str) -> bool:
    """Return whether a file that has no place in the layout is one of other programs.

    Its name begins with a dot or an underscore: ``.DS_Store``, ``_SUCCESS``.
    Source: storage, "names".
    """
    last = name.rpartition("/")[2]
    return last.startswith((".", "_")) and last not in (".", "..")


def check_names(
    sizes: Mapping[str, int | None], layout: paths.PathLayout
) -> tuple[dict[str, paths.StoragePath], list[Fault]]:
    """Return what the listed paths say, and what is wrong with them. Sizes may be unknown.

    Source: storage, "names", "file numbers".
    """
    parsed: dict[str, paths.StoragePath] = {}
    faults: list[Fault] = []
    numbers: dict[tuple[DirectoryKey, int], str] = {}
    for name in sorted(sizes):
        try:
            path = paths.parse_path(name, layout)
        except DecodeError as error:
            if not is_stray(name):
                faults.append(Fault("unknown-file", name, error.problem, error.clause))
            continue
        if isinstance(path, paths.DataPath):
            first = numbers.setdefault((directory_of(path), path.number), name)
            if first != name:
                problem = f"the number {path.number} is that of {first!r:.200} too"
                faults.append(Fault("number-twice", name, problem, "storage: file numbers"))
                continue
            if paths.path_text(path, layout) != name:
                problem = f"the number has other than {layout.width} digits"
                faults.append(Fault("number-width", name, problem, "storage: file numbers"))
            if sizes[name] == 0:
                problem = "the file is empty: its number will be used again"
                faults.append(Fault("empty-file", name, problem, "storage: index files"))
        parsed[name] = path
    return parsed, faults


def check_schema_file(name: str, path: paths.SchemaPath, file: SchemaFile) -> Iterator[Fault]:
    """Compare a schema file with its own path.

    Source: storage, "schema hash", "replay order".
    """
    state = check_checksum(file, path.checksum)
    clause = "storage: schema hash"
    if state == "differs":
        problem = f"the hash is {file.checksum_as_read or 0:010d}, not {path.checksum:010d}"
        yield Fault("schema-hash", name, problem, clause)
    elif state == "not checkable":
        problem = f"the hash can't be checked: the file has {', '.join(file.tolerated)[:200]}"
        yield Fault("schema-hash-not-checkable", name, problem, clause)
    elif shipped_checksum(file) != path.checksum:
        problem = f"tiflow's consumer finds the hash {shipped_checksum(file):010d}, and stops"
        yield Fault("schema-hash-shipped", name, problem, clause)
    if file.table_version != path.version:
        problem = f"TableVersion is {file.table_version}, the name has {path.version}"
        yield Fault("schema-version", name, problem, "storage: schema files")
    is_id = path.table is None and bool(file.table)
    if not is_id and (file.schema, file.table) != (path.schema, path.table or ""):
        problem = f"the file belongs to {file.schema!r:.80}.{file.table!r:.80}"
        yield Fault("schema-names", name, problem, "storage: schema files")
    if is_id and not path.schema.isdecimal():
        problem = f"a table's schema file in the directory of the database {path.schema!r:.80}"
        yield Fault("schema-names", name, problem, "storage: schema files")


def check_versions(
    parsed: Mapping[str, paths.StoragePath], files: Mapping[str, SchemaFile]
) -> Iterator[Fault]:
    """Find data directories without the schema file of their version.

    Source: storage, "versions".
    """
    known: set[tuple[tuple[str, str], int]] = set()
    for name, path in parsed.items():
        if isinstance(path, paths.SchemaPath):
            known.add((table_of_schema_path(path, files.get(name)), path.version))
    reported: set[tuple[tuple[str, str], int]] = set()
    for name, path in sorted(parsed.items()):
        if isinstance(path, paths.DataPath):
            key = ((path.schema, path.table), path.version)
            if key not in known and key not in reported:
                reported.add(key)
                problem = f"there is no schema file of version {path.version}"
                yield Fault("schema-missing", name, problem, "storage: versions")


class RowMark(NamedTuple):
    """A row as the rules need it. ``content``: anything that two equal rows have alike."""

    commit_ts: int | None
    content: bytes


@dataclass(slots=True)
class _Stream:
    largest: int = -1
    largest_in: str = ""  # the first file with it
    file_by_commit_ts: dict[int, str] = field(default_factory=dict)
    digests: set[bytes] = field(default_factory=set)


@dataclass(slots=True)
class RowRules:
    """The rules of transactions, over the rows of all files in the order of replay.

    ``atomic_tables``: ``transaction-atomicity = "table"`` was set. ``ddl_versions``: by schema and
    table, the versions of its DDL (those of schema files with a query). ``repeats`` counts rows
    that came before, as far as they are remembered.

    ``watched``: the commit-ts whose rows are remembered, to know repeats; None: all, and memory
    grows with the rows by 16 bytes of digest each. To check any amount, let a first pass watch
    nothing. It takes no row for a repeat, and ``suspects`` has the commit-ts of those that may be
    one. Then run a second scan over the streams in ``suspected`` that watches them: it knows for
    certain.
    """

    atomic_tables: bool = False
    ddl_versions: Mapping[tuple[str, str], Iterable[int]] = field(default_factory=dict)
    watched: Container[int] | None = None
    repeats: int = 0
    suspects: set[int] = field(default_factory=set)
    suspected: set[StreamKey] = field(default_factory=set)
    _streams: dict[StreamKey, _Stream] = field(default_factory=dict)

    def check_file(
        self, name: str, path: paths.DataPath, rows: Iterable[RowMark]
    ) -> Iterator[Fault]:
        """Look at the rows of one file. Each kind is reported once per file, at its first row.

        Source: storage, "transactions".
        """
        stream = self._streams.setdefault(stream_of(path), _Stream())
        later = [
            version
            for version in self.ddl_versions.get((path.schema, path.table), ())
            if version > path.version
        ]
        next_ddl = min(later) if later else None
        reported: set[FaultKind] = set()
        limit = next_ddl if next_ddl is not None else 1 << 64
        watched, largest = self.watched, -1  # of this file
        for index, row in enumerate(rows):
            commit_ts = row.commit_ts
            if watched is not None and commit_ts is not None and commit_ts not in watched:
                if commit_ts == largest == stream.largest:
                    continue  # of the same transaction as the row before
                if stream.largest < commit_ts < limit and commit_ts >= path.version:
                    stream.largest, stream.largest_in = commit_ts, name
                    largest = commit_ts
                    continue
            for fault in self._row(stream, name, path, next_ddl, index, row):
                if fault.kind not in reported:
                    reported.add(fault.kind)
                    yield fault

    def _row(
        self,
        stream: _Stream,
        name: str,
        path: paths.DataPath,
        next_ddl: int | None,
        index: int,
        row: RowMark,
    ) -> Iterator[Fault]:
        clause = "storage: transactions"
        steps: Path = ("rows", index)
        commit_ts = row.commit_ts
        if commit_ts is None:
            problem = f"row {index} has no commit-ts: order can't be checked"
            yield Fault("commit-ts-unknown", name, problem, clause, steps=steps)
            return
        if commit_ts < path.version:
            problem = f"row {index} of {commit_ts} is older than its schema, {path.version}"
            yield Fault("row-before-version", name, problem, clause, steps=steps)
        if next_ddl is not None and commit_ts >= next_ddl:
            problem = f"row {index} of {commit_ts} is not older than the DDL of {next_ddl}"
            yield Fault("row-after-ddl", name, problem, clause, steps=steps)
        first = self._first_file(stream, name, commit_ts)
        if self._is_repeat(stream, row, commit_ts, first != name):
            return
        if commit_ts < stream.largest:
            problem = f"row {index} of {commit_ts} comes after one of {stream.largest}"
            yield Fault("commit-ts-falls", name, problem, clause, steps=steps)
        if commit_ts < stream.largest or (self.atomic_tables and first != name):
            self.suspects.add(commit_ts)
            self.suspected.add(stream_of(path))
        if commit_ts > stream.largest:
            stream.largest, stream.largest_in = commit_ts, name
        if self.atomic_tables and first != name:
            problem = f"row {index} of {commit_ts} belongs to a transaction in {first!r:.200}"
            yield Fault("transaction-split", name, problem, clause, steps=steps)

    def _first_file(self, stream: _Stream, name: str, commit_ts: int) -> str:
        """Return the first file with rows of a commit-ts, as far as it is remembered."""
        if self.watched is None or commit_ts in self.watched:
            return stream.file_by_commit_ts.setdefault(commit_ts, name)
        return stream.largest_in if commit_ts == stream.largest else name

    def _is_repeat(
        self, stream: _Stream, row: RowMark, commit_ts: int, is_in_other_file: bool
    ) -> bool:
        if self.watched is not None and commit_ts not in self.watched:
            return False
        digest = hashlib.blake2b(b"%d " % commit_ts + row.content, digest_size=16).digest()
        is_repeat = digest in stream.digests
        # Equal rows of one transaction are not repeats: they are in one file, one after another.
        self.repeats += is_repeat and is_in_other_file
        stream.digests.add(digest)
        return is_repeat


def check_puts(
    puts: Iterable[tuple[str, int | None]],
    layout: paths.PathLayout,
    order: WriteOrder,
    existing: Iterable[str] = (),
) -> Iterator[Fault]:
    """Look at the puts of a writer in their order. Each is a path, and the number that it carries.

    The number is the file number in an index, the checkpoint in ``metadata``, else None.
    ``existing``: the schema files that existed before.
    Source: storage, "write order", "metadata".
    """
    put_numbers: dict[DirectoryKey, set[int]] = {}
    named: dict[DirectoryKey, int] = {}
    schemas: set[tuple[str, str, int]] = set()
    for name in existing:
        path = paths.parse_path(name, layout)
        if isinstance(path, paths.SchemaPath):
            schemas.update(_data_names_of(path))
    checkpoint: int | None = None
    clause = "storage: write order"
    for name, number in puts:
        try:
            path = paths.parse_path(name, layout)
        except DecodeError as error:
            if not is_stray(name):
                yield Fault("unknown-file", name, error.problem, error.clause)
            continue
        match path:
            case paths.SchemaPath():
                schemas.update(_data_names_of(path))
            case paths.DataPath():
                key = directory_of(path)
                written = put_numbers.setdefault(key, set())
                if path.number in written:
                    yield Fault("put-twice", name, "a data file is put once", clause)
                written.add(path.number)
                if (path.schema, path.table, path.version) not in schemas:
                    problem = "rows come before the schema file of their version"
                    yield Fault("put-order", name, problem, clause)
                if order == "index-first" and named.get(key, 0) < path.number:
                    yield Fault("put-order", name, "rows come before their index", clause)
            case paths.IndexPath():
                key = directory_of(path)
                named[key] = number or 0
                if order == "data-first" and number not in put_numbers.get(key, ()):
                    problem = f"the index names file {number} before the file exists"
                    yield Fault("put-order", name, problem, clause)
            case _:
                if checkpoint is not None and number is not None and number < checkpoint:
                    problem = f"the checkpoint goes back from {checkpoint} to {number}"
                    yield Fault("checkpoint-regress", name, problem, "storage: metadata")
                checkpoint = number if checkpoint is None else max(checkpoint, number or 0)


def _data_names_of(path: paths.SchemaPath) -> Iterator[tuple[str, str, int]]:
    yield path.schema, path.table or "", path.version
    if path.table is None:
        yield "", path.schema, path.version
