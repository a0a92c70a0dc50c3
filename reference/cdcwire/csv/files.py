"""The files of a storage prefix: which one a path names, and what those without rows say.

A name without any directory is a data file outside of any layout (given alone on a command line),
unless it is ``metadata``. Every other path must be one of the layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cdcwire.csv.settings import Settings
from cdcwire.csv.tables import completed
from cdcwire.errors import DecodeError
from cdcwire.format import Context
from cdcwire.message import Message, StoredFile
from cdcwire.model.events import Event, Position, Progress, Table
from cdcwire.storage.index_files import read_index
from cdcwire.storage.metadata import read_metadata
from cdcwire.storage.paths import (
    METADATA_NAME,
    IndexPath,
    Layout,
    MetadataPath,
    SchemaPath,
    StoragePath,
    parse_path,
)
from cdcwire.storage.rules import check_schema_file
from cdcwire.storage.schema_files import SchemaFile, change_of, read_schema_file, table_of

_BREACHES = frozenset({"schema-hash", "schema-names", "schema-version"})


def path_of(file: StoredFile, layout: Layout) -> StoragePath | None:
    """Return what the path of a file says; None for a data file outside of any layout.

    Raises: DecodeError.
    """
    if "/" not in file.path and file.path != METADATA_NAME:
        return None
    return parse_path(file.path, layout)


def other_events(
    file: StoredFile, place: IndexPath | SchemaPath | MetadataPath, settings: Settings
) -> Iterator[Event]:
    """Yield the event of a file without rows; an index file is checked and has none.

    Raises: DecodeError.
    """
    match place:
        case MetadataPath():
            yield Progress("checkpoint", Position(commit_ts=read_metadata(file.value)))
        case IndexPath():
            read_index(file.value, settings.layout, place.dispatcher)
        case SchemaPath():
            change = change_of(read_schema(file, place), settings.time_zone or "")
            if change is not None:
                yield change


def read_schema(file: StoredFile, place: SchemaPath) -> SchemaFile:
    """Return a schema file that has the names, the version and the hash of its path.

    A hash that can't be checked is passed over. Raises: DecodeError.
    """
    found = read_schema_file(file.value)
    for fault in check_schema_file(file.path, place, found):
        if fault.kind in _BREACHES:
            raise DecodeError(f"path {file.path!r:.300}: {fault.problem}", 0, fault.clause)
    return found


def with_definitions(messages: Iterable[Message], context: Context, settings: Settings) -> Context:
    """Return the context with the tables that schema files among the messages define.

    What the caller told besides (virtual columns, elements of ENUM and SET) is kept. A schema file
    that breaks the format is passed over here: decoding it tells so.
    """
    found: list[Table] = []
    for message in messages:
        if isinstance(message, StoredFile):
            try:
                place = path_of(message, settings.layout)
                if not isinstance(place, SchemaPath):
                    continue
                table = table_of(read_schema(message, place), settings.time_zone or "")
            except DecodeError:
                continue
            if table.name is not None:
                found.append(completed(table, context.tables))
    if not found:
        return context
    # The caller's own definition of a version stays where it is; that of no version is used up.
    known = {(each.schema, each.name, each.version) for each in context.tables}
    added = [each for each in found if (each.schema, each.name, each.version) not in known]
    return replace(context, tables=(*context.tables, *added))
