"""Names of Avro: letters, digits and underscores, and not a digit first.

The adjustment modes are Debezium's. ``avro``: each other character becomes an underscore, and a
digit at the start gets one before it. ``avro_unicode``: each becomes ``_u`` and its number, four
hexadecimal digits; so does an underscore. A character is one of UTF-16.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from cdcwire.connect import Field, Schema
from cdcwire.formats.debezium_avro.settings import NameAdjustment

NAMES = "debezium-avro: names"
is_name = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII).fullmatch
_BAD = {"avro": re.compile(r"[^A-Za-z0-9_]"), "avro_unicode": re.compile(r"[^A-Za-z0-9]")}


def adjusted_name(name: str, mode: NameAdjustment) -> str:
    """Return one name as the mode has it; an empty name stays empty."""
    if mode == "none" or not name:
        return name
    made = _BAD[mode].sub(lambda found: _replacement(found.group(), mode), name)
    if name[0] not in "0123456789":
        return made
    return f"_u{ord(name[0]):04x}{made[1:]}" if mode == "avro_unicode" else f"_{made}"


def _replacement(character: str, mode: NameAdjustment) -> str:
    raw = character.encode("utf-16-be", "surrogatepass")
    units = [int.from_bytes(raw[at : at + 2], "big") for at in range(0, len(raw), 2)]
    return "".join(f"_u{unit:04x}" if mode == "avro_unicode" else "_" for unit in units)


@lru_cache(maxsize=256)
def adjusted(schema: Schema, schemas: NameAdjustment, fields: NameAdjustment) -> Schema:
    """Return a schema whose names Avro has: those of structs, and those of their fields."""
    if schema.type == "struct":
        inner = tuple(
            Field(adjusted_name(each.name, fields), adjusted(each.schema, schemas, fields))
            for each in schema.fields
        )
        name = schema.name
        if name is not None:
            name = ".".join(adjusted_name(part, schemas) for part in name.split("."))
        return replace(schema, fields=inner, name=name)
    items, keys, values = (
        None if inner is None else adjusted(inner, schemas, fields)
        for inner in (schema.items, schema.keys, schema.values)
    )
    return replace(schema, items=items, keys=keys, values=values)
