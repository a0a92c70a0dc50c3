"""The schemas of Debezium's messages, by their shape, as far as the table does not decide them."""

from __future__ import annotations

from functools import lru_cache

from cdcwire.connect import ConnectType, Field, Schema
from cdcwire.connect.cdl import INT64, OPTIONAL_INT64, OPTIONAL_STRING, SOURCE, STRING
from cdcwire.connect.types import ENUM
from cdcwire.debezium.shapes import Shape

_COMMON = "io.debezium.connector.common."
_INT32, _OPTIONAL_INT32 = Schema("int32"), Schema("int32", True)
_OPTIONAL_BOOLEAN = Schema("boolean", True)


def _version(shape: Shape) -> int | None:
    return 1 if shape.has_schema_versions else None


@lru_cache(maxsize=64)
def source_schema(shape: Shape) -> Schema:
    """Return the struct of ``source``."""
    if shape.is_cdl:
        return SOURCE
    allowed = (("allowed", shape.allowed_snapshots),)
    fields = [
        Field("version", STRING),
        Field("connector", STRING),
        Field("name", STRING),
        Field("ts_ms", INT64),
        Field("snapshot", Schema("string", True, ENUM, 1, None, allowed, "false")),
        Field("db", STRING),
    ]
    if shape.has_sequence:
        fields.append(Field("sequence", OPTIONAL_STRING))
    if shape.has_moments:
        fields += [Field(name, OPTIONAL_INT64) for name in ("ts_us", "ts_ns")]
    fields += [
        Field(member.name, Schema(member.type, member.optional))
        for member in shape.source.members_of(shape.version)
    ]
    name = f"io.debezium.connector.{shape.source.package}.Source"
    return Schema("struct", False, name, shape.source_version, fields=tuple(fields))


@lru_cache(maxsize=64)
def block_schema(shape: Shape) -> Schema:
    """Return the struct of ``transaction``."""
    fields = (
        Field("id", STRING),
        Field("total_order", INT64),
        Field("data_collection_order", INT64),
    )
    if shape.has_schema_versions:
        return Schema("struct", True, "event.block", 1, fields=fields)
    return Schema("struct", True, fields=fields)


def moments(shape: Shape) -> list[Field]:
    """Return when the connector handled an event, as fields."""
    names = ("ts_ms", "ts_us", "ts_ns") if shape.has_moments else ("ts_ms",)
    return [Field(name, OPTIONAL_INT64) for name in names]


@lru_cache(maxsize=64)
def boundary_schema(shape: Shape) -> Schema:
    """Return the schema of a transaction's begin and end; that of 1.4 has no time."""
    name, version = ("event.collection", 1) if shape.has_schema_versions else (None, None)
    pair = (Field("data_collection", STRING), Field("event_count", INT64))
    entry = Schema("struct", shape.has_schema_versions, name, version, fields=pair)
    fields = [
        Field("status", STRING),
        Field("id", STRING),
        Field("event_count", OPTIONAL_INT64),
        Field("data_collections", Schema("array", True, items=entry)),
    ]
    if shape.has_schema_versions:
        fields.append(Field("ts_ms", INT64))
    name = f"{_COMMON}TransactionMetadataValue"
    return Schema("struct", False, name, _version(shape), fields=tuple(fields))


def boundary_key_schema(shape: Shape) -> Schema:
    """Return the key schema of a message at a transaction's boundary."""
    name = f"{_COMMON}TransactionMetadataKey"
    return Schema("struct", False, name, _version(shape), fields=(Field("id", STRING),))


def heartbeat_schema(shape: Shape) -> Schema:
    """Return the value schema of a heartbeat."""
    name, fields = f"{_COMMON}Heartbeat", (Field("ts_ms", INT64),)
    return Schema("struct", False, name, _version(shape), fields=fields)


