"""Rows by themselves, as ExtractNewRecordState leaves them.

The transform replaces a change with its row. Its settings may add fields of the change to the row
(``__op``, ``__table``, ``__lsn``) and ``__deleted``. Messages that are not changes stay as they
are. Their schemas distinguish them from rows; without schema, all of their members do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cdcwire.connect import Parsed, Schema
from cdcwire.connect.cdl import Row
from cdcwire.connect.definitions import defined_struct
from cdcwire.connect.fields import Fields, Origin, definition_of, typed
from cdcwire.connect.logical import ConversionError, image_of
from cdcwire.core.errors import DecodeError
from cdcwire.core.format import Selection
from cdcwire.core.strict_json import JsonObject, JsonValue
from cdcwire.formats.debezium_json.message import OPERATIONS, KeyPart, Unwrapped
from cdcwire.formats.debezium_json.settings import Settings
from cdcwire.model.events import Image, Op, Position, RowChange, SchemaChange, Sent, Table

_CLAUSE = "debezium-json: unwrapped rows"
_ADDED = "__"  # before each field that the transform adds
_SOURCE = "source_"
_OTHERS = (  # last words of other schemas
    "Envelope",
    "Heartbeat",
    "TransactionMetadataValue",
    "MessageValue",
    "SchemaChangeValue",
)
_BOUNDARY = {"status", "id", "event_count", "data_collections"}
_LOGICAL = {"op", "source", "message"}
_SCHEMA_CHANGE = {"source", "databaseName", "schemaName", "ddl", "tableChanges"}
_OPS: dict[str, Op] = {"c": "insert", "u": "update", "r": "read"}


def is_unwrapped(parsed: Parsed, key_names: tuple[str, ...] | None) -> bool:
    """Return whether a value is a row by itself, if the transform is on."""
    if parsed.envelope.schema is not None:
        return is_row_schema(parsed.envelope.schema)
    return not (isinstance(parsed.json, JsonObject) and _is_other(parsed.json, key_names))


def is_row_schema(schema: Schema) -> bool:
    """Return whether a schema is that of a row by itself."""
    return schema.name is None or schema.name.rpartition(".")[2] not in _OTHERS


def _is_other(payload: JsonObject, key_names: tuple[str, ...] | None) -> bool:
    """Return whether a payload without schema has all members of a message that is not a row."""
    names = payload.by_name.keys()
    if names == {"ts_ms"}:
        return key_names == ("serverName",)  # a row has the columns of its key
    if names - {"ts_ms"} == _BOUNDARY:
        return key_names == ("id",)
    if names >= _LOGICAL and payload.by_name["op"].value == "m":
        return _has_objects(payload, "source", "message")
    return names >= _SCHEMA_CHANGE and _has_objects(payload, "source")


def _has_objects(payload: JsonObject, *names: str) -> bool:
    return all(isinstance(payload.by_name[name].value, JsonObject) for name in names)


def unwrapped_of(
    parsed: Parsed,
    key_names: tuple[str, ...] | None,
    key: KeyPart,
    settings: Settings,
    tables: tuple[Table, ...],
) -> Unwrapped:
    """Return a row by itself. Raises: DecodeError where its table is not known."""
    table, origin = _table(Origin("value", parsed), tables)
    known, origin = definition_of(tables, table.schema, table.name, origin)
    structs: dict[str, Schema] = {}
    if parsed.envelope.schema is None and known is not None and known.columns is not None:
        struct = defined_struct(known.columns, settings.style)
        structs = {field.name: field.schema for field in struct.fields}
    envelope, origin = typed(origin, structs, settings.max_decimal_digits)
    fields = Fields(envelope.schema, envelope.payload, _CLAUSE, origin)
    kept = [
        (field, value)
        for field, value in zip(fields.schema.fields, fields.values, strict=True)
        if not field.name.startswith(_ADDED)
    ]
    schema = replace(fields.schema, fields=tuple(field for field, _ in kept))
    if key_names is None and known is not None:
        key_names = known.key
    return Unwrapped(
        _operation(fields),
        Row(schema, tuple(value for _, value in kept), origin),
        replace(table, key=key_names),
        _position(fields),
        tuple(name for name in fields.places if name.startswith(_ADDED)),
        parsed.envelope,
        key,
        origin.parsed.warnings,
    )


def unwrapped_events(
    found: Unwrapped, settings: Settings, selection: Selection
) -> Iterator[RowChange | SchemaChange]:
    """Yield the event of a row by itself. Raises: DecodeError."""
    table, position, columns = found.table, found.position, selection.columns
    if table.name is not None and not selection.wants(table.schema, table.name):
        return
    if found.op == "t":
        yield SchemaChange("truncate", None, table=table, position=position)
    elif found.op == "d":
        sent: Sent | None = None
        if settings.replica_identity != "full" and table.key != ():
            sent, key = "key", key_of_deleted(table.key, found.row.origin)
            columns = key if columns is None else columns & key
        yield RowChange(
            table, "delete", _image(found, settings, columns), None, position, sent=sent
        )
    else:
        op = _OPS.get(found.op, "upsert")
        if op == "read" and settings.read_r_as_c:
            op = "insert"
        yield RowChange(table, op, None, _image(found, settings, columns), position)


def key_of_deleted(key: tuple[str, ...] | None, origin: Origin | None) -> frozenset[str]:
    """Return the key columns of a deleted row. Raises: DecodeError where they are not known."""
    if key is not None:
        return frozenset(key)
    problem = (
        "the key columns of this delete are not known: give a table definition with its key, "
        "or replica-identity=full"
    )
    if origin is None:
        raise DecodeError(problem, 0, "debezium-json: keys", ("value",))
    raise origin.error(problem, "debezium-json: keys")


def _image(found: Unwrapped, settings: Settings, columns: frozenset[str] | None) -> Image:
    row = found.row
    assert row.values is not None  # it is a struct
    try:
        return image_of(row.schema, row.values, settings.placeholder, columns)
    except ConversionError as error:
        if row.origin is None:
            raise DecodeError(error.problem, 0, error.clause, error.path) from error
        raise row.origin.error(error.problem, error.clause, error.path) from error


def _table(origin: Origin, tables: tuple[Table, ...]) -> tuple[Table, Origin]:
    """Return the table: of added fields, else of the schema's name, else the only definition."""
    parsed = origin.parsed
    names = dict.fromkeys(("db", "schema", "table"))
    named: dict[str, JsonValue] = {**names}
    if isinstance(parsed.json, JsonObject):
        for member in parsed.json.members:
            for name in names:
                if member.name in (f"{_ADDED}{name}", f"{_ADDED}{_SOURCE}{name}"):
                    named[name] = member.value
    db, schema, table = (value if isinstance(value, str) else None for value in named.values())
    parts = (parsed.envelope.schema.name or "" if parsed.envelope.schema else "").split(".")
    if len(parts) > 2 and parts[-1] == "Value" and table in (None, parts[-2]):
        table = parts[-2]
        schema = schema or db or parts[-3]
    if table is not None:
        return Table(table, schema or db, db if schema and schema != db else None), origin
    if len(tables) == 1 and tables[0].name is not None:
        return Table(tables[0].name, tables[0].schema, tables[0].database), origin
    problem = "the table of this row is not known: set add.fields=table, or give its definition"
    raise origin.error(problem, _CLAUSE)


