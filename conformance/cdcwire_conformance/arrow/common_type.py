"""The kind in which two kinds meet, so that both sides of a comparison convert to one.

The side that says more wins: a decimal with precision over one without, labels over their absence.
Numbers meet as numbers where both are exact in one type. Text meets any kind by that kind's text.
"""

from __future__ import annotations

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
    IntType,
    JsonType,
    MapType,
    SetType,
    StructType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    UnknownType,
    VectorType,
    YearType,
)
from cdcwire_conformance.arrow.types import UTC, canonical_kind

_EXACT_DIGITS = {32: 24, 64: 53}  # bits of an integer that a float holds exactly


class NoCommonType(ValueError):
    """No kind holds the values of both exactly. The text says why."""


def common_type(left: Type, right: Type) -> Type:
    """Return the canonical kind of two kinds. Raises: NoCommonType."""
    left, right = canonical_kind(left), canonical_kind(right)
    if left == right:
        return left
    found = _common(left, right)
    if found is None:
        found = _common(right, left)
    if found is None:
        raise NoCommonType(
            f"{describe_kind(left)} and {describe_kind(right)} have no kind in common"
        )
    return found


def describe_kind(kind: Type) -> str:
    """Return a kind as it is written, with the zone of an instant where it is known."""
    text = kind_text(kind)
    zone = kind.zone if isinstance(kind, (TimeType, TimestampType)) else None
    return text if zone is None else f"{text} in zone {zone}"


def _common(left: Type, right: Type) -> Type | None:
    """Return the kind for this order of arguments, or None where no rule is written that way."""
    match left, right:
        case UnknownType(), _:
            return right
        case TextType(ours), TextType(theirs):
            return TextType(_longer(ours, theirs))
        case BytesType(ours), BytesType(theirs):
            return BytesType(_longer(ours, theirs))
        case TextType(), (BytesType() | JsonType()):
            return right
        case TextType(), (ArrayType() | MapType() | StructType()):
            return None
        case TextType(), _:
            return left
        case (IntType() | DecimalType() | FloatType() | BitType() | YearType() | BoolType(), _):
            return _common_numbers(left, right)
        case DateType(), DateType():
            return left
        case TimeType(), TimeType() if left.zone == right.zone:
            return TimeType(_longer(left.fraction, right.fraction), zone=left.zone)
        case DatetimeType(), DatetimeType():
            return DatetimeType(_longer(left.fraction, right.fraction))
        case DatetimeType(), TimestampType(zone=None):
            return DatetimeType(_longer(left.fraction, right.fraction))
        case TimestampType(zone=None), DatetimeType():
            return None  # as the other way round
        case TimestampType(), (TimestampType() | DatetimeType()):
            return TimestampType(_longer(left.fraction, right.fraction), zone=UTC)
        case EnumType(), EnumType():
            return _common_labels(left, right)
        case SetType(), SetType():
            return _common_labels(left, right)
        case VectorType(), ArrayType(FloatType()):
            return left
        case ArrayType(), ArrayType():
            return ArrayType(common_type(left.item, right.item))
        case MapType(), MapType():
            return MapType(common_type(left.key, right.key), common_type(left.value, right.value))
        case _:
            return None


def _common_numbers(left: Type, right: Type) -> Type | None:
    match left, right:
        case FloatType(), FloatType():
            return FloatType(64)
        case FloatType(bits), (IntType() | YearType() | BoolType()):
            whole = _as_int(right)
            return left if whole.bits <= _EXACT_DIGITS[bits] else None
        case DecimalType(), DecimalType():
            return _common_decimals(left, right)
        case DecimalType(), (IntType() | YearType() | BoolType() | BitType()):
            digits = 20 if isinstance(right, BitType) else _digits(_as_int(right))
            return _common_decimals(left, DecimalType(digits, 0))
        case (IntType() | YearType() | BoolType(), IntType() | YearType() | BoolType()):
            return _common_ints(_as_int(left), _as_int(right))
        case BitType(length), (IntType() | YearType() | BoolType()) if (
            length is None or length < 65
        ):
            return _common_ints(IntType(64, length is None or length == 64), _as_int(right))
        case BitType(), BitType():
            return left if right.length is None else right
        case _:
            return None


def _as_int(kind: Type) -> IntType:
    if isinstance(kind, IntType):
        return kind
    return IntType(8) if isinstance(kind, BoolType) else IntType(16, True)


def _digits(kind: IntType) -> int:
    return len(str((1 << kind.bits) - 1 if kind.unsigned else 1 << kind.bits - 1))


def _common_ints(left: IntType, right: IntType) -> Type:
    if left.unsigned == right.unsigned:
        return IntType(max(left.bits, right.bits), left.unsigned)
    unsigned, signed = (left, right) if left.unsigned else (right, left)
    wider: dict[int, IntBits] = {8: 16, 16: 24, 24: 32, 32: 64}
    if unsigned.bits == 64:
        return DecimalType(20, 0)  # 20 digits: from -2**63 to 2**64 - 1
    return IntType(max(wider[unsigned.bits], signed.bits))


def _common_decimals(left: DecimalType, right: DecimalType) -> DecimalType:
    if left.precision is None or right.precision is None:
        return left if right.precision is None else right
    scale = max(left.scale or 0, right.scale or 0)
    whole = max(left.precision - (left.scale or 0), right.precision - (right.scale or 0))
    return DecimalType(whole + scale, scale)


def _common_labels(left: EnumType | SetType, right: EnumType | SetType) -> Type:
    word = "enum" if isinstance(left, EnumType) else "set"
    if left.labels is not None and right.labels is not None:
        raise NoCommonType(f"the labels differ: {kind_text(left)} and {kind_text(right)}")
    if left.labels is not None or right.labels is not None:
        return left if left.labels is not None else right
    raise NoCommonType(f"{word} values by number meet labels only if the labels are known (--ddl)")


def _longer(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else max(left, right)
