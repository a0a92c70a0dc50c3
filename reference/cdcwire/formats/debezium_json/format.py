"""Debezium JSON as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType

from cdcwire.connect import Parsed
from cdcwire.connect.carries import DEBEZIUM_KINDS
from cdcwire.connect.explain import message_spans
from cdcwire.connect.fields import image_of_key
from cdcwire.connect.identify import lacks_schema
from cdcwire.connect.settings import JSON_SINKS, NEEDED
from cdcwire.core.comparing import Comparing, KeyContent, KeyReader
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message, expect_kafka
from cdcwire.core.options import JSON_CONVERTER, Connector
from cdcwire.core.reader import Span
from cdcwire.debezium.comparing import (
    ADJUSTED_NAME,
    CLASSES,
    DEBEZIUM_FEATURES,
    DEBEZIUM_FIELDS,
    KEY_FIELD_OPTION,
    NOT_COMPARED,
    ORDERS,
    changed_values,
    deletes_have_position,
    deletes_in_markers,
    describes_snapshot,
)
from cdcwire.debezium.events import events_of
from cdcwire.debezium.message import Message as DebeziumMessage
from cdcwire.debezium.message import Tombstone
from cdcwire.debezium.names import original_image
from cdcwire.debezium.releases import RELEASES
from cdcwire.debezium.subjects import clauses_of, key_subjects, value_subjects
from cdcwire.debezium.writing import messages_of
from cdcwire.format import Format, checks
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.formats.debezium_json.fast_encoder import RowEncoder
from cdcwire.formats.debezium_json.identify import identify
from cdcwire.formats.debezium_json.settings import OPTIONS, read_settings
from cdcwire.formats.debezium_json.ticdc import ticdc_messages
from cdcwire.formats.debezium_json.wire import key_bytes, opened, read_key, read_message, writer_of
from cdcwire.model.carries import Carries
from cdcwire.model.events import Event


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of key and value."""
    settings = read_settings(context)
    kafka = expect_kafka(message, "debezium-json: members")
    if settings.compression is not None:
        for part, data in (("key", kafka.key), ("value", kafka.value)):
            if data:
                yield Span((part,), 0, len(data), "compressed", "debezium-json: ticdc", part)
        return
    found: DebeziumMessage | None = None
    with suppress(DecodeError):
        found = read_message(kafka, settings, context.tables)
    text_key = "debezium-json: keys" if settings.key_converter == "string" else None
    clauses = clauses_of(found)
    subjects = value_subjects(found), key_subjects(found)
    del found
    yield from message_spans(kafka, clauses, *subjects, text_key)


CARRIES = Carries(fields=DEBEZIUM_FIELDS, kinds=DEBEZIUM_KINDS)


FEATURES: Mapping[str, str] = MappingProxyType(
    {
        **DEBEZIUM_FEATURES,
        "schemas off": "messages without schema",
        "unwrapped rows": "rows by themselves, as ExtractNewRecordState leaves them",
        "string keys": "Kafka keys of StringConverter",
        "definitions": "definitions of tables for messages without schema",
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
            "not null",
            "limits",
            "unneeded members",
        ),
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "debezium-delete": "key columns only, unless the row or replica-identity shows FULL",
        "debezium-other-producer": "read with producer=any",
        "debezium-snapshot-value": "kept, with a warning",
        "connect-null-with-default": "stays null",
        "connect-unknown-member": "dropped, with a warning",
        "connect-unknown-column": "kept with the type that its value shows, and a warning",
        "connect-other-definition": "not used, with a warning",
        "raw-utf8": "read as U+FFFD",
        "schema-mismatch": "reject",
        "unknown-version": "reject",
    }
)


CONNECTORS = (
    *(
        Connector(JSON_CONVERTER, (f"io.debezium.connector.{name}",), defaults, NEEDED)
        for name, defaults in CLASSES.items()
    ),
    JSON_SINKS,
)


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    settings = read_settings(context)
    kafka = expect_kafka(message, "debezium-json: members")
    decoded = read_message(kafka, settings, context.tables)
    yield from events_of(decoded, key_bytes, settings, context.selection)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError."""
    settings = read_settings(context)
    if settings.dialect == "ticdc":
        yield from ticdc_messages(events, settings, context.tables)
        return
    yield from messages_of(events, writer_of(settings), context.tables)


def _warnings(message: Message, context: Context) -> tuple[str, ...]:
    kafka = expect_kafka(message, "debezium-json: members")
    found = read_message(kafka, read_settings(context), context.tables)
    return () if isinstance(found, Tombstone) else found.warnings


def _key_reader(context: Context) -> KeyReader:
    settings = read_settings(context)

    def content(message: KafkaMessage) -> KeyContent | None:
        if settings.compression is not None:
            message = opened(message, settings)
        parsed = None if message.key is None else read_key(message.key, settings)
        columns = image_of_key(parsed) if isinstance(parsed, Parsed) else None
        if columns is not None and settings.key_field_name in columns.names:
            columns = columns.only(frozenset(columns.names) - {settings.key_field_name})
        if columns is None:
            return None
        return KeyContent(original_image(columns, settings.field_names))

    return content


FORMAT = Format(
    name="debezium-json",
    connectors=CONNECTORS,
    protocols=("debezium",),
    title="Debezium JSON, and CDL's 2.0",
    page="docs/formats/debezium-json.md",
    shared_pages=("connect",),
    to_events=plain_events,
    from_events=from_events,
    spans=spans,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    comparing=Comparing(
        orders=ORDERS,
        not_compared=NOT_COMPARED,
        changed_values=changed_values,
        deletes_have_position=deletes_have_position,
        deletes_in_markers=deletes_in_markers,
        adjusted_name=ADJUSTED_NAME,
        key_field_option=KEY_FIELD_OPTION,
        releases={"debezium": RELEASES},
        infers_types=lacks_schema,
        key_reader=_key_reader,
        describes_snapshot=describes_snapshot,
        key_rows_have_nulls=True,
    ),
    features=FEATURES,
    choices=CHOICES,
    warnings=_warnings,
    fast_decoder=RowDecoder,
    fast_encoder=RowEncoder,
)
to_events = FORMAT.events
explain = FORMAT.explain
