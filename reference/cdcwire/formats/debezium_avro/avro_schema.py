"""The Avro schema that Connect's converters register for a schema of Connect, as text.

Members have the order ``type``, ``name``, ``namespace``, ``fields``, then ``connect.doc``,
``connect.version``, ``connect.parameters``, ``connect.default``, ``connect.name``,
``connect.type`` and the logical type. A decimal has ``scale`` and ``precision`` before them. The
second use of a record is its name, without the namespace where that is the one around it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import TypeAlias

from cdcwire.connect import ConnectValue, Schema
from cdcwire.connect.scalars import java_float_text, unscaled_bytes
from cdcwire.connect.schema import INT_BITS, MAX_SCHEMA_DEPTH
from cdcwire.connect.types import (
    CONNECT_DATE,
    CONNECT_DECIMAL,
    CONNECT_TIME,
    CONNECT_TIMESTAMP,
    decimal_scale,
)
from cdcwire.core.errors import EncodeError, step
from cdcwire.formats.debezium_avro.connect_schema import (
    DEFAULT_PRECISION,
    MAP_ENTRY,
    NAMESPACE,
    PRECISION,
    SCHEMAS,
    UNNAMED,
)

NAMES = "debezium-avro: names"
_is_name = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII).fullmatch
_PRIMITIVES = {
    **dict.fromkeys(INT_BITS, "int"),
    "int64": "long",
    "float": "float",
    "double": "double",
    "boolean": "boolean",
    "string": "string",
    "bytes": "bytes",
}
_LOGICAL_TYPES = {
    CONNECT_DATE: "date",
    CONNECT_TIME: "time-millis",
    CONNECT_TIMESTAMP: "timestamp-millis",
}
_SPECIAL = re.compile(r'["\\\x00-\x1f]')
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_Type: TypeAlias = "str | tuple[_Type, ...] | dict[str, object]"


@lru_cache(maxsize=256)
def avro_text(schema: Schema) -> str:
    """Return the text of the Avro schema. Raises: EncodeError for names that Avro does not have."""
    return _Writing().text(_Making().of(schema, 1), "")


class _Making:
    """Makes types of Avro; a record that was made is used again."""

    def __init__(self) -> None:
        self.named: dict[str, _Type] = {}
        self.made: dict[Schema, _Type] = {}
        self.unnamed = 0

    def of(self, schema: Schema, depth: int) -> _Type:
        """Return the type of a schema, in a union with NULL if it is optional."""
        if depth > MAX_SCHEMA_DEPTH:
            problem = f"schemas are nested deeper than {MAX_SCHEMA_DEPTH}"
            raise EncodeError(problem, "connect: limits")
        if not schema.optional:
            return self.required(schema, depth)
        if schema.type == "struct":
            inner = replace(schema, optional=False)
            known = self.named.get(schema.name or "")
            return "null", self.required(inner, depth) if known is None else known
        made = self.required(schema, depth)
        return (made, "null") if schema.has_default else ("null", made)

    def required(self, schema: Schema, depth: int) -> _Type:
        """Return the type of a schema as if it were not optional."""
        plain = replace(schema, optional=False)
        known = self.made.get(plain) if schema.type == "struct" else None
        if known is not None:
            return known
        made = self.base(schema, depth)
        made.update(_described(schema))
        self.made[plain] = made
        return made

    def inner(self, schema: Schema | None, depth: int) -> _Type:
        """Return the type of items or values."""
        if schema is None:
            raise EncodeError("the schema has no items or values", SCHEMAS)
        known = self.named.get(schema.name or "") if schema.type == "struct" else None
        return self.of(schema, depth + 1) if known is None or schema.optional else known

    def base(self, schema: Schema, depth: int) -> dict[str, object]:
        """Return a type with its own members."""
        match schema.type:
            case "struct":
                return self.record(schema, depth)
            case "array":
                return {"type": "array", "items": self.inner(schema.items, depth)}
            case "map":
                keys = schema.keys
                if keys is not None and keys.type == "string" and not keys.optional:
                    return {"type": "map", "values": self.inner(schema.values, depth)}
                return {"type": "array", "items": self.entries(schema, depth)}
            case "bytes" if schema.name == CONNECT_DECIMAL:
                precision = schema.parameter(PRECISION) or f"{DEFAULT_PRECISION}"
                if not precision.isdecimal() or len(precision) > 9:
                    raise EncodeError(f"precision {precision!r:.20} is not a number", SCHEMAS)
                scale = decimal_scale(schema) or 0
                return {"type": "bytes", "scale": scale, "precision": int(precision)}
            case _:
                return {"type": _PRIMITIVES[schema.type]}

    def record(self, schema: Schema, depth: int) -> dict[str, object]:
        full_name = schema.name
        if full_name is None:
            self.unnamed += 1
            full_name = f"{UNNAMED}{self.unnamed if self.unnamed > 1 else ''}"
        made = _named(full_name)
        if schema.name is not None:
            self.named[schema.name] = made
        made["fields"] = list(self.fields(schema, depth))
        return made

    def entries(self, schema: Schema, depth: int) -> dict[str, object]:
        """Return the record of a map's entries, whose keys are not plain strings."""
        made = _named(schema.name or f"{NAMESPACE}.{MAP_ENTRY}")
        if schema.keys is None or schema.values is None:
            raise EncodeError("a map has keys and values", SCHEMAS)
        made["fields"] = [
            self.field("key", schema.keys, depth + 1),
            self.field("value", schema.values, depth + 1),
        ]
        if schema.name is not None:
            made["connect.internal.type"] = MAP_ENTRY
        return made

    def fields(self, schema: Schema, depth: int) -> Iterator[dict[str, object]]:
        seen: set[str] = set()
        for each in schema.fields:
            if not _is_name(each.name):
                problem = f"{each.name!r:.40} is not a name in Avro; see field-name-adjustment-mode"
                raise EncodeError(problem, NAMES, (each.name,))
            if each.name in seen:
                raise EncodeError(f"two columns have the name {each.name!r:.40}", NAMES)
            seen.add(each.name)
            with step(each.name):
                yield self.field(each.name, each.schema, depth)

    def field(self, name: str, schema: Schema, depth: int) -> dict[str, object]:
        made: dict[str, object] = {"name": name, "type": self.of(schema, depth + 1)}
        if schema.has_default and schema.default is not None:
            made["default"] = _default(schema, schema.default)
        elif schema.optional:
            made["default"] = None
        return made


