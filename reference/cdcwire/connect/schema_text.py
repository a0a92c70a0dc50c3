"""A schema as JsonConverter writes it: its members in their order, without spaces."""

from __future__ import annotations

from functools import lru_cache

from cdcwire.connect.schema import MAX_SCHEMA_DEPTH, Schema
from cdcwire.connect.strings import quoted
from cdcwire.connect.values import write_value
from cdcwire.core.errors import EncodeError, step


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
