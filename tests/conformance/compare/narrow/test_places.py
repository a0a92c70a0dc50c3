"""Numbers in the order of values, the last known value of a group, and eras."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="needs the extra compare")

import numpy as np
import pyarrow as pa

from cdcwire_conformance.compare.narrow.places import (
    NOWHERE,
    last_known,
    numbers_in_order,
    part_of,
)

HUGE = 10**37


@pytest.mark.parametrize(
    ("kind", "chunks"),
    [
        (pa.int64(), [[3, None, -1], [2]]),
        (pa.decimal128(38, 0), [[Decimal(HUGE + 1), None, Decimal(-1)], [Decimal(HUGE)]]),
        (pa.string(), [["b", None, ""], ["a"]]),
        (pa.string(), [["é", None, "z"], ["zz"]]),
    ],
    ids=["numbers", "beyond 64 bits", "texts", "texts beyond ASCII"],
)
def test_numbers_have_the_order_of_values(kind: Any, chunks: list[list[Any]]) -> None:
    found = numbers_in_order([pa.array(each, kind) for each in chunks]).tolist()
    assert found[1] == NOWHERE
    assert found[2] < found[3] < found[0]
    assert found[2] > NOWHERE


def test_last_known_value_stays_in_its_group() -> None:
    values = np.array([NOWHERE, 5, NOWHERE, NOWHERE, 7], np.int64)
    starts = np.array([0, 0, 0, 3, 3])
    assert last_known(values, starts).tolist() == [NOWHERE, 5, 5, NOWHERE, 7]


@pytest.mark.parametrize(
    ("stream", "part"),
    [
        (("t", 3, None), ("t", 3)),
        (("t", None, None), None),
        ((None, None, "a.jsonl"), ("file", "a.jsonl")),
        ((None, 7, "s/t/1/CDC_000007.csv"), ("prefix", 2, "")),
        ((None, 7, "s/t/1/CDC_6d1f_000007.csv"), ("prefix", 2, "6d1f")),
    ],
)
def test_part_of_a_feed(stream: Any, part: Any) -> None:
    assert part_of(stream, 2) == part
