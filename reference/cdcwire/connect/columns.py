"""Columns of the neutral model as Connect schemas, in the way of one producer.

A column that came from Connect keeps its logical name, unless the producer has another one for it.
Other kinds take the name that the producer uses; what it has no form for is a string of its text.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache, partial
from math import isfinite

from cdcwire.connect import times, types
from cdcwire.connect.labels import escaped_label, write_labels
from cdcwire.connect.logical import ARRAY_OF, MAP_OF, REQUIRED, kind_of
from cdcwire.connect.scalars import hstore_json, unscaled_bytes
from cdcwire.connect.schema import ConnectType, Field, Schema
from cdcwire.connect.style import ColumnPlan, Convert, Style, as_it_is, cdc_schema
from cdcwire.connect.times import is_other_time, temporal_plan
from cdcwire.connect.types import declared_spatial
from cdcwire.connect.unavailable import unavailable_values
from cdcwire.connect.values import write_value
from cdcwire.core.errors import EncodeError, step
from cdcwire.golang import float_text
from cdcwire.model import kinds
from cdcwire.model.events import Expression, Image
from cdcwire.model.floats import is_float32
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import ABSENT, UNAVAILABLE, Column, Value
from cdcwire.model.text import TextFormError
from cdcwire.model.text.values import value_from_json

KINDS = times.KINDS


def plan_column(column: Column, style: Style) -> ColumnPlan:
    """Return schema and conversion of a column. Raises: EncodeError for a kind without form."""
    plan = _plan_without_default(column.type, column.source, column.nullable is not False, style)
    default = column.default
    if not style.with_defaults or default in (ABSENT, None) or isinstance(default, Expression):
        return plan
    with step("default"):
        value = plan.convert(_default_value(column.type, default))
    return replace(plan, schema=replace(plan.schema, default=value))


def _default_value(kind: kinds.Type, default: Value) -> Value:
    """Return a default as a value of its kind; definitions of other formats have its text."""
    if not isinstance(default, str):
        return default
    try:
        return value_from_json(default, kind)[1]
    except TextFormError as error:
        raise EncodeError(f"{default!r:.40} is not a {kind_text(kind):.40}", KINDS) from error


# Defaults stay outside: 1.0 and 1.00, or 0.0 and -0.0, are equal and written differently.
@lru_cache(maxsize=2048)
def _plan_without_default(
    kind: kinds.Type, source: str | None, is_optional: bool, style: Style
) -> ColumnPlan:
    plan = _plan(kind, source, style)
    schema = replace(plan.schema, optional=is_optional)
    reserved = unavailable_values(schema, style.placeholder)
    return ColumnPlan(schema, _with_placeholder(reserved, plan.convert), reserved)


def struct_of(columns: tuple[Column, ...], style: Style, name: str | None = None) -> Schema:
    """Return the struct of some columns. Raises: EncodeError."""
    fields = []
    for column in columns:
        with step(column.name):
            fields.append(Field(column.name, plan_column(column, style).schema))
    return Schema("struct", True, name, fields=tuple(fields))


def row_of(image: Image, style: Style) -> tuple[Value, ...]:
    """Return the wire's values of a row state. Raises: EncodeError."""
    values = []
    for column, value in image.pairs:
        with step(column.name):
            plan = plan_column(column, style)
            converted = None if value is None else plan.convert(value)
            write_value(plan.schema, converted)  # so that the column is named if it does not fit
            values.append(converted)
    return tuple(values)


