"""Column values and row images in the text form."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Context, Decimal, Inexact, InvalidOperation
from functools import reduce
from typing import get_args

from cdcwire.model import kinds
from cdcwire.model.events import Image, Path
from cdcwire.model.floats import read_float32, shortest_digits
from cdcwire.model.kind_text import kind_text, parse_kind
from cdcwire.model.kinds import UNAVAILABLE, Column, Role, Value
from cdcwire.model.text.members import INTEGER, Json, TextFormError

_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|nan|-?inf")
_NEGATIVE_SCALE = re.compile(r"-[1-9][0-9]{0,4}")


def value_to_json(kind: kinds.Type, value: Value) -> Json:
    """Return one column's value with its type."""
    if value is None:
        return None
    if value is UNAVAILABLE:
        return {"unavailable": True}
    return {"type": kind_text(kind), **value_members(kind, value)}


def value_members(kind: kinds.Type, value: Value) -> dict[str, Json]:
    """Return the members that write a value; its type is not among them."""
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    match kind:
        case kinds.BoolType():
            return {"value": "true" if value else "false"}
        case kinds.FloatType(bits):
            return {"value": float_to_text(value, bits)}
        case kinds.DecimalType() if isinstance(value, Decimal):
            return _decimal_members(value)
        case kinds.DateType(form) | kinds.DatetimeType(form=form):
            return _temporal_members(value, form, None)
        case kinds.TimeType(form=form, zone=zone) | kinds.TimestampType(form=form, zone=zone):
            return _temporal_members(value, form, zone)
        case kinds.IntervalType(form):
            return {"value": str(value)} if form == "text" else {"value": str(value), "unit": form}
        case kinds.EnumType(labels, form):
            return _enum_members(value, labels, form)
        case kinds.SetType(labels, form):
            return _set_members(value, labels, form)
        case kinds.VectorType():
            return {"value": f"[{','.join(float_to_text(item, 32) for item in value)}]"}
        case kinds.ArrayType(item):
            return {"items": [value_to_json(item, member) for member in value]}
        case kinds.MapType(key_kind, value_kind):
            entries = [[value_to_json(key_kind, k), value_to_json(value_kind, v)] for k, v in value]
            return {"entries": entries}
        case kinds.StructType():
            return {"fields": image_to_json(value)}
        case _:
            return {"value": str(value)}


def _decimal_members(value: Decimal) -> dict[str, Json]:
    if not value.is_finite():
        return {"value": _not_finite(float(value))}
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # of finite numbers
    members: dict[str, Json] = {"value": f"{value:f}"}
    if exponent > 0:
        members["scale"] = str(-exponent)  # plain digits do not show a negative scale
    return members


def _temporal_members(value: Value, form: kinds.TemporalForm, zone: str | None) -> dict[str, Json]:
    members: dict[str, Json] = {"value": str(value)}
    if form != "text":
        members["unit"] = form
    if zone is not None:
        members["zone"] = zone
    return members


def _enum_members(value: Value, labels: tuple[str, ...] | None, form: str) -> dict[str, Json]:
    if form == "label":
        return {"label": value}
    if labels is not None and 1 <= value <= len(labels):
        return {"index": str(value), "label": labels[value - 1]}
    return {"index": str(value)}


def _set_members(value: Value, labels: tuple[str, ...] | None, form: str) -> dict[str, Json]:
    if form == "label":
        return {"label": value}
    if labels is not None and 0 <= value < 1 << len(labels):
        chosen = (label for bit, label in enumerate(labels) if value >> bit & 1)
        return {"index": str(value), "label": ",".join(chosen)}
    return {"index": str(value)}


def float_to_text(value: float, bits: int) -> str:
    """Return the shortest text that reads back at this width, or ``nan``, ``inf``, ``-inf``."""
    if not math.isfinite(value):
        return _not_finite(value)
    if bits == 64:
        return repr(value)
    sign, digits, exponent = shortest_digits(value, 32)
    return repr(float(f"{sign}{digits[0]}.{digits[1:] or '0'}e{exponent}"))


def _not_finite(value: float) -> str:
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def value_from_json(
    document: Json, kind: kinds.Type | None, path: Path = ()
) -> tuple[kinds.Type, Value]:
    """Return the type and value of a column's text form.

    ``kind`` is the type that the table gives, if it does; a type in the document counts only where
    there is none. The returned type has the value's form (unit, index, label, zone).
    Raises: TextFormError.
    """
    if document is None:
        return kind or kinds.UnknownType(), None
    if isinstance(document, str):
        return typed_value(kind or kinds.TextType(), {"value": document}, path)
    if not isinstance(document, Mapping):
        raise TextFormError("a column is null, text or an object", path)
    if kind is None:
        kind = kind_of(document.get("type", "text"), path)
    if document.get("unavailable") is True:
        return kind, UNAVAILABLE
    return typed_value(kind, document, path)


