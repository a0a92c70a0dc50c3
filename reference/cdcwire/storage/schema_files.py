"""Schema files and tables of the model: one made from the other.

This is the public face of schema files: ``schema_text`` writes them and has the hash,
``schema_reader`` reads them, ``schema_columns`` knows the columns.

The schema file of a RENAME is under the new name only. ``renamed_from`` finds the old names. It is
not an SQL parser: it knows ``RENAME TABLE a TO b, …`` and ``ALTER TABLE a RENAME [TO] b``, with
names that may be quoted, and finds none in other statements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cdcwire.core.errors import EncodeError, step
from cdcwire.model.events import Position, SchemaChange, Table
from cdcwire.model.kinds import Column
from cdcwire.mysql.types import schema_change_kind
from cdcwire.storage.paths import SchemaPath
from cdcwire.storage.schema_columns import SchemaColumn, column_of, readable_text, schema_column_of
from cdcwire.storage.schema_reader import read_schema_file
from cdcwire.storage.schema_text import (
    FILE_VERSION,
    FILES_CLAUSE,
    ChecksumState,
    SchemaFile,
    check_checksum,
    check_file,
    schema_checksum,
    shipped_checksum,
    write_schema_file,
)


def schema_path_of(file: SchemaFile) -> SchemaPath:
    """Return the path of a schema file, by its own names, version and hash."""
    table = None if file.is_database else file.table
    return SchemaPath(file.schema, table, file.table_version, schema_checksum(file))


def table_of(
    file: SchemaFile,
    time_zone: str = "",
    elements: Mapping[str, tuple[str, ...]] | None = None,
) -> Table:
    """Return the table that the file defines; of a database the ``Table`` without name.

    ``time_zone``: of TIMESTAMP texts, "" if it is not known. ``elements``: those of ENUM and SET
    by column, where the file does not have them. The key is the primary key, ``()`` if none.
    """
    schema = readable_text(file.schema)
    if file.is_database:
        return Table(None, schema, version=file.table_version)
    labels = {} if elements is None else elements
    columns = tuple(
        column_of(column, time_zone or None, labels.get(column.name))
        for column in file.columns or ()
    )
    return Table(
        readable_text(file.table), schema, None, columns, _key(columns), file.table_version
    )


def change_of(
    file: SchemaFile,
    time_zone: str = "",
    elements: Mapping[str, tuple[str, ...]] | None = None,
) -> SchemaChange | None:
    """Return the DDL of a schema file; None where it only describes a table (Type 0, no query)."""
    if file.type == 0 and not file.query:
        return None
    return SchemaChange(
        schema_change_kind(file.type),
        readable_text(file.query),
        file.type,
        table_of(file, time_zone, elements),
        Position(commit_ts=file.table_version),
    )


def schema_file_of(
    table: Table,
    change: SchemaChange | None,
    version: int,
    *,
    with_ids: bool = False,
    with_elements: bool = False,
) -> SchemaFile:
    """Return the schema file of a table or database.

    ``change``: the DDL; None for the file that a writer adds when it finds none of its schema.
    ``with_ids``: ``output-column-id``. ``with_elements``: as the newer producer.
    Raises: EncodeError.
    """
    if table.schema is None:
        raise EncodeError("a schema file needs the name of the schema", FILES_CLAUSE, ("schema",))
    columns: tuple[SchemaColumn, ...] | None = None
    if table.name is not None:
        if table.columns is None:
            problem = f"the columns of {table.schema}.{table.name} are not known"
            raise EncodeError(problem, FILES_CLAUSE, ("columns",))
        columns = tuple(
            _column_at(index, column, with_ids, with_elements)
            for index, column in enumerate(table.columns)
        )
    if change is not None and change.code is None:
        raise EncodeError(
            "a schema file needs the code of the DDL", "storage: ddl types", ("code",)
        )
    file = SchemaFile(
        table=table.name or "",
        schema=table.schema,
        version=FILE_VERSION,
        table_version=version,
        query=(change.query or "") if change is not None else "",
        type=(change.code or 0) if change is not None else 0,
        columns=columns,
        total=0 if columns is None else len(columns),
    )
    check_file(file)
    return file


def _column_at(index: int, column: Column, with_ids: bool, with_elements: bool) -> SchemaColumn:
    with step("columns", index):
        return schema_column_of(column, with_id=with_ids, with_elements=with_elements)


def _key(columns: tuple[Column, ...]) -> tuple[str, ...]:
    return tuple(column.name for column in columns if "primary" in column.roles)


__all__ = [
    "ChecksumState",
    "SchemaColumn",
    "SchemaFile",
    "change_of",
    "check_checksum",
    "read_schema_file",
    "schema_checksum",
    "schema_file_of",
    "schema_path_of",
    "shipped_checksum",
    "table_of",
    "write_schema_file",
]


RENAME_TABLE = 14
RENAME_TABLES = 47

_MAX_QUERY = 1 << 16
_NAME = r"(`(?:[^`]|``)+`|[^\s`.,;()'\"]+)"
_TABLE = rf"{_NAME}(?:\s*\.\s*{_NAME})?"
_RENAME = re.compile(r"\s*RENAME\s+TABLES?\s+", re.IGNORECASE)
_PAIR = re.compile(rf"{_TABLE}\s+TO\s+{_TABLE}\s*(,|;|\Z)\s*", re.IGNORECASE)
_ALTER = re.compile(
    rf"\s*ALTER\s+TABLE\s+{_TABLE}\s+RENAME\s*(?:\s(?:TO|AS)\s|=)?\s*{_TABLE}\s*;?\s*\Z",
    re.IGNORECASE,
)


def renamed_from(query: str, schema: str) -> list[tuple[str, str]]:
    """Return schema and name of each table before the RENAME. ``schema`` applies to bare names."""
    if len(query) > _MAX_QUERY:
        return []
    found = _ALTER.fullmatch(query)
    if found is not None:
        return [_names(found, schema)]
    found = _RENAME.match(query)
    if found is None:
        return []
    names: list[tuple[str, str]] = []
    sign = ","
    end = found.end()
    while sign == ",":
        found = _PAIR.match(query, end)
        if found is None:
            return []
        names.append(_names(found, schema))
        sign, end = found.group(5), found.end()
    return names


def _names(found: re.Match[str], schema: str) -> tuple[str, str]:
    first, second = _plain(found.group(1)), found.group(2)
    return (schema, first) if second is None else (first, _plain(second))


def _plain(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
