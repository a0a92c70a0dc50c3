"""Connect's types as kinds of the neutral model, and their values.

A value stays in the form it travels in: a count stays a count. The column's ``source`` keeps the
logical name, so that the way back finds the same schema. Only what the model has a class for is
turned into it: Decimal, the number of a bit string, Image for a struct.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache, partial
from typing import TypeAlias

from cdcwire.connect import types
from cdcwire.connect.bounds import DEFINITIONS, ConversionError, check_bounds, refuse_time
from cdcwire.connect.labels import declared_label, declared_labels, read_labels
from cdcwire.connect.scalars import MAX_DECIMAL_BYTES, decimal_of, read_digits
from cdcwire.connect.schema import INT_BITS, NO_DEFAULT, TIDB_TYPE, MadeOfSchemas, Schema
from cdcwire.connect.style import as_it_is
from cdcwire.connect.unavailable import unavailable_values
from cdcwire.model import kinds
from cdcwire.model.events import Image
from cdcwire.model.instants import UTC, fixed_offset, utc_text, utc_time_text
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import ABSENT, UNAVAILABLE, Column, Value
from cdcwire.mysql.values import is_vector_text, read_vector

Convert: TypeAlias = Callable[[Value], Value]

# With the name of the items or values, the source of a column.
ARRAY_OF, MAP_OF, REQUIRED = "array of ", "map of ", "required "
_LOGICAL = "connect: logical types"
_HEX = re.compile("(?:[0-9a-fA-F]{2})*")
_INSTANTS = "connect: instants"
_INSTANT = kinds.TimestampType()  # the text has to say its offset
DECIMAL_TEXT_PATTERN = r"-?[0-9]+(?:\.[0-9]+)?(?:E-[0-9]{1,3})?"
"""Decimals as Debezium's texts have them; with an exponent before 1.9, as of Java's BigDecimal."""
_SENT_DECIMAL = re.compile(DECIMAL_TEXT_PATTERN)
_PLAIN_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_TIMESTAMP_TEXT = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d{1,9}))?)?"
    r"(?:Z|([+-]\d\d)(?::?(\d\d))?)?",
    re.ASCII,
)
_UTC_TEXT = re.compile(
    r"(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?)Z", re.ASCII
)
_COUNT_TEXT = re.compile(r"-?[0-9]{1,19}")
_EPOCH = datetime.fromisoformat("1970-01-01")  # without zone, as the texts are

_TIME_IN_UTC = kinds.TimeType(form="text", zone=UTC)
_NAMED: dict[str, tuple[str, kinds.Type]] = {
    types.CONNECT_DATE: ("int32", kinds.DateType("d")),
    types.DATE: ("int32", kinds.DateType("d")),
    types.CONNECT_TIME: ("int32", kinds.TimeType(form="ms")),
    types.TIME: ("int32", kinds.TimeType(form="ms")),
    types.MICRO_TIME: ("int64", kinds.TimeType(form="us")),
    types.NANO_TIME: ("int64", kinds.TimeType(form="ns")),
    types.CONNECT_TIMESTAMP: ("int64", kinds.DatetimeType(form="ms")),
    types.TIMESTAMP: ("int64", kinds.DatetimeType(form="ms")),
    types.MICRO_TIMESTAMP: ("int64", kinds.DatetimeType(form="us")),
    types.NANO_TIMESTAMP: ("int64", kinds.DatetimeType(form="ns")),
    types.MICRO_DURATION: ("int64", kinds.IntervalType("us")),
    types.YEAR: ("int32", kinds.YearType()),
    types.ZONED_TIMESTAMP: ("string", kinds.TimestampType(form="text", zone=UTC)),
    types.ZONED_TIME: ("string", _TIME_IN_UTC),
    types.ISO_DATE: ("string", kinds.DateType()),
    types.ISO_TIME: ("string", kinds.TimeType()),
    types.ISO_TIMESTAMP: ("string", kinds.DatetimeType()),
    types.INTERVAL: ("string", kinds.IntervalType("text")),
    types.JSON: ("string", kinds.JsonType()),
    types.TIDB_VECTOR: ("string", kinds.VectorType()),
    types.ONE_BIT: ("boolean", kinds.BitType(1)),
    types.UNTOLD_TIME: ("int64", kinds.TimeType(form="us")),
    types.TINY_BOOLEAN: ("boolean", kinds.BoolType()),
    types.UNTYPED: ("string", kinds.UnknownType()),
    types.UNSIGNED_64: ("int64", kinds.IntType(64, unsigned=True)),
}


@lru_cache(maxsize=1024)
def kind_of(schema: Schema) -> kinds.Type:
    """Return the kind that a schema means. A name that is not known leaves its base type."""
    name = schema.name
    if name in _NAMED and _NAMED[name][0] == schema.type:
        return _NAMED[name][1]
    if _wraps(schema):
        return kinds.IntType(64, unsigned=True)
    match schema.type:
        case "int8" | "int16" | "int32" | "int64":
            bits: dict[int, kinds.IntBits] = {8: 8, 16: 16, 32: 32, 64: 64}
            return kinds.IntType(bits[INT_BITS[schema.type]])
        case "float":
            return kinds.FloatType(32)
        case "double":
            return kinds.FloatType(64)
        case "boolean":
            return kinds.BoolType()
        case "string":
            return _string_kind(schema)
        case "bytes":
            return _bytes_kind(schema)
        case "array":
            return kinds.ArrayType(kind_of(schema.items or Schema("string")))
        case "map":
            return kinds.MapType(
                kind_of(schema.keys or Schema("string")), kind_of(schema.values or Schema("string"))
            )
        case _:
            if types.is_variable_scale(schema):
                return kinds.DecimalType()
            return kinds.StructType(columns_of(schema))


def _wraps(schema: Schema) -> bool:
    """Return whether an int64 is the bits of an unsigned one, as its source type says."""
    if schema.type != "int64" or schema.name not in (None, types.UNSIGNED_64):
        return False
    source = schema.parameter(types.SOURCE_TYPE) or ""
    return schema.name == types.UNSIGNED_64 or source.upper().startswith("BIGINT UNSIGNED")


def named_kind(name: str | None) -> kinds.Type | None:
    """Return the kind that a logical name means on its own base type; None for other names."""
    return _NAMED[name][1] if name in _NAMED else None


@lru_cache(maxsize=512)
def columns_of(schema: Schema) -> tuple[Column, ...]:
    """Return the fields of a struct as columns."""
    return tuple(column_of(field.name, field.schema) for field in schema.fields)


def column_of(name: str, schema: Schema) -> Column:
    """Return a field of a struct as a column of the neutral model."""
    default = ABSENT
    if schema.default is not NO_DEFAULT:
        default = model_converter(schema, "")(schema.default)
    return Column(name, kind_of(schema), source_of(schema), schema.optional, default)


def source_of(schema: Schema) -> str:
    """Return the type's name as a column keeps it, with that of items or values if they have one.

    The items of an array that itself has a name are what the name says. TiCDC's type counts first.
    """
    inner = schema.items if schema.type == "array" else schema.values
    if schema.name is not None or inner is None:
        return schema.parameter(TIDB_TYPE) or schema.name or schema.type
    found = source_of(inner)
    if found == inner.type and inner.optional:
        return schema.type
    of = ARRAY_OF if schema.type == "array" else MAP_OF
    return f"{of}{'' if inner.optional else REQUIRED}{found}"


def image_of(
    schema: Schema, values: tuple[Value, ...], placeholder: str, only: frozenset[str] | None = None
) -> Image:
    """Return a struct's values as a row state; ``only``: the columns that are wanted.

    ``placeholder``: the text that stands for a value which the producer did not have; "" for none.
    Raises: ConversionError.
    """
    columns, converters = _PLANS.get(schema, placeholder)
    pairs = zip(converters, values, strict=True)
    try:
        row = [v if v is None or convert is None else convert(v) for convert, v in pairs]
    except ConversionError:
        _convert_by_name(columns, converters, values)
        raise
    image = Image(columns, tuple(row))
    return image if only is None else image.only(only)


def _convert_by_name(
    columns: tuple[Column, ...], converters: tuple[Convert | None, ...], values: tuple[Value, ...]
) -> None:
    """Raise the error of a value with the name of its column."""
    for column, convert, value in zip(columns, converters, values, strict=True):
        if value is not None and convert is not None:
            try:
                convert(value)
            except ConversionError as error:
                raise error.under(column.name) from error


def _plan(
    schema: Schema, placeholder: str
) -> tuple[tuple[Column, ...], tuple[Convert | None, ...]]:
    converters = []
    for field in schema.fields:
        convert = _CONVERTERS.get(field.schema, placeholder)
        converters.append(None if convert is as_it_is else convert)
    return columns_of(schema), tuple(converters)


_PLANS = MadeOfSchemas(_plan)


def _string_kind(schema: Schema) -> kinds.Type:
    if types.is_cdc_decimal(schema.name):
        return kinds.DecimalType()
    if types.is_cdc_timestamp(schema.name):
        return kinds.DatetimeType()
    if schema.name in (types.DECIMAL_TEXT, types.INTEGER_TEXT):
        return parse_kind(schema.parameter(types.DEFINED) or "decimal")
    if schema.name is not None and schema.name.startswith(types.BYTES_TEXT):
        return kinds.BytesType()
    if schema.name in (types.ENUM, types.ENUM_SET):
        allowed = schema.parameter("allowed")
        labels = None if allowed is None else read_labels(allowed)
        return (
            kinds.EnumType(labels, "label")
            if schema.name == types.ENUM
            else kinds.SetType(labels, "label")
        )
    return kinds.TextType()


def _bytes_kind(schema: Schema) -> kinds.Type:
    if schema.name == types.CONNECT_DECIMAL:
        defined = parse_kind(schema.parameter(types.DEFINED) or "decimal")
        if isinstance(defined, kinds.IntType):
            return defined
        precision = schema.parameter("connect.decimal.precision")
        digits = int(precision) if precision and re.fullmatch("[0-9]{1,6}", precision) else None
        return kinds.DecimalType(digits, types.decimal_scale(schema))
    if schema.name == types.BITS:
        length = schema.parameter("length")
        is_number = length is not None and re.fullmatch("[0-9]{1,10}", length) is not None
        return kinds.BitType(int(length) if length is not None and is_number else None)
    return kinds.BytesType()


def model_converter(schema: Schema, placeholder: str) -> Callable[[Value], Value]:
    """Return what turns a value of the wire, not None, into one of the model."""
    return _guarded(_converter(schema), unavailable_values(schema, placeholder))


_CONVERTERS = MadeOfSchemas(model_converter)  # columns of inferred structs share them


def _converter(schema: Schema) -> Convert:
    if schema.name in (types.ENUM, types.ENUM_SET) and "\\" in (schema.parameter("allowed") or ""):
        declared = declared_label if schema.name == types.ENUM else declared_labels
        return partial(declared, frozenset(read_labels(schema.parameter("allowed") or "")))
    if schema.parameter(types.DEFINED) is not None:
        return _bounded(schema)
    if _wraps(schema):
        return lambda value: value & ((1 << 64) - 1)
    if schema.type == "string" and (schema.name or "").startswith(types.BYTES_TEXT):
        return partial(_read_bytes, (schema.name or "").removeprefix(types.BYTES_TEXT))
    if types.is_cdc_decimal(schema.name) and schema.type == "string":
        return read_decimal_text
    if types.is_cdc_timestamp(schema.name) and schema.type == "string":
        return read_timestamp_text
    if schema.name == types.ZONED_TIMESTAMP and schema.type == "string":
        return read_instant_text
    if schema.name == types.ZONED_TIME and schema.type == "string":
        return _zoned_time
    if schema.name == types.UNTOLD_TIME:
        return refuse_time
    if schema.name == types.TIDB_VECTOR and schema.type == "string":
        return _vector
    if schema.type == "bytes" and schema.name == types.BITS:
        return _bits
    if schema.type == "boolean" and schema.name == types.ONE_BIT:
        return int
    if schema.type == "array" and schema.items is not None:
        return _array(model_converter(schema.items, ""))
    if schema.type == "map" and schema.keys is not None and schema.values is not None:
        return _map(model_converter(schema.keys, ""), model_converter(schema.values, ""))
    if schema.type == "struct":
        if types.is_variable_scale(schema):
            return _variable_scale(schema)
        return lambda value: image_of(schema, value, "")
    return as_it_is


def _bounded(schema: Schema) -> Convert:
    """Return what refuses values that the definition of a column can't hold."""
    kind = parse_kind(schema.parameter(types.DEFINED) or "")
    convert: Convert = as_it_is
    if schema.name in (types.DECIMAL_TEXT, types.INTEGER_TEXT):
        convert = read_digits if isinstance(kind, kinds.IntType) else _sent_decimal
    elif schema.name == types.BITS:
        convert = _bits
    elif (schema.name or "").startswith(types.BYTES_TEXT):
        convert = partial(_read_bytes, (schema.name or "").removeprefix(types.BYTES_TEXT))
    elif isinstance(kind, kinds.IntType):
        convert = int
    is_ambiguous = schema.parameter(types.AMBIGUOUS) is not None and schema.type == "bytes"

    def checked(value: Value) -> Value:
        found = convert(value)
        check_bounds(kind, found, is_ambiguous=is_ambiguous)
        return found

    return checked


