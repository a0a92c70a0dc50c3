"""Digits that scales add to decimals, counted for a whole payload."""

from __future__ import annotations

from collections.abc import Iterator

from cdcwire.apache_avro.binary import LIMITS
from cdcwire.connect import ConnectValue, Schema
from cdcwire.connect.types import CONNECT_DECIMAL, MAX_SCALE, decimal_scale, is_variable_scale
from cdcwire.core.limits import FREE_SCALE, DecimalDigits


def _parts(schema: Schema) -> Iterator[Schema]:
    yield schema
    inner = (schema.items, schema.keys, schema.values, *(each.schema for each in schema.fields))
    for each in inner:
        if each is not None:
            yield from _parts(each)


def has_long_scales(schema: Schema) -> bool:
    """Return whether a schema has decimals whose scale adds digits that are counted."""
    return any(
        (each.name == CONNECT_DECIMAL and abs(decimal_scale(each) or 0) > FREE_SCALE)
        or is_variable_scale(each)
        for each in _parts(schema)
    )


def count_digits(schema: Schema, payload: ConnectValue, limit: int, offset: int) -> None:
    """Count the digits that scales add to the decimals of a payload. Raises: DecodeError."""
    _count(schema, payload, DecimalDigits(limit, LIMITS), offset)


def _count(schema: Schema, value: ConnectValue, digits: DecimalDigits, offset: int) -> None:
    if value is None:
        return
    match schema.type:
        case "bytes" if schema.name == CONNECT_DECIMAL:
            digits.add(decimal_scale(schema) or 0, offset)
        case "struct":
            if is_variable_scale(schema):
                scale = value[schema.index("scale") or 0]
                if scale is not None and abs(scale) <= MAX_SCALE:  # others are refused as decimals
                    digits.add(scale, offset)
                return
            for field, item in zip(schema.fields, value, strict=True):
                _count(field.schema, item, digits, offset)
        case "array" if schema.items is not None:
            for item in value:
                _count(schema.items, item, digits, offset)
        case "map" if schema.keys is not None and schema.values is not None:
            for key, item in value:
                _count(schema.keys, key, digits, offset)
                _count(schema.values, item, digits, offset)
        case _:
            pass
