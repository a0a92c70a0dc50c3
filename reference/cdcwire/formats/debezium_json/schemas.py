"""The schemas of Debezium's messages, by dialect, as far as the table does not shape them."""

from __future__ import annotations

import re
from functools import lru_cache

from cdcwire.connect import ConnectType, Field, Schema
from cdcwire.connect.cdl import INT64, OPTIONAL_INT64, OPTIONAL_STRING, SOURCE, STRING
from cdcwire.connect.types import ENUM
from cdcwire.formats.debezium_json.settings import Dialect

VERSIONS: dict[str, str] = {
    "cdl": "1.4.0.Final",
    "debezium-1.4": "1.4.0.Final",
    "debezium-2.7": "2.7.4.Final",
    "debezium-3.2": "3.2.0.Final",
}
_ALLOWED: dict[str, str] = {
    "debezium-1.4": "true,last,false",
    "debezium-2.7": "true,last,false,incremental",
    "debezium-3.2": (
        "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"
    ),
}
_UNSAFE = re.compile(r"[^A-Za-z0-9_.]")
_UNSAFE_IN_TOPICS = re.compile(r"[^A-Za-z0-9_.-]")
_COMMON = "io.debezium.connector.common."


def is_new(dialect: Dialect) -> bool:
    """Return whether it is of the versions that have microseconds and nanoseconds."""
    return dialect in ("debezium-2.7", "debezium-3.2")


def safe_name(dialect: Dialect, *parts: str) -> str:
    """Return a schema's name, with ``_`` for characters that names don't have.

    Later versions allow in it what a topic's name may have.
    """
    unsafe = _UNSAFE_IN_TOPICS if is_new(dialect) else _UNSAFE
    return unsafe.sub("_", ".".join(parts))


def _version(dialect: Dialect) -> int | None:
    return 1 if is_new(dialect) else None


@lru_cache(maxsize=8)
def source_schema(dialect: Dialect) -> Schema:
    """Return the struct of ``source``."""
    if dialect == "cdl":
        return SOURCE
    snapshot = Schema("string", True, ENUM, 1, None, (("allowed", _ALLOWED[dialect]),), "false")
    fields = [
        Field("version", STRING),
        Field("connector", STRING),
        Field("name", STRING),
        Field("ts_ms", INT64),
        Field("snapshot", snapshot),
        Field("db", STRING),
    ]
    if is_new(dialect):
        fields.append(Field("sequence", OPTIONAL_STRING))
        fields += [Field(name, OPTIONAL_INT64) for name in ("ts_us", "ts_ns")]
    fields += [Field("schema", STRING), Field("table", STRING)]
    fields += [Field(name, OPTIONAL_INT64) for name in ("txId", "lsn", "xmin")]
    version = 1 if dialect == "debezium-3.2" else None  # of the versions here
    name = "io.debezium.connector.postgresql.Source"
    return Schema("struct", False, name, version, fields=tuple(fields))


@lru_cache(maxsize=8)
def block_schema(dialect: Dialect) -> Schema:
    """Return the struct of ``transaction``."""
    fields = (
        Field("id", STRING),
        Field("total_order", INT64),
        Field("data_collection_order", INT64),
    )
    if is_new(dialect):
        return Schema("struct", True, "event.block", 1, fields=fields)
    return Schema("struct", True, fields=fields)


def moments(dialect: Dialect) -> list[Field]:
    """Return when the connector handled an event, as fields."""
    names = ("ts_ms", "ts_us", "ts_ns") if is_new(dialect) else ("ts_ms",)
    return [Field(name, OPTIONAL_INT64) for name in names]


@lru_cache(maxsize=8)
def boundary_schema(dialect: Dialect) -> Schema:
    """Return the schema of a transaction's begin and end; that of 1.4 has no time."""
    name, version = ("event.collection", 1) if is_new(dialect) else (None, None)
    pair = (Field("data_collection", STRING), Field("event_count", INT64))
    entry = Schema("struct", is_new(dialect), name, version, fields=pair)
    fields = [
        Field("status", STRING),
        Field("id", STRING),
        Field("event_count", OPTIONAL_INT64),
        Field("data_collections", Schema("array", True, items=entry)),
    ]
    if is_new(dialect):
        fields.append(Field("ts_ms", INT64))
    name = f"{_COMMON}TransactionMetadataValue"
    return Schema("struct", False, name, _version(dialect), fields=tuple(fields))


def boundary_key_schema(dialect: Dialect) -> Schema:
    """Return the key schema of a message at a transaction's boundary."""
    name = f"{_COMMON}TransactionMetadataKey"
    return Schema("struct", False, name, _version(dialect), fields=(Field("id", STRING),))


def heartbeat_schema(dialect: Dialect) -> Schema:
    """Return the value schema of a heartbeat."""
    name, fields = f"{_COMMON}Heartbeat", (Field("ts_ms", INT64),)
    return Schema("struct", False, name, _version(dialect), fields=fields)


def heartbeat_key_schema(dialect: Dialect) -> Schema:
    """Return the key schema of a heartbeat."""
    name, fields = f"{_COMMON}ServerNameKey", (Field("serverName", STRING),)
    return Schema("struct", False, name, _version(dialect), fields=fields)


@lru_cache(maxsize=32)
def logical_schema(dialect: Dialect, content: ConnectType, has_block: bool) -> Schema:
    """Return the schema of a logical message; it has the time in milliseconds only."""
    name, version = "io.debezium.connector.postgresql.Message", _version(dialect)
    parts = (Field("prefix", OPTIONAL_STRING), Field("content", Schema(content, True)))
    message = Schema("struct", False, name, version, fields=parts)
    fields = [
        Field("op", STRING),
        Field("ts_ms", OPTIONAL_INT64),
        Field("source", source_schema(dialect)),
    ]
    if has_block:
        fields.append(Field("transaction", block_schema(dialect)))
    fields.append(Field("message", message))
    return Schema("struct", False, f"{name}Value", version, fields=tuple(fields))


def logical_key_schema(dialect: Dialect) -> Schema:
    """Return the key schema of a logical message."""
    name, fields = (
        "io.debezium.connector.postgresql.MessageKey",
        (Field("prefix", OPTIONAL_STRING),),
    )
    return Schema("struct", False, name, _version(dialect), fields=fields)
