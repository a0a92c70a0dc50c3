"""Avro as a format: what the registry of formats offers to the runner, the command line, Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from cdcwire.apache_avro.registries import CONFLUENT_BYTES, GLUE_BYTES, Registry, read_envelope
from cdcwire.apache_avro.sources import (
    SCHEMA_SUFFIX,
    KnownSchemas,
    MemorySource,
    schema_of,
    with_prepared_schemas,
    with_schema_files,
)
from cdcwire.core.comparing import Comparing, KeyContent, KeyReader
from cdcwire.core.context import EVERYTHING, NO_CONTEXT, Context, SchemaId, SchemaUse
from cdcwire.core.errors import DecodeError
from cdcwire.core.guess import Guess, json_object
from cdcwire.core.message import KafkaMessage, Message, expect_kafka
from cdcwire.core.options import Connector
from cdcwire.core.orders import COMMIT_TS
from cdcwire.core.reader import Reader
from cdcwire.core.rows import Row
from cdcwire.debezium.source import source_in
from cdcwire.format import Format, checks
from cdcwire.formats.avro.definitions import Labels
from cdcwire.formats.avro.events import events_of
from cdcwire.formats.avro.fast import RowDecoder
from cdcwire.formats.avro.fast_encoder import RowEncoder
from cdcwire.formats.avro.names import sanitize
from cdcwire.formats.avro.settings import OPTIONS, read_settings
from cdcwire.formats.avro.spans import spans, warnings
from cdcwire.formats.avro.wire import CHECKPOINT_BYTE, DDL_BYTE, DELETE_BYTE, TS_BYTES, decode
from cdcwire.formats.avro.writing import messages_of
from cdcwire.model.carries import EXACT, NO, Carries, CarryVerdict, as_form, lossy, option
from cdcwire.model.events import Event
from cdcwire.mysql.carries import INDEXES_AS_LABELS, MYSQL_FEATURES, mysql_kinds

_HEAD = 18
_USUAL_IDS = 1 << 24  # registries count from 1
_DDL_MEMBERS = {"query", "type", "commitTs"}
_FRAME = bytes(7)  # of lengths and versions of 8 bytes, as another format has them


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is Avro: an envelope, or a value of TiCDC's own."""
    if schema_of(message) is not None:
        return Guess("a schema of Avro in a file", "path", 0, "possible")
    if not isinstance(message, KafkaMessage) or (message.key or b"").startswith(_FRAME):
        return None
    value = message.value
    if not value:
        return _of_delete(message.key) if value is None else None
    if value[0] == DDL_BYTE and set(json_object(value[1:]) or ()) >= _DDL_MEMBERS:
        return Guess("the byte of a DDL, then JSON with query and commitTs", alone="sure",
                     options=_WATERMARK)  # fmt: skip
    if value[0] == CHECKPOINT_BYTE and len(value) == 1 + TS_BYTES:
        return Guess("the byte of a checkpoint, then 8 bytes", if_decoded="likely",
                     options=_WATERMARK)  # fmt: skip
    if value[0] == DELETE_BYTE and len(value) == 1 + TS_BYTES:
        in_key = None if message.key is None else _schema(message.key)
        if in_key is not None:
            return Guess("the byte of a delete with its timestamp, and a key with an envelope",
                         options={"enable-tidb-extension": True, "registry": in_key[0]},
                         facts=_facts(in_key[1]))  # fmt: skip
    return _of_row(message.key, value)


_WATERMARK = {"enable-tidb-extension": True, "avro-enable-watermark": True}


def _of_delete(key: bytes | None) -> Guess | None:
    found = None if key is None else _schema(key)
    if found is None:
        return None
    registry, schema = found
    evidence = "a key with the envelope of a registry, and no value: a delete"
    return Guess(
        evidence, "key", 0, "likely", "possible", {"registry": registry}, facts=_facts(schema)
    )


def _of_row(key: bytes | None, value: bytes) -> Guess | None:
    found = _schema(value)
    if found is None:
        return None
    registry, schema = found
    in_key = None if key is None else _schema(key)
    is_usual = isinstance(schema, str) or 0 < schema < _USUAL_IDS
    both = in_key is not None and in_key[0] == registry
    magic = "00" if registry == "confluent" else "03 00"
    where = "key and value begin" if both else "the value begins"
    if source_in(value) is not None:  # a change in an envelope, which TiCDC's rows are not
        evidence = f"{where} with {magic} and the id of a schema"
        return Guess(evidence, "value", 0, "possible", options={"registry": registry})
    return Guess(
        f"{where} with {magic} and the id of a schema",
        "value",
        0,
        alone="likely" if both or (is_usual and not value.startswith(_FRAME)) else "possible",
        options={"registry": registry},
        facts=_facts(schema if not both or in_key is None else f"{in_key[1]}, {schema}"),
    )


def _facts(schema: SchemaId) -> dict[str, str]:
    return {"schemas": str(schema)}


def _schema(data: bytes) -> tuple[Registry, SchemaId] | None:
    registries: tuple[Registry, ...] = ("confluent", "glue")
    for registry in registries:
        try:
            found = read_envelope(Reader(data[:_HEAD]), registry)
        except DecodeError:
            continue
        if isinstance(found, int) and found < 0:
            continue
        return registry, found
    return None


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


_KINDS: dict[str, CarryVerdict] = {
    **INDEXES_AS_LABELS,
    "bool": as_form("int32"),
    "int8": as_form("int32"),
    "int16": as_form("int32"),
    "int24": as_form("int32"),
    "int8 unsigned": as_form("int32 unsigned"),
    "int16 unsigned": as_form("int32 unsigned"),
    "int24 unsigned": as_form("int32 unsigned"),
}
CARRIES = Carries(
    fields={
        "op": option("enable-tidb-extension"),
        "before of update": option("avro-include-before-value"),
        "before of delete": lossy("columns outside the handle key"),
        "key": EXACT,
        "commit_ts": option("enable-tidb-extension"),
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": NO,
        "commit_ms": option("enable-tidb-extension"),
        "sent_ms": NO,
        "partition": NO,
        "types": lossy("widths of integers and lengths"),
        "schema change": option("avro-enable-watermark"),
        "progress": option("avro-enable-watermark"),
        "markers": NO,
    },
    kinds=mysql_kinds(_KINDS),
)
"""The event fields and kinds that Avro carries under the default options."""

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
