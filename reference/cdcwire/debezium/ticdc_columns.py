"""Columns as TiCDC's ``debezium`` protocols write them: their types, and their values as Connect's.

``field_schema`` and ``value_json`` write them as JSON. Text may be ill-formed UTF-8, and is sent as
it is. So JSON is here strings with Python's ``surrogateescape``.

Source: debezium-json, "ticdc types"; pingcap/ticdc@b813e76.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from json import dumps
from math import isfinite
from typing import Literal

from cdcwire.connect import ConnectType, ConnectValue, times, types
from cdcwire.core.errors import EncodeError, step
from cdcwire.golang import jsoniter_string, padded_float_text
from cdcwire.model import kinds
from cdcwire.model.events import Expression
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kinds import ABSENT, Column, Value
from cdcwire.mysql.declared import BINARY_NAMES, INTEGER_BITS, DeclaredType, declared_type
from cdcwire.mysql.values import vector_text

CLAUSE = "debezium-json: ticdc types"
_INTEGERS: dict[str, tuple[ConnectType, ConnectType]] = {  # signed and unsigned
    "tinyint": ("int16", "int16"),
    "smallint": ("int16", "int32"),
    "mediumint": ("int32", "int32"),
    "int": ("int32", "int64"),
    "bigint": ("int64", "int64"),
}
_UNSIGNED_NOT_NAMED = frozenset(("year", "bit", "char", "varchar", "decimal"))
_ZERO_INSTANT = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class ColumnForm:
    """How a column is written. ``type``, ``name``, ``version`` and ``parameters``: of its schema.

    ``convert``: turns a value, not None, into one of the type; text that is not UTF-8 is bytes.
    ``bits``: of the floats whose digits are written.
    """

    tidb_type: str
    type: ConnectType
    convert: Callable[[Value], ConnectValue]
    name: str | None = None
    parameters: tuple[tuple[str, str], ...] | None = None
    bits: Literal[32, 64] = 64

    @property
    def version(self) -> int | None:
        """The version of the schema; a vector has a name without one."""
        return None if self.name in (None, types.TIDB_VECTOR, types.CONNECT_DECIMAL) else 1

    def json(self, value: Value) -> str:
        """Return a value, not None, as JSON. Raises: EncodeError."""
        found = self.convert(value)
        match found:
            case bool():
                return "true" if found else "false"
            case int():
                return str(found)
            case float():
                return padded_float_text(found, self.bits)
            case bytes() if self.type == "bytes":
                return f'"{base64.b64encode(found).decode()}"'
            case _:
                return text_json(found)


def text_json(text: str | bytes) -> str:
    """Return text as a JSON string; bytes are ill-formed UTF-8, which is sent as it is.

    Raises: EncodeError for a lone surrogate.
    """
    if isinstance(text, bytes):
        return jsoniter_string(text.decode("utf-8", "surrogateescape"), is_raw=True)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise EncodeError(f"{text!r:.40} has a lone surrogate", "connect: strings") from None
    return jsoniter_string(text)


def field_schema(column: Column, *, has_tidb_type: bool) -> str:
    """Return the schema of a column as JSON. Raises: EncodeError."""
    form = form_of(column)
    members = [f'"tidb_type":{text_json(form.tidb_type)}'] if has_tidb_type else []
    members.append(f'"type":"{form.type}"')
    members.append(f'"optional":{"false" if column.nullable is False else "true"}')
    if form.name is not None:
        members.append(f'"name":"{form.name}"')
    if form.version is not None:
        members.append(f'"version":{form.version}')
    if form.parameters is not None:
        pairs = (f'"{name}":{text_json(value)}' for name, value in form.parameters)
        members.append(f'"parameters":{{{",".join(pairs)}}}')
    members.append(f'"field":{text_json(column.name)}')
    with step("default"):
        default = _default(column, form)
    if default is not None:
        members.append(f'"default":{default}')
    return f"{{{','.join(members)}}}"


def value_json(column: Column, value: Value) -> str:
    """Return a value of a column as JSON. Raises: EncodeError."""
    return "null" if value is None else form_of(column).json(value)


def form_of(column: Column) -> ColumnForm:
    """Return how a column is written. Raises: EncodeError for a kind that MySQL does not have."""
    return _form(replace(column, default=ABSENT, name=""))


def declared_of(column: Column) -> DeclaredType:
    """Return the declared type of a column. Raises: EncodeError."""
    return declared_type(replace(column, default=ABSENT, name=""), CLAUSE)


@lru_cache(maxsize=1024)
def _form(column: Column) -> ColumnForm:
    kind = column.type
    if isinstance(kind, kinds.BoolType) and column.source in ("boolean", "bit"):  # BIT(1), as read
        return ColumnForm("bit", "boolean", _boolean)
    if kind == kinds.FloatType(64) and column.source in ("float", "decimal"):  # FLOAT(M,D), as read
        return ColumnForm(column.source, "double", partial(_number, 64))
    declared = declared_of(_as_named(column))
    base = declared.base
    suffix = " unsigned" if declared.is_unsigned and base not in _UNSIGNED_NOT_NAMED else ""
    form = _of_base(kind, declared)
    return replace(form, tidb_type=f"{base}{suffix}")


def _as_named(column: Column) -> Column:
    """Return an integer column, as read, with the kind of its ``tidb_type``; Connect's is wider."""
    base, _, sign = (column.source or "").partition(" ")
    bits = INTEGER_BITS.get(base)
    if not isinstance(column.type, kinds.IntType) or bits is None or bits >= column.type.bits:
        return column
    return replace(column, type=kinds.IntType(bits, sign == "unsigned"))