def kind_of(text: Json, path: Path) -> kinds.Type:
    """Return the type that a ``type`` member writes. Raises: TextFormError."""
    if not isinstance(text, str):
        raise TextFormError("a type is text", (*path, "type"))
    try:
        return parse_kind(text)
    except ValueError as error:
        raise TextFormError(str(error), (*path, "type")) from error


def typed_value(
    kind: kinds.Type, members: Mapping[str, Json], path: Path
) -> tuple[kinds.Type, Value]:
    """Return the type, with the form that the members show, and their value.

    Raises: TextFormError for members that do not fit the type.
    """
    try:
        found = _read_value(kind, members, path)
    except (ValueError, OverflowError) as error:
        if isinstance(error, TextFormError):
            raise
        raise TextFormError(
            f"{_shown(members)} is not a valid {kind_text(kind)}: {error}", path
        ) from error
    return found


def _shown(members: Mapping[str, Json]) -> str:
    return repr({name: value for name, value in members.items() if name != "type"})[:80]


def _read_value(
    kind: kinds.Type, members: Mapping[str, Json], path: Path
) -> tuple[kinds.Type, Value]:
    if "bytes" in members:
        return kind, _read_base64(members["bytes"])
    if isinstance(kind, (kinds.EnumType, kinds.SetType)):
        return _read_labelled(kind, members)
    if isinstance(kind, kinds.ArrayType):
        items = [value_from_json(item, kind.item, path) for item in _list(members, "items")]
        return kinds.ArrayType(_common(kind.item, items)), tuple(value for _, value in items)
    if isinstance(kind, kinds.MapType):
        entries = _list(members, "entries")
        if not all(isinstance(entry, list) and len(entry) == 2 for entry in entries):
            raise ValueError("an entry of a map is a list of key and value")
        keys = [value_from_json(k, kind.key, path) for k, _ in entries]
        values = [value_from_json(v, kind.value, path) for _, v in entries]
        pairs = zip((key for _, key in keys), (value for _, value in values), strict=True)
        return kinds.MapType(_common(kind.key, keys), _common(kind.value, values)), tuple(pairs)
    if isinstance(kind, kinds.StructType):
        image = image_from_json(members.get("fields"), kind.columns, path)
        known = {column.name: column for column in image.columns}
        columns = tuple(known.get(column.name, column) for column in kind.columns)
        return kinds.StructType(columns), image
    text = members.get("value")
    if not isinstance(text, str):
        raise ValueError("the member 'value' is to be text")
    match kind:
        case kinds.BoolType():
            if text not in ("true", "false"):
                raise ValueError("neither 'true' nor 'false'")
            return kind, text == "true"
        case kinds.IntType() | kinds.YearType() | kinds.BitType():
            return kind, _read_int(text)
        case kinds.FloatType(bits):
            return kind, _read_float(text, bits)
        case kinds.DecimalType():
            return kind, _with_scale(_read_decimal(text), members.get("scale"))
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return _read_temporal(kind, text, members)
        case kinds.IntervalType():
            if members.get("unit") == "us":
                return kinds.IntervalType("us"), _read_int(text)
            return kinds.IntervalType(), text
        case kinds.VectorType():
            return kind, _read_vector(text)
        case kinds.BytesType():
            raise ValueError("the member 'bytes' is missing")
        case kinds.TextType() | kinds.JsonType() | kinds.UnknownType():
            return kind, text


def _common(kind: kinds.Type, members: Sequence[tuple[kinds.Type, Value]]) -> kinds.Type:
    """Return the type of these members, which may specify their form (unit, zone, label)."""
    known = [found for found, value in members if value is not None and value is not UNAVAILABLE]
    return reduce(_merged, known) if known else kind


def _merged(one: kinds.Type, other: kinds.Type) -> kinds.Type:
    if one == other:
        return one
    if isinstance(one, kinds.ArrayType) and isinstance(other, kinds.ArrayType):
        return kinds.ArrayType(_merged_item(one.item, other.item))
    if isinstance(one, kinds.MapType) and isinstance(other, kinds.MapType):
        return kinds.MapType(_merged_item(one.key, other.key), _merged_item(one.value, other.value))
    if isinstance(one, kinds.StructType) and isinstance(other, kinds.StructType):
        pairs = zip(one.columns, other.columns, strict=True)
        return kinds.StructType(
            tuple(replace(a, type=_merged_item(a.type, b.type)) for a, b in pairs)
        )
    raise ValueError("all members are to have one unit, zone or form")


