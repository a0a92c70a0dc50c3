"""Rows with a value that can't be read: their like on the other side is not a row of one side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest

from cdcwire.model.kinds import Column, IntType, TextType

pytest.importorskip("pyarrow", reason="needs the extra compare")

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.result import Counts, TableComparison
from cdcwire_conformance.compare.rules import ComparisonRules, final_rules

MakeFrame: TypeAlias = "Callable[..., object]"
Compare: TypeAlias = "Callable[..., TableComparison]"
Change: TypeAlias = "dict[str, Any]"

TABLE = CanonicalTable(
    "shop",
    "orders",
    (
        Column("id", IntType(64), roles=frozenset({"primary", "handle"})),
        Column("n", IntType(32)),
        Column("s", TextType()),
    ),
    ("id",),
)


@dataclass(frozen=True)
class Case:
    """Changes of both sides, whose ids are relative. ``seen``: the verdicts, in their order.

    ``last``: the verdict of the last rows.
    """

    id: str
    left: tuple[Change, ...]
    right: tuple[Change, ...]
    seen: tuple[str, ...] = ()
    last: str | None = None


def put(ts: int, n: int = 1, op: str = "insert") -> Change:
    return {"op": op, "ts": ts, "after": {"id": 0, "n": n, "s": "x"}}


def unread(ts: int | None, key: int | None = 0, **more: Any) -> Change:
    """Return an error row, which has the operation, the position and the key."""
    place = {} if ts is None else {"ts": ts}
    image = {} if key is None else {"after": {"id": key}}
    error = {"path": "after.n", "clause": "dataframes: types", "problem": "too large"}
    return {"op": "insert", **place, **image, "error": error, **more}


MOVED = {"op": "update", "ts": 2, "before": {"id": 0, "n": 1, "s": "x"}}
MOVED |= {"after": {"id": 5, "n": 2, "s": "x"}}

CASES = (
    Case("partner", (put(1),), (unread(1),)),
    Case("partner-of-the-other-side", (unread(1),), (put(1),)),
    Case("other-operation", (put(1), put(2, 2, "update")), (put(1), unread(2))),
    Case("both", (unread(1),), (unread(1),)),
    Case("other-position", (put(1),), (unread(2),), ("only left",)),
    Case("other-key", (put(1),), (unread(1, 7),), ("only left",), "only left"),
    Case("key-is-not-known", (put(1),), (unread(1, None),), ("only left",), "only left"),
    Case(
        "changed-beside-it",
        (put(1), put(1, 2)),
        (put(1, 3), unread(1)),
        ("changed",),
    ),
    Case("copy", (put(1), put(1)), (put(1), unread(1))),
    Case("copies", (put(1), put(1)), (unread(1), unread(1))),
    Case(
        "read-again-later",
        (put(1), put(2, 2, "update")),
        (unread(1), put(2, 3, "update")),
        ("changed",),
        "changed",
    ),
    Case("moved", (put(1), MOVED), (put(1), {**unread(2, 5), "op": "update", "before": {"id": 0}})),
    Case("late", (put(2), put(1, 2, "update")), (put(2), unread(1))),
)


def changes_of(number: int, changes: tuple[Change, ...]) -> Iterator[Change]:
    for offset, change in enumerate(changes):
        images: Change = {
            side: {**change[side], "id": number * 10 + change[side]["id"]}
            for side in ("before", "after")
            if side in change
        }
        yield {**change, **images, "source": {"topic": "t", "partition": number, "offset": offset}}


@pytest.fixture(scope="module")
def compared(
    frame_of: MakeFrame, compare_tables: Compare
) -> Callable[[ComparisonRules], TableComparison]:
    frames = [
        frame_of(TABLE, [c for n, e in enumerate(CASES) for c in changes_of(n, getattr(e, side))])
        for side in ("left", "right")
    ]
    return lambda rules: compare_tables(*frames, TABLE, rules, limit=100)


@pytest.fixture(scope="module")
def found(compared: Callable[[ComparisonRules], TableComparison]) -> TableComparison:
    return compared(ComparisonRules())


@pytest.fixture(scope="module")
def last(compared: Callable[[ComparisonRules], TableComparison]) -> TableComparison:
    return compared(final_rules(ComparisonRules()))


def verdicts_in(found: TableComparison, number: int) -> tuple[str, ...]:
    keys = {str(number * 10 + key) for key in range(10)}
    return tuple(each.verdict for each in found.differences if each.key[0][1].text in keys)


@pytest.mark.parametrize(("number", "case"), list(enumerate(CASES)), ids=[c.id for c in CASES])
def test_row_is_alone_only_if_its_like_was_read(
    found: TableComparison, number: int, case: Case
) -> None:
    assert verdicts_in(found, number) == case.seen


@pytest.mark.parametrize(("number", "case"), list(enumerate(CASES)), ids=[c.id for c in CASES])
def test_last_row_differs_only_if_it_was_read(
    last: TableComparison, number: int, case: Case
) -> None:
    assert verdicts_in(last, number) == (() if case.last is None else (case.last,))


def test_rows_that_can_not_be_read_are_counted_once(
    found: TableComparison, last: TableComparison
) -> None:
    unreadable = [
        sum("error" in change for case in CASES for change in getattr(case, side))
        for side in ("left", "right")
    ]
    for each in (found, last):
        assert each.counts is not None
        assert [each.counts.unreadable_left, each.counts.unreadable_right] == unreadable
        assert not each.is_equal


def test_differences_are_counted_as_they_are_shown(found: TableComparison) -> None:
    verdicts = [verdict for case in CASES for verdict in case.seen]
    counts = found.counts
    assert counts is not None
    assert counts.changed == verdicts.count("changed")
    assert (counts.only_left, counts.only_right) == (verdicts.count("only left"), 0)
    assert counts.differing == len(verdicts) == len(found.differences)


def test_changes_of_a_key_keep_their_places_without_positions(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    """The first change of the key can't be read, and the second one is still the second."""
    left = [put(1), put(2, 2, "update")]
    right = [unread(1), put(2, 2, "update")]
    frames = [frame_of(TABLE, changes_of(0, tuple(each))) for each in (left, right)]
    found = compare_frames(*frames, TABLE, ComparisonRules(position=None))
    assert found.counts == Counts(2, 1, 2, 1, 1, unreadable_right=1)


def test_both_records_of_an_update_can_be_unreadable(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    old, new = {"id": 0, "n": 1, "s": "x"}, {"id": 0, "n": 2, "s": "x"}
    left = [{"op": "update", "ts": 1, "before": old, "after": new}]
    right = [
        {**unread(1, None), "op": "update", "half": "before", "before": {"id": 0}},
        {**unread(1), "op": "update", "half": "after"},
    ]
    frames = [frame_of(TABLE, changes_of(0, tuple(each))) for each in (left, right)]
    found = compare_frames(*frames, TABLE, ComparisonRules(in_halves=True))
    assert found.counts == Counts(1, 0, 2, 0, 0, unreadable_right=2)
    assert found.differences == ()
