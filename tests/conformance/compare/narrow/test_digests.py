"""Digests of rows: equal exactly where the values of the rows are, for columns of all types."""

from __future__ import annotations

from datetime import date, datetime, time, timezone
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="needs the extra compare")

import pyarrow as pa

from cdcwire_conformance.compare.embedded.values import values_of
from cdcwire_conformance.compare.narrow.digests import comparable_column, digests_of

INF = float("inf")
NAN = float("nan")
POOLS: dict[Any, list[Any]] = {
    pa.bool_(): [False, True],
    pa.int8(): [0, 1, -1, 127],
    pa.int64(): [0, 1, -1, 256, 2**63 - 1, -(2**63)],
    pa.uint64(): [0, 2**64 - 1],
    pa.float32(): [0.0, -0.0, 1.5, NAN, INF, -INF],
    pa.float64(): [0.0, -0.0, 1.5, NAN, 5e-324],
    pa.decimal128(38, 2): [Decimal("0.00"), Decimal("-0.01"), Decimal("1.50")],
    pa.decimal256(76, 0): [Decimal(0), Decimal(10) ** 75],
    pa.string(): ["", "\0", "\0\0", "a", "ab", "b", "ab" * 40],
    pa.large_string(): ["", "a", "é"],
    pa.binary(): [b"", b"\0", b"a", b"\xff"],
    pa.binary(2): [b"\0\0", b"ab"],
    pa.date32(): [date(1970, 1, 1), date(2024, 2, 29)],
    pa.time64("us"): [time(0), time(23, 59, 59, 999999)],
    pa.timestamp("us", "UTC"): [
        datetime(1970, 1, 1, tzinfo=timezone.utc),
        datetime(2024, 2, 29, 0, 0, 0, 1, timezone.utc),
    ],
    pa.null(): [],
    pa.list_(pa.int32()): [[], [1], [None], [1, None]],
    pa.map_(pa.string(), pa.string()): [[], [("a", "b")], [("a", None)], [("a", "b"), ("b", "a")]],
    pa.struct([pa.field("x", pa.float64()), pa.field("y", pa.string())]): [
        {"x": 0.0, "y": ""},
        {"x": -0.0, "y": ""},
        {"x": None, "y": None},
    ],
}


def digests(columns: list[Any]) -> list[bytes]:
    given = [comparable_column(each, None) for each in columns]
    return [each.tobytes() for each in digests_of(given, len(columns[0]))]


def values(columns: list[Any]) -> list[tuple[Any, ...]]:
    return list(zip(*map(values_of, columns), strict=True))


@pytest.mark.parametrize("kind", POOLS, ids=str)
def test_each_value_of_a_type_has_a_digest(kind: Any) -> None:
    column = pa.array([None, *POOLS[kind], None], kind)
    found = digests([column])
    assert found[0] == found[-1]
    assert len(set(found)) == len(set(values([column]))) == 1 + len(POOLS[kind])


@given(data=st.data())
def test_digests_are_equal_exactly_where_rows_are(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(list(POOLS)), min_size=1, max_size=4))
    size = data.draw(st.integers(1, 30))
    skipped = data.draw(st.integers(0, 9))
    columns = [
        pa.array(
            data.draw(
                st.lists(
                    st.sampled_from([None, *POOLS[kind]]),
                    min_size=skipped + size,
                    max_size=skipped + size,
                )
            ),
            kind,
        ).slice(skipped)
        for kind in kinds
    ]
    rows, found = values(columns), digests(columns)
    for left, right in product(range(size), repeat=2):
        assert (found[left] == found[right]) is (rows[left] == rows[right])


def test_texts_do_not_run_into_one_another() -> None:
    left, right = pa.array(["a", "ab", "", None]), pa.array(["bc", "c", "abc", "abc"])
    assert len(set(digests([left, right]))) == 4


def test_texts_that_differ_far_behind_differ() -> None:
    """Two words exchanged 32 KiB apart, which sums with repeating weights do not see."""
    words = [b"%08d" % number for number in range(9000)]
    other = list(words)
    other[10], other[10 + 4096] = other[10 + 4096], other[10]
    column = pa.array([b"".join(words), b"".join(other)], pa.binary())
    assert len(set(digests([column]))) == 2


def test_changed_values_tell_text_from_bytes() -> None:
    column = pa.array([b"a", b"b", None], pa.binary())
    changed = comparable_column(column, lambda value: value and {b"a": "b", b"b": b"b"}[value])
    assert len({each.tobytes() for each in digests_of([changed], 3)}) == 3


def test_no_row_has_no_digest() -> None:
    assert len(digests_of([pa.array([], pa.string())], 0)) == 0
