"""The command that runs all benchmarks, on results that are written here."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

if not Path(__file__).parents[2].joinpath("benchmarks").exists():
    pytest.skip("benchmarks are in a checkout", allow_module_level=True)
sys.path.append(str(Path(__file__).parents[2]))

from benchmarks import __main__ as benchmarks
from benchmarks.document import Result, document


def ran(*results: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(document("decode", results, quick=True)))
    return found


def ratio(value: float, workload: str = "", bar: float | None = None) -> Result:
    return Result(f"id {workload}", "title", value, "x", bar, workload=workload)


def took(value: float, bar: float | None = None) -> Result:
    return Result("took", "time", value, "ms", bar, is_least=False)


def test_results_more_than_ten_percent_worse_are_named() -> None:
    last = {"benchmarks": [ran(ratio(2.0, "a"), ratio(2.0, "b"), took(10.0))]}
    found = [ran(ratio(1.85, "a"), ratio(1.79, "b"), took(11.5))]
    assert [each["title"] for each in benchmarks.worse(last, found)] == ["title; b", "time"]
    assert benchmarks.worse(last, last["benchmarks"]) == []
    assert benchmarks.worse(None, found) == []


def test_goal_is_the_worst_of_its_workloads() -> None:
    run = ran(ratio(2.0, "a", 1.5), ratio(1.2, "b", 1.5), took(3.0, 5.0), took(7.0, 5.0), took(9))
    found = [(each["title"], each["value"], each["passed"]) for each in benchmarks.goals([run])]
    assert found == [("title", 1.2, False), ("time", 7.0, False)]


@pytest.mark.parametrize(("value", "code"), [(2.0, 0), (0.5, 1)])
def test_run_is_stored_and_compared_with_the_last(
    value: float,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "new" / "results.json"
    words = ["--quick", "--json", str(file), "decode"]
    monkeypatch.setattr(benchmarks, "run_all", lambda *_: ([ran(ratio(3.0, "a", 1.0))], []))
    assert benchmarks.main(words) == 0
    monkeypatch.setattr(benchmarks, "run_all", lambda *_: ([ran(ratio(value, "a", 1.0))], []))
    assert benchmarks.main(words) == code
    assert f"worse: title; a: 3 before, now {value:g} x" in capsys.readouterr().out
    stored = json.loads(file.read_text())
    assert [each["is"] for each in stored["worse"]] == [value]
    assert [each["value"] for each in stored["goals"]] == [value]


def test_benchmark_that_breaks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", "false")
    assert benchmarks.main(["--json", str(tmp_path / "a.json"), "decode"]) == 2
    assert "not run: decode: no output" in capsys.readouterr().out


def test_unknown_benchmark_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        benchmarks.main(["nothing"])
    assert raised.value.code == 2
    assert "unknown benchmark nothing; choose from import_time, " in capsys.readouterr().err
