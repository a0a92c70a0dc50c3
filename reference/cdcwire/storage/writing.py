"""Writing a prefix: when a file of rows ends, its name, and the order in which a flush puts files.

tiflow puts the index before the data, so its index may name a missing file. The newer producer puts
the index after the data, so its index names only files that exist.

A writer chooses the version directory for the rows of a table, also after a restart. It knows the
table's schema, by its hash, and a version: that of the last DDL, or after a restart the checkpoint.
A directory that exists for the same schema is used again.

A state of cutting is one table's rows under one version, and of one partition where those are
separated. There is no clock and no buffer here: the caller passes the time and the date, and keeps
the bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from cdcwire.core.errors import EncodeError
from cdcwire.storage.paths import DataPath, IndexPath, PathLayout, SchemaPath, parse_path, path_text
from cdcwire.storage.schema_files import SchemaFile, schema_path_of, write_schema_file
from cdcwire.storage.small_files import write_index

FILE_CUTTING = "storage: file cutting"

DEFAULT_FILE_SIZE = 64 << 20
FILE_SIZES = (1 << 20, 512 << 20)
DEFAULT_FLUSH_INTERVAL_MS = 5_000
FLUSH_INTERVALS_MS = (2_000, 600_000)


@dataclass(frozen=True, slots=True)
class CuttingSettings:
    """``file-size`` and ``flush-interval``. The producer refuses what lies outside its ranges."""

    file_size: int = DEFAULT_FILE_SIZE
    flush_interval_ms: int = DEFAULT_FLUSH_INTERVAL_MS

    def __post_init__(self) -> None:
        if self.file_size < 1 or self.flush_interval_ms < 1:
            raise ValueError(f"file-size and flush-interval are at least 1: {self}")

    @property
    def is_shipped(self) -> bool:
        """True if the producer allows these settings."""
        return (
            FILE_SIZES[0] <= self.file_size <= FILE_SIZES[1]
            and FLUSH_INTERVALS_MS[0] <= self.flush_interval_ms <= FLUSH_INTERVALS_MS[1]
        )


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that stay together: of one transaction and one table, or a piece of them.

    With ``transaction-atomicity = "table"`` the rows of a table in a transaction are one part.
    """

    size: int
    rows: int = 1


@dataclass(frozen=True, slots=True)
class Cut:
    """A file that is finished: where it goes, and how many of the buffered rows it has."""

    date: str
    number: int
    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class OpenFile:
    """What is buffered, and the directory that the last file went to.

    ``number`` is the next file's in that directory. ``since_ms`` is when the first part came.
    """

    date: str
    number: int = 1
    rows: int = 0
    size: int = 0
    since_ms: int | None = None


def add_part(
    state: OpenFile, part: Part, settings: CuttingSettings, now_ms: int, date: str
) -> tuple[OpenFile, Cut | None]:
    """Buffer a part; a file is cut after the part that fills it, never inside one.

    ``date``: the date directory of this moment, "" without dates.
    Source: storage, "file cutting".
    """
    if part.rows < 1 or part.size < 0:
        raise ValueError(f"a part has rows and bytes: {part}")
    since = now_ms if state.since_ms is None else state.since_ms
    state = replace(state, rows=state.rows + part.rows, size=state.size + part.size, since_ms=since)
    if state.size >= settings.file_size:
        return flush(state, date)
    return tick(state, settings, now_ms, date)


def tick(
    state: OpenFile, settings: CuttingSettings, now_ms: int, date: str
) -> tuple[OpenFile, Cut | None]:
    """Let time pass: rows that have waited for the interval are cut off.

    Source: storage, "file cutting"; choice: the producer's timer runs for all tables at once, here
    the interval counts from the first row of each file.
    """
    if state.since_ms is None or now_ms - state.since_ms < settings.flush_interval_ms:
        return state, None
    return flush(state, date)


def flush(state: OpenFile, date: str) -> tuple[OpenFile, Cut | None]:
    """Cut what is buffered, if there is any. A new date begins a directory, at number 1.

    Raises: EncodeError for a date before that of the last file: its directory has files already.
    """
    if state.rows == 0:
        return state, None
    number = state.number
    if date != state.date:
        if date < state.date:
            problem = f"the date goes back from {state.date!r} to {date!r}; read the index there"
            raise EncodeError(problem, FILE_CUTTING)
        number = 1
    return OpenFile(date, number + 1), Cut(date, number, state.rows, state.size)


def move(state: OpenFile, date: str, number: int) -> OpenFile:
    """Go on in another date's directory with the number that its index file gives (``resume``)."""
    return replace(state, date=date, number=number)


WriteOrder: TypeAlias = Literal["index-first", "data-first"]
WhenItFails: TypeAlias = Literal["stop", "log"]


@dataclass(frozen=True, slots=True)
class Put:
    """One file put whole. ``when_it_fails``: the producer stops, or logs it and goes on."""

    path: str
    value: bytes
    when_it_fails: WhenItFails = "stop"


def flush_puts(
    path: DataPath,
    rows: bytes,
    layout: PathLayout,
    order: WriteOrder = "index-first",
    schema_file: SchemaFile | None = None,
) -> Iterator[Put]:
    """Yield the puts of one flush of one table, in order.

    ``schema_file``: if the version needs one that does not exist yet.
    Raises: EncodeError for names that the layout can't have.
    Source: storage, "write order".
    """
    if schema_file is not None:
        yield schema_put(schema_file, layout)
    index = IndexPath(
        path.schema, path.table, path.version, path.partition, path.date, path.dispatcher
    )
    index_value = write_index(path.number, layout, path.dispatcher)
    data_put = Put(path_text(path, layout), rows)
    if order == "index-first":
        yield Put(path_text(index, layout), index_value, "log")
        yield data_put
    else:
        yield data_put
        yield Put(path_text(index, layout), index_value)


def schema_put(file: SchemaFile, layout: PathLayout) -> Put:
    """Return the put of a schema file."""
    return Put(path_text(schema_path_of(file), layout), write_schema_file(file))


Action: TypeAlias = Literal["use", "reuse", "write", "discard"]


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """The version to write under.

    "use": Its schema file exists. "reuse": An older or newer directory of the same schema. "write":
    The schema file must be put first, with empty query and type 0. "discard": The rows are from
    before the newest directory, and the newer producer drops them.
    """

    version: int
    action: Action


def choose_version(
    version: int, checksum: int, listed: Iterable[SchemaPath], *, newer: bool = False
) -> VersionChoice:
    """Return where rows of a table go.

    ``listed``: the schema files of this table. ``newer``: the rules of the newer producer.
    Source: storage, "versions".
    """
    same = [path.version for path in listed if path.checksum == checksum]
    if newer and any(found > version for found in same):
        return VersionChoice(version, "discard")
    if version in same:
        return VersionChoice(version, "use")
    if same:
        return VersionChoice(max(same), "reuse")
    return VersionChoice(version, "write")


def schema_files_of(
    names: Iterable[str], schema: str, table: str | None, layout: PathLayout
) -> list[SchemaPath]:
    """Return the schema files of one table, or of a database, among listed paths.

    Raises: DecodeError for a path that the layout can't have.
    """
    paths = (parse_path(name, layout) for name in names)
    return [
        path
        for path in paths
        if isinstance(path, SchemaPath) and (path.schema, path.table) == (schema, table)
    ]
