"""Files of a storage prefix as messages: what paths say, and the events of files without rows.

A name without any directory is a data file outside of any layout (given alone on a command line),
unless it is ``metadata``. Every other path must be one of the layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from cdcwire.core.context import EVERYTHING, Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message, StoredFile
from cdcwire.model.events import Event, Position, Progress, Table
from cdcwire.model.kinds import Column, EnumType, SetType
from cdcwire.storage import paths
from cdcwire.storage.rules import check_schema_file
from cdcwire.storage.schema_files import SchemaFile, change_of, read_schema_file, table_of
from cdcwire.storage.sent_columns import with_defined_columns
from cdcwire.storage.small_files import read_index, read_metadata

_BREACHES = frozenset({"schema-hash", "schema-names", "schema-version"})


def path_of(file: StoredFile, layout: paths.PathLayout) -> paths.StoragePath | None:
    """Return what the path of a file says; None for a data file outside of any layout.

    Raises: DecodeError.
    """
    if "/" not in file.path and file.path != paths.METADATA_NAME:
        return None
    return paths.parse_path(file.path, layout)


def other_events(
    file: StoredFile,
    place: paths.IndexPath | paths.SchemaPath | paths.MetadataPath,
    layout: paths.PathLayout,
    time_zone: str | None,
    selection: Selection = EVERYTHING,
) -> Iterator[Event]:
    """Yield the event of a file without rows; an index file is checked and has none.

    Raises: DecodeError.
    """
    match place:
        case paths.MetadataPath():
            yield Progress("checkpoint", Position(commit_ts=read_metadata(file.value)))
        case paths.IndexPath():
            read_index(file.value, layout, place.dispatcher)
        case paths.SchemaPath():
            change = change_of(read_schema(file, place), time_zone or "")
            if change is not None and _is_wanted(change.table, selection):
                yield change


def _is_wanted(table: Table | None, selection: Selection) -> bool:
    return table is None or table.name is None or selection.wants(table.schema, table.name)


def read_schema(file: StoredFile, place: paths.SchemaPath) -> SchemaFile:
    """Return a schema file that has the names, the version and the hash of its path.

    A hash that can't be checked is ignored. Raises: DecodeError.
    """
    found = read_schema_file(file.value)
    for fault in check_schema_file(file.path, place, found):
        if fault.kind in _BREACHES:
            raise DecodeError(f"path {file.path!r:.300}: {fault.problem}", 0, fault.clause)
    return found


def has_own_path(name: str, path: paths.SchemaPath, file: SchemaFile) -> bool:
    """Return whether a schema file has the names, the version and the hash of its path."""
    return all(fault.kind not in _BREACHES for fault in check_schema_file(name, path, file))


def with_definitions(
    messages: Iterable[Message],
    context: Context,
    layout: paths.PathLayout,
    time_zone: str | None,
    column_count: Callable[[bytes], int | None] | None = None,
) -> Context:
    """Return the context with the tables that schema files among the messages define.

    The caller's additional facts (virtual columns, elements of ENUM and SET, the columns that rows
    have) are kept. ``column_count``: as in ``StoredForm``. A file that breaks the format is ignored
    here: decoding it reports the error.
    """
    data: dict[tuple[str | None, str | None, int | None], bytes] = {}
    found: list[Table] = []
    definitions: dict[tuple[str | None, str | None], list[Table]] = {}
    for each in context.tables:
        definitions.setdefault((each.schema, each.name), []).append(each)
    for message in messages:
        if isinstance(message, StoredFile):
            try:
                place = path_of(message, layout)
                if isinstance(place, paths.DataPath):
                    data.setdefault((place.schema, place.table, place.version), message.value)
                if not isinstance(place, paths.SchemaPath):
                    continue
                table = table_of(read_schema(message, place), time_zone or "")
            except DecodeError:
                continue
            if table.name is not None:
                found.append(completed(table, definitions.get((table.schema, table.name), ())))
    if column_count is not None:

        def count_of(table: Table) -> int | None:
            value = data.get((table.schema, table.name, table.version))
            return None if value is None else column_count(value)

        found = [
            with_defined_columns(each, definitions.get((each.schema, each.name), ()), count_of)
            for each in found
        ]
    # The caller's own definition of a version stays where it is; that of no version is used up.
    known = {(each.schema, each.name, each.version) for each in context.tables}
    added = [each for each in found if (each.schema, each.name, each.version) not in known]
    return replace(context, tables=(*context.tables, *added)) if added else context


def completed(table: Table, definitions: Iterable[Table]) -> Table:
    """Return a table from a schema file with the caller's additional facts.

    These are which columns are virtual, and the elements of ENUM and SET.
    """
    known = {
        column.name: column
        for each in definitions
        if (each.schema, each.name) == (table.schema, table.name)
        and each.version in (None, table.version)
        for column in each.columns or ()
    }
    columns = tuple(_completed(column, known.get(column.name)) for column in table.columns or ())
    return replace(table, columns=columns)


def _completed(column: Column, defined: Column | None) -> Column:
    if defined is None or type(defined.type) is not type(column.type):
        return column
    kind = column.type
    if isinstance(kind, (EnumType, SetType)) and isinstance(defined.type, (EnumType, SetType)):
        kind = replace(kind, labels=kind.labels if kind.labels is not None else defined.type.labels)
    return replace(
        column, type=kind, roles=column.roles | (defined.roles & {"virtual", "generated"})
    )
