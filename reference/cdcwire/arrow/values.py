"""The one table of conversions: from a kind on the wire to a canonical column.

``column_builder`` gives what makes an Arrow array of a column's values. It takes values in the
wire's form (decimals and vectors as text, as fast decoders give them) as well as in the model's. A
conversion is exact or raises ConversionError; a pair of kinds without one raises SchemaError when
the builder is made, before any value is seen.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import accumulate
from json import dumps
from math import isfinite
from typing import Any

import pyarrow as pa

from cdcwire.arrow.building import (
    CLAUSE_LABELS,
    CLAUSE_NATIVE,
    CLAUSE_TEXT,
    CLAUSE_TYPES,
    REFUSALS,
    Build,
    ColumnBuilder,
    ConversionError,
    Finish,
    Values,
    plain,
    through,
)
from cdcwire.arrow.common_type import describe_kind
from cdcwire.arrow.json_columns import JsonNormaliser
from cdcwire.arrow.label_columns import enum_builder, set_builder
from cdcwire.arrow.numbers import NUMBER_TYPES, number_builder, plain_digits, wraps
from cdcwire.arrow.temporals import (
    TemporalType,
    column_maker,
    free_texts,
    text_converter,
    texts_maker,
)
from cdcwire.arrow.types import UNSIGNED_64, SchemaError
from cdcwire.model.events import Image
from cdcwire.model.kinds import (
    ArrayType,
    BitType,
    BoolType,
    BytesType,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntervalType,
    IntType,
    JsonType,
    MapType,
    SetType,
    StructType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    VectorType,
    YearType,
)
from cdcwire.model.temporal import period_count
from cdcwire.model.text.values import typed_value, value_members
from cdcwire.mysql.values import read_vector

_TEMPORALS = (DateType, TimeType, DatetimeType, TimestampType)


def column_builder(
    wire: Type, canonical: Type, target: pa.DataType, time_zone: str = "UTC"
) -> ColumnBuilder:
    """Return what makes a column's Arrow array from its values, or from an array of them.

    ``target``: the Arrow type of the canonical column. ``time_zone``: where texts of unknown zone
    are read, if the canonical kind is an instant in UTC.
    Raises: SchemaError when no conversion leads from the one kind to the other.
    """
    found = _builder(wire, canonical, target, time_zone)
    if found is None:
        raise SchemaError(
            f"{describe_kind(wire)} can't become {describe_kind(canonical)} (as {target})"
        )
    build, finish = found, _array_builder(wire, canonical, target, time_zone, found)

    def build_or_refuse(values: Values) -> pa.Array:
        try:
            return build(values)
        except REFUSALS as error:
            raise _conversion_error(values, wire, target, error) from error

    def finish_or_refuse(array: pa.Array) -> pa.Array:
        try:
            return finish(array)
        except REFUSALS as error:
            raise _conversion_error((), wire, target, error) from error

    return ColumnBuilder(build_or_refuse, finish_or_refuse)


def _conversion_error(
    values: Values, wire: Type, target: pa.DataType, error: Exception
) -> ConversionError:
    shown = f"{values[0]!r:.60}" if len(values) == 1 else "a value"
    is_ill_formed = not (len(values) == 1 and isinstance(values[0], str))
    if isinstance(wire, TextType) and pa.types.is_string(target) and is_ill_formed:
        problem = f"{shown} is not UTF-8; declare the column as binary text"
        return ConversionError(problem, CLAUSE_TEXT)
    if isinstance(wire, _TEMPORALS) and pa.types.is_string(target):
        return ConversionError(f"{shown}: {error}", CLAUSE_TYPES)
    if isinstance(wire, _TEMPORALS):
        return ConversionError(f"{shown} has no exact {target}", CLAUSE_NATIVE)
    if isinstance(wire, (EnumType, SetType)):
        return ConversionError(f"{shown}: {error}", CLAUSE_LABELS)
    return ConversionError(f"{shown} has no exact {target}", CLAUSE_TYPES)


def _builder(wire: Type, canonical: Type, target: pa.DataType, time_zone: str) -> Build | None:
    if isinstance(wire, NUMBER_TYPES) and isinstance(canonical, NUMBER_TYPES):
        return number_builder(wire, canonical, target)
    if isinstance(wire, _TEMPORALS) and isinstance(canonical, _TEMPORALS):
        return _temporal_builder(wire, canonical, target, time_zone)
    match wire, canonical:
        case EnumType(), EnumType():
            return enum_builder(wire, canonical, target)
        case SetType(), SetType():
            return set_builder(wire, canonical, target)
        case VectorType(), VectorType():
            return _vectors(target)
        case (JsonType() | TextType(), JsonType()):
            return _json()
        case (StructType() | MapType(TextType()), JsonType()):
            return through(partial(_document_text, wire), _json())
        case (TextType() | BytesType(), TextType() | BytesType() | UnknownType()):
            return plain(target)
        case IntervalType(ours), IntervalType(theirs):
            if (ours, theirs) == ("text", "us"):
                return through(period_count, plain(target))
            return plain(target) if ours == theirs else None
        case UnknownType(), _:
            return plain(target) if isinstance(canonical, UnknownType) else _only_nulls(target)
        case TextType(), EnumType() | SetType() if canonical.labels is not None:
            return _builder(replace(canonical, form="label"), canonical, target, time_zone)
        case TextType(), DateType() | TimeType() | DatetimeType() | TimestampType() if (
            pa.types.is_string(target)
        ):
            return partial(free_texts, canonical=canonical, time_zone=time_zone)
        case _, TextType():
            return _to_text(wire, target, time_zone)
        case TextType(), _:
            build = _builder(canonical, canonical, target, time_zone)
            return None if build is None else through(_parser(canonical), build)
        case ArrayType(), ArrayType():
            return _arrays(wire, canonical, target, time_zone)
        case MapType(), MapType():
            return _maps(wire, canonical, target, time_zone)
        case StructType(), StructType():
            return _structs(wire, canonical, target, time_zone)
        case _:
            return None


def _temporal_builder(
    wire: TemporalType, canonical: TemporalType, target: pa.DataType, time_zone: str
) -> Build | None:
    if not _may_become(wire, canonical):
        return None
    texts = texts_maker(wire, canonical, time_zone)
    column = column_maker(canonical, target)
    return lambda values: column(texts(values))


def _may_become(wire: TemporalType, canonical: TemporalType) -> bool:
    match wire, canonical:
        case TimeType(), TimeType():
            return wire.zone == canonical.zone
        case DatetimeType(), TimestampType():
            return True
        case TimestampType(), DatetimeType():
            return wire.zone is None
        case _:
            return type(wire) is type(canonical)


def _vectors(target: pa.DataType) -> Build:
    def build(values: Values) -> pa.Array:
        items = [read_vector(value) if isinstance(value, str) else value for value in values]
        return pa.array(items, target)

    return build


def _json() -> Build:
    normaliser = JsonNormaliser()
    return lambda values: normaliser.array(pa.array(values, pa.string()))


def _only_nulls(target: pa.DataType) -> Build:
    def build(values: Values) -> pa.Array:
        if any(value is not None for value in values):
            raise ValueError("a value of unknown type")
        return pa.nulls(len(values), target)

    return build


def _to_text(wire: Type, target: pa.DataType, time_zone: str) -> Build | None:
    """Build the text of any kind of one value: text meets it by that."""
    match wire:
        case DateType() | TimeType() | DatetimeType() | TimestampType():
            return _temporal_builder(wire, wire, target, time_zone)
        case EnumType():
            return enum_builder(wire, wire, target) or through(str, plain(target))
        case SetType():
            return set_builder(wire, wire, target) or through(str, plain(target))
        case ArrayType() | MapType() | StructType() | UnknownType():
            return None
        case _:
            return through(lambda value: _text(wire, value), plain(target))


def _document(kind: Type, value: Any) -> Any:
    """Return a value as JSON has it; bytes, dates and the like are texts."""
    if value is None or isinstance(kind, BoolType):
        return value
    match kind:
        case StructType():
            pairs = ((column.name, _document(column.type, item)) for column, item in value.pairs)
            return dict(pairs)
        case MapType(TextType(), item):
            return {key: _document(item, each) for key, each in value}
        case ArrayType(item):
            return [_document(item, each) for each in value]
        case IntType() | YearType():
            return value
        case DecimalType(scale=0):
            return int(value)
        case FloatType() if isfinite(value):
            return value
        case _:
            return _text(kind, value)


def _document_text(kind: Type, value: Any) -> str:
    return dumps(_document(kind, value), ensure_ascii=False)


def _text(kind: Type, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(kind, NUMBER_TYPES) and not isinstance(value, (bool, float)):
        return plain_digits(value)
    return str(value_members(kind, value)["value"])


def _parser(kind: Type) -> Any:
    return lambda text: typed_value(kind, {"value": text}, ())[1]


def _arrays(wire: ArrayType, canonical: ArrayType, target: Any, time_zone: str) -> Build:
    items = column_builder(wire.item, canonical.item, target.value_type, time_zone).build

    def build(values: Values) -> pa.Array:
        flat = items([item for value in values if value is not None for item in value])
        return pa.ListArray.from_arrays(_offsets(values), flat, type=target)

    return build


def _maps(wire: MapType, canonical: MapType, target: Any, time_zone: str) -> Build:
    keys = column_builder(wire.key, canonical.key, target.key_type, time_zone).build
    items = column_builder(wire.value, canonical.value, target.item_type, time_zone).build

    def build(values: Values) -> pa.Array:
        pairs = [pair for value in values if value is not None for pair in value]
        return pa.MapArray.from_arrays(
            _offsets(values), keys([k for k, _ in pairs]), items([v for _, v in pairs]), type=target
        )

    return build


def _offsets(values: Values) -> pa.Array:
    """Return where each list begins; NULL where there is none."""
    sizes = (0 if value is None else len(value) for value in values)
    starts = list(accumulate(sizes, initial=0))
    known: list[int | None] = [
        None if value is None else start for value, start in zip(values, starts, strict=False)
    ]
    return pa.array([*known, starts[-1]], pa.int32())


def _structs(wire: StructType, canonical: StructType, target: Any, time_zone: str) -> Build | None:
    kinds = {column.name: column.type for column in wire.columns}
    builders = {
        column.name: column_builder(
            kinds[column.name], column.type, target.field(column.name).type, time_zone
        ).build
        for column in canonical.columns
        if column.name in kinds
    }
    if set(builders) != set(kinds):
        return None

    def member(image: Image | None, name: str) -> Any:
        if image is None:
            return None
        if not isinstance(image, Image):
            raise ValueError("a struct without members")
        return image[name] if name in image else None  # noqa: SIM401

    def build(values: Values) -> pa.Array:
        arrays = [
            builders[field.name]([member(value, field.name) for value in values])
            if field.name in builders
            else pa.nulls(len(values), field.type)
            for field in target
        ]
        mask = pa.array([value is None for value in values], pa.bool_())
        return pa.StructArray.from_arrays(arrays, fields=list(target), mask=mask)

    return build


def _array_builder(
    wire: Type, canonical: Type, target: pa.DataType, time_zone: str, build: Build
) -> Finish:
    """Return what turns an array in the wire's own type into the canonical column.

    Kinds without a direct conversion here go through values, so that both ways mean the same.
    ``build``: the same for values. The function raises what ``build`` may raise.
    """
    match wire, canonical:
        case (IntType() | YearType() | BitType(), IntType() | YearType() | BitType()):
            is_whole = pa.types.is_integer(target) or target == UNSIGNED_64
            if is_whole and not wraps(wire, canonical):
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
                return column_maker(canonical, target)
    if isinstance(wire, TextType):
        return lambda array: build(array.cast(pa.string()).to_pylist())
    return lambda array: build(array.to_pylist())


def _by_distinct_values(build: Build) -> Finish:
    def finish(array: pa.Array) -> pa.Array:
        encoded = array.dictionary_encode()
        return build(encoded.dictionary.to_pylist()).take(encoded.indices)

    return finish
