"""Both Craft formats carry of each kind what their table says, no more and no less."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import EncodeError
from cdcwire.format import Format
from cdcwire.formats.craft.format import CARRIES
from cdcwire.model.carries import KINDS
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kind_text import kind_text
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
    IntBits,
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
from cdcwire.registry import get_format

BITS: tuple[IntBits, ...] = (8, 16, 24, 32, 64)
LABELS = ("a", "b", "c")
# A value of each kind, and what comes back where that is something else.
SAMPLES: dict[str, tuple[Type, Value]] = {
    "bool": (BoolType(), True),
    **{f"int{bits}": (IntType(bits), -(1 << bits - 1)) for bits in BITS},
    **{f"int{bits} unsigned": (IntType(bits, True), (1 << bits) - 1) for bits in BITS},
    "float32": (FloatType(32), 1.5),
    "float64": (FloatType(64), 0.1),
    "float not finite": (FloatType(32), -math.inf),
    "decimal": (DecimalType(), Decimal("-0.500")),
    "decimal not finite": (DecimalType(), Decimal("Infinity")),
    "text": (TextType(), "é"),
    "text ill-formed": (TextType(), b"\xff"),
    "bytes": (BytesType(), b"\0\xff"),
    "bit": (BitType(), 2**64 - 1),
    "date": (DateType(), "0000-00-00"),
    "date as count": (DateType("d"), 1),
    "time": (TimeType(), "-838:59:59"),
    "time as count": (TimeType(form="ms"), 1500),
    "datetime": (DatetimeType(), "2021-04-06 12:34:56"),
    "datetime as count": (DatetimeType(form="us"), 1),
    "timestamp": (TimestampType(), "2021-04-06 12:34:56"),
    "timestamp as count": (TimestampType(form="ms"), 1000),
    "timestamp with zone": (TimestampType(zone="+00:00"), "2021-04-06 12:34:56"),
    "year": (YearType(), 2021),
    "interval": (IntervalType(), "P1D"),
    "enum by index": (EnumType(), 3),
    "enum by label": (EnumType(LABELS, "label"), "c"),
    "set by index": (SetType(), 3),
    "set by label": (SetType(LABELS, "label"), "a,b"),
    "json": (JsonType(), '{"a": 1}'),
    "vector": (VectorType(), (1.0, -2.5)),
    "array": (ArrayType(IntType(8)), (1,)),
    "map": (MapType(TextType(), TextType()), (("a", "b"),)),
    "struct": (StructType((Column("a", IntType(8)),)), Image((Column("a", IntType(8)),), (1,))),
    "unknown": (UnknownType(), b"x"),
    "unavailable": (TextType(), UNAVAILABLE),
}
COMES_BACK_AS: dict[str, tuple[Type, Value]] = {
    "bool": (IntType(8), 1),
    "date as count": (DateType(), "1970-01-02"),
    "time as count": (TimeType(), "00:00:01.5"),
    "datetime as count": (DatetimeType(), "1970-01-01 00:00:00.000001"),
    "timestamp as count": (TimestampType(), "1970-01-01 00:00:01"),
    "enum by label": (EnumType(), 3),
    "set by label": (SetType(), 3),
}


@pytest.fixture(params=["craft", "craft-proposal"])
def wire_format(request: pytest.FixtureRequest) -> Format:
    return get_format(request.param)


@pytest.mark.parametrize("kind", KINDS)
def test_kind_comes_back_as_its_verdict_says(kind: str, wire_format: Format) -> None:
    verdict = wire_format.carries.kinds[kind]
    sample = SAMPLES[kind]
    if verdict.verdict == "no":
        with pytest.raises(EncodeError):
            _round_trip(wire_format, sample, Context())
        return
    if verdict.verdict == "option":
        with pytest.raises(EncodeError):
            _round_trip(wire_format, sample, Context())
        assert _round_trip(wire_format, sample, Context(options={"time-zone": "+00:00"})) == sample
        return
    back = _round_trip(wire_format, sample, Context())
    assert back == COMES_BACK_AS.get(kind, sample)
    if verdict.verdict == "as":
        assert kind_text(back[0]) == verdict.detail.removesuffix(" by index")
    else:
        assert verdict.verdict == "exact"


def test_both_formats_carry_the_same() -> None:
    assert get_format("craft").carries is get_format("craft-proposal").carries is CARRIES


def _round_trip(
    wire_format: Format, sample: tuple[Type, Value], context: Context
) -> tuple[Type, Value]:
    kind, value = sample
    image = Image((Column("c", kind),), (value,))
    event = RowChange(Table("t", "s", key=()), "insert", None, image, Position(commit_ts=1))
    (message,) = wire_format.from_events([event], context=context)
    (back,) = wire_format.to_events(message, context=context)
    assert isinstance(back, RowChange)
    assert back.after is not None
    return back.after.columns[0].type, back.after.values[0]