def _plan(kind: kinds.Type, source: str | None, style: Style) -> ColumnPlan:
    kept = _kept_name(kind, source, style)
    if kept is not None:
        return ColumnPlan(kept, as_it_is)
    match kind:
        case kinds.BoolType() if style.numbers != "exact" and (source or "").startswith("tinyint"):
            return ColumnPlan(Schema("int8" if style.numbers == "tiny" else "int16"), int)
        case kinds.BoolType():
            return ColumnPlan(Schema("boolean"), as_it_is)
        case kinds.IntType(8, unsigned=False) if style.numbers in ("wide", "widest"):
            return replace(_integer_plan(kind, source, style), schema=Schema("int16"))
        case kinds.IntType():
            return _integer_plan(kind, source, style)
        case kinds.YearType():
            return ColumnPlan(Schema("int32", name=types.YEAR, version=1), as_it_is)
        case kinds.FloatType(32) if style.numbers == "widest" or _is_float_of_digits(source, style):
            return ColumnPlan(Schema("double"), _as_float32)
        case kinds.FloatType(bits):
            return ColumnPlan(Schema("float" if bits == 32 else "double"), as_it_is)
        case kinds.DecimalType():
            return _decimal_plan(kind, source, style)
        case kinds.TextType() if source in _TEXT_NAMES and not style.is_cdl:
            return ColumnPlan(Schema("string", name=_TEXT_NAMES[source], version=1), as_it_is)
        case kinds.TextType():
            return ColumnPlan(Schema("string"), as_it_is)
        case kinds.JsonType() if style.has_plain_json:
            return ColumnPlan(Schema("string"), as_it_is)
        case kinds.JsonType():
            return ColumnPlan(Schema("string", name=types.JSON, version=1), as_it_is)
        case kinds.VectorType():
            return ColumnPlan(Schema("string"), _vector_text)
        case kinds.BytesType():
            return _bytes_plan(style)
        case kinds.BitType(length):
            is_boolean = length == 1 and source != types.BITS
            return (
                ColumnPlan(Schema("boolean"), _one_bit) if is_boolean else _bit_plan(length, style)
            )
        case kinds.EnumType() | kinds.SetType():
            return _label_plan(kind, style)
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return temporal_plan(kind, style)
        case kinds.IntervalType(form):
            if form == "us" and style.intervals == "numeric":
                return ColumnPlan(Schema("int64", name=types.MICRO_DURATION, version=1), as_it_is)
            convert = times.interval_text if form == "us" else as_it_is
            return ColumnPlan(Schema("string", name=types.INTERVAL, version=1), convert)
        case kinds.ArrayType() | kinds.MapType() | kinds.StructType():
            return _container_plan(kind, source, style)
        case kinds.UnknownType():
            spatial = None if style.is_cdl else declared_spatial(source)
            return ColumnPlan(spatial or Schema("string"), _refuse_unknown)


def _is_float_of_digits(source: str | None, style: Style) -> bool:
    """Return whether a type is MySQL's FLOAT(m,d), which its connectors send as a double."""
    return not style.is_cdl and _FLOAT_OF_DIGITS.match(source or "") is not None


def _as_float32(value: Value) -> Value:
    write_value(Schema("float"), value)  # as it is, if it has 32 bits
    return value


# Types of the database that have a name of their own in messages.
_TEXT_NAMES: dict[str | None, str] = {
    "uuid": types.UUID_TEXT,
    "xml": types.XML_TEXT,
    "xmltype": types.XML_TEXT,
    "ltree": types.LTREE_TEXT,
}
_FLOAT_OF_DIGITS = re.compile(r"float\s*\(\s*\d+\s*,\s*\d+\s*\)", re.IGNORECASE)
# Names that mean the base type's value to the model, and that a producer writes as they are.
_NAMED_BASES: dict[type[kinds.Type], ConnectType] = {
    kinds.TextType: "string",
    kinds.BytesType: "bytes",
    kinds.BoolType: "boolean",
}
_NAMES: dict[str, ConnectType] = {
    types.CONNECT_DATE: "int32",
    types.DATE: "int32",
    types.CONNECT_TIME: "int32",
    types.TIME: "int32",
    types.MICRO_TIME: "int64",
    types.NANO_TIME: "int64",
    types.CONNECT_TIMESTAMP: "int64",
    types.TIMESTAMP: "int64",
    types.MICRO_TIMESTAMP: "int64",
    types.NANO_TIMESTAMP: "int64",
    types.MICRO_DURATION: "int64",
    types.YEAR: "int32",
    types.ZONED_TIME: "string",
    types.ISO_DATE: "string",
    types.ISO_TIME: "string",
    types.ISO_TIMESTAMP: "string",
    types.INTERVAL: "string",
    types.JSON: "string",
}


