"""Frames of Spark that lack columns or have more, and the way in which Spark reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from cdcwire.model.kinds import Column, IntType, TextType

pytest.importorskip("pyspark", reason="needs the extra spark")

from pyspark.sql import DataFrame as AnyFrame
from pyspark.sql import functions as F

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.compare.result import ABSENT, NULL, Counts, RowDifference
from cdcwire_conformance.compare.rules import CompareOptions, ComparisonRules, Window
from cdcwire_conformance.spark.compare import frames, large_tables
from cdcwire_conformance.spark.compare.frames import compare_frames, frame_difference

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    MakeFrame: TypeAlias = Callable[..., DataFrame]

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


def test_without_position_changes_of_a_key_pair_by_their_ordinal(
    frame_of: MakeFrame, spark: Any
) -> None:
    left = [insert(1, 5), update(1, {"n": 5}, {"n": 6}), insert(2, 0), delete({"id": 1, "n": 6})]
    right = [insert(2, 0), insert(1, 5), update(1, {"n": 5}, {"n": 7}), delete({"id": 1, "n": 6})]
    frames = [frame_of(TABLE, rows).drop("commit_ts").coalesce(1) for rows in (left, right)]
    found = compare_frames(frames[0], frames[1], TABLE, ComparisonRules(position=None))
    (difference,) = found.differences
    assert difference.position == (("ordinal", "2"),)
    assert named(difference) == {"n": ("6", "7")}
    assert found.counts == replace(Counts(4, 4, 4, 4, 3), changed=1)


def test_only_counts_and_limited_rows_come_to_the_driver(
    frame_of: MakeFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = frame_of(TABLE, [insert(i % 40, i, ts=i % 7) for i in range(400)])
    right = frame_of(TABLE, [insert(i % 40, -i, ts=i % 7) for i in range(400)])
    collected: list[int] = []
    collect = type(left).collect

    def counted(frame: DataFrame) -> list[Any]:
        rows: list[Any] = collect(frame)
        collected.append(len(rows))
        return rows

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("rows came to the driver by another way")

    monkeypatch.setattr(type(left), "collect", counted)
    for name in ("toPandas", "toArrow", "toLocalIterator", "take", "head", "first", "count"):
        monkeypatch.setattr(type(left), name, refused)
    monkeypatch.setattr(large_tables, "ROWS_TOGETHER", 100)
    found = frames.compare_frames(left, right, TABLE, options=CompareOptions(limit=5))
    assert len(found.differences) == 5
    assert found.counts == Counts(400, 400, 400, 400, 1, changed=399)
    assert sum(collected) < 30  # a row for each bucket


def test_schema_difference_stops_before_a_row_is_read(frame_of: MakeFrame, spark: Any) -> None:
    unread = F.raise_error(F.lit("a row was read")).cast("string")
    left = frame_of(TABLE, [insert(1, 5)]).withColumn("op", unread)
    right = left.withColumn("after", F.col("after").withField("n", F.lit(1).cast("bigint")))
    right = right.withColumn("before", F.col("before").withField("s", F.lit(b"x")))
    found = compare_frames(left, right, TABLE)
    assert found.schema_differences == (
        "before.s: string on the left, binary on the right",
        "after.n: int on the left, bigint on the right",
    )
    assert found.counts is None
    assert not found.is_equal
    lines = frame_difference(left.drop("commit_ts"), right.drop("after"), TABLE)
    assert lines[0] == "commit_ts: only the right side has it"
    assert "after: the right frame has no such struct" in lines


def test_columns_of_a_frame_that_the_table_lacks_are_not_compared(frame_of: MakeFrame) -> None:
    wide = replace(TABLE, columns=(*TABLE.columns, Column("extra", IntType(32))))
    left: AnyFrame = frame_of(wide, [insert(1, 5)]).drop("before_has", "after_has")
    assert compare_frames(left, left, TABLE).left_out == ()
    right = left.withColumn("after", F.col("after").withField("extra", F.lit(9)))
    assert compare_frames(left, right, TABLE).is_equal
    assert not compare_frames(left, right, wide).is_equal


def test_presence_that_one_frame_does_not_tell_is_left_out(frame_of: MakeFrame) -> None:
    left = frame_of(TABLE, [{**insert(1, 5), "after": {"id": 1, "n": 5}}])
    right = frame_of(TABLE, [{**insert(1, 5), "after": {"id": 1, "n": 5, "s": None}}])
    assert not compare_frames(left, right, TABLE).is_equal
    found = compare_frames(left, right.drop("before_has", "after_has", "half", "source"), TABLE)
    assert found.is_equal
    assert [name for name, _ in found.left_out] == ["half", "before_has", "after_has"]


@pytest.mark.long
@pytest.mark.parametrize("exact", [False, True], ids=["fingerprints", "exact"])
def test_image_that_does_not_tell_presence_has_all(frame_of: MakeFrame, exact: bool) -> None:
    changes = [insert(1, None), {**insert(2, 5), "after": {"id": 2, "n": 5}}]
    left = frame_of(TABLE, changes)
    right = left.withColumn("after_has", F.lit(None).cast("binary"))
    found = compare_frames(left, right, TABLE, options=CompareOptions(exact=exact))
    assert found.counts == Counts(2, 2, 2, 2, 1, changed=1)
    (difference,) = found.differences
    assert [(each.left, each.right) for each in difference.columns] == [(ABSENT, NULL)]


def test_window_without_a_position_is_refused(frame_of: MakeFrame) -> None:
    frame = frame_of(TABLE, [insert(1, 5)])
    with pytest.raises(ValueError, match="no window"):
        compare_frames(
            frame, frame, TABLE, ComparisonRules(position=None), CompareOptions(window=Window(1))
        )


def test_nothing_stays_persisted_after_an_error(frame_of: MakeFrame, tmp_path: Path) -> None:
    left, right = frame_of(TABLE, [insert(1, 5)]), frame_of(TABLE, [insert(1, 6)])
    kept: Any = left.sparkSession._jsparkSession
    cache = kept.sharedState().cacheManager()
    is_empty = cache.isEmpty()
    error = F.raise_error(F.lit("broken")).cast("string")
    broken = left.withColumn("op", F.when(F.col("after.n") == 5, error))
    options = CompareOptions(differences_to=str(tmp_path / "d"))
    with pytest.raises(Exception, match="broken"):
        compare_frames(broken, right, TABLE, options=options)
    assert cache.isEmpty() == is_empty