def _vector(value: Value) -> tuple[float, ...]:
    if not isinstance(value, str) or not is_vector_text(value):
        raise ConversionError(f"{value!r:.40} is not a vector", _LOGICAL)
    return read_vector(value)


def _guarded(convert: Convert, unavailable: tuple[Value, ...]) -> Convert:
    """Return ``convert`` that knows the values which stand for no value."""
    if not unavailable:
        return convert
    if len(unavailable) == 1:
        (only,) = unavailable
        if convert is as_it_is:
            return lambda value: UNAVAILABLE if value == only else value
        return lambda value: UNAVAILABLE if value == only else convert(value)
    return lambda value: UNAVAILABLE if value in unavailable else convert(value)


def _array(convert: Convert) -> Convert:
    if convert is as_it_is:
        return as_it_is

    def converted(value: Value) -> Value:
        items = []
        for index, item in enumerate(value):
            try:
                items.append(None if item is None else convert(item))
            except ConversionError as error:
                raise error.under(index) from error
        return tuple(items)

    return converted


def _map(key: Convert, item: Convert) -> Convert:
    def convert(value: Value) -> Value:
        return tuple(
            (None if k is None else key(k), None if v is None else item(v)) for k, v in value
        )

    return convert


def _read_bytes(mode: str, text: str) -> bytes:
    """Return the bytes of a text in one of the modes of binary columns."""
    try:
        if mode == "hex":
            if not _HEX.fullmatch(text):
                raise ValueError(f"{text!r:.40} is not hexadecimal")
            return bytes.fromhex(text)
        altchars = b"-_" if mode == "base64-url-safe" else None
        return b64decode(text, altchars, validate=True)
    except ValueError as error:
        problem = f"{text!r:.40} is not {mode}; check binary-handling-mode"
        raise ConversionError(problem, DEFINITIONS) from error


