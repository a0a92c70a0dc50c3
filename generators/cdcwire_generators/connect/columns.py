"""What becomes of columns and values in Kafka Connect's types, as CDL and Debezium write them.

Connect has signed integers, counts of days and of parts of a second, labels and decimals; a column
that came from Connect keeps its logical name. The rest goes as the next wider type, or as text.
"""

from __future__ import annotations

import base64
import json
import math
import re
from dataclasses import dataclass, replace
from decimal import MAX_PREC, Context, Decimal, InvalidOperation
from typing import Literal, TypeAlias

from cdcwire.golang.numbers import float_text, is_float32
from cdcwire.model.events import UNAVAILABLE, Column, Image, Value
from cdcwire.model.kind_text import kind_text
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
    IntBits,
    IntervalType,
    IntType,
    JsonType,
    MapType,
    SetType,
    StructType,
    TemporalForm,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    VectorType,
    YearType,
)
from cdcwire_generators.connect.times import (
    DAY,
    UTC,
    Convert,
    cdl_text,
    count_of,
    days,
    instant_text,
    iso_text,
    moment_text,
    of_type,
    period,
    text_value,
    within,
)
from cdcwire_generators.round_trip import NotCarriedError

Producer: TypeAlias = Literal["cdl 1.0", "cdl 2.0", "debezium"]

_CONNECT = "org.apache.kafka.connect.data."
_TIME = "io.debezium.time."
_DATA = "io.debezium.data."
_EXACT = Context(prec=MAX_PREC)
# Modes in which dates and times keep the names that they came by; the others have one form for all.
_KEEPING = ("adaptive", "adaptive_time_microseconds")
_ONE_UNIT: dict[str, TemporalForm] = {"microseconds": "us", "nanoseconds": "ns"}
_ISO: dict[type[Type], str] = {
    DateType: "IsoDate",
    TimeType: "IsoTime",
    DatetimeType: "IsoTimestamp",
}
# The next wider signed integer; above 64 bits there is none.
_WIDER: dict[int, IntBits] = {8: 16, 16: 32, 24: 32, 32: 64}


@dataclass(frozen=True, slots=True)
class Way:
    """How a producer writes columns. ``prefix``: what stands before ``.cdc.data``.

    ``decimals``, ``times``, ``binary``, ``intervals``, ``maps``: Debezium's modes. ``placeholder``:
    what stands for a value that is not at hand; "" where there is none.
    """

    producer: Producer
    prefix: str = "com.xxx"
    decimals: str = "precise"
    times: str = "adaptive"
    binary: str = "bytes"
    intervals: str = "numeric"
    maps: str = "map"
    placeholder: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """A column's kind and the name of its type as they come back, and what becomes of values."""

    type: Type
    source: str
    value: Convert


def sent_column(column: Column, way: Way) -> Column:
    """Return a column as it comes back. Roles stay behind: the key says which columns are in it."""
    told = sent(column.type, column.source, way)
    return Column(column.name, told.type, told.source, column.nullable is not False)


def sent_value(column: Column, value: Value, way: Way) -> Value:
    """Return a value, not NULL, as it comes back. Raises: NotCarriedError."""
    if value is not UNAVAILABLE:
        return sent(column.type, column.source, way).value(value)
    told = sent(column.type, column.source, way)
    is_text = told.source in ("string", "bytes") or _is_named_text(told)
    of_texts = isinstance(told.type, ArrayType) and _is_text(told.type.item)
    if way.placeholder and (is_text or of_texts):
        return UNAVAILABLE
    raise NotCarriedError("unavailable")


def _is_named_text(told: Sent) -> bool:
    """Return whether a type with a name is a string or bytes, and nothing but that."""
    is_text = isinstance(told.type, BytesType) or _is_text(told.type)
    return is_text and told.source.startswith(("io.debezium.", _CONNECT))


def _is_text(kind: Type) -> bool:
    """Return whether values are strings on the wire."""
    if isinstance(kind, (DateType, TimeType, DatetimeType, TimestampType, IntervalType)):
        return kind.form == "text"
    return isinstance(kind, (TextType, JsonType, EnumType, SetType))


