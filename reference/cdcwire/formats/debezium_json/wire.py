"""Kafka key and value to the wire's values, and back.

The payload shows the kind of message: ``source`` and ``op`` are a change or a logical message,
``status`` is a border of a transaction, ``ts_ms`` alone a heartbeat, no value a tombstone. Paths
begin with ``key`` or ``value``; offsets count from the start of that side.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from cdcwire.connect import Envelope, Parsed, Schema
from cdcwire.connect import encode as encode_envelope
from cdcwire.connect.cdl import ROW_CHANGE, VERSION_2, Row
from cdcwire.connect.definitions import defined_struct, doubtful_times
from cdcwire.connect.fields import DEFINITIONS, Fields, Origin, definition_of, read_part, typed
from cdcwire.connect.types import TIME
from cdcwire.core.errors import DecodeError
from cdcwire.core.format import NO_CONTEXT, Context
from cdcwire.core.strict_json import JsonObject
from cdcwire.formats.debezium_json.message import (
    OPERATIONS,
    SNAPSHOTS,
    Block,
    Boundary,
    CdlMembers,
    Change,
    Heartbeat,
    KeyPart,
    LogicalMessage,
    Message,
    Source,
    TextKey,
    Tombstone,
    Unwrapped,
)
from cdcwire.formats.debezium_json.settings import Settings, read_settings
from cdcwire.formats.debezium_json.unwrapped import is_unwrapped, unwrapped_of
from cdcwire.model.events import Table

_MEMBERS = "debezium-json: members"
_SOURCE = "debezium-json: source"
_OPERATION = "debezium-json: operation"
_IMAGES = "debezium-json: images"
_KEYS = "debezium-json: keys"
_BLOCK = "debezium-json: transaction block"
_BOUNDARY = "debezium-json: transaction boundaries"
_HEARTBEAT = "debezium-json: heartbeats"
_LOGICAL = "debezium-json: logical messages"
_VERSION = "debezium-json: message version"
_SNAPSHOT = "debezium-json: snapshot"
_LINT = "debezium-json: lint"
_USUAL_SNAPSHOTS = (None, "false", "true", "last")  # which every version has
_NO_FIELDS = Schema("struct", True)
_OF_BOUNDARIES = frozenset(("status", "id", "event_count", "data_collections", "ts_ms"))
_NAMED = frozenset(
    ("version", "connector", "name", "ts_ms", "snapshot", "db", "schema", "table", "txId", "lsn")
)
WithValue: TypeAlias = "Change | LogicalMessage | Boundary | Heartbeat | Unwrapped"
Key: TypeAlias = "Parsed | TextKey | None"
_MILLISECONDS = ("postgresql", "sqlserver")  # connectors that send short times so
_CDL_CONNECTORS = ("postgresql", "opengauss", "drs-opengauss-json")


def decode(
    value: bytes | None, *, key: bytes | None = None, context: Context = NO_CONTEXT
) -> Message:
    """Return what a message says; without a value it is a tombstone.

    The context's tables give the types of columns where messages have no schema.
    Raises: TruncatedError, DecodeError, OptionError.
    """
    return read_message(value, key, read_settings(context), context.tables)


def read_message(
    value: bytes | None, key: bytes | None, settings: Settings, tables: tuple[Table, ...] = ()
) -> Message:
    """Return what a message says; without a value it is a tombstone. See ``decode``."""
    key_parsed = None if key is None else read_key(key, settings)
    if value is None:
        return Tombstone(_key_part(key_parsed))
    parsed = read_part(value, "value", settings)
    key_names = _key_names(key_parsed, None)
    if settings.transforms == "unwrap" and is_unwrapped(parsed, key_names):
        row = unwrapped_of(parsed, key_names, _key_part(key_parsed), settings, tables)
        return _checked(row, settings, Origin("value", parsed))
    structs, origin = image_schemas(Origin("value", parsed), settings, tables)
    envelope, origin = typed(origin, structs, settings.max_decimal_digits)
    fields = Fields(envelope.schema, envelope.payload, _MEMBERS, origin)
    message = _message(fields, key_parsed)
    if isinstance(message, Change):
        if is_foreign_op(message, settings):
            hint = "; read-r-as-c reads it as an insert" if message.op == "r" else ""
            problem = f"op {message.op} in a message of CDL's, which has c, u and d{hint}"
            raise fields.error(problem, "op", _OPERATION)
        if message.key is None:
            known, origin = definition_of(tables, *_names_of(message.source), origin)
            message = replace(message, key=None if known is None else known.key)
    return _checked(message, settings, origin)


def is_foreign_op(change: Change, settings: Settings) -> bool:
    """Return whether a message of CDL's has an op that CDL lacks, and no option reads it."""
    return change.cdl is not None and (
        change.op == "t" or (change.op == "r" and not settings.read_r_as_c)
    )


