"""Columns of the wire layers of the MySQL family: type code, flags, and the wire's own value.

Unlike the neutral columns these have undefined flag bits, flags that do not fit the type, and type
codes that MySQL never had. They also have text that is not a date or a decimal.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from cdcwire.mysql import types
from cdcwire.mysql.values import vector_text
from cdcwire_generators import extremes

MAX_UINT64 = (1 << 64) - 1
MAX_INT64 = (1 << 63) - 1
WITHOUT_VALUES = frozenset({types.TYPE_UNSPECIFIED, types.TYPE_NULL, types.TYPE_GEOMETRY})
KNOWN_TYPES: tuple[int, ...] = (
    types.TYPE_LONG,
    *sorted(types.INTEGER_TYPES - {types.TYPE_LONG}),
    *sorted(types.UNSIGNED_TYPES),
    types.TYPE_YEAR,
    types.TYPE_FLOAT,
    types.TYPE_DOUBLE,
    *sorted(types.TEXT_TYPES),
    *sorted(types.STRING_TYPES),
    types.TYPE_VECTOR,
    *sorted(WITHOUT_VALUES),
)

_UTF8 = st.text(st.characters(codec="utf-8"), max_size=12)
_TEXTS = st.one_of(
    _UTF8,
    st.sampled_from(
        (
            *map(str, extremes.DECIMALS),
            *extremes.DATETIMES,
            *extremes.TIMES,
            *extremes.JSON_TEXTS,
            *extremes.TEXTS,
        )
    ),
)
_UINT64 = st.one_of(st.integers(0, MAX_UINT64), st.sampled_from(extremes.UINT64))
_INT64 = st.one_of(st.integers(-MAX_INT64 - 1, MAX_INT64), st.sampled_from(extremes.INT64))
_BYTES = st.one_of(st.binary(max_size=20), st.sampled_from(extremes.BYTES))
_VECTOR_ITEMS = st.floats(width=32, allow_nan=False, allow_infinity=False)
_VECTORS = st.one_of(
    st.sampled_from(extremes.VECTORS), st.lists(_VECTOR_ITEMS, max_size=4).map(tuple)
).map(vector_text)
_FLOATS = st.one_of(
    st.sampled_from((*extremes.FLOAT64, *extremes.FLOAT32, *extremes.NOT_FINITE)), st.floats()
)
_FLOATS32 = st.one_of(
    st.sampled_from((*extremes.FLOAT32, *extremes.NOT_FINITE)), st.floats(width=32)
)


def type_codes(*, known_only: bool = False) -> st.SearchStrategy[int]:
    """Give type codes: those that MySQL has, and, now and then, any other."""
    known = st.sampled_from(KNOWN_TYPES)
    return known if known_only else st.one_of(known, known, known, st.integers(0, 255))


def column_flags() -> st.SearchStrategy[int]:
    """Give sets of flags: common ones, any of the eight bits, and bits that are not defined."""
    common = (
        types.FLAG_NULLABLE,
        types.FLAG_NULLABLE | types.FLAG_BINARY,
        types.FLAG_BINARY | types.FLAG_HANDLE_KEY | types.FLAG_PRIMARY_KEY,
        types.FLAG_NULLABLE | types.FLAG_BINARY | types.FLAG_UNSIGNED,
        0,
    )
    undefined = st.sampled_from((1 << 8, 1 << 63, MAX_UINT64))
    return st.one_of(st.sampled_from(common), st.integers(0, 255), undefined)


def wire_values(
    code: int, flags: int, *, exact_floats: bool = False, finite: bool = False
) -> st.SearchStrategy[Any]:
    """Give values in the wire layers' form for a type code and flags; NULL too.

    ``exact_floats``: a FLOAT is one that 32 bits hold. ``finite``: no NaN and no infinity.
    """
    found: st.SearchStrategy[Any]
    if code in types.INTEGER_TYPES:
        found = _UINT64 if flags & types.FLAG_UNSIGNED else _INT64
    elif code == types.TYPE_YEAR:
        found = st.one_of(st.sampled_from(extremes.YEARS), _INT64)
    elif code in types.UNSIGNED_TYPES:
        found = _UINT64
    elif code in (types.TYPE_FLOAT, types.TYPE_DOUBLE):
        found = _FLOATS32 if code == types.TYPE_FLOAT and exact_floats else _FLOATS
        if finite:
            found = found.filter(lambda value: abs(value) < float("inf"))
    elif code in types.TEXT_TYPES:
        found = _TEXTS
    elif code in types.STRING_TYPES:
        found = _BYTES
    elif code == types.TYPE_VECTOR:
        found = _VECTORS
    else:
        return st.none()
    return st.one_of(found, st.none())


def commit_timestamps() -> st.SearchStrategy[int]:
    """Give any unsigned 64-bit number; near ones and the largest too, as steps are coded."""
    return st.one_of(
        st.integers(1, 300),
        st.sampled_from((424316594097225729, 424316594097225730, (1 << 53) + 1, 1 << 63)),
        st.integers(0, MAX_UINT64),
        st.just(MAX_UINT64),
    )
