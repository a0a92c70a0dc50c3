"""Reports of the windows of followed topics, and the options of ``--follow``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra spark is not installed")

from cdcwire.cli.context import UsageError
from cdcwire_conformance.cli import main
from cdcwire_conformance.cli.compare_arguments import CompareArguments
from cdcwire_conformance.cli.compare_rules import Masking
from cdcwire_conformance.cli.compare_run import Work
from cdcwire_conformance.cli.follow import follow
from cdcwire_conformance.cli.progress import ProgressLine
from cdcwire_conformance.compare.masking import Mask, redacted
from cdcwire_conformance.compare.result import (
    ColumnDifference,
    Comparison,
    Counts,
    RowDifference,
    Shown,
    TableComparison,
    UnreadableMessage,
)
from cdcwire_conformance.compare.rules import DEFAULT_OPTIONS, CompareOptions
from cdcwire_conformance.spark.follow import following
from cdcwire_conformance.spark.follow.following import FollowStatus, WindowComparison
from cdcwire_conformance.spark.follow.report import WindowLines, window_document, window_text
from cdcwire_conformance.spark.follow.watermarks import Notices

NOTHING: Any = None


def work_of(arguments: CompareArguments, masking: Masking, options: CompareOptions) -> Work:
    feeds = (NOTHING, NOTHING, None)
    return Work(arguments, masking, *feeds, options, {}, is_embedded=False, notes=NOTHING)


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
        (["--metrics", "x"], "--metrics needs --follow"),
        (["--follow", "--metrics", "no/x"], "--metrics: no/x cannot be written"),
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


@pytest.mark.parametrize("is_wanted", [True, None])
def test_windows_hide_values_in_all_outputs_and_metrics_count_them(
    is_wanted: bool | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    column = ColumnDifference("after", "email", "text", Shown("secret-1"), Shown("secret-2"))
    key = (("id", Shown("7")),)
    difference = RowDifference("changed", "insert", key, (), 1, 1, (column,))
    difference = redacted(difference, frozenset() if is_wanted else frozenset({"email"}))
    table = TableComparison("t", Counts(2, 2, 2, 2, same=1, changed=1), (difference,))
    unreadable = UnreadableMessage("a[0]@1: can't be read", "a[0]@1: 'secret-3' is not a date")
    comparison = Comparison(
        "a", "b", (table,), compared=("op",), errors_left=1, unreadable=(unreadable,)
    )

    def windows(*asked: Any, report: Any, observe: Any) -> Iterator[WindowComparison]:
        observe(FollowStatus("commit_ts", 20, (1, 2), (20, 30)))
        yield WindowComparison(1, "commit_ts", None, 20, comparison, Notices(), Notices())

    monkeypatch.setattr(following, "follow_feeds", windows)
    files = {name: str(tmp_path / name) for name in ("json", "metrics")}
    asked = dict.fromkeys(("state", "every", "windows", "idle", "by_rows"))
    arguments = CompareArguments(**asked, **files)
    hiding = Masking(Mask(b"a key"), is_wanted, frozenset({"email"}))
    with ProgressLine() as progress:
        code = follow(work_of(arguments, hiding, DEFAULT_OPTIONS), NOTHING, print, progress)
    assert code == 1
    written = [Path(file).read_text() for file in files.values()]
    assert "secret" not in "".join([*capsys.readouterr(), *written])
    hidden = '"redacted": true' if is_wanted is None else '"masked": '
    assert hidden in written[0]
    assert "cdcwire_compare_differences_total 1\n" in written[1]
    assert 'cdcwire_compare_lag_records{side="right"} 2\n' in written[1]


@pytest.mark.parametrize("number", [0, 1, 3])
def test_tables_without_rows_are_named_after_the_first_window_and_at_the_end(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def windows(*asked: Any, **more: Any) -> Iterator[WindowComparison]:
        for each in range(number):
            unseen = ("--include: x", "--include: y")[each // 2 :]
            yield replace(window(each + 1), unseen=unseen)

    monkeypatch.setattr(following, "follow_feeds", windows)
    names = ("state", "every", "windows", "idle", "by_rows", "json", "metrics")
    arguments = CompareArguments(**dict.fromkeys(names))
    options = replace(DEFAULT_OPTIONS, include=frozenset({("shop", "z")}))
    work = work_of(arguments, Masking(Mask(b"a key"), is_wanted=None), options)
    error = None
    with ProgressLine() as progress:
        try:
            follow(work, NOTHING, print, progress)
        except UsageError as caught:
            error = str(caught)
    lines = capsys.readouterr().out.splitlines()
    shown = [line.split(":")[0] if "note" not in line else line for line in lines]
    first = ["compared", "", "window 1, commit_ts from 10 to 20", "  shop.orders"]
    both = ["note: --include: x", "note: --include: y"]
    if number == 0:
        assert shown == ["note: --include: no feed has rows of shop.z so far"]
        assert error == "no window was complete, so nothing was compared"
    elif number == 1:
        assert shown == [*first, *both, "EQUAL"]
    else:
        assert shown[:6] == [*first, *both]
        assert shown[-2:] == ["note: --include: y", "EQUAL"]
        assert len(shown) == 12
