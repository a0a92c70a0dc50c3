"""Runs of the fuzzer: where they go on, how they share the time, and the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.registry import FORMAT_NAMES
from cdcwire_evidence.fuzz import laws, run
from cdcwire_evidence.fuzz.__main__ import main
from cdcwire_evidence.fuzz.inputs import SIGN, Input, first_inputs
from cdcwire_evidence.fuzz.run import FormatRun, Plan, Tally

NAME = "craft"


def test_run_goes_on_where_it_ended(tmp_path: Path) -> None:
    for total in (20, 40):
        run = FormatRun(Plan(NAME, 600, 7, total, tmp_path))
        run.run()
        assert run.tally.inputs == total
    assert json.loads((tmp_path / f"{NAME}.json").read_text("utf-8"))["tally"]["inputs"] == 40


def test_interrupted_run_loses_few_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "WRITE_EVERY", 16)
    interrupted = FormatRun(Plan(NAME, 600, 7, 100, tmp_path))
    check = interrupted.laws.check

    def interrupt(given: Input, **others: Any) -> laws.Outcome:
        if interrupted.tally.inputs == 40:
            raise KeyboardInterrupt
        return check(given, **others)

    monkeypatch.setattr(interrupted.laws, "check", interrupt)
    with pytest.raises(KeyboardInterrupt):
        interrupted.run()
    assert FormatRun(Plan(NAME, 600, 7, 100, tmp_path)).tally.inputs == 32


class Pool:
    """Runs a call at once, in this process."""

    def __init__(self, jobs: int, **others: object) -> None: ...

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *others: object) -> None: ...

    def submit(self, call: Callable[[Plan], object], plan: Plan) -> Future[object]:
        found: Future[object] = Future()
        found.set_result(call(plan))
        return found


@pytest.mark.parametrize("jobs", [1, 2])
def test_time_that_a_format_leaves_goes_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    """Each format gets its share of the time that is left. The clock does not move."""
    plans = []

    def run_format(plan: Plan) -> tuple[Tally, list[object]]:
        plans.append(plan)
        return Tally(plan.format, inputs=plan.inputs), []

    monkeypatch.setattr(run, "process_pool", Pool)
    monkeypatch.setattr(run, "run_format", run_format)
    monkeypatch.setattr("cdcwire_evidence.fuzz.run.time.monotonic", lambda: 0.0)
    names = tuple(FORMAT_NAMES[:4])
    run.run_all(names, 1, jobs=jobs, seed=1, inputs=1, state=tmp_path)
    shares = {1: [15, 20, 30, 60], 2: [30, 30, 60, 60]}
    assert sorted(plan.format for plan in plans) == sorted(names)
    assert [plan.seconds for plan in plans] == shares[jobs]


class Work:
    """Runs of formats that need a known time. A second gives one input, the last one the rest."""

    def __init__(self, *, needs: Mapping[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
        self.needs = needs
        self.now = 0.0
        self.done = dict.fromkeys(needs, 0.0)
        self.shares: list[tuple[str, float]] = []
        monkeypatch.setattr(run, "_mean_size", lambda name: -list(needs).index(name))
        monkeypatch.setattr(run, "run_format", self.run_format)
        monkeypatch.setattr("cdcwire_evidence.fuzz.run.time.monotonic", lambda: self.now)

    def run_format(self, plan: Plan) -> tuple[Tally, list[dict[str, object]]]:
        self.shares.append((plan.format, plan.seconds))
        used = min(plan.seconds, self.needs[plan.format] - self.done[plan.format])
        self.now += used
        self.done[plan.format] += used
        is_done = self.done[plan.format] == self.needs[plan.format]
        inputs = plan.inputs if is_done else int(self.done[plan.format])
        return Tally(plan.format, inputs=inputs), [{"format": plan.format}]


def test_format_that_was_cut_goes_on_with_the_time_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = FORMAT_NAMES[:3]
    work = Work(needs={first: 90, second: 30, third: 10}, monkeypatch=monkeypatch)
    shown: list[Tally] = []
    tallies, findings = run.run_all(
        (first, second, third), 3, jobs=1, seed=1, inputs=100, state=tmp_path, report=shown.append
    )
    assert work.shares == [(first, 60), (second, 60), (third, 90), (first, 80)]
    assert [tally.format for tally in shown] == [second, third, first]
    assert [(tally.format, tally.inputs) for tally in tallies] == [
        (name, 100) for name in (first, second, third)
    ]
    assert findings == [{"format": name} for name in (first, second, third)]


def test_format_that_was_cut_goes_on_with_several_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = FORMAT_NAMES[:4]
    work = Work(needs=dict(zip(names, [100, 10, 10, 10], strict=True)), monkeypatch=monkeypatch)
    monkeypatch.setattr(run, "process_pool", Pool)
    shown: list[Tally] = []
    run.run_all(tuple(names), 3, jobs=2, seed=1, inputs=100, state=tmp_path, report=shown.append)
    assert [name for name, _ in work.shares] == [*names, names[0]]
    assert sorted(tally.format for tally in shown) == sorted(names)
    assert {tally.inputs for tally in shown} == {100}


def test_formats_that_were_cut_share_the_time_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = FORMAT_NAMES[:3]
    work = Work(needs={first: 900, second: 900, third: 10}, monkeypatch=monkeypatch)
    shown: list[Tally] = []
    run.run_all(
        (first, second, third), 3, jobs=1, seed=1, inputs=1000, state=tmp_path, report=shown.append
    )
    assert work.shares[3:] == [(first, 25), (second, 25)]
    assert (work.now, work.done) == (180, {first: 85, second: 85, third: 10})
    assert [(tally.format, tally.inputs) for tally in shown[1:]] == [(first, 85), (second, 85)]


def test_run_without_a_number_of_inputs_has_one_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = FORMAT_NAMES[:3]
    work = Work(needs=dict.fromkeys(names, 900), monkeypatch=monkeypatch)
    run.run_all(tuple(names), 3, jobs=1, seed=1, inputs=0, state=tmp_path)
    assert work.shares == [(name, 60) for name in names]


def test_run_of_one_format_keeps_the_results_of_the_others(tmp_path: Path) -> None:
    first, second = FORMAT_NAMES[:2]
    for name in (second, first):
        run.run_all((name,), 1, jobs=1, seed=1, inputs=3, state=tmp_path)
    formats = json.loads((tmp_path / "results.json").read_text("utf-8"))["formats"]
    assert [(each["format"], each["inputs"]) for each in formats] == [(first, 3), (second, 3)]


def test_command_writes_results_and_replays_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--format", NAME, "--inputs", "20", "--jobs", "1", "--state", str(tmp_path)]
    assert main(arguments) == 0
    (figures,) = json.loads((tmp_path / "results.json").read_text("utf-8"))["formats"]
    assert (figures["format"], figures["inputs"]) == (NAME, 20)
    assert main(["--replay", f"{first_inputs(NAME)[0].case}{SIGN}1"]) == 0
    assert KafkaMessage.__name__ in capsys.readouterr().out
