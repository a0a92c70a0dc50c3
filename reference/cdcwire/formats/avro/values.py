"""Column values between Avro's and the neutral model's.

``model_value`` checks what an Avro value has to keep beyond its type: digits, ranges, lengths.
``avro_value`` goes back, exactly or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Any

from cdcwire.apache_avro.schema import Datum
from cdcwire.core.errors import EncodeError
from cdcwire.core.limits import INT64_END, UINT64_END
from cdcwire.formats.avro.plans import MAX_DECIMAL_DIGITS, FieldPlan, Form
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kinds import UNAVAILABLE, Column, DecimalType, EnumType, SetType, Value
from cdcwire.mysql.declared import DeclaredType
from cdcwire.mysql.values import is_vector_text, read_decimal, read_vector, wire_value

_UINT32_END = 1 << 32
_MAX_DECIMAL_BYTES = 416  # of MAX_DECIMAL_DIGITS digits
_MAX_BIT_BYTES = 8
_DIGITS = re.compile(r"0|[1-9][0-9]{0,19}", re.ASCII)
# Room for every digit: the default context would round.
EXACT = Context(prec=2 * MAX_DECIMAL_DIGITS + 8)


def model_value(plan: FieldPlan, datum: Datum) -> Value:
    """Return the model's value of a column's datum, which is not NULL.

    A negative BIGINT UNSIGNED stays what the wire has: see ``unwrapped``.
    Raises: ValueError with the problem when the column can't have the value.
    """
    convert = _CONVERSIONS.get(plan.form)
    return datum if convert is None else convert(plan, datum)


def unwrapped(value: int) -> int:
    """Return the unsigned number of a long that wrapped. Source: avro, "bigint unsigned"."""
    return value + UINT64_END if value < 0 else value


def decimal_of_bytes(raw: bytes, scale: int) -> Decimal:
    """Return a decimal from the big-endian two's complement of value x 10^scale, exactly.

    Raises: ValueError for no bytes, and for more digits than the limit allows.
    """
    if not raw:
        raise ValueError("a DECIMAL has at least one byte")
    if len(raw) > _MAX_DECIMAL_BYTES and _significant(raw) > _MAX_DECIMAL_BYTES:
        raise ValueError(f"a DECIMAL of more than {_MAX_DECIMAL_BYTES} bytes")
    unscaled = int.from_bytes(raw, "big", signed=True)
    return EXACT.scaleb(unscaled, -scale)


def _significant(raw: bytes) -> int:
    """Return how many bytes a number needs without leading repetitions of its sign."""
    sign = b"\xff" if raw[0] & 0x80 else b"\x00"
    rest = raw.lstrip(sign)
    return len(rest) + (not rest or (rest[0] ^ sign[0]) >= 0x80)


def decimal_bytes(value: Decimal, scale: int) -> bytes:
    """Return value x 10^scale in the fewest bytes of big-endian two's complement.

    Raises: ValueError when that is not a whole number, or beyond the limit.
    """
    unscaled = _unscaled(value, scale)
    size = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    return unscaled.to_bytes(size, "big", signed=True)


def bit_bytes(number: int, size: int = 1) -> bytes:
    """Return a BIT value, big-endian, in at least ``size`` bytes and no more than it needs."""
    return number.to_bytes(max(size, (number.bit_length() + 7) // 8), "big")


def _unscaled(value: Decimal, scale: int) -> int:
    if not value.is_finite():
        raise ValueError(f"DECIMAL has no {value}")
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # finite
    shift = exponent + scale
    if len(digits) + max(shift, 0) > MAX_DECIMAL_DIGITS and any(digits):
        raise ValueError(f"a decimal of more than {MAX_DECIMAL_DIGITS} digits")
    number = int("".join(map(str, digits)))
    if number == 0:
        return 0
    if shift >= 0:
        number *= 10**shift
    else:
        number, rest = divmod(number, 10**-shift) if -shift <= len(digits) else (0, number)
        if rest:
            raise ValueError(f"{value} has more than {scale} fraction digits")
    return -number if sign else number


def _checked(low: int, end: int, what: str) -> Callable[[FieldPlan, Datum], Value]:
    def check(plan: FieldPlan, datum: Datum) -> Value:
        if not low <= datum < end:
            raise ValueError(f"{datum} is not a valid {what}")
        return datum

    return check


def _unsigned_of_text(plan: FieldPlan, datum: Datum) -> int:
    if _DIGITS.fullmatch(datum) is None or int(datum) >= UINT64_END:
        raise ValueError(f"{datum!r:.60} are not the digits of an unsigned number of 64 bits")
    return int(datum)


def _decimal_of_text(plan: FieldPlan, datum: Datum) -> Decimal:
    found = read_decimal(datum)
    if isinstance(found, str):
        raise ValueError(f"{datum!r:.60} is not a decimal")
    return found


def _bit(plan: FieldPlan, datum: Datum) -> int:
    if not 1 <= len(datum) <= _MAX_BIT_BYTES:
        raise ValueError(f"a BIT has 1 to {_MAX_BIT_BYTES} bytes, not {len(datum)}")
    return int.from_bytes(datum, "big")


def _vector(plan: FieldPlan, datum: Datum) -> tuple[float, ...]:
    if not is_vector_text(datum):
        raise ValueError(f"{datum!r:.60} is not a vector")
    return read_vector(datum)


_CONVERSIONS: dict[Form, Callable[[FieldPlan, Any], Value]] = {
    Form.UINT32_INT: _checked(0, _UINT32_END, "INT UNSIGNED"),
    Form.UINT32_LONG: _checked(0, _UINT32_END, "INT UNSIGNED"),
    Form.INT32_LONG: _checked(-1 << 31, 1 << 31, "INT"),
    Form.UINT64_TEXT: _unsigned_of_text,
    Form.FLOAT_DOUBLE: lambda plan, datum: narrow_float32(datum),
    Form.DECIMAL_BYTES: lambda plan, datum: decimal_of_bytes(datum, plan.scale),
    Form.DECIMAL_TEXT: _decimal_of_text,
    Form.BIT: _bit,
    Form.VECTOR: _vector,
}
CHECKED_FORMS = frozenset(_CONVERSIONS) - {Form.FLOAT_DOUBLE}


@dataclass(frozen=True, slots=True)
class ValueWriter:
    """Makes Avro values of one column.

    ``column``: with the labels of its definition. ``plan``: the field it is written to.
    ``bit_size``: the least number of bytes of a BIT.
    """

    column: Column
    declared: DeclaredType
    plan: FieldPlan
    time_zone: str | None
    is_scale_known: bool = True
    bit_size: int = 1

    def write(self, value: Value) -> Datum:
        """Return the datum of a value. Raises: EncodeError when the column can't have it."""
        clause = self.plan.clause
        if value is None:
            if self.plan.null_index is None:
                raise EncodeError("the column is NOT NULL", "avro: null and defaults")
            return None
        if value is UNAVAILABLE:
            raise EncodeError("an unavailable value has no form here", clause)
        try:
            return self._datum(value)
        except ValueError as error:
            if isinstance(error, EncodeError):
                raise
            raise EncodeError(str(error), clause) from error

    def _datum(self, value: Value) -> Datum:
        plan, clause = self.plan, self.plan.clause
        if isinstance(self.column.type, DecimalType):
            return self._decimal(value)
        found: Any = wire_value(self.column, value, self.time_zone, clause)
        match plan.form:
            case Form.UINT64_LONG if isinstance(found, int) and 0 <= found < UINT64_END:
                return found - UINT64_END if found >= INT64_END else found
            case Form.UINT64_TEXT if isinstance(found, int) and 0 <= found < UINT64_END:
                return str(found)
            case Form.BIT if isinstance(found, int) and 0 <= found < UINT64_END:
                return self._bit(found)
            case Form.TEXT if isinstance(found, bytes):
                return value
            case Form.STRING if isinstance(self.column.type, EnumType):
                return self._enum_label(found)
            case Form.STRING if isinstance(self.column.type, SetType):
                return value if isinstance(value, str) else self._set_labels(found)
            case Form.STRING | Form.VECTOR if isinstance(found, str):
                return found
            case Form.BYTES if isinstance(found, bytes):
                return found
            case Form.FLOAT | Form.FLOAT_DOUBLE | Form.DOUBLE if isinstance(found, float):
                return found
            case Form.INT | Form.LONG | Form.UINT32_INT | Form.UINT32_LONG if isinstance(
                found, int
            ):
                return found
        raise ValueError(f"{value!r:.80} is not a value of {plan.source}")

    def _bit(self, number: int) -> bytes:
        length = self.declared.flen or 1
        if number.bit_length() > length:
            raise ValueError(f"{number} has more than the {length} bits of the column")
        return bit_bytes(number, self.bit_size)

    def _decimal(self, value: Value) -> Datum:
        if not isinstance(value, Decimal):
            raise ValueError(f"{value!r:.80} is not a decimal")
        if self.plan.form is Form.DECIMAL_BYTES:
            return decimal_bytes(value, self.plan.scale)
        if self.plan.form is not Form.DECIMAL_TEXT:
            raise ValueError(f"{value!r:.80} is not a value of {self.plan.source}")
        scale = self.declared.decimal if self.is_scale_known else None
        return decimal_text(value, scale or 0 if self.is_scale_known else None)

    def _labels(self) -> tuple[str, ...]:
        return self.declared.elements or ()

    def _enum_label(self, index: int) -> str:
        labels = self._labels()
        if not 1 <= index <= len(labels):
            raise ValueError(f"the ENUM has {len(labels)} options, not an option {index}")
        return labels[index - 1]

    def _set_labels(self, mask: int) -> str:
        labels = self._labels()
        if not 0 <= mask < 1 << len(labels):
            raise ValueError(f"the SET has {len(labels)} options, not those of {mask}")
        return ",".join(label for bit, label in enumerate(labels) if mask >> bit & 1)


def decimal_text(value: Decimal, scale: int | None) -> str:
    """Return a decimal with exactly ``scale`` fraction digits, or as it is where none is known.

    Raises: ValueError when it has more.
    """
    if scale is None:
        _unscaled(value, max(-_exponent(value), 0))  # checks its size
        return f"{value:f}"
    unscaled = _unscaled(value, scale)
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    whole, fraction = digits[: len(digits) - scale], digits[len(digits) - scale :]
    return ("-" if unscaled < 0 else "") + (f"{whole}.{fraction}" if scale else whole)


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def with_labels(column: Column, elements: tuple[str, ...] | None) -> Column:
    """Return an ENUM or SET column whose kind has its labels."""
    kind = column.type
    if isinstance(kind, (EnumType, SetType)) and elements is not None and kind.labels != elements:
        return replace(column, type=replace(kind, labels=elements))
    return column
