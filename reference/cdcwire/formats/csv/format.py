"""CSV as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from cdcwire.core.comparing import Comparing
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message, expect_file
from cdcwire.core.options import OptionValue
from cdcwire.core.orders import COMMIT_TS
from cdcwire.format import Format, checks
from cdcwire.formats.csv.batching import messages_of
from cdcwire.formats.csv.events import RecordWriter, read_events
from cdcwire.formats.csv.fast import JoiningDecoder, RowDecoder
from cdcwire.formats.csv.fast_encoder import RowEncoder
from cdcwire.formats.csv.identify import identify
from cdcwire.formats.csv.records import read_record, write_record
from cdcwire.formats.csv.settings import OPTIONS, read_settings
from cdcwire.formats.csv.spans import cuts_spans, spans
from cdcwire.formats.csv.tables import Definitions
from cdcwire.formats.csv.values import null_may_be_text
from cdcwire.formats.csv.wire import header_line
from cdcwire.model.carries import EXACT, KINDS, NO, Carries, CarryVerdict, as_form, option
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.mysql.carries import MYSQL_FEATURES
from cdcwire.storage.feeds import other_events, path_of, with_definitions
from cdcwire.storage.form import FileDecoder, StoredForm, StoredSettings
from cdcwire.storage.paths import OF_PATHS, DataPath
from cdcwire.storage.sent_columns import with_sent_columns


def _stored_settings(context: Context) -> StoredSettings:
    found = read_settings(context)
    return StoredSettings(
        found.layout,
        found.terminator,
        found.file_size,
        found.time_zone,
        has_commit_ts=found.include_commit_ts,
        has_header=found.output_field_header,
        quote=found.quote,
        selectors=found.column_selectors,
    )


def _stored_decoder(context: Context) -> FileDecoder:
    return RowDecoder(context).decode


def _definition_check(tables: Iterable[Table]) -> Callable[[DataPath], object]:
    definitions = Definitions(tables)
    return lambda path: definitions.choose(path.schema, path.table, path.version)


class _StoredEncoder:
    def __init__(self, context: Context) -> None:
        self._settings = read_settings(context)
        self._records = RecordWriter(self._settings)

    def header(self, event: RowChange, definition: Table) -> bytes:
        image = event.after or event.before
        if not self._settings.output_field_header or image is None:
            return b""
        names = self._records.plan(image.columns, definition).names
        return header_line(self._settings, names) + self._settings.terminator

    def rows(self, event: RowChange, definition: Table) -> bytes:
        records = self._records.records(event, definition)
        return b"".join(write_record(record, self._settings) for record in records)


def column_count(context: Context) -> Callable[[bytes], int | None]:
    """Return the function that counts the columns of a file's first record."""
    settings = read_settings(context)

    def count(value: bytes) -> int | None:
        if settings.output_field_header:
            return None
        try:
            return len(read_record(value, settings, None, 0, None).record.fields)
        except DecodeError:
            return None

    return count


STORED = StoredForm(
    _stored_settings,
    _StoredEncoder,
    decoder=_stored_decoder,
    definition_check=_definition_check,
    column_count=column_count,
)


FEATURES: Mapping[str, str] = MappingProxyType(
    {
        **MYSQL_FEATURES,
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
        "settings": "refuses settings under which a file cannot be read without doubt",
        "quotes": "refuses a text without quotes and a number with quotes",
        "line ends": "refuses other line ends than the terminator, and empty lines",
        "header names": "refuses a header line whose names are not those of the table",
        **checks(
            "integer ranges",
            "text shapes",
            "json types",
            "letter case",
            "well-formed utf-8",
            "unique names",
            "strict json",
            "strict base64",
            "limits",
            "checksums",
            "paths",
        ),
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
        "stray-file": "reject",
        "unknown-version": "reject",
        "vector-quotes": "accept with and without",
    }
)


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    settings = read_settings(context)
    file = expect_file(message, "csv: files")
    place = path_of(file, settings.layout)
    if place is not None and not isinstance(place, DataPath):
        layout, time_zone = settings.layout, settings.time_zone
        yield from other_events(file, place, layout, time_zone, context.selection)
        return
    definitions = Definitions(context.tables)
    yield from read_events(file.value, settings, definitions, place, context.selection)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError."""
    yield from messages_of(events, read_settings(context), context.tables)


def _written_alike(options: Mapping[str, OptionValue]) -> str | None:
    is_text = null_may_be_text(read_settings(options))
    return f"NULL against the text {options['null']!r}" if is_text else None


def _prepared(messages: Iterable[Message], context: Context) -> Context:
    settings = read_settings(context)
    layout, time_zone = settings.layout, settings.time_zone
    found = with_definitions(messages, context, layout, time_zone, column_count(context))
    tables = (with_sent_columns(table, settings.column_selectors) for table in found.tables)
    return replace(found, tables=tuple(tables)) if settings.column_selectors else found


_AS: dict[str, CarryVerdict] = {
    "bool": as_form("int8"),
    "float not finite": NO,
    "decimal not finite": NO,
    "date as count": as_form("date"),
    "time as count": as_form("time"),
    "datetime as count": as_form("datetime"),
    "timestamp as count": as_form("timestamp"),
    "timestamp with zone": option("time-zone"),
    "interval": NO,
    "enum by index": as_form("enum by label"),
    "set by index": as_form("set by label"),
    "array": NO,
    "map": NO,
    "struct": NO,
    "unknown": NO,
    "unavailable": NO,
}

CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": option("output-old-value"),
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": option("include-commit-ts"),
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": NO,
        "sent_ms": NO,
        "partition": OF_PATHS,
        "types": EXACT,
        "schema change": EXACT,
        "progress": EXACT,
        "markers": NO,
    },
    kinds={kind: _AS.get(kind, EXACT) for kind in KINDS},
)
"""The event fields and kinds that CSV files carry under the default options."""

FORMAT = Format(
    name="csv",
    protocols=("csv",),
    title="Storage sink CSV",
    page="docs/formats/csv.md",
    shared_pages=("storage",),
    to_events=plain_events,
    from_events=from_events,
    spans=spans,
    cuts_spans=cuts_spans,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    comparing=Comparing(
        orders=(COMMIT_TS,),
        written_alike=_written_alike,
        not_compared=("handle-key column",),
    ),
    features=FEATURES,
    choices=CHOICES,
    prepared=_prepared,
    stored=STORED,
    needs_tables=True,
    carriers=("storage",),
    fast_decoder=RowDecoder,
    fast_encoder=RowEncoder,
    skips_columns=True,
    joining_decoder=JoiningDecoder,
)
to_events = FORMAT.events
explain = FORMAT.explain