def read_key(key: bytes, settings: Settings) -> Parsed | TextKey:
    """Return a Kafka key. Raises: DecodeError."""
    if settings.key_converter == "json":
        others = "for StringConverter set key-converter=string"
        return read_part(key, "key", settings, other_keys=others)
    try:
        return TextKey(key.decode())
    except UnicodeDecodeError as error:
        raise DecodeError("the key is not UTF-8", error.start, _KEYS, ("key",)) from None


def _key_part(key: Key) -> KeyPart:
    return key.envelope if isinstance(key, Parsed) else key


def _names_of(source: Source) -> tuple[str, str]:
    return source.schema or source.db, source.table


def _checked(message: WithValue, settings: Settings, origin: Origin) -> WithValue:
    if settings.lint == "strict" and message.warnings:
        raise origin.error(message.warnings[0], _LINT)
    return message


def encode(message: Message, *, context: Context = NO_CONTEXT) -> tuple[bytes | None, bytes | None]:
    """Return Kafka key and value. Raises: EncodeError.

    ``context`` is ignored: the values say all that the bytes depend on.
    """
    key = _key_bytes(message.key_envelope)
    if isinstance(message, Tombstone):
        return key, None
    return key, encode_envelope(message.envelope)


def _key_bytes(key: KeyPart) -> bytes | None:
    if isinstance(key, TextKey):
        return key.text.encode()
    return None if key is None else encode_envelope(key)


def change_of(envelope: Envelope) -> Change:
    """Return the change that an envelope of schema and payload holds. Raises: DecodeError."""
    return _change(_fields_of(envelope), None)


def message_of(envelope: Envelope, key: Key) -> WithValue:
    """Return what an envelope of schema and payload says.

    Raises: DecodeError at byte 0; ``decode`` finds the place in the same bytes.
    """
    return _message(_fields_of(envelope), key)


def _fields_of(envelope: Envelope) -> Fields:
    origin = Origin("value", Parsed(envelope, None, 0, 0))
    return Fields(envelope.schema, envelope.payload, _MEMBERS, origin)


def image_schemas(
    origin: Origin, settings: Settings, tables: tuple[Table, ...]
) -> tuple[dict[str, Schema], Origin]:
    """Return the structs of a payload without schema, where a definition gives them.

    The origin that is returned has a warning if definitions are given, but not that of the table.
    """
    payload = origin.parsed.json
    if origin.parsed.envelope.schema is not None or not isinstance(payload, JsonObject):
        return {}, origin
    source = payload.get("source")
    if source is None or not isinstance(source.value, JsonObject):
        return {}, origin
    db, schema, table = (
        member.value if member is not None else None
        for member in map(source.value.get, ("db", "schema", "table"))
    )
    # As in the events: where there is no schema, as in MySQL, it is the database.
    known, origin = definition_of(tables, schema or db, table, origin)
    if known is None or known.columns is None:
        return {}, origin
    connector = source.value.get("connector")
    if connector is not None and connector.value in _MILLISECONDS:
        origin = _with_doubts(origin, doubtful_times(known.columns, settings.style))
    struct = defined_struct(known.columns, settings.style)
    return {"before": struct, "after": struct}, origin


def _with_doubts(origin: Origin, names: tuple[str, ...]) -> Origin:
    """Return an origin with a warning of each column whose times may have another unit."""
    if not names:
        return origin
    doubts = (
        f"times of {name!r:.40} are read in microseconds; if they are milliseconds, set the "
        f"column's source to {TIME} ({DEFINITIONS})"
        for name in names
    )
    warnings = (*origin.parsed.warnings, *doubts)
    return replace(origin, parsed=replace(origin.parsed, warnings=warnings))


