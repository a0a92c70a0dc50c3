"""Row images as expressions: a fingerprint of 128 bits, and the exact form to group by.

Spark's own operations lose distinctions that matter here. Its hashes skip NULL, so that (NULL, 5)
and (5, NULL) hash alike. Hashing, grouping and ``<=>`` take -0.0 for 0.0. Maps can't be compared,
and arrays hash like their items in a row. So both forms hold, in addition to the values:

- the presence bits (``before_has``): an absent column differs from NULL;
- in the fingerprint one bit per column that says NULL;
- in the fingerprint one bit for a floating-point column that holds -0.0, which alone gives minus
  infinity when raised to the power of -1; in the exact form floats are text;
- arrays, maps and structs as JSON text.

All NaN are one value, whatever their payload. Spark's hash and its grouping take them so too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DoubleType,
    FloatType,
    MapType,
    StructField,
    StructType,
)

_FLOATS = (FloatType, DoubleType)
_BITS = 60  # of a mask, so that no shift reaches the sign
_SALT = 0x5EED_CDC0  # makes the second hash another function than the first
_MICROSECONDS = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"  # Spark's JSON has milliseconds by default
_JSON = {
    "ignoreNullFields": "false",
    "timestampFormat": f"{_MICROSECONDS}XXX",
    "timestampNTZFormat": _MICROSECONDS,
}


def column_name(name: str) -> str:
    """Return a name as Spark reads it, whatever characters it has."""
    return f"`{name.replace('`', '``')}`"


def fingerprint(
    image: Column, has: Column, fields: Sequence[StructField], wanted: Sequence[StructField]
) -> dict[str, Column]:
    """Return two hashes of an image, ``a`` and ``b``, over those of its fields that are wanted.

    They are numbers even where there is no image. Keep them as separate columns in a projection:
    inside a condition Spark's generated code grows beyond the limit of Java's compiler.
    """
    values = [comparable(image.getField(field.name), field.dataType) for field in wanted]
    nulls = _masks([value.isNull() for value in values])
    parts = [_presence(has, fields), *nulls, *_zero_masks(image, wanted), *values]
    return {"a": F.xxhash64(*parts), "b": F.xxhash64(F.lit(_SALT), *parts)}


def exact_form(
    image: Column, has: Column, fields: Sequence[StructField], wanted: Sequence[StructField]
) -> dict[str, Column]:
    """Return ``row`` and ``has``, which are equal only for equal images.

    ``row`` has the comparable values as ``c0``, ``c1``, ... in the order of ``fields``, floats as
    text; NULL those that are not wanted.
    """
    values = []
    for index, field in enumerate(fields):
        value = comparable(image.getField(field.name), field.dataType)
        if isinstance(field.dataType, _FLOATS):
            value = value.cast("string")  # grouping would make 0.0 of -0.0
        if field not in wanted:
            value = F.when(F.lit(False), value)  # NULL of its type
        values.append(value.alias(f"c{index}"))
    return {"row": F.struct(*values), "has": _presence(has, fields)}


def _presence(has: Column, fields: Sequence[StructField]) -> Column:
    """Return presence bits; an image without them has all of its columns."""
    size = len(fields)
    return F.coalesce(has, F.lit(((1 << size) - 1).to_bytes((size + 7) // 8, "little")))


def comparable(value: Column, kind: DataType) -> Column:
    """Return a value in a form that Spark can hash, group by and compare."""
    if isinstance(kind, MapType):
        entries = F.map_entries(value)
        return F.to_json(entries if _holds_map(kind.valueType) else F.array_sort(entries), _JSON)
    if isinstance(kind, (ArrayType, StructType)):
        return F.to_json(value, _JSON)
    return value


def text_of(value: Column, kind: DataType) -> Column:
    """Return a comparable value as text: different values have different texts."""
    if isinstance(kind, BinaryType):
        return F.lower(F.hex(value))
    return value.cast("string")


def is_negative_zero(value: Column) -> Column:
    """Return whether a float is -0.0; of NULL it is false."""
    sign = F.pow(value.cast("double"), F.lit(-1.0))  # 1 / 0.0 raises an error in ANSI mode
    return F.coalesce((value == F.lit(0.0)) & (sign < F.lit(0.0)), F.lit(False))


def _zero_masks(image: Column, fields: Sequence[StructField]) -> list[Column]:
    floats = [field for field in fields if isinstance(field.dataType, _FLOATS)]
    return _masks([is_negative_zero(image.getField(field.name)) for field in floats])


def _masks(flags: Sequence[Column]) -> list[Column]:
    """Return flags as the bits of as many BIGINT as they need."""
    bits = [
        F.when(flag, F.lit(1 << index % _BITS).cast("bigint")).otherwise(F.lit(0).cast("bigint"))
        for index, flag in enumerate(flags)
    ]
    return [
        reduce(lambda left, right: left.bitwiseOR(right), bits[start : start + _BITS])
        for start in range(0, len(bits), _BITS)
    ]


def _holds_map(kind: DataType) -> bool:
    if isinstance(kind, ArrayType):
        return _holds_map(kind.elementType)
    if isinstance(kind, StructType):
        return any(_holds_map(field.dataType) for field in kind.fields)
    return isinstance(kind, MapType)
