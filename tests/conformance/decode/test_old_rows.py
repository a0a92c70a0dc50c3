"""Where the rows of a table show that old rows are whole, and where they may not be."""

from __future__ import annotations

import pytest

from cdcwire_conformance.decode.row_facts import RUNS_KEPT, OldRows, OldRowsTally


def shown(*places: int) -> OldRows:
    """Return the runs of a share; a negative place shows an old row that is not whole."""
    tally = OldRowsTally()
    for place in places:
        tally.add(abs(place), is_whole=place > 0)
    return tally.found


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ((), ()),
        ((1, 2, 3), ()),
        ((-1, -2), ()),
        ((-1, -2, 5, 6), ((None, 5),)),
        ((1, 5, -7, -8), ((5, None),)),
        ((1, -3, -4, 6, 8), ((1, 6),)),
        ((1, -3, 6, -8, 9), ((1, 6), (6, 9))),
        ((9, -3, 6, 1), ((1, 6),)),
    ],
    ids=str,
)
def test_old_rows_may_lack_columns_up_to_the_nearest_whole_ones(
    places: tuple[int, ...], expected: tuple[object, ...]
) -> None:
    assert shown(*places).key_only() == expected


def test_shares_join_in_any_order() -> None:
    left, right = shown(1, 2, -11, -12), shown(-5, 8, 20)
    assert left.joined(right).key_only() == right.joined(left).key_only() == ((2, 8), (8, 20))


def test_runs_that_overlap_leave_out_at_least_what_is_not_whole() -> None:
    assert shown(1, 100).joined(shown(-50)).key_only() == ((1, 100),)


def test_rows_without_a_position_and_too_many_runs_decide_nothing() -> None:
    tally = OldRowsTally()
    tally.add(None, is_whole=True)
    assert tally.found.key_only() is None
    places = [n if n % 2 else -n for n in range(1, 2 * RUNS_KEPT)]
    assert shown(*places[:RUNS_KEPT]).key_only() is not None
    assert shown(*places).key_only() is None
    assert shown(*places[:RUNS_KEPT]).joined(shown(*places[RUNS_KEPT:])).key_only() is None