def _message(fields: Fields, key: Key) -> WithValue:
    names = {field.name for field in fields.schema.fields}
    if "op" in names and "source" in names:
        if fields.get("op") == "m":
            return _logical_message(fields, key)
        return _change(fields, key)
    # A row by itself may have columns of these names: the other members distinguish them.
    if "status" in names and names <= _OF_BOUNDARIES and (names - {"status", "id", "ts_ms"}):
        return _boundary(fields, key)
    if names == {"ts_ms"}:
        return _heartbeat(fields, key)
    raise fields.origin.error(_foreign(names), _MEMBERS)


def _foreign(names: set[str]) -> str:
    """Return what a payload is that is not a message of Debezium's."""
    if {"specversion", "type"} <= names:
        return "a CloudEvent: set value.converter to JsonConverter"
    if "ddl" in names and ("tableChanges" in names or "databaseName" in names):
        return "a message of the schema change topic: read the topics of the tables"
    if "op" in names:
        return "a change without source"
    return (
        "not a Debezium change, heartbeat or transaction message; read rows of "
        "ExtractNewRecordState with transforms=unwrap"
    )


def _change(fields: Fields, key: Key) -> Change:
    op = fields.text("op")
    if op not in OPERATIONS:
        problem = f"op is {op!r:.20}, not one of {', '.join(OPERATIONS)} or m"
        raise fields.error(problem, "op", _OPERATION)
    source = _source(fields)
    cdl = _cdl_members(fields)
    before, after = _row(fields, "before"), _row(fields, "after")
    change = Change(
        op,
        before,
        after,
        source,
        fields.optional_integer("ts_ms"),
        fields.optional_integer("ts_us"),
        fields.optional_integer("ts_ns"),
        _block(fields),
        _key_names(key, cdl),
        cdl,
        _kept(fields),
        _key_part(key),
    )
    _check_images(change, fields)
    warnings = (*fields.origin.parsed.warnings, *_warnings(change, fields))
    return replace(change, warnings=warnings) if warnings else change


def _kept(fields: Fields) -> Envelope:
    """Return what is written back: a payload without schema stays as it came."""
    parsed = fields.origin.parsed
    if parsed.envelope.schema is None:
        return parsed.envelope
    return Envelope(fields.schema, fields.values, parsed.envelope.wrapped)


def _source(fields: Fields) -> Source:
    source = fields.struct("source")
    source.clause = _SOURCE
    others = tuple(
        (field.name, value)
        for field, value in zip(source.schema.fields, source.values, strict=True)
        if field.name not in _NAMED
    )
    return Source(
        source.text("version"),
        source.text("connector"),
        source.text("name"),
        source.integer("ts_ms"),
        source.optional_text("snapshot"),
        source.text("db"),
        source.optional_text("schema") or "",
        source.text("table"),
        _transaction_id(source),
        source.optional_integer("lsn"),
        others,
    )


def _transaction_id(source: Fields) -> int | None:
    """Return the number of the transaction; Oracle's is text and stays with the other fields."""
    return None if isinstance(source.get("txId"), str) else source.optional_integer("txId")


def _cdl_members(fields: Fields) -> CdlMembers | None:
    if not fields.has("message_version"):
        return None
    version = fields.text("message_version")
    if version != VERSION_2:
        problem = f"message_version is {version!r:.20}, not {VERSION_2!r}"
        raise fields.error(problem, "message_version", _VERSION)
    fields.integer("ts_ms")
    return CdlMembers(
        fields.text("message_type"),
        fields.optional_text("LOB_COLUMNS"),
        _row(fields, "unique"),
        fields.optional_text("HEARTBEAT_IDENTIFIER"),
    )


def _row(fields: Fields, name: str) -> Row:
    schema, value = fields.schema_of(name), fields.get(name)
    if value is None:
        is_struct = schema is not None and schema.type == "struct"
        return Row(schema if schema is not None and is_struct else _NO_FIELDS, None)
    found = fields.struct(name)
    return Row(found.schema, found.values, fields.origin)


def _block(fields: Fields) -> Block | None:
    block = fields.optional_struct("transaction")
    if block is None:
        return None
    block.clause = _BLOCK
    return Block(
        block.text("id"), block.integer("total_order"), block.integer("data_collection_order")
    )


