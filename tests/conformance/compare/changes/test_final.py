"""The last rows of keys: two feeds replayed, each case under a key of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pytest

from cdcwire.model.kinds import Column, DecimalType, FloatType, IntType, TextType

pytest.importorskip("pyarrow", reason="needs the extra compare")

import pyarrow as pa

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.result import ABSENT, NULL, Counts, Shown, TableComparison
from cdcwire_conformance.compare.rules import ComparisonRules, Window, final_rules

Frame: TypeAlias = "list[pa.RecordBatch]"
MakeFrame: TypeAlias = "Callable[..., Frame]"
Compare: TypeAlias = "Callable[..., TableComparison]"

Change: TypeAlias = "dict[str, Any]"
Columns: TypeAlias = "dict[str, tuple[Shown, Shown]]"

TABLE = CanonicalTable(
    "shop",
    "orders",
    (
        Column("id", IntType(64), roles=frozenset({"primary", "handle"})),
        Column("n", IntType(32)),
        Column("f", FloatType(64)),
        Column("d", DecimalType()),
        Column("s", TextType()),
    ),
    ("id",),
)


@dataclass(frozen=True)
class Case:
    """Changes of both sides, whose ids are relative. ``seen``: verdict, relative id, columns."""

    id: str
    left: tuple[Change, ...]
    right: tuple[Change, ...]
    seen: tuple[str, int, Columns] | None = None


def put(ts: int, key: int = 0, op: str = "upsert", **values: object) -> Change:
    return {"op": op, "ts": ts, "after": {"id": key, "n": 1, **values}}


def gone(ts: int, key: int = 0) -> Change:
    return {"op": "delete", "ts": ts, "before": {"id": key, "n": 1}}


def bare(key: int = 0) -> Change:
    change = gone(0, key)
    del change["ts"]
    return change


def moved(ts: int, old: int, new: int) -> Change:
    return {
        "op": "update",
        "ts": ts,
        "before": {"id": old, "n": 1},
        "after": {"id": new, "n": 1},
    }


def changed(name: str, left: object, right: object) -> tuple[str, int, Columns]:
    both = (each if isinstance(each, Shown) else Shown(str(each)) for each in (left, right))
    return "changed", 0, {name: (next(both), next(both))}


CASES = (
    Case("same", (put(1), put(2, n=2)), (put(2, n=2),)),
    Case("sent-again", (put(1), put(2, n=2)), (put(1), put(2, n=2), put(1), put(2, n=2))),
    Case("sent-again-in-part", (put(1), put(2, n=2)), (put(1), put(2, n=2), put(1))),
    Case("other-order", (put(1), put(2, n=2)), (put(2, n=2), put(1))),
    Case("other-op", (put(1, op="insert"),), (put(1, op="update"),)),
    Case("earlier-changes-differ", (put(1, n=7), put(2)), (put(1, n=8), put(2))),
    Case("value", (put(1), put(2, n=2)), (put(1), put(2, n=3)), changed("n", 2, 3)),
    Case("last-is-lost", (put(1), put(2, n=2)), (put(1),), changed("n", 2, 1)),
    Case("negative-zero", (put(1, f=-0.0),), (put(1, f=0.0),), changed("f", "-0.0", "0.0")),
    Case("decimal-scale", (put(1, d="1.0"),), (put(1, d="1.00"),), changed("d", "1.0", "1.00")),
    Case("null-for-absent", (put(1, s=None),), (put(1),), changed("s", NULL, ABSENT)),
    Case("deleted", (put(1), gone(2)), (put(1), gone(2))),
    Case("deleted-or-never-there", (put(1), gone(2)), ()),
    Case("deleted-and-sent-again", (put(1), gone(2)), (put(1), gone(2), put(1))),
    Case("delete-is-lost", (put(1), gone(2)), (put(1),), ("only right", 0, {})),
    Case("row-is-lost", (put(1),), (), ("only left", 0, {})),
    Case("came-back", (put(1), gone(2), put(3)), (put(3), put(1), gone(2))),
    Case("key-moved", (put(1), moved(2, 0, 5)), (put(1), gone(2), put(2, 5))),
    Case("key-moved-and-not", (put(1), moved(2, 0, 5)), (put(1), put(2, 5)), ("only right", 0, {})),
    Case(
        "keys-swapped",  # at one commit; who splits updates sends the deletes first
        (put(1), put(1, 5), moved(2, 0, 5), moved(2, 5, 0)),
        (put(1), put(1, 5), gone(2), gone(2, 5), put(2, 5), put(2)),
    ),
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
def found(frame_of: MakeFrame, compare_tables: Compare) -> TableComparison:
    sides = [
        [c for n, case in enumerate(CASES) for c in changes_of(n, getattr(case, side))]
        for side in ("left", "right")
    ]
    left, right = (frame_of(TABLE, rows) for rows in sides)
    rules = final_rules(ComparisonRules())
    return compare_tables(left, right, TABLE, rules, limit=100)


@pytest.mark.parametrize(("number", "case"), list(enumerate(CASES)), ids=[c.id for c in CASES])
def test_last_rows_that_differ_are_named(found: TableComparison, number: int, case: Case) -> None:
    keys = {str(number * 10 + key) for key in range(10)}
    named = [each for each in found.differences if each.key[0][1].text in keys]
    if case.seen is None:
        assert named == []
        return
    (difference,) = named
    verdict, key, columns = case.seen
    assert (difference.verdict, difference.op) == (verdict, "row")
    assert difference.key == (("id", Shown(str(number * 10 + key))),)
    if verdict == "changed":
        assert {c.column: (c.left, c.right) for c in difference.columns} == columns
        assert None not in (difference.left_place, difference.right_place)


def test_last_rows_are_counted(found: TableComparison) -> None:
    counts = found.counts
    assert counts is not None
    verdicts = [case.seen[0] for case in CASES if case.seen is not None]
    named = (counts.changed, counts.only_left, counts.only_right)
    assert named == tuple(verdicts.count(v) for v in ("changed", "only left", "only right"))
    assert counts.left_rows == sum(len(case.left) for case in CASES)
    assert counts.right_rows == sum(len(case.right) for case in CASES)
    assert counts.left == counts.same + counts.changed + counts.only_left
    assert counts.right == counts.same + counts.changed + counts.only_right
    # Left: 20 cases without 4 that end deleted; of those left the swapped keys are one more.
    assert counts.left == len(CASES) - 4 + 1
    ids = {case.id: number for number, case in enumerate(CASES)}
    value = next(d for d in found.differences if d.key[0][1].text == str(ids["last-is-lost"] * 10))
    assert value.position == (("left commit_ts", "2"), ("right commit_ts", "1"))


def replayed(
    frame_of: MakeFrame,
    compare_frames: Compare,
    left: tuple[Change, ...],
    right: tuple[Change, ...],
    rules: ComparisonRules,
    **options: Any,
) -> Counts | None:
    ours, theirs = (frame_of(TABLE, changes_of(0, changes)) for changes in (left, right))
    return compare_frames(ours, theirs, TABLE, final_rules(rules), **options).counts


def test_without_a_position_the_feed_says_what_is_last(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    left = (put(9), put(9, n=2), put(9, 5), gone(9, 5))
    right = (put(7, 5), put(7), gone(7, 5), put(7, n=2))
    rules = ComparisonRules(position=None)
    assert replayed(frame_of, compare_frames, left, right, rules) == Counts(4, 4, 1, 1, 1)
    other = (put(7, n=2), put(7))
    assert replayed(frame_of, compare_frames, left, other, rules) == Counts(
        4, 2, 1, 1, 0, changed=1
    )


def test_delete_without_a_position_holds_against_what_is_sent_again(
    frame_of: MakeFrame,
    compare_frames: Compare,
) -> None:
    left = (put(1), put(2, n=2), bare(), put(1, 5), put(6, 5, n=6))
    right = (put(1), put(2, n=2), bare(), put(2, n=2), put(1, 5), put(6, 5, n=6), put(1, 5))
    assert replayed(
        frame_of, compare_frames, left, right, ComparisonRules(has_bare_deletes=True)
    ) == Counts(5, 7, 1, 1, 1)
    again = (*left[:3], put(4, n=4))
    rules = ComparisonRules(has_bare_deletes=True)
    assert replayed(frame_of, compare_frames, again, left[:3], rules) == Counts(
        4, 3, 1, 0, 0, only_left=1
    )


def test_delete_without_a_position_that_is_sent_again_takes_the_one_before_it(
    frame_of: MakeFrame,
    compare_frames: Compare,
) -> None:
    changes = (put(1), bare(), put(3, n=3))
    rules = ComparisonRules(has_bare_deletes=True)
    assert replayed(frame_of, compare_frames, changes, changes * 2, rules) == Counts(3, 6, 1, 1, 1)


def test_delete_with_a_position_keeps_it_among_those_without(
    frame_of: MakeFrame,
    compare_frames: Compare,
) -> None:
    rows = (put(1), put(1, 5))
    # Two rows change their places: the right side sends the deletes first, and they tell nothing.
    left = (*rows, moved(2, 0, 5), moved(2, 5, 0))
    right = (*rows, bare(), bare(5), put(2, 5), put(2))
    rules = ComparisonRules(has_bare_deletes=True)
    assert replayed(frame_of, compare_frames, left, right, rules) == Counts(4, 6, 2, 2, 2)
    # A delete that is sent again is as old as it was.
    once = (put(1), gone(2), put(3, n=3))
    again = (*once, gone(2), put(3, n=3))
    assert replayed(frame_of, compare_frames, once, again, rules) == Counts(3, 5, 1, 1, 1)


def test_window_replays_what_it_has(frame_of: MakeFrame, compare_frames: Compare) -> None:
    left = (put(1), put(2, n=2), put(3, n=3), put(3, 5))
    right = (put(2, n=2), put(3, n=4))
    counts = replayed(
        frame_of, compare_frames, left, right, ComparisonRules(), window=Window(end=3)
    )
    assert counts == Counts(2, 1, 1, 1, 1)


def test_update_of_a_part_of_a_key_takes_the_old_row_away(
    frame_of: MakeFrame,
    compare_frames: Compare,
) -> None:
    """Old values that are only those which changed say less than the old key."""
    table = replace(TABLE, key=("id", "n"))
    update: Change = {"op": "update", "ts": 2, "before": {"id": 0}, "after": {"id": 5, "n": 1}}
    left, right = (
        frame_of(table, changes_of(0, changes))
        for changes in ((put(1), update), (put(1), moved(2, 0, 5)))
    )
    rules = final_rules(ComparisonRules(fills_unchanged=True))
    assert compare_frames(left, right, table, rules).counts == Counts(2, 2, 1, 1, 1)


def test_halves_of_an_update_are_replayed(frame_of: MakeFrame, compare_frames: Compare) -> None:
    move = moved(2, 0, 5)
    halves = (
        {**move, "half": "after", "before": None},
        {**move, "half": "before", "after": None},
    )
    split = tuple({k: v for k, v in half.items() if v is not None} for half in halves)
    left, right = (put(1), *split), (put(1), move)
    rules = ComparisonRules(in_halves=True)
    assert replayed(frame_of, compare_frames, left, right, rules) == Counts(2, 2, 1, 1, 1)
