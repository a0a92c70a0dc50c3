"""Debezium Avro as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.apache_avro.registries import MAGIC, Registry, read_envelope
from cdcwire.apache_avro.sources import (
    SCHEMA_SUFFIX,
    KnownSchemas,
    MemorySource,
    SchemaSource,
    schema_of,
    with_prepared_schemas,
    with_schema_files,
)
from cdcwire.connect import Envelope
from cdcwire.connect.carries import DEBEZIUM_KINDS
from cdcwire.core.comparing import Comparing, KeyReader
from cdcwire.core.context import NO_CONTEXT, Context, SchemaId, SchemaUse
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.guess import Guess, Sureness
from cdcwire.core.message import KafkaMessage, Message, expect_kafka
from cdcwire.core.options import Connector, OptionValue
from cdcwire.core.reader import Reader
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
from cdcwire.debezium.names import with_adjusted_names
from cdcwire.debezium.releases import RELEASES
from cdcwire.debezium.shapes import dialect_of
from cdcwire.debezium.source import source_in
from cdcwire.debezium.writing import messages_of
from cdcwire.debezium.writing_parts import Writer
from cdcwire.format import Format, checks
from cdcwire.formats.debezium_avro.avro_schema import avro_text
from cdcwire.formats.debezium_avro.connect_schema import SCHEMAS, plan_of_text
from cdcwire.formats.debezium_avro.fast import KeyColumns, RowDecoder
from cdcwire.formats.debezium_avro.framing import (
    APICURIO_BYTES,
    CLAUSE,
    HEAD_BYTES,
    read_framing,
    write_framing,
)
from cdcwire.formats.debezium_avro.settings import OPTIONS, Framing, Settings, read_settings
from cdcwire.formats.debezium_avro.spans import spans, warnings
from cdcwire.formats.debezium_avro.ticdc import ticdc_messages
from cdcwire.formats.debezium_avro.wire import MESSAGES, key_bytes, read_message
from cdcwire.model.carries import Carries
from cdcwire.model.events import Event, Table

_HEAD = 18
_ALONE: Sureness = "possible"
_BORDERS = (b"\x0aBEGIN", b"\x06END")
_LONG_HEAD = bytes(5)  # ids of 8 bytes are small


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is Debezium's Avro."""
    if schema_of(message) is not None:
        return Guess("a schema of Avro in a file", "path", 0, "possible")
    if not isinstance(message, KafkaMessage):
        return None
    if message.value is None:
        if message.key is None:
            return Guess("neither key nor value, as after a delete", "key", if_decoded="possible")
        framing = _framing(message.key)
        if framing is None:
            return None
        evidence = "a key with the id of a schema, and no value: a tombstone"
        return Guess(evidence, "key", 0, "possible", options={"registry": framing})
    return _of_value(message.value)


def _of_value(value: bytes) -> Guess | None:
    framing, found = _framing(value), source_in(value)
    alone: Sureness
    options: dict[str, OptionValue]
    if found is None:
        if framing is None:
            return None
        evidence, alone = "the value begins with the id of a schema", _ALONE
        if value[HEAD_BYTES[framing] :].startswith(_BORDERS):
            evidence, alone = "the id of a schema, then BEGIN or END of a transaction", "likely"
        options = {"registry": framing}
        return Guess(evidence, "value", 0, "sure", alone, options)
    options = {"registry": framing or "apicurio-headers"}
    dialect = "ticdc" if found.connector == "TiCDC" else dialect_of(found.version)
    if dialect is not None:
        options["dialect"] = dialect
    return Guess(
        "the version and the connector of a source, as a change has them in Avro",
        "value",
        found.offset,
        alone="sure" if framing is not None else "likely",
        options=options,
        facts={"version": found.version, "connector": found.connector},
    )


def _framing(data: bytes) -> Framing | None:
    if data.startswith(_LONG_HEAD):
        return "apicurio" if len(data) >= APICURIO_BYTES else None
    framing: Registry = "confluent" if data[:1] == bytes((MAGIC,)) else "glue"
    try:
        read_envelope(Reader(data[:_HEAD]), framing)
    except DecodeError:
        return None
    return framing if len(data) >= HEAD_BYTES[framing] else None


CARRIES = Carries(fields=DEBEZIUM_FIELDS, kinds=DEBEZIUM_KINDS)


