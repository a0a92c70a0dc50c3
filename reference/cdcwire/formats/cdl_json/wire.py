"""Kafka key and value to the wire's values, and back.

Paths begin with ``key`` or ``value``; offsets count from the start of that side.
"""

from __future__ import annotations

from dataclasses import replace

from cdcwire.connect import Envelope, Parsed, Schema
from cdcwire.connect import encode as encode_envelope
from cdcwire.connect.cdl import ROW_CHANGE, VERSION_1, Row
from cdcwire.connect.definitions import defined_struct
from cdcwire.connect.fields import Fields, Origin, definition_of, read_part, typed
from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.strict_json import JsonObject
from cdcwire.formats.cdl_json.message import (
    FIELDS,
    IMAGES,
    NO_FIELDS,
    OPERATION,
    OPERATIONS,
    TRANSACTION,
    UNIQUE,
    VERSION,
    Change,
    Key,
    Message,
    Tombstone,
    is_object,
    key_bytes,
)
from cdcwire.formats.cdl_json.settings import Settings, read_settings
from cdcwire.model.events import Table

_LINT = "cdl-json: lint"


def decode(
    value: bytes | None, *, key: bytes | None = None, context: Context = NO_CONTEXT
) -> Message:
    """Return the change of a message; without a value it is a tombstone.

    The context's tables give the types of columns where messages have no schema.
    Raises: TruncatedError, DecodeError, OptionError.
    """
    return read_message(value, key, read_settings(context), context.tables)


def read_message(
    value: bytes | None, key: bytes | None, settings: Settings, tables: tuple[Table, ...] = ()
) -> Message:
    """Return the change of a message; without a value it is a tombstone. See ``decode``."""
    sent_key = None if key is None else _key(key, settings)
    if value is None:
        return Tombstone(sent_key)
    parsed = read_part(value, "value", settings)
    structs, origin = _image_schemas(Origin("value", parsed), settings, tables)
    envelope, origin = typed(origin, structs, settings.max_decimal_digits)
    change = _change(envelope, origin, sent_key)
    if settings.lint == "strict" and change.warnings:
        raise origin.error(change.warnings[0], _LINT)
    return change


def _key(key: bytes, settings: Settings) -> Key:
    """Return a key; one that is not an object, such as StringConverter's, is kept as its bytes."""
    return read_part(key, "key", settings).envelope if is_object(key) else key


def encode(message: Message, *, context: Context = NO_CONTEXT) -> tuple[bytes | None, bytes | None]:
    """Return Kafka key and value. Raises: EncodeError.

    ``context`` is ignored: the values say all that the bytes depend on.
    """
    key = key_bytes(message.key)
    if isinstance(message, Tombstone):
        return key, None
    return key, encode_envelope(message.envelope)


def change_of(envelope: Envelope) -> Change:
    """Return the change that an envelope of schema and payload holds. Raises: DecodeError."""
    return _change(envelope, Origin("value", Parsed(envelope, None, 0, 0)), None)


def _image_schemas(
    origin: Origin, settings: Settings, tables: tuple[Table, ...]
) -> tuple[dict[str, Schema], Origin]:
    """Return the structs of a payload without schema, where a definition gives them."""
    payload = origin.parsed.json
    if origin.parsed.envelope.schema is not None or not isinstance(payload, JsonObject):
        return {}, origin
    schema, table = (
        member.value if member is not None else None
        for member in map(payload.get, ("SEG_OWNER", "TABLE_NAME"))
    )
    known, origin = definition_of(tables, schema, table, origin)
    if known is None or known.columns is None:
        return {}, origin
    struct = defined_struct(known.columns, settings.style)
    return {"data": struct, "before": struct}, origin


