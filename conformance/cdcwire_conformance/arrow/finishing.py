"""The conversions of ``values`` for columns that are Arrow arrays already, in the wire's own type.

What has no way of its own here goes through values, so that both ways mean the same.
"""

from __future__ import annotations

import pyarrow as pa

from cdcwire.model.kinds import (
    BitType,
    BytesType,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    JsonType,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    YearType,
)
from cdcwire_conformance.arrow.building import Build, Finish
from cdcwire_conformance.arrow.json_form import JsonNormaliser
from cdcwire_conformance.arrow.temporals import cut_fractions, native_array, text_converter
from cdcwire_conformance.arrow.types import UNSIGNED_64

_TEMPORALS = (DateType, TimeType, DatetimeType, TimestampType)


def array_builder(
    wire: Type, canonical: Type, target: pa.DataType, time_zone: str, build: Build
) -> Finish:
    """Return what turns an array in the wire's own type into the canonical column.

    ``build``: the same for values. The function raises what ``build`` may raise.
    """
    match wire, canonical:
        case (IntType() | YearType() | BitType(), IntType() | YearType() | BitType()):
            if pa.types.is_integer(target) or target == UNSIGNED_64:
                return lambda array: array.cast(target)
        case FloatType(ours), FloatType(theirs) if ours <= theirs:
            return lambda array: array.cast(target)
        case DecimalType(), DecimalType():
            return lambda array: array.cast(target)
        case (TextType() | BytesType(), TextType() | BytesType()):
            return lambda array: array.cast(target)
        case JsonType(), JsonType():
            return JsonNormaliser().array
        case (EnumType(), EnumType()) | (SetType(), SetType()):
            return _by_distinct_values(build)
        case _:
            if (
                isinstance(wire, _TEMPORALS)
                and isinstance(canonical, _TEMPORALS)
                and text_converter(wire, canonical, time_zone) is None
            ):
                return _temporal(target)
    if isinstance(wire, TextType):
        return lambda array: build(array.cast(pa.string()).to_pylist())
    return lambda array: build(array.to_pylist())


def _temporal(target: pa.DataType) -> Finish:
    if pa.types.is_string(target):
        return cut_fractions
    return lambda array: native_array(array, target)


def _by_distinct_values(build: Build) -> Finish:
    def finish(array: pa.Array) -> pa.Array:
        encoded = array.dictionary_encode()
        return build(encoded.dictionary.to_pylist()).take(encoded.indices)

    return finish
