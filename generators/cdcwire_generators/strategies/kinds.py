"""Columns and values of every kind of the neutral model, those of other families too.

For the tables of the values that a format carries. Each of their rows is a name of KINDS, and each
name has columns and values here.
"""

from __future__ import annotations

from hypothesis import strategies as st

from cdcwire.model.carries import KINDS
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import (
    UNAVAILABLE,
    ArrayType,
    BitType,
    BoolType,
    BytesType,
    Column,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntervalType,
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
    Value,
    VectorType,
    YearType,
)
from cdcwire_generators import extremes
from cdcwire_generators.domain import PLAUSIBLE_KINDS, Domain
from cdcwire_generators.families import get_family
from cdcwire_generators.strategies.names import names
from cdcwire_generators.strategies.values import values

_LABELS = tuple(label for label in extremes.LABELS if "," not in label and label)
_ZONES = ("+00:00", "+08:00", "-03:30")
_COUNT_FORMS = ("ms", "us", "ns")

# The types of a name of KINDS; the first is the simplest.
_TYPES: dict[str, tuple[Type, ...]] = {
    "bool": (BoolType(),),
    **{
        name: (parse_kind(name),) for name in KINDS if name.startswith("int") and name != "interval"
    },
    "float32": (FloatType(32),),
    "float64": (FloatType(64),),
    "float not finite": (FloatType(64), FloatType(32)),
    "decimal": (DecimalType(), DecimalType(10, 4), DecimalType(65, 30)),
    "decimal not finite": (DecimalType(),),
    "text": (TextType(), TextType(20)),
    "text ill-formed": (TextType(),),
    "bytes": (BytesType(), BytesType(20)),
    "bit": (BitType(), BitType(1), BitType(64)),
    "date": (DateType(),),
    "date as count": (DateType("d"), DateType("ms")),
    "time": (TimeType(), TimeType(3)),
    "time as count": tuple(TimeType(form=form) for form in _COUNT_FORMS[:2]),  # type: ignore[arg-type]
    "datetime": (DatetimeType(), DatetimeType(6)),
    "datetime as count": tuple(DatetimeType(form=form) for form in _COUNT_FORMS),  # type: ignore[arg-type]
    "timestamp": (TimestampType(), TimestampType(3)),
    "timestamp as count": tuple(TimestampType(form=form) for form in _COUNT_FORMS),  # type: ignore[arg-type]
    "timestamp with zone": (
        *(TimestampType(6, "text", zone) for zone in _ZONES),
        TimestampType(3, "text", "+08:00"),
        *(TimestampType(form=form, zone="+00:00") for form in _COUNT_FORMS),  # type: ignore[arg-type]
    ),
    "year": (YearType(),),
    "interval": (IntervalType(), IntervalType("us")),
    "enum by index": (EnumType(), EnumType(_LABELS)),
    "enum by label": (EnumType(_LABELS, "label"),),
    "set by index": (SetType(), SetType(_LABELS)),
    "set by label": (SetType(_LABELS, "label"),),
    "json": (JsonType(),),
    "vector": (VectorType(),),
    "array": (ArrayType(IntType(32)), ArrayType(ArrayType(TextType()))),
    "map": (MapType(TextType(), IntType(32)),),
    "struct": (StructType((Column("a", IntType(32)), Column("b", TextType()))),),
    "unknown": (UnknownType(),),
    "unavailable": (TextType(), BytesType(), JsonType(), IntType(32)),
}


@st.composite
def columns_of_kind(draw: st.DrawFn, kind: str, *, name: str | None = None) -> Column:
    """Give columns for a name of KINDS, as a format of any family may describe them."""
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is not one of KINDS")
    drawn_name = draw(names()) if name is None else name
    plain = Column(drawn_name, draw(st.sampled_from(_TYPES[kind])))
    sources = _sources_of(plain.type)
    if not sources:
        return plain
    source = draw(st.one_of(st.none(), st.sampled_from(sources)))
    nullable = draw(st.sampled_from((None, True, False)))
    return Column(drawn_name, plain.type, source, nullable)


def values_of_kind(kind: str, column: Column) -> st.SearchStrategy[Value]:
    """Give values (not NULL) of a column of ``columns_of_kind``, all of that kind."""
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is not one of KINDS")
    if kind == "unavailable":
        return st.just(UNAVAILABLE)
    if kind == "unknown":
        return st.one_of(st.binary(max_size=8), st.text(max_size=8), st.integers())
    kinds = frozenset({kind})
    if kind in ("array", "map", "struct"):
        kinds |= PLAUSIBLE_KINDS  # those of what is in it
    return values(column.type, domain=Domain(kinds=kinds))


def _sources_of(kind: Type) -> list[str]:
    """Return the types of MySQL that hold a kind without parameters."""
    types = get_family("mysql").column_types
    return [found.source for found in types if found.type == kind and not found.is_always_null]