def _change(envelope: Envelope, origin: Origin, key: Key) -> Change:
    # The payload without schema stays in the envelope as it came, so that it is written so.
    parsed = origin.parsed
    fields = Fields(envelope.schema, envelope.payload, FIELDS, origin)
    version = fields.text("message_version")
    if version != VERSION_1:
        problem = f"message_version is {version!r:.20}, not {VERSION_1!r}"
        raise fields.error(problem, "message_version", VERSION)
    change = Change(
        fields.text("DATA_STORE"),
        fields.text("SEG_OWNER"),
        fields.text("TABLE_NAME"),
        fields.integer("TIMESTAMP"),
        fields.text("OPERATION"),
        fields.optional_text("LOB_COLUMNS"),
        _properties(fields),
        _row(fields, "unique"),
        _row(fields, "data"),
        _row(fields, "before"),
        fields.text("message_type"),
        fields.optional_text("HEARTBEAT_IDENTIFIER"),
        envelope if parsed.envelope.schema is not None else parsed.envelope,
        key,
    )
    _check_images(change, fields)
    warnings = (*parsed.warnings, *_warnings(change, parsed.envelope.schema is not None))
    return replace(change, warnings=warnings) if warnings else change


def _properties(fields: Fields) -> tuple[tuple[str, int], ...]:
    transaction = fields.struct("transaction")
    transaction.clause = TRANSACTION
    items = transaction.get("properties")
    schema = transaction.schema_of("properties")
    if not isinstance(items, tuple) or schema is None or schema.type != "array":
        raise transaction.error("properties is not an array", "properties")
    pairs: dict[str, int] = {}
    for index, item in enumerate(items):
        path = (*transaction.path, "properties", index)
        entry = Fields(schema.items, item, TRANSACTION, fields.origin, path)
        name = entry.text("name")
        if name in pairs:
            raise entry.error(f"property {name!r:.40} appears twice", "name")
        pairs[name] = entry.integer("value")
    return tuple(pairs.items())


def _row(fields: Fields, name: str) -> Row:
    schema = fields.schema_of(name)
    if schema is None:
        if fields.origin.parsed.envelope.schema is None:
            return Row(NO_FIELDS, None)  # without schema, an optional member may be missing
        raise fields.error(f"{name} is required", name)
    value = fields.get(name)
    if value is None:
        return Row(schema if schema.type == "struct" else NO_FIELDS, None)
    fields.struct(name)
    return Row(schema, value, fields.origin)


def _check_images(change: Change, fields: Fields) -> None:
    """Check which of data and before an operation has."""
    if change.operation not in OPERATIONS:
        problem = f"OPERATION is {change.operation!r:.20}, not one of {', '.join(OPERATIONS)}"
        raise fields.error(problem, "OPERATION", OPERATION)
    if (change.data.values is None) != (change.operation == "DELETE"):
        which = "has" if change.data.values is not None else "has no"
        raise fields.error(f"{change.operation} {which} data", "data", IMAGES)
    if change.operation == "INSERT" and change.before.values is not None:
        raise fields.error("INSERT has a row before", "before", IMAGES)
    if change.operation == "DELETE" and change.before.values is None:
        raise fields.error("DELETE has no row before", "before", IMAGES)


def _warnings(change: Change, has_types: bool) -> list[str]:
    """Return what is odd. ``has_types``: without a schema a NULL looks like another type.

    Without a schema the columns of a row that is null are those of the definition, if any.
    """
    warnings = []
    if change.message_type != ROW_CHANGE:
        warnings.append(
            f"message_type {change.message_type!r:.20} is not known (cdl-json: message type)"
        )
    row = change.data if change.data.values is not None else change.before
    columns = {field.name: index for index, field in enumerate(row.schema.fields)}
    for field, value in zip(change.unique.schema.fields, change.unique.values or (), strict=False):
        place = columns.get(field.name)
        if place is None or row.values is None or row.values[place] != value:
            warnings.append(f"unique column {field.name!r:.40} is not that of the row ({UNIQUE})")
    data, before = change.data.schema.fields, change.before.schema.fields
    names = [[field.name for field in fields] for fields in (data, before)]
    if not has_types and None in (change.data.values, change.before.values):
        return warnings
    if data and before and (data != before if has_types else names[0] != names[1]):
        warnings.append(f"data and before have other columns ({IMAGES})")
    return warnings
