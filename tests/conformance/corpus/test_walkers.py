"""The walkers of an exported corpus reach the verdicts of the runner."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.core.registry import FORMAT_NAMES, get_format
from cdcwire.model.text import event_to_json
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.export import case_line, export_corpus
from cdcwire_conformance.export.lines import format_facts
from cdcwire_conformance.judge import compare_events, rules_of
from cdcwire_conformance.run.results import Results
from cdcwire_conformance.run.runner import Settings, run
from cdcwire_conformance.run.selection import Task, choose
from cdcwire_conformance.suite import get_suite
from cdcwire_conformance.testees import KeptAliveTestee

ADAPTER = Path(__file__).resolve().parents[3] / "adapters" / "javascript"
NODE = shutil.which("node")
WITH_DERIVED = "cdl-json"  # it has the fewest
SAMPLED = 13  # one of N cases is given to each known-wrong decoder

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

COMPARE = """
import { createInterface } from "node:readline";
const { sameEvents } = await import(process.argv[1]);
for await (const line of createInterface({ input: process.stdin })) {
  const { expected, given, rules } = JSON.parse(line);
  console.log(sameEvents(expected, given, rules));
}
"""


@needs_node
def test_javascript_walker_agrees_with_runner(tmp_path: Path) -> None:
    folder, verdicts = tmp_path / "corpus", tmp_path / "verdicts"
    export_corpus(folder, FORMAT_NAMES, derived=False)
    derived = tmp_path / "derived"
    export_corpus(derived, [WITH_DERIVED])
    shutil.copy(derived / "derived" / f"{WITH_DERIVED}.jsonl", folder / "derived")
    walked = subprocess.run(
        [str(NODE), "--test", str(ADAPTER / "test" / "corpus.test.js")],
        env={**os.environ, "CDCWIRE_CORPUS": str(folder), "CDCWIRE_VERDICTS": str(verdicts)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (line.partition(" ") for line in verdicts.read_text("utf-8").splitlines())
    found = {case_id: verdict for verdict, _, case_id in lines}
    wanted = dict(_verdicts_of_runner())
    assert {name: found.get(name) for name in wanted} == wanted
    has_failed = any(outcome in ("failed", "crashed") for outcome in wanted.values())
    assert has_failed or walked.returncode == 0, walked.stdout[-2000:]


def _verdicts_of_runner() -> Iterator[tuple[str, str]]:
    """Yield the verdicts of the runner for everything that is decoded."""
    testee = KeptAliveTestee([str(NODE), str(ADAPTER / "testee.js")])
    description = testee.start()
    results = Results(description, "node", "kept alive", "0", FORMAT_NAMES)
    seen: dict[str, str] = {}

    def is_decoded(task: Task) -> bool:
        return task.cmd == "decode"

    run(
        choose(FORMAT_NAMES, derived=False).stored,
        choose([WITH_DERIVED]).derived(),
        [testee],
        results,
        settings=Settings(max_crashes=0, wanted=is_decoded),
        progress=lambda done, outcome: seen.update({outcome.id: outcome.verdict}),
    )
    for case_id, verdict in seen.items():
        yield case_id, "skipped" if verdict == "not claimed" else verdict


@needs_node
def test_javascript_comparison_agrees_with_judge_about_wrong_answers() -> None:
    asked = [
        (f"{known_wrong}: {case_id}", is_right, expected, given, name)
        for name in FORMAT_NAMES
        for known_wrong, case_id, is_right, expected, given in _wrong_answers(name)
    ]
    assert {is_right for _, is_right, *_ in asked} == {True, False}
    facts = {name: format_facts(name) for name in FORMAT_NAMES}
    lines = (
        json.dumps({"expected": expected, "given": given, "rules": facts[name]})
        for *_, expected, given, name in asked
    )
    compared = subprocess.run(
        [str(NODE), "--input-type=module", "-e", COMPARE, str(ADAPTER / "compare.js")],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
    )
    verdicts = [line == "true" for line in compared.stdout.splitlines()]
    assert len(verdicts) == len(asked)
    other = [
        (label, is_right)
        for (label, is_right, *_), verdict in zip(asked, verdicts, strict=True)
        if verdict != is_right
    ]
    assert other == []


def _wrong_answers(name: str) -> Iterator[tuple[str, str, bool, list[Any], list[Any]]]:
    """Yield what the known-wrong decoders of a format make of some cases, with the judgement."""
    codec = get_format(name)
    rules = rules_of(codec)
    cases = [case for case in load_cases([name]) if case.expect == "accept"]
    for case in cases[::SAMPLED]:
        line = case_line(Task(case.id, case, "decode"))
        context = codec.prepared(case.messages, case.context())
        for known_wrong in get_suite(name).known_wrong:
            try:
                events = [
                    event_to_json(event)
                    for message in case.messages
                    for event in known_wrong.decode(codec, message, context)
                ]
            except (DecodeError, ValueError, TypeError):  # a fault may be a crash
                continue
            is_right = not compare_events(case.events or [], events, rules)
            yield known_wrong.name, case.id, is_right, line["events"], events
