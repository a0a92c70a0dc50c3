"""Rows by themselves, as ExtractNewRecordState leaves them.

The transform replaces a change with its row. Its settings may add fields of the change to the row
(``__op``, ``__table``, ``__lsn``) and ``__deleted``. Messages that are not changes stay as they
are. Their schemas distinguish them from rows; without schema, all of their members do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from cdcwire.connect import Parsed, Schema
from cdcwire.connect.bounds import ConversionError
from cdcwire.connect.cdl import Row
from cdcwire.connect.definitions import defined_struct
from cdcwire.connect.fields import Fields, Origin, definition_of, typed
from cdcwire.connect.logical import image_of
from cdcwire.connect.schema import MadeOfSchemas
from cdcwire.core.context import Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.strict_json import JsonObject
from cdcwire.debezium.added import (
    DELETED,
    SOURCE,
    Added,
    Headers,
    Scalar,
    added_names,
    header_values,
)
from cdcwire.debezium.connectors import GENERAL, TEXT_PLACES, source_of
from cdcwire.debezium.made_up import shows_whole_row
from cdcwire.debezium.message import OPERATIONS, KeyPart, TextKey, Tombstone, Unwrapped
from cdcwire.debezium.notes import notes_of
from cdcwire.debezium.reading import OF_NOTIFICATIONS, checked, key_names_of
from cdcwire.debezium.reading_others import key_part, physical_table_in
from cdcwire.debezium.sent_forms import in_iso_form, sent_forms
from cdcwire.debezium.settings import Settings
from cdcwire.debezium.shapes import other_schema_name
from cdcwire.model.events import Extra, Image, Op, Position, RowChange, SchemaChange, Sent, Table

_CLAUSE = "debezium-json: unwrapped rows"
_OTHERS = (  # last words of other schemas
    "Envelope",
    "Heartbeat",
    "TransactionMetadataValue",
    "MessageValue",
    "SchemaChangeValue",
    "Notification",
)
_SCHEMA_OF = {"key": "Key", "value": "Value"}  # last words of their schemas
_BOUNDARY = {"status", "id", "event_count", "data_collections"}
_LOGICAL = {"op", "source", "message"}
_SCHEMA_CHANGE = {"source", "databaseName", "schemaName", "ddl", "tableChanges"}
# Members of the position: their place, whether it has texts, and the names that they may have.
_PLACES = tuple(
    (member.place, member.place in TEXT_PLACES, f"{SOURCE}{member.name}", member.name)
    for member in GENERAL.members
    if member.in_position
)
# Names in ``extra``, and those that their members may have.
_EXTRAS = (
    ("connector_version", f"{SOURCE}version", "version"),
    ("source_name", f"{SOURCE}name", "name"),
    *((name, f"{SOURCE}{name}", name) for name in ("connector", "snapshot", "sequence")),
    ("source_ts_us", f"{SOURCE}ts_us"),
    ("source_ts_ns", f"{SOURCE}ts_ns"),
    ("ts_us", "ts_us"),
    ("ts_ns", "ts_ns"),
    ("transaction_id", "transaction_id", "id"),
    ("data_collection_order", "transaction_data_collection_order", "data_collection_order"),
    *(
        (member.place, f"{SOURCE}{member.name}", member.name)
        for member in GENERAL.members
        if member.place and not member.in_position
    ),
)
# Members of a position, and a connector that has them; others that do write rows alike.
_SHOWN_BY = {
    **dict.fromkeys(("file", "gtid", "server_id"), "mysql"),
    "lsn": "postgresql",
    "change_lsn": "sqlserver",
    "scn": "oracle",
}
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
    if names == OF_NOTIFICATIONS:
        data = payload.by_name["additional_data"].value
        return key_names == ("id",) and (data is None or isinstance(data, JsonObject))
    if names >= _LOGICAL and payload.by_name["op"].value == "m":
        return _has_objects(payload, "source", "message")
    return names >= _SCHEMA_CHANGE and _has_objects(payload, "source")


def _has_objects(payload: JsonObject, *names: str) -> bool:
    return all(isinstance(payload.by_name[name].value, JsonObject) for name in names)


@dataclass(frozen=True, slots=True)
class RowSettings:
    """The settings, definitions and Kafka headers for a row by itself."""

    settings: Settings
    tables: tuple[Table, ...]
    headers: Headers


def unwrapped_of(
    parsed: Parsed, key_names: tuple[str, ...] | None, key: KeyPart, more: RowSettings
) -> Unwrapped:
    """Return a row by itself. Raises: DecodeError where its table is not known."""
    settings = more.settings
    headers = header_values(more.headers, settings)
    typed_row = _typed_row(Origin("value", parsed), more, _named(parsed, settings, headers))
    fields, table = typed_row.fields, typed_row.table
    added = Added(fields, added_names(fields.places, settings, typed_row.defined), headers)
    names = tuple(sorted(set(added.names.values()), key=fields.places.__getitem__))
    if key_names is None:
        key_names = typed_row.key
    extra = _extra(added, notes_of(fields.schema))
    more_of_extra = {
        "schema_name": other_schema_name(fields.schema, table, extra, settings),
        "physical_table": physical_table_in(key, settings.key_field_name),
    }
    return Unwrapped(
        _operation(added),
        _without(fields, names),
        replace(table, key=key_names),
        _position(added),
        names,
        parsed.envelope,
        key,
        fields.origin.parsed.warnings,
        typed_row.connector,
        extra={**extra, **{name: text for name, text in more_of_extra.items() if text is not None}},
    )


def tombstone_of(key: Parsed | TextKey | None, more: RowSettings) -> Tombstone:
    """Return a message without value: a delete, if the settings say so and its key has columns.

    Raises: DecodeError where the table of a delete is not known.
    """
    settings = more.settings
    part = key_part(key)
    router = settings.key_field_name
    names = key_names_of(key, None, router)
    if not settings.deletes_are_tombstones or not isinstance(key, Parsed) or not names:
        return Tombstone(part)
    headers = header_values(more.headers, settings)
    typed_row = _typed_row(Origin("key", key), more, headers)
    fields, table = typed_row.fields, replace(typed_row.table, key=names)
    added = Added(fields, {}, headers)
    extra = dict(_extra(added, None))
    physical_table = physical_table_in(part, router)
    if physical_table is not None:
        extra["physical_table"] = physical_table
    row = Unwrapped(
        "d",
        _without(fields, {router}),
        table,
        _position(added),
        (),
        key.envelope,
        part,
        fields.origin.parsed.warnings,
        typed_row.connector,
        extra=extra,
        is_key=True,
    )
    return Tombstone(part, checked(row, settings, fields.origin))


@dataclass(frozen=True, slots=True)
class _TypedRow:
    """The fields of a row with their types, and its table.

    ``key``: of the definition. ``defined``: its columns, where they give the types.
    """

    fields: Fields
    table: Table
    key: tuple[str, ...] | None
    defined: frozenset[str]
    connector: str


def _typed_row(origin: Origin, more: RowSettings, named: Mapping[str, object]) -> _TypedRow:
    """Return a row as its own schema or the definition of its table types it.

    ``named``: values of added fields and headers. Raises: DecodeError.
    """
    settings = more.settings
    table, origin = _table(origin, more, named)
    known, origin = definition_of(more.tables, table.schema, table.name, origin)
    structs: dict[str, Schema] = {}
    shown = _connector(named)
    connector = shown or settings.other_connector
    has_schema = origin.parsed.envelope.schema is not None
    if not has_schema and known is not None and known.columns is not None:
        is_told = shown is not None or settings.row_connector != "auto"
        style = settings.style_without_schema(source_of(connector) if is_told else None)
        struct = defined_struct(known.columns, style)
        structs = {field.name: field.schema for field in struct.fields}
    envelope, origin = typed(origin, structs, settings.max_decimal_digits)
    fields = Fields(envelope.schema, envelope.payload, _CLAUSE, origin)
    key = None if known is None else known.key
    return _TypedRow(fields, table, key, frozenset(structs), connector)


_BETWEEN = "\udfff"  # names have no lone surrogate


def _kept(struct: Schema, names: str) -> tuple[Schema, tuple[int, ...]]:
    """Return a struct without some of its fields, and the places of the others."""
    left_out = names.split(_BETWEEN)
    places = [i for i, field in enumerate(struct.fields) if field.name not in left_out]
    kept = replace(struct, fields=tuple(struct.fields[place] for place in places))
    return kept, tuple(places)


_KEPT = MadeOfSchemas(_kept)


def _without(fields: Fields, names: Collection[str]) -> Row:
    """Return a row without some of its fields; rows of one struct give one struct."""
    struct, places = _KEPT.get(fields.schema, _BETWEEN.join(names))
    return Row(struct, tuple(fields.values[place] for place in places), fields.origin)


def unwrapped_events(
    found: Unwrapped, settings: Settings, selection: Selection
) -> Iterator[RowChange | SchemaChange]:
    """Yield the event of a row by itself. Raises: DecodeError."""
    table, position, columns = found.table, found.position, selection.columns
    if table.name is not None and not selection.wants_rows_of(table):
        return
    if found.op == "t":
        yield SchemaChange("truncate", None, table=table, position=position, extra=found.extra)
    elif found.is_key:
        before = _image(found, settings, columns)
        extra = _with_forms(found, settings, columns)
        yield RowChange(table, "delete", before, None, position, sent="key", extra=extra)
    elif found.op == "d":
        sent: Sent | None = None
        is_unknown = table.key is None and found.key_envelope is None
        declared = source_of(found.connector)
        is_whole = declared.whole_rows or table.key == () or is_unknown
        before = _image(found, settings, None)
        if settings.replica_identity != "full" and not is_whole:
            key = key_of_deleted(table.key, found.row.origin)
            is_told = settings.replica_identity != "default"
            if is_told or not is_sent_whole(before, key, found.row.schema):
                sent, columns = "key", key if columns is None else columns & key
        before = before if columns is None else before.only(columns)
        extra = _with_forms(found, settings, columns)
        yield RowChange(table, "delete", before, None, position, sent=sent, extra=extra)
    else:
        op = _OPS.get(found.op, "upsert")
        if op == "read" and settings.read_r_as_c:
            op = "insert"
        after = _image(found, settings, columns)
        extra = _with_forms(found, settings, columns)
        yield RowChange(table, op, None, after, position, extra=extra)


def _with_forms(found: Unwrapped, settings: Settings, columns: frozenset[str] | None) -> Extra:
    """Return ``extra`` with the forms of values; the row of a delete is the one before."""
    before, after = (found.row, None) if found.op == "d" else (None, found.row)
    forms = sent_forms(before, after, _placeholder(found, settings), columns)
    return {**found.extra, **forms}


def _placeholder(found: Unwrapped, settings: Settings) -> str:
    return settings.placeholder if source_of(found.connector).has_placeholder else ""


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


def is_sent_whole(before: Image, key: frozenset[str], struct: Schema) -> bool:
    """Return whether a deleted row shows that it is whole, of a connector that may send its key.

    ``struct``: of the row. Only that of the producer, which has a name, says what can be NULL.
    """
    return struct.name is not None and shows_whole_row(before, key)


def _image(found: Unwrapped, settings: Settings, columns: frozenset[str] | None) -> Image:
    declared = source_of(found.connector)
    row = in_iso_form(found.row, declared)
    assert row.values is not None  # it is a struct
    try:
        return image_of(row.schema, row.values, _placeholder(found, settings), columns)
    except ConversionError as error:
        if row.origin is None:
            raise DecodeError(error.problem, 0, error.clause, error.path) from error
        raise row.origin.error(error.problem, error.clause, error.path) from error


def _named(
    parsed: Parsed, settings: Settings, headers: Mapping[str, Scalar]
) -> Mapping[str, object]:
    """Return the values of added fields and headers by their names in the change."""
    members = _members(parsed)
    added = added_names(members, settings, frozenset())
    return {**headers, **{name: members[field] for name, field in added.items()}}


def _connector(named: Mapping[str, object]) -> str | None:
    """Return the connector that added fields name or show; None if they do neither."""
    found = named.get(f"{SOURCE}connector") or named.get("connector")
    if isinstance(found, str):
        return found
    members = (name for name in _SHOWN_BY if name in named or f"{SOURCE}{name}" in named)
    return next(map(_SHOWN_BY.__getitem__, members), None)


def _table(origin: Origin, more: RowSettings, named: Mapping[str, object]) -> tuple[Table, Origin]:
    """Return the table: of added fields, else of the schema's name, else the only definition.

    A name without schema is the only definition of that name.
    """
    parsed = origin.parsed
    db, keyspace, schema, table = (
        next((v for n in (name, f"{SOURCE}{name}") if isinstance(v := named.get(n), str)), None)
        for name in ("db", "keyspace", "schema", "table")
    )
    schema = schema or keyspace
    parts = (parsed.envelope.schema.name or "" if parsed.envelope.schema else "").split(".")
    rest = -2 if table is None else -2 - table.count(".")  # a table may have dots in its name
    sent = ".".join(parts[rest:-1])
    is_of_row = len(parts) > -rest and parts[-1] == _SCHEMA_OF[origin.part]
    if is_of_row and _is_same_name(sent, table):
        table = table or sent
        schema = schema or db or parts[rest - 1]
        source = source_of(_connector(named) or more.settings.other_connector)
        has_database = source.long_names_since is not None
        db = db or (parts[rest - 2] if has_database and len(parts) > 2 - rest else None)
    if table is not None and (schema or db):
        return Table(table, schema or db, db if schema and schema != db else None), origin
    defined = [each for each in more.tables if table in (None, each.name)]
    if len(defined) == 1 and defined[0].name is not None:
        (known,) = defined
        return Table(known.name, known.schema, known.database), origin
    if table is not None:
        return Table(table, None), origin
    problem = "the table of this row is not known: set add.fields=table, or give its definition"
    if origin.part == "key":
        problem = "the table of this tombstone is not known: give its definition, no other one"
    raise origin.error(problem, _CLAUSE)


def _members(parsed: Parsed) -> dict[str, object]:
    """Return the members of a row by their names, as far as they are texts."""
    if isinstance(parsed.json, JsonObject):
        return {member.name: member.value for member in parsed.json.members}
    schema, values = parsed.envelope.schema, parsed.envelope.payload
    if schema is None or not isinstance(values, tuple):
        return {}
    return {field.name: value for field, value in zip(schema.fields, values, strict=True)}


def _is_same_name(in_schema: str, table: str | None) -> bool:
    """Return whether a schema's name has the table's, in which some characters are ``_``."""
    return table is None or (
        len(table) == len(in_schema)
        and all(a in ("_", b) for a, b in zip(in_schema, table, strict=True))
    )


def _operation(added: Added) -> str:
    """Return ``op``, or ``d`` of a row that is ``__deleted``; ``""`` where neither is known."""
    op = added.text("op")
    if op is not None and op not in OPERATIONS:
        name = added.names.get("op", "op")
        problem = f"{name} is {op!r:.20}, not one of {', '.join(OPERATIONS)}"
        raise added.error(problem, "op")
    deleted = added.value("deleted")
    if deleted not in (None, True, False, "true", "false"):
        raise added.error(f"{DELETED} is {deleted!r:.20}, not true or false", "deleted")
    return op or ("d" if deleted in (True, "true") else "")


def _position(added: Added) -> Position:
    found: dict[str, int | str] = {}
    for name, place in (("ts_ms", "sent_ms"), (f"{SOURCE}ts_ms", "commit_ms")):
        moment = added.integer(name)
        if moment is not None:
            found[place] = moment
    for place, is_text, *names in _PLACES:
        if place in found or not added.has_any(names):
            continue
        value = added.value(*names) if is_text else added.integer(*names)
        if value is not None:
            found[place] = f"{value}" if is_text else value
    order = added.integer("transaction_total_order", "total_order")
    if order is not None:
        found["tx_order"] = order
    return Position(**found)  # type: ignore[arg-type]  # each has the type of its field


def _extra(added: Added, notes: str | None) -> Extra:
    found = {place: added.value(*names) for place, *names in _EXTRAS if added.has_any(names)}
    found["column_notes"] = notes
    return {place: f"{value}" for place, value in found.items() if value is not None}
