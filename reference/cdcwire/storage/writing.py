"""The order in which one flush puts its files, and what becomes of a put that fails.

tiflow puts the index before the data, so its index may name a missing file. The newer producer puts
the index after the data, so its index names only files that exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.storage.paths import DataPath, IndexPath, PathLayout, path_text
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
