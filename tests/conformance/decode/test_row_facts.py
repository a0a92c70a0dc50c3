"""The columns that the rows of a feed have at least."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="needs the extra compare")

from cdcwire_conformance.decode.row_facts import SETS_KEPT, fewest


def test_fewest_columns_leave_out_what_has_more() -> None:
    ids, names = frozenset({"id"}), frozenset({"name", "n"})
    found = fewest(frozenset({ids, ids | {"n"}, names, names | {"id"}}))
    assert found == {ids, names}


def test_fewest_columns_of_many_images_keep_what_all_have() -> None:
    images = frozenset(frozenset({"id", f"c{number}"}) for number in range(SETS_KEPT + 1))
    assert fewest(images) == {frozenset({"id"})}


def test_fewest_columns_of_as_many_images_as_are_kept_are_theirs() -> None:
    images = frozenset(frozenset({f"c{number}"}) for number in range(SETS_KEPT))
    assert fewest(images) == images
