"""Kafka key and value to the wire's values, and back.

``debezium.reading`` says what a payload is; no value is a tombstone. Paths begin with ``key`` or
``value``; offsets count from the start of that side.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from cdcwire.connect import Parsed, Schema
from cdcwire.connect import encode as encode_envelope
from cdcwire.connect.definitions import defined_struct, doubtful_times
from cdcwire.connect.fields import DEFINITIONS, Fields, Origin, definition_of, read_part, typed
from cdcwire.connect.types import TIME
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.strict_json import JsonObject
from cdcwire.debezium.message import (
    Change,
    KeyPart,
    Message,
    TextKey,
    Tombstone,
    WithValue,
)
from cdcwire.debezium.reading import change_in, is_foreign_op, key_names_of, read_fields
from cdcwire.debezium.reading_others import (
    key_part,
)
from cdcwire.debezium.settings import Settings, read_settings
from cdcwire.debezium.source import (
    is_of_other_producer,
    read_any_source,
    table_named,
    table_of_json,
)
from cdcwire.debezium.unwrapped import RowSettings, is_unwrapped, unwrapped_of
from cdcwire.model.events import Table

_MEMBERS = "debezium-json: members"
_OPERATION = "debezium-json: operation"
_KEYS = "debezium-json: keys"
_LINT = "debezium-json: lint"
_TICDC = b'"connector":"TiCDC"'
Decoded = TypeVar("Decoded", bound=WithValue)
_MILLISECONDS = ("postgresql", "sqlserver")  # connectors that send short times so


def decode(
    value: bytes | None, *, key: bytes | None = None, context: Context = NO_CONTEXT
) -> Message:
    """Return what a message says; without a value it is a tombstone.

    The context's tables give the types of columns where messages have no schema.
    Raises: TruncatedError, DecodeError, OptionError.
    """
    return read_message(KafkaMessage(key, value), read_settings(context), context.tables)


def read_message(
    message: KafkaMessage, settings: Settings, tables: tuple[Table, ...] = ()
) -> Message:
    """Return what a message says; without a value it is a tombstone. See ``decode``.

    Without its key, the definition of the table names the columns of the key.
    """
    value, key, has_key = message.value, message.key, message.has_key
    router = settings.key_field_name
    is_loose = value is not None and _TICDC in value
    key_parsed = None if key is None else read_key(key, settings, is_loose=is_loose)
    if value is None:
        return Tombstone(key_part(key_parsed))
    parsed = read_part(value, "value", settings, is_loose=is_loose)
    if parsed.envelope.wrapped and parsed.envelope.schema is None and parsed.json is None:
        return Tombstone(key_part(key_parsed))  # as by JsonConverters before KAFKA-3832
    key_names = key_names_of(key_parsed, None, router) if has_key else None
    if settings.transforms == "unwrap" and is_unwrapped(parsed, key_names):
        more = RowSettings(settings, tables, message.headers)
        row = unwrapped_of(parsed, key_names, key_part(key_parsed), more)
        return _checked(row, settings, Origin("value", parsed))
    structs, origin = image_schemas(Origin("value", parsed), settings, tables)
    envelope, origin = typed(origin, structs, settings.max_decimal_digits)
    fields = Fields(envelope.schema, envelope.payload, _MEMBERS, origin)
    if settings.producer == "any" and is_of_other_producer(fields):
        source = read_any_source(fields, tables)
        found: WithValue = change_in(fields, key_parsed, router, source)
        has_key = has_key and key is not None  # a table may have one although none is sent
    else:
        found = read_fields(fields, key_parsed, router)
    if isinstance(found, Change):
        if not has_key and found.cdl is None:
            found = replace(found, key=None)
        if is_foreign_op(found, settings):
            hint = "; read-r-as-c reads it as an insert" if found.op == "r" else ""
            problem = f"op {found.op} in a message of CDL's, which has c, u and d{hint}"
            raise fields.error(problem, "op", _OPERATION)
        if found.key is None:
            named = table_named(found.source)
            known, origin = definition_of(tables, named.schema, named.name, origin)
            found = replace(found, key=None if known is None else known.key)
    return _checked(found, settings, origin)


def read_key(key: bytes, settings: Settings, *, is_loose: bool = False) -> Parsed | TextKey:
    """Return a Kafka key; ``is_loose`` as in ``read_part``. Raises: DecodeError."""
    if settings.key_converter == "json":
        others = "for StringConverter set key-converter=string"
        return read_part(key, "key", settings, other_keys=others, is_loose=is_loose)
    try:
        return TextKey(key.decode())
    except UnicodeDecodeError as error:
        raise DecodeError("the key is not UTF-8", error.start, _KEYS, ("key",)) from None


def _checked(message: Decoded, settings: Settings, origin: Origin) -> Decoded:
    if settings.lint == "strict" and message.warnings:
        raise origin.error(message.warnings[0], _LINT)
    return message


def encode(message: Message, *, context: Context = NO_CONTEXT) -> tuple[bytes | None, bytes | None]:
    """Return Kafka key and value. Raises: EncodeError.

    ``context`` is ignored: the values say all that the bytes depend on.
    """
    key = key_bytes(message.key_envelope)
    if isinstance(message, Tombstone):
        return key, None
    return key, encode_envelope(message.envelope)


def key_bytes(key: KeyPart) -> bytes | None:
    """Return a Kafka key as it is written. Raises: EncodeError."""
    if isinstance(key, TextKey):
        return key.text.encode()
    return None if key is None else encode_envelope(key)


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
    named = source.value if source is not None and isinstance(source.value, JsonObject) else None
    known: Table | None = None
    if settings.producer == "any" and (named is None or named.get("table") is None):
        known = tables[0] if len(tables) == 1 else None
    elif named is not None:
        known, origin = definition_of(tables, *table_of_json(named), origin)
    if known is None or known.columns is None:
        return {}, origin
    connector = None if named is None else named.get("connector")
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
