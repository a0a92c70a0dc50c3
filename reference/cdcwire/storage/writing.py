"""The order in which one flush puts its files, and what becomes of a put that fails.

tiflow puts the index before the data, so its index may name a missing file. The newer producer puts
the index after the data, so its index names only files that exist.

A writer chooses the version directory for the rows of a table, also after a restart. It knows the
table's schema, by its hash, and a version: that of the last DDL, or after a restart the checkpoint.
A directory that exists for the same schema is used again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.storage.paths import DataPath, IndexPath, PathLayout, SchemaPath, parse_path, path_text
from cdcwire.storage.schema_files import SchemaFile, schema_path_of, write_schema_file
from cdcwire.storage.small_files import write_index

CLAUSE = "storage: write order"

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
