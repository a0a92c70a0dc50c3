"""Maxwell JSON as a format: what the registry offers to the runner, the command line and Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cdcwire.core.comparing import Comparing, KeyContent, KeyReader
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.guess import Guess, JsonObject, OptionValues, json_object, offset_of
from cdcwire.core.message import KafkaMessage, Message, expect_kafka
from cdcwire.core.options import OptionValue
from cdcwire.format import Format, checks
from cdcwire.formats.maxwell_json.definitions import definitions_of
from cdcwire.formats.maxwell_json.events import columns_of_key, events_of, messages_of
from cdcwire.formats.maxwell_json.fast import RowDecoder
from cdcwire.formats.maxwell_json.fast_encoder import RowEncoder
from cdcwire.formats.maxwell_json.message import (
    BOOTSTRAP_MARKS,
    ROW_TYPES,
    SCHEMA_CHANGES,
    decode_key,
)
from cdcwire.formats.maxwell_json.settings import OPTIONS, read_settings
from cdcwire.formats.maxwell_json.spans import spans
from cdcwire.formats.maxwell_json.wire import ROW_MESSAGE, SCHEMA_MESSAGE, decode
from cdcwire.model.carries import EXACT, NO, Carries, CarryVerdict, as_form, lossy
from cdcwire.model.events import Event
from cdcwire.mysql.carries import INDEXES_AS_LABELS, MYSQL_FEATURES, mysql_kinds

_MEMBERS = ROW_MESSAGE.required & SCHEMA_MESSAGE.required
_OTHER_FORMATS = {"isDdl", "es"}

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        **MYSQL_FEATURES,
        "geometry": "spatial types, as well-known text",
        "position": "transaction ids and times of commits",
        "key": "the primary key columns of a row",
        "ddl": "schema changes, with output_ddl",
        "bootstrap": "rows of a bootstrap, and its start and end",
        "kafka key": "Kafka keys, with kafka_key_format hash or array",
        "definitions": "types of columns from separate table definitions",
        "tombstone": "messages without value",
        **checks(
            "integer ranges",
            "text shapes",
            "json types",
            "letter case",
            "well-formed utf-8",
            "lone surrogates",
            "unique names",
            "strict json",
            "limits",
        ),
    }
)

CHOICES: Mapping[str, str] = MappingProxyType(
    {
        "json-value": "the JSON text as sent",
        "maxwell-commit-false": "accept",
        "maxwell-tombstone": "accept",
        "number-without-definition": "int64, or decimal with all digits",
        "update-without-old": "the row before is unknown",
    }
)


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is Maxwell's."""
    if not isinstance(message, KafkaMessage):
        return None
    hashed = _is_hash_key(message.key)
    array = (message.key or b"").startswith(b"[")
    key: OptionValues = {"kafka_key_format": "hash" if hashed else "array"}
    if message.value is None:
        if not (hashed or array):
            return None
        evidence = "a key with database and table, and no value"
        return Guess(evidence, "key", if_decoded="likely", options=key)
    found = json_object(message.value)
    if found is None or found.keys() & _OTHER_FORMATS:
        return None
    kind = found.get("type")
    if not found.keys() >= _MEMBERS or not isinstance(kind, str):
        return None
    if kind not in ROW_TYPES and kind not in SCHEMA_CHANGES:
        return None
    return Guess(
        f"the member type is {kind!r}, with database and ts",
        "value",
        offset_of(message.value, "type"),
        alone="likely",
        options={**_options(found, kind), **(key if hashed or array else {})},
    )


def _is_hash_key(key: bytes | None) -> bool:
    found = json_object(key)
    return found is not None and {"database", "table"} <= found.keys()


def _options(found: JsonObject, kind: str) -> OptionValues:
    options: dict[str, OptionValue] = {}
    if kind in SCHEMA_CHANGES or kind in BOOTSTRAP_MARKS:
        return options
    if "primary_key" in found:
        options["output_primary_keys"] = True
    if "primary_key_columns" in found:
        options["output_primary_key_columns"] = True
    return options


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    kafka = expect_kafka(message, "maxwell-json: json text")
    decoded = decode(kafka.value, key=kafka.key, context=context)
    definitions = definitions_of(context.tables)
    yield from events_of(decoded, read_settings(context), context.selection, definitions)


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError."""
    yield from messages_of(events, read_settings(context), definitions_of(context.tables))


def _key_reader(context: Context) -> KeyReader:
    definitions = definitions_of(context.tables)

    def content(message: KafkaMessage) -> KeyContent | None:
        if message.key is None:
            return None
        key = decode_key(message.key)
        columns = columns_of_key(key, definitions)
        return KeyContent(columns, None if key.table is None else (key.database, key.table))

    return content


_INSTANT = as_form("timestamp with zone")
_KINDS: dict[str, CarryVerdict] = {
    **INDEXES_AS_LABELS,
    "bool": as_form("int8"),
    "float not finite": NO,
    "text ill-formed": NO,
    "timestamp": _INSTANT,
    "timestamp as count": _INSTANT,
    "timestamp with zone": _INSTANT,
    "json": lossy("a JSON null, which becomes NULL"),
}
CARRIES = Carries(
    fields={
        "op": EXACT,
        "before of update": EXACT,
        "before of delete": EXACT,
        "key": EXACT,
        "commit_ts": NO,
        "sequence_id": NO,
        "lsn": NO,
        "tx_id": EXACT,
        "commit_ms": lossy("the part below a second"),
        "sent_ms": NO,
        "partition": NO,
        "types": EXACT,
        "schema change": NO,  # encoding one needs the definitions before and after it
        "progress": NO,
        "markers": NO,
    },
    kinds=mysql_kinds(_KINDS),
)
"""The event fields and kinds that Maxwell JSON carries under the default options."""

FORMAT = Format(
    name="maxwell-json",
    title="Maxwell JSON",
    page="docs/formats/maxwell-json.md",
    to_events=plain_events,
    from_events=from_events,
    fast_decoder=RowDecoder,
    fast_encoder=RowEncoder,
    comparing=Comparing(
        infers_types=lambda message: True,
        key_reader=_key_reader,
        transaction_ids="transactions of the binlog",
        commit_ms_in_seconds=True,
        sends_changed_columns=lambda options: True,
        not_compared=(
            *("commit", "xoffset", "position", "gtid", "server_id", "thread_id", "schema_id"),
            *("push_ts", "query", "comment", "primary_key", "_uuid"),
        ),
    ),
    spans=spans,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    features=FEATURES,
    choices=CHOICES,
    needs_tables=True,
)
to_events = FORMAT.events
explain = FORMAT.explain
