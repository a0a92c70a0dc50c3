"""The closed set of types, one small class per kind, and the columns that have them.

A value stays as the wire carries it, and its type says in which form. A date may be text or a count
of days, an enum an index or a label. A parameter that the format does not say is ``None``.

``cdcwire.model.kind_text`` has the written form (``int64 unsigned``, ``decimal(10,4)``). It leaves
out ``form`` and ``zone``: they travel with each value (``unit``, ``index``, ``label``).

| kind | Python value |
| --- | --- |
| BoolType | bool |
| IntType, YearType, BitType | int |
| FloatType | float; 32 bits: one that a float32 holds exactly |
| DecimalType | Decimal, scale as sent; str where the wire's text is not a plain number |
| TextType | str; bytes if ill-formed UTF-8 |
| BytesType | bytes |
| DateType, TimeType, DatetimeType, TimestampType | str as sent, or int with ``form`` |
| IntervalType | str (ISO 8601), or int with ``form`` |
| EnumType, SetType | by ``form``: int (index from 1, bit mask) or str (labels joined by ``,``) |
| JsonType | str as sent |
| VectorType | tuple of float, each one that a float32 holds exactly |
| ArrayType, MapType | tuple of values; tuple of pairs |
| StructType | Image |
| UnknownType | whatever the wire has |
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypeAlias

Role: TypeAlias = Literal["primary", "handle", "unique", "multiple", "generated", "virtual"]
TemporalForm: TypeAlias = Literal["text", "d", "ms", "us", "ns"]
LabelForm: TypeAlias = Literal["index", "label"]
IntBits: TypeAlias = Literal[8, 16, 24, 32, 64]
FloatBits: TypeAlias = Literal[32, 64]


@dataclass(frozen=True, slots=True)
class BoolType:
    """A truth value."""


@dataclass(frozen=True, slots=True)
class IntType:
    """An integer of ``bits`` bits, signed unless ``unsigned``."""

    bits: IntBits
    unsigned: bool = False


@dataclass(frozen=True, slots=True)
class FloatType:
    """A binary floating-point number of 32 or 64 bits."""

    bits: FloatBits


@dataclass(frozen=True, slots=True)
class DecimalType:
    """An exact decimal number; ``precision`` counts all digits, ``scale`` those of the fraction."""

    precision: int | None = None
    scale: int | None = None


@dataclass(frozen=True, slots=True)
class TextType:
    """A character string. ``length``: its declared length."""

    length: int | None = None


@dataclass(frozen=True, slots=True)
class BytesType:
    """A byte string. ``length``: its declared length."""

    length: int | None = None


@dataclass(frozen=True, slots=True)
class BitType:
    """A bit field as an unsigned integer. ``length``: its number of bits."""

    length: int | None = None


@dataclass(frozen=True, slots=True)
class DateType:
    """A calendar date. ``form``: text or a count of units since 1970-01-01."""

    form: TemporalForm = "text"


@dataclass(frozen=True, slots=True)
class TimeType:
    """A time of day or a duration. ``fraction``: digits of a second; ``zone``: its time zone."""

    fraction: int | None = None
    form: TemporalForm = "text"
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class DatetimeType:
    """A date and time without a time zone. ``fraction``: its digits of a second."""

    fraction: int | None = None
    form: TemporalForm = "text"


@dataclass(frozen=True, slots=True)
class TimestampType:
    """An instant. ``zone``: ``+00:00`` or a zone's name; ``None`` when the bytes don't say."""

    fraction: int | None = None
    form: TemporalForm = "text"
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class YearType:
    """A year, as an integer."""


@dataclass(frozen=True, slots=True)
class IntervalType:
    """A span of time. ``form``: ISO 8601 text or a count of microseconds."""

    form: Literal["text", "us"] = "text"


@dataclass(frozen=True, slots=True)
class EnumType:
    """One of several labels. ``form``: the index of the label, from 1, or the label itself."""

    labels: tuple[str, ...] | None = None
    form: LabelForm = "index"


@dataclass(frozen=True, slots=True)
class SetType:
    """Any number of labels. ``form``: a bit mask, or the labels joined by ``,``."""

    labels: tuple[str, ...] | None = None
    form: LabelForm = "index"


@dataclass(frozen=True, slots=True)
class JsonType:
    """A JSON document, as the text that was sent."""


@dataclass(frozen=True, slots=True)
class VectorType:
    """A list of 32-bit floating-point numbers."""


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A list of values of the type ``item``."""

    item: Type


@dataclass(frozen=True, slots=True)
class MapType:
    """A list of entries, each with a key and a value."""

    key: Type
    value: Type


@dataclass(frozen=True, slots=True)
class StructType:
    """A nested row with its own columns."""

    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class UnknownType:
    """A type without a counterpart in the model; its value is what the wire has."""


Type: TypeAlias = (
    BoolType
    | IntType
    | FloatType
    | DecimalType
    | TextType
    | BytesType
    | BitType
    | DateType
    | TimeType
    | DatetimeType
    | TimestampType
    | YearType
    | IntervalType
    | EnumType
    | SetType
    | JsonType
    | VectorType
    | ArrayType
    | MapType
    | StructType
    | UnknownType
)


class Missing(Enum):
    """Two markers that are neither a value nor NULL."""

    UNAVAILABLE = "unavailable"  # the producer had no value and says so
    ABSENT = "absent"  # there is none: a column without default

    def __repr__(self) -> str:
        return self.name


UNAVAILABLE = Missing.UNAVAILABLE
ABSENT = Missing.ABSENT

# A value as ``kinds`` lists them, UNAVAILABLE, or None for SQL NULL.
Value: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Column:
    """A column as far as the format describes it.

    ``source`` is the type's own name in the format (``int unsigned``, ``LONG``). ``nullable``: None
    if the format does not say it. ``id`` is the column's number in the source database.
    """

    name: str
    type: Type
    source: str | None = None
    nullable: bool | None = None
    default: Value = ABSENT
    roles: frozenset[Role] = frozenset()
    id: int | None = None


def index_of_label(kind: EnumType, value: Value) -> int | None:
    """Return the index, from 1, of an ENUM value in either form; None if it is not in the ENUM.

    Raises: ValueError when the kind does not have the labels that are needed.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return None
    labels = _labels(kind)
    return labels.index(value) + 1 if value in labels else None


def mask_of_labels(kind: SetType, value: Value) -> int | None:
    """Return the bit mask of a SET value in either form; None if it is not a value of the SET.

    Raises: ValueError when the kind does not have the labels that are needed.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return None
    if value == "":
        return 0
    labels = _labels(kind)
    chosen = value.split(",")
    if not all(label in labels for label in chosen) or len(set(chosen)) < len(chosen):
        return None
    return sum(1 << labels.index(label) for label in chosen)


def _labels(kind: EnumType | SetType) -> tuple[str, ...]:
    if kind.labels is None:
        raise ValueError("a label has no number as long as the column's labels are not known")
    return kind.labels
