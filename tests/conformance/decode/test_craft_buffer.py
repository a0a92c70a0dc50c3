"""Numbers read at many places at once are those that are read one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdcwire.arrow.column_decoders import Irregular
from cdcwire.core.compiled import IRREGULARITIES
from cdcwire.formats.craft.row_plan import read_uvarint, split_varints
from cdcwire_conformance.formats.craft.arrow_buffer import (
    Buffer,
    Varints,
    running_sums,
    within,
    zigzag,
)

quickly = settings(max_examples=200, deadline=None)

# Most bytes say "more follows" often enough for varints of all sizes.
raw_bytes = st.lists(st.one_of(st.integers(0x80, 0xFF), st.integers(0, 0xFF)), max_size=40).map(
    bytes
)


def one_by_one(parts: list[bytes]) -> list[list[int]] | None:
    """Return the uvarints of each part, None if one of them is none or goes on behind its part."""
    found = []
    for part in parts:
        pieces = split_varints(part)
        if sum(map(len, pieces)) != len(part):
            return None
        try:
            found.append(list(map(read_uvarint, pieces)))
        except IRREGULARITIES:
            return None
    return found


@quickly
@given(parts=st.lists(raw_bytes, min_size=1, max_size=5))
def test_varints_of_parts_are_those_of_each_part(parts: list[bytes]) -> None:
    parts = [part + b"\1" for part in parts]
    expected = one_by_one(parts)
    if expected is None:
        with pytest.raises(Irregular):
            Varints(parts)
        return
    found = Varints(parts)
    assert found.counts.tolist() == list(map(len, expected))
    assert found.values.tolist() == [number for part in expected for number in part]
    firsts = [sum(map(len, expected[:index])) for index in range(len(expected))]
    assert found.firsts.tolist() == firsts


@quickly
@given(pieces=st.lists(st.tuples(raw_bytes, raw_bytes), min_size=1, max_size=6))
def test_cells_are_read_as_whole_varints_or_refused(pieces: list[tuple[bytes, bytes]]) -> None:
    """Each cell stands amid other bytes, and is read as if it stood alone."""
    buffer = Buffer([part for pair in pieces for part in pair])
    starts, sizes, expected = [], [], []
    position = 0
    is_good = True
    for before, cell in pieces:
        starts.append(position + len(before))
        sizes.append(len(cell))
        position += len(before) + len(cell)
        alone = one_by_one([cell])
        is_good &= alone is not None and len(alone[0]) == (1 if cell else 0)
        expected += (alone or [[]])[0] or [0]
    if is_good:
        assert buffer.uvarints(np.array(starts), np.array(sizes)).tolist() == expected
        return
    with pytest.raises(Irregular):
        buffer.uvarints(np.array(starts), np.array(sizes))


def test_varint_of_every_size_has_its_largest_value() -> None:
    cells = [b"\xff" * (size - 1) + b"\x7f" for size in range(1, 10)] + [b"\xff" * 9 + b"\1"]
    sizes = np.array(list(map(len, cells)))
    starts = np.cumsum(sizes) - sizes
    largest = [(1 << 7 * size) - 1 for size in range(1, 10)] + [(1 << 64) - 1]
    assert Buffer(cells).uvarints(starts, sizes).tolist() == largest
    with pytest.raises(Irregular):
        Buffer([b"\xff" * 9 + b"\2"]).uvarints(np.array([0]), np.array([10]))


def test_place_outside_is_refused() -> None:
    with pytest.raises(IndexError):
        Buffer([b"abc"]).words(np.array([1 << 20]))


def test_helpers() -> None:
    counts = np.array([2, 1, 3])
    assert within(counts).tolist() == [0, 1, 0, 0, 1, 2]
    assert running_sums(np.array([5, 1, 7, 1, 2, 3]), counts).tolist() == [5, 6, 7, 1, 3, 6]
    top = (1 << 64) - 1
    assert running_sums(np.array([top, 2], np.uint64), np.array([2])).tolist() == [top, 1]
    values = np.array([0, 1, 2, top, top - 1], np.uint64)
    assert zigzag(values).tolist() == [0, -1, 1, -(1 << 63), (1 << 63) - 1]
