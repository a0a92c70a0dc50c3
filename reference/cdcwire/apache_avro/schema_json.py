"""The exact text of a schema, as the producer registers it: compact JSON in a fixed order.

A record is ``type``, ``name``, ``namespace``, ``fields``; a field ``default``, ``name``, ``type``;
a type ``type``, ``connect.parameters``, ``logicalType``, ``precision``, ``scale``.
"""

from __future__ import annotations

import math

from cdcwire.apache_avro import schema
from cdcwire.core.errors import EncodeError
from cdcwire.golang import compact_json, float_text, json_string
from cdcwire.model.kinds import ABSENT, Missing

CLAUSE = "avro: schema text"
JSON_CLAUSE = "avro: json text"


def schema_text(record: schema.Record) -> str:
    """Return the text of a record's schema. Raises: EncodeError for a default without a text."""
    return _record(record, set())


def _record(record: schema.Record, written: set[int]) -> str:
    full_name = f"{record.namespace}.{record.name}" if record.namespace else record.name
    if id(record) in written:
        return json_string(full_name)
    written.add(id(record))
    namespace = f'"namespace":{json_string(record.namespace)},' if record.namespace else ""
    fields = ",".join(_field(each, written) for each in record.fields)
    return f'{{"type":"record","name":{json_string(record.name)},{namespace}"fields":[{fields}]}}'


def _field(field: schema.Field, written: set[int]) -> str:
    default = ""
    if field.default is not ABSENT:
        default = f'"default":{_default(field.default, field.type)},'
    return f'{{{default}"name":{json_string(field.name)},"type":{_type(field.type, written)}}}'


def _type(kind: schema.AvroType, written: set[int]) -> str:
    match kind:
        case schema.Primitive():
            return _primitive(kind)
        case schema.Union(branches):
            return f"[{','.join(_type(branch, written) for branch in branches)}]"
        case schema.Array(items):
            return f'{{"type":"array","items":{_type(items, written)}}}'
        case schema.Map(values):
            return f'{{"type":"map","values":{_type(values, written)}}}'
        case schema.Record():
            return _record(kind, written)
        case schema.Fixed() | schema.Enumeration():
            if id(kind) in written:
                return json_string(kind.name)
            written.add(id(kind))
            name = json_string(kind.name)
            if isinstance(kind, schema.Enumeration):
                return f'{{"type":"enum","name":{name},"symbols":{compact_json(kind.symbols)}}}'
            return f'{{"type":"fixed","name":{name},"size":{kind.size}{_decimal(kind.decimal)}}}'


def _primitive(kind: schema.Primitive) -> str:
    if not kind.parameters and kind.decimal is None:
        return f'"{kind.name}"'
    parameters = ""
    if kind.parameters:
        in_order = {name: kind.parameters[name] for name in sorted(kind.parameters)}
        parameters = f',"connect.parameters":{compact_json(in_order)}'
    return f'{{"type":"{kind.name}"{parameters}{_decimal(kind.decimal)}}}'


def _decimal(size: schema.DecimalSize | None) -> str:
    if size is None:
        return ""
    return f',"logicalType":"decimal","precision":{size.precision},"scale":{size.scale}'


def _default(default: schema.Default, kind: schema.AvroType) -> str:
    if isinstance(kind, schema.Union) and kind.branches:
        kind = kind.branches[0]
    is_float = isinstance(kind, schema.Primitive) and kind.name in ("float", "double")
    if isinstance(default, (int, float)) and not isinstance(default, bool):
        if is_float or isinstance(default, float):
            if not math.isfinite(default):
                raise EncodeError(f"JSON has no number {default}", JSON_CLAUSE)
            return float_text(float(default), 64)
        return str(default)
    match default:
        case list():
            return f"[{','.join(_default(item, kind) for item in default)}]"
        case dict():
            members = (f"{json_string(n)}:{_default(v, kind)}" for n, v in default.items())
            return f"{{{','.join(members)}}}"
        case None | bool() | str():
            return compact_json(default)
        case Missing():
            raise EncodeError("a default inside another is missing", CLAUSE)