def _key_names(key: Key, cdl: CdlMembers | None) -> tuple[str, ...] | None:
    if cdl is not None:
        return tuple(field.name for field in cdl.unique.schema.fields)
    if not isinstance(key, Parsed):
        return () if key is None else None
    schema, json = key.envelope.schema, key.json
    if schema is not None and schema.type == "struct":
        return tuple(field.name for field in schema.fields)
    if schema is None and isinstance(json, JsonObject):
        return tuple(member.name for member in json.members)
    return () if key.envelope.payload is None else None  # a value does not name its column


def _check_images(change: Change, fields: Fields) -> None:
    """Check which rows an operation has."""
    has = {"before": change.before.values is not None, "after": change.after.values is not None}
    must = {"c": (False, True), "r": (False, True), "d": (True, False), "t": (False, False)}
    wanted = must.get(change.op, (has["before"], True))
    for name, is_wanted in zip(("before", "after"), wanted, strict=True):
        if has[name] != is_wanted:
            which = "has" if has[name] else "has no"
            raise fields.error(f"op {change.op} {which} row {name}", name, _IMAGES)


def _warnings(change: Change, fields: Fields) -> list[str]:
    warnings = []
    if change.source.snapshot not in _USUAL_SNAPSHOTS:
        warnings += _snapshot_warnings(change.source.snapshot, fields)
    columns = {field.name for field in change.before.schema.fields or change.after.schema.fields}
    if columns and not columns.issuperset(change.key or ()):
        warnings.append(f"the key has columns that the row has not ({_KEYS})")
    if change.cdl is None:
        return warnings
    if change.cdl.message_type != ROW_CHANGE:
        warnings.append(f"message_type {change.cdl.message_type!r:.20} is not known ({_VERSION})")
    if change.source.connector not in _CDL_CONNECTORS:
        warnings.append(f"connector {change.source.connector!r:.40} is not CDL's ({_SOURCE})")
    return warnings


def _snapshot_warnings(snapshot: str | None, fields: Fields) -> list[str]:
    if snapshot not in SNAPSHOTS:
        return [f"snapshot {snapshot!r:.40} is not known ({_SNAPSHOT})"]
    schema = fields.struct("source").schema_of("snapshot")
    allowed = None if schema is None else schema.parameter("allowed")
    if allowed is None or snapshot in allowed.split(","):
        return []
    return [f"snapshot {snapshot!r} is not allowed by its schema ({_SNAPSHOT})"]


def _logical_message(fields: Fields, key: Key) -> LogicalMessage:
    message = fields.struct("message")
    message.clause = _LOGICAL
    content = message.get("content")
    if content is not None and not isinstance(content, (str, bytes)):
        raise message.error("content is neither text nor bytes", "content")
    return LogicalMessage(
        message.optional_text("prefix"),
        content,
        _source(fields),
        fields.optional_integer("ts_ms"),
        _block(fields),
        _kept(fields),
        _key_part(key),
        fields.origin.parsed.warnings,
    )


def _boundary(fields: Fields, key: Key) -> Boundary:
    fields.clause = _BOUNDARY
    status = fields.text("status")
    if status != "BEGIN" and status != "END":
        raise fields.error(f"status is {status!r:.20}, not BEGIN or END", "status")
    collections = fields.get("data_collections")
    counts = None
    if collections is not None:
        schema = fields.schema_of("data_collections")
        if not isinstance(collections, tuple) or schema is None or schema.type != "array":
            raise fields.error("data_collections is not an array", "data_collections")
        entries = [
            Fields(schema.items, item, _BOUNDARY, fields.origin, ("data_collections", index))
            for index, item in enumerate(collections)
        ]
        counts = tuple((one.text("data_collection"), one.integer("event_count")) for one in entries)
    return Boundary(
        "BEGIN" if status == "BEGIN" else "END",
        fields.text("id"),
        fields.optional_integer("ts_ms"),
        fields.optional_integer("event_count"),
        counts,
        _kept(fields),
        _key_part(key),
        fields.origin.parsed.warnings,
    )


def _heartbeat(fields: Fields, key: Key) -> Heartbeat:
    fields.clause = _HEARTBEAT
    name = None
    if isinstance(key, Parsed):
        origin = Origin("key", key)
        envelope, origin = typed(origin, {})
        members = Fields(envelope.schema, envelope.payload, _HEARTBEAT, origin)
        name = members.optional_text("serverName")
    return Heartbeat(
        fields.integer("ts_ms"),
        name,
        _kept(fields),
        _key_part(key),
        fields.origin.parsed.warnings,
    )
