"""Canal-JSON as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from cdcwire.core.claim_check import is_claim_check, with_claim_checks
from cdcwire.core.comparing import Comparing
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import Message, StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.core.orders import COMMIT_TS
from cdcwire.format import Format, checks
from cdcwire.formats.canal_json.batching import messages_of
from cdcwire.formats.canal_json.columns import definitions_of
from cdcwire.formats.canal_json.events import events_of, from_event
from cdcwire.formats.canal_json.fast import RowDecoder
from cdcwire.formats.canal_json.fast_encoder import RowEncoder
from cdcwire.formats.canal_json.files import read_file, to_files
from cdcwire.formats.canal_json.identify import identify
from cdcwire.formats.canal_json.images import ImageWriter
from cdcwire.formats.canal_json.settings import OPTIONS, read_settings
from cdcwire.formats.canal_json.spans import spans
from cdcwire.formats.canal_json.wire import read_message, write_object
from cdcwire.model.carries import EXACT, NO, Carries, CarryVerdict, as_form, lossy, option
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.mysql.carries import LABELS_AS_INDEXES, MYSQL_FEATURES, mysql_kinds
from cdcwire.storage.feeds import with_definitions
from cdcwire.storage.form import StoredForm, StoredSettings


def _stored_settings(context: Context) -> StoredSettings:
    found = read_settings(context)
    return StoredSettings(
        found.layout,
        found.terminator,
        found.file_size,
        found.time_zone,
        has_labels=found.has_full_types,
        has_rows_of_one_record=found.dialect == "ticdc",
    )


class _StoredEncoder:
    def __init__(self, context: Context) -> None:
        # Rows of files are never compressed and never cut.
        self._settings = replace(
            read_settings(context), compression_name="none", large_message="none"
        )
        self._images: dict[tuple[str | None, str | None], tuple[Table, ImageWriter]] = {}

    def header(self, event: RowChange, definition: Table) -> bytes:
        return b""

    def rows(self, event: RowChange, definition: Table) -> bytes:
        settings = self._settings
        message = from_event(event, settings, self._images_of(definition))
        return write_object(message, settings.dialect) + settings.terminator

    def _images_of(self, definition: Table) -> ImageWriter:
        """Return the writer of images of a table as it is now."""
        name = (definition.schema, definition.name)
        known = self._images.get(name)
        if known is None or known[0] is not definition:
            settings = self._settings
            images = ImageWriter(settings, (definition,))
            self._images[name] = known = (definition, images)
        return known[1]


STORED = StoredForm(_stored_settings, _StoredEncoder, option=("transport", "storage"))


FEATURES: Mapping[str, str] = MappingProxyType(
    {
        **MYSQL_FEATURES,
        "vector": "VECTOR",
        "position": "commit timestamps and times of events",
        "key": "the primary key columns of a row",
        "ddl": "schema changes",
        "watermark": "watermarks",
        "partition": "rows of partitioned tables in files, with their partition",
        "enable-tidb-extension": "the setting of this name",
        "only-output-updated-columns": "the setting of this name",
        "content-compatible": "the setting of this name",
        "delete-only-output-handle-key-columns": "the setting of this name",
        "handle-key-only": "large messages cut to the handle key",
        "claim-check": "large messages stored outside the queue",
        "compression": "messages compressed with lz4 or snappy",
        "dialect canal": "messages of the official Canal, with several rows each",
        "files": "files of a storage prefix",
        "rowkey": "the member rowkey of the newer producer",
        "no tidb extension": "messages without the TiDB extension",
        **checks(
            "integer ranges",
            "text shapes",
            "json types",
            "letter case",
            "well-formed utf-8",
            "lone surrogates",
            "unique names",
            "strict json",
            "undefined types",
            "limits",
            "unneeded members",
            "checksums",
            "paths",
        ),
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "claim-check-file-missing": "give the handle key and the location",
        "delete-row-in-old": "accept",
        "element-escapes": "undo",
        "empty-message": "accept",
        "json-empty": "accept",
        "old-missing-column": "unchanged",
        "pknames-null": "no primary key",
        "statement-of-rows": "no event",
        "update-without-old": "accept",
    }
)


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    settings = read_settings(context)
    selection = context.selection
    if isinstance(message, StoredFile):
        if not is_claim_check(message, context.blobs):
            yield from read_file(message, settings, context.tables, selection)
        return
    definitions = definitions_of(context.tables)
    found = read_message(message.value, settings.compression, selection, definitions)
    if found is not None:
        yield from events_of(found, settings, context.blobs, selection, definitions)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError."""
    settings = read_settings(context)
    make = to_files if settings.transport == "storage" else messages_of
    yield from make(events, settings, context.tables)


def _prepared(messages: Iterable[Message], context: Context) -> Context:
    settings = read_settings(context)
    files: list[StoredFile] = []
    is_queue = settings.transport == "queue" and settings.large_message == "claim-check"
    for message in messages:
        if isinstance(message, StoredFile):
            files.append(message)
        else:
            is_queue = True
    if is_queue:
        return with_claim_checks(files, context)
    return with_definitions(files, context, settings.layout, settings.time_zone)


def _sends_changed_columns(options: Mapping[str, OptionValue]) -> bool:
    # Source: canal-json, "only updated columns", "content compatible", "official canal".
    is_compatible = options["content-compatible"] or options["dialect"] == "canal"
    return bool(options["only-output-updated-columns"] or is_compatible)


_KINDS: dict[str, CarryVerdict] = {
    **LABELS_AS_INDEXES,
    "bool": as_form("int8"),
    "float not finite": NO,
    "text ill-formed": lossy("ill-formed bytes, each becomes U+FFFD", replaced="in all text"),
}
CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": option("enable-tidb-extension"),
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": EXACT,
        "sent_ms": EXACT,
        "partition": NO,  # a file's path has it, a message does not
        # mysqlType has them in full under content-compatible only.
        "types": lossy("lengths, digits and elements"),
        "schema change": lossy("the number of the action"),
        "progress": option("enable-tidb-extension"),
        "markers": NO,
    },
    kinds=mysql_kinds(_KINDS),
)
"""The event fields and kinds that Canal-JSON carries on a queue, under the default options."""

FORMAT = Format(
    name="canal-json",
    protocols=("canal-json",),
    title="Canal-JSON",
    page="docs/formats/canal-json.md",
    shared_pages=("storage",),
    to_events=plain_events,
    from_events=from_events,
    spans=spans,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    comparing=Comparing(
        orders=(COMMIT_TS,),
        sends_changed_columns=_sends_changed_columns,
        not_compared=(
            *("id", "ts", "gtid", "sqlType", "startTs", "rowkey", "originTs", "checksum"),
            *("onlyHandleKey", "claimCheckLocation", "sql of rows", "Kafka keys"),
        ),
    ),
    features=FEATURES,
    choices=CHOICES,
    prepared=_prepared,
    stored=STORED,
    carriers=("queue", "storage"),
    has_claim_checks=True,
    fixes_bytes="by value",
    fast_decoder=RowDecoder,
    fast_encoder=RowEncoder,
    skips_columns=True,
)
to_events = FORMAT.events
explain = FORMAT.explain
