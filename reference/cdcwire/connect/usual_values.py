"""Usual values of columns as JSON, for fast encoders.

The functions here give what the plain encoder writes: ``write_value`` of the converted value. They
leave unusual values to it, or raise one of ENCODE_IRREGULARITIES.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime
from functools import lru_cache, partial
from json.encoder import encode_basestring
from typing import Any

from cdcwire.connect import types
from cdcwire.connect.scalars import java_float_text, quoted
from cdcwire.connect.schema import INT_BITS, Schema
from cdcwire.connect.style import ColumnPlan
from cdcwire.connect.types import CONNECT_DECIMAL, decimal_scale
from cdcwire.connect.values import write_value
from cdcwire.core.compiled import Irregular, Usual, Write, Writer
from cdcwire.core.json_strings import write_base64
from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.model import kinds
from cdcwire.model.instants import UTC
from cdcwire.model.kinds import Column
from cdcwire.mysql.usual_texts import (
    base64_writer,
    digits_writer,
    float_writer,
    integer_writer,
    unscaled_bytes,
)
from cdcwire.mysql.value_texts import integer_range

_MAX_TEXTS = 256  # of one column
_EPOCH = datetime.fromisoformat("1970-01-01")
_EPOCH_DAY = _EPOCH.toordinal()
_OTHER_ESCAPES = re.compile(r"\\(?:\\|u00[01][a-f])|[\U00010000-\U0010ffff]")
_ABOVE_FFFF = b"\xf0\xf1\xf2\xf3\xf4"  # first bytes in UTF-8
_is_date = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII).fullmatch
_clock = re.compile(r"(-?)(\d{2,4}):([0-5]\d):([0-5]\d)", re.ASCII).fullmatch
_is_moment = re.compile(
    r"\d{4}-\d\d-\d\d (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?", re.ASCII
).fullmatch


def usual_writer(column: Column, plan: ColumnPlan) -> Writer:
    """Return what writes the values of a column that are not NULL, as JSON."""
    kind, schema, convert = column.type, plan.schema, plan.convert

    def plainly(value: Any) -> str:
        return write_value(schema, convert(value))

    match kind, schema.type:
        case kinds.IntType(), "int8" | "int16" | "int32" | "int64" if schema.name is None:
            low, high = integer_range(kind)
            limit = 1 << INT_BITS[schema.type] - 1
            return integer_writer(max(low, -limit), min(high, limit))
        case kinds.IntType(), "string" if schema.name is not None:  # unsigned, of 64 bits
            return integer_writer(*integer_range(kind), '"')
        case kinds.IntType(), "bytes" if schema.name == CONNECT_DECIMAL:  # unsigned, of 64 bits
            return _unsigned_bytes
        case kinds.YearType(), "int32":
            return integer_writer(-1 << 31, 1 << 31)
        case kinds.FloatType(), "float":
            return float_writer(32, partial(java_float_text, bits=32), plainly)
        case kinds.FloatType(64), "double":
            return float_writer(64, partial(java_float_text, bits=64), plainly)
        case kinds.TextType() | kinds.JsonType(), "string":
            usual = Usual("type($v) is str", "$text($v)", plainly, {"text": string_text})
            return _unreserved(usual, plan)
        case kinds.BytesType(), "bytes" if schema.name != CONNECT_DECIMAL:
            return _unreserved(base64_writer(plainly), plan)
        case kinds.DecimalType(), "bytes" | "string":
            return _decimal_writer(schema, plainly)
        case kinds.EnumType() | kinds.SetType(), _:
            return lru_cache(_MAX_TEXTS, typed=True)(plainly)
        case (
            kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType(),
            _,
        ) if kind.form == "text":
            return _temporal_writer(kind, schema, plainly)
        case _:
            return plainly


def _unreserved(usual: Usual, plan: ColumnPlan) -> Usual:
    """Return a writer that leaves the placeholder of unavailable values to the plain encoder."""
    if not plan.reserved:
        return usual
    names = {**usual.names, "reserved": plan.reserved}
    return replace(usual, test=f"{usual.test} and $v not in $reserved", names=names)


def string_text(text: str) -> str:
    """Return what ``quoted`` returns. Raises: ValueError for a lone surrogate."""
    written = encode_basestring(text)
    return written if written.isascii() and "\\u00" not in written else _escaped(written)


def optional_text(text: str | None) -> str:
    """Return an optional string as JSON. Raises: ValueError for a lone surrogate."""
    return "null" if text is None else string_text(text)


def int64_text(value: int | None) -> str:
    """Return an optional integer as JSON. Raises: Irregular for what is not an int64."""
    if value is None:
        return "null"
    if type(value) is not int or not INT64_START <= value < INT64_END:
        raise Irregular
    return str(value)


def _escaped(written: str) -> str:
    r"""Return a string of Python's own JSON with the escapes of Java.

    Escapes like ``\u001F`` have capital letters. Characters above U+FFFF are two escapes.
    """
    raw = written.encode()
    if "\\u00" in written or len(raw.translate(None, _ABOVE_FFFF)) != len(raw):
        return _OTHER_ESCAPES.sub(_escape, written)
    return written


def _escape(found: re.Match[str]) -> str:
    text = found.group()
    if text == "\\\\":
        return text
    return quoted(text)[1:-1] if len(text) == 1 else text[:4] + text[4:].upper()


def _unsigned_bytes(value: Any) -> str:
    if type(value) is not int or not 0 <= value < UINT64_END:
        raise Irregular
    return f'"{write_base64(value.to_bytes(value.bit_length() // 8 + 1, "big"))}"'


def _decimal_writer(schema: Schema, plainly: Write) -> Writer:
    """Return the writer of decimals as plain digits, or as bytes if they have all of the scale."""
    scale = decimal_scale(schema) if schema.name == CONNECT_DECIMAL else None

    def unscaled(value: Any) -> str:
        raw = None if scale is None else unscaled_bytes(value, scale)
        return plainly(value) if raw is None else f'"{write_base64(raw)}"'

    if schema.type == "string":
        return digits_writer(plainly, '"')
    return unscaled


def _temporal_writer(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType,
    schema: Schema,
    plainly: Write,
) -> Write:
    """Return the writer of dates and times whose texts are those of the calendar."""
    name = schema.name
    unit = _UNITS.get(name or "", "")
    zeros = {"ms": "000", "us": "000000"}.get(unit, "")  # after whole seconds
    has_digits = isinstance(kind, kinds.TimestampType) and kind.fraction not in (None, 0)

    def days(value: Any) -> str:
        if type(value) is not str or not _is_date(value):
            return plainly(value)
        return str(date.fromisoformat(value).toordinal() - _EPOCH_DAY)

    def clock(value: Any) -> str:
        found = _clock(value) if type(value) is str else None
        if found is None:
            return plainly(value)
        sign, hours, minutes, seconds = found.groups()
        total = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
        if not total or (total > 86400 and unit == "ms"):
            return plainly(value)  # 0, or more than a day
        return f"{sign}{total}{zeros}"

    def moment(value: Any) -> str:
        if type(value) is not str or not _is_moment(value):
            return plainly(value)
        since = datetime.fromisoformat(value) - _EPOCH
        seconds = since.days * 86400 + since.seconds
        if since.microseconds or not seconds:
            return plainly(value)
        return f"{seconds}{zeros}"

    def moment_text(value: Any) -> str:
        return f'"{value}"' if type(value) is str and _is_moment(value) else plainly(value)

    def zoned_text(value: Any) -> str:
        if type(value) is not str or not _is_moment(value):
            return plainly(value)
        if has_digits or value[-3:-2] != ":":
            return plainly(value)  # some connectors cut the digits, or have those of the column
        datetime.fromisoformat(value)  # a ValueError for a day that the calendar lacks
        return f'"{value[:10]}T{value[11:]}Z"'

    match kind:
        case kinds.DateType() if name in (types.DATE, types.CONNECT_DATE):
            return days
        case kinds.TimeType(zone=None) if unit:
            return clock
        case kinds.DatetimeType() if unit:
            return moment
        case kinds.TimestampType(zone=None) if schema.type == "string" and name is None:
            return moment_text
        case kinds.TimestampType(zone=zone) if zone == UTC and name == types.ZONED_TIMESTAMP:
            return zoned_text
        case _:
            return plainly


_UNITS = {
    types.CONNECT_TIME: "ms",
    types.TIME: "ms",
    types.MICRO_TIME: "us",
    types.CONNECT_TIMESTAMP: "ms",
    types.TIMESTAMP: "ms",
    types.MICRO_TIMESTAMP: "us",
}
