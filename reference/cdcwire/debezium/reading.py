"""Reading what a payload of Debezium's is, and what its members say.

The payload shows the kind of message: ``source`` and ``op`` are a change or a logical message,
``status`` is a border of a transaction, ``ts_ms`` alone a heartbeat.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from cdcwire.connect import Envelope, Parsed, Schema
from cdcwire.connect.cdl import ROW_CHANGE, VERSION_2, Row
from cdcwire.connect.fields import Fields, Origin, definition_of
from cdcwire.core.strict_json import JsonObject
from cdcwire.debezium.message import (
    OPERATIONS,
    ROUTER_FIELD,
    SNAPSHOTS,
    CdlMembers,
    Change,
    Source,
    WithValue,
)
from cdcwire.debezium.reading_others import (
    Key,
    block_of,
    boundary,
    ddl,
    heartbeat,
    kept,
    key_part,
    logical_message,
    notification,
    physical_table_in,
    watermark,
)
from cdcwire.debezium.schema_changes import MEMBERS as SCHEMA_CHANGE_MEMBERS
from cdcwire.debezium.settings import Settings
from cdcwire.debezium.source import (
    CLAUSE as _SOURCE,
)
from cdcwire.debezium.source import (
    is_of_other_producer,
    read_any_source,
    read_source,
    table_named,
    warnings_of,
)
from cdcwire.model.events import Table

MEMBERS = "debezium-json: members"
_LINT = "debezium-json: lint"
_OPERATION = "debezium-json: operation"
_IMAGES = "debezium-json: images"
_KEYS = "debezium-json: keys"
_VERSION = "debezium-json: message version"
_SNAPSHOT = "debezium-json: snapshot"
OF_NOTIFICATIONS = {"id", "type", "aggregate_type", "additional_data", "timestamp"}
Decoded = TypeVar("Decoded", bound=WithValue)
USUAL_SNAPSHOTS = (None, "false", "true", "last")
"""Those that every version has."""
_NO_FIELDS = Schema("struct", True)
_OF_BOUNDARIES = frozenset(("status", "id", "event_count", "data_collections", "ts_ms"))
CDL_CONNECTORS = ("postgresql", "opengauss", "drs-opengauss-json")


def message_in(
    fields: Fields, key: Key, settings: Settings, tables: tuple[Table, ...], *, has_key: bool
) -> WithValue:
    """Return what the members of a value's payload say. Raises: DecodeError.

    ``has_key``: the key is known, even if it is null; otherwise the definition of the table names
    the columns of the key.
    """
    router, origin = settings.key_field_name, fields.origin
    if settings.producer == "any" and is_of_other_producer(fields):
        source = read_any_source(fields, tables)
        found: WithValue = change_in(fields, key, router, source)
        has_key = has_key and key is not None  # a table may have one although none is sent
    else:
        found = read_fields(fields, key, router)
    if isinstance(found, Change):
        if not has_key and found.cdl is None:
            found = replace(found, key=None)
        if is_foreign_op(found, settings):
            hint = "; read-r-as-c reads it as an insert" if found.op == "r" else ""
            problem = f"op {found.op} in a message of CDL's, which has c, u and d{hint}"
            raise fields.error(problem, "op", _OPERATION)
        if found.key is None:
            named = table_named(found.source)
            known, origin = definition_of(tables, named.schema, named.name, origin)
            found = replace(found, key=None if known is None else known.key)
    return checked(found, settings, origin)


def checked(message: Decoded, settings: Settings, origin: Origin) -> Decoded:
    """Return a message. Raises: DecodeError, for a warning where the settings are strict."""
    if settings.lint == "strict" and message.warnings:
        raise origin.error(message.warnings[0], _LINT)
    return message


def is_foreign_op(change: Change, settings: Settings) -> bool:
    """Return whether a message of CDL's has an op that CDL lacks, and no option reads it."""
    return change.cdl is not None and (
        change.op == "t" or (change.op == "r" and not settings.read_r_as_c)
    )


def change_of(envelope: Envelope) -> Change:
    """Return the change that an envelope of schema and payload holds. Raises: DecodeError."""
    return change_in(_fields_of(envelope), None, ROUTER_FIELD)


def message_of(envelope: Envelope, key: Key) -> WithValue:
    """Return what an envelope of schema and payload says.

    Raises: DecodeError at byte 0; ``decode`` finds the place in the same bytes.
    """
    return read_fields(_fields_of(envelope), key, ROUTER_FIELD)


def _fields_of(envelope: Envelope) -> Fields:
    origin = Origin("value", Parsed(envelope, None, 0, 0))
    return Fields(envelope.schema, envelope.payload, MEMBERS, origin)


def read_fields(fields: Fields, key: Key, router: str) -> WithValue:
    """Return what the members of a payload say. Raises: DecodeError.

    ``router``: the field of the key that ByLogicalTableRouter adds.
    """
    names = {field.name for field in fields.schema.fields}
    if "op" in names and "source" in names:
        if fields.get("op") == "m":
            if "message" not in names:
                return watermark(fields, key)
            return logical_message(fields, key)
        return change_in(fields, key, router)
    # A row by itself may have columns of these names: the other members distinguish them.
    if "status" in names and names <= _OF_BOUNDARIES and (names - {"status", "id", "ts_ms"}):
        return boundary(fields, key)
    if names == {"ts_ms"}:
        return heartbeat(fields, key)
    if {"source", "ddl", "tableChanges"} <= names <= SCHEMA_CHANGE_MEMBERS:
        return ddl(fields, key)
    if names == OF_NOTIFICATIONS:
        return notification(fields, key)
    raise fields.origin.error(_foreign(names), MEMBERS)


