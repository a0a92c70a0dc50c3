"""How rows pair, and what is left out of a comparison: each rule, seen and not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeAlias

import pytest

from cdcwire.model.kinds import Column, IntType, TextType

pytest.importorskip("pyarrow", reason="needs the extra compare")

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.result import (
    ABSENT,
    NULL,
    Counts,
    RowDifference,
    Shown,
    TableComparison,
)
from cdcwire_conformance.compare.rules import ComparisonRules

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
KEYLESS = CanonicalTable("shop", "log", (Column("n", IntType(32)), Column("s", TextType())), ())


def insert(id: int, n: int | None, ts: int = 1, **more: Any) -> Change:
    return {"op": "insert", "after": {"id": id, "n": n, "s": "x"}, "ts": ts, **more}


def update(id: int, before: Change | None, after: Change, ts: int = 1) -> Change:
    old = None if before is None else {"id": id, **before}
    return {"op": "update", "before": old, "after": {"id": id, **after}, "ts": ts}


def delete(before: Change, ts: int = 1) -> Change:
    return {"op": "delete", "before": before, "ts": ts}


def named(difference: RowDifference) -> dict[str | None, tuple[str | None, str | None]]:
    return {each.column: (each.left.text, each.right.text) for each in difference.columns}


def test_position_is_part_of_the_pair(frame_of: MakeFrame, compare_frames: Compare) -> None:
    found = compare_frames(
        frame_of(TABLE, [insert(1, 5, ts=10)]), frame_of(TABLE, [insert(1, 5, ts=11)]), TABLE
    )
    assert [each.verdict for each in found.differences] == ["only left", "only right"]
    assert [dict(each.position)["commit_ts"] for each in found.differences] == ["10", "11"]


def test_other_position_is_used(frame_of: MakeFrame, compare_frames: Compare) -> None:
    left = [{**insert(1, 5), "ts": 1, "lsn": 100}]
    right = [{**insert(1, 6), "ts": 2, "lsn": 100}]
    found = compare_frames(
        frame_of(TABLE, left), frame_of(TABLE, right), TABLE, ComparisonRules(position="lsn")
    )
    (difference,) = found.differences
    assert difference.position == (("lsn", "100"),)
    assert named(difference) == {"n": ("5", "6")}


def test_rows_without_key_are_a_multiset(frame_of: MakeFrame, compare_frames: Compare) -> None:
    def row(n: int | None, ts: int = 1) -> Change:
        return {"op": "insert", "after": {"n": n, "s": "x"}, "ts": ts}

    left = frame_of(KEYLESS, [row(1), row(1), row(2), row(None), row(7)])
    right = frame_of(KEYLESS, [row(7), row(1), row(2), row(3), row(1), row(1)])
    found = compare_frames(left, right, KEYLESS)
    assert found.counts == Counts(5, 6, 5, 6, 4, only_left=1, only_right=1, doubled_right=1)
    by_verdict = {each.verdict: each for each in found.differences}
    assert set(by_verdict) == {"only left", "only right", "doubled"}
    assert (by_verdict["doubled"].left_count, by_verdict["doubled"].right_count) == (2, 3)
    (number, text) = by_verdict["only left"].columns
    assert (number.column, number.left, number.right) == ("n", NULL, ABSENT)
    assert (text.column, text.left, text.right) == ("s", Shown("x"), ABSENT)
    assert named(by_verdict["only right"])["n"] == (None, "3")


def test_key_update_equals_its_delete_and_insert_only_if_split(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    old, new = {"id": 1, "n": 5, "s": "x"}, {"id": 2, "n": 5, "s": "x"}
    left = frame_of(TABLE, [{"op": "update", "before": old, "after": new, "ts": 1}])
    right = frame_of(TABLE, [delete(old), insert(2, 5)])
    assert compare_frames(left, right, TABLE).is_equal
    whole = compare_frames(left, right, TABLE, ComparisonRules(split_keys=False))
    assert whole.counts == Counts(1, 2, 1, 2, 0, changed=1, only_right=1)


def test_deletes_by_key_leave_out_other_columns(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    moved = {"op": "update", "before": {"id": 3, "n": 1}, "after": {"id": 4, "n": 1}, "ts": 2}
    left = frame_of(TABLE, [delete({"id": 1, "n": 5, "s": "x"}), moved])
    right = frame_of(
        TABLE,
        [
            delete({"id": 1}),
            delete({"id": 3}, ts=2),
            {**insert(4, 1, ts=2), "after": {"id": 4, "n": 1}},
        ],
    )
    assert compare_frames(left, right, TABLE, ComparisonRules(deleted_columns="key")).is_equal
    assert not compare_frames(left, right, TABLE).is_equal


def test_updates_without_old_values_and_op(frame_of: MakeFrame, compare_frames: Compare) -> None:
    left = frame_of(TABLE, [update(1, {"n": 1, "s": "x"}, {"n": 2, "s": "x"}), delete({"id": 7})])
    right = frame_of(TABLE, [insert(1, 2), delete({"id": 7})])
    folded = ComparisonRules(has_old_values=False, folds_ops=True)
    assert compare_frames(left, right, TABLE, folded).is_equal
    other = frame_of(TABLE, [insert(1, 3), delete({"id": 7})])
    (difference,) = compare_frames(left, other, TABLE, folded).differences
    assert named(difference) == {"n": ("2", "3")}
    assert difference.op == "upsert"


def test_unchanged_columns_are_filled_in(frame_of: MakeFrame, compare_frames: Compare) -> None:
    after = {"n": 2, "s": None}
    left = frame_of(TABLE, [update(1, {"n": 1, "s": None}, after)])
    right = frame_of(TABLE, [update(1, {"n": 1}, after)])
    assert compare_frames(left, right, TABLE, ComparisonRules(fills_unchanged=True)).is_equal
    (difference,) = compare_frames(left, right, TABLE).differences
    (column,) = difference.columns
    assert (column.image, column.column, column.left, column.right) == ("before", "s", NULL, ABSENT)


def test_update_that_changes_nothing_is_one_without_old_values(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    after = {"n": 2, "s": "x"}
    left = frame_of(TABLE, [update(1, {}, after)])
    right = frame_of(TABLE, [update(1, None, after)])
    rules = ComparisonRules(fills_unchanged=True, has_old_values=False)
    assert compare_frames(left, right, TABLE, rules).is_equal


def test_event_fields_are_compared_if_both_have_them(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    left = frame_of(TABLE, [insert(1, 5, partition=3), insert(2, 5, partition=3)])
    right = frame_of(TABLE, [insert(1, 5, partition=4), insert(2, 5, partition=3)])
    assert compare_frames(left, right, TABLE).is_equal
    (difference,) = compare_frames(
        left, right, TABLE, ComparisonRules(fields=("partition",))
    ).differences
    assert named(difference) == {"partition": ("3", "4")}


def test_old_rows_are_left_out_between_positions(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    def rows(n: int, *, has_old: bool) -> list[Change]:
        old = {"n": n, "s": "y"} if has_old else None
        change = update(2, old, {"n": 7, "s": "x"})
        return [
            {**each, "ts": ts}
            for ts in (10, 15, 20)
            for each in (delete({"id": 1, "n": n}), change)
        ]

    left, right = (frame_of(TABLE, rows(n, has_old=n == 5)) for n in (5, 6))
    rules = ComparisonRules(key_only_between=((10, 20),))
    found = compare_frames(left, right, TABLE, rules)
    assert {dict(each.position)["commit_ts"] for each in found.differences} == {"10", "20"}
    assert found.counts == Counts(6, 6, 6, 6, 2, changed=4)
    open_ended = replace(rules, key_only_between=((None, 12), (18, None)))
    found = compare_frames(left, right, TABLE, open_ended)
    assert {dict(each.position)["commit_ts"] for each in found.differences} == {"15"}


def test_unreadable_rows_are_counted_and_never_equal(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    poison = {"error": {"offset": 3, "problem": "broken"}, "source": {"file": "a"}}
    left = frame_of(TABLE, [insert(1, 5), poison])
    right = frame_of(TABLE, [insert(1, 5), poison, poison])
    found = compare_frames(left, right, TABLE)
    assert found.counts == Counts(1, 1, 1, 1, 1, unreadable_left=1, unreadable_right=2)
    assert not found.is_equal
    assert found.differences == ()


def test_limit_holds_and_counts_stay_exact(frame_of: MakeFrame, compare_frames: Compare) -> None:
    left = frame_of(TABLE, [insert(i, 1, ts=i) for i in range(50)])
    right = frame_of(TABLE, [insert(i, 2, ts=i) for i in range(50)])
    found = compare_frames(left, right, TABLE, limit=3)
    assert [dict(each.key)["id"].text for each in found.differences] == ["0", "1", "2"]
    assert found.counts is not None
    assert found.counts.changed == 50
    assert compare_frames(left, right, TABLE, limit=0).differences == ()


def test_odd_column_names_and_many_columns(frame_of: MakeFrame, compare_frames: Compare) -> None:
    names = ["a.b", "`", "select", "Ä ö", "c0", "op", "pair", *(f"n{n}" for n in range(130))]
    odd = CanonicalTable(
        None, "odd", tuple(Column(name, IntType(32)) for name in names), ("a.b", "`")
    )
    after = {name: number for number, name in enumerate(names)}
    left = frame_of(odd, [{"op": "insert", "after": after, "ts": 1}])
    right = frame_of(
        odd, [{"op": "insert", "after": {**after, "n129": None, "Ä ö": 9, "op": 8}, "ts": 1}]
    )
    (difference,) = compare_frames(left, right, odd).differences
    assert [name for name, _ in difference.key] == ["a.b", "`"]
    assert named(difference) == {"Ä ö": ("3", "9"), "op": ("5", "8"), "n129": ("136", None)}


def test_two_records_with_different_keys_equal_a_delete_and_an_insert(
    frame_of: MakeFrame, compare_frames: Compare
) -> None:
    old, new = {"id": 1, "n": 5, "s": "x"}, {"id": 2, "n": 6, "s": "x"}
    halves: list[Change] = [
        {"op": "update", "half": "before", "before": old, "sequence_id": Decimal(7)},
        {"op": "update", "half": "after", "after": new, "sequence_id": Decimal(7)},
    ]
    kept: list[Change] = [  # an update that keeps its key, under one sequence id
        {"op": "update", "half": "before", "before": {**old, "id": 3}, "sequence_id": Decimal(8)},
        {"op": "update", "half": "after", "after": {**new, "id": 3}, "sequence_id": Decimal(8)},
    ]
    left = [delete(old), insert(2, 6), update(3, {"n": 5, "s": "x"}, {"n": 6, "s": "x"})]
    frames = frame_of(TABLE, left), frame_of(TABLE, [*kept, *reversed(halves)])
    rules = ComparisonRules(None, in_halves=True, joins_halves=True)
    assert compare_frames(*frames, TABLE, rules).counts == Counts(3, 2, 4, 4, 4)
    without_old = replace(rules, has_old_values=False)
    assert compare_frames(*frames, TABLE, without_old).counts == Counts(3, 2, 3, 3, 3)