def _kept_name(kind: kinds.Type, source: str | None, style: Style) -> Schema | None:
    """Return the schema of a column that is written as it came; None if there is another one."""
    if source is None or not source.startswith(("io.debezium.", "org.apache.kafka.connect.")):
        return None
    if style.is_cdl and isinstance(kind, kinds.DatetimeType):
        return None
    if source == types.JSON and style.has_plain_json:
        return None
    if source == types.ZONED_TIMESTAMP:
        return None  # its text has another form here than in the model
    if source in _NAMES:
        schema = Schema(_NAMES[source], name=source, version=1)
        same = kind_of(schema) == kind
        return schema if same and not _goes_by_mode(kind, source, style) else None
    base = _NAMED_BASES.get(type(kind))
    if base is None or source in (
        types.CONNECT_DECIMAL,
        types.VARIABLE_SCALE_DECIMAL,
        types.BITS,
        types.ENUM,
        types.ENUM_SET,
    ):
        return None
    if style.binary != "bytes" and base == "bytes":
        return None
    return Schema(base, name=source, version=1)


def _goes_by_mode(kind: kinds.Type, source: str, style: Style) -> bool:
    """Return whether the option for times asks for another form than the one that came."""
    if source == types.MICRO_DURATION:
        return style.intervals == "string"
    return is_other_time(kind, source, style)


def _with_placeholder(reserved: tuple[Value, ...], convert: Convert) -> Convert:
    """Return ``convert`` that writes an unavailable value, and refuses values that look like it."""

    def checked(value: Value) -> Value:
        if value is UNAVAILABLE:
            if not reserved:
                raise EncodeError("an unavailable value has no form here", KINDS)
            return reserved[0]
        found = convert(value)
        if found in reserved:
            problem = "the value is the placeholder of unavailable values; set another placeholder"
            raise EncodeError(problem, KINDS)
        return found

    return checked


def _refuse_unknown(value: Value) -> Value:
    raise EncodeError("a value of unknown type has no form here", KINDS)


_WIDER: dict[int, ConnectType] = {8: "int16", 16: "int32", 24: "int32", 32: "int64"}
_SIGNED: dict[int, ConnectType] = {
    8: "int8",
    16: "int16",
    24: "int32",
    32: "int32",
    64: "int64",
}


def _integer_plan(kind: kinds.IntType, source: str | None, style: Style) -> ColumnPlan:
    low, high = (
        (0, 1 << kind.bits) if kind.unsigned else (-(1 << kind.bits - 1), 1 << kind.bits - 1)
    )

    def checked(value: Value) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value < high:
            raise EncodeError(f"{value!r:.40} is out of the range of its kind", KINDS)
        return value

    if not kind.unsigned:
        if source == types.INTEGER_TEXT:
            return ColumnPlan(Schema("string"), lambda value: str(checked(value)))
        return ColumnPlan(Schema(_SIGNED[kind.bits]), checked)
    if kind.bits != 64:
        return ColumnPlan(Schema(_WIDER[kind.bits]), checked)
    if style.is_cdl:
        return ColumnPlan(cdc_schema(style, types.CDC_DECIMAL), lambda value: str(checked(value)))
    if style.unsigned == "string":
        return ColumnPlan(Schema("string"), lambda value: str(checked(value)))
    came_wrapped = source == "int64" or (style.unsigned, source) == ("as sent", types.UNSIGNED_64)
    if style.unsigned == "long" or (style.unsigned != "precise" and came_wrapped):
        return ColumnPlan(Schema("int64"), lambda value: _wrapped(checked(value)))
    pairs = [("scale", "0")]
    if style.unsigned == "precise":
        pairs.append(("connect.decimal.precision", "20"))
    schema = Schema("bytes", name=types.CONNECT_DECIMAL, version=1, parameters=tuple(pairs))
    return ColumnPlan(schema, lambda value: Decimal(checked(value)))


def _wrapped(value: int) -> int:
    """Return an unsigned integer of 64 bits as the signed one of the same bits."""
    return value - (1 << 64) if value >> 63 else value


