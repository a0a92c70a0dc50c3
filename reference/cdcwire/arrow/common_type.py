"""The kind in which two kinds meet, so that both sides of a comparison convert to one.

The side that says more wins: a decimal with precision over one without, labels over their absence.
Numbers meet as numbers where both are exact in one type. Text meets any kind by that kind's text.
"""

from __future__ import annotations

from dataclasses import fields, replace

from cdcwire.arrow.types import UTC, canonical_kind, has_labels
from cdcwire.connect.labels import may_be_same_labels
from cdcwire.model import kinds
from cdcwire.model.kind_text import kind_text

_NO_LABELS = "{} values by number meet labels only if the labels are known (--ddl)"
_EXACT_DIGITS = {32: 24, 64: 53}  # bits of an integer that a float holds exactly


class NoCommonType(ValueError):
    """No kind holds the values of both exactly. The text says why."""


def common_type(left: kinds.Type, right: kinds.Type) -> kinds.Type:
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


def kind_by_definition(sent: kinds.Type, declared: kinds.Type) -> kinds.Type:
    """Return the canonical kind of a column by its kind in messages and in a definition.

    The definition says what messages leave open. Where producers send a type in several ways, the
    messages decide: a decimal as a float, JSON in a column of text, labels with escapes. Raises:
    NoCommonType where the definition has something else.
    """
    sent, declared = canonical_kind(sent), canonical_kind(declared)
    match declared, sent:
        case kinds.DecimalType(None), (kinds.DecimalType() | kinds.IntType()):
            return common_type(sent, declared)
        case (kinds.EnumType(), kinds.EnumType()) | (kinds.SetType(), kinds.SetType()):
            return _labels_by_definition(sent, declared)
        case kinds.ArrayType(theirs), kinds.ArrayType(ours):
            return kinds.ArrayType(kind_by_definition(ours, theirs))
        case (
            (kinds.DecimalType(), kinds.FloatType())
            | (kinds.TextType(), (kinds.JsonType() | kinds.BytesType()))
            | (kinds.StructType(), (kinds.TextType() | kinds.BytesType()))
            | (kinds.MapType(), kinds.JsonType())
            | (kinds.DatetimeType(), kinds.TimestampType())
            | (kinds.IntervalType(), kinds.IntervalType())
            # A feed may have BIGINT UNSIGNED as a signed number.
            | (kinds.IntType(64, False), (kinds.IntType(64, True) | kinds.DecimalType()))
            | (kinds.TimeType(zone=None), kinds.TimeType(zone=str()))
            | (kinds.TimeType(zone=str()), kinds.TimeType(zone=None))
        ):
            return sent
        case kinds.TimestampType(fraction, zone=None), kinds.TimestampType(zone=zone):
            return kinds.TimestampType(fraction, zone=zone)
        case kinds.UnknownType(), _:
            return sent
        case _:
            common_type(sent, declared)
            return declared


def _labels_by_definition(sent: kinds.Type, declared: kinds.Type) -> kinds.Type:
    """Return the labels of both if one list goes on where the other ends, else text."""
    assert isinstance(sent, (kinds.EnumType, kinds.SetType))
    assert isinstance(declared, (kinds.EnumType, kinds.SetType))
    ours, theirs = sent.labels, declared.labels
    if ours is None or theirs is None:
        return declared if ours is None else sent
    if may_be_same_labels(ours, theirs):
        return declared
    size = min(len(ours), len(theirs))
    if ours[:size] != theirs[:size]:
        return kinds.TextType()
    return sent if len(ours) > size else declared


def describe_kind(kind: kinds.Type) -> str:
    """Return a kind as it is written, with the zone of an instant where it is known."""
    text = kind_text(kind)
    zone = kind.zone if isinstance(kind, (kinds.TimeType, kinds.TimestampType)) else None
    return text if zone is None else f"{text} in zone {zone}"