def written(
    events: Iterable[Event], settings: Settings, tables: tuple[Table, ...], source: SchemaSource
) -> Iterator[KafkaMessage]:
    """Yield the messages of events; ``source`` takes their schemas. Raises: EncodeError."""
    return messages_of(events, Writer(settings, _encoder(settings, source)), tables)


def _encoder(settings: Settings, source: SchemaSource) -> Callable[[Envelope], bytes]:
    if settings.framing == "apicurio-headers":
        raise EncodeError("registry=apicurio-headers is for reading: bytes have no headers", CLAUSE)

    def encode(envelope: Envelope) -> bytes:
        if envelope.schema is None:
            raise EncodeError("a payload needs its schema", SCHEMAS)
        schema = with_adjusted_names(envelope.schema, settings.schema_names, each_part=True)
        text = avro_text(schema)
        out = bytearray()
        # Names are not part of a subject's rule here: each source of schemas ignores them.
        write_framing(out, settings.framing, source.register("", text))
        plan_of_text(text).write(out, envelope.payload)
        return bytes(out)

    return encode


FEATURES: Mapping[str, str] = MappingProxyType(
    {
        **DEBEZIUM_FEATURES,
        "decimal": "decimals as bytes",
        "unwrapped rows": "rows by themselves, as ExtractNewRecordState leaves them",
        "registry": "ids of 8 bytes, in headers, or of AWS Glue",
        "foreign types": "unions, Avro's enums and fixed, which no connector of Debezium writes",
        **checks(
            "integer ranges",
            "text shapes",
            "letter case",
            "well-formed utf-8",
            "unique names",
            "undefined types",
            "limits",
        ),
    }
)
CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "debezium-delete": "key columns only, unless the row or replica-identity shows FULL",
        "raw-utf8": "kept as bytes",
    }
)
_CONFLUENT = "io.confluent.connect.avro.AvroConverter"
_APICURIO = "io.apicurio.registry.utils.converter.AvroConverter"
_GLUE = "com.amazonaws.services.schemaregistry.kafkaconnect.AWSKafkaAvroConverter"
CONNECTORS = tuple(
    Connector(
        converter,
        (f"io.debezium.connector.{name}",),
        {**options, **defaults},
        needs_converter=True,
    )
    for converter, options in (
        (_CONFLUENT, {}),
        (_APICURIO, {"registry": "apicurio-headers"}),
        (_GLUE, {"registry": "glue"}),
    )
    for name, defaults in CLASSES.items()
)


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    settings = read_settings(context)
    if schema_of(message) is not None:
        return
    kafka = expect_kafka(message, MESSAGES)
    decoded = read_message(kafka, KnownSchemas(context.schemas), settings, context.tables)
    yield from events_of(decoded, key_bytes, settings, context.selection)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError."""
    settings = read_settings(context)
    registry: Registry = "glue" if settings.framing == "glue" else "confluent"
    source = MemorySource(context.schemas, registry, by_text=True)
    write = ticdc_messages if settings.dialect == "ticdc" else written
    yield from with_schema_files(write(events, settings, context.tables, source), source)


def _key_reader(context: Context) -> KeyReader:
    return KeyColumns(context).content


def _head_bytes(context: Context) -> int:
    return HEAD_BYTES[read_settings(context).framing]


def _schema_id(head: bytes, context: Context) -> SchemaId:
    return read_framing(Reader(head), read_settings(context).framing, {}, "value")


FORMAT = Format(
    name="debezium-avro",
    protocols=("debezium-avro",),
    connectors=CONNECTORS,
    title="Debezium Avro",
    page="docs/formats/debezium-avro.md",
    shared_pages=("connect", "debezium-json", "avro"),
    to_events=plain_events,
    from_events=from_events,
    spans=spans,
    cuts_spans=lambda error: False,
    warnings=warnings,
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
        key_reader=_key_reader,
        describes_snapshot=describes_snapshot,
        key_rows_have_nulls=True,
    ),
    features=FEATURES,
    choices=CHOICES,
    prepared=with_prepared_schemas,
    fast_decoder=RowDecoder,
    schemas=SchemaUse(
        file_suffix=SCHEMA_SUFFIX,
        schema_file=schema_of,
        head_bytes=_head_bytes,
        schema_id=_schema_id,
        find=lambda schemas, schema_id: KnownSchemas(schemas).get(schema_id),
    ),
)
to_events = FORMAT.events
explain = FORMAT.explain