def _named(full_name: str) -> dict[str, object]:
    namespace, _, name = full_name.rpartition(".")
    if not _is_name(name) or not all(map(_is_name, namespace.split(".") if namespace else ())):
        problem = f"{full_name!r:.80} is not a name in Avro; see schema-name-adjustment-mode"
        raise EncodeError(problem, NAMES)
    return {"type": "record", "name": name, "namespace": namespace}


def _described(schema: Schema) -> Iterator[tuple[str, object]]:
    """Yield the members that say what a type of Avro does not."""
    if schema.doc is not None:
        yield "connect.doc", schema.doc
    if schema.version is not None:
        yield "connect.version", schema.version
    if schema.parameters:
        yield "connect.parameters", dict(schema.parameters)
    if schema.has_default and schema.default is not None:
        yield "connect.default", _default(schema, schema.default)
    if schema.name is not None:
        yield "connect.name", schema.name
    if schema.type in ("int8", "int16"):
        yield "connect.type", schema.type
    if schema.name == CONNECT_DECIMAL and schema.type == "bytes":
        yield "logicalType", "decimal"
    elif schema.name in _LOGICAL_TYPES:
        yield "logicalType", _LOGICAL_TYPES[schema.name]


def _default(schema: Schema, value: ConnectValue) -> object:
    """Return a default as JSON has it: bytes are text, one character for each byte."""
    match schema.type:
        case _ if value is None:
            return None
        case "bytes":
            raw = value
            if isinstance(value, Decimal):
                raw = unscaled_bytes(value, decimal_scale(schema) or 0, SCHEMAS)
            return raw.decode("latin-1") if isinstance(raw, bytes) else raw
        case "float":
            return _Float(value)
        case "array" if schema.items is not None:
            return [_default(schema.items, item) for item in value]
        case "struct":
            members = zip(schema.fields, value, strict=True)
            return {field.name: _default(field.schema, item) for field, item in members}
        case "map" if schema.keys is not None and schema.values is not None:
            pairs = [(_default(schema.keys, k), _default(schema.values, v)) for k, v in value]
            is_plain = schema.keys.type == "string" and not schema.keys.optional
            return dict(pairs) if is_plain else [list(pair) for pair in pairs]
        case _:
            return value