def sent(kind: Type, source: str | None, way: Way) -> Sent:
    """Return what becomes of a column of this kind. Raises: NotCarriedError."""
    name = source if (source or "").startswith(("io.debezium.", _CONNECT)) else None
    match kind:
        case BoolType():
            return Sent(kind, name or "boolean", of_type(bool))
        case IntType():
            return _integer(kind, way)
        case YearType():
            return Sent(kind, f"{_TIME}Year", lambda value: within(value, 32, "year"))
        case FloatType(bits):
            return Sent(kind, "float" if bits == 32 else "double", _float(bits))
        case DecimalType():
            return _decimal(kind, way)
        case TextType():
            return Sent(TextType(), name or "string", text_value)
        case JsonType():
            return Sent(kind, f"{_DATA}Json", text_value)
        case VectorType():
            return Sent(TextType(), "string", _vector)
        case BytesType():
            return _bytes(name, way)
        case BitType(length):
            return Sent(kind, f"{_DATA}Bits", lambda value: _bits(value, length))
        case EnumType(labels) | SetType(labels):
            return _labelled(kind, labels)
        case DateType() | TimeType() | DatetimeType() | TimestampType():
            return _temporal(kind, name, way)
        case IntervalType("us") if way.intervals == "numeric":
            return Sent(kind, f"{_TIME}MicroDuration", lambda value: within(value, 64, "interval"))
        case IntervalType(form):
            convert = period if form == "us" else text_value
            return Sent(IntervalType("text"), f"{_TIME}Interval", convert)
        case ArrayType() | MapType() | StructType():
            return _container(kind, source, name, way)
        case UnknownType():
            return Sent(TextType(), "string", _refused("unknown"))


def _refused(what: str) -> Convert:
    def refuse(value: Value) -> Value:
        raise NotCarriedError(what)

    return refuse


def _integer(kind: IntType, way: Way) -> Sent:
    def number(value: Value) -> int:
        return within(value, kind.bits, kind_text(kind), unsigned=kind.unsigned)

    if not kind.unsigned:
        bits: IntBits = 32 if kind.bits == 24 else kind.bits
        return Sent(IntType(bits), f"int{bits}", number)
    if kind.bits != 64:
        bits = _WIDER[kind.bits]
        return Sent(IntType(bits), f"int{bits}", number)
    if way.producer == "debezium":
        whole = DecimalType(None, 0)
        return Sent(whole, f"{_CONNECT}Decimal", lambda value: Decimal(number(value)))
    return Sent(
        DecimalType(), f"{way.prefix}.cdc.data.Decimal", lambda value: Decimal(number(value))
    )


def _float(bits: int) -> Convert:
    def checked(value: Value) -> float:
        if not isinstance(value, float):
            raise NotCarriedError(f"float{bits}")
        if bits == 32 and math.isfinite(value) and not is_float32(value):
            raise NotCarriedError("float32")
        return value

    return checked


def _decimal(kind: DecimalType, way: Way) -> Sent:
    if way.producer != "debezium":
        return Sent(DecimalType(), f"{way.prefix}.cdc.data.Decimal", _decimal_or_text)
    if way.decimals == "string":
        return Sent(TextType(), "string", lambda value: _decimal_text(value))
    if way.decimals == "double":
        return Sent(FloatType(64), "double", lambda value: float(_number(value)))
    if kind.scale is None:
        return Sent(DecimalType(), f"{_DATA}VariableScaleDecimal", _plain_number)
    scale = kind.scale
    return Sent(kind, f"{_CONNECT}Decimal", lambda value: _with_scale(value, scale))


def _number(value: Value) -> Decimal:
    if not isinstance(value, Decimal):
        raise NotCarriedError("decimal")
    return value


def _decimal_text(value: Value) -> str:
    if isinstance(value, str):
        return text_value(value)
    number = _number(value)
    return f"{number:f}" if number.is_finite() else str(number)


def _decimal_or_text(value: Value) -> Value:
    text = _decimal_text(value)
    return Decimal(text) if re.fullmatch(r"[+-]?[0-9]*\.?[0-9]*", text) and text else text


def _plain_number(value: Value) -> Decimal:
    """Return a number with the scale that it has, and without a sign if it is zero."""
    number = _number(value)
    if not number.is_finite():
        raise NotCarriedError("decimal not finite")
    plain = Decimal(f"{number:f}")
    return plain if plain else abs(plain)


def _with_scale(value: Value, scale: int) -> Decimal:
    number = _plain_number(value)
    try:
        found = number.quantize(Decimal((0, (1,), -scale)), context=_EXACT)
    except InvalidOperation as error:
        raise NotCarriedError("decimal") from error
    if found != number:
        raise NotCarriedError("decimal")
    return found


