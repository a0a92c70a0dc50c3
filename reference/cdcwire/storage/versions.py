"""The choice of the version directory for the rows of a table, also after a restart.

A writer knows the table's schema, by its hash, and a version: that of the last DDL, or after a
restart the checkpoint. A directory that exists for the same schema is used again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.storage.paths import PathLayout, SchemaPath, parse_path

CLAUSE = "storage: versions"

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