def _zoned_time(text: str) -> Value:
    """Return a time of day in UTC."""
    return text if text.endswith("Z") else utc_time_text(_TIME_IN_UTC, text)


def _bits(value: bytes) -> int:
    """Read a bit string: the lowest bits come first."""
    return int.from_bytes(value, "little")


def _variable_scale(schema: Schema) -> Convert:
    scale_at, value_at = schema.index("scale"), schema.index("value")
    assert scale_at is not None  # is_variable_scale has seen to both
    assert value_at is not None

    def convert(value: Value) -> Value:
        scale, unscaled = value[scale_at], value[value_at]
        if unscaled is None or scale is None:
            return None
        if not unscaled or len(unscaled) > MAX_DECIMAL_BYTES or abs(scale) > types.MAX_SCALE:
            problem = f"a decimal of {len(unscaled)} bytes and scale {scale} can't be"
            raise ConversionError(problem, "connect: decimal values")
        return decimal_of(unscaled, scale)

    return convert


def _sent_decimal(text: str) -> Decimal | str:
    return Decimal(text) if _SENT_DECIMAL.fullmatch(text) else read_decimal_text(text)


def read_decimal_text(text: str) -> Decimal | str:
    """Return a plain number as such; any other text stays text."""
    return Decimal(text) if _PLAIN_NUMBER.fullmatch(text) else text


