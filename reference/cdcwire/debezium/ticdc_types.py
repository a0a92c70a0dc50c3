"""The types of TiCDC's columns, as far as its Connect schemas leave them open.

TiCDC sends a BIGINT UNSIGNED as the signed integer of the same bits, and bytes as text in base64.
In Avro it sends bytes as they are, and may send a BIGINT UNSIGNED and a DECIMAL as their digits.
With ``enable-tidb-extension`` a column's schema names its type in ``tidb_type``. Without it the
definition of the table does.

Source: debezium-json, "ticdc".
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace

from cdcwire.connect import ConnectValue, Schema, types
from cdcwire.connect.cdl import Row
from cdcwire.connect.schema import TIDB_TYPE, Field
from cdcwire.core.strict_json import JsonObject
from cdcwire.debezium.message import Change, Source
from cdcwire.debezium.source import table_named
from cdcwire.model import kinds
from cdcwire.model.events import Table
from cdcwire.model.kind_text import kind_text

_DEFAULTS = "debezium-json: ticdc defaults"
_TYPES = "debezium-json: ticdc types"
_UNSIGNED = kinds.IntType(64, unsigned=True)
_BYTES = frozenset(("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"))


def with_types(change: Change, tables: tuple[Table, ...]) -> Change:
    """Return a change whose columns have the types that ``tidb_type`` or a definition gives."""
    defined = _defined(change.source, tables)
    warnings = list(change.warnings)
    for row in (change.before, change.after):
        pairs = list(zip(row.schema.fields, row.values or (), strict=False))
        nulls = [field.name for field, value in pairs if _may_be_null(field.schema, value)]
        if nulls:
            problem = "TiCDC sends the default of a column for NULL"
            warnings.append(f"{problem}: {_shown(nulls)} ({_DEFAULTS})")
        wrapped = [
            field.name
            for field, value in pairs
            if field.name not in defined and _may_wrap(field.schema, value)
        ]
        if wrapped:
            problem = "TiCDC sends BIGINT UNSIGNED as a signed number, and no type is given of"
            warnings.append(f"{problem} {_shown(wrapped)} ({_TYPES})")
    return replace(
        change,
        before=_row(change.before, "before", defined),
        after=_row(change.after, "after", defined),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def typed_schema(schema: Schema, source: Source, tables: tuple[Table, ...]) -> Schema:
    """Return the schema of a payload whose rows have the types that ``with_types`` gives them.

    It holds for the table of ``source``, where the payload has all columns of its schema.
    """
    defined = _defined(source, tables)

    def typed_row(row: Schema) -> Schema:
        fields = (Field(f.name, _typed(f.schema, defined.get(f.name))) for f in row.fields)
        return replace(row, fields=tuple(fields))

    members = (
        Field(each.name, typed_row(each.schema)) if each.name in ("before", "after") else each
        for each in schema.fields
    )
    return replace(schema, fields=tuple(members))


def _defined(source: Source, tables: tuple[Table, ...]) -> dict[str, kinds.Type]:
    """Return the types of columns that the definition of a source's table gives."""
    named = table_named(source)
    known = next((t for t in tables if (t.schema, t.name) == (named.schema, named.name)), named)
    return {column.name: column.type for column in known.columns or ()}


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(f"{name:.40}" for name in names[:5]) + more


def _may_wrap(schema: Schema, value: ConnectValue) -> bool:
    """Return whether a number may be that of an unsigned one from 2^63 on."""
    is_open = schema.type == "int64" and schema.name is None and schema.parameter(TIDB_TYPE) is None
    return is_open and isinstance(value, int) and value < 0


def _may_be_null(schema: Schema, value: ConnectValue) -> bool:
    if not schema.optional or not schema.has_default or value is None:
        return False
    default = schema.default
    if isinstance(default, str) and _may_be_bytes(schema):
        return value in (default, _base64(default))
    is_beyond = isinstance(default, int) and default >> 63 == 1
    return bool(value == default or ((schema.name == types.MICRO_TIME or is_beyond) and value == 0))


def _may_be_bytes(schema: Schema) -> bool:
    named = schema.parameter(TIDB_TYPE)
    return schema.type == "string" and schema.name is None and (named is None or named in _BYTES)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _row(row: Row, name: str, defined: Mapping[str, kinds.Type]) -> Row:
    """Return a row of the columns that were sent, with their types.

    The schema lists virtual columns too, which no payload has.
    """
    if row.values is None:
        return row
    payload = None if row.origin is None else row.origin.parsed.json
    member = payload.get(name) if isinstance(payload, JsonObject) else None
    sent = member.value.by_name if member and isinstance(member.value, JsonObject) else None
    pairs = [
        (Field(field.name, _typed(field.schema, defined.get(field.name))), value)
        for field, value in zip(row.schema.fields, row.values, strict=True)
        if sent is None or field.name in sent
    ]
    schema = replace(row.schema, fields=tuple(field for field, _ in pairs))
    return replace(row, schema=schema, values=tuple(value for _, value in pairs))


def _typed(schema: Schema, defined: kinds.Type | None) -> Schema:
    """Return the schema of a column with the type that it lacks; the same if it lacks none.

    The default of bytes is their text, where their values are base64.
    """
    if schema.name is not None:
        return schema
    if schema.type == "double":
        return _with_source(schema, defined)
    named = schema.parameter(TIDB_TYPE)
    if schema.type == "int64" and (named == "bigint unsigned" or defined == _UNSIGNED):
        default = schema.default
        if isinstance(default, int) and default >> 63 == 1:
            default -= 1 << 64  # the signed number of the same bits, as values are
        return replace(schema, name=types.UNSIGNED_64, default=default)
    is_number = isinstance(defined, kinds.DecimalType) or defined == _UNSIGNED
    if schema.type == "string" and is_number and defined is not None:
        return _digits(schema, defined)
    if schema.type == "string" and (named in _BYTES or isinstance(defined, kinds.BytesType)):
        default = schema.default
        if isinstance(default, str):
            default = _base64(default)
        return replace(schema, name=f"{types.BYTES_TEXT}base64", default=default)
    return schema


def _with_source(schema: Schema, defined: kinds.Type | None) -> Schema:
    """Return the schema of a double that says if it is, or may be, a DECIMAL or a FLOAT(M,D)."""
    if schema.parameter(TIDB_TYPE) is not None:
        return schema
    match defined:
        case None:
            source = types.OPEN_DOUBLE
        case kinds.DecimalType():
            source = "decimal"
        case kinds.FloatType(32):
            source = "float"
        case _:
            return schema
    return replace(schema, parameters=(*(schema.parameters or ()), (TIDB_TYPE, source)))


def _digits(schema: Schema, kind: kinds.Type) -> Schema:
    """Return the schema of a number that is sent as its text."""
    parameters = (*(schema.parameters or ()), (types.DEFINED, kind_text(kind)))
    return replace(schema, name=types.DECIMAL_TEXT, parameters=parameters)
