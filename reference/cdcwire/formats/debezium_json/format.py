"""Debezium JSON as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.connect.settings import JSON_SINKS, NEEDED
from cdcwire.core.checks import checks
from cdcwire.core.configuration import JSON_CONVERTER, Connector
from cdcwire.core.format import NO_CONTEXT, Context, Format
from cdcwire.core.message import Message, expect_kafka
from cdcwire.formats.debezium_json.carries import CARRIES
from cdcwire.formats.debezium_json.events import events_of
from cdcwire.formats.debezium_json.fast import RowDecoder
from cdcwire.formats.debezium_json.fast_encoder import RowEncoder
from cdcwire.formats.debezium_json.identify import identify
from cdcwire.formats.debezium_json.message import Tombstone
from cdcwire.formats.debezium_json.settings import OPTIONS, read_settings
from cdcwire.formats.debezium_json.spans import spans
from cdcwire.formats.debezium_json.wire import decode
from cdcwire.formats.debezium_json.writing import messages_of
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
        "debezium-delete": "key columns only, unless replica-identity is full",
        "debezium-snapshot-value": "kept, with a warning",
        "connect-null-with-default": "stays null",
        "connect-unknown-member": "dropped, with a warning",
        "connect-unknown-column": "kept with the type that its value shows, and a warning",
        "connect-other-definition": "not used, with a warning",
        "schema-mismatch": "reject",
        "unknown-version": "reject",
    }
)


# The prefix of the fields that ExtractNewRecordState adds to a row.
_NEEDED = {**NEEDED, "transforms.*.add.fields.prefix": "__"}
CONNECTORS = (
    Connector(
        JSON_CONVERTER,
        (
            "io.debezium.connector.mysql.MySqlConnector",
            "io.debezium.connector.mariadb.MariaDbConnector",
        ),
        {"time-precision-mode": "adaptive_time_microseconds"},
        _NEEDED,
    ),
    Connector(
        JSON_CONVERTER,
        ("io.debezium.connector.postgresql.PostgresConnector",),
        {"hstore-handling-mode": "json"},
        _NEEDED,
    ),
    Connector(
        JSON_CONVERTER,
        (
            "io.debezium.connector.sqlserver.SqlServerConnector",
            "io.debezium.connector.oracle.OracleConnector",
            "io.debezium.connector.db2.Db2Connector",
        ),
        needs=_NEEDED,
    ),
    JSON_SINKS,
)


def to_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    settings = read_settings(context)
    kafka = expect_kafka(message, "debezium-json: members")
    decoded = decode(kafka.value, key=kafka.key, context=context)
    yield from events_of(decoded, settings, context.selection)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError."""
    yield from messages_of(events, read_settings(context), context.tables)


def _warnings(message: Message, context: Context) -> tuple[str, ...]:
    kafka = expect_kafka(message, "debezium-json: members")
    found = decode(kafka.value, key=kafka.key, context=context)
    return () if isinstance(found, Tombstone) else found.warnings


FORMAT = Format(
    name="debezium-json",
    connectors=CONNECTORS,
    title="Debezium JSON, and CDL's 2.0",
    page="docs/formats/debezium-json.md",
    shared_pages=("connect",),
    to_events=to_events,
    from_events=from_events,
    spans=spans,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    features=FEATURES,
    choices=CHOICES,
    warnings=_warnings,
    fast_decoder=RowDecoder,
    fast_encoder=RowEncoder,
)
explain = FORMAT.explain
