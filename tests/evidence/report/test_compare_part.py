"""The chapter about DataFrames, with a comparison that is only played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cdcwire.model.events import RowChange
from cdcwire_evidence.report import compare, compare_pairs
from cdcwire_evidence.report.compare import Named, compare_part, named_by, plant
from cdcwire_evidence.report.compare_pairs import Pair
from cdcwire_generators.workloads import workload


def document_of(named: frozenset[Named]) -> dict[str, Any]:
    counts = dict.fromkeys(compare._COUNTS, 0)
    differences = [
        {
            "verdict": verdict,
            "position": {"commit_ts": position},
            "columns": [{"column": column}] if verdict == "changed" else [],
        }
        for verdict, position, column in sorted(named, key=str)
    ]
    table = {"counts": counts, "differences": differences, "paired_by": ["commit_ts", "c1"]}
    return {"equal": not named, "compared": ["op", "after"], "tables": [table]}


def planted_of(rows: int) -> frozenset[Named]:
    changes = workload(compare.WORKLOAD, rows, compare.SEED)
    return plant(tuple(c for c in changes if isinstance(c, RowChange))).named


def played(monkeypatch: pytest.MonkeyPatch, planted: frozenset[Named]) -> None:
    """Let every comparison of planted feeds name these differences."""

    def answer(folder: Path, right: str) -> tuple[int, str, dict[str, Any]]:
        is_planted = right.endswith("-planted")
        named = planted if is_planted else frozenset()
        return int(is_planted), f"left   craft:file:{folder}/craft\n", document_of(named)

    monkeypatch.setattr(compare, "_compare", answer)
    monkeypatch.setattr(compare, "find_spec", lambda name: name)


def test_planted_are_three_changes_one_loss_and_one_copy() -> None:
    changes = tuple(e for e in workload("proposal-29", 200, 7) if isinstance(e, RowChange))
    planted = plant(changes)
    assert len(planted.changes) == len(changes)
    verdicts = sorted((verdict, column) for verdict, _, column in planted.named if column)
    assert verdicts == [("changed", "c10"), ("changed", "c20"), ("changed", "c5")]
    assert {v for v, _, column in planted.named if column is None} == {"only left", "doubled"}
    both = set(map(id, changes)) & set(map(id, planted.changes))
    assert len(both) == len(changes) - 4
    assert named_by(document_of(planted.named)) == planted.named


def test_chapter_shows_verdicts_and_what_was_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(monkeypatch, planted_of(compare.ROWS_WHEN_QUICK))
    part = compare_part(True, tmp_path)
    assert not part.failed
    assert not part.not_run
    assert sum(line.endswith("| yes |") for line in part.lines) == 4
    assert "left   craft:file:craft" in part.lines
    assert not any(str(tmp_path) in line for line in part.lines)


@pytest.mark.parametrize("strange", ["", "equal", "left out", "no answer"])
def test_pairs_show_what_is_left_out_and_fail_if_it_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strange: str
) -> None:
    pair = Pair("avro", "canal-json", frozenset({"commit_ms"}), ("enable-tidb-extension=true",))
    asked: list[str] = []

    def answer(folder: Path, *words: str) -> tuple[int, str, dict[str, Any] | None]:
        asked.extend(words)
        names = ["commit_ms", *(["tx_id"] if strange == "left out" else [])]
        document = {
            "equal": strange != "equal",
            "left_out": [{"name": name, "reason": "avro has none"} for name in names],
            "tables": [{"counts": {"left_rows": 1000}, "paired_by": ["ordinal", "c1"]}],
        }
        code = int(strange == "equal")
        return (2, "it | broke", None) if strange == "no answer" else (code, "", document)

    monkeypatch.setattr(compare_pairs, "run_compare", answer)
    lines, failed = compare_pairs.pairs_lines(tmp_path, [pair])
    assert failed is bool(strange)
    assert asked[0] == f"avro:file:{tmp_path}/pair-0-left"
    assert asked[-2:] == ["--option", "enable-tidb-extension=true"]
    assert (tmp_path / "pair-0-right" / "messages.jsonl").stat().st_size > 100_000
    if not strange:
        options = "`enable-tidb-extension=true`"
        cells = f"avro | canal-json | {options} | equal | 1,000 | order of changes and c1"
        assert lines[-1] == f"| {cells} | commit_ms | yes |"


@pytest.mark.parametrize("strange", ["missed", "more"])
def test_chapter_fails_if_other_differences_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strange: str
) -> None:
    planted = planted_of(compare.ROWS_WHEN_QUICK)
    other: frozenset[Named] = frozenset({("only right", "1", None)})
    wrong = frozenset(sorted(planted, key=str)[1:]) if strange == "missed" else planted | other
    played(monkeypatch, wrong)
    part = compare_part(True, tmp_path)
    assert part.status == "failed"
    assert sum(line.endswith("| **no** |") for line in part.lines) == 2


def test_without_pyspark_or_java_it_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "find_spec", lambda name: None)
    (missing,) = compare_part(True, tmp_path).not_run
    assert "PySpark" in missing.why

    def no_java(folder: Path, right: str) -> tuple[int, str, None]:
        return 2, "cdcwire compare: Spark needs Java 17 or newer; install it", None

    played(monkeypatch, frozenset())
    monkeypatch.setattr(compare, "_compare", no_java)
    part = compare_part(True, tmp_path)
    assert [each.why for each in part.not_run] == ["Spark needs Java 17 or newer; install it"]
    assert not part.failed


def test_comparison_that_can_not_run_fails_the_chapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(monkeypatch, frozenset())
    monkeypatch.setattr(compare, "_compare", lambda *_: (2, "cdcwire compare: it broke", None))
    part = compare_part(True, tmp_path)
    assert part.failed
    assert "cdcwire compare: it broke" in part.lines
