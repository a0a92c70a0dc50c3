"""The schemas of Debezium's messages, by dialect, as far as the table does not shape them."""

from __future__ import annotations

import re
from functools import lru_cache

from cdcwire.connect import ConnectType, Field, Schema
from cdcwire.connect.types import ENUM
from cdcwire.debezium_json.settings import Dialect

STRING = Schema("string")
OPTIONAL_STRING = Schema("string", True)
INT64 = Schema("int64")
OPTIONAL_INT64 = Schema("int64", True)

VERSIONS: dict[str, str] = {
    "cdl": "1.4.0.Final",
    "debezium-1.4": "1.4.0.Final",
    "debezium-2.7": "2.7.4.Final",
    "debezium-3.2": "3.2.0.Final",
}
_ALLOWED: dict[str, str] = {
    "cdl": "true,last,false",
    "debezium-1.4": "true,last,false",
    "debezium-2.7": "true,last,false,incremental",
    "debezium-3.2": (
        "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"
    ),
}
_UNSAFE = re.compile(r"[^A-Za-z0-9_.]")


def is_new(dialect: Dialect) -> bool:
    """Whether it is of the versions that have microseconds and nanoseconds."""
    return dialect in ("debezium-2.7", "debezium-3.2")


def safe_name(*parts: str) -> str:
    """Return a schema's name, with ``_`` for characters that names don't have."""
    return _UNSAFE.sub("_", ".".join(parts))


@lru_cache(maxsize=8)
def source_schema(dialect: Dialect) -> Schema:
    """Return the struct of ``source``."""
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
    fields += [Field(name, OPTIONAL_INT64) for name in ("txId", "lsn")]
    if dialect != "cdl":
        fields.append(Field("xmin", OPTIONAL_INT64))
    version = 1 if dialect == "debezium-3.2" else None
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


def boundary_schema() -> Schema:
    entry = Schema("struct", fields=(Field("data_collection", STRING), Field("event_count", INT64)))
    fields = (
        Field("status", STRING),
        Field("id", STRING),
        Field("event_count", OPTIONAL_INT64),
        Field("data_collections", Schema("array", True, items=entry)),
        Field("ts_ms", INT64),
    )
    name = "io.debezium.connector.common.TransactionMetadataValue"
    return Schema("struct", name=name, fields=fields)


def key_schema(name: str, field: str) -> Schema:
    """Return the key of messages that are about no row."""
    return Schema("struct", name=name, fields=(Field(field, STRING),))


def logical_schema(dialect: Dialect, content: ConnectType, has_block: bool) -> Schema:
    """Return the schema of a logical message."""
    message = Schema(
        "struct",
        name="io.debezium.connector.postgresql.Message",
        fields=(Field("prefix", OPTIONAL_STRING), Field("content", Schema(content, True))),
    )
    fields = [Field("op", STRING), *moments(dialect), Field("source", source_schema(dialect))]
    if has_block:
        fields.append(Field("transaction", block_schema(dialect)))
    fields.append(Field("message", message))
    name = "io.debezium.connector.postgresql.MessageValue"
    return Schema("struct", name=name, fields=tuple(fields))
