"""The walkers of an exported corpus reach the verdicts of the runner."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.errors import DecodeError
from cdcwire.files.json_messages import json_line
from cdcwire.model.text import event_to_json
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.export import case_line, export_corpus
from cdcwire_conformance.export.lines import format_facts
from cdcwire_conformance.judge import compare_events, rules_of
from cdcwire_conformance.run.results import Outcome, Results
from cdcwire_conformance.run.runner import Settings, run
from cdcwire_conformance.run.selection import Task, choose
from cdcwire_conformance.suite import get_suite
from cdcwire_conformance.testees import KeptAliveTestee

ADAPTERS = Path(__file__).resolve().parents[3] / "adapters"
COMPARE_JS = ADAPTERS / "javascript" / "compare.js"
JAR = ADAPTERS / "java" / "build" / "avro-testee.jar"
NODE = shutil.which("node")
GO = shutil.which("go")
JAVA = shutil.which("java")
QUICK_JAVA = [str(JAVA), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
SAMPLED = 13  # one of N cases is given to each known-wrong decoder

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
needs_go = pytest.mark.skipif(GO is None, reason="go is not installed")
needs_java = pytest.mark.skipif(
    JAVA is None or not JAR.exists(), reason="needs java, and mvn -B -q -f adapters/java package"
)

COMPARE_IN_JAVASCRIPT = """
import { createInterface } from "node:readline";
const { sameEvents } = await import(process.argv[1]);
for await (const line of createInterface({ input: process.stdin })) {
  const { expected, given, rules } = JSON.parse(line);
  console.log(sameEvents(expected, given, rules));
}
"""


COMPARE_IN_JAVA = """
import com.fasterxml.jackson.databind.*;
import java.util.*;

class Compare {
  public static void main(String[] arguments) throws Exception {
    for (Scanner lines = new Scanner(System.in, "utf-8"); lines.hasNextLine(); ) {
      JsonNode line = new ObjectMapper().readTree(lines.nextLine());
      Comparison comparison = new Comparison(line.get("rules"), List.of());
      System.out.println(comparison.sameEvents(line.get("expected"), line.get("given")));
    }
  }
}
"""


NOT_IN_JAVASCRIPT = ("simple", "debezium-avro")


@pytest.mark.long
@needs_node
def test_javascript_walker_agrees_with_runner(tmp_path: Path) -> None:
    script = str(ADAPTERS / "javascript" / "test" / "corpus.test.js")
    testee = [str(NODE), str(ADAPTERS / "javascript" / "testee.js")]
    formats = [name for name in FORMAT_NAMES if name not in NOT_IN_JAVASCRIPT]
    # cdl-json has the fewest derived cases
    assert_agrees(tmp_path, [str(NODE), "--test", script], testee, formats, "cdl-json")


@pytest.mark.long
@needs_go
def test_go_walker_agrees_with_runner(tmp_path: Path) -> None:
    testee = str(tmp_path / "testee")
    folder = ["-C", str(ADAPTERS / "go")]
    built = subprocess.run(
        [str(GO), "build", *folder, "-o", testee, "./hamba"],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode != 0:
        pytest.skip(f"the modules of the Go adapter are missing: {built.stderr[:200]}")
    walk = [str(GO), "test", *folder, "-count=1", "-run", "TestCorpus", "./hamba"]
    assert_agrees(tmp_path, walk, [testee], ["avro"], "avro", sample=SAMPLED)


@pytest.mark.long
@needs_java
def test_java_walker_agrees_with_runner(tmp_path: Path) -> None:
    walk = [*QUICK_JAVA, "-cp", str(JAR), "WalkCorpus"]
    testee = [*QUICK_JAVA, "-jar", str(JAR)]
    assert_agrees(tmp_path, walk, testee, ["avro"], "avro", sample=SAMPLED)


@needs_java
def test_java_walker_reports_a_missing_corpus_in_one_line(tmp_path: Path) -> None:
    walked = subprocess.run(
        [*QUICK_JAVA, "-cp", str(JAR), "WalkCorpus"],
        env={**os.environ, "CDCWIRE_CORPUS": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert walked.returncode == 2
    assert "can't read the corpus" in walked.stderr
    assert "\tat " not in walked.stderr


def assert_agrees(
    tmp_path: Path,
    walk: Sequence[str],
    testee: Sequence[str],
    formats: Sequence[str],
    with_derived: str,
    *,
    sample: int = 1,
) -> None:
    """Walk the stored cases of formats, and sampled derived cases of one, as the runner does."""
    folder, verdicts = tmp_path / "corpus", tmp_path / "verdicts"
    export_corpus(folder, formats, derived=False)
    derived = list(choose([with_derived], sample=sample).derived())
    with (folder / "derived" / f"{with_derived}.jsonl").open("ab") as lines:
        for case in derived:
            lines.write(json_line(case_line(Task(case.id, case, "decode"))))
    walked = subprocess.run(
        walk,
        env={**os.environ, "CDCWIRE_CORPUS": str(folder), "CDCWIRE_VERDICTS": str(verdicts)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert verdicts.exists(), walked.stdout + walked.stderr
    lines_of = (line.partition(" ") for line in verdicts.read_text("utf-8").splitlines())
    found = {case_id: verdict for verdict, _, case_id in lines_of}
    outcomes = _verdicts_of_runner(testee, formats, derived)
    wanted = {outcome.id: _as_walked(outcome.verdict) for outcome in outcomes}
    assert {case.id for case in derived} <= wanted.keys()
    assert {name: found.get(name) for name in wanted} == wanted
    has_failed = any(outcome.is_bad and outcome.is_binding for outcome in outcomes)
    assert (walked.returncode != 0) == has_failed, walked.stdout[-2000:]


def _as_walked(verdict: str) -> str:
    return "skipped" if verdict == "not claimed" else verdict


def _verdicts_of_runner(
    command: Sequence[str], formats: Sequence[str], derived: Sequence[Case]
) -> list[Outcome]:
    """Return what the runner finds about everything that is decoded."""
    testee = KeptAliveTestee(command)
    description = testee.start()
    results = Results(description, command[0], "kept alive", "0", tuple(formats))
    seen: list[Outcome] = []

    def is_decoded(task: Task) -> bool:
        return task.cmd == "decode"

    run(
        choose(formats, derived=False).stored,
        derived,
        [testee],
        results,
        settings=Settings(max_crashes=0, wanted=is_decoded),
        progress=lambda done, outcome: seen.append(outcome),
    )
    return seen


@pytest.mark.long
@needs_node
def test_javascript_comparison_agrees_with_judge_about_wrong_answers() -> None:
    script = [str(NODE), "--input-type=module", "-e", COMPARE_IN_JAVASCRIPT, str(COMPARE_JS)]
    assert_judges_wrong_answers_alike(script)


@pytest.mark.long
@needs_java
def test_java_comparison_agrees_with_judge_about_wrong_answers(tmp_path: Path) -> None:
    source = tmp_path / "Compare.java"
    source.write_text(COMPARE_IN_JAVA, encoding="ascii")
    assert_judges_wrong_answers_alike([*QUICK_JAVA, "-cp", str(JAR), str(source)])


def assert_judges_wrong_answers_alike(command: Sequence[str]) -> None:
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
        command, input="\n".join(lines), capture_output=True, text=True, check=False
    )
    verdicts = [line == "true" for line in compared.stdout.splitlines()]
    assert len(verdicts) == len(asked), compared.stderr[-2000:]
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