def types_differ(left: kinds.Type, right: kinds.Type) -> bool:
    """Return whether two kinds say different things of a column.

    One that says less than the other, as a decimal without its precision, does not differ.
    """
    left, right = canonical_kind(left), canonical_kind(right)
    if isinstance(left, kinds.UnknownType) or isinstance(right, kinds.UnknownType):
        return False
    if type(left) is not type(right):
        return True
    for each in fields(left):
        ours, theirs = getattr(left, each.name), getattr(right, each.name)
        if each.name == "form" or ours is None or theirs is None or ours == theirs:
            continue
        if each.name == "labels" and may_be_same_labels(ours, theirs):
            continue
        if not isinstance(ours, kinds.Type) or types_differ(ours, theirs):
            return True
    return False


def _common(left: kinds.Type, right: kinds.Type) -> kinds.Type | None:
    """Return the kind for this order of arguments, or None where no rule is written that way."""
    match left, right:
        case kinds.UnknownType(), _:
            return right
        case kinds.TextType(ours), kinds.TextType(theirs):
            return kinds.TextType(_longer(ours, theirs))
        case kinds.BytesType(ours), kinds.BytesType(theirs):
            return kinds.BytesType(_longer(ours, theirs))
        case kinds.TextType(), (kinds.BytesType() | kinds.JsonType()):
            return right
        case kinds.TextType(), (
            kinds.DateType()
            | kinds.TimeType(zone=None)
            | kinds.DatetimeType()
            | kinds.TimestampType()
        ):
            return right  # a text of another form stays as it is
        case kinds.TextType(), (kinds.ArrayType() | kinds.MapType() | kinds.StructType()):
            return None
        case kinds.TextType(), (kinds.EnumType() | kinds.SetType()) if not has_labels(right):
            raise NoCommonType(
                _NO_LABELS.format("enum" if isinstance(right, kinds.EnumType) else "set")
            )
        case kinds.TextType(), _:
            return left
        case (
            kinds.IntType()
            | kinds.DecimalType()
            | kinds.FloatType()
            | kinds.BitType()
            | kinds.YearType()
            | kinds.BoolType(),
            _,
        ):
            return _common_numbers(left, right)
        case kinds.DateType(), kinds.DateType():
            return left
        case kinds.TimeType(), kinds.TimeType() if left.zone == right.zone:
            return kinds.TimeType(_longer(left.fraction, right.fraction), zone=left.zone)
        case kinds.DatetimeType(), kinds.DatetimeType():
            return kinds.DatetimeType(_longer(left.fraction, right.fraction))
        case kinds.DatetimeType(), kinds.TimestampType(zone=None):
            return kinds.DatetimeType(_longer(left.fraction, right.fraction))
        case kinds.TimestampType(zone=None), kinds.DatetimeType():
            return None  # as the other way round
        case kinds.TimestampType(), (kinds.TimestampType() | kinds.DatetimeType()):
            return kinds.TimestampType(_longer(left.fraction, right.fraction), zone=UTC)
        case kinds.IntervalType("text"), kinds.IntervalType("us"):
            return right  # a period has a count, a count has no period
        case kinds.EnumType(), kinds.EnumType():
            return _common_labels(left, right)
        case kinds.SetType(), kinds.SetType():
            return _common_labels(left, right)
        case kinds.VectorType(), kinds.ArrayType(kinds.FloatType()):
            return left
        case kinds.ArrayType(), kinds.ArrayType():
            return kinds.ArrayType(common_type(left.item, right.item))
        case kinds.MapType(), kinds.MapType():
            return kinds.MapType(
                common_type(left.key, right.key), common_type(left.value, right.value)
            )
        case kinds.StructType(), kinds.StructType():
            return _common_structs(left, right)
        case (
            (kinds.StructType() | kinds.MapType(kinds.TextType())),
            (kinds.StructType() | kinds.JsonType()),
        ):
            return kinds.JsonType()  # without schema, a map is an object of any members
        case _:
            return None


