"""Maxwell JSON as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.core.format import Context, Explanation, Format
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.formats.maxwell_json.carries import CARRIES
from cdcwire.formats.maxwell_json.definitions import definitions_of
from cdcwire.formats.maxwell_json.events import from_events, to_events
from cdcwire.formats.maxwell_json.explain import explain
from cdcwire.formats.maxwell_json.keys import decode_key
from cdcwire.formats.maxwell_json.settings import OPTIONS, read_settings
from cdcwire.formats.maxwell_json.wire import decode
from cdcwire.model.events import Event, Marker

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "unsigned": "unsigned integers, up to 2**64-1",
        "float": "FLOAT and DOUBLE",
        "decimal": "DECIMAL with all its digits",
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
        "geometry": "spatial types, as well-known text",
        "position": "transaction ids and times of commits",
        "key": "the primary key columns of a row",
        "ddl": "schema changes, with output_ddl",
        "bootstrap": "rows of a bootstrap, and its start and end",
        "kafka key": "Kafka keys, with kafka_key_format hash or array",
        "definitions": "types of columns from definitions beside the bytes",
        "tombstone": "messages without value",
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "duplicate-member": "reject",
        "json-value": "the JSON text as sent",
        "maxwell-commit-false": "accept",
        "maxwell-tombstone": "accept",
        "number-without-definition": "int64, or decimal with all digits",
        "update-without-old": "the row before is unknown",
    }
)


def _decode(message: Message, context: Context) -> Iterator[Event]:
    settings = read_settings(context)
    kafka = _kafka(message)
    key = None if kafka.key is None else decode_key(kafka.key)
    if kafka.value is None:
        yield Marker("tombstone", extra={"message_key": kafka.key})
        return
    definitions = definitions_of(context.tables)
    yield from to_events(decode(kafka.value), key, settings, context.selection, definitions)


def _encode(events: Iterable[Event], context: Context) -> Iterator[Message]:
    yield from from_events(events, read_settings(context))


def _explain(message: Message, context: Context) -> Explanation:
    whole = Context(context.options, context.tables)
    return explain(
        _kafka(message),
        lambda kafka: list(_decode(kafka, whole)),
        definitions_of(context.tables),
    )


def _kafka(message: Message) -> KafkaMessage:
    if not isinstance(message, KafkaMessage):
        raise TypeError("a Kafka message is expected")
    return message


FORMAT = Format(
    name="maxwell-json",
    title="Maxwell JSON",
    page="docs/formats/maxwell-json.md",
    decode=_decode,
    encode=_encode,
    explain=_explain,
    options=OPTIONS,
    carries=CARRIES,
    features=FEATURES,
    choices=CHOICES,
    needs_tables=True,
    sends_changed_columns=lambda options: True,
)
