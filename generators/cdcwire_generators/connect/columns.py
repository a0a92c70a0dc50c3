"""Columns and values in Kafka Connect's types, as CDL and Debezium write them.

Connect has signed integers, counts of days and of parts of a second, labels and decimals. A column
that came from Connect keeps its logical name. The rest goes as the next wider type, or as text.
"""

from __future__ import annotations

import base64
import json
import math
import re
from dataclasses import replace
from decimal import MAX_PREC, Context, Decimal, InvalidOperation
from functools import partial

from cdcwire.golang import float_text
from cdcwire.model import kinds
from cdcwire.model.events import Image
from cdcwire.model.floats import is_float32
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import UNAVAILABLE, Column, Value
from cdcwire_generators.connect.times import (
    CONNECT_PREFIX,
    DATA_PREFIX,
    TIME_PREFIX,
    Conversion,
    Convert,
    Modes,
    of_type,
    period,
    temporal,
    text_value,
    within,
)
from cdcwire_generators.round_trip import NotCarriedError

_EXACT = Context(prec=MAX_PREC)
# The next wider signed integer; 64 bits have none.
_WIDER: dict[int, kinds.IntBits] = {8: 16, 16: 32, 24: 32, 32: 64}


def sent_column(column: Column, modes: Modes) -> Column:
    """Return a column as it comes back, without roles: the key says which columns are in it."""
    result = conversion_of(column.type, column.source, modes)
    return Column(column.name, result.type, result.source, column.nullable is not False)


def sent_value(column: Column, value: Value, modes: Modes) -> Value:
    """Return a value, not NULL, as it comes back. Raises: NotCarriedError."""
    if value is not UNAVAILABLE:
        return conversion_of(column.type, column.source, modes).value(value)
    result = conversion_of(column.type, column.source, modes)
    is_text = result.source in ("string", "bytes") or _is_named_text(result)
    of_texts = isinstance(result.type, kinds.ArrayType) and _is_text(result.type.item)
    if modes.placeholder and (is_text or of_texts):
        return UNAVAILABLE
    raise NotCarriedError("unavailable")


def _is_named_text(result: Conversion) -> bool:
    """Return whether a type with a name is a string or bytes, and nothing but that."""
    is_text = isinstance(result.type, kinds.BytesType) or _is_text(result.type)
    return is_text and result.source.startswith(("io.debezium.", CONNECT_PREFIX))


def _is_text(kind: kinds.Type) -> bool:
    """Return whether values are strings on the wire."""
    if isinstance(
        kind,
        (
            kinds.DateType,
            kinds.TimeType,
            kinds.DatetimeType,
            kinds.TimestampType,
            kinds.IntervalType,
        ),
    ):
        return kind.form == "text"
    return isinstance(kind, (kinds.TextType, kinds.JsonType, kinds.EnumType, kinds.SetType))


def conversion_of(kind: kinds.Type, source: str | None, modes: Modes) -> Conversion:
    """Return what becomes of a column of this kind. Raises: NotCarriedError."""
    name = source if (source or "").startswith(("io.debezium.", CONNECT_PREFIX)) else None
    match kind:
        case kinds.BoolType() if modes.numbers != "exact" and (source or "").startswith("tinyint"):
            size: kinds.IntBits = 8 if modes.numbers == "tiny" else 16
            return Conversion(kinds.IntType(size), f"int{size}", lambda value: int(bool(value)))
        case kinds.BoolType():
            return Conversion(kind, name or "boolean", of_type(bool))
        case kinds.IntType():
            return _integer(kind, modes)
        case kinds.YearType():
            return Conversion(kind, f"{TIME_PREFIX}Year", lambda value: within(value, 32, "year"))
        case kinds.FloatType(32) if modes.numbers == "widest":
            return Conversion(kinds.FloatType(64), "double", _float(32))
        case kinds.FloatType(bits):
            return Conversion(kind, "float" if bits == 32 else "double", _float(bits))
        case kinds.DecimalType():
            return _decimal(kind, name, modes)
        case kinds.TextType():
            return Conversion(kinds.TextType(), name or "string", text_value)
        case kinds.JsonType():
            return Conversion(kind, f"{DATA_PREFIX}Json", text_value)
        case kinds.VectorType():
            return Conversion(kinds.TextType(), "string", _vector)
        case kinds.BytesType():
            return _bytes(name, modes)
        case kinds.BitType(1) if name != f"{DATA_PREFIX}Bits":
            return Conversion(kinds.BoolType(), "boolean", lambda value: bool(_bits(value, 1)))
        case kinds.BitType(length):
            return Conversion(kind, f"{DATA_PREFIX}Bits", lambda value: _bits(value, length))
        case kinds.EnumType(labels) | kinds.SetType(labels):
            return _labelled(kind, labels)
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return temporal(kind, name, modes)
        case kinds.IntervalType("us") if modes.intervals == "numeric":
            return Conversion(
                kind, f"{TIME_PREFIX}MicroDuration", lambda value: within(value, 64, "interval")
            )
        case kinds.IntervalType(form):
            convert = period if form == "us" else text_value
            return Conversion(kinds.IntervalType("text"), f"{TIME_PREFIX}Interval", convert)
        case kinds.ArrayType() | kinds.MapType() | kinds.StructType():
            return _container(kind, source, name, modes)
        case kinds.UnknownType():
            return Conversion(kinds.TextType(), "string", _refused("unknown"))


