"""Arrow columns as Python values that are equal where a comparison takes them as equal.

All NaN are one value, and -0.0 differs from 0.0. So these floats are texts. So are times of Arrow's
types. Arrays, maps and structs are JSON texts. ``text_of`` gives the text of a value as Spark's
casts do.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Value: TypeAlias = Any  # of a column: None, int, str, bytes, bool, Decimal or float

_NAN = "NaN"
_LEAST_PLAIN, _LEAST_SCIENTIFIC = 1e-3, 1e7  # Java writes numbers between these without exponent


def values_of(array: pa.Array) -> list[Value]:
    """Return the values of a column."""
    kind = array.type
    if pa.types.is_temporal(kind):
        array = time_texts(array)
    values: list[Any] = array.to_pylist()
    if pa.types.is_floating(kind):
        return [value if value and value == value else _special(value) for value in values]
    if _is_nested(kind):
        return [None if value is None else _json_text(value, kind) for value in values]
    return values


def time_texts(array: pa.Array) -> pa.Array:
    """Return times as text, instants in UTC, without zeros at the end of the fraction."""
    kind = array.type
    if pa.types.is_duration(kind):
        micros = array.cast(pa.duration("us")).cast(pa.int64()).to_pylist()
        return pa.array([None if each is None else _duration_text(each) for each in micros])
    if pa.types.is_timestamp(kind):
        array = array.cast(pa.timestamp(kind.unit))
    texts = array.cast(pa.string())
    if pa.types.is_date(kind) or kind.unit == "s":
        return texts
    return pc.replace_substring_regex(texts, r"\.?0+$", "")


def _duration_text(micros: int) -> str:
    """Return hours, minutes and seconds, as MySQL writes a TIME."""
    seconds, fraction = divmod(abs(micros), 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{'-' if micros < 0 else ''}{hours:02}:{minutes:02}:{seconds:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text


def key_value(value: Value) -> Value:
    """Return a float as a key has it: 0.0 and -0.0 are one key."""
    return 0.0 if value in ("0.0", "-0.0") else value


def text_of(value: Value, kind: pa.DataType) -> str | None:
    """Return a value as text: different values have different texts."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_text(value, kind)
    return f"{value:f}" if pa.types.is_decimal(kind) else str(value)


def _is_nested(kind: pa.DataType) -> bool:
    return bool(pa.types.is_nested(kind))


def _special(value: float | None) -> str | None:
    """Return NULL, or as text a zero or NaN."""
    if value is None:
        return None
    return str(value) if value == value else _NAN


def _float_text(value: float, kind: pa.DataType) -> str:
    """Return a float as Java writes it."""
    if not value:
        return str(value)
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    shortest = str(np.float32(value)) if pa.types.is_float32(kind) else repr(value)
    sign, digits, exponent = _decimal_digits(shortest)
    if _LEAST_PLAIN <= abs(value) < _LEAST_SCIENTIFIC:
        if exponent <= 0:
            return f"{sign}0.{'0' * -exponent}{digits}"
        digits = digits.ljust(exponent, "0")
        return f"{sign}{digits[:exponent]}.{digits[exponent:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent - 1}"


def _decimal_digits(text: str) -> tuple[str, str, int]:
    """Return sign, digits without zeros around them, and the place of the point before these."""
    sign = "-" if text.startswith("-") else ""
    number, _, power = text.lstrip("-").partition("e")
    whole, _, fraction = number.partition(".")
    digits = (whole + fraction).lstrip("0")
    exponent = len(whole) + int(power or 0) - (len(whole + fraction) - len(digits))
    return sign, digits.rstrip("0") or "0", exponent


def _json_text(value: Any, kind: pa.DataType) -> str:
    return _json_writer(kind)(value)


def _json_writer(kind: pa.DataType) -> Callable[[Any], str]:
    """Return what writes values of a type as JSON. Entries of a map are sorted."""
    if pa.types.is_map(kind):
        key, item = _json_writer(kind.key_type), _json_writer(kind.item_type)

        def write_map(entries: Any) -> str:
            texts = (f'{{"key":{key(k)},"value":{_or_null(v, item)}}}' for k, v in entries)
            return f"[{','.join(sorted(texts))}]"

        return write_map
    if pa.types.is_list(kind):
        write = _json_writer(kind.value_type)
        return lambda items: f"[{','.join(_or_null(each, write) for each in items)}]"
    if pa.types.is_struct(kind):
        fields = [(f"{_quoted(each.name)}:", each.name, _json_writer(each.type)) for each in kind]

        def write_struct(members: Any) -> str:
            texts = (f"{shown}{_or_null(members[name], own)}" for shown, name, own in fields)
            return f"{{{','.join(texts)}}}"

        return write_struct
    if pa.types.is_floating(kind):
        return lambda number: _json_float(number, kind)
    if pa.types.is_binary(kind):
        return lambda data: f'"{b64encode(data).decode()}"'
    if pa.types.is_string(kind):
        return _quoted
    return lambda other: str(text_of(other, kind))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _or_null(value: Any, write: Callable[[Any], str]) -> str:
    return "null" if value is None else write(value)


def _json_float(number: float, kind: pa.DataType) -> str:
    if number != number:
        return f'"{_NAN}"'
    if number in (float("inf"), float("-inf")):
        return f'"{_float_text(number, kind)}"'
    return _float_text(number, kind) if number else str(number)