def read_timestamp_text(text: str) -> str:
    """Return a date and time as ``yyyy-MM-dd HH:mm:ss[.fff]``, in UTC where a zone is given.

    Read are that form, ISO 8601, and a run of digits as milliseconds since 1970.
    Raises: ConversionError.
    """
    found = _TIMESTAMP_TEXT.fullmatch(text)
    try:
        if found is not None:
            date, clock, seconds, fraction, hours, minutes = found.groups()
            moment = datetime.fromisoformat(f"{date}T{clock}{seconds or ':00'}")
            offset = fixed_offset(f"{hours}:{minutes or '00'}") if hours else 0
            if offset is None:
                raise ValueError("an offset of more than 18 hours")
            whole = (moment - timedelta(seconds=offset)).isoformat(" ")
            return f"{whole}.{fraction}" if fraction else whole
        if _COUNT_TEXT.fullmatch(text):
            milliseconds = int(text)
            moment = _EPOCH + timedelta(milliseconds=milliseconds)
            whole = moment.replace(microsecond=0).isoformat(" ")
            return f"{whole}.{milliseconds % 1000:03d}"
    except (ValueError, OverflowError) as error:
        raise ConversionError(
            f"{text!r:.40} is not a date and time of the calendar", _LOGICAL
        ) from error
    raise ConversionError(f"{text!r:.40} is not a date and time", _LOGICAL)


def read_instant_text(text: str) -> str:
    """Return the canonical text of an instant that is sent in ISO 8601 with its offset.

    Raises: ConversionError for any other text but an infinity.
    """
    found = _UTC_TEXT.fullmatch(text)
    try:
        if found is not None:
            date.fromisoformat(found[1])  # a day of the calendar, from the year 1 on
            return f"{found[1]} {found[2]}"
    except ValueError:
        pass
    try:
        return utc_text(_INSTANT, text)
    except ValueError as error:
        raise ConversionError(str(error), _INSTANTS) from error
