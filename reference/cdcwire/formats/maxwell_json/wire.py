"""Kafka value to the wire's values, and back.

Members may be in any order. They are written in the order of the producer.
"""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import JsonObject, Number, read_json
from cdcwire.formats.maxwell_json.ddl import read_schema_change, written_schema_change
from cdcwire.formats.maxwell_json.members import (
    FIELDS,
    INT64_END,
    MS_PER_SECOND,
    POSITION,
    RULES,
    TIMESTAMP,
    TYPES,
    Members,
    MemberTexts,
    expect_object,
    flag_of,
    integer_of,
    is_null,
    nullable_text,
    optional_integer,
    optional_text,
    read_number,
    required,
    text_of,
    texts_of,
    written_object,
    written_texts,
)
from cdcwire.formats.maxwell_json.message import (
    BOOTSTRAP_MARKS,
    ROW_TYPES,
    SCHEMA_CHANGES,
    Key,
    Message,
    RowMessage,
    SchemaMessage,
    Tombstone,
)
from cdcwire.formats.maxwell_json.rows import (
    DATA,
    OLD,
    PRIMARY_KEY,
    decode_key,
    encode_key,
    read_row,
    read_values,
    written_row,
    written_values,
)
from cdcwire.formats.maxwell_json.settings import read_settings
from cdcwire.mysql.json_members import unknown_of

QUERY = "maxwell-json: query"
TRANSACTION = "maxwell-json: transactions"
ENCRYPTION = "maxwell-json: encryption"
BOOTSTRAP = "maxwell-json: bootstrap"
SECONDS_END = INT64_END // MS_PER_SECOND
KNOWN = frozenset(
    {
        *("database", "table", "query", "type", "ts", "xid", "xoffset", "commit", "position"),
        *("gtid", "server_id", "thread_id", "schema_id", "push_ts", "comment", "primary_key"),
        *("primary_key_columns", "data", "old"),
    }
)


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
    found = expect_object(document.value, document.start, FIELDS)
    known = found.by_name
    if "encrypted" in known:
        problem = "the message is encrypted; decrypt it first"
        raise DecodeError(problem, known["encrypted"].start, ENCRYPTION, ("encrypted",))
    type_ = required(known, "type", document.end, TYPES)
    kind = text_of(type_, TYPES)
    if kind in SCHEMA_CHANGES:
        return replace(read_schema_change(kind, found, known, value, document.end), key=key)
    if kind not in ROW_TYPES:
        allowed = ", ".join((*ROW_TYPES, *SCHEMA_CHANGES))
        problem = f"type {kind!r:.40} is not one of {allowed}"
        raise DecodeError(problem, type_.start, TYPES, ("type",))
    row_key = None if key is None else decode_key(key)
    return replace(_read_row(kind, found, known, value, document.end), key=row_key)


def _read_row(kind: str, found: JsonObject, known: Members, data: bytes, end: int) -> RowMessage:
    seconds = integer_of(
        required(known, "ts", end, TIMESTAMP), -SECONDS_END, SECONDS_END, TIMESTAMP
    )
    message = RowMessage(
        database=text_of(required(known, "database", end)),
        table=text_of(required(known, "table", end)),
        type=kind,
        ts=seconds,
        data=read_row(required(known, "data", end, DATA), DATA, data),
        old=read_row(known["old"], OLD, data) if "old" in known else None,
        query=optional_text(known, "query", QUERY),
        xid=optional_integer(known, "xid", TRANSACTION),
        xoffset=optional_integer(known, "xoffset", TRANSACTION),
        commit=flag_of(known["commit"], TRANSACTION) if "commit" in known else None,
        position=optional_text(known, "position", POSITION),
        gtid=nullable_text(known, "gtid", POSITION),
        gtid_is_null=is_null(known, "gtid"),
        server_id=optional_integer(known, "server_id", POSITION),
        thread_id=optional_integer(known, "thread_id", POSITION),
        schema_id=optional_integer(known, "schema_id", POSITION),
        push_ts=_push_ts(known),
        comment=optional_text(known, "comment", FIELDS),
        primary_key=read_values(known["primary_key"], data) if "primary_key" in known else None,
        primary_key_columns=_key_columns(known),
        unknown=unknown_of(found, KNOWN, data),
    )
    fault = _fault_of(message)
    if fault is not None:
        problem, name, clause = fault
        raise DecodeError(problem, known[name].start, clause, (name,))
    return message


def _push_ts(known: Members) -> Number | None:
    member = known.get("push_ts")
    if member is None:
        return None
    with step("push_ts"):
        return read_number(member.value, member.start, TIMESTAMP)


def _key_columns(known: Members) -> tuple[str, ...] | None:
    member = known.get("primary_key_columns")
    if member is None:
        return None
    names = texts_of(member, PRIMARY_KEY)
    if len(set(names)) < len(names):
        problem = "a column is duplicated"
        raise DecodeError(problem, member.start, PRIMARY_KEY, ("primary_key_columns",))
    return names


def _fault_of(message: RowMessage) -> tuple[str, str, str] | None:
    """Return what contradicts the type of a row, the member, and the clause."""
    if message.type in BOOTSTRAP_MARKS:
        if message.data:
            return f"{message.type} has columns", "data", BOOTSTRAP
    elif not message.data:
        return f"{message.type} has no columns", "data", DATA
    if message.old is None:
        return None
    if message.type != "update":
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
        return written_schema_change(message).encode()
    if message.type not in ROW_TYPES:
        problem = f"type {message.type!r:.40} is not one of {', '.join(ROW_TYPES)}"
        raise EncodeError(problem, TYPES, ("type",))
    fault = _fault_of(message)
    if fault is not None:
        problem, name, clause = fault
        raise EncodeError(problem, clause, (name,))
    return written_object(_members_of(message)).encode()


def _members_of(message: RowMessage) -> dict[str, str]:
    """Return the members in the order of the producer, as JSON text. Raises: EncodeError."""
    members = MemberTexts()
    members.text("database", message.database)
    members.text("table", message.table)
    members.text("query", message.query)
    members.text("type", message.type)
    members.integer("ts", message.ts, SECONDS_END, TIMESTAMP)
    members.integer("xid", message.xid, INT64_END, TRANSACTION)
    members.integer("xoffset", message.xoffset, INT64_END, TRANSACTION)
    if message.commit is not None:
        members["commit"] = "true" if message.commit else "false"
    members.text("position", message.position)
    members.nullable_text("gtid", message.gtid, is_null=message.gtid_is_null)
    for name in ("server_id", "thread_id", "schema_id"):
        members.integer(name, getattr(message, name), INT64_END, POSITION)
    if message.push_ts is not None:
        members["push_ts"] = message.push_ts.text
    members.text("comment", message.comment)
    members.unknown(message.unknown, KNOWN)
    if message.primary_key is not None:
        with step("primary_key"):
            members["primary_key"] = written_values(message.primary_key)
    if message.primary_key_columns is not None:
        with step("primary_key_columns"):
            if len(set(message.primary_key_columns)) < len(message.primary_key_columns):
                raise EncodeError("a column is duplicated", PRIMARY_KEY)
            members["primary_key_columns"] = written_texts(message.primary_key_columns)
    with step("data"):
        members["data"] = written_row(message.data, DATA)
    if message.old is not None:
        with step("old"):
            members["old"] = written_row(message.old, OLD)
    return members
