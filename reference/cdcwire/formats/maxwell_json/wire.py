"""Kafka value to the wire's values, and back.

The members are those that ``RowMessage`` and ``SchemaMessage`` declare. Here is what one member
says about another.
"""

from __future__ import annotations

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.json_record import expect_object, object_text, record_of, whole_of
from cdcwire.core.strict_json import read_json
from cdcwire.formats.maxwell_json.message import (
    BOOTSTRAP_MARKS,
    DATA,
    DDL,
    FIELDS,
    OLD,
    ROW_TYPES,
    RULES,
    SCHEMA_CHANGES,
    TABLE_CHANGES,
    TYPES,
    Key,
    Message,
    RowMessage,
    SchemaMessage,
    Tombstone,
    decode_key,
    encode_key,
    written_text,
)
from cdcwire.formats.maxwell_json.settings import read_settings

ENCRYPTION = "maxwell-json: encryption"
BOOTSTRAP = "maxwell-json: bootstrap"
ROW_MESSAGE, SCHEMA_MESSAGE = record_of(RowMessage), record_of(SchemaMessage)
_NEEDED = {
    **dict.fromkeys(TABLE_CHANGES, ("table",)),
    "table-create": ("table", "def"),
    "table-alter": ("table", "old", "def"),
}


def decode(
    value: bytes | None, *, key: bytes | None = None, context: Context = NO_CONTEXT
) -> Message:
    """Return the message in a Kafka key and value; without a value it is a tombstone.

    Raises: TruncatedError, DecodeError. Paths in the key begin with ``key``.
    """
    read_settings(context)
    if value is not None:
        return _read_value(value, key)
    if key is not None:
        decode_key(key)
    return Tombstone(key)


def _read_value(value: bytes, key: bytes | None) -> RowMessage | SchemaMessage:
    document = read_json(value, RULES)
    found, end = expect_object(whole_of(document), FIELDS), document.end
    known = found.by_name
    if "encrypted" in known:
        problem = "the message is encrypted; decrypt it first"
        raise DecodeError(problem, known["encrypted"].start, ENCRYPTION, ("encrypted",))
    kind = ROW_MESSAGE.one("type", found, end, value)
    if kind in SCHEMA_CHANGES:
        for name in _NEEDED.get(kind, ()):
            if name not in known:
                raise DecodeError(f"member {name!r} is missing", end - 1, DDL, (name,))
        return SchemaMessage(**SCHEMA_MESSAGE.read(found, end, value), key=key)
    if kind not in ROW_TYPES:
        problem = _not_one_of(kind, (*ROW_TYPES, *SCHEMA_CHANGES))
        raise DecodeError(problem, known["type"].start, TYPES, ("type",))
    row_key = None if key is None else decode_key(key)
    row = RowMessage(**ROW_MESSAGE.read(found, end, value), key=row_key)
    fault = _fault_of(row)
    if fault is not None:
        problem, name, clause = fault
        raise DecodeError(problem, known[name].start, clause, (name,))
    return row


def _not_one_of(kind: str, types: tuple[str, ...]) -> str:
    return f"type {kind!r:.40} is not one of {', '.join(types)}"


def _fault_of(message: RowMessage) -> tuple[str, str, str] | None:
    """Return what contradicts the type of a row, the member, and the clause."""
    if message.type in BOOTSTRAP_MARKS:
        if message.data:
            return f"{message.type} has columns", "data", BOOTSTRAP
    elif not message.data:
        return f"{message.type} has no columns", "data", DATA
    if message.old is not None and message.type != "update":
        return f"{message.type} has old values", "old", OLD
    return None


def encode(message: Message, *, context: Context = NO_CONTEXT) -> tuple[bytes | None, bytes | None]:
    """Return Kafka key and value. Raises: EncodeError.

    ``context`` is ignored: the values say all that the bytes depend on.
    """
    if isinstance(message, Tombstone):
        return message.key, None
    key = message.key
    return encode_key(key) if isinstance(key, Key) else key, encode_value(message)


def encode_value(message: RowMessage | SchemaMessage) -> bytes:
    """Return the JSON of a message. Raises: EncodeError."""
    if isinstance(message, SchemaMessage):
        texts = SCHEMA_MESSAGE.write(message, written_text)
        for name in _NEEDED.get(message.type, ()):
            if name not in texts:
                raise EncodeError(f"{message.type} needs {name!r}", DDL, (name,))
    else:
        if message.type not in ROW_TYPES:
            raise EncodeError(_not_one_of(message.type, ROW_TYPES), TYPES, ("type",))
        fault = _fault_of(message)
        if fault is not None:
            problem, name, clause = fault
            raise EncodeError(problem, clause, (name,))
        texts = ROW_MESSAGE.write(message, written_text)
    return object_text(texts, written_text).encode()
