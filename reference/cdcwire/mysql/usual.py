"""The usual columns of the MySQL family: those whose values fast encoders write directly.

``usual_form`` says which check leads from a column's model values to its wire values. All other
columns, and all other values of a usual column, take the way of the plain encoder, ``wire_value``.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Literal, TypeAlias

from cdcwire.core.compiled import Irregular
from cdcwire.core.limits import INT64_END, INT64_START, UINT64_END
from cdcwire.model import kinds
from cdcwire.model.kinds import Column, index_of_label, mask_of_labels
from cdcwire.mysql import types

Form: TypeAlias = Literal[
    "integer", "label", "float", "double", "decimal", "text", "bytes", "characters", "other"
]
"""The form of a column's values. ``label``: ENUM and SET, whose values are integers or labels.
``text``, ``bytes``: string types. ``characters``: all other types whose values are text."""


def usual_form(column: Column, code: int, flags: int) -> Form:
    """Return the form of a column's values; ``other`` where each value needs the plain encoder."""
    found = _FORMS.get(type(column.type))
    if found is None or code not in found[1]:
        return "other"
    form = found[0]
    match column.type:
        case kinds.FloatType(bits):
            return "float" if bits == 32 else "double"
        case kinds.DateType() | kinds.DatetimeType() as kind if kind.form != "text":
            return "other"
        case kinds.TimeType() | kinds.TimestampType() as kind if kind.form != "text" or kind.zone:
            return "other"
        case kinds.BytesType() if not flags & types.FLAG_BINARY:
            return "other"
        case kinds.TextType() if flags & types.FLAG_BINARY:
            return "other"
    return form


def integer_range(column: Column, code: int, flags: int) -> tuple[int, int]:
    """Return the least integer of a column, and the first one after the largest."""
    kind = column.type
    if isinstance(kind, kinds.IntType):
        return (0, 1 << kind.bits) if kind.unsigned else (-1 << kind.bits - 1, 1 << kind.bits - 1)
    return (0, UINT64_END) if types.is_unsigned(code, flags) else (INT64_START, INT64_END)


def number_of_label(column: Column) -> Callable[[str], int]:
    """Return what makes the number of an ENUM or SET value of its label.

    The function raises ValueError for anything but a label of the column.
    """
    kind = column.type

    def number(label: str) -> int:
        if isinstance(kind, kinds.EnumType):
            found = index_of_label(kind, label)
        elif isinstance(kind, kinds.SetType):
            found = mask_of_labels(kind, label)
        else:
            found = None
        if found is None:
            raise Irregular
        return found

    return number


def decimal_text(value: Decimal) -> str:
    """Return a Decimal without an exponent. Raises: Irregular for NaN and infinities."""
    if not value.is_finite():
        raise Irregular
    text = str(value)
    return text if "E" not in text else f"{value:f}"


_FORMS: dict[type[kinds.Type], tuple[Form, frozenset[int]]] = {
    kinds.IntType: ("integer", types.INTEGER_TYPES),
    kinds.YearType: ("integer", frozenset({types.TYPE_YEAR})),
    kinds.BitType: ("integer", frozenset({types.TYPE_BIT})),
    kinds.FloatType: ("double", frozenset({types.TYPE_FLOAT, types.TYPE_DOUBLE})),
    kinds.DecimalType: ("decimal", frozenset({types.TYPE_NEWDECIMAL})),
    kinds.TextType: ("text", types.STRING_TYPES),
    kinds.BytesType: ("bytes", types.STRING_TYPES),
    kinds.DateType: ("characters", frozenset({types.TYPE_DATE, types.TYPE_NEWDATE})),
    kinds.TimeType: ("characters", frozenset({types.TYPE_DURATION})),
    kinds.DatetimeType: ("characters", frozenset({types.TYPE_DATETIME})),
    kinds.TimestampType: ("characters", frozenset({types.TYPE_TIMESTAMP})),
    kinds.JsonType: ("characters", frozenset({types.TYPE_JSON})),
    kinds.EnumType: ("label", frozenset({types.TYPE_ENUM})),
    kinds.SetType: ("label", frozenset({types.TYPE_SET})),
}
