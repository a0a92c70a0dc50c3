"""Values of each kind, with the values that decoders get wrong drawn often."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st

from cdcwire.model import kinds
from cdcwire.model.events import Image
from cdcwire.model.floats import narrow_float32
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import UNAVAILABLE, Value
from cdcwire_generators import extremes
from cdcwire_generators.domain import PLAUSIBLE, Domain
from cdcwire_generators.families import ColumnType
from cdcwire_generators.round_trip import kind_name, ordinary_kind_name

Values = st.SearchStrategy[Any]

# What a database keeps outside the row when it is long, and does not read again for an update.
_STORED_APART = (kinds.TextType, kinds.BytesType, kinds.JsonType)

_MAX_INT64 = (1 << 63) - 1
_MAX_BITS = 100  # of a bit string without a limit
_MAX_UINT64 = (1 << 64) - 1
_UNITS_PER_DAY = {"d": 1, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_DAYS = (-719_528, 2_932_896)  # from 0000-01-01 to 9999-12-31
_INSTANTS = (-719_162, 2_932_896)  # from 0001-01-01, as far as all zones know 9999


def values(
    column_type: kinds.Type | ColumnType, *, nullable: bool = False, domain: Domain = PLAUSIBLE
) -> Values:
    """Give values of a type, NULL too where ``nullable``. For a type without values: NULL only."""
    kind = column_type.type if isinstance(column_type, ColumnType) else column_type
    return _values(kind, nullable, domain)


def has_values(kind: kinds.Type, domain: Domain = PLAUSIBLE) -> bool:
    """Return whether the ordinary values of a type are in a domain."""
    return ordinary_kind_name(kind) in domain.kinds


# Strategies are kept: to make and check one takes longer than to draw from it.
@lru_cache(maxsize=4096)
def _values(kind: kinds.Type, nullable: bool, domain: Domain) -> Values:
    if isinstance(kind, kinds.UnknownType):
        return st.none()
    if nullable:
        return st.one_of(_values(kind, False, domain), st.none())

    def fits(value: Value) -> bool:
        return kind_name(kind, value) in domain.kinds

    special = [value for value in _extremes(kind, domain) if fits(value)]
    choices = [] if ordinary_kind_name(kind) not in domain.kinds else [_ordinary(kind, domain)]
    if isinstance(kind, kinds.TextType) and "text ill-formed" in domain.kinds:
        choices.append(st.binary(max_size=_least(kind.length, 20)).filter(_is_ill_formed))
    if special:
        choices.append(st.sampled_from(special))
    if "unavailable" in domain.kinds and isinstance(kind, _STORED_APART):
        choices.append(st.just(UNAVAILABLE))
    if not choices:
        raise ValueError(f"the domain has no value of type {kind_text(kind)}")
    return st.one_of(choices)


def _extremes(kind: kinds.Type, domain: Domain) -> tuple[Value, ...]:
    plausible = domain.is_plausible
    match kind:
        case kinds.IntType(bits, unsigned):
            return extremes.integers(bits, is_unsigned=unsigned)
        case kinds.FloatType(bits):
            finite = extremes.FLOAT32 if bits == 32 else extremes.FLOAT64
            return (*finite, *extremes.NOT_FINITE)
        case kinds.DecimalType(precision, scale):
            if (precision, scale) != (None, None):
                return ()
            found = (*extremes.DECIMALS, *extremes.DECIMALS_NOT_FINITE)
            if plausible:
                return tuple(each for each in found if str(each) != "-0")  # no database has it
            return (*found, *extremes.DECIMAL_TEXTS)
        case kinds.TextType(length):
            texts = (*extremes.TEXTS, *extremes.ILL_FORMED_TEXTS)
            return tuple(text for text in texts if length is None or len(text) <= length)
        case kinds.BytesType(length):
            return tuple(b for b in extremes.BYTES if length is None or len(b) <= length)
        case kinds.BitType(length):
            end = _MAX_UINT64 if length is None else (1 << min(length, _MAX_BITS)) - 1
            return tuple(dict.fromkeys(value for value in (*extremes.UINT64, end) if value <= end))
        case kinds.SetType(None, "index"):
            return extremes.UINT64
        case kinds.EnumType(None, "index"):
            return (0, 1, 2, 255, 256, 65535) if plausible else extremes.UINT64
        case kinds.YearType():
            return extremes.YEARS if plausible else (*extremes.YEARS, *extremes.INT64)
        case kinds.DateType("text"):
            return extremes.DATES if plausible else (*extremes.DATES, *extremes.TEMPORAL_TEXTS)
        case kinds.TimeType(None, "text"):
            wild = (*extremes.TIMES_BEYOND, *extremes.TEMPORAL_TEXTS)
            return extremes.TIMES if plausible else (*extremes.TIMES, *wild)
        case kinds.DatetimeType(None, "text"):
            known = extremes.DATETIMES
            return known if plausible else (*known, *extremes.TEMPORAL_TEXTS)
        case kinds.TimestampType(None, "text", None):
            instants = extremes.TIMESTAMPS
            return instants if plausible else (*instants, *extremes.TEMPORAL_TEXTS)
        case kinds.TimestampType(None, "text", "+00:00") if domain.family.has_iso_times:
            return extremes.INSTANTS
        case kinds.JsonType():
            return extremes.JSON_TEXTS if plausible else (*extremes.JSON_TEXTS, *extremes.TEXTS)
        case kinds.VectorType():
            return extremes.VECTORS
        case kinds.IntervalType("text"):
            return extremes.INTERVALS
        case _:
            return ()


def _ordinary(kind: kinds.Type, domain: Domain) -> Values:
    match kind:
        case kinds.BoolType():
            return st.booleans()
        case kinds.IntType(bits, True):
            return st.integers(0, (1 << bits) - 1)
        case kinds.IntType(bits):
            return st.integers(-1 << bits - 1, (1 << bits - 1) - 1)
        case kinds.FloatType(bits):
            is_any = "float not finite" in domain.kinds
            return st.floats(width=bits, allow_nan=is_any, allow_infinity=is_any)
        case kinds.DecimalType():
            return _decimals(kind)
        case kinds.TextType(length):
            return st.text(st.characters(codec="utf-8"), max_size=_least(length, 20))
        case kinds.BytesType(length):
            return st.binary(max_size=_least(length, 40))
        case kinds.BitType(length):
            return st.integers(
                0, _MAX_UINT64 if length is None else (1 << min(length, _MAX_BITS)) - 1
            )
        case kinds.YearType():
            year = st.one_of(st.integers(1901, 2155), st.just(0))
            return year if domain.is_plausible else st.integers(-_MAX_INT64 - 1, _MAX_INT64)
        case kinds.TimeType(form="ms" | "us" | "ns" as form) if domain.family.has_iso_times:
            return st.integers(0, _UNITS_PER_DAY[form] - 1)
        case (
            kinds.DateType("text") | kinds.TimeType(form="text") | kinds.DatetimeType(form="text")
        ) if domain.family.has_iso_times:
            texts = _temporals(kind, domain.is_plausible)
            return texts.map(lambda text: f"{text.replace(' ', 'T', 1)}Z")
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return _temporals(kind, domain.is_plausible)
        case kinds.IntervalType(form):
            return st.just("P1D") if form == "text" else st.integers(-(1 << 62), 1 << 62)
        case kinds.EnumType() | kinds.SetType():
            return _labelled(kind)
        case kinds.JsonType():
            return _json_texts()
        case kinds.VectorType():
            return st.lists(_finite_float32(), max_size=4).map(tuple)
        case kinds.ArrayType(item):
            inner = _inner(domain)
            return st.lists(values(item, nullable=True, domain=inner), max_size=3).map(tuple)
        case kinds.MapType(key, value):
            inner = _inner(domain)
            pair = st.tuples(values(key, domain=inner), values(value, domain=inner))
            return st.lists(pair, max_size=3, unique_by=lambda p: repr(p[0])).map(tuple)
        case kinds.StructType(columns):
            inner = _inner(domain)
            members = [
                values(column.type, nullable=column.nullable is not False, domain=inner)
                for column in columns
            ]
            return st.tuples(*members).map(lambda drawn: Image(columns, drawn))
        case kinds.UnknownType():
            return st.none()


def _inner(domain: Domain) -> Domain:
    """Return the domain of the items of an array, a map or a struct."""
    return replace(domain, kinds=domain.kinds - {"unavailable"})


def _least(length: int | None, limit: int) -> int:
    return limit if length is None else min(length, limit)


def _is_ill_formed(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return True
    return False


def _finite_float32() -> st.SearchStrategy[float]:
    return st.floats(width=32, allow_nan=False, allow_infinity=False).map(narrow_float32)


def _decimals(kind: kinds.DecimalType) -> st.SearchStrategy[Decimal]:
    """Give plain decimals; of a declared precision they have exactly the declared scale."""
    precision = kind.precision or 65
    scales = st.integers(0, min(30, precision)) if kind.scale is None else st.just(kind.scale)
    limit = 10**precision - 1
    small = st.integers(max(-999_999, -limit), min(999_999, limit))
    unscaled = st.one_of(small, st.integers(-limit, limit))
    return st.builds(_decimal, unscaled, scales)


def _decimal(unscaled: int, scale: int) -> Decimal:
    digits = tuple(map(int, str(abs(unscaled))))
    return Decimal((int(unscaled < 0), digits, -scale))


def _temporals(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType,
    is_plausible: bool,
) -> Values:
    """Give texts of MySQL, with every fraction length, or counts inside the calendar."""
    if kind.form != "text":
        per_day = _UNITS_PER_DAY[kind.form]
        if isinstance(kind, kinds.TimeType):
            return st.integers(-35 * per_day, 35 * per_day)
        if isinstance(kind, kinds.DateType):
            return st.integers(*_DAYS).map(lambda days: days * per_day)
        if isinstance(kind, kinds.TimestampType) and is_plausible:
            first, end = _INSTANTS
            return st.integers(first * per_day, end * per_day - 1)
        return st.integers(_DAYS[0] * per_day, (_DAYS[1] + 1) * per_day - 1)
    date = st.dates().map(lambda day: f"{day.year:04d}-{day.month:02d}-{day.day:02d}")
    if isinstance(kind, kinds.DateType):
        return date
    fraction = st.integers(0, 6) if kind.fraction is None else st.just(kind.fraction)
    if isinstance(kind, kinds.TimeType):
        return st.builds(_time_text, st.booleans(), st.integers(0, 3_020_398), fraction, _MICROS)
    return st.builds(_datetime_text, date, st.integers(0, 86399), fraction, _MICROS)


_MICROS = st.integers(0, 999_999)


def _time_text(is_negative: bool, seconds: int, digits: int, micros: int) -> str:
    sign = "-" if is_negative and seconds else ""
    hours, rest = divmod(seconds, 3600)
    return f"{sign}{hours:02d}:{rest // 60:02d}:{rest % 60:02d}{_fraction(digits, micros)}"


def _datetime_text(date: str, seconds: int, digits: int, micros: int) -> str:
    clock = f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"
    return f"{date} {clock}{_fraction(digits, micros)}"


def _fraction(digits: int, micros: int) -> str:
    return f".{micros:06d}"[: digits + 1] if digits else ""


def _labelled(kind: kinds.EnumType | kinds.SetType) -> Values:
    is_set = isinstance(kind, kinds.SetType)
    if kind.form == "index":
        if kind.labels is None:
            return st.integers(0, _MAX_UINT64 if is_set else 65535)
        return st.integers(0, (1 << len(kind.labels)) - 1 if is_set else len(kind.labels))
    labels = kind.labels or ("a", "b", "c")
    if is_set:
        return st.lists(st.sampled_from(labels), unique=True).map(
            lambda chosen: ",".join(label for label in labels if label in chosen)
        )
    return st.sampled_from(labels)


@lru_cache(maxsize=1)
def _json_texts() -> st.SearchStrategy[str]:
    """Give JSON as TiDB prints it: a space after each colon and comma."""
    text = st.text(st.characters(codec="utf-8"), max_size=6)
    number = st.integers(-(1 << 63), (1 << 64) - 1)
    fraction = st.floats(allow_nan=False, allow_infinity=False)
    documents = st.recursive(
        st.one_of(st.none(), st.booleans(), number, fraction, text),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)
        ),
        max_leaves=6,
    )
    return documents.map(lambda document: json.dumps(document, ensure_ascii=False))
