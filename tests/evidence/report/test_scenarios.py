"""The chapter about the scenarios, of lines that are written here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cdcwire_evidence.report.scenarios import scenarios_part
from cdcwire_evidence.scenarios.ledger import (
    RESULTS_VARIABLE,
    Measured,
    count,
    record_not_run,
    recorded,
)
from cdcwire_evidence.scenarios.load import percentile


def test_chapter_without_results_is_not_run(tmp_path: Path) -> None:
    part = scenarios_part(tmp_path / "no")
    assert [missing.what for missing in part.not_run] == ["scenarios"]
    assert part.status != "failed"


def test_chapter_shows_what_was_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "results.jsonl"
    monkeypatch.setenv(RESULTS_VARIABLE, str(file))
    with recorded("a/good", "a good one", "All is well.") as result:
        result.counts = count({0: "abc"}, {0: "abbc"})
        result.figures = {"deaths": 2}
    record_not_run("a/absent", "an absent one", "there is no engine")
    part = scenarios_part()
    assert part.status != "failed"
    (row,) = [line for line in part.lines if "`a/good` |" in line]
    assert [cell.strip() for cell in row.split("|")][4:10] == ["3", "4", "1", "0", "0", "0"]
    assert "- `a/good`: deaths 2" in part.lines
    assert [(missing.what, missing.why) for missing in part.not_run] == [
        ("a/absent", "there is no engine")
    ]


def test_chapter_names_what_was_not_run_by_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RESULTS_VARIABLE, str(tmp_path / "results.jsonl"))
    record_not_run("a/killed", "a killed one", "there is no engine")
    record_not_run("deselected", "not asked for", "7 scenarios were not asked for: -m quick")
    record_not_run("a/frozen", "a frozen one", "there is no engine")
    part = scenarios_part()
    assert part.status != "failed"
    assert [(missing.what, missing.why) for missing in part.not_run] == [
        ("a/killed`, `a/frozen", "there is no engine"),
        ("deselected", "7 scenarios were not asked for: -m quick"),
    ]


def test_chapter_shows_tables_and_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RESULTS_VARIABLE, str(tmp_path / "results.jsonl"))
    with recorded("a/load", "a load", "It is much.") as result:
        result.series = {"rows": [0, 50, 100], "nothing": [0, 0, 0]}
        result.tables = [Measured("Sizes", "Of three.", ("format", "bytes"), (("craft", "12.5"),))]
    lines = scenarios_part().lines
    assert lines[lines.index("### Sizes") + 2] == "`a/load`: Of three."
    assert "| craft | 12.5 |" in lines
    assert "### Second by second: a load" in lines
    assert "| rows | 0 | 100 | `·▄█` |" in lines
    assert "| nothing | 0 | 0 | `···` |" in lines


def test_chapter_fails_with_a_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RESULTS_VARIABLE, str(tmp_path / "results.jsonl"))
    with pytest.raises(ZeroDivisionError), recorded("a/bad", "a bad one", "It breaks."):
        _ = 1 / 0
    assert json.loads((tmp_path / "results.jsonl").read_text())["verdict"] == "failed"
    assert scenarios_part().status == "failed"


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        ("abcd", (0, 0, 0, 0)),
        ("abd", (0, 1, 0, 0)),
        ("abccd", (1, 0, 0, 0)),
        ("abcxd", (0, 0, 1, 0)),
        ("abdc", (0, 0, 0, 1)),
        ("abcdab", (2, 0, 0, 0)),
        ("", (0, 4, 0, 0)),
    ],
)
def test_count_tells_what_became_of_each(got: str, wanted: tuple[int, ...]) -> None:
    counts = count({"key": "abcd"}, {"key": got})
    found = (counts.repeated, counts.lost, counts.invented, counts.out_of_order)
    assert found == wanted
    assert counts.is_exact is (sum(wanted) == 0)


def test_count_keeps_partitions_separate() -> None:
    counts = count({0: "ab", 1: "cd"}, {0: "abc", 1: "d"})
    assert (counts.lost, counts.invented, counts.repeated) == (1, 1, 0)


def test_count_allows_equal_things_to_be_sent_twice() -> None:
    assert count({0: "aab"}, {0: "aab"}).is_exact
    assert count({0: "aab"}, {0: "ab"}).lost == 1


@pytest.mark.parametrize(
    ("values", "share", "wanted"),
    [
        ([], 0.5, 0.0),
        ([7.0], 0.99, 7.0),
        ([3.0, 1.0, 2.0], 0.5, 2.0),
        ([4.0, 3.0, 2.0, 1.0], 0.5, 2.0),
        ([float(number) for number in range(1, 101)], 0.99, 99.0),
        ([1.0, 2.0], 1, 2.0),
        ([1.0, 2.0], 0, 1.0),
    ],
)
def test_percentile_is_a_value_that_was_measured(
    values: list[float], share: float, wanted: float
) -> None:
    assert percentile(values, share) == wanted