def _refused(what: str) -> Convert:
    def refuse(value: Value) -> Value:
        raise NotCarriedError(what)

    return refuse


def _integer(kind: kinds.IntType, modes: Modes) -> Conversion:
    def number(value: Value) -> int:
        return within(value, kind.bits, kind_text(kind), unsigned=kind.unsigned)

    if not kind.unsigned:
        bits: kinds.IntBits = 32 if kind.bits == 24 else kind.bits
        if bits == 8 and modes.numbers in ("wide", "widest"):
            bits = 16
        return Conversion(kinds.IntType(bits), f"int{bits}", number)
    if kind.bits != 64:
        bits = _WIDER[kind.bits]
        return Conversion(kinds.IntType(bits), f"int{bits}", number)
    if modes.producer == "debezium":
        whole = kinds.DecimalType(None, 0)
        return Conversion(whole, f"{CONNECT_PREFIX}Decimal", lambda value: Decimal(number(value)))
    return Conversion(
        kinds.DecimalType(),
        f"{modes.prefix}.cdc.data.Decimal",
        lambda value: Decimal(number(value)),
    )


def _float(bits: int) -> Convert:
    def checked(value: Value) -> float:
        if not isinstance(value, float):
            raise NotCarriedError(f"float{bits}")
        if bits == 32 and math.isfinite(value) and not is_float32(value):
            raise NotCarriedError("float32")
        return value

    return checked


def _decimal(kind: kinds.DecimalType, name: str | None, modes: Modes) -> Conversion:
    if modes.producer != "debezium":
        return Conversion(kinds.DecimalType(), f"{modes.prefix}.cdc.data.Decimal", _decimal_or_text)
    is_money = kind == kinds.DecimalType(None, 2) and name == f"{CONNECT_PREFIX}Decimal"
    if is_money and modes.has_money:
        return Conversion(kind, name or "", lambda value: _with_scale(value, 2))
    if modes.decimals == "string":
        return Conversion(kinds.TextType(), "string", partial(_debezium_text, modes))
    if modes.decimals == "double":
        return Conversion(kinds.FloatType(64), "double", lambda value: float(_number(value)))
    if kind.scale is None:
        return Conversion(kinds.DecimalType(), f"{DATA_PREFIX}VariableScaleDecimal", _plain_number)
    scale = kind.scale
    return Conversion(kind, f"{CONNECT_PREFIX}Decimal", lambda value: _with_scale(value, scale))


def _number(value: Value) -> Decimal:
    if not isinstance(value, Decimal):
        raise NotCarriedError("decimal")
    return value


def _decimal_text(value: Value) -> str:
    if isinstance(value, str):
        return text_value(value)
    number = _number(value)
    return f"{number:f}" if number.is_finite() else str(number)


def _debezium_text(modes: Modes, value: Value) -> str:
    if modes.has_exponents and isinstance(value, Decimal):
        return str(value)
    return _decimal_text(value)


def _decimal_or_text(value: Value) -> Value:
    text = _decimal_text(value)
    return Decimal(text) if re.fullmatch(r"[+-]?[0-9]*\.?[0-9]*", text) and text else text


def _plain_number(value: Value) -> Decimal:
    """Return a number with the scale that it has, and without a sign if it is zero."""
    number = _number(value)
    if not number.is_finite():
        raise NotCarriedError("decimal not finite")
    return number if number else number.copy_abs()


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


