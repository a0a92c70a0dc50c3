"""A testee that crashes alike on all of its first questions stops the run with that crash."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cdcwire_conformance.cli import main
from cdcwire_conformance.corpus import Case
from cdcwire_conformance.output.json_document import document_of
from cdcwire_conformance.output.markdown import markdown_text
from cdcwire_conformance.output.text import report_lines, stderr_lines, verdict_line
from cdcwire_conformance.protocol import Request
from cdcwire_conformance.protocol.answers import Answer, Events
from cdcwire_conformance.protocol.check import ProtocolChecker
from cdcwire_conformance.run.expected_failures import ExpectedFailure, ExpectedFailures
from cdcwire_conformance.run.groups import failure_groups
from cdcwire_conformance.run.results import Results
from cdcwire_conformance.run.runner import CRASHES_AT_START, Settings, asking_order, run
from cdcwire_conformance.testees import NoAnswer

Make = Callable[..., Case]
Fake = Callable[..., Any]
STOPPING = Settings(crashes_at_start=10)


def crashing(text: Callable[[int], str]) -> Callable[[Request], Answer]:
    """Return a decoder that always crashes. ``text``: its standard error, by the crash's number."""
    number = 0

    def answer(_: Request) -> Answer:
        nonlocal number
        number += 1
        raise NoAnswer("crashed", "the testee ended without an answer (exit code 1)", text(number))

    return answer


def cases(a_case: Make, count: int = 40) -> list[Case]:
    return [a_case(f"{number:03}") for number in range(count)]


def test_the_first_case_of_each_group_comes_first_and_formats_take_turns(a_case: Make) -> None:
    names = ["x/a", "x/a", "x/b", "y/a", "y/a", "y/b", "y/c"]
    chosen = [a_case(format=name[0], group=name[2]) for name in names]
    assert asking_order(chosen) == [0, 3, 2, 5, 6, 1, 4]


