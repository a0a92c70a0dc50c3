"""Messages of the schema change topic: a statement, and the tables after it."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.connect import ConnectValue, Envelope
from cdcwire.connect.values import read_value
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.debezium.schema_changes import known_changes, sent_table
from cdcwire.debezium.schemas import (
    changes_schema,
    source_schema,
    statement_key_schema,
    statement_schema,
)
from cdcwire.debezium.shapes import Shape, shape_of
from cdcwire.debezium.writing_parts import Writer, extra_text, statement_source_values
from cdcwire.model.events import SchemaChange, Table

_CLAUSE = "debezium-json: schema changes"
_WITHOUT_TABLES = ("cindex", "dindex", "truncate", "query")
_BY_TYPE = ("create", "alter", "erase")  # kinds that tableChanges says without a statement


def write_statement(event: SchemaChange, writer: Writer) -> KafkaMessage:
    """Return the message of a statement. Raises: EncodeError."""
    settings, extra, position = writer.settings, event.extra, event.position
    if settings.dialect == "cdl":
        raise EncodeError("CDL's messages have no schema changes", _CLAUSE, ("what",))
    shape = shape_of(extra, settings)
    if not shape.source.has_statements:
        problem = f"the connector {shape.source.name} sends no schema changes"
        raise EncodeError(problem, _CLAUSE, ("what",))
    if event.query is None and event.what not in _BY_TYPE:
        raise EncodeError(f"a schema change {event.what} needs its query", _CLAUSE, ("query",))
    if position.sent_ms is None and shape.has_schema_versions:
        raise EncodeError("the time is required", _CLAUSE, ("position", "sent_ms"))
    table = event.table or Table(None)
    named = sent_table(event.what, event.table)
    if "source_table" in extra:
        named = extra_text(extra, "source_table")
    about = replace(table, name=named)
    source = statement_source_values(about, position, extra, settings)
    database = source[source_schema(shape).index("db") or 0]
    payload: dict[str, ConnectValue] = {
        "source": source,
        "ts_ms": position.sent_ms,
        "databaseName": database,
        "schemaName": table.schema if shape.source.schema_member == "schema" else None,
        "ddl": event.query,
        "tableChanges": _changes(event, shape),
    }
    schema = statement_schema(shape)
    key = Envelope(statement_key_schema(shape), (database,))
    value = Envelope(schema, tuple(payload[field.name] for field in schema.fields))
    return KafkaMessage(writer.encode(key), writer.value(value, is_like_row=False))


def _changes(event: SchemaChange, shape: Shape) -> ConnectValue:
    """Return the value of ``tableChanges``: as it was read, or of no columns."""
    known = known_changes(event.extra, _CLAUSE)
    if known is not None:
        try:
            return read_value(changes_schema(shape), known, 0, 0)
        except DecodeError as error:
            where = ("extra", "table_changes", *error.path)
            raise EncodeError(error.problem, _CLAUSE, where) from error
    table = event.table
    if table is None or table.name is None or event.what in _WITHOUT_TABLES:
        return ()
    if event.what != "erase":
        problem = (
            f"tableChanges of a statement that is {event.what} needs the JDBC type, character set, "
            "comment, default and auto-increment of each column: extra table_changes gives them"
        )
        raise EncodeError(problem, _CLAUSE, ("what",))
    if not shape.has_schema_versions:
        return ()  # a change has to have a table
    levels = (table.database if shape.source.has_database else None, table.schema, table.name)
    name = ".".join(f'"{level}"' for level in levels if level)
    return (("DROP", name, None),)
