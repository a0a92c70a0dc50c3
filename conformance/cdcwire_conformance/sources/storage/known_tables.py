"""The tables that a writer of a prefix knows: their definitions, versions and schema files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.files.stores import Store
from cdcwire.model.events import Event, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column
from cdcwire.storage import (
    PathLayout,
    Put,
    SchemaFile,
    SchemaPath,
    choose_version,
    parse_path,
    schema_checksum,
    schema_file_of,
    schema_put,
)
from cdcwire.storage.schema_files import RENAME_TABLE, RENAME_TABLES, renamed_from
from cdcwire.storage.writing import WriteOrder

_DROP_SCHEMA = 2
_DROP_TABLE = 4


@dataclass(slots=True)
class KnownTable:
    """A table as it is now. ``schema_file``: to be put before its first rows; None: it exists."""

    definition: Table
    version: int
    schema_file: SchemaFile | None = None


class KnownTables:
    """Tables by their names. Definitions come from schema changes, else from the context."""

    def __init__(
        self, store: Store, context: Context, layout: PathLayout, write_order: WriteOrder
    ) -> None:
        self._store = store
        self._context = context
        self._layout = layout
        self._with_elements = write_order == "data-first"
        self._tables: dict[tuple[str, str], KnownTable] = {}

    def __iter__(self) -> Iterator[KnownTable]:
        return iter(self._tables.values())

    def of(self, event: RowChange, checkpoint: int | None) -> KnownTable:
        """Return the table of a row. Raises: EncodeError; StoreError."""
        name = event.table.schema or "", event.table.name or ""
        if name not in self._tables:
            self._tables[name] = self._resolve(event, checkpoint)
        return self._tables[name]

    def change(self, event: SchemaChange, put: Callable[[Put], None]) -> list[tuple[str, str]]:
        """Put the schema file of a schema change, take the change, and return the names that end.

        Raises: EncodeError; StoreError.
        """
        table, version = event.table, commit_ts_of(event)
        if table is None:
            raise EncodeError("a schema file needs the table", "storage: schema files", ("table",))
        gone = []
        if event.code in (RENAME_TABLE, RENAME_TABLES):
            gone = renamed_from(event.query or "", table.schema or "")
        if table.name is not None and table.columns is None:
            table = replace(table, columns=self._columns_now(table, version, gone))
        if table.name is not None:
            table = replace(table, version=version)
        put(schema_put(self._schema_file(table, event, version), self._layout))
        names = [name for name in gone if name != (table.schema, table.name)]
        if table.name is not None:
            names.append((table.schema or "", table.name))
        elif event.code == _DROP_SCHEMA:
            names += [name for name in self._tables if name[0] == table.schema]
        for name in names:
            self._tables.pop(name, None)
        if table.name is not None and event.code != _DROP_TABLE:
            self._tables[table.schema or "", table.name] = KnownTable(table, version)
        return names

    def _resolve(self, event: RowChange, checkpoint: int | None) -> KnownTable:
        """Return a table without a schema change: its version follows from the schema files."""
        definition = self._definition(event)
        version = definition.version
        if version is None:
            version = commit_ts_of(event) if checkpoint is None else checkpoint
        file = self._schema_file(definition, None, version)
        listed = self._schema_paths(definition)
        choice = choose_version(version, schema_checksum(file), listed)
        needed = file if choice.action == "write" else None
        return KnownTable(definition, choice.version, needed)

    def _definition(self, event: RowChange) -> Table:
        name = (event.table.schema, event.table.name)
        defined = [t for t in self._context.tables if (t.schema, t.name) == name and t.columns]
        image = event.after or event.before
        if image is not None and len(defined) != 1:
            names = {column.name for column in image.columns}
            defined = [t for t in defined if {c.name for c in t.columns or ()} == names] or defined
            if not defined:
                return replace(event.table, columns=image.columns)
        return max(defined, key=lambda table: table.version or 0)

    def _schema_paths(self, table: Table) -> list[SchemaPath]:
        found = []
        for listed in self._store.list(f"{table.schema}/{table.name}/meta"):
            path = parse_path(listed.path, self._layout)
            if isinstance(path, SchemaPath):
                found.append(path)
        return found

    def _columns_now(
        self, table: Table, version: int, old_names: list[tuple[str, str]]
    ) -> tuple[Column, ...] | None:
        """Return the columns of a table whose change does not say them."""
        name = (table.schema or "", table.name or "")
        defined = [t for t in self._context.tables if (t.schema, t.name) == name and t.columns]
        for each in defined:
            if each.version == version:
                return each.columns
        for known in (name, *old_names):
            if known in self._tables:
                return self._tables[known].definition.columns
        return defined[0].columns if len(defined) == 1 else None

    def _schema_file(self, table: Table, event: SchemaChange | None, version: int) -> SchemaFile:
        return schema_file_of(table, event, version, with_elements=self._with_elements)


def commit_ts_of(event: Event) -> int:
    """Return the commit-ts of an event. Raises: EncodeError without one."""
    commit_ts = event.position.commit_ts
    if commit_ts is None:
        problem = "a prefix needs the commit_ts of each event"
        raise EncodeError(problem, "storage: versions", ("position", "commit_ts"))
    return commit_ts