def _decimal_plan(kind: kinds.DecimalType, source: str | None, style: Style) -> ColumnPlan:
    if style.is_cdl:
        return ColumnPlan(cdc_schema(style, types.CDC_DECIMAL), _decimal_text)
    if kind == style.precise_kind and source == types.CONNECT_DECIMAL:
        style = replace(style, decimals="precise")
    if style.decimals == "string":
        return ColumnPlan(Schema("string"), partial(_debezium_decimal_text, style.has_exponents))
    if style.decimals == "double":
        return ColumnPlan(Schema("double"), _decimal_double)
    scale = kind.scale
    if scale is None:
        fields = (Field("scale", Schema("int32")), Field("value", Schema("bytes")))
        name = types.VARIABLE_SCALE_DECIMAL
        schema = Schema("struct", name=name, version=1, doc=types.DOCS[name], fields=fields)
        return ColumnPlan(schema, _variable_scale)
    pairs = [("scale", str(scale))]
    if kind.precision is not None:
        pairs.append(("connect.decimal.precision", str(kind.precision)))
    schema = Schema("bytes", name=types.CONNECT_DECIMAL, version=1, parameters=tuple(pairs))
    return ColumnPlan(schema, lambda value: _checked_decimal(value, scale))


def _decimal_text(value: Value) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, Decimal):
        raise EncodeError(f"{value!r:.40} is not a decimal", KINDS)
    if value.is_finite() and abs(value.adjusted()) > types.MAX_SCALE * 8:
        raise EncodeError("the number has too many digits", KINDS)
    return f"{value:f}" if value.is_finite() else str(value)


def _debezium_decimal_text(has_exponents: bool, value: Value) -> str:
    text = _decimal_text(value)
    if text == "NaN":
        return "NAN"  # so the producer writes it
    return f"{value}" if has_exponents else text  # Python's text is that of BigDecimal.toString


def _decimal_double(value: Value) -> float:
    if not isinstance(value, Decimal):
        raise EncodeError(f"{value!r:.40} is not a decimal", KINDS)
    return float(value)


def _checked_decimal(value: Value, scale: int) -> Decimal:
    if not isinstance(value, Decimal):
        raise EncodeError(f"{value!r:.40} is not a decimal", KINDS)
    unscaled_bytes(value, scale, KINDS)
    return value


def _variable_scale(value: Value) -> tuple[int, bytes]:
    if not isinstance(value, Decimal) or not value.is_finite():
        raise EncodeError(f"{value!r:.40} is not a decimal with a scale", KINDS)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # the value is finite
    scale = -exponent  # negative for 5E+3, as old versions send it
    return scale, unscaled_bytes(value, scale, KINDS)


def _is_item(value: Value) -> bool:
    return isinstance(value, float) and isfinite(value) and is_float32(value)


def _vector_text(value: Value) -> str:
    if not isinstance(value, tuple) or not all(map(_is_item, value)):
        raise EncodeError(f"{value!r:.40} is not a vector", KINDS)
    return f"[{','.join(float_text(item, 32) for item in value)}]"


def _bytes_plan(style: Style) -> ColumnPlan:
    if style.binary == "bytes":
        return ColumnPlan(Schema("bytes"), as_it_is)
    texts: dict[str, Callable[[bytes], str]] = {
        "hex": bytes.hex,
        "base64": lambda raw: base64.b64encode(raw).decode(),
        "base64-url-safe": lambda raw: base64.urlsafe_b64encode(raw).decode(),
    }
    write = texts[style.binary]

    def text(value: Value) -> str:
        if not isinstance(value, bytes):
            raise EncodeError(f"{value!r:.40} is not bytes", KINDS)
        return write(value)

    return ColumnPlan(Schema("string"), text)


def _one_bit(value: Value) -> bool:
    if isinstance(value, bool) or value not in (0, 1):
        raise EncodeError(f"{value!r:.40} is not a bit", KINDS)
    return bool(value)