def test_outcomes_keep_the_order_of_the_cases(results: Results, a_case: Make, fake: Fake) -> None:
    chosen = [a_case(name, group=group) for name, group in ("ax", "bx", "cy")]
    testee = fake(lambda _: Events([]))
    run(chosen, [], [testee], results)
    assert [outcome.case.name for outcome in results.outcomes] == ["a", "b", "c"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_equal_crashes_on_the_first_questions_stop_the_run(
    results: Results, a_case: Make, fake: Fake, jobs: int
) -> None:
    testees = [fake(crashing(lambda number: f"Error: no module (pid {number})")) for _ in "ab"]
    run(cases(a_case, 64), [], testees[:jobs], results, settings=STOPPING)
    assert results.count("crashed") == results.count() == 10
    assert results.has_failed
    assert verdict_line(results) == (
        "STOPPED: the first 10 cases ended in the same crash; nothing was answered"
    )
    assert all(testee.is_closed for testee in testees[:jobs])


@pytest.mark.parametrize("at", [0, 9])
def test_one_answer_lets_the_run_go_on(results: Results, a_case: Make, fake: Fake, at: int) -> None:
    def answer(request: Request) -> Answer:
        if len(testee.asked) == at + 1:
            return Events([])
        raise NoAnswer("crashed", "boom")

    testee = fake(answer)
    run(cases(a_case), [], [testee], results, settings=STOPPING)
    assert len(testee.asked) == 40
    assert results.stopped_at is None


def test_different_crashes_let_the_run_go_on(results: Results, a_case: Make, fake: Fake) -> None:
    testee = fake(crashing(lambda number: f"panic: {'even' if number % 2 == 0 else 'odd'}"))
    run(cases(a_case), [], [testee], results, settings=STOPPING)
    assert len(testee.asked) == 40


def test_expected_crashes_let_the_run_go_on(results: Results, a_case: Make, fake: Fake) -> None:
    expected = ExpectedFailures([ExpectedFailure("toy/rows/*", "known", "", 1)])
    testee = fake(crashing(lambda _: "panic: boom"))
    run(cases(a_case), [], [testee], results, settings=STOPPING, expected_failures=expected)
    assert results.count("expected failure") == 40


def test_list_of_expected_failures_is_not_stale_after_a_stop(
    results: Results, a_case: Make, fake: Fake
) -> None:
    expected = ExpectedFailures([ExpectedFailure("toy/rows/039", "known", "", 1)])
    testee = fake(crashing(lambda _: "panic: boom"))
    run(cases(a_case), [], [testee], results, settings=STOPPING, expected_failures=expected)
    assert results.count() == 10
    assert results.stale == []


@pytest.mark.parametrize(
    "texts",
    [
        ("index 3 is out of range", "index -1 is out of range"),
        ("goroutine 18 at 0xC000012345", "goroutine 7 at 0xdeadbeef"),
        ("read 1.5 of 7 bytes", "read 2 of 10_000 bytes"),
        ("X@1b2c3d is null", "X@ffeeddcc is null"),
    ],
)
def test_crashes_that_differ_in_numbers_only_are_one_group(
    results: Results, a_case: Make, fake: Fake, texts: tuple[str, str]
) -> None:
    answer = crashing(lambda number: f"RuntimeError: {texts[number % 2]}")
    run(cases(a_case, 8), [], [fake(answer)], results)
    (group,) = failure_groups(results)
    assert len(group.outcomes) == 8


JAVA = """\
SLF4J: no providers were found
Exception in thread "main" java.lang.ExceptionInInitializerError: org.example.Decoders
{frames}
Caused by: java.lang.NoClassDefFoundError: org/apache/avro/generic/GenericData$Record$Builder
{frames}
Caused by: java.lang.ClassNotFoundException: org.apache.avro.generic.GenericData$Record$Builder
{frames}
""".format(frames="\n".join(f"\tat org.example.A.b(A.java:{line})" for line in range(40)))
CLASS = "java.lang.ExceptionInInitializerError: org.example.Decoders"
FIRST_CAUSE = "java.lang.NoClassDefFoundError: org/apache/avro/generic/GenericData$Record$Builder"


def test_line_of_a_group_has_the_class_and_the_first_cause(
    results: Results, a_case: Make, fake: Fake
) -> None:
    run(cases(a_case, 1), [], [fake(crashing(lambda _: JAVA))], results)
    assert failure_groups(results)[0].got == (
        f'Exception in thread "main" {CLASS}; caused by: {FIRST_CAUSE}'
    )


def test_middle_that_is_left_out_keeps_the_first_cause() -> None:
    lines = stderr_lines(JAVA)
    assert f"Caused by: {FIRST_CAUSE}" in lines
    assert len(lines) < 20


def test_stopped_run_shows_its_crash_whole(results: Results, a_case: Make, fake: Fake) -> None:
    run(cases(a_case), [], [fake(crashing(lambda _: JAVA))], results, settings=STOPPING)
    text, markdown = "\n".join(report_lines(results)), markdown_text(results)
    for line in JAVA.splitlines():
        assert line.strip() in text
        assert line.strip() in markdown
    assert "--max-crashes 0" in text
    document = document_of(results)
    assert document["stopped"] is True
    assert document["passed"] is False


PYTHON = """\
import json, sys
for line in sys.stdin:
    if json.loads(line)["cmd"] == "start":
        print(json.dumps({"protocol": 1, "formats": {"craft": {}}}), flush=True)
    else:
        raise LookupError(f"no codec was linked ({id(line)})")
"""
JAVASCRIPT = """\
const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  if (JSON.parse(line).cmd === "start") {
    console.log(JSON.stringify({ protocol: 1, formats: { craft: {} } }));
  } else {
    throw new Error(`no codec was linked (${process.pid})`);
  }
});
"""


@pytest.mark.parametrize(
    ("program", "source", "reason"),
    [
        (sys.executable, PYTHON, "LookupError: no codec was linked ("),
        ("node", JAVASCRIPT, "Error: no codec was linked ("),
    ],
    ids=["python", "javascript"],
)
def test_testee_that_crashes_alike_ends_after_few_cases(
    program: str,
    source: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    testee, report, known = (tmp_path / name for name in ("testee.js", "r.json", "known.txt"))
    testee.write_text(source, encoding="utf-8")
    files = ["--json", str(report), "--write-expected-failures", str(known)]
    assert main(["verify", "craft", *files, "--", program, str(testee)]) == 1
    out = capsys.readouterr().out
    first_screen = out.splitlines()[:24]
    assert first_screen[0].startswith(f"STOPPED: the first {CRASHES_AT_START} cases")
    assert any(reason in line for line in first_screen)
    document = json.loads(report.read_text("utf-8"))
    ProtocolChecker().check("results", document)
    verdicts = [outcome["verdict"] for outcome in document["outcomes"]]
    assert verdicts.count("crashed") == CRASHES_AT_START
    assert not known.exists()
