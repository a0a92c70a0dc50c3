"""The closed set of types, one small class a kind.

A value stays as the wire carries it, and its type says in which form: a date may be text or a
count of days, an enum an index or a label. A parameter that the format does not say is ``None``.

``cdcwire.model.kind_text`` has the written form (``int64 unsigned``, ``decimal(10,4)``). It leaves
out ``form`` and ``zone``: they travel beside each value (``unit``, ``index``, ``label``).

| kind | Python value |
| --- | --- |
| BoolType | bool |
| IntType, YearType, BitType | int |
| FloatType | float; 32 bits: one that a float32 holds exactly |
| DecimalType | Decimal, scale as sent; str where the wire's text is no plain number |
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
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from cdcwire.model.events import Column

TemporalForm: TypeAlias = Literal["text", "d", "ms", "us", "ns"]
LabelForm: TypeAlias = Literal["index", "label"]
IntBits: TypeAlias = Literal[8, 16, 24, 32, 64]
FloatBits: TypeAlias = Literal[32, 64]


@dataclass(frozen=True, slots=True)
class BoolType:
    pass


@dataclass(frozen=True, slots=True)
class IntType:
    bits: IntBits
    unsigned: bool = False


@dataclass(frozen=True, slots=True)
class FloatType:
    bits: FloatBits


@dataclass(frozen=True, slots=True)
class DecimalType:
    precision: int | None = None
    scale: int | None = None


@dataclass(frozen=True, slots=True)
class TextType:
    length: int | None = None


@dataclass(frozen=True, slots=True)
class BytesType:
    length: int | None = None


@dataclass(frozen=True, slots=True)
class BitType:
    length: int | None = None


@dataclass(frozen=True, slots=True)
class DateType:
    form: TemporalForm = "text"


@dataclass(frozen=True, slots=True)
class TimeType:
    fraction: int | None = None
    form: TemporalForm = "text"
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class DatetimeType:
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
    pass


@dataclass(frozen=True, slots=True)
class IntervalType:
    form: Literal["text", "us"] = "text"


@dataclass(frozen=True, slots=True)
class EnumType:
    labels: tuple[str, ...] | None = None
    form: LabelForm = "index"


@dataclass(frozen=True, slots=True)
class SetType:
    labels: tuple[str, ...] | None = None
    form: LabelForm = "index"


@dataclass(frozen=True, slots=True)
class JsonType:
    pass


@dataclass(frozen=True, slots=True)
class VectorType:
    pass


@dataclass(frozen=True, slots=True)
class ArrayType:
    item: Type


@dataclass(frozen=True, slots=True)
class MapType:
    key: Type
    value: Type


@dataclass(frozen=True, slots=True)
class StructType:
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class UnknownType:
    pass


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
