"""What can be wrong with a prefix, found over names, sizes, parsed files and rows.

Each function looks at one rule or a few that belong together and yields a ``Fault`` for each
break. Nothing is read here: the caller lists, reads and decodes.

Rows may repeat, since delivery is at least once; a repeat breaks no rule. To know one, a row must
have been seen with the same commit-ts in the same table before, so rows are kept by a digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cdcwire.errors import DecodeError
from cdcwire.storage.paths import (
    DataPath,
    IndexPath,
    Layout,
    SchemaPath,
    StoragePath,
    parse_path,
    path_text,
)
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
]


@dataclass(frozen=True, slots=True)
class Fault:
    """One break of a rule: which kind, in which file, and the clause."""

    kind: FaultKind
    path: str
    problem: str
    clause: str


DirectoryKey: TypeAlias = "tuple[str, str, int, int | None, str, str | None]"
StreamKey: TypeAlias = "tuple[str, str, int | None, str | None]"


def directory_of(path: DataPath | IndexPath) -> DirectoryKey:
    """Return what files share that are counted together: a directory, and its dispatcher."""
    return path.schema, path.table, path.version, path.partition, path.date, path.dispatcher


def stream_of(path: DataPath) -> StreamKey:
    """Return what rows share that come in order: a table, its partition, and the dispatcher."""
    return path.schema, path.table, path.partition, path.dispatcher


def table_of_schema_path(path: SchemaPath, file: SchemaFile | None) -> tuple[str, str]:
    """Return the names that the data files of a schema file's table have in their paths.

    Where table ids are paths, a table's schema file looks like a database's.
    """
    if path.table is None and file is not None and file.table:
        return "", path.schema
    return path.schema, path.table or ""


def check_names(
    sizes: Mapping[str, int | None], layout: Layout
) -> tuple[dict[str, StoragePath], list[Fault]]:
    """Return what the listed paths say, and what is wrong with them. Sizes may be unknown.

    Source: storage, "names", "file numbers".
    """
    parsed: dict[str, StoragePath] = {}
    faults: list[Fault] = []
    numbers: dict[tuple[DirectoryKey, int], str] = {}
    for name in sorted(sizes):
        try:
            path = parse_path(name, layout)
        except DecodeError as error:
            faults.append(Fault("unknown-file", name, error.problem, error.clause))
            continue
        if isinstance(path, DataPath):
            first = numbers.setdefault((directory_of(path), path.number), name)
            if first != name:
                problem = f"the number {path.number} is that of {first!r:.200} too"
                faults.append(Fault("number-twice", name, problem, "storage: file numbers"))
                continue
            if path_text(path, layout) != name:
                problem = f"the number has other than {layout.width} digits"
                faults.append(Fault("number-width", name, problem, "storage: file numbers"))
            if sizes[name] == 0:
                problem = "the file is empty: its number will be used again"
                faults.append(Fault("empty-file", name, problem, "storage: index files"))
        parsed[name] = path
    return parsed, faults


def check_schema_file(name: str, path: SchemaPath, file: SchemaFile) -> Iterator[Fault]:
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
        problem = f"the file is of {file.schema!r:.80}.{file.table!r:.80}"
        yield Fault("schema-names", name, problem, "storage: schema files")
    if is_id and not path.schema.isdecimal():
        problem = f"a table's schema file in the directory of the database {path.schema!r:.80}"
        yield Fault("schema-names", name, problem, "storage: schema files")


def check_versions(
    parsed: Mapping[str, StoragePath], files: Mapping[str, SchemaFile]
) -> Iterator[Fault]:
    """Find data directories without the schema file of their version.

    Source: storage, "versions".
    """
    known: set[tuple[tuple[str, str], int]] = set()
    for name, path in parsed.items():
        if isinstance(path, SchemaPath):
            known.add((table_of_schema_path(path, files.get(name)), path.version))
    reported: set[tuple[tuple[str, str], int]] = set()
    for name, path in sorted(parsed.items()):
        if isinstance(path, DataPath):
            key = ((path.schema, path.table), path.version)
            if key not in known and key not in reported:
                reported.add(key)
                problem = f"there is no schema file of version {path.version}"
                yield Fault("schema-missing", name, problem, "storage: versions")


@dataclass(frozen=True, slots=True)
class RowMark:
    """A row as the rules need it. ``content``: anything that two equal rows have alike."""

    commit_ts: int | None
    content: bytes


@dataclass(slots=True)
class _Stream:
    largest: int = -1
    file_by_commit_ts: dict[int, str] = field(default_factory=dict)
    digests: set[bytes] = field(default_factory=set)


@dataclass(slots=True)
class RowRules:
    """The rules of transactions, over the rows of all files in the order of replay.

    ``atomic_tables``: ``transaction-atomicity = "table"`` was set. ``ddl_versions``: by schema and
    table, the versions of its DDL (those of schema files with a query). ``repeats`` counts rows
    that came before. Memory grows with the rows: 16 bytes of digest for each.
    """

    atomic_tables: bool = False
    ddl_versions: Mapping[tuple[str, str], Iterable[int]] = field(default_factory=dict)
    repeats: int = 0
    _streams: dict[StreamKey, _Stream] = field(default_factory=dict)

    def check_file(self, name: str, path: DataPath, rows: Iterable[RowMark]) -> Iterator[Fault]:
        """Look at the rows of one file. Each kind is told once a file, at its first row.

        Source: storage, "transactions".
        """
        stream = self._streams.setdefault(stream_of(path), _Stream())
        later = [
            version
            for version in self.ddl_versions.get((path.schema, path.table), ())
            if version > path.version
        ]
        next_ddl = min(later) if later else None
        told: set[FaultKind] = set()
        for index, row in enumerate(rows):
            for fault in self._row(stream, name, path, next_ddl, index, row):
                if fault.kind not in told:
                    told.add(fault.kind)
                    yield fault

    def _row(
        self,
        stream: _Stream,
        name: str,
        path: DataPath,
        next_ddl: int | None,
        index: int,
        row: RowMark,
    ) -> Iterator[Fault]:
        clause = "storage: transactions"
        commit_ts = row.commit_ts
        if commit_ts is None:
            problem = f"row {index} has no commit-ts: order can't be checked"
            yield Fault("commit-ts-unknown", name, problem, clause)
            return
        digest = hashlib.blake2b(b"%d " % commit_ts + row.content, digest_size=16).digest()
        is_repeat = digest in stream.digests
        # Equal rows of one transaction are no repeats: they stand in one file, one after another.
        self.repeats += is_repeat and stream.file_by_commit_ts.get(commit_ts) != name
        stream.digests.add(digest)
        if commit_ts < path.version:
            problem = f"row {index} of {commit_ts} is older than its schema, {path.version}"
            yield Fault("row-before-version", name, problem, clause)
        if next_ddl is not None and commit_ts >= next_ddl:
            problem = f"row {index} of {commit_ts} is not older than the DDL of {next_ddl}"
            yield Fault("row-after-ddl", name, problem, clause)
        if is_repeat:
            return
        if commit_ts < stream.largest:
            problem = f"row {index} of {commit_ts} stands behind one of {stream.largest}"
            yield Fault("commit-ts-falls", name, problem, clause)
        stream.largest = max(stream.largest, commit_ts)
        first = stream.file_by_commit_ts.setdefault(commit_ts, name)
        if self.atomic_tables and first != name:
            problem = f"row {index} of {commit_ts} belongs to a transaction in {first!r:.200}"
            yield Fault("transaction-split", name, problem, clause)


def check_puts(
    puts: Iterable[tuple[str, int | None]],
    layout: Layout,
    order: WriteOrder,
    existing: Iterable[str] = (),
) -> Iterator[Fault]:
    """Look at the puts of a writer in their order. Each is a path, and the number that it tells.

    The number is the file number in an index, the checkpoint in ``metadata``, else None.
    ``existing``: the schema files that were there before.
    Source: storage, "write order", "metadata".
    """
    put_numbers: dict[DirectoryKey, set[int]] = {}
    named: dict[DirectoryKey, int] = {}
    schemas: set[tuple[str, str, int]] = set()
    for name in existing:
        path = parse_path(name, layout)
        if isinstance(path, SchemaPath):
            schemas.update(_data_names_of(path))
    checkpoint: int | None = None
    clause = "storage: write order"
    for name, number in puts:
        try:
            path = parse_path(name, layout)
        except DecodeError as error:
            yield Fault("unknown-file", name, error.problem, error.clause)
            continue
        match path:
            case SchemaPath():
                schemas.update(_data_names_of(path))
            case DataPath():
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
            case IndexPath():
                key = directory_of(path)
                named[key] = number or 0
                if order == "data-first" and number not in put_numbers.get(key, ()):
                    problem = f"the index names file {number} before it is there"
                    yield Fault("put-order", name, problem, clause)
            case _:
                if checkpoint is not None and number is not None and number < checkpoint:
                    problem = f"the checkpoint goes back from {checkpoint} to {number}"
                    yield Fault("checkpoint-regress", name, problem, "storage: metadata")
                checkpoint = number if checkpoint is None else max(checkpoint, number or 0)


def _data_names_of(path: SchemaPath) -> Iterator[tuple[str, str, int]]:
    yield path.schema, path.table or "", path.version
    if path.table is None:
        yield "", path.schema, path.version
