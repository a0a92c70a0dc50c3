"""Reports of the windows of followed topics, and the options of ``--follow``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the extra spark is not installed")

from cdcwire_conformance.cli import main
from cdcwire_conformance.spark.compare.result import Comparison, Counts, TableComparison
from cdcwire_conformance.spark.follow.following import WindowComparison
from cdcwire_conformance.spark.follow.report import WindowLines, window_document, window_text
from cdcwire_conformance.spark.follow.watermarks import Notices


def window(number: int, **notices: Notices) -> WindowComparison:
    counts = Counts(left_rows=3, right_rows=3, left=3, right=3, same=3)
    table = TableComparison("shop.orders", counts, paired_by=("commit_ts", "id"))
    found = Comparison("craft:a", "open-protocol:b", (table,), compared=("op", "after"))
    left, right = (notices.get(side, Notices()) for side in ("left", "right"))
    return WindowComparison(number, "commit_ts", 10, 20, found, left, right)


def test_window_is_reported_with_rows_outside_all_windows() -> None:
    equal = window(3)
    assert equal.is_equal
    assert equal.changes == 3
    assert window_text(equal).splitlines() == [
        "window 3, commit_ts from 10 to 20: "
        "EQUAL: 3 changes of 1 table, by 128 bits of hash per row",
        "  shop.orders: equal, 3 changes, paired by commit_ts and id",
    ]
    late = window(4, right=Notices(late=3, unreadable=1, lines=("t[0]@7: x", "t[1]@8: y")))
    assert not late.is_equal
    lines = window_text(late).splitlines()
    assert lines[0].endswith("DIFFERENT: 3 late, 1 unreadable on the right; the rest is equal")
    assert lines[2:] == [
        "  right: 3 late, 1 unreadable",
        "    t[0]@7: x",
        "    t[1]@8: y",
        "    and 2 more",
    ]
    repeated = replace(window(5, left=Notices(late=2, lines=("t[0]@7: x",))), allows_repeats=True)
    assert repeated.is_equal
    first = window_text(repeated).splitlines()[0]
    assert first.endswith(
        ": EQUAL: 3 changes of 1 table, by 128 bits of hash per row, 2 late on the left"
    )
    assert not replace(late, allows_repeats=True).is_equal
    notices_only = replace(repeated, comparison=replace(repeated.comparison, tables=()))
    assert (
        window_text(notices_only)
        .splitlines()[0]
        .endswith(": NOT COMPARED: no change of 0 tables, 2 late on the left")
    )
    document = window_document(late)
    assert (document["start"], document["end"], document["equal"]) == ("10", "20", False)
    assert document["late"] == {"left": 0, "right": 3}


def test_file_of_windows_has_each_window_once_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "windows.jsonl"
    path.write_text("something else\n", "utf-8")
    WindowLines(path, is_new=True).write(window(1))
    again = WindowLines(path, is_new=False)  # a job that was killed behind the line
    again.write(window(1))
    again.write(window(2))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:50])  # killed within a line
    WindowLines(path, is_new=False).write(window(3))
    lines = path.read_text("utf-8").splitlines()
    assert [json.loads(line)["window"] for line in lines] == [1, 2, 3]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--every", "3"], "--every needs --follow"),
        (["--by-rows"], "--by-rows needs --follow"),
        (["--follow", "--every", "0"], "--every is a number of seconds above 0"),
        (["--follow", "--windows", "0"], "--windows is a number from 1"),
        (["--follow", "--mode", "final"], "--follow compares all changes"),
    ],
)
def test_options_that_do_not_go_together(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "kafka://127.0.0.1:9/t"
    assert main(["compare", f"craft:{url}", f"craft:{url}", *words]) == 2
    assert problem in capsys.readouterr().err
