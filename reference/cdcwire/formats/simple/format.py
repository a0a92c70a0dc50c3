"""TiCDC `simple` as a format: what the registry offers to runner, command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.core.claim_check import with_claim_checks
from cdcwire.core.comparing import Comparing
from cdcwire.core.context import NO_CONTEXT, Context, with_sent_tables
from cdcwire.core.errors import DecodeError
from cdcwire.core.guess import Guess, JsonObject, json_object, offset_of
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.core.options import OptionValue
from cdcwire.core.orders import COMMIT_TS
from cdcwire.format import Format, checks
from cdcwire.formats.simple.avro_wire import FIRST_BYTE, MESSAGE_TYPES
from cdcwire.formats.simple.batching import messages_of
from cdcwire.formats.simple.checksum import warnings_of
from cdcwire.formats.simple.definitions import definitions_of, table_of
from cdcwire.formats.simple.events import events_of
from cdcwire.formats.simple.fast import RowDecoder
from cdcwire.formats.simple.message import CLASSES, RECORDS, Bootstrap, Ddl, Dml, Watermark
from cdcwire.formats.simple.settings import OPTIONS, read_settings
from cdcwire.formats.simple.spans import spans
from cdcwire.formats.simple.wire import decompressed, read_message
from cdcwire.model.carries import EXACT, NO, Carries, CarryVerdict, as_form, lossy
from cdcwire.model.events import Event, Table
from cdcwire.mysql.carries import LABELS_AS_INDEXES, MYSQL_FEATURES, mysql_kinds
from cdcwire.mysql.settings import compressions_of

_MEMBERS = RECORDS[Watermark].required  # a watermark has no other members
_AVRO_STARTS = {bytes((FIRST_BYTE, 2 * kind, 2 * kind, 2)) for kind in range(len(MESSAGE_TYPES))}


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is `simple`."""
    if not isinstance(message, KafkaMessage) or not message.value:
        return None
    value = message.value
    found = json_object(value)
    if found is not None:
        return _of_object(found, value)
    if value[:4] in _AVRO_STARTS:
        kind = MESSAGE_TYPES[value[1] // 2]
        return Guess(
            f"the first bytes are those of the record {kind} in the union of all records",
            alone="likely",
            options={"encoding-format": "avro"},
        )
    alternatives = compressions_of(value) if message.key is None else ()
    if not alternatives:
        return None
    avro = tuple({"encoding-format": "avro", **each} for each in alternatives)
    evidence = "bytes that begin as a compressed value does"
    return Guess(evidence, alternatives=(*alternatives, *avro))


def _of_object(found: JsonObject, value: bytes) -> Guess | None:
    if not found.keys() >= _MEMBERS or found["type"] not in CLASSES:
        return None
    options: dict[str, OptionValue] = {}
    if found.get("claimCheckLocation"):
        options["large-message-handle-option"] = "claim-check"
    elif found.get("handleKeyOnly") is True:
        options["large-message-handle-option"] = "handle-key-only"
    return Guess(
        "the members version, type, commitTs and buildTs",
        "value",
        offset_of(value, "buildTs"),
        alone="sure",
        options=options,
    )


FEATURES: Mapping[str, str] = MappingProxyType(
    {
        **MYSQL_FEATURES,
        "vector": "VECTOR",
        "position": "commit timestamps and times of sending",
        "key": "the handle key columns of a row",
        "ddl": "schema changes",
        "watermark": "watermarks",
        "encoding-format": "messages in Avro, with encoding-format avro",
        "handle-key-only": "large messages cut to the handle key",
        "claim-check": "large messages stored outside the queue",
        "compression": "messages compressed with lz4 or snappy",
        "definitions": "types of columns from separate table definitions",
        **checks(
            "integer ranges",
            "text shapes",
            "json types",
            "letter case",
            "well-formed utf-8",
            "lone surrogates",
            "unique names",
            "strict json",
            "strict base64",
            "limits",
            "unneeded members",
        ),
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "claim-check-file-missing": "give the handle key and the location",
        "table-schema-missing": "reject",
        "unknown-version": "reject",
    }
)
# BOOTSTRAP and DDL in Avro.
_DEFINING_STARTS = frozenset(bytes((FIRST_BYTE, 2 * kind)) for kind in (1, 2))


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    settings = read_settings(context)
    if isinstance(message, StoredFile):
        return  # a claim-check file: the message that names it has its row
    found = read_message(message.value, settings)
    definitions = definitions_of(context.tables)
    yield from events_of(found, settings, context.blobs, context.selection, definitions)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, table schemas before rows. Raises: EncodeError, OptionError."""
    yield from messages_of(events, read_settings(context), context.tables)


def _prepared(messages: Iterable[Message], context: Context) -> Context:
    files: list[StoredFile] = []
    tables: list[Table] = []
    for message in messages:
        if isinstance(message, StoredFile):
            files.append(message)
        else:
            tables += _tables_in(message, context)
    return with_sent_tables(with_claim_checks(files, context), tables)


def _tables_in(message: KafkaMessage, context: Context) -> tuple[Table, ...]:
    """Return the table schemas in a message; none of a broken one, which decoding reports."""
    settings = read_settings(context)
    try:
        value = decompressed(message.value or b"", settings)
        if settings.encoding_format == "avro":
            may_define = value[:2] in _DEFINING_STARTS
        else:
            may_define = b"ableSchema" in value
        found = read_message(message.value, settings) if may_define else None
    except DecodeError:
        return ()
    match found:
        case Bootstrap():
            return (table_of(found.table_schema),)
        case Ddl():
            schemas = (found.pre_table_schema, found.table_schema)
            return tuple(table_of(schema) for schema in schemas if schema is not None)
        case _:
            return ()


def _warnings(message: Message, context: Context) -> tuple[str, ...]:
    if isinstance(message, StoredFile):
        return ()
    found = read_message(message.value, read_settings(context))
    return warnings_of(found, definitions_of(context.tables)) if isinstance(found, Dml) else ()


_KINDS: dict[str, CarryVerdict] = {
    **LABELS_AS_INDEXES,
    "bool": as_form("int8"),
    "float not finite": NO,
    "text ill-formed": lossy("ill-formed bytes, each becomes U+FFFD", replaced="in all text"),
    "timestamp with zone": as_form("timestamp with zone"),
}
CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": EXACT,
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": NO,
        "sent_ms": EXACT,
        "partition": NO,
        "types": EXACT,
        "schema change": lossy(
            "the number of the action, and the schema of a statement about a whole one"
        ),
        "progress": EXACT,
        "markers": NO,
    },
    kinds=mysql_kinds(_KINDS),
)
"""The event fields and kinds that `simple` carries under the default options."""

FORMAT = Format(
    name="simple",
    protocols=("simple",),
    title="TiCDC Simple",
    page="docs/formats/simple.md",
    to_events=plain_events,
    from_events=from_events,
    spans=spans,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    comparing=Comparing(
        orders=(COMMIT_TS,),
        not_compared=(
            *("buildTs", "checksum", "handleKeyOnly", "claimCheckLocation", "tableID"),
            *("names of indexes", "Kafka keys"),
        ),
    ),
    features=FEATURES,
    choices=CHOICES,
    prepared=_prepared,
    warnings=_warnings,
    tables_in=_tables_in,
    has_claim_checks=True,
    fast_decoder=RowDecoder,
    fixes_bytes="by value",
)
to_events = FORMAT.events
explain = FORMAT.explain