def _vector(value: Value) -> str:
    if not isinstance(value, tuple) or not all(map(_is_item, value)):
        raise NotCarriedError("vector")
    return f"[{','.join(float_text(item, 32) for item in value)}]"


def _is_item(value: Value) -> bool:
    return isinstance(value, float) and math.isfinite(value) and is_float32(value)


def _bytes(name: str | None, way: Way) -> Sent:
    written: dict[str, Convert] = {
        "base64": lambda value: base64.b64encode(_raw(value)).decode(),
        "base64-url-safe": lambda value: base64.urlsafe_b64encode(_raw(value)).decode(),
        "hex": lambda value: _raw(value).hex(),
    }
    if way.binary in written:
        return Sent(TextType(), "string", written[way.binary])
    return Sent(BytesType(), name or "bytes", _raw)


def _raw(value: Value) -> bytes:
    if not isinstance(value, bytes):
        raise NotCarriedError("bytes")
    return value


def _bits(value: Value, length: int | None) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise NotCarriedError("bit")
    if length is not None and value >> length:
        raise NotCarriedError("bit")
    return value


def _labelled(kind: EnumType | SetType, labels: tuple[str, ...] | None) -> Sent:
    is_set = isinstance(kind, SetType)

    def label(value: Value) -> str:
        if isinstance(value, str):
            return text_value(value)
        if labels is None or not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise NotCarriedError(kind_text(kind))
        if is_set:
            if value >> len(labels):
                raise NotCarriedError("set")
            return ",".join(text for bit, text in enumerate(labels) if value >> bit & 1)
        if value > len(labels):
            raise NotCarriedError("enum")
        return labels[value - 1] if value else ""  # MySQL's value that is none of the labels

    told = SetType(labels, "label") if is_set else EnumType(labels, "label")
    return Sent(told, f"{_DATA}EnumSet" if is_set else f"{_DATA}Enum", label)


def _temporal(
    kind: DateType | TimeType | DatetimeType | TimestampType, name: str | None, way: Way
) -> Sent:
    if isinstance(kind, TimestampType):
        return _instant(kind, name)
    if isinstance(kind, TimeType) and kind.zone is not None:
        return Sent(TimeType(form="text", zone=UTC), f"{_TIME}ZonedTime", text_value)
    text = _iso(kind, name, way)
    if text is not None:
        return text
    if isinstance(kind, TimeType):
        return _time(kind, name, way)
    if isinstance(kind, DatetimeType):
        return _moment(kind, name, way)
    of_connect = way.producer != "debezium" or way.times == "connect"
    kept = name if way.times in _KEEPING and kind.form == "d" else None
    source = kept or f"{_CONNECT if of_connect else _TIME}Date"
    return Sent(DateType("d"), source, lambda value: days(kind, value))


def _instant(kind: TimestampType, name: str | None) -> Sent:
    if kind.zone is None:
        return Sent(TextType(), "string", lambda value: moment_text(kind, value))
    told = TimestampType(form="text", zone=UTC)
    as_it_is = kind == told and name == f"{_TIME}ZonedTimestamp"
    convert = text_value if as_it_is else lambda value: instant_text(kind, value)
    return Sent(told, f"{_TIME}ZonedTimestamp", convert)


def _iso(kind: DateType | TimeType | DatetimeType, name: str | None, way: Way) -> Sent | None:
    """Return what becomes of a column that is sent as ISO 8601; None if it is sent as a count."""
    told = type(kind)()
    source = f"{_TIME}{_ISO[type(kind)]}"
    is_own = way.producer == "debezium" or not isinstance(kind, DatetimeType)
    if (kind, name) == (told, source) and is_own and way.times in (*_KEEPING, "isostring"):
        return Sent(told, source, text_value)
    if way.producer != "debezium" or way.times != "isostring":
        return None
    return Sent(told, source, lambda value: iso_text(kind, value))


