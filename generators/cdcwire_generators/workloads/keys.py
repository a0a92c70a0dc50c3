"""Values of key columns: each row of a table has a number, and from it follow its unique values."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias

from cdcwire.model import kinds
from cdcwire.model.events import Table
from cdcwire.model.kinds import Column, Value

ValueOfNumber: TypeAlias = Callable[[int], Value]

ENDLESS = 1 << 62  # more rows than anyone makes
_DAYS = 24_000  # 1970 to 2035
_SECONDS = 2_000_000_000


def unique_columns(table: Table) -> tuple[str, ...]:
    """Return the names of the columns whose values are all different: key and unique columns."""
    key = table.key or ()
    return tuple(
        column.name
        for column in table.columns or ()
        if column.name in key or column.roles & {"primary", "handle", "unique"}
    )


def key_values(column: Column) -> tuple[ValueOfNumber, int]:
    """Return how a row's number becomes the value of a unique column, and how many there are."""
    kind = column.type
    match kind:
        case kinds.BoolType():
            return (lambda number: number % 2 == 1), 2
        case kinds.IntType(bits, unsigned):
            end = 1 << (bits if unsigned else bits - 1)
            return (lambda number: number % end), min(end, ENDLESS)
        case kinds.BitType(length):
            end = 1 << min(length or 1, 62)
            return (lambda number: number % end), end
        case kinds.FloatType(bits):
            end = 1 << (24 if bits == 32 else 53)
            return (lambda number: float(number % end)), end
        case kinds.DecimalType(precision, scale):
            return _decimals(precision or 10, scale or 0)
        case kinds.TextType(length):
            return _texts(8 if length is None else min(length, 8))
        case kinds.BytesType(length):
            size = 8 if length is None else min(length, 8)
            end = 1 << 8 * size
            return (lambda number: (number % end).to_bytes(size, "big")), min(end, ENDLESS)
        case kinds.YearType():
            return (lambda number: 1901 + number % 255), 255
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return _temporals(kind)
        case kinds.EnumType(labels, "label") | kinds.SetType(labels, "label"):
            known = labels or ("a", "b", "c")
            return (lambda number: known[number % len(known)]), len(known)
        case kinds.EnumType(labels):
            count = 65535 if labels is None else len(labels)
            return (lambda number: 1 + number % count), count
        case kinds.SetType(labels):
            end = 1 << (62 if labels is None else len(labels))
            return (lambda number: number % end), end
        case _:
            raise ValueError(f"column {column.name!r}: a key of this type is not supported")


def _texts(size: int) -> tuple[ValueOfNumber, int]:
    end = 36**size
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"

    def value_of(number: int) -> str:
        number %= end
        text = ""
        for _ in range(size):
            number, digit = divmod(number, 36)
            text = digits[digit] + text
        return text

    return value_of, end


def _decimals(precision: int, scale: int) -> tuple[ValueOfNumber, int]:
    end = 10 ** min(precision - scale, 18) if precision > scale else 1
    fraction = f".{'0' * scale}" if scale else ""
    return (lambda number: Decimal(f"{number % end}{fraction}")), end


def _temporals(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType,
) -> tuple[ValueOfNumber, int]:
    from cdcwire.model.temporal import count_text

    if isinstance(kind, kinds.DateType):
        if kind.form == "text":
            return (lambda number: count_text(kinds.DateType("d"), number % _DAYS)), _DAYS
        per_day = {"d": 1, "ms": 86_400_000}.get(kind.form, 86_400_000_000)
        return (lambda number: number % _DAYS * per_day), _DAYS
    seconds = 86_400 if isinstance(kind, kinds.TimeType) else _SECONDS
    if kind.form != "text":
        per_second = {"ms": 10**3, "us": 10**6, "ns": 10**9}[kind.form]
        return (lambda number: (number % (seconds - 1) + 1) * per_second), seconds - 1
    shown: kinds.TimeType | kinds.DatetimeType = (
        kinds.TimeType(kind.fraction, "ms")
        if isinstance(kind, kinds.TimeType)
        else kinds.DatetimeType(kind.fraction, "ms")
    )
    # 0 is left out: a TIMESTAMP of 1970-01-01 00:00:00 is MySQL's zero.
    return (lambda number: count_text(shown, (number % (seconds - 1) + 1) * 1000)), seconds - 1
