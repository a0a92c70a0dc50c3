"""Avro as a format: what the registry of formats offers to the runner, the command line, Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.avro.carries import CARRIES
from cdcwire.avro.definitions import Labels
from cdcwire.avro.events import to_events
from cdcwire.avro.explain import explain
from cdcwire.avro.settings import OPTIONS, read_settings
from cdcwire.avro.sources import MemorySource
from cdcwire.avro.wire import decode
from cdcwire.avro.writing import from_events
from cdcwire.format import Context, Explanation, Format
from cdcwire.message import KafkaMessage, Message
from cdcwire.model.events import Event

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "unsigned": "integers with the unsigned flag, up to 2**64-1",
        "float": "FLOAT and DOUBLE",
        "decimal": "DECIMAL",
        "decimal over 38 digits": "DECIMAL(39) and more",
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
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "before-value": "read, never written",
        "checksum-mismatch": "accept and warn",
        "commit-ts-negative": "reject",
        "decimal-limit": "1000 digits",
        "empty-op": "upsert",
        "foreign-type": "keep the Avro value",
        "int-unsigned-range": "reject",
        "null-key": "accept a row, reject a delete",
        "unsigned-wrap": "add 2^64 to a negative long",
    }
)


def _decode(message: Message, context: Context) -> Iterator[Event]:
    settings = read_settings(context.options)
    source = MemorySource(context.schemas, settings.registry)
    kafka = _kafka(message)
    decoded = decode(kafka.key, kafka.value, source, settings, context.selection)
    yield from to_events(decoded, settings, Labels(context.tables), context.selection)


def _encode(events: Iterable[Event], context: Context) -> Iterator[Message]:
    settings = read_settings(context.options)
    source = MemorySource(context.schemas, settings.registry)
    yield from from_events(events, settings, context.tables, source)


def _explain(message: Message, context: Context) -> Explanation:
    settings = read_settings(context.options)
    source = MemorySource(context.schemas, settings.registry)
    return explain(_kafka(message), source, settings)


def _kafka(message: Message) -> KafkaMessage:
    if not isinstance(message, KafkaMessage):
        raise TypeError("a Kafka message is expected")
    return message


FORMAT = Format(
    name="avro",
    title="TiCDC Avro",
    page="docs/formats/avro.md",
    decode=_decode,
    encode=_encode,
    explain=_explain,
    options=OPTIONS,
    carries=CARRIES,
    features=FEATURES,
    choices=CHOICES,
)
