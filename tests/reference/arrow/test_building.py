"""Values of one of two columns, also of slices, which pyarrow's own function gets wrong."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="needs the extra arrow")

import pyarrow as pa

from cdcwire.arrow.building import where

VALUES: dict[pa.DataType, list[Any]] = {
    pa.bool_(): [None, True, False],
    pa.int64(): [None, 1, 2],
    pa.float64(): [None, 0.5, 1.5],
    pa.decimal128(20, 2): [None, Decimal("1.50"), Decimal("0.00")],
    pa.string(): [None, "", "a", "xyzé"],
    pa.binary(): [None, b"", b"a", b"\x08xyz"],
    pa.large_binary(): [None, b"", b"a", b"\x08xyz"],
}


@pytest.mark.parametrize("kind", VALUES, ids=str)
@given(data=st.data())
def test_slices_keep_their_values(kind: pa.DataType, data: st.DataObject) -> None:
    value = st.sampled_from(VALUES[kind])
    rows = data.draw(st.lists(st.tuples(st.booleans(), value, value), min_size=1, max_size=40))
    skipped = data.draw(st.integers(0, len(rows) - 1))
    flags, own, others = (list(each) for each in zip(*rows[skipped:], strict=True))
    masks = pa.array([flag for flag, _, _ in rows]).slice(skipped)
    columns = [pa.array([row[n] for row in rows], kind).slice(skipped) for n in (1, 2)]
    found = where(masks, columns[0], columns[1])
    assert found.to_pylist() == [a if f else b for f, a, b in zip(flags, own, others, strict=True)]
    one = data.draw(value)
    found = where(masks, pa.scalar(one, kind), columns[1])
    assert found.to_pylist() == [one if f else b for f, b in zip(flags, others, strict=True)]