def _operation(fields: Fields) -> str:
    """Return ``__op``, or ``d`` of a row that is ``__deleted``; ``""`` where neither is known."""
    op = fields.optional_text(f"{_ADDED}op")
    if op is not None and op not in OPERATIONS:
        problem = f"__op is {op!r:.20}, not one of {', '.join(OPERATIONS)}"
        raise fields.error(problem, f"{_ADDED}op")
    deleted = fields.get(f"{_ADDED}deleted")
    if deleted not in (None, True, False, "true", "false"):
        raise fields.error(f"__deleted is {deleted!r:.20}, not true or false", f"{_ADDED}deleted")
    return op or ("d" if deleted in (True, "true") else "")


def _position(fields: Fields) -> Position:
    def number(name: str) -> int | None:
        for full in (f"{_ADDED}{_SOURCE}{name}", f"{_ADDED}{name}"):
            if fields.get(full) is not None:
                return fields.optional_integer(full)
        return None

    sent = fields.optional_integer(f"{_ADDED}ts_ms")
    commit = fields.optional_integer(f"{_ADDED}{_SOURCE}ts_ms")
    tx_id = number("txId")
    return Position(
        lsn=number("lsn"),
        tx_id=None if tx_id is None else str(tx_id),
        commit_ms=commit,
        sent_ms=sent,
    )