def _merged_item(one: kinds.Type, other: kinds.Type) -> kinds.Type:
    """Return the type that has a form: a type without a value has none."""
    plain = parse_kind(kind_text(one))
    return other if one == plain else one if other == plain else _merged(one, other)


def _read_int(text: str) -> int:
    if not INTEGER.fullmatch(text):
        raise ValueError("not an integer in decimal digits")
    return int(text)


def _read_decimal(text: str) -> Decimal | str:
    """Return a plain number as Decimal. Any other text stays as it is, such as ``1.2.3``."""
    return Decimal(text) if _DECIMAL.fullmatch(text) else text


def _with_scale(value: Decimal | str, scale: Json) -> Decimal | str:
    """Return a decimal with the negative scale that its plain digits do not show."""
    if scale is None:
        return value
    if not isinstance(scale, str) or not _NEGATIVE_SCALE.fullmatch(scale):
        raise ValueError("the member 'scale' is a negative integer, as text")
    if not isinstance(value, Decimal) or not value.is_finite():
        raise ValueError("only a number has a scale")
    digits = Context(prec=len(value.as_tuple().digits), traps=[Inexact, InvalidOperation])
    try:
        return value.quantize(Decimal((0, (1,), -int(scale))), context=digits)
    except (Inexact, InvalidOperation):
        raise ValueError(f"it has digits below the scale {scale}") from None


def _read_float(text: str, bits: int) -> float:
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,4})?|nan|-?inf", text):
        raise ValueError("not a number")
    return read_float32(text) if bits == 32 else float(text)


def _read_vector(text: str) -> tuple[float, ...]:
    if not (text.startswith("[") and text.endswith("]")):
        raise ValueError("a vector is enclosed in [ ]")
    inner = text[1:-1]
    return tuple(_read_float(item.strip(), 32) for item in inner.split(",")) if inner else ()


def _read_temporal(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType,
    text: str,
    members: Mapping[str, Json],
) -> tuple[kinds.Type, Value]:
    unit = members.get("unit", "text")
    if unit not in get_args(kinds.TemporalForm):
        raise ValueError("the unit is one of d, ms, us, ns")
    kind = replace(kind, form=unit)
    if "zone" in members and isinstance(kind, (kinds.TimeType, kinds.TimestampType)):
        kind = replace(kind, zone=str(members["zone"]))
    return kind, text if unit == "text" else _read_int(text)


def _read_labelled(
    kind: kinds.EnumType | kinds.SetType, members: Mapping[str, Json]
) -> tuple[kinds.Type, Value]:
    index, label = members.get("index"), members.get("label", members.get("value"))
    if isinstance(index, str):
        return replace(kind, form="index"), _read_int(index)
    if isinstance(label, str):
        return replace(kind, form="label"), label
    raise ValueError("the member 'index' or 'label' is missing, or is not text")


def _read_base64(text: Json) -> bytes:
    if not isinstance(text, str):
        raise ValueError("the member 'bytes' is to be text")
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise ValueError("not standard base64 with padding") from error


def _list(members: Mapping[str, Json], name: str) -> list[Json]:
    found = members.get(name)
    if not isinstance(found, list):
        raise ValueError(f"the member {name!r} is to be a list")
    return found


def image_to_json(image: Image) -> Json:
    """Return one row state: column name to value."""
    return {
        column.name: value_to_json(column.type, value)
        for column, value in zip(image.columns, image.values, strict=True)
    }


def image_from_json(
    document: Json, known: tuple[Column, ...] | None, path: Path, key: tuple[str, ...] = ()
) -> Image:
    """Return a row state: the table's columns in their order, then those it does not know."""
    if not isinstance(document, Mapping):
        raise TextFormError("a row is an object of columns", path)
    columns: list[Column] = []
    values: list[Value] = []
    for column in known or ():
        if column.name in document:
            kind, value = value_from_json(document[column.name], column.type, (*path, column.name))
            columns.append(column if kind == column.type else replace(column, type=kind))
            values.append(value)
    known_names = {column.name for column in known or ()}
    for name, member in document.items():
        if name not in known_names:
            kind, value = value_from_json(member, None, (*path, name))
            roles: frozenset[Role] = frozenset({"handle"}) if name in key else frozenset()
            columns.append(Column(name, kind, roles=roles))
            values.append(value)
    return Image(tuple(columns), tuple(values))
