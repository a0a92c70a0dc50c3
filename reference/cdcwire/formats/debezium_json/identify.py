"""The signs of Debezium's JSON, and of CDL's version 2.0."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from cdcwire.connect.identify import Part, part_of, tombstone_guess
from cdcwire.core.guess import NO_OPTIONS, Guess, JsonObject, OptionValues, json_object, offset_of
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.options import OptionValue
from cdcwire.debezium.message import OPERATIONS
from cdcwire.debezium.shapes import dialect_of
from cdcwire.mysql.settings import compressions_of

_CDL = {"message_type", "LOB_COLUMNS", "unique"}
_IMAGES = {"before", "after", "op"}
_BOUNDARY = {"status", "id"}
_SCHEMA_CHANGE = {"ddl", "tableChanges"}
_NOTIFICATION = {"id", "type", "aggregate_type", "additional_data"}
_ADDED = ("__op", "__deleted", "__table", "__source_table", "__lsn", "__source_lsn")
_ANY: OptionValues = MappingProxyType({"producer": "any"})
_TICDC: OptionValues = MappingProxyType({"dialect": "ticdc"})
_UNWRAP: OptionValues = MappingProxyType({"transforms": "unwrap"})
_CONNECT_TIMES = (
    b"org.apache.kafka.connect.data.Timestamp",
    b"org.apache.kafka.connect.data.Time",
    b"org.apache.kafka.connect.data.Date",
)


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is Debezium's: the members of its payload."""
    if not isinstance(message, KafkaMessage):
        return None
    if message.key is None or not message.key.startswith(b"Struct{"):
        return _by_value(message)
    found = _by_value(message) if message.value is not None else None
    found = found or Guess("a key of StringConverter", "key", if_decoded="likely")
    return replace(found, options={**found.options, "key-converter": "string"})


def _by_value(message: KafkaMessage) -> Guess | None:
    part = part_of(message.value)
    if part is None or message.value is None:
        return tombstone_guess(message) or _compressed(message)
    names = part.payload.keys()
    if unwrapped := _unwrapped(part, message.value):
        return unwrapped
    if {"op", "source"} <= names and isinstance(part.payload["source"], dict):
        return _of_change(part, message.value, part.payload["source"])
    facts = {"envelope": part.envelope}
    if names >= _IMAGES and part.payload["op"] in OPERATIONS:
        evidence = "the members before, after and op: a change without a connector"
        place = offset_of(message.value, "op")
        return Guess(evidence, "value", place, "likely", options=_ANY, facts=facts)
    if names >= _BOUNDARY and part.payload["status"] in ("BEGIN", "END"):
        evidence = "the members status and id: a border of a transaction"
        place = offset_of(message.value, "status")
        return Guess(evidence, "value", place, "sure", "likely", facts=facts)
    if "source" in names and names & _SCHEMA_CHANGE and isinstance(part.payload["source"], dict):
        evidence = "the members source and ddl: a change of a schema"
        place = offset_of(message.value, "source")
        is_ticdc = part.payload["source"].get("connector") == "TiCDC"
        options = _TICDC if is_ticdc else NO_OPTIONS
        return Guess(evidence, "value", place, "likely", options=options, facts=facts)
    if names >= _NOTIFICATION:
        evidence = "the members aggregate_type and additional_data: a notification"
        place = offset_of(message.value, "aggregate_type")
        return Guess(evidence, "value", place, "likely", facts=facts)
    if names == {"ts_ms"}:
        is_named = b"io.debezium.connector.common.Heartbeat" in message.value
        evidence = "the member ts_ms alone: a heartbeat"
        place = offset_of(message.value, "ts_ms")
        return Guess(evidence, "value", place, "sure" if is_named else "likely", facts=facts)
    return None


def _compressed(message: KafkaMessage) -> Guess | None:
    """Return a guess for bytes that may be compressed, as TiCDC's key and value both are."""
    found = compressions_of(message.value or b"")
    if not found or (message.key is not None and compressions_of(message.key) != found):
        return None
    evidence = "bytes that begin as a compressed value does"
    return Guess(evidence, alternatives=tuple({**_TICDC, **each} for each in found))


def _unwrapped(part: Part, value: bytes) -> Guess | None:
    """Return a guess for a row as ExtractNewRecordState leaves it."""
    facts = {"envelope": part.envelope}
    for name in _ADDED:
        if name in part.payload:
            evidence = f"the member {name}, which ExtractNewRecordState adds"
            place = offset_of(value, name)
            return Guess(evidence, "value", place, "likely", options=_UNWRAP, facts=facts)
    envelope = json_object(value) or {}
    schema = envelope.get("schema") if "payload" in envelope else None
    of_schema = schema.get("name") if isinstance(schema, dict) else None
    if isinstance(of_schema, str) and of_schema.endswith(".Value") and "op" not in part.payload:
        evidence = "the schema of a row by itself, as ExtractNewRecordState leaves it"
        place = max(value.find(b'.Value"'), 0)
        return Guess(evidence, "value", place, "likely", options=_UNWRAP, facts=facts)
    return None


def _of_change(part: Part, value: bytes, source: JsonObject) -> Guess:
    facts = {"envelope": part.envelope}
    version, connector = source.get("version"), source.get("connector")
    if connector is None:
        evidence = "the members op and source, which names no connector"
        return Guess(evidence, "value", offset_of(value, "op"), "likely", options=_ANY, facts=facts)
    if isinstance(version, str) and isinstance(connector, str):
        facts["version"] = f"{version:.40}"
        facts["connector"] = f"{connector:.40}"
    return Guess(
        "the members op and source",
        "value",
        offset_of(value, "op"),
        alone="sure",
        options=_TICDC if connector == "TiCDC" else _options(part, value, version),
        alternatives=({}, {"replace-null-with-default": True}),
        facts=facts,
    )


def _options(part: Part, value: bytes, version: object) -> OptionValues:
    options: dict[str, OptionValue] = {}
    if part.payload.keys() & _CDL:
        options["dialect"] = "cdl"
        if part.payload["op"] == "r":  # which CDL itself never sends
            options["read-r-as-c"] = True
    elif isinstance(version, str) and (dialect := dialect_of(version)) is not None:
        options["dialect"] = dialect
    if any(name in value for name in _CONNECT_TIMES):
        options["time-precision-mode"] = "connect"
    return options
