"""DataHub Tuple as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType

from cdcwire.core import orders
from cdcwire.core.comparing import Comparing
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.explanation import unread_key
from cdcwire.core.guess import Guess
from cdcwire.core.message import Message
from cdcwire.core.options import OptionError
from cdcwire.core.reader import EventPart, Span, Subject
from cdcwire.datahub.carrying import queued
from cdcwire.datahub.explain import body_spans
from cdcwire.datahub.fields import Field
from cdcwire.datahub.identify import guess_body
from cdcwire.datahub.records import CLAUSE_RECORDS
from cdcwire.datahub.sharding import value_text
from cdcwire.format import Format, checks
from cdcwire.formats.datahub_tuple.events import events_of, messages_of
from cdcwire.formats.datahub_tuple.fast import RowDecoder
from cdcwire.formats.datahub_tuple.fast_encoder import RowEncoder
from cdcwire.formats.datahub_tuple.settings import EXECUTE_TIMES, OPTIONS, read_settings
from cdcwire.formats.datahub_tuple.topic import (
    AFTER_IMAGE,
    BEFORE_IMAGE,
    OPERATION_TYPE,
    SEQUENCE_ID,
    SOURCE_TABLE,
    field_type_of,
    find_table,
    topic_in,
    topic_of,
)
from cdcwire.formats.datahub_tuple.values import to_field
from cdcwire.model.carries import EXACT, KINDS, NO, Carries, CarryVerdict, as_form, lossy
from cdcwire.model.events import Event, Table
from cdcwire.model.kinds import Column, Value

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "small integers": "TINYINT, SMALLINT and INTEGER",
        "bigint": "BIGINT",
        "float": "FLOAT and DOUBLE",
        "boolean": "BOOLEAN",
        "timestamp": "TIMESTAMP, microseconds since 1970",
        "text": "STRING",
        "decimal": "DECIMAL",
        "bytes": "bytes in a STRING, as base64",
        "position": "sequence ids and times of rows",
        "json bodies": "bodies of the service in JSON",
        "protobuf bodies": "bodies of the service in protobuf",
        "batch bodies": "bodies of the service with binary batches",
        "short records": "records that are older than the last fields of their topic",
        "compression": "batches and bodies that are compressed",
        "empty-is-null": "the setting of this name",
        "execute-time-column": "the setting of this name",
        "image flags": "refuses image flags that contradict the operation of an insert or a delete",
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
            "not null",
            "limits",
            "unneeded members",
            "checksums",
        ),
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "field-count-zero": "accept",
        "float-not-finite": "accept",
        "leading-zeros": "accept",
        "other-table": "reject",
        "source-table-column-missing": "accept",
        "unknown-version": "reject",
    }
)


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is a body of tuples."""
    return guess_body(message, "tuples")


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    settings, topic = topic_in(context)
    yield from events_of(queued(message), topic, settings, context.selection)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError."""
    settings, topic = topic_in(context)
    yield from messages_of(events, topic, settings)


def _topic_tables(context: Context) -> tuple[Table, ...]:
    settings = read_settings(context)
    tables = (find_table(context.tables, settings),) if settings.table else context.tables
    if not tables:
        raise OptionError("a Tuple topic needs the definition of its table (--ddl or --tables)")
    for table in tables:
        topic_of(table, settings)
    return tables


def _shard_text(column: Column, value: Value) -> str | None:
    return value_text(to_field(Field(column.name, field_type_of(column)), column, value))


_TEXT = as_form("text")
_KINDS: dict[str, CarryVerdict] = {
    "int24": as_form("int32"),
    "int8 unsigned": as_form("int16"),
    "int16 unsigned": as_form("int32"),
    "int24 unsigned": as_form("int32"),
    "int32 unsigned": as_form("int64"),
    "year": as_form("int32"),
    **dict.fromkeys(
        (
            "int64 unsigned",
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
    "timestamp with zone": as_form("timestamp with zone"),
    **dict.fromkeys(
        (
            "float not finite",
            "decimal not finite",
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
        "sent_ms": NO,
        "partition": NO,
        "types": lossy("all types but ten"),
        "schema change": NO,
        "progress": NO,
        "markers": NO,
    },
    kinds={kind: _KINDS.get(kind, EXACT) for kind in KINDS},
)
"""The event fields and kinds that Tuple topics carry under the default options."""


_PARTS: dict[str | None, tuple[EventPart, ...]] = {
    OPERATION_TYPE: ("kind", "op"),
    AFTER_IMAGE: ("half",),
    SOURCE_TABLE: ("table",),
    SEQUENCE_ID: ("sequence_id",),
    **dict.fromkeys(EXECUTE_TIMES, ("commit_ms",)),
}


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of a body."""
    settings, topic = topic_in(context)
    body = queued(message)
    yield from unread_key(body, CLAUSE_RECORDS)
    events = enumerate(events_of(body, topic, settings))
    current = -1
    image: EventPart = "after"

    def image_of(index: int) -> EventPart | None:
        """Return the image that a record has; None from an error on."""
        nonlocal current, image
        with suppress(DecodeError, StopIteration):
            while current < index:
                current, event = next(events)
                image = "after" if event.before is None else "before"
        return image if current == index else None

    def subject_of(index: int, field: str | None) -> Subject | None:
        if field == BEFORE_IMAGE:
            return Subject(index, ("half",), "before")
        if field in _PARTS:
            return Subject(index, _PARTS[field])
        part = image_of(index) if field in event_columns else None
        return None if part is None else Subject(index, (part,), field)

    event_columns = {column.name for column in topic.columns}
    yield from body_spans(body, topic.fields, settings.body, subject_of)


FORMAT = Format(
    name="datahub-tuple",
    title="DataHub Tuple",
    page="docs/formats/datahub-tuple.md",
    shared_pages=("datahub",),
    to_events=plain_events,
    from_events=from_events,
    spans=spans,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    comparing=Comparing(
        orders=(orders.SEQUENCE_ID,),
        not_compared=("attributes of records", "places in the topic", "times of writing"),
        updates_are_two_records=True,
    ),
    features=FEATURES,
    choices=CHOICES,
    needs_tables=True,
    fixes_bytes="by value",
    fast_decoder=RowDecoder,
    fast_encoder=RowEncoder,
    topic_tables=_topic_tables,
    shard_text=_shard_text,
)
to_events = FORMAT.events
explain = FORMAT.explain
