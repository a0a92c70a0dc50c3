"""Compares the type that a testee gives with the kind of the expected type.

Parts that the answer leaves out do not count against it: ``decimal`` meets ``decimal(10,4)``. Parts
that both give have to agree.
"""

from __future__ import annotations

from dataclasses import fields

from cdcwire.model.kinds import ArrayType, MapType, StructType, Type

_BESIDE_THE_VALUE = ("form", "zone")  # not part of a written type


def same_kind(expected: Type, given: Type) -> bool:
    """Return whether both name one kind, as far as both say."""
    match expected, given:
        case ArrayType(item), ArrayType(other):
            return same_kind(item, other)
        case MapType(key, value), MapType(other_key, other_value):
            return same_kind(key, other_key) and same_kind(value, other_value)
        case StructType(), StructType():
            return True  # its columns are compared one by one
        case _:
            pass
    if type(expected) is not type(given):
        return False
    pairs = (
        (getattr(expected, field.name), getattr(given, field.name))
        for field in fields(expected)
        if field.name not in _BESIDE_THE_VALUE
    )
    return all(ours is None or theirs is None or ours == theirs for ours, theirs in pairs)
