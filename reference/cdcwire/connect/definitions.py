"""Definitions of tables as Connect schemas, for rows of messages that have no schema.

A definition may leave open in which form a value is sent. Then the value shows it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from cdcwire.connect import types
from cdcwire.connect.columns import plan_column
from cdcwire.connect.logical import DECIMAL_TEXT_PATTERN, named_kind
from cdcwire.connect.schema import Field, Schema
from cdcwire.connect.schemaless import inferred_schema
from cdcwire.connect.style import Style
from cdcwire.connect.types import SPATIAL, declared_spatial, sent_spatial
from cdcwire.core.errors import step
from cdcwire.core.limits import INT64_END
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, Number
from cdcwire.model import kinds
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import Column
from cdcwire.mysql.types import is_boolean_source

_WITHOUT_OFFSET = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?", re.ASCII)
# Without version: the value shows the form. The parameter names that of numbers, if they have one.
_NUMBERS = "numbers"
_TEXTS = "texts"  # on an integer: it may also be sent as digits
_MAPS = "maps"  # on JSON: it may also be sent as a map of texts
_INSTANT = Schema("string", name=types.ZONED_TIMESTAMP)
_DECIMAL_TEXT = re.compile(DECIMAL_TEXT_PATTERN, re.ASCII)
_UNSIGNED = Schema(
    "bytes",
    True,
    types.CONNECT_DECIMAL,
    1,
    parameters=(("scale", "0"), (types.DEFINED, "int64 unsigned")),
)
_UNSIGNED_TEXT = Schema(
    "string", True, types.DECIMAL_TEXT, parameters=((types.DEFINED, "int64 unsigned"),)
)
_FLOAT_VECTOR = Schema("array", True, types.FLOAT_VECTOR, 1, items=Schema("float"))
_HSTORE = Schema("map", keys=Schema("string"), values=Schema("string", optional=True))
_CDL_INSTANT = replace(_INSTANT, parameters=((_NUMBERS, types.CONNECT_TIMESTAMP),))


@lru_cache(maxsize=256)
def defined_struct(columns: tuple[Column, ...], style: Style) -> Schema:
    """Return the struct of the rows of a table, the same object for the same columns.

    Raises: EncodeError, for a column without form.
    """
    style = replace(style, with_defaults=False)
    fields = []
    for column in columns:
        with step(column.name):
            fields.append(Field(column.name, _defined(column, style)))
    return Schema("struct", True, fields=tuple(fields))


def _defined(column: Column, style: Style) -> Schema:
    named = named_kind(column.source)
    if type(named) is type(column.type):  # the source says how a date or time is sent
        column = replace(column, type=named)
    if isinstance(column.type, kinds.UnknownType):
        spatial = None if style.is_cdl else declared_spatial(column.source)
        if spatial is not None:
            return replace(spatial, optional=column.nullable is not False)
        return Schema("string", column.nullable is not False, types.UNTYPED)
    schema = plan_column(column, style).schema
    match column.type:
        case kinds.BitType() if schema.type == "boolean":
            return replace(schema, name=types.ONE_BIT)
        case kinds.BoolType() if is_boolean_source(column.source):
            return replace(schema, name=types.TINY_BOOLEAN)
        case kinds.TimeType() if style.has_short_times is None and _hangs_on_unit(column, style):
            return Schema("int64", schema.optional, types.UNTOLD_TIME)
        case kinds.TimestampType() if schema.name is None and style.way == "debezium":
            return replace(_INSTANT, optional=schema.optional)
        case kinds.TimestampType() if schema.name is None and style.way == "cdl-1.0":
            return replace(_CDL_INSTANT, optional=schema.optional)
        case kinds.IntType() if style.has_integer_texts:
            return _with_parameter(schema, _TEXTS, "true")
        case kinds.IntType(64, True) if not style.is_cdl:
            texts = ((_TEXTS, "true"),) if style.unsigned == "string" else None
            return Schema("int64", schema.optional, types.UNSIGNED_64, parameters=texts)
        case kinds.IntType(unsigned=True) | kinds.IntType(24) if not style.is_cdl:
            return _bounded(schema, column.type)
        case kinds.JsonType() if schema.name == types.JSON and column.source == "hstore":
            return _with_parameter(schema, _MAPS, "true")
        case kinds.VectorType() if schema.type == "string":
            return replace(schema, name=types.TIDB_VECTOR)
        case kinds.BytesType() if schema.type in ("bytes", "string") and schema.name is None:
            schema = _read_as_bytes(schema, style)
            return schema if style.is_cdl else _bounded(schema, column.type)
        case kinds.ArrayType(kinds.BytesType()) if schema.items is not None:
            return replace(schema, items=_read_as_bytes(schema.items, style))
        case kinds.DecimalType() if schema.type == "string" and not style.is_cdl:
            return _bounded(replace(schema, name=types.DECIMAL_TEXT), column.type)
        case kinds.DecimalType() | kinds.BitType() if schema.type == "bytes":
            bounded = _bounded(schema, column.type)
            if style.decimals != "auto" or schema.parameter("scale") is None:
                return bounded
            return _with_parameter(bounded, types.AMBIGUOUS, "true")
        case _:
            return schema


def _hangs_on_unit(column: Column, style: Style) -> bool:
    """Return whether the connector decides the unit of a time."""
    one, other = (
        plan_column(column, replace(style, has_short_times=is_short)).schema
        for is_short in (False, True)
    )
    return one != other


def _read_as_bytes(schema: Schema, style: Style) -> Schema:
    """Return the schema of bytes that reads a text in the mode of binary columns."""
    if schema.type != "string":
        return schema
    return replace(schema, name=f"{types.BYTES_TEXT}{style.binary}")


def _bounded(schema: Schema, kind: kinds.Type) -> Schema:
    """Return a schema whose values the model checks against the kind of a definition."""
    return _with_parameter(schema, types.DEFINED, kind_text(kind))


def _with_parameter(schema: Schema, name: str, value: str) -> Schema:
    return replace(schema, parameters=(*(schema.parameters or ()), (name, value)))


def sent_form(schema: Schema, value: JsonValue) -> Schema:
    """Return the schema of a value, where the definition leaves it open.

    An instant is a ZonedTimestamp. CDL 1.0 sends numbers: Connect's Timestamp. A text without
    offset stays text: the encoder writes it where the zone is not known. An unsigned integer of 64
    bits may be a number or a Decimal, and a decimal may be its text. A number in a boolean column
    is MySQL's TINYINT(1), ``true`` is a converter's or a BIT(1). Oracle's integers may be digits or
    doubles. TiCDC's vectors are texts, MySQL's are arrays. PostgreSQL's hstore is a text of JSON or
    a map of texts. A type that the definition does not name is what the value shows.
    """
    match schema.name, value:
        case types.ZONED_TIMESTAMP, _ if schema.version is None:
            return _instant_form(schema, value)
        case types.UNSIGNED_64, str() if schema.parameter(_TEXTS):
            return replace(_UNSIGNED_TEXT, optional=schema.optional)
        case types.UNSIGNED_64, str():
            return replace(_UNSIGNED, optional=schema.optional)
        case types.UNSIGNED_64, Number() if _is_beyond_int64(value):
            return replace(_UNSIGNED, optional=schema.optional)
        case None, str() if schema.parameter(_TEXTS):
            digits = Schema("string", schema.optional, types.INTEGER_TEXT)
            return _with_parameter(digits, types.DEFINED, schema.type)
        case None, Number() if schema.parameter(_TEXTS) and not value.is_integer:
            return Schema("double", schema.optional)
        case types.CONNECT_DECIMAL, str() if _is_decimal_text(schema, value):
            return replace(schema, type="string", name=types.DECIMAL_TEXT, version=None)
        case types.UNTYPED, JsonObject():
            spatial = sent_spatial(value.by_name)
            if spatial is None:
                return inferred_schema(value)
            return replace(spatial, optional=schema.optional)
        case name, JsonObject() if name in SPATIAL:
            spatial = sent_spatial(value.by_name) or schema
            return schema if spatial.name == name else replace(spatial, optional=schema.optional)
        case types.UNTYPED, _:
            return inferred_schema(value)
        case types.JSON, JsonObject() if schema.parameter(_MAPS) and _is_map_of_texts(value):
            return replace(_HSTORE, optional=schema.optional)
        case types.TIDB_VECTOR, JsonArray():
            return replace(_FLOAT_VECTOR, optional=schema.optional)
        case types.TINY_BOOLEAN, Number() if value.text not in ("0", "1"):
            return Schema("int8", schema.optional)
        case types.TINY_BOOLEAN, bool():
            return Schema("boolean", schema.optional)
        case _:
            return schema


def _is_map_of_texts(value: JsonObject) -> bool:
    return all(member.value is None or isinstance(member.value, str) for member in value.members)


def _is_beyond_int64(number: Number) -> bool:
    return number.is_integer and 19 <= number.digits <= 20 and int(number.text) >= INT64_END


def _is_decimal_text(schema: Schema, text: str) -> bool:
    """Return whether a text is a decimal's digits, and can't be base64."""
    if schema.parameter(types.AMBIGUOUS) is None or not _DECIMAL_TEXT.fullmatch(text):
        return False
    return len(text) % 4 != 0 or not text.isdigit()


def _instant_form(schema: Schema, value: JsonValue) -> Schema:
    if isinstance(value, Number) and schema.parameter(_NUMBERS) is not None:
        return Schema("int64", schema.optional, types.CONNECT_TIMESTAMP, 1)
    if isinstance(value, str) and _WITHOUT_OFFSET.fullmatch(value) is not None:
        return Schema("string", schema.optional)
    return schema