def _time(kind: TimeType, name: str | None, way: Way) -> Sent:
    unit: TemporalForm = "us" if kind.form == "text" else kind.form
    is_connects = name is None if way.producer != "debezium" else way.times == "connect"
    if way.producer == "debezium" and way.times == "connect":
        unit = "ms"
    elif way.times == "adaptive_time_microseconds" and unit == "ms":
        unit = "us"
    unit = _ONE_UNIT.get(way.times, unit)
    names = {"ms": "Time", "us": "MicroTime", "ns": "NanoTime"}
    of_day = unit == "ms" and (is_connects or name == f"{_CONNECT}Time")
    source = f"{_CONNECT if of_day else _TIME}{names[unit]}"

    def count(value: Value) -> int:
        found = count_of(kind, value, unit)
        if of_day and not 0 <= found <= DAY * 1000:
            raise NotCarriedError("time")
        return within(found, 32 if unit == "ms" else 64, "time")

    return Sent(TimeType(form=unit), source, count)


def _moment(kind: DatetimeType, name: str | None, way: Way) -> Sent:
    if way.producer == "cdl 2.0":
        source = f"{way.prefix}.cdc.data.timestamp"
        return Sent(DatetimeType(), source, lambda value: cdl_text(kind, value))
    if way.producer == "cdl 1.0" or way.times == "connect":
        unit: TemporalForm = "ms"
        source = f"{_CONNECT}Timestamp"
    else:
        is_short = kind.form == "ms" or kind.fraction in (0, 1, 2, 3)
        unit = "ms" if is_short else "ns" if kind.form == "ns" else "us"
        unit = _ONE_UNIT.get(way.times, unit)
        names = {"ms": "Timestamp", "us": "MicroTimestamp", "ns": "NanoTimestamp"}
        is_connect = name == f"{_CONNECT}Timestamp" and kind.form == unit == "ms"
        source = f"{_CONNECT if is_connect else _TIME}{names[unit]}"
    told = DatetimeType(form=unit)
    return Sent(told, source, lambda value: within(count_of(kind, value, unit), 64, "datetime"))


def _hstore(value: Value) -> str:
    """Return a map of texts as a JSON object."""
    pairs = [
        (text_value(k), None if v is None else text_value(v)) for k, v in of_type(tuple)(value)
    ]
    return json.dumps(dict(pairs), ensure_ascii=False, separators=(",", ":"))


_NESTED = "array of "


def _container(
    kind: ArrayType | MapType | StructType, source: str | None, name: str | None, way: Way
) -> Sent:
    if isinstance(kind, ArrayType):
        told = source.removeprefix(_NESTED) if source and source.startswith(_NESTED) else None
        item = sent(kind.item, told, way)
        each = _if_any(item.value)
        is_named = "." in item.source or item.source.startswith(_NESTED)
        return Sent(
            ArrayType(item.type),
            f"{_NESTED}{item.source}" if is_named else "array",
            lambda value: tuple(map(each, of_type(tuple)(value))),
        )
    if isinstance(kind, MapType):
        is_text = (kind.key, kind.value) == (TextType(), TextType())
        if way.maps == "json" and is_text:
            return Sent(JsonType(), f"{_DATA}Json", _hstore)
        key, entry = sent(kind.key, None, way), sent(kind.value, None, way)
        one = _if_any(entry.value)
        return Sent(
            MapType(key.type, entry.type),
            "map",
            lambda value: tuple((key.value(k), one(v)) for k, v in of_type(tuple)(value)),
        )
    if name is not None:
        way = replace(way, binary="bytes")  # a type of the producer's own, in no mode another
    columns = tuple(sent_column(column, way) for column in kind.columns)
    return Sent(StructType(columns), name or "struct", lambda value: sent_row(value, columns, way))


def _if_any(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def sent_row(image: Value, columns: tuple[Column, ...], way: Way) -> Image:
    """Return a row's values under ``columns``, which are its own as they come back.

    Raises: NotCarriedError, for a NULL where none may be too.
    """
    if not isinstance(image, Image) or len(image.columns) != len(columns):
        raise NotCarriedError("struct")
    values = []
    for column, told, value in zip(image.columns, columns, image.values, strict=True):
        if value is None and not told.nullable:
            raise NotCarriedError("NULL")
        values.append(None if value is None else sent_value(column, value, way))
    return Image(columns, tuple(values))


def renamed(image: Image, columns: tuple[Column, ...]) -> Image:
    """Return an image with its values in the order of ``columns``, which have the same names."""
    if image.columns == columns:
        return image
    if set(image.names) != {column.name for column in columns}:
        raise NotCarriedError("columns")
    return replace(image, columns=columns, values=tuple(image[c.name] for c in columns))