def _common_numbers(left: kinds.Type, right: kinds.Type) -> kinds.Type | None:
    match left, right:
        case kinds.FloatType(), kinds.FloatType():
            return kinds.FloatType(64)
        case kinds.FloatType(bits), (kinds.IntType() | kinds.YearType() | kinds.BoolType()):
            whole = _as_int(right)
            return left if whole.bits <= _EXACT_DIGITS[bits] else None
        case kinds.DecimalType(), kinds.DecimalType():
            return _common_decimals(left, right)
        case kinds.DecimalType(), (
            kinds.IntType() | kinds.YearType() | kinds.BoolType() | kinds.BitType()
        ):
            if left.precision is None:
                return left  # it may have more digits than the integers
            digits = 20 if isinstance(right, kinds.BitType) else _digits(_as_int(right))
            return _common_decimals(left, kinds.DecimalType(digits, 0))
        case (
            kinds.IntType() | kinds.YearType() | kinds.BoolType(),
            kinds.IntType() | kinds.YearType() | kinds.BoolType(),
        ):
            return _common_ints(_as_int(left), _as_int(right))
        case kinds.BitType(length), (kinds.IntType() | kinds.YearType() | kinds.BoolType()) if (
            length is None or length < 65
        ):
            return _common_ints(kinds.IntType(64, length is None or length == 64), _as_int(right))
        case kinds.BitType(), kinds.BitType():
            return left if right.length is None else right
        case _:
            return None


def _as_int(kind: kinds.Type) -> kinds.IntType:
    if isinstance(kind, kinds.IntType):
        return kind
    return kinds.IntType(8) if isinstance(kind, kinds.BoolType) else kinds.IntType(16, True)


def _digits(kind: kinds.IntType) -> int:
    return len(str((1 << kind.bits) - 1 if kind.unsigned else 1 << kind.bits - 1))


def _common_ints(left: kinds.IntType, right: kinds.IntType) -> kinds.Type:
    if left.unsigned == right.unsigned:
        return kinds.IntType(max(left.bits, right.bits), left.unsigned)
    unsigned, signed = (left, right) if left.unsigned else (right, left)
    wider: dict[int, kinds.IntBits] = {8: 16, 16: 24, 24: 32, 32: 64}
    if unsigned.bits == 64:
        return kinds.DecimalType(20, 0)  # 20 digits: from -2**63 to 2**64 - 1
    return kinds.IntType(max(wider[unsigned.bits], signed.bits))


def _common_decimals(left: kinds.DecimalType, right: kinds.DecimalType) -> kinds.DecimalType:
    if left.precision is None or right.precision is None:
        return left if right.precision is None else right
    scale = max(left.scale or 0, right.scale or 0)
    whole = max(left.precision - (left.scale or 0), right.precision - (right.scale or 0))
    return kinds.DecimalType(whole + scale, scale)


def _common_structs(left: kinds.StructType, right: kinds.StructType) -> kinds.Type:
    """Return the struct of both; JSON where one has a member that the other lacks.

    A member that is absent is not NULL, and a struct's members are all there.
    """
    theirs = {column.name: column for column in right.columns}
    if theirs.keys() != {column.name for column in left.columns}:
        return kinds.JsonType()
    columns = (
        replace(column, type=common_type(column.type, theirs[column.name].type))
        for column in left.columns
    )
    return kinds.StructType(tuple(columns))


def _common_labels(
    left: kinds.EnumType | kinds.SetType, right: kinds.EnumType | kinds.SetType
) -> kinds.Type:
    if left.labels is not None and right.labels is not None:
        if may_be_same_labels(left.labels, right.labels):
            return kinds.TextType()  # the text was split at a comma of a label
        raise NoCommonType(f"the labels differ: {kind_text(left)} and {kind_text(right)}")
    if left.labels is not None or right.labels is not None:
        return left if left.labels is not None else right
    raise NoCommonType(_NO_LABELS.format(_label_word(left)))


def _label_word(kind: kinds.Type) -> str:
    return "enum" if isinstance(kind, kinds.EnumType) else "set"


def _longer(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else max(left, right)