def _bit_plan(length: int | None, style: Style) -> ColumnPlan:
    parameters = None if length is None else (("length", str(length)),)

    def bits(value: Value) -> bytes:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise EncodeError(f"{value!r:.40} is not a bit string", KINDS)
        size = value.bit_length() if length is None else length
        if value.bit_length() > size:
            raise EncodeError(f"{value} has more than {size} bits", KINDS)
        is_whole = style.has_whole_bits and length != types.UNLIMITED_BITS
        sent = size if is_whole else value.bit_length()
        return value.to_bytes((sent + 7) // 8, "little")

    return ColumnPlan(Schema("bytes", name=types.BITS, version=1, parameters=parameters), bits)


def _label_plan(kind: kinds.EnumType | kinds.SetType, style: Style) -> ColumnPlan:
    labels = kind.labels
    name = types.ENUM if isinstance(kind, kinds.EnumType) else types.ENUM_SET
    escapes_all = style.labels != "least"
    parameters = None
    if labels is not None:
        parameters = (("allowed", write_labels(labels, escapes_all=escapes_all)),)

    def label(value: Value) -> str:
        if isinstance(value, str):
            return value
        if labels is None or not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise EncodeError(f"{value!r:.40} has no label that is known", KINDS)
        if isinstance(kind, kinds.EnumType):
            if value > len(labels):
                raise EncodeError(f"index {value} has no label", KINDS)
            return labels[value - 1] if value else ""
        if value >> len(labels):
            raise EncodeError(f"mask {value} has bits without label", KINDS)
        return ",".join(text for bit, text in enumerate(labels) if value >> bit & 1)

    schema = Schema("string", name=name, version=1, parameters=parameters)
    if style.labels != "sent" or not isinstance(kind, kinds.EnumType):
        return ColumnPlan(schema, label)
    return ColumnPlan(schema, lambda value: escaped_label(label(value)))


def _container_plan(
    kind: kinds.ArrayType | kinds.MapType | kinds.StructType, source: str | None, style: Style
) -> ColumnPlan:
    if isinstance(kind, kinds.ArrayType):
        name = source if source is not None and source.startswith("io.debezium.") else None
        inner, is_optional = _inner_source(source, ARRAY_OF)
        item = _plan(kind.item, inner, style)
        items = replace(item.schema, optional=is_optional and name is None)
        version = None if name is None else 1  # a vector: its items are required
        schema = Schema("array", name=name, version=version, items=items)
        return ColumnPlan(schema, _each(item.convert))
    if isinstance(kind, kinds.MapType):
        is_text = isinstance(kind.key, kinds.TextType) and isinstance(kind.value, kinds.TextType)
        if style.maps == "json" and is_text:
            return ColumnPlan(
                Schema("string", name=types.JSON, version=1),
                lambda value: hstore_json(_tuple(value)),
            )
        inner, is_optional = _inner_source(source, MAP_OF)
        key, entry = _plan(kind.key, None, style), _plan(kind.value, inner, style)
        schema = Schema("map", keys=key.schema, values=replace(entry.schema, optional=is_optional))
        return ColumnPlan(schema, _each_pair(key.convert, entry.convert))
    name = source if source is not None and source.startswith("io.debezium.") else None
    if name is not None:
        style = replace(style, binary="bytes")  # a type of its own, in no mode another
    style = replace(style, placeholder="")  # it replaces whole columns
    required = types.REQUIRED_FIELDS.get(name or "", {})
    columns = tuple(
        replace(each, nullable=False, source=each.source or required[each.name])
        if each.name in required and each.nullable is None
        else each
        for each in kind.columns
    )
    schema = struct_of(columns, style, name)
    if name is not None:
        schema = replace(schema, version=1, doc=types.DOCS.get(name))
    return ColumnPlan(schema, lambda value: _struct(value, style))


def _inner_source(source: str | None, of: str) -> tuple[str | None, bool]:
    """Return the name of an array's items or a map's values, and whether they are optional."""
    named = source.removeprefix(of) if source is not None and source.startswith(of) else ""
    return named.removeprefix(REQUIRED) or None, not named.startswith(REQUIRED)


def _each(convert: Convert) -> Convert:
    return lambda value: tuple(None if item is None else convert(item) for item in _tuple(value))


def _each_pair(key: Convert, entry: Convert) -> Convert:
    def converted(value: Value) -> Value:
        return tuple((key(k), None if v is None else entry(v)) for k, v in _tuple(value))

    return converted


def _tuple(value: Value) -> tuple[Value, ...]:
    if not isinstance(value, tuple):
        raise EncodeError(f"{value!r:.40} is not an array or map", KINDS)
    return value


def _struct(value: Value, style: Style) -> tuple[Value, ...]:
    if not isinstance(value, Image):
        raise EncodeError(f"{value!r:.40} is not a struct", KINDS)
    return row_of(value, style)