class _Float(float):
    """A float of 32 bits, whose text has fewer digits."""


class _Writing:
    """Writes types as JSON; a record that was written is its name."""

    def __init__(self) -> None:
        self.written: dict[str, dict[str, object]] = {}

    def text(self, made: _Type, namespace: str) -> str:
        """Return the JSON of a type; ``namespace``: that of the record around it."""
        if isinstance(made, str):
            return json_string(made)
        if isinstance(made, tuple):
            return f"[{','.join(self.text(branch, namespace) for branch in made)}]"
        if made["type"] != "record":
            return self.unnamed(made, namespace)
        inner, name = f"{made['namespace']}", f"{made['name']}"
        full_name = f"{inner}.{name}" if inner else name
        known = self.written.get(full_name)
        if known is made or (known is not None and known == made):
            return json_string(name if inner == namespace else full_name)
        if known is not None:
            raise EncodeError(f"two records have the name {full_name!r:.80}", NAMES)
        self.written[full_name] = made
        members = [f'"type":"record","name":{json_string(name)}']
        if inner != namespace:
            members.append(f'"namespace":{json_string(inner)}')
        fields = made["fields"]
        assert isinstance(fields, list)
        members.append(f'"fields":[{",".join(self.field(each, inner) for each in fields)}]')
        members += _others(made, ("type", "name", "namespace", "fields"))
        return f"{{{','.join(members)}}}"

    def unnamed(self, made: dict[str, object], namespace: str) -> str:
        """Return the JSON of a type without name; one without other members is a string."""
        if len(made) == 1:
            return _json(made["type"])
        members = [f'"type":{_json(made["type"])}']
        for name in ("items", "values"):
            inner = made.get(name)
            if isinstance(inner, (str, tuple, dict)):
                members.append(f'"{name}":{self.text(inner, namespace)}')
        members += _others(made, ("type", "items", "values"))
        return f"{{{','.join(members)}}}"

    def field(self, field: dict[str, object], namespace: str) -> str:
        made = field["type"]
        assert isinstance(made, (str, tuple, dict))
        members = [
            f'"name":{_json(field["name"])}',
            f'"type":{self.text(made, namespace)}',
        ]
        if "default" in field:
            members.append(f'"default":{_json(field["default"])}')
        return f"{{{','.join(members)}}}"


def _others(made: dict[str, object], known: tuple[str, ...]) -> Iterator[str]:
    return (
        f"{json_string(name)}:{_json(value)}" for name, value in made.items() if name not in known
    )


def _json(value: object) -> str:
    """Return a value as JSON, in the way of Jackson."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return json_string(value)
        case int():
            return f"{value}"
        case float():
            if not math.isfinite(value):
                return {"inf": '"Infinity"', "-inf": '"-Infinity"'}.get(str(float(value)), '"NaN"')
            return java_float_text(float(value), 32 if isinstance(value, _Float) else 64)
        case list() | tuple():
            return f"[{','.join(map(_json, value))}]"
        case dict():
            pairs = (f"{json_string(f'{name}')}:{_json(item)}" for name, item in value.items())
            return f"{{{','.join(pairs)}}}"
        case _:
            raise EncodeError(f"{value!r:.40} has no form in JSON", SCHEMAS)


def json_string(text: str) -> str:
    """Return a string as JSON; only quotes, backslashes and control characters are escaped."""
    found = _SURROGATE.search(text)
    if found is not None:
        raise EncodeError(f"unpaired surrogate U+{ord(found.group()):04X}", SCHEMAS)
    return f'"{_SPECIAL.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    return _SHORT.get(character) or f"\\u{ord(character):04X}"
