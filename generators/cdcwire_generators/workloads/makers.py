"""Makers of random values: for each column a function without arguments, made for speed.

They draw from one ``random.Random`` by ``random()`` and ``getrandbits()`` only. They make the
values of a source database; the strategies make the odd values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from random import Random
from typing import Any, TypeAlias

from cdcwire.model import kinds
from cdcwire.model.events import Image
from cdcwire.model.kinds import Column, Value
from cdcwire.mysql.types import is_boolean_source

Maker: TypeAlias = Callable[[], Any]
MakerOf: TypeAlias = Callable[[Random], Maker]

WORDS = (
    *("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet"),
    *("kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango"),
    *(
        "naïve",
        "Zürich",
        "Ελλάδα",
        "Москва",
        "北京",
        "東京",
        "😀",
        "a&b",
        "<b>",
        'say "hi"',
        "O'Neil",
    ),
)
_COUNTS_PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}
_SECONDS_PER_DAY = 86400


def maker(
    column: Column,
    rng: Random,
    null_rate: float = 0.0,
    special: Mapping[str, MakerOf] | None = None,
) -> Maker:
    """Return what makes values of a column; NULL at ``null_rate`` where the column is nullable.

    ``special`` has makers for columns by their names, which go before those of the type.
    """
    if special is not None and column.name in special:
        make = special[column.name](rng)
    elif isinstance(column.type, kinds.IntType) and is_boolean_source(column.source):
        make = value_maker(kinds.BitType(1), rng)
    else:
        make = value_maker(column.type, rng, is_fixed=_is_fixed(column))
    if column.nullable is False or null_rate <= 0.0:
        return make
    random = rng.random

    def make_nullable() -> Value:
        return None if random() < null_rate else make()

    return make_nullable


def value_maker(kind: kinds.Type, rng: Random, *, is_fixed: bool = False) -> Maker:
    """Return what makes values of a type. ``is_fixed``: bytes have the full length, as BINARY."""
    random, bits_of = rng.random, rng.getrandbits
    match kind:
        case kinds.BoolType():
            return lambda: bits_of(1) == 1
        case kinds.IntType(bits, unsigned):
            return _integers(bits, unsigned, rng)
        case kinds.FloatType(32):
            return lambda: (bits_of(24) - 0x800000) / 256
        case kinds.FloatType():
            return lambda: (random() - 0.5) * 1e6
        case kinds.DecimalType(precision, scale):
            return _decimals(precision or 10, scale or 0, rng)
        case kinds.TextType(length):
            return texts(length, rng)
        case kinds.BytesType(length):
            return (
                blobs(length, length, rng) if is_fixed and length else blobs(0, length or 32, rng)
            )
        case kinds.BitType(length):
            width = length or 1
            return lambda: bits_of(width)
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return _temporals(kind, rng)
        case kinds.YearType():
            return lambda: 1901 + int(random() * 255)
        case kinds.IntervalType("text"):
            return lambda: f"P{bits_of(5)}DT{bits_of(4)}H"
        case kinds.IntervalType():
            return lambda: bits_of(40)
        case kinds.EnumType(labels, form):
            return _enum(labels or ("a", "b", "c"), form, rng)
        case kinds.SetType(labels, form):
            return _set(labels or ("a", "b", "c"), form, rng)
        case kinds.JsonType():
            return _json(rng)
        case kinds.VectorType():
            return lambda: tuple((bits_of(24) - 0x800000) / 65536 for _ in range(3))
        case kinds.ArrayType(item):
            make_item = value_maker(item, rng)
            return lambda: tuple(make_item() for _ in range(bits_of(2)))
        case kinds.MapType(key, value):
            return _maps(value_maker(key, rng), value_maker(value, rng), rng)
        case kinds.StructType(columns):
            makers = [value_maker(column.type, rng) for column in columns]
            return lambda: Image(columns, tuple(make() for make in makers))
        case kinds.UnknownType():
            return lambda: None


def texts(length: int | None, rng: Random) -> Maker:
    """Make a few words, at most ``length`` characters."""
    random, count = rng.random, len(WORDS)
    if length is not None and length < 12:
        return lambda: WORDS[int(random() * count)][:length]

    def make() -> str:
        text = f"{WORDS[int(random() * count)]} {WORDS[int(random() * count)]}"
        return text if length is None else text[:length]

    return make


def long_texts(low: int, high: int) -> MakerOf:
    """Make texts of ``low`` to ``high`` characters."""

    def of(rng: Random) -> Maker:
        random, count = rng.random, len(WORDS)

        def make() -> str:
            size = low + int(random() * (high - low))
            piece = " ".join(WORDS[int(random() * count)] for _ in range(16)) + " "
            return (piece * (size // len(piece) + 1))[:size]

        return make

    return of


def blobs(low: int, high: int, rng: Random) -> Maker:
    """Make random bytes, from ``low`` to ``high`` of them."""
    random, bits_of = rng.random, rng.getrandbits
    if low == high:
        return lambda: bits_of(8 * low).to_bytes(low, "little") if low else b""

    def make() -> bytes:
        size = low + int(random() * (high - low + 1))
        return bits_of(8 * size).to_bytes(size, "little") if size else b""

    return make


def digit_groups(groups: int, digits: int = 11) -> MakerOf:
    """Make groups of decimal digits joined by ``-``, as sysbench fills its columns."""
    limit = 10**digits

    def of(rng: Random) -> Maker:
        random = rng.random
        return lambda: "-".join([f"{int(random() * limit):0{digits}d}" for _ in range(groups)])

    return of


def mostly_small_unsigned(above: float) -> MakerOf:
    """Make 64-bit unsigned integers; a share of ``above`` is 2**63 or more."""

    def of(rng: Random) -> Maker:
        random, bits_of = rng.random, rng.getrandbits

        def make() -> int:
            return (1 << 63) + bits_of(63) if random() < above else bits_of(40)

        return make

    return of


def _is_fixed(column: Column) -> bool:
    return column.source is not None and column.source.lower().startswith("binary")


def _integers(bits: int, unsigned: bool, rng: Random) -> Maker:
    random, bits_of = rng.random, rng.getrandbits
    half = 0 if unsigned else 1 << bits - 1
    if bits <= 16:
        return lambda: bits_of(bits) - half
    small = 1 << 16

    def make() -> int:  # half of them small, as ids and counts are
        if random() < 0.5:
            return bits_of(16) - (0 if unsigned else small >> 1)
        return bits_of(bits) - half

    return make


def _decimals(precision: int, scale: int, rng: Random) -> Maker:
    random, bits_of = rng.random, rng.getrandbits
    whole, fraction = 10 ** min(precision - scale, 15), 10 ** min(scale, 15)
    padding = "0" * max(0, scale - 15)

    def make() -> Decimal:
        sign = "-" if bits_of(2) == 0 else ""
        if scale == 0:
            return Decimal(f"{sign}{int(random() * whole)}")
        digits = f"{int(random() * fraction):0{min(scale, 15)}d}"
        return Decimal(f"{sign}{int(random() * whole)}.{digits}{padding}")

    return make


def _temporals(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType, rng: Random
) -> Maker:
    random = rng.random
    if kind.form != "text":
        return _counts(kind, rng)
    if isinstance(kind, kinds.DateType):
        return lambda: _date(random)
    digits = kind.fraction or 0
    limit = 10**digits

    def fraction() -> str:
        return f".{int(random() * limit):0{digits}d}" if digits else ""

    if isinstance(kind, kinds.TimeType):

        def make_time() -> str:
            hours = int(random() * 1677) - 838
            sign = "-" if hours < 0 else ""
            return f"{sign}{abs(hours):02d}:{_sixty(random)}:{_sixty(random)}{fraction()}"

        return make_time
    return lambda: (
        f"{_date(random)} {int(random() * 24):02d}:{_sixty(random)}:{_sixty(random)}{fraction()}"
    )


def _date(random: Callable[[], float]) -> str:
    # From 1971 to 2037: a TIMESTAMP ends in January 2038, and 1970 ends before it in some zones.
    year, month, day = 1971 + int(random() * 67), 1 + int(random() * 12), 1 + int(random() * 28)
    return f"{year}-{month:02d}-{day:02d}"


def _sixty(random: Callable[[], float]) -> str:
    return f"{int(random() * 60):02d}"


def _counts(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType, rng: Random
) -> Maker:
    random = rng.random
    if kind.form == "d":
        return lambda: int(random() * 24_000)
    per_second = _COUNTS_PER_SECOND[kind.form]
    if isinstance(kind, kinds.DateType):
        return lambda: int(random() * 24_000) * _SECONDS_PER_DAY * per_second
    if isinstance(kind, kinds.TimeType):
        return lambda: int(random() * _SECONDS_PER_DAY * per_second)
    return lambda: int(random() * 2_000_000_000) * per_second


def _enum(labels: tuple[str, ...], form: str, rng: Random) -> Maker:
    random, count = rng.random, len(labels)
    if form == "label":
        return lambda: labels[int(random() * count)]
    return lambda: 1 + int(random() * count)


def _set(labels: tuple[str, ...], form: str, rng: Random) -> Maker:
    bits_of, count = rng.getrandbits, len(labels)
    if form == "index":
        return lambda: bits_of(count)

    def make() -> str:
        mask = bits_of(count)
        return ",".join(label for bit, label in enumerate(labels) if mask >> bit & 1)

    return make


def _json(rng: Random) -> Maker:
    random, bits_of = rng.random, rng.getrandbits

    def make() -> str:
        word = WORDS[int(random() * 20)]
        return f'{{"id": {bits_of(32)}, "name": "{word}", "tags": [{bits_of(4)}, null, true]}}'

    return make


def _maps(make_key: Maker, make_value: Maker, rng: Random) -> Maker:
    bits_of = rng.getrandbits

    def make() -> Value:
        pairs = {repr(key): key for key in (make_key() for _ in range(bits_of(2)))}
        return tuple((key, make_value()) for key in pairs.values())

    return make
