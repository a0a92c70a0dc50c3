"""Values of Avro as Connect's, and back: what the types of both do not share.

A value stays as it is in most types. A decimal is bytes in Avro. A union of several types is a
struct in Connect. Small integers and times of a day have smaller ranges in Connect.
The digits that scales add to decimals are counted for a whole payload.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from cdcwire.apache_avro.binary import LIMITS, TEXTS
from cdcwire.apache_avro.schema import Branch, Datum
from cdcwire.connect import ConnectValue, Schema
from cdcwire.connect.bounds import ConversionError
from cdcwire.connect.scalars import MAX_DECIMAL_BYTES, decimal_of, unscaled_bytes
from cdcwire.connect.schema import INT_BITS
from cdcwire.connect.types import (
    CONNECT_DECIMAL,
    CONNECT_TIME,
    MAX_SCALE,
    decimal_scale,
    is_variable_scale,
)
from cdcwire.core.errors import EncodeError
from cdcwire.core.limits import FREE_SCALE, DecimalDigits

LOGICAL = "debezium-avro: logical types"
UNIONS = "debezium-avro: unions"
_MAX_MS_OF_DAY = 86_400_000  # as in Connect's JSON
Convert: TypeAlias = Callable[[Datum], ConnectValue]


@dataclass(frozen=True, slots=True)
class Ways:
    """How values go from Avro to Connect, and back. None: they stay as they are."""

    read: Convert | None = None
    write: Convert | None = None


def well_formed(value: Datum) -> ConnectValue:
    """Return a text as it is. Raises: ConversionError for bytes that are not UTF-8."""
    if isinstance(value, bytes):
        raise ConversionError("the string is not UTF-8", TEXTS)
    return value


def each_item(convert: Convert | None) -> Convert | None:
    """Return what converts the items of an array; None if they stay as they are."""
    if convert is None:
        return None

    def converted(value: Datum) -> ConnectValue:
        if not isinstance(value, tuple):
            return value
        found = []
        for index, item in enumerate(value):
            found.append(_converted(convert, item, index))
        return tuple(found)

    return converted


def _converted(convert: Convert, value: Datum, name: str | int) -> ConnectValue:
    try:
        return convert(value)
    except ConversionError as error:
        error.path = (name, *error.path)
        raise


def ways_of_pairs(keys: Ways, values: Ways) -> Ways:
    """Return the ways of a map, whose entries are pairs."""
    return Ways(_of_pairs(keys.read, values.read), _of_pairs(keys.write, values.write))


def _of_pairs(key: Convert | None, value: Convert | None) -> Convert | None:
    if key is None and value is None:
        return None
    convert = of_fields(["key", "value"], [key, value])
    return each_item(convert)


def of_fields(names: list[str], converts: list[Convert | None]) -> Convert | None:
    """Return what converts the values of a struct."""
    active = [
        (index, name, convert)
        for index, (name, convert) in enumerate(zip(names, converts, strict=True))
        if convert is not None
    ]
    if not active:
        return None
    size = len(names)

    def converted(value: Datum) -> ConnectValue:
        if not isinstance(value, tuple) or len(value) != size:
            return value  # NULL, or what the writer refuses
        found = list(value)
        for index, name, convert in active:
            found[index] = _converted(convert, found[index], name)
        return tuple(found)

    return converted


def ways_of_union(inner: list[Ways | None]) -> Ways:
    """Return the ways of a union whose branches are the fields of a struct."""
    places = [index for index, ways in enumerate(inner) if ways is not None]

    def read(value: Datum) -> ConnectValue:
        assert isinstance(value, Branch)
        ways = inner[value.index]
        if ways is None:
            return None
        found = value.value if ways.read is None else ways.read(value.value)
        return tuple(found if index == value.index else None for index in places)

    def write(value: ConnectValue) -> Datum:
        if value is None and None in inner:
            return Branch(inner.index(None), None)
        sent = [at for at, item in enumerate(value or ()) if item is not None]
        if not isinstance(value, tuple) or len(value) != len(places) or len(sent) != 1:
            raise ConversionError("a union has one branch", UNIONS)
        at = sent[0]
        ways = inner[places[at]]
        convert = None if ways is None else ways.write
        return Branch(places[at], value[at] if convert is None else convert(value[at]))

    return Ways(read, write)


def decimal_reader(scale: int) -> Convert:
    """Return what makes decimals of bytes: big-endian two's complement."""

    def read(value: Datum) -> ConnectValue:
        if value is None:
            return None
        if not 0 < len(value) <= MAX_DECIMAL_BYTES:
            problem = f"a decimal has {len(value)} bytes, not 1 to {MAX_DECIMAL_BYTES}"
            raise ConversionError(problem, LOGICAL)
        return decimal_of(value, scale)

    return read


def decimal_writer(scale: int, size: int | None) -> Convert:
    """Return what makes bytes of decimals: the shortest ones, or ``size`` of them."""

    def write(value: ConnectValue) -> Datum:
        if value is None:
            return None
        if not isinstance(value, Decimal):
            raise ConversionError(f"{value!r:.40} is not a decimal", LOGICAL)
        try:
            raw = unscaled_bytes(value, scale, LOGICAL)
        except EncodeError as error:
            raise ConversionError(error.problem, error.clause) from error
        if size is None:
            return raw
        if len(raw) > size:
            raise ConversionError(f"the decimal needs {len(raw)} bytes of {size}", LOGICAL)
        return raw.rjust(size, b"\xff" if raw[0] & 0x80 else b"\x00")

    return write


def integer_bounds(schema: Schema) -> tuple[int, int] | None:
    """Return the least and the largest integer of a schema; None if they are those of Avro."""
    if schema.type in ("int8", "int16"):
        half = 1 << INT_BITS[schema.type] - 1
        return -half, half - 1
    return (0, _MAX_MS_OF_DAY) if schema.name == CONNECT_TIME else None


def integer_ways(schema: Schema) -> Ways:
    """Return what checks small integers and times of a day; others have Avro's own ranges."""
    bounds = integer_bounds(schema)
    if bounds is None:
        return Ways()
    low, high = bounds
    what = (
        "a millisecond of a day"
        if schema.name == CONNECT_TIME
        else f"in the range of {schema.type}"
    )

    def checked(value: Datum) -> ConnectValue:
        if isinstance(value, int) and not low <= value <= high:
            raise ConversionError(f"{value} is not {what}", LOGICAL)
        return value

    return Ways(checked, checked)


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
