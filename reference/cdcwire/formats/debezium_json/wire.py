"""Kafka key and value to the wire's values, and back.

``debezium.reading`` says what a payload is; no value is a tombstone. Paths begin with ``key`` or
``value``; offsets count from the start of that side.
"""

from __future__ import annotations

import re
from dataclasses import replace

from cdcwire.connect import Envelope, Parsed, Schema
from cdcwire.connect import encode as encode_envelope
from cdcwire.connect.definitions import defined_struct
from cdcwire.connect.fields import Fields, Origin, definition_of, read_part, typed
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError, step
from cdcwire.core.limits import SizeLimitError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.strict_json import JsonObject
from cdcwire.debezium.connectors import source_of
from cdcwire.debezium.message import (
    Change,
    KeyPart,
    Message,
    TextKey,
    Tombstone,
)
from cdcwire.debezium.names import sent_tables, with_adjusted_names, with_names
from cdcwire.debezium.reading import MEMBERS, checked, key_names_of, message_in
from cdcwire.debezium.reading_others import (
    key_part,
)
from cdcwire.debezium.source import (
    table_of_json,
)
from cdcwire.debezium.ticdc_types import with_types
from cdcwire.debezium.unwrapped import RowSettings, is_unwrapped, tombstone_of, unwrapped_of
from cdcwire.debezium.writing_parts import Writer
from cdcwire.formats.debezium_json.settings import Settings, read_settings
from cdcwire.model.events import Table

_KEYS = "debezium-json: keys"
_TICDC = b'"TiCDC"'
_OF_TICDC = re.compile(rb'"connector"\s*:\s*"TiCDC"')


def is_of_ticdc(value: bytes) -> bool:
    """Return whether a message names TiCDC as its connector, with or without white space."""
    return _TICDC in value and _OF_TICDC.search(value) is not None


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

    Without its key, the definition of the table names the columns of the key. Where the message is
    compressed, the offset of an error is 0.
    """
    if settings.compression is not None:
        message, plain = opened(message, settings), replace(settings, compression_name="none")
        try:
            return read_message(message, plain, tables)
        except DecodeError as error:
            raise error.outside(0, "decompressed message") from error
    found = _message(message, settings, sent_tables(tables, settings.field_names))
    return with_names(found, settings.field_names, tables)


def _message(message: KafkaMessage, settings: Settings, tables: tuple[Table, ...]) -> Message:
    value, key, router = message.value, message.key, settings.key_field_name
    is_loose = value is not None and is_of_ticdc(value)
    # TiCDC before 8.5 sends no keys; later an empty object where the table has none.
    has_key = message.has_key and not (is_loose and key is None)
    key_parsed = None if key is None else read_key(key, settings, is_loose=is_loose)
    row_settings = RowSettings(settings, tables, message.headers)
    if value is None:
        return tombstone_of(key_parsed, row_settings)
    parsed = read_part(value, "value", settings, is_loose=is_loose)
    if parsed.envelope.wrapped and parsed.envelope.schema is None and parsed.json is None:
        return tombstone_of(key_parsed, row_settings)  # as by JsonConverters before KAFKA-3832
    key_names = key_names_of(key_parsed, None, router) if has_key else None
    if settings.transforms == "unwrap" and is_unwrapped(parsed, key_names):
        row = unwrapped_of(parsed, key_names, key_part(key_parsed), row_settings)
        return checked(row, settings, Origin("value", parsed))
    if is_loose:
        settings = replace(settings, decimals="double", unsigned="long")  # TiCDC has no other forms
    structs, origin = image_schemas(Origin("value", parsed), settings, tables)
    envelope, origin = typed(origin, structs, settings.max_decimal_digits)
    fields = Fields(envelope.schema, envelope.payload, MEMBERS, origin)
    found = message_in(fields, key_parsed, settings, tables, has_key=has_key)
    if is_loose and isinstance(found, Change):
        return checked(with_types(found, tables), settings, origin)
    return found


def opened(message: KafkaMessage, settings: Settings) -> KafkaMessage:
    """Return a message without its compression. Raises: DecodeError."""
    parts: list[bytes | None] = []
    for name, data in (("key", message.key), ("value", message.value)):
        with step(name):
            parts.append(data and _decompressed(data, settings))
    return replace(message, key=parts[0], value=parts[1])


def _decompressed(data: bytes, settings: Settings) -> bytes:
    assert settings.compression is not None
    try:
        return settings.compression.open(data)
    except SizeLimitError as error:
        raise DecodeError(str(error), 0, "connect: limits") from error
    except ValueError as error:
        problem = f"the message can't be decompressed: {error}"
        raise DecodeError(problem, 0, "debezium-json: ticdc") from error


def read_key(key: bytes, settings: Settings, *, is_loose: bool = False) -> Parsed | TextKey:
    """Return a Kafka key; ``is_loose`` as in ``read_part``. Raises: DecodeError."""
    if settings.key_converter == "json":
        others = "for StringConverter set key-converter=string"
        return read_part(key, "key", settings, other_keys=others, is_loose=is_loose)
    try:
        return TextKey(key.decode())
    except UnicodeDecodeError as error:
        raise DecodeError("the key is not UTF-8", error.start, _KEYS, ("key",)) from None


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


def writer_of(settings: Settings) -> Writer:
    """Return what writes keys and values, with their schemas unless they are off."""
    wrapped = settings.schemas_enable != "false"
    mode = "none" if settings.dialect == "cdl" else settings.schema_names

    def encode(envelope: Envelope) -> bytes:
        schema = envelope.schema
        if schema is not None:
            schema = with_adjusted_names(schema, mode)
        return encode_envelope(replace(envelope, schema=schema, wrapped=wrapped))

    return Writer(settings, encode)


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
    name = "" if connector is None or not isinstance(connector.value, str) else connector.value
    struct = defined_struct(known.columns, settings.style_without_schema(source_of(name)))
    return {"before": struct, "after": struct}, origin