def heartbeat_key_schema(shape: Shape) -> Schema:
    """Return the key schema of a heartbeat."""
    name, fields = f"{_COMMON}ServerNameKey", (Field("serverName", STRING),)
    return Schema("struct", False, name, _version(shape), fields=fields)


@lru_cache(maxsize=32)
def logical_schema(shape: Shape, content: ConnectType, has_block: bool) -> Schema:
    """Return the schema of a logical message; it has the time in milliseconds only."""
    name, version = "io.debezium.connector.postgresql.Message", _version(shape)
    parts = (Field("prefix", OPTIONAL_STRING), Field("content", Schema(content, True)))
    message = Schema("struct", False, name, version, fields=parts)
    fields = [
        Field("op", STRING),
        Field("ts_ms", OPTIONAL_INT64),
        Field("source", source_schema(shape)),
    ]
    if has_block:
        fields.append(Field("transaction", block_schema(shape)))
    fields.append(Field("message", message))
    return Schema("struct", False, f"{name}Value", version, fields=tuple(fields))


def _change_struct(shape: Shape, name: str, *fields: Field, optional: bool = False) -> Schema:
    full_name = f"io.debezium.connector.schema.{name}"
    return Schema("struct", optional, full_name, _version(shape), fields=fields)


@lru_cache(maxsize=64)
def changes_schema(shape: Shape) -> Schema:
    """Return the schema of ``tableChanges``, the tables after a statement."""
    texts = Schema("array", True, items=STRING)
    comment = (Field("comment", OPTIONAL_STRING),) if shape.version >= (1, 8) else ()
    since_2 = (Field("defaultValueExpression", OPTIONAL_STRING), Field("enumValues", texts))
    column = _change_struct(
        shape,
        "Column",
        Field("name", STRING),
        Field("jdbcType", _INT32),
        Field("nativeType", _OPTIONAL_INT32),
        Field("typeName", STRING),
        Field("typeExpression", OPTIONAL_STRING),
        Field("charsetName", OPTIONAL_STRING),
        Field("length", _OPTIONAL_INT32),
        Field("scale", _OPTIONAL_INT32),
        Field("position", _INT32),
        *(Field(name, _OPTIONAL_BOOLEAN) for name in ("optional", "autoIncremented", "generated")),
        *comment,
        *(since_2 if shape.has_schema_versions else ()),
    )
    table = _change_struct(
        shape,
        "Table",
        Field("defaultCharsetName", OPTIONAL_STRING),
        Field("primaryKeyColumnNames", texts),
        Field("columns", Schema("array", items=column)),
        *comment,
        optional=shape.has_schema_versions,
    )
    named = (Field("type", STRING), Field("id", STRING), Field("table", table))
    return Schema("array", items=_change_struct(shape, "Change", *named))


@lru_cache(maxsize=64)
def statement_schema(shape: Shape) -> Schema:
    """Return the value schema of a message of the schema change topic; that of 1.x has no time."""
    fields = [Field("source", source_schema(shape))]
    if shape.has_schema_versions:
        fields.append(Field("ts_ms", INT64))
    fields += [Field(name, OPTIONAL_STRING) for name in ("databaseName", "schemaName", "ddl")]
    fields.append(Field("tableChanges", changes_schema(shape)))
    name = f"io.debezium.connector.{shape.source.package}.SchemaChangeValue"
    return Schema("struct", False, name, _version(shape), fields=tuple(fields))


def statement_key_schema(shape: Shape) -> Schema:
    """Return the key schema of a message of the schema change topic."""
    name = f"io.debezium.connector.{shape.source.package}.SchemaChangeKey"
    return Schema("struct", False, name, _version(shape), fields=(Field("databaseName", STRING),))


def logical_key_schema(shape: Shape) -> Schema:
    """Return the key schema of a logical message."""
    name, fields = (
        "io.debezium.connector.postgresql.MessageKey",
        (Field("prefix", OPTIONAL_STRING),),
    )
    return Schema("struct", False, name, _version(shape), fields=fields)