def _bytes(name: str | None, modes: Modes) -> Conversion:
    written: dict[str, Convert] = {
        "base64": lambda value: base64.b64encode(_raw(value)).decode(),
        "base64-url-safe": lambda value: base64.urlsafe_b64encode(_raw(value)).decode(),
        "hex": lambda value: _raw(value).hex(),
    }
    if modes.binary in written:
        return Conversion(kinds.TextType(), "string", written[modes.binary])
    return Conversion(kinds.BytesType(), name or "bytes", _raw)


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


def _labelled(kind: kinds.EnumType | kinds.SetType, labels: tuple[str, ...] | None) -> Conversion:
    is_set = isinstance(kind, kinds.SetType)

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
        return labels[value - 1] if value else ""  # MySQL's value without a label

    result = kinds.SetType(labels, "label") if is_set else kinds.EnumType(labels, "label")
    return Conversion(result, f"{DATA_PREFIX}EnumSet" if is_set else f"{DATA_PREFIX}Enum", label)


def _hstore(value: Value) -> str:
    """Return a map of texts as a JSON object."""
    pairs = [
        (text_value(k), None if v is None else text_value(v)) for k, v in of_type(tuple)(value)
    ]
    return json.dumps(dict(pairs), ensure_ascii=False, separators=(",", ":"))


_NESTED = "array of "
_REQUIRED = "map of required "


def _container(
    kind: kinds.ArrayType | kinds.MapType | kinds.StructType,
    source: str | None,
    name: str | None,
    modes: Modes,
) -> Conversion:
    if isinstance(kind, kinds.ArrayType):
        if name is not None:  # a vector: nothing in it is NULL
            item = conversion_of(kind.item, None, modes)
            return Conversion(
                kinds.ArrayType(item.type),
                name,
                lambda value: tuple(map(_required(item.value), of_type(tuple)(value))),
            )
        result = source.removeprefix(_NESTED) if source and source.startswith(_NESTED) else None
        item = conversion_of(kind.item, result, modes)
        each = _if_any(item.value)
        is_named = "." in item.source or item.source.startswith(_NESTED)
        return Conversion(
            kinds.ArrayType(item.type),
            f"{_NESTED}{item.source}" if is_named else "array",
            lambda value: tuple(map(each, of_type(tuple)(value))),
        )
    if isinstance(kind, kinds.MapType):
        is_text = (kind.key, kind.value) == (kinds.TextType(), kinds.TextType())
        if modes.maps == "json" and is_text:
            return Conversion(kinds.JsonType(), f"{DATA_PREFIX}Json", _hstore)
        key, entry = conversion_of(kind.key, None, modes), conversion_of(kind.value, None, modes)
        is_required = source is not None and source.startswith(_REQUIRED)
        one = _required(entry.value) if is_required else _if_any(entry.value)
        is_named = is_required or "." in entry.source or entry.source.startswith(_NESTED)
        prefix = _REQUIRED if is_required else "map of "
        return Conversion(
            kinds.MapType(key.type, entry.type),
            f"{prefix}{entry.source}" if is_named else "map",
            lambda value: tuple((key.value(k), one(v)) for k, v in of_type(tuple)(value)),
        )
    if name is not None:
        modes = replace(modes, binary="bytes")  # a type of the producer's own, in no mode another
    columns = tuple(sent_column(column, modes) for column in kind.columns)
    return Conversion(
        kinds.StructType(columns), name or "struct", lambda value: sent_row(value, columns, modes)
    )


def _required(convert: Convert) -> Convert:
    def converted(value: Value) -> Value:
        if value is None:
            raise NotCarriedError("NULL")
        return convert(value)

    return converted


def _if_any(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def sent_row(image: Value, columns: tuple[Column, ...], modes: Modes) -> Image:
    """Return a row's values under ``columns``, which are its own as they come back.

    Raises: NotCarriedError, for a NULL where none may be too.
    """
    if not isinstance(image, Image) or len(image.columns) != len(columns):
        raise NotCarriedError("struct")
    values = []
    for column, result, value in zip(image.columns, columns, image.values, strict=True):
        if value is None and not result.nullable:
            raise NotCarriedError("NULL")
        values.append(None if value is None else sent_value(column, value, modes))
    return Image(columns, tuple(values))


def renamed(image: Image, columns: tuple[Column, ...]) -> Image:
    """Return an image with its values in the order of ``columns``, which have the same names."""
    if image.columns == columns:
        return image
    if set(image.names) != {column.name for column in columns}:
        raise NotCarriedError("columns")
    return replace(image, columns=columns, values=tuple(image[c.name] for c in columns))
