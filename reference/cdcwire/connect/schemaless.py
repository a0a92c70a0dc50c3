"""Messages without a schema: the JSON as it is, and the types that can be read from it.

Without a schema an integer is an int64, any other number and -0 a double, an object a struct. A
null, and the items of an array without any, have no type. The real types of the source must come
from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from cdcwire.connect.scalars import quoted
from cdcwire.connect.schema import INT_BITS, ConnectValue, Field, Schema
from cdcwire.connect.types import CONNECT_DECIMAL, UNTYPED
from cdcwire.connect.values import read_value
from cdcwire.core.strict_json import JsonArray, JsonObject, JsonValue, Number

_INT64 = Schema("int64", optional=True)
_DOUBLE = Schema("double", optional=True)
_BOOLEAN = Schema("boolean", optional=True)
_STRING = Schema("string", optional=True)
_NULL = Schema("string", optional=True, name=UNTYPED)
_WHOLE = Schema("bytes", True, CONNECT_DECIMAL, 1, parameters=(("scale", "0"),))
SPECIAL_FLOATS = ("NaN", "Infinity", "-Infinity")  # as JsonConverter writes them


def inferred_schema(json: JsonValue) -> Schema:
    """Return the schema that a JSON value shows by itself; all of it is optional."""
    match json:
        case bool():
            return _BOOLEAN
        case Number():
            return _number_schema(json)
        case JsonObject(members):
            fields = tuple(Field(m.name, inferred_schema(m.value)) for m in members)
            return Schema("struct", optional=True, fields=fields)
        case JsonArray(items):
            return Schema("array", True, items=_common_schema(items))
        case None:
            return _NULL
        case str():
            return _STRING


def _common_schema(items: Iterable[JsonValue]) -> Schema:
    """Return the schema that all items of an array fit, if there is one."""
    shown = [item for item in items if item is not None]
    if not shown:
        return _NULL
    objects = [item for item in shown if isinstance(item, JsonObject)]
    arrays = [item for item in shown if isinstance(item, JsonArray)]
    if objects and len(objects) == len(shown):
        members: dict[str, list[JsonValue]] = {}
        for member in (member for item in objects for member in item.members):
            members.setdefault(member.name, []).append(member.value)
        fields = (Field(name, _common_schema(values)) for name, values in members.items())
        return Schema("struct", optional=True, fields=tuple(fields))
    if arrays and len(arrays) == len(shown):
        inner = _common_schema(item for array in arrays for item in array.items)
        return Schema("array", True, items=inner)
    found = {_DOUBLE if item in SPECIAL_FLOATS else inferred_schema(item) for item in shown}
    if found == {_DOUBLE} and not any(isinstance(item, Number) for item in shown):
        return _STRING  # words that only look like floats
    for wider, narrower in ((_DOUBLE, {_DOUBLE, _INT64, _WHOLE}), (_WHOLE, {_WHOLE, _INT64})):
        if wider in found and found <= narrower:
            return wider
    return found.pop() if len(found) == 1 else _STRING


def read_schemaless(json: JsonValue, start: int, end: int) -> tuple[Schema, ConnectValue]:
    """Return the inferred schema and the value by it. Raises: DecodeError."""
    schema = inferred_schema(json)
    return schema, read_value(schema, json, start, end)


def json_text(json: JsonValue) -> str:
    """Return a JSON value as JsonConverter writes it; numbers stay as they were sent."""
    match json:
        case None:
            return "null"
        case bool():
            return "true" if json else "false"
        case str():
            return quoted(json)
        case Number(text):
            return text
        case JsonArray(items):
            return f"[{','.join(map(json_text, items))}]"
        case JsonObject(members):
            pairs = (f"{quoted(member.name)}:{json_text(member.value)}" for member in members)
            return f"{{{','.join(pairs)}}}"


def _number_schema(number: Number) -> Schema:
    if not number.is_integer or number.text == "-0":  # no integer is written so
        return _DOUBLE
    limit = 1 << INT_BITS["int64"] - 1
    fits = number.digits <= 19 and -limit <= int(number.text) < limit
    return _INT64 if fits else _WHOLE
