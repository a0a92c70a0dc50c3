"""Many differing rows as a few patterns, in frames made by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from cdcwire.model.kinds import Column, DatetimeType, IntType, TextType

pytest.importorskip("pyspark", reason="needs the extra spark")

from cdcwire.arrow.schema import CanonicalTable
from cdcwire_conformance.cli import main
from cdcwire_conformance.compare.patterns import OPTIONS, patterns_of
from cdcwire_conformance.compare.report import text
from cdcwire_conformance.compare.result import (
    ABSENT,
    ColumnDifference,
    Comparison,
    RowDifference,
    Shown,
    TableComparison,
)
from cdcwire_conformance.compare.rules import CompareOptions, ComparisonRules, Window
from cdcwire_conformance.spark.compare import large_tables
from cdcwire_conformance.spark.compare.frames import compare_frames

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = 10_000
TABLE = CanonicalTable(
    "shop",
    "orders",
    (
        Column("id", IntType(64), roles=frozenset({"primary", "handle"})),
        Column("made", DatetimeType(6)),
        Column("seen", DatetimeType(0)),
        Column("note", TextType()),
        Column("same", TextType()),
    ),
    ("id",),
)


def change(number: int, *, is_right: bool) -> dict[str, Any]:
    """Return an insert. On the right, ``made`` is cut, ``seen`` is 8 h later, ``note`` padded."""
    micros = 1 + number * 97 % 999_999
    hour = number % 12
    row = {
        "id": number,
        "made": f"2024-02-29 10:00:00.{micros:06}"[: -3 if is_right else None],
        "seen": f"2024-02-29 {hour + 8 * is_right:02}:00:00",
        "note": "paid   " if is_right and number % 4 == 0 else "paid",
        "same": "é",
    }
    return {"op": "insert", "ts": 1000 + number, "after": row}


@pytest.fixture(scope="module")
def found(frame_of: Callable[..., DataFrame]) -> TableComparison:
    left, right = (
        frame_of(TABLE, [change(n, is_right=is_right) for n in range(ROWS)])
        for is_right in (False, True)
    )
    return compare_frames(left, right, TABLE, options=CompareOptions(limit=3))


def test_three_causes_in_ten_thousand_rows_are_three_patterns(found: TableComparison) -> None:
    assert [(each.column, each.text, each.count) for each in found.patterns] == [
        ("made", "cut to milliseconds on the right", ROWS),
        ("seen", "later by 8 h on the right", ROWS),
        ("note", "trailing spaces on the right", ROWS // 4),
    ]
    assert [each.option for each in found.patterns] == ["--precision made=ms", None, None]
    assert all(len(each.examples) == 2 for each in found.patterns)
    assert len(found.differences) == 3


@pytest.mark.long
@pytest.mark.parametrize(("note", "lacking"), [("b", "left"), ("other", None)])
def test_absent_columns_of_a_before_image_are_compared_with_the_after_image(
    frame_of: Callable[..., DataFrame], note: str, lacking: str | None
) -> None:
    new = {"id": 1, "made": None, "seen": None, "note": "b", "same": "new"}
    update = {"op": "update", "ts": 1000, "after": new}
    left = frame_of(TABLE, [{**update, "before": {"same": "old"}}])
    right = frame_of(TABLE, [{**update, "before": {**new, "note": note, "same": "old"}}])
    rules = ComparisonRules(split_keys=False)
    patterns = compare_frames(left, right, TABLE, rules).patterns
    assert {each.column: each.lacking for each in patterns} == {
        **dict.fromkeys(("id", "made", "seen"), "left"),
        "note": lacking,
    }


def test_equal_rows_are_read_once(
    frame_of: Callable[..., DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_again(*arguments: object) -> None:
        raise AssertionError("rows are read again")

    monkeypatch.setattr(large_tables._Large, "_compared", read_again)
    left, right = (
        frame_of(TABLE, [change(n, is_right=is_right) for n in range(3)])
        for is_right in (False, True)
    )
    assert compare_frames(left, left, TABLE).is_equal
    window = CompareOptions(window=Window(1001))
    assert compare_frames(left, left, TABLE, options=window).is_equal
    with pytest.raises(AssertionError, match="read again"):
        compare_frames(left, right, TABLE)


def test_text_has_patterns_before_rows(found: TableComparison) -> None:
    lines = text(Comparison("a", "b", (found,))).splitlines()
    shown = [n for n, line in enumerate(lines) if line.startswith("  pattern: ")]
    first_row = next(n for n, line in enumerate(lines) if line.startswith("  changed: "))
    assert len(shown) == 3
    assert max(shown) < first_row
    assert "  pattern: 2,500 rows (25 %), note: trailing spaces on the right" in lines


def test_patterns_name_options_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--help-all"]) == 0
    known = capsys.readouterr().out
    assert OPTIONS
    for option in OPTIONS:
        assert f" {option.partition(' ')[0]}" in known


def test_missing_before_images_of_updates_name_their_option() -> None:
    image = ColumnDifference("before", None, "", Shown("{}"), ABSENT)
    found = {
        op: patterns_of([RowDifference("changed", op, (), (), 1, 1, (image,))])
        for op in ("update", "delete")
    }
    assert [each.option for each in found["update"]] == ["--no-before"]
    assert [each.option for each in found["delete"]] == [None]
