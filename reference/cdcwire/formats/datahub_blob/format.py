"""DataHub Blob as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.core.comparing import Comparing
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.guess import Guess, json_object, offset_of
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.orders import SEQUENCE_ID
from cdcwire.datahub.carrying import queued
from cdcwire.datahub.identify import guess_body
from cdcwire.datahub.ops import OPS
from cdcwire.datahub.sharding import blob_text
from cdcwire.datahub.streamx import to_blob, type_of
from cdcwire.format import Format, checks
from cdcwire.formats.datahub_blob.batching import events_of, messages_of
from cdcwire.formats.datahub_blob.fast import RowDecoder
from cdcwire.formats.datahub_blob.fast_encoder import RowEncoder
from cdcwire.formats.datahub_blob.settings import OPTIONS, read_settings
from cdcwire.formats.datahub_blob.spans import spans
from cdcwire.model.carries import EXACT, KINDS, NO, Carries, CarryVerdict, as_form, lossy
from cdcwire.model.events import Event
from cdcwire.model.kinds import Column, Value

_MEMBERS = {"schema", "payload"}
_OF_SCHEMA = {"dataColumn", "source"}

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "long": "LONG, up to 64 bits",
        "double": "DOUBLE",
        "boolean": "BOOLEAN",
        "text": "STRING",
        "bytes": "BYTES",
        "date": "DATE, milliseconds since 1970",
        "position": "sequence ids and times of events",
        "key": "the primary key columns of a row",
        "update": "updates as one message with both rows",
        "halves": "updates as two messages, before and after",
        "ddl": "schema changes",
        "ddlMeta": "the serialised statement of a schema change, as bytes",
        "markers": "transaction borders and the other markers",
        "heartbeat": "heartbeats",
        "json bodies": "bodies of the service in JSON",
        "protobuf bodies": "bodies of the service in protobuf",
        "batch bodies": "bodies of the service with binary batches",
        "compression": "batches and bodies that are compressed",
        "date-digits": "the setting of this name",
        "lenient-ops": "the setting of this name",
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
            "undefined types",
            "limits",
            "unneeded members",
            "checksums",
        ),
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "date-width": "any number of digits",
        "ddl-meta-other-stream": "kept as bytes",
        "missing-column": "absent, not NULL",
        "null-members": "read as not there",
        "primary-key-missing": "no primary key",
        "sequence-id-of-heartbeat": "may be missing",
    }
)


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is a blob, or a body of blobs."""
    return _of_record(message) or guess_body(message, "blobs")


def _of_record(message: Message) -> Guess | None:
    if not isinstance(message, KafkaMessage):
        return None
    found = json_object(message.value)
    if found is None or message.value is None or not found.keys() >= _MEMBERS:
        return None
    schema, payload = found["schema"], found["payload"]
    if not isinstance(schema, dict) or not isinstance(payload, dict):
        return None
    is_marker = str(payload.get("op")) in OPS and not schema
    if not schema.keys() & _OF_SCHEMA and not is_marker:
        return None
    version = found.get("version")
    return Guess(
        f"the members schema and payload, with {'an op' if is_marker else 'dataColumn'} of DataHub",
        "value",
        offset_of(message.value, "schema"),
        alone="sure",
        options={"encoding": "record"},
        alternatives=({}, {"lenient-ops": True}),
        facts={"version": f"{version:.40}"} if isinstance(version, str) else {},
    )


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    settings = read_settings(context)
    yield from events_of(queued(message), settings, context.selection)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError."""
    yield from messages_of(events, read_settings(context))


def _shard_text(column: Column, value: Value) -> str | None:
    kind = type_of(column.type)
    return None if kind is None else blob_text(kind, to_blob(column, value))


_TEXT = as_form("text")
_LONG = as_form("int64")
_KINDS: dict[str, CarryVerdict] = {
    **dict.fromkeys(
        (
            *(f"int{bits}{sign}" for bits in (8, 16, 24, 32) for sign in ("", " unsigned")),
            "year",
        ),
        _LONG,
    ),
    **dict.fromkeys(
        (
            "int64 unsigned",
            "decimal",
            "decimal not finite",
            "date",
            "date as count",
            "time",
            "time as count",
            "datetime",
            "datetime as count",
            "timestamp",
            "timestamp as count",
            "interval",
            "enum by index",
            "enum by label",
            "set by index",
            "set by label",
            "json",
            "vector",
        ),
        _TEXT,
    ),
    "bit": as_form("int64", "text"),
    "timestamp with zone": as_form("timestamp with zone", "text"),
    "float32": as_form("float64"),
    **dict.fromkeys(
        (
            "float not finite",
            "text ill-formed",
            "array",
            "map",
            "struct",
            "unknown",
            "unavailable",
        ),
        NO,
    ),
}

CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": NO,
        "sequence_id": EXACT,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": EXACT,
        "sent_ms": EXACT,
        "partition": NO,
        "types": lossy("all types but six"),
        "schema change": lossy("the number of the action"),
        "progress": EXACT,
        "markers": EXACT,
    },
    kinds={kind: _KINDS.get(kind, EXACT) for kind in KINDS},
)
"""The event fields and kinds that Blob messages carry under the default options."""

FORMAT = Format(
    name="datahub-blob",
    title="DataHub Blob",
    page="docs/formats/datahub-blob.md",
    shared_pages=("datahub",),
    to_events=plain_events,
    from_events=from_events,
    spans=spans,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    comparing=Comparing(
        orders=(SEQUENCE_ID,),
        not_compared=("version", "dbType", "dbVersion", "checkpointTime", "systemTime"),
        updates_are_two_records=True,
    ),
    features=FEATURES,
    choices=CHOICES,
    fast_decoder=RowDecoder,
    fast_encoder=RowEncoder,
    shard_text=_shard_text,
)
to_events = FORMAT.events
explain = FORMAT.explain
