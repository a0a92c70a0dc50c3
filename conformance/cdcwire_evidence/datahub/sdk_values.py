"""Values as texts, and whether two mean the same: what an SDK gives, and what was meant."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from cdcwire.datahub.fields import Field
from cdcwire_conformance.judge.difference import shorten


def value_of(field: Field, text: str | None) -> Any:
    """Return what a text means in a column. Raises: ValueError, KeyError if it means nothing."""
    if text is None or field.type == "STRING":
        return text
    match field.type:
        case "DOUBLE":
            return float(text)
        case "FLOAT":
            return _narrow(float(text))
        case "BOOLEAN":
            return {"true": True, "false": False}[text]
        case "DECIMAL":
            return Decimal(text)
        case _:
            return int(text)


def _narrow(number: float) -> float:
    """Return the nearest 32-bit float; infinity beyond the largest."""
    try:
        (narrowed,) = struct.unpack("<f", struct.pack("<f", number))
    except OverflowError:
        return math.copysign(math.inf, number)
    return float(narrowed)


def text_of(value: Any) -> str | None:
    """Return the text of a value; that of a boolean in lower case."""
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


def problem_of_texts(
    fields: Sequence[Field], wanted: Sequence[str | None], found: Sequence[str | None]
) -> str:
    """Return how the values of a record differ from those that were meant, "" if not at all."""
    if len(wanted) != len(found):
        return f"{len(found)} values, {len(wanted)} were meant"
    for field, one, other in zip(fields, wanted, found, strict=True):
        if not means_the_same(field, one, other):
            return f"{field.type} {field.name}: {shown(other)} for {shown(one)}"
    return ""


def means_the_same(field: Field, one: str | None, other: str | None) -> bool:
    """Return whether two texts mean one value in a column: numbers by value, -0.0 apart from 0."""
    if one is None or other is None:
        return one is None and other is None
    try:
        match field.type:
            case "FLOAT" | "DOUBLE":
                form = "<f" if field.type == "FLOAT" else "<d"
                return _bits(form, one) == _bits(form, other)
            case "DECIMAL":
                return Decimal(one) == Decimal(other)
            case "STRING" | "BOOLEAN":
                return one == other
            case _:
                return int(one) == int(other)
    except (ValueError, OverflowError, InvalidOperation):
        return False


def _bits(form: str, text: str) -> bytes:
    number = float(text)
    return b"nan" if number != number else struct.pack(form, number)


def difference(what: str, wanted: object, found: object) -> str:
    """Return how two differ, "" if not at all."""
    return "" if wanted == found else f"{what} {shown(found)} for {shown(wanted)}"


def shown(value: object) -> str:
    """Return a value for a message, in ASCII and not too long."""
    return shorten(ascii(value), 70)
