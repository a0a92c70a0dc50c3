"""Failures that a fresh process does not repeat: which are asked again, and what is reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cdcwire_conformance.corpus import Case
from cdcwire_conformance.protocol import Request
from cdcwire_conformance.protocol.answers import Answer, Events, Rejected
from cdcwire_conformance.run.expected_failures import ExpectedFailure, ExpectedFailures
from cdcwire_conformance.run.results import Results
from cdcwire_conformance.run.runner import run
from cdcwire_conformance.testees import NoAnswer

Make = Callable[..., Case]
Fake = Callable[..., Any]
RIGHT = Events([{"kind": "progress", "what": "resolved", "position": {"commit_ts": "1"}}])


def verdicts(results: Results) -> dict[str, str]:
    return {outcome.id: outcome.verdict for outcome in results.outcomes}


def known(*entries: tuple[str, str]) -> ExpectedFailures:
    return ExpectedFailures(
        ExpectedFailure(pattern, "known", fragment, line)
        for line, (pattern, fragment) in enumerate(entries, 1)
    )


@pytest.mark.parametrize("is_expected", [False, True])
def test_run_failure_that_a_fresh_process_does_not_repeat_is_a_state_leak(
    results: Results, a_case: Make, fake: Fake, is_expected: bool
) -> None:
    answers = iter([Events([]), RIGHT, RIGHT])
    testee = fake(lambda _: next(answers))
    testee.is_fresh = False
    expected = known(("toy@state-leaks", "")) if is_expected else None
    run([a_case("a"), a_case("b")], [], [testee], results, expected_failures=expected)
    assert verdicts(results) == {"toy/rows/a": "passed", "toy/rows/b": "passed"}
    assert [leak.id for leak in results.leaks] == ([] if is_expected else ["toy/rows/a"])
    assert results.has_failed != is_expected
    assert results.stale == []


def test_run_failure_that_a_fresh_process_repeats_is_no_leak(
    results: Results, a_case: Make, fake: Fake
) -> None:
    texts = iter("abcdef")

    def answer(request: Request) -> Answer:
        return Rejected(f"at 0x{next(texts)}")

    testee = fake(answer)
    testee.is_fresh = False
    run([a_case()], [], [testee], results)
    assert len(testee.asked) == 2
    assert results.leaks == []
    assert verdicts(results) == {"toy/rows/case": "failed"}


@pytest.mark.parametrize(("leaks", "asked"), [(False, 12 + 10), (True, 12 + 12)])
def test_run_ten_failures_of_a_kind_are_asked_again_and_all_after_a_state_leak(
    results: Results, a_case: Make, fake: Fake, *, leaks: bool, asked: int
) -> None:
    number = 0

    def answer(request: Request) -> Answer:
        nonlocal number
        number += 1
        return RIGHT if leaks and number == 2 else Events([])

    testee = fake(answer)
    testee.is_fresh = False
    run([a_case(f"{name:02d}") for name in range(12)], [], [testee], results)
    assert len(testee.asked) == asked
    assert len(results.leaks) == leaks
    assert list(verdicts(results).values()).count("failed") == 12 - leaks


@pytest.mark.parametrize(
    ("entries", "asked"),
    [
        ((("toy/rows/case", ""),), 1),
        ((("toy/rows/*", "expected"),), 1),
        ((("toy/rows/case", "bang"),), 2),
        ((("toy/rows/other", ""),), 2),
        ((("toy/rows/case", ""), ("toy@state-leaks", "")), 2),
    ],
)
def test_run_failure_that_the_list_explains_is_not_asked_again(
    results: Results, a_case: Make, fake: Fake, entries: tuple[tuple[str, str], ...], asked: int
) -> None:
    testee = fake(lambda _: Events([]))
    testee.is_fresh = False
    run([a_case()], [], [testee], results, expected_failures=known(*entries))
    assert len(testee.asked) == asked


def test_run_expected_failures_are_asked_again_after_a_state_leak(
    results: Results, a_case: Make, fake: Fake
) -> None:
    answers = iter([Events([]), Events([]), RIGHT, Events([]), RIGHT])
    testee = fake(lambda _: next(answers))
    testee.is_fresh = False
    expected = known(("toy/rows/a", ""), ("toy/rows/c", ""))
    cases = [a_case(name) for name in "abc"]
    run(cases, [], [testee], results, expected_failures=expected)
    assert verdicts(results)["toy/rows/a"] == "expected failure"
    assert [leak.id for leak in results.leaks] == ["toy/rows/b", "toy/rows/c"]
    assert [entry.pattern for entry in results.stale] == ["toy/rows/c"]


def test_run_expected_timeout_is_asked_again(results: Results, a_case: Make, fake: Fake) -> None:
    def answer(request: Request) -> Answer:
        if len(testee.asked) == 1:
            raise NoAnswer("timed out", "no answer within 1 s", is_fresh=False)
        return RIGHT

    testee = fake(answer)
    run([a_case()], [], [testee], results, expected_failures=known(("toy/rows/case", "")))
    assert verdicts(results) == {"toy/rows/case": "passed"}
    assert len(results.stale) == 1


def test_run_other_order_of_members_is_no_leak(results: Results, a_case: Make, fake: Fake) -> None:
    """Java's Map.of iterates in an order of each process."""
    times = iter([{"x": "1", "y": "2"}, {"y": "2", "x": "1"}])
    testee = fake(
        lambda _: Events(
            [{"kind": "progress", "what": "resolved", "position": {"commit_ts": next(times)}}]
        )
    )
    testee.is_fresh = False
    run([a_case()], [], [testee], results)
    assert len(testee.asked) == 2
    assert results.leaks == []


def test_run_timeout_that_a_fresh_process_does_not_repeat_is_a_note(
    results: Results, a_case: Make, fake: Fake
) -> None:
    def answer(request: Request) -> Answer:
        if len(testee.asked) == 1:
            raise NoAnswer("timed out", "no answer within 1 s", is_fresh=False)
        return RIGHT

    testee = fake(answer)
    run([a_case()], [], [testee], results)
    assert results.leaks == []
    assert verdicts(results) == {"toy/rows/case": "passed"}
    assert "no answer within 1 s at first" in results.outcomes[0].notes[0]
