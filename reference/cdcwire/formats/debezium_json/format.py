"""Debezium JSON as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.core.format import Context, Explanation, Format
from cdcwire.core.message import Message, expect_kafka
from cdcwire.formats.debezium_json.carries import CARRIES
from cdcwire.formats.debezium_json.events import to_events
from cdcwire.formats.debezium_json.explain import explain
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.formats.debezium_json.settings import OPTIONS, read_settings
from cdcwire.formats.debezium_json.wire import decode
from cdcwire.formats.debezium_json.writing import from_events
from cdcwire.model.events import Event

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "unsigned": "unsigned integers, as wider ones or as decimals",
        "float": "float and double",
        "decimal": "decimals as text",
        "text": "text",
        "bytes": "bytes",
        "date": "dates",
        "time": "times",
        "datetime": "dates with times",
        "timestamp": "instants",
        "year": "years",
        "bit": "bit strings",
        "enum": "enums by label",
        "set": "sets by label",
        "json": "JSON",
        "array": "arrays",
        "map": "maps",
        "struct": "structs",
        "position": "lsn, transaction id and time of the commit",
        "key": "the key columns of a row",
        "tombstone": "messages without value",
        "unavailable": "values that the producer did not have",
        "heartbeat": "heartbeats",
        "transaction": "begin and end of transactions",
        "logical message": "messages put into the log by hand",
        "truncate": "truncated tables",
        "schemas off": "messages without schema",
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "debezium-delete": "key columns only, unless replica-identity is full",
        "debezium-snapshot-value": "kept, with a warning",
        "connect-null-with-default": "stays null",
        "connect-unknown-member": "dropped, with a warning",
    }
)


def _decode(message: Message, context: Context) -> Iterator[Event]:
    settings = read_settings(context)
    kafka = expect_kafka(message)
    decoded = decode(kafka.value, key=kafka.key, context=context)
    yield from to_events(decoded, settings, context.selection)


def _encode(events: Iterable[Event], context: Context) -> Iterator[Message]:
    yield from from_events(events, read_settings(context), context.tables)


def _explain(message: Message, context: Context) -> Explanation:
    return explain(expect_kafka(message), read_settings(context))


def _warnings(message: Message) -> tuple[str, ...]:
    return explain(expect_kafka(message)).warnings


FORMAT = Format(
    name="debezium-json",
    title="Debezium JSON, and CDL's 2.0",
    page="docs/formats/debezium-json.md",
    shared_pages=("connect",),
    decode=_decode,
    encode=_encode,
    explain=_explain,
    options=OPTIONS,
    carries=CARRIES,
    features=FEATURES,
    choices=CHOICES,
    warnings=_warnings,
    fast_decoder=RowDecoder,
)
