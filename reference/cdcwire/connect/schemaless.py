"""Messages without a schema: the JSON as it stands, and the types that can be read from it.

Without a schema an integer is an int64, any other number a double, an object a struct, and null a
string that is missing. What the source really had must come from elsewhere.
"""

from __future__ import annotations

from cdcwire.connect.schema import INT_BITS, ConnectValue, Field, Schema
from cdcwire.connect.strings import quoted
from cdcwire.connect.types import CONNECT_DECIMAL
from cdcwire.connect.values import read_value
from cdcwire.strict_json import JsonArray, JsonObject, JsonValue, Number

_INT64 = Schema("int64", optional=True)
_DOUBLE = Schema("double", optional=True)
_BOOLEAN = Schema("boolean", optional=True)
_STRING = Schema("string", optional=True)
_WHOLE = Schema("bytes", True, CONNECT_DECIMAL, 1, parameters=(("scale", "0"),))


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
            shown = {inferred_schema(item) for item in items if item is not None}
            return Schema("array", True, items=shown.pop() if len(shown) == 1 else _STRING)
        case _:
            return _STRING


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
    if not number.is_integer:
        return _DOUBLE
    limit = 1 << INT_BITS["int64"] - 1
    fits = number.digits <= 19 and -limit <= int(number.text) < limit
    return _INT64 if fits else _WHOLE