def _of_base(kind: kinds.Type, declared: DeclaredType) -> ColumnForm:
    base = declared.base
    if base in _INTEGERS:
        return ColumnForm("", _INTEGERS[base][declared.is_unsigned], _integer)
    if base == "bit" and declared.flen == 1:
        return ColumnForm("", "boolean", _boolean)
    if base == "bit":
        size = ((declared.flen or 1) + 7) // 8
        length = (("length", str(declared.flen)),)
        return ColumnForm("", "bytes", lambda value: _bits(value, size), types.BITS, length)
    if base in ("float", "double", "decimal"):
        return _number_form(kind, declared)
    match kind:
        case kinds.EnumType(labels):
            allowed = (("allowed", ",".join(map(_escaped_label, labels or ()))),)
            convert = _label_converter(labels, is_set=False)
            return ColumnForm("", "string", convert, types.ENUM, allowed)
        case kinds.SetType(labels):
            allowed = (("allowed", ",".join(labels or ())),)
            convert = _label_converter(labels, is_set=True)
            return ColumnForm("", "string", convert, types.ENUM_SET, allowed)
        case kinds.JsonType():
            return ColumnForm("", "string", _text, types.JSON)
        case kinds.VectorType():
            return ColumnForm("", "string", _vector, types.TIDB_VECTOR)
        case kinds.YearType():
            return ColumnForm("", "int32", _integer, types.YEAR)
        case kinds.DateType():
            return ColumnForm("", "int32", partial(times.days, kind), types.DATE)
        case kinds.TimeType():
            return ColumnForm(
                "", "int64", lambda value: times.clock(kind, value, "us"), types.MICRO_TIME
            )
        case kinds.DatetimeType():
            return _datetime_form(kind)
        case kinds.TimestampType():
            return ColumnForm("", "string", partial(_instant, kind), types.ZONED_TIMESTAMP)
        case _:
            return ColumnForm("", "string", _base64 if base in BINARY_NAMES else _text)


def _number_form(kind: kinds.Type, declared: DeclaredType) -> ColumnForm:
    bits: Literal[32, 64] = 32 if declared.base == "float" else 64
    is_float = bits == 32 and declared.decimal is None
    return ColumnForm("", "float" if is_float else "double", partial(_number, bits), bits=bits)


def _datetime_form(kind: kinds.DatetimeType) -> ColumnForm:
    is_short = kind.form == "ms" or (kind.form == "text" and (kind.fraction or 0) <= 3)
    unit = "ms" if is_short else "us"
    name = types.TIMESTAMP if is_short else types.MICRO_TIMESTAMP
    return ColumnForm("", "int64", lambda value: times.moment(kind, value, unit), name)


