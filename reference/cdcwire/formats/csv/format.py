"""CSV as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.core.format import Context, Explanation, Format
from cdcwire.core.message import Message, StoredFile
from cdcwire.formats.csv.batching import from_events
from cdcwire.formats.csv.carries import CARRIES
from cdcwire.formats.csv.events import read_events
from cdcwire.formats.csv.explain import explain
from cdcwire.formats.csv.fast import JoiningDecoder
from cdcwire.formats.csv.settings import OPTIONS, read_settings
from cdcwire.formats.csv.stored import STORED
from cdcwire.formats.csv.tables import Definitions
from cdcwire.model.events import Event
from cdcwire.storage.feeds import other_events, path_of, with_definitions
from cdcwire.storage.paths import DataPath

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "unsigned": "unsigned integers, up to 2**64-1",
        "float": "FLOAT and DOUBLE",
        "decimal": "DECIMAL",
        "text": "CHAR, VARCHAR and the TEXT types",
        "bytes": "BINARY, VARBINARY and the BLOB types",
        "date": "DATE",
        "time": "TIME",
        "datetime": "DATETIME",
        "timestamp": "TIMESTAMP",
        "year": "YEAR",
        "bit": "BIT",
        "enum": "ENUM",
        "set": "SET",
        "json": "JSON",
        "vector": "VECTOR",
        "position": "commit timestamps of events",
        "key": "the primary key columns of a row",
        "ddl": "schema files as schema changes",
        "checkpoint": "the file metadata",
        "partition": "rows of partitioned tables, with their partition",
        "empty quote": "files without quotes",
        "delimiter of several characters": "delimiters of 2 and 3 characters",
        "binary-encoding-method hex": "the setting of this name",
        "output-old-value": "the setting of this name",
        "output-handle-key": "the setting of this name",
        "output-field-header": "the setting of this name",
        "files": "paths of a storage prefix, and its files without rows",
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "ambiguous-null": "NULL, marked",
        "empty-file": "no records",
        "float-forms": "any decimal number",
        "hex-case": "lower case only",
        "needless-escape": "the byte behind the backslash",
        "null-in-not-null": "accept",
        "vector-quotes": "accept with and without",
    }
)


def _decode(message: Message, context: Context) -> Iterator[Event]:
    settings = read_settings(context)
    file = _stored(message)
    place = path_of(file, settings.layout)
    if place is not None and not isinstance(place, DataPath):
        layout, time_zone = settings.layout, settings.time_zone
        yield from other_events(file, place, layout, time_zone, context.selection)
        return
    definitions = Definitions(context.tables)
    yield from read_events(file.value, settings, definitions, place, context.selection)


def _encode(events: Iterable[Event], context: Context) -> Iterator[Message]:
    yield from from_events(events, read_settings(context), context.tables)


def _explain(message: Message, context: Context) -> Explanation:
    return explain(_stored(message), read_settings(context), context.tables)


def _prepared(messages: Iterable[Message], context: Context) -> Context:
    settings = read_settings(context)
    return with_definitions(messages, context, settings.layout, settings.time_zone)


def _stored(message: Message) -> StoredFile:
    if not isinstance(message, StoredFile):
        raise TypeError("a file of a storage prefix is expected")
    return message


FORMAT = Format(
    name="csv",
    title="Storage sink CSV",
    page="docs/formats/csv.md",
    shared_pages=("storage",),
    decode=_decode,
    encode=_encode,
    explain=_explain,
    options=OPTIONS,
    carries=CARRIES,
    features=FEATURES,
    choices=CHOICES,
    prepared=_prepared,
    stored=STORED,
    needs_tables=True,
    carriers=("storage",),
    fast_decoder=JoiningDecoder,
    skips_columns=True,
    joins_halves=True,
)
