"""Avro as a format: what the registry of formats offers to the runner, the command line, Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from cdcwire.apache_avro.envelope import CONFLUENT_BYTES, GLUE_BYTES, read_envelope
from cdcwire.apache_avro.sources import (
    SCHEMA_SUFFIX,
    KnownSchemas,
    MemorySource,
    schema_of,
    with_prepared_schemas,
    with_schema_files,
)
from cdcwire.core.checks import checks
from cdcwire.core.comparing import Comparing, KeyContent, KeyReader
from cdcwire.core.configuration import Connector
from cdcwire.core.context import EVERYTHING, NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage, Message, expect_kafka
from cdcwire.core.orders import COMMIT_TS
from cdcwire.core.reader import Reader
from cdcwire.core.rows import Row
from cdcwire.core.schemas import SchemaId, SchemaUse
from cdcwire.format import Format
from cdcwire.formats.avro.carries import CARRIES
from cdcwire.formats.avro.definitions import Labels
from cdcwire.formats.avro.events import events_of
from cdcwire.formats.avro.fast import RowDecoder
from cdcwire.formats.avro.fast_encoder import RowEncoder
from cdcwire.formats.avro.identify import identify
from cdcwire.formats.avro.names import sanitize
from cdcwire.formats.avro.settings import OPTIONS, read_settings
from cdcwire.formats.avro.spans import spans, warnings
from cdcwire.formats.avro.wire import decode
from cdcwire.formats.avro.writing import messages_of
from cdcwire.model.events import Event
from cdcwire.mysql.carries import MYSQL_FEATURES

# A registry next to a feed on disk: each schema exists as a file before the first message that
# needs it, as schemas/ID.avsc.

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        **MYSQL_FEATURES,
        "decimal over 38 digits": "DECIMAL(39) and more",
        "vector": "VECTOR",
        "position": "commit timestamps of rows",
        "key": "the handle key columns of a row",
        "ddl": "schema changes, a test message of the producer",
        "checkpoint": "checkpoints, a test message of the producer",
        "enable-tidb-extension": "the setting of this name",
        "avro-decimal-handling-mode": "the setting of this name, when it is string",
        "avro-bigint-unsigned-handling-mode": "the setting of this name, when it is string",
        "integrity": "row checksums",
        "registry": "the setting of this name, when it is glue",
        "dialect": "the ways of writing that the setting of this name has",
        "before value": "rows with their old values, of the newer producer",
        "foreign types": "records that no TiCDC writes: arrays, maps, unions, bare columns",
        "no tidb extension": "messages without the TiDB extension",
        "op": "the operation of a row: insert or update",
        **checks(
            "integer ranges",
            "text shapes",
            "json types",
            "letter case",
            "well-formed utf-8",
            "unique names",
            "limits",
            "checksums",
        ),
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "before-value": "read",
        "checksum-mismatch": "accept and warn",
        "decimal-limit": "1000 digits",
        "empty-op": "upsert",
        "foreign-type": "keep the Avro value",
        "null-key": "accept a row, reject a delete",
        "schema-mismatch": "reject",
        "unsigned-wrap": "add 2^64 to a negative long",
    }
)


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    settings = read_settings(context)
    if schema_of(message) is not None:
        return
    kafka = expect_kafka(message, "avro: messages")
    decoded = decode(kafka.value, key=kafka.key, context=context)
    yield from events_of(decoded, settings, Labels(context.tables), context.selection)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError."""
    settings = read_settings(context)
    source = MemorySource(context.schemas, settings.registry)
    yield from with_schema_files(messages_of(events, settings, context.tables, source), source)


def _key_reader(context: Context) -> KeyReader:
    decode = RowDecoder(replace(context, selection=EVERYTHING)).decode

    def content(message: KafkaMessage) -> KeyContent | None:
        """Read the key as that of a delete, which has nothing else."""
        if message.key is None:
            return None
        (row,) = decode(KafkaMessage(message.key, None))
        if not isinstance(row, Row) or row.old_layout is None or row.old is None:
            return None
        table = row.table.schema, row.table.name or ""
        return KeyContent(row.old_layout.image(row.old), table)

    return content


def _head_bytes(context: Context) -> int:
    registry = read_settings(context).registry
    return CONFLUENT_BYTES if registry == "confluent" else GLUE_BYTES


def _schema_id(head: bytes, context: Context) -> SchemaId:
    return read_envelope(Reader(head), read_settings(context).registry)


FORMAT = Format(
    name="avro",
    protocols=("avro",),
    connectors=(
        Connector("io.confluent.connect.avro.AvroConverter"),
        Connector(
            "com.amazonaws.services.schemaregistry.kafkaconnect.AWSKafkaAvroConverter",
            defaults={"registry": "glue"},
        ),
    ),
    title="TiCDC Avro",
    page="docs/formats/avro.md",
    to_events=plain_events,
    from_events=from_events,
    spans=spans,
    cuts_spans=lambda error: False,
    warnings=warnings,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    comparing=Comparing(
        orders=(COMMIT_TS,),
        not_compared=("checksums of rows", "ids of schemas"),
        key_reader=_key_reader,
        splits_unique_keys=True,
        deletes_have_position=lambda options: False,
        rewrite_name=sanitize,
    ),
    features=FEATURES,
    choices=CHOICES,
    prepared=with_prepared_schemas,
    fast_decoder=RowDecoder,
    fast_encoder=RowEncoder,
    skips_columns=True,
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
