"""Schemas in JSON: read strictly, and written as JsonConverter does.

A member of the wrong type, a struct with the same field twice and an undefined type are errors. An
unknown member is ignored with a warning, as Connect does. Members are written in their order,
without spaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import cast

from cdcwire.connect.scalars import quoted
from cdcwire.connect.schema import (
    MAX_SCHEMA_DEPTH,
    PRIMITIVES,
    TIDB_TYPE,
    ConnectType,
    Field,
    Schema,
)
from cdcwire.connect.types import check_logical_name
from cdcwire.connect.values import Reading, read_value, write_value
from cdcwire.core.errors import DecodeError, EncodeError, step
from cdcwire.core.strict_json import (
    JsonArray,
    JsonObject,
    JsonValue,
    Member,
    Number,
    json_kind,
)
from cdcwire.model.events import Path

_MEMBERS = "connect: schema members"
_TYPES = "connect: schema types"
_FIELDS = "connect: fields"
_UNKNOWN = "connect: unknown members"
_LIMITS = "connect: limits"
_SHARED = ("type", "optional", "name", "version", "doc", "parameters", "default", "field")
_OWN: dict[str, tuple[str, ...]] = {
    "struct": ("fields",),
    "array": ("items",),
    "map": ("keys", "values"),
}
_MAX_VERSION = 2**31 - 1


def read_schema(
    value: JsonValue,
    start: int,
    end: int,
    warnings: list[str] | None = None,
    *,
    is_loose: bool = False,
) -> Schema:
    """Return the schema that a JSON object is; ``end`` is where missing members are reported.

    ``is_loose``: leave out fields that come again, and defaults that their type does not have. Keep
    unsigned defaults of an int64, and ``tidb_type`` as a parameter.
    Raises: DecodeError.
    """
    return _Schemas(warnings, is_loose).read(value, start, end, 1, inside_struct=False)


class _Schemas:
    """Reads schema objects; ``warnings`` collects what is ignored."""

    def __init__(self, warnings: list[str] | None, is_loose: bool) -> None:
        self.warnings = warnings
        self.is_loose = is_loose
        self.path: list[str | int] = []
        self.defaults = Reading()  # all defaults of a schema have one limit

    def read(
        self, value: JsonValue, start: int, end: int, depth: int, *, inside_struct: bool
    ) -> Schema:
        if not isinstance(value, JsonObject):
            problem = f"a schema is an object, not {json_kind(value)}"
            raise DecodeError(problem, start, _MEMBERS)
        if depth > MAX_SCHEMA_DEPTH:
            raise DecodeError(f"schemas are nested deeper than {MAX_SCHEMA_DEPTH}", start, _LIMITS)
        members = value.by_name
        kind = self.type_of(members, end)
        self.report_unknown(members, kind, inside_struct)
        schema = Schema(
            kind,
            self.optional(members.get("optional")),
            _text(members.get("name")),
            _version(members.get("version")),
            _text(members.get("doc")),
            self.parameters(members),
            fields=self.fields(members, end, depth) if kind == "struct" else (),
            items=self.part(members, "items", end, depth) if kind == "array" else None,
            keys=self.part(members, "keys", end, depth) if kind == "map" else None,
            values=self.part(members, "values", end, depth) if kind == "map" else None,
        )
        return self.checked(schema, members, start)

    def checked(self, schema: Schema, members: Mapping[str, Member], start: int) -> Schema:
        """Check what the logical name asks for, and read the default by the schema itself."""
        check_logical_name(schema, start)
        default = members.get("default")
        if default is None or default.value is None:
            return schema
        with step("default"):
            before = self.defaults.added
            try:
                value = read_value(schema, default.value, default.start, default.end, self.defaults)
            except DecodeError:
                if not self.is_loose:
                    raise
                value = _unsigned_default(schema, default.value)
                if value is None:
                    return schema
        size = default.end - default.start + self.defaults.added - before
        return replace(schema, default=value, default_size=size)

    def parameters(self, members: Mapping[str, Member]) -> tuple[tuple[str, str], ...] | None:
        found = _parameters(members.get("parameters"))
        tidb_type = _text(members.get(TIDB_TYPE)) if self.is_loose else None
        return found if tidb_type is None else (*(found or ()), (TIDB_TYPE, tidb_type))

    def type_of(self, members: Mapping[str, Member], end: int) -> ConnectType:
        member = members.get("type")
        if member is None:
            raise DecodeError("the schema has no type", end - 1, _TYPES)
        text = _text(member)
        if text not in PRIMITIVES and text not in _OWN:
            raise DecodeError(f"type {text!r:.40} is not defined", member.start, _TYPES, ("type",))
        return cast(ConnectType, text)

    def optional(self, member: Member | None) -> bool:
        if member is None:
            return False
        if not isinstance(member.value, bool):
            problem = f"optional is true or false, not {json_kind(member.value)}"
            raise DecodeError(problem, member.start, _MEMBERS, ("optional",))
        return member.value

    def fields(self, members: Mapping[str, Member], end: int, depth: int) -> tuple[Field, ...]:
        member = members.get("fields")
        if member is None:
            raise DecodeError("a struct has no fields", end - 1, _FIELDS)
        if not isinstance(member.value, JsonArray):
            problem = f"fields is an array, not {json_kind(member.value)}"
            raise DecodeError(problem, member.start, _FIELDS, ("fields",))
        fields: list[Field] = []
        seen: set[str] = set()
        places = member.value.places
        for index, item in enumerate(member.value.items):
            start, stop = places[2 * index], places[2 * index + 1]
            with step("fields", index):
                schema = self.read(item, start, stop, depth + 1, inside_struct=True)
                assert isinstance(item, JsonObject)  # read has seen to it
                named = item.get("field")
                name = _text(named)
                if name is None:
                    raise DecodeError("the schema of a field has no field", stop - 1, _FIELDS)
                if name in seen and self.is_loose:
                    continue
                if name in seen and named is not None:
                    problem = f"field {name!r:.40} appears twice"
                    raise DecodeError(problem, named.start, _FIELDS, ("field",))
            seen.add(name)
            fields.append(Field(name, schema))
        return tuple(fields)

    def part(self, members: Mapping[str, Member], name: str, end: int, depth: int) -> Schema:
        member = members.get(name)
        if member is None:
            raise DecodeError(f"the schema has no {name}", end - 1, _MEMBERS)
        with step(name):
            return self.read(member.value, member.start, member.end, depth + 1, inside_struct=False)

    def report_unknown(self, members: Mapping[str, Member], kind: str, inside_struct: bool) -> None:
        if self.warnings is None:
            return
        known = (*_SHARED, *_OWN.get(kind, ()), *((TIDB_TYPE,) if self.is_loose else ()))
        for name in members:
            if name not in known or (name == "field" and not inside_struct):
                self.warnings.append(f"schema member {name!r:.40} is not known ({_UNKNOWN})")


def _unsigned_default(schema: Schema, json: JsonValue) -> int | None:
    """Return a default of BIGINT UNSIGNED from 2^63 on; None for another one.

    It went through a double, and so may be larger than all of the type's numbers.
    """
    if schema.type != "int64" or schema.name is not None or not isinstance(json, Number):
        return None
    if not json.is_integer or json.digits > 20 or json.text.startswith("-"):
        return None
    return min(int(json.text), (1 << 64) - 1)


def _text(member: Member | None) -> str | None:
    if member is None or member.value is None:
        return None
    if not isinstance(member.value, str):
        problem = f"{member.name} is a string, not {json_kind(member.value)}"
        raise DecodeError(problem, member.start, _MEMBERS, (member.name,))
    return member.value


def _version(member: Member | None) -> int | None:
    if member is None or member.value is None:
        return None
    number = member.value
    if not isinstance(number, Number) or not number.is_integer or number.digits > 10:
        raise DecodeError("version is not an integer", member.start, _MEMBERS, ("version",))
    version = int(number.text)
    if not -_MAX_VERSION - 1 <= version <= _MAX_VERSION:
        raise DecodeError("version has more than 32 bits", member.start, _MEMBERS, ("version",))
    return version


def _parameters(member: Member | None) -> tuple[tuple[str, str], ...] | None:
    if member is None or member.value is None:
        return None
    path: Path = ("parameters",)
    if not isinstance(member.value, JsonObject):
        problem = f"parameters is an object, not {json_kind(member.value)}"
        raise DecodeError(problem, member.start, _MEMBERS, path)
    pairs = []
    for pair in member.value.members:
        if not isinstance(pair.value, str):
            problem = f"a parameter is a string, not {json_kind(pair.value)}"
            raise DecodeError(problem, pair.start, _MEMBERS, (*path, pair.name))
        pairs.append((pair.name, pair.value))
    return tuple(pairs)


@lru_cache(maxsize=256)
def schema_text(schema: Schema) -> str:
    """Return the text of a schema. Raises: EncodeError."""
    return write_schema(schema)


def write_schema(schema: Schema, field: str | None = None, depth: int = 1) -> str:
    """Return the text of a schema; ``field`` is its name in the struct around it.

    Shape: ``type`` and what belongs to it, ``optional``, then ``name``, ``version``, ``doc``,
    ``parameters``, ``default`` as far as there are, and ``field`` last.
    """
    if depth > MAX_SCHEMA_DEPTH:
        problem = f"schemas are nested deeper than {MAX_SCHEMA_DEPTH}"
        raise EncodeError(problem, "connect: limits")
    members = [f'"type":"{schema.type}"', *_own_members(schema, depth)]
    members.append(f'"optional":{"true" if schema.optional else "false"}')
    if schema.name is not None:
        members.append(f'"name":{quoted(schema.name)}')
    if schema.version is not None:
        members.append(f'"version":{schema.version}')
    if schema.doc is not None:
        members.append(f'"doc":{quoted(schema.doc)}')
    if schema.parameters is not None:
        pairs = (f"{quoted(name)}:{quoted(text)}" for name, text in schema.parameters)
        members.append(f'"parameters":{{{",".join(pairs)}}}')
    if schema.has_default:
        members.append(f'"default":{write_value(schema, schema.default)}')
    if field is not None:
        members.append(f'"field":{quoted(field)}')
    return f"{{{','.join(members)}}}"


def _own_members(schema: Schema, depth: int) -> list[str]:
    match schema.type:
        case "struct":
            fields = []
            for index, field in enumerate(schema.fields):
                with step("fields", index):
                    fields.append(write_schema(field.schema, field.name, depth + 1))
            return [f'"fields":[{",".join(fields)}]']
        case "array":
            return [f'"items":{_part(schema.items, "items", depth)}']
        case "map":
            keys = _part(schema.keys, "keys", depth)
            return [f'"keys":{keys}', f'"values":{_part(schema.values, "values", depth)}']
        case _:
            return []


def _part(schema: Schema | None, name: str, depth: int) -> str:
    if schema is None:
        raise EncodeError(f"the schema has no {name}", "connect: schema members")
    with step(name):
        return write_schema(schema, None, depth + 1)
