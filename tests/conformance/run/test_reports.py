"""Reports: all of them from one run that has one of everything."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire_conformance.corpus import Case, load_case
from cdcwire_conformance.corpus.case import Fault
from cdcwire_conformance.output.badge import badge_text
from cdcwire_conformance.output.json_document import document_of, json_text
from cdcwire_conformance.output.junit import junit_text
from cdcwire_conformance.output.markdown import markdown_text
from cdcwire_conformance.output.text import report_lines, verdict_line
from cdcwire_conformance.protocol import Claim, Description, Request
from cdcwire_conformance.protocol.answers import Answer, Events, Rejected
from cdcwire_conformance.protocol.check import ProtocolChecker
from cdcwire_conformance.run.expected_failures import ExpectedFailure, ExpectedFailures
from cdcwire_conformance.run.results import Results
from cdcwire_conformance.run.runner import run
from cdcwire_conformance.testees import NoAnswer
from cdcwire_conformance.testees.in_process import Codec, InProcessTestee

Make = Callable[..., Case]
Fake = Callable[..., Any]
RIGHT = Events([{"kind": "progress", "what": "resolved", "position": {"commit_ts": "1"}}])


def answers(request: Request) -> Answer:
    """Answer as the option ``do`` says."""
    match (request.body.get("options") or {}).get("do"):
        case "wrong":
            return Events([{"kind": "marker", "what": "begin", "id": "<&\x1b]]>|`"}])
        case "crash":
            raise NoAnswer("crashed", "exit code 3", "first\n\x1b[31mlast words\x00")
        case "hang":
            raise NoAnswer("timed out", "no answer within 1 s")
        case "reject":
            return Rejected("why not", 0, 0)
        case "far":
            return Rejected(offset=99)
        case _:
            return RIGHT


@pytest.fixture
def everything(results: Results, a_case: Make, fake: Fake) -> Results:
    """The results of a run with every verdict in it."""

    def case(name: str, do: str, **members: Any) -> Case:
        return a_case(name, options={"do": do}, **members)

    cases = [
        a_case("right"),
        case("wrong", "wrong"),
        case("crash", "crash"),
        case("crash-too", "crash"),
        case("hang", "hang"),
        case("refused", "reject"),
        case("should", "wrong", level="should"),
        case("known", "wrong"),
        case("far", "far", expect="reject", error={"message": 0, "offset": 1, "clause": "c"}),
        a_case("declined", features=("vector",)),
        a_case("passes"),
    ]
    derived = [
        a_case("right", derived=f"cut:{size}", expect="reject", options={"do": do})
        for size, do in enumerate(("", "", "reject", ""))
    ]
    expected = ExpectedFailures(
        [
            ExpectedFailure("toy/rows/known", "issue 1", line=1),
            ExpectedFailure("toy/rows/passes", "issue 2", line=2),
        ]
    )
    testee = fake(answers, without=frozenset({"vector"}))
    results.testee = testee.start()
    return run(cases, derived, [testee], results, expected_failures=expected)


def test_text_shows_what_was_expected_and_what_came(everything: Results) -> None:
    text = "\n".join(report_lines(everything, failures_shown=0))
    assert "FAILED toy/rows/wrong (must): 1 difference" in text
    assert "expected  progress resolved" in text
    assert "got       marker begin" in text
    assert "clause: toy: digits" in text
    assert "CRASHED toy/rows/crash (must): exit code 3" in text
    assert "FAILED toy/rows/should (should, does not bind)" in text
    assert "rejected at message 0, byte 0: why not" in text


def test_text_puts_equal_failures_together(everything: Results) -> None:
    text = "\n".join(report_lines(everything, failures_shown=0))
    assert "and 1 more like this: toy/rows/crash-too" in text
    assert "and 2 more like this: @cut:1, @cut:3" in text


def test_text_puts_what_binds_first(everything: Results) -> None:
    lines = [line for line in report_lines(everything, failures_shown=0) if "toy/rows/" in line]
    binds = ["does not bind" in line for line in lines if line[0] != " " and "stale" not in line]
    assert binds == sorted(binds)


def test_text_standard_error_has_no_escapes(everything: Results) -> None:
    text = "\n".join(report_lines(everything, failures_shown=0))
    assert "last words" in text
    assert "\x1b" not in text
    assert "\x00" not in text


def test_text_ends_with_counts_and_the_verdict(everything: Results) -> None:
    lines = list(report_lines(everything))
    assert lines[-1] == verdict_line(everything)
    assert lines[-1] == ("FAILED: 8 of 14 cases, 1 stale expected failure; 1 non-binding failure")
    (head,) = [line.split() for line in lines if line.startswith("format ")]
    (counts,) = [line.split() for line in lines if line.startswith("toy  ")]
    assert counts[1] == "11"
    assert head[2] == "passed"
    assert any("stale expected failure in line 2: toy/rows/passes" in line for line in lines)
    assert any("1 rejection at another byte" in line for line in lines)


def test_text_shows_only_so_many_failures(everything: Results) -> None:
    text = "\n".join(report_lines(everything, failures_shown=1))
    assert "more kinds of failure without an example here" in text
    assert text.count("clause:") == 1


def test_json_fits_its_schema_and_has_every_outcome(everything: Results) -> None:
    pytest.importorskip("jsonschema")
    document = json.loads(json_text(everything))
    ProtocolChecker().check("results", document)
    assert document["passed"] is False
    assert document["formats"]["toy"]["derived"] == {"passed": 1, "failed": 3}
    verdicts = {outcome["id"]: outcome["verdict"] for outcome in document["outcomes"]}
    assert verdicts["toy/rows/known"] == "expected failure"
    assert verdicts["toy/rows/declined"] == "not claimed"
    assert "toy/rows/right@cut:2" not in verdicts


def test_junit_counts_failures_errors_and_skipped(everything: Results) -> None:
    root = fromstring(junit_text(everything))
    (suite,) = [each for each in root if each.get("name") == "toy"]
    counts = {name: int(suite.get(name, "")) for name in ("failures", "errors", "skipped")}
    # wrong, refused and three derived; two crashes and a timeout; should, known and declined
    assert counts == {"failures": 5, "errors": 3, "skipped": 3}
    assert int(suite.get("tests", "")) == len(suite) == 15
    assert any(case.get("name") == "1 derived cases are rejected" for case in suite)
    assert root.get("failures") == "6"  # the stale entry has a suite of its own


def test_markdown_is_a_table_and_a_section_for_each_failure(everything: Results) -> None:
    text = markdown_text(everything)
    assert text.startswith("# fake 1 (Python)\n\nFAILED: ")
    assert "| toy | 11 |" in text
    assert "### `toy/rows/wrong` (failed, must)" in text
    assert "| events\\[0\\] | progress resolved | marker begin |" in text
    assert "Stale expected failure: `toy/rows/passes` (issue 2)" in text


def test_run_that_passed_says_so(results: Results, a_case: Make, fake: Fake) -> None:
    run([a_case()], [], [fake()], results)
    assert verdict_line(results) == "PASSED: 1 of 1 case"
    assert document_of(results)["passed"] is True


def test_run_of_nothing_is_not_passed(results: Results, a_case: Make, fake: Fake) -> None:
    run([a_case(format="other")], [], [fake()], results)
    assert verdict_line(results).startswith("NOTHING WAS RUN")
    assert document_of(results)["passed"] is False


def test_failure_in_a_real_format_shows_the_bytes_around() -> None:
    """YEAR 2024 read as a plain varint: the report points at its bytes."""
    case = load_case("craft/values/year-2024")
    events = json.loads(json.dumps(case.events))
    events[0]["after"]["y"]["value"] = "4048"
    testee = InProcessTestee("wrong", {"craft": Codec(lambda _message, *, context: events)})
    description = Description("wrong", "", "", {"craft": Claim()})
    results = Results(description, "", "in process", "0.1.0", ("craft",))
    run([replace(case, canonical=False)], [], [testee], results)
    text = "\n".join(report_lines(results))
    assert "events[0].after.y" in text
    assert "zigzag and plain varint are mixed up" in text
    (marked,) = [line for line in text.splitlines() if " >  " in line]
    assert "d0 1f" in marked
    assert "craft: year values" in marked


def test_exhibit_of_a_message_that_breaks_off_shows_its_end() -> None:
    case = load_case("craft/values/year-2024")
    message = case.messages[0]
    assert isinstance(message, KafkaMessage)
    assert message.value is not None
    cut = replace(
        case,
        id=f"{case.id}@cut:9",
        derived="cut:9",
        fault=Fault("value", 9),
        expect="reject",
        events=None,
        error={"message": 0},
        messages=(KafkaMessage(None, message.value[:9]),),
    )
    testee = InProcessTestee("wrong", {"craft": Codec(lambda _message, *, context: [])})
    description = Description("wrong", "", "", {"craft": Claim()})
    results = Results(description, "", "in process", "0.1.0", ("craft",))
    run([], [cut], [testee], results)
    text = "\n".join(report_lines(results))
    assert "accepted, though it is malformed" in text
    assert "(end)" in text


def test_junit_has_times_that_add_up(everything: Results) -> None:
    root = fromstring(junit_text(everything))
    suite = root[0]
    times = [float(case.attrib["time"]) for case in suite.findall("testcase")]
    assert len(times) == int(suite.attrib["tests"])
    assert float(suite.attrib["time"]) == pytest.approx(sum(times), abs=0.002)
    assert float(root.attrib["time"]) == pytest.approx(
        sum(float(each.get("time", "0")) for each in root), abs=0.002
    )


def test_junit_has_the_seconds_of_an_answer(results: Results, a_case: Make, fake: Fake) -> None:
    def slow(request: Request) -> Answer:
        time.sleep(0.05)
        return RIGHT

    cases = [a_case("right")]
    derived = [a_case("right", derived="cut:1", expect="reject")]
    results.testee = (testee := fake(slow)).start()
    run(cases, derived, [testee], results)
    for case in fromstring(junit_text(results)).iter("testcase"):
        assert 0.05 <= float(case.attrib["time"]) < 5


def test_badge_of_a_failed_run_is_red(everything: Results) -> None:
    assert json.loads(badge_text(everything)) == {
        "schemaVersion": 1,
        "label": "cdcwire toy",
        "message": "4 of 14 cases passed",
        "color": "red",
        "isError": True,
    }


def test_badge_is_green_only_if_all_cases_passed(
    results: Results, a_case: Make, fake: Fake
) -> None:
    results.testee = (testee := fake(answers)).start()
    run([a_case("right")], [], [testee], results)
    assert json.loads(badge_text(results))["color"] == "brightgreen"
    should = a_case("should", level="should", options={"do": "wrong"})
    run([should], [], [fake(answers)], results)
    badge = json.loads(badge_text(results))
    assert badge["color"] == "yellow"
    assert badge["message"] == "1 of 2 cases passed"
    assert "isError" not in badge


def test_badge_of_an_interrupted_run_is_grey(everything: Results) -> None:
    everything.is_interrupted = True
    assert json.loads(badge_text(everything))["color"] == "lightgrey"


MISSING_CLASS = "java.lang.NoClassDefFoundError: org/apache/avro/generic/GenericData$Record$Builder"


def test_the_class_of_a_crash_is_shown_whole(results: Results, a_case: Make, fake: Fake) -> None:
    def crash(_: Request) -> Answer:
        raise NoAnswer("crashed", "exit code 1", f"{MISSING_CLASS}\n  at X.main(X.java:7)")

    testee = fake(crash)
    results.testee = testee.start()
    run([a_case("crash")], (), [testee], results)

    assert MISSING_CLASS in "\n".join(report_lines(results)).split("CRASHED")[0]
    assert MISSING_CLASS in markdown_text(results).split("<details>")[0]
