"""ENUM and SET values by number and by label."""

from __future__ import annotations

import pytest

from cdcwire.model.kinds import EnumType, SetType, Value, index_of_label, mask_of_labels

OPTIONS = ("a", "b", "c")


@pytest.mark.parametrize(
    ("value", "mask"),
    [("", 0), ("a", 1), ("a,c", 5), ("c,a", 5), (6, 6), ("d", None), ("a,a", None), (b"a", None)],
)
def test_mask_of_labels(value: Value, mask: int | None) -> None:
    """A repeated label has no mask: the number cannot carry it."""
    assert mask_of_labels(SetType(OPTIONS, "label"), value) == mask


@pytest.mark.parametrize(("value", "index"), [("a", 1), ("c", 3), (2, 2), ("d", None), ("", None)])
def test_index_of_label(value: Value, index: int | None) -> None:
    assert index_of_label(EnumType(OPTIONS, "label"), value) == index