def _foreign(names: set[str]) -> str:
    """Return what a payload is that is not a message of Debezium's."""
    if {"specversion", "type"} <= names:
        return "a CloudEvent: set value.converter to JsonConverter"
    if {"ddl", "databaseName"} <= names:
        return "a schema change without source"
    if "updateDescription" in names:
        return "a change of MongoDB's connector, which has documents, not rows"
    if "op" in names:
        return "a change without source: producer=any reads those of other producers"
    return (
        "not a Debezium change, heartbeat or transaction message; read rows of "
        "ExtractNewRecordState with transforms=unwrap"
    )


def change_in(fields: Fields, key: Key, router: str, source: Source | None = None) -> Change:
    """Return the change that the members of a payload hold. Raises: DecodeError.

    ``source``: in place of the payload's own, for a producer that sends less.
    """
    op = fields.text("op")
    if op not in OPERATIONS:
        problem = f"op is {op!r:.20}, not one of {', '.join(OPERATIONS)} or m"
        raise fields.error(problem, "op", _OPERATION)
    source = read_source(fields) if source is None else source
    cdl = _cdl_members(fields)
    before, after = _row(fields, "before"), _row(fields, "after")
    change = Change(
        op,
        before,
        after,
        source,
        fields.optional_integer("ts_ms"),
        fields.optional_integer("ts_us"),
        fields.optional_integer("ts_ns"),
        block_of(fields),
        key_names_of(key, cdl, router),
        cdl,
        kept(fields),
        key_part(key),
    )
    change = _with_key_facts(change, key, router)
    _check_images(change, fields)
    warnings = (*fields.origin.parsed.warnings, *_warnings(change, fields))
    return replace(change, warnings=warnings) if warnings else change


def _with_key_facts(change: Change, key: Key, router: str) -> Change:
    """Return a change with what its key shows beyond the names of its columns."""
    table = physical_table_in(key_part(key), router)
    if table is not None:
        change = replace(change, physical_table=table)
    schema = key.envelope.schema if isinstance(key, Parsed) else None
    if schema is not None and any(field.schema.optional for field in schema.fields):
        change = replace(change, key_may_be_null=True)
    return change


def _cdl_members(fields: Fields) -> CdlMembers | None:
    if not fields.has("message_version"):
        return None
    version = fields.text("message_version")
    if version != VERSION_2:
        problem = f"message_version is {version!r:.20}, not {VERSION_2!r}"
        raise fields.error(problem, "message_version", _VERSION)
    fields.integer("ts_ms")
    return CdlMembers(
        fields.text("message_type"),
        fields.optional_text("LOB_COLUMNS"),
        _row(fields, "unique"),
        fields.optional_text("HEARTBEAT_IDENTIFIER"),
    )


def _row(fields: Fields, name: str) -> Row:
    schema, value = fields.schema_of(name), fields.get(name)
    if value is None:
        is_struct = schema is not None and schema.type == "struct"
        return Row(schema if schema is not None and is_struct else _NO_FIELDS, None)
    found = fields.struct(name)
    return Row(found.schema, found.values, fields.origin)


def key_names_of(key: Key, cdl: CdlMembers | None, router: str) -> tuple[str, ...] | None:
    """Return the names of the key columns; None if they are not known."""
    if cdl is not None:
        return tuple(field.name for field in cdl.unique.schema.fields)
    if not isinstance(key, Parsed):
        return () if key is None else None
    schema, json = key.envelope.schema, key.json
    if schema is not None and schema.type == "struct":
        return tuple(f.name for f in schema.fields if f.name != router)
    if schema is None and isinstance(json, JsonObject):
        return tuple(m.name for m in json.members if m.name != router)
    return () if key.envelope.payload is None else None  # a value does not name its column


# By operation: whether it has the row before, and the row after. An update may lack the first.
_IMAGES_OF = {"c": (False, True), "r": (False, True), "d": (True, False), "t": (False, False)}


def _check_images(change: Change, fields: Fields) -> None:
    """Check which rows an operation has."""
    has = change.before.values is not None, change.after.values is not None
    wanted = _IMAGES_OF.get(change.op, (has[0], True))
    if has == wanted:
        return
    for name, has_it, is_wanted in zip(("before", "after"), has, wanted, strict=True):
        if has_it != is_wanted:
            which = "has" if has_it else "has no"
            raise fields.error(f"op {change.op} {which} row {name}", name, _IMAGES)


def _warnings(change: Change, fields: Fields) -> list[str]:
    warnings = warnings_of(change.source)
    if change.source.snapshot not in USUAL_SNAPSHOTS:
        warnings += _snapshot_warnings(change.source.snapshot, fields)
    columns = {field.name for field in change.before.schema.fields or change.after.schema.fields}
    if columns and not columns.issuperset(change.key or ()):
        warnings.append(f"the key has columns that the row has not ({_KEYS})")
    if change.cdl is None:
        return warnings
    if change.cdl.message_type != ROW_CHANGE:
        warnings.append(f"message_type {change.cdl.message_type!r:.20} is not known ({_VERSION})")
    if change.source.connector not in CDL_CONNECTORS:
        warnings.append(f"connector {change.source.connector!r:.40} is not CDL's ({_SOURCE})")
    return warnings


def _snapshot_warnings(snapshot: str | None, fields: Fields) -> list[str]:
    if snapshot not in SNAPSHOTS:
        return [f"snapshot {snapshot!r:.40} is not known ({_SNAPSHOT})"]
    schema = fields.struct("source").schema_of("snapshot")
    allowed = None if schema is None else schema.parameter("allowed")
    if allowed is None or snapshot in allowed.split(","):
        return []
    return [f"snapshot {snapshot!r} is not allowed by its schema ({_SNAPSHOT})"]