def _escaped_label(label: str) -> str:
    """Return a label of an ENUM as ``allowed`` lists it: only commas are escaped."""
    return label.replace(",", r"\,")


def refused(value: Value, what: str) -> EncodeError:
    """Return the error of a value of another type."""
    return EncodeError(f"{value!r:.40} is not {what}", CLAUSE)


def _integer(value: Value) -> int:
    if not isinstance(value, int):
        raise refused(value, "an integer")
    return int(value) - (1 << 64) if value >> 63 == 1 else int(value)


def _boolean(value: Value) -> bool:
    if value not in (0, 1):
        raise refused(value, "a bit")
    return bool(value)


def _bits(value: Value, size: int) -> bytes:
    if not isinstance(value, int) or value < 0 or value.bit_length() > 8 * size:
        raise refused(value, f"a bit string of {size} bytes")
    return value.to_bytes(size, "little")


def _base64(value: Value) -> str:
    if isinstance(value, str):  # it was read where nothing said that it is the text of bytes
        return value
    if not isinstance(value, bytes):
        raise refused(value, "bytes")
    return base64.b64encode(value).decode()


def _text(value: Value) -> str | bytes:
    if not isinstance(value, (str, bytes)):
        raise refused(value, "text")
    return value


def _number(bits: Literal[32, 64], value: Value) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise refused(value, "a number") from None
    if not isfinite(number):
        raise refused(value, "a finite number")
    return narrow_float32(number) if bits == 32 else number


def _vector(value: Value) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, tuple):
        raise refused(value, "a vector")
    return vector_text(value)


def _label_converter(labels: tuple[str, ...] | None, *, is_set: bool) -> Callable[[Value], str]:
    known = labels or ()

    def convert(value: Value) -> str:
        if isinstance(value, str):
            return value
        if not isinstance(value, int) or value < 0:
            raise refused(value, "a label or its index")
        if not is_set:
            if value > len(known):
                raise EncodeError(f"index {value} has no label", CLAUSE)
            return known[value - 1] if value else ""
        if value >> len(known):
            raise EncodeError(f"mask {value} has bits without label", CLAUSE)
        return ",".join(text for bit, text in enumerate(known) if value >> bit & 1)

    return convert


def _instant(kind: kinds.TimestampType, value: Value) -> str:
    if kind.zone is None:
        raise EncodeError(f"the zone of {value!r:.40} is not known; give time-zone", CLAUSE)
    text = times.zoned_text(kind, value)
    head, _, fraction = text.removesuffix("Z").partition(".")
    if head == _ZERO_INSTANT[:-1] and not fraction.strip("0"):
        return _ZERO_INSTANT  # MySQL's instants begin one second later
    digits = kind.fraction if kind.fraction is not None else len(fraction)
    return f"{head}.{fraction:0<{digits}}Z" if digits else f"{head}Z"


def _default(column: Column, form: ColumnForm) -> str | None:
    """Return the default of a column as its schema has it; None if it has none."""
    default = column.default
    if default is ABSENT or default is None:
        return None
    if isinstance(default, Expression):
        return _default_of_now(column, form)
    if isinstance(column.type, kinds.BytesType) and isinstance(default, bytes):
        length = column.type.length if (column.source or "").startswith("binary") else None
        return text_json(default.ljust(length or 0, b"\0"))
    if isinstance(column.type, kinds.YearType) and isinstance(default, int) and default < 100:
        default += 2000 if default < 70 else 1900
    if form.type.startswith("int") and form.convert is _integer and isinstance(default, int):
        return padded_float_text(float(default), 64)  # TiCDC reads it as a number of 64 bits
    if form.type == "float":
        return padded_float_text(float(form.json(default)), 64)
    return form.json(default)


def _default_of_now(column: Column, form: ColumnForm) -> str | None:
    if isinstance(column.type, kinds.DatetimeType):
        return "0"
    is_required = column.nullable is False
    if isinstance(column.type, kinds.TimestampType) and is_required:
        return dumps(_ZERO_INSTANT)
    return None
