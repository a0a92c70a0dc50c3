"""Runs: verdicts, what binds, isolation, expected failures, and the end of it all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cdcwire_conformance.corpus import Case
from cdcwire_conformance.protocol import Claim, Description, Request
from cdcwire_conformance.protocol.answers import Answer, Events, Rejected
from cdcwire_conformance.run.expected_failures import ExpectedFailure, ExpectedFailures
from cdcwire_conformance.run.results import Results
from cdcwire_conformance.run.runner import Settings, run
from cdcwire_conformance.run.selection import Declared
from cdcwire_conformance.testees import NoAnswer

Make = Callable[..., Case]
Fake = Callable[..., Any]
RIGHT = Events([{"kind": "progress", "what": "resolved", "position": {"commit_ts": "1"}}])


def verdicts(results: Results) -> dict[str, str]:
    return {outcome.id: outcome.verdict for outcome in results.outcomes}


def crash(request: Request) -> Answer:
    raise NoAnswer("crashed", "boom", "its last words")


def test_run_answer_far_larger_than_its_case_fails(
    results: Results, a_case: Make, fake: Fake
) -> None:
    testee = fake()
    testee.size = 64 << 20
    run([a_case("a")], [], [testee], results)
    (outcome,) = results.outcomes
    assert outcome.verdict == "failed"
    assert "67,108,864 bytes" in outcome.problem


def test_run_right_answers_pass(results: Results, a_case: Make, fake: Fake) -> None:
    testee = fake()
    run([a_case("a"), a_case("b")], [], [testee], results)
    assert verdicts(results) == {"toy/rows/a": "passed", "toy/rows/b": "passed"}
    assert not results.has_failed
    assert results.was_run == 2
    assert testee.is_closed


def test_run_wrong_answer_fails_with_all_there_is_to_say(
    results: Results, a_case: Make, fake: Fake
) -> None:
    run([a_case()], [], [fake(lambda _: Events([]))], results)
    (outcome,) = results.outcomes
    assert outcome.verdict == "failed"
    assert outcome.differences[0].where == "events"
    assert outcome.stderr == "a word on standard error"
    assert results.has_failed


def test_run_crash_is_of_one_case_only(results: Results, a_case: Make, fake: Fake) -> None:
    def answer(request: Request) -> Answer:
        if request.body.get("options") == {"odd": True}:
            raise NoAnswer("timed out", "no answer", "words")
        return Events([{"kind": "progress", "what": "resolved", "position": {"commit_ts": "1"}}])

    cases = [a_case("a"), a_case("b", options={"odd": True}), a_case("c")]
    run(cases, [], [fake(answer)], results)
    assert list(verdicts(results).values()) == ["passed", "timed out", "passed"]
    assert results.outcomes[1].stderr == "words"


@pytest.mark.parametrize(
    ("level", "choice", "stated", "verdict", "fails"),
    [
        ("must", None, {}, "failed", True),
        ("should", None, {}, "failed", False),
        ("unspecified", None, {}, "failed", False),
        ("may", "twice: last", {}, "failed", False),
        ("may", "twice: last", {"twice": "last"}, "failed", True),
        ("may", "twice: last", {"twice": "first"}, "skipped", False),
        ("unspecified", "twice: last", {"twice": "first"}, "skipped", False),
    ],
)
def test_run_level_and_choice_say_what_binds(
    results: Results,
    a_case: Make,
    fake: Fake,
    level: str,
    choice: str | None,
    stated: dict[str, str],
    verdict: str,
    fails: bool,
) -> None:
    testee = fake(lambda _: Rejected(), choices=stated)
    results.testee = testee.start()
    run([a_case(level=level, choice=choice)], [], [testee], results)
    assert results.outcomes[0].verdict == verdict
    assert results.has_failed == fails


def test_run_choice_of_the_command_line_counts_too(
    results: Results, a_case: Make, fake: Fake
) -> None:
    settings = Settings(declared=Declared(choices={"twice": "first"}))
    case = a_case(level="may", choice="twice: last")
    run([case], [], [fake()], results, settings=settings)
    assert results.outcomes[0].verdict == "skipped"


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"format": "other"}, "no format other"),
        ({"expect": "encode"}, "does not encode"),
        ({"features": ("vector", "text")}, "without vector"),
        ({"features": ("bit",)}, "without bit"),
    ],
)
def test_run_what_is_not_claimed_is_not_asked(
    results: Results, a_case: Make, fake: Fake, members: dict[str, Any], reason: str
) -> None:
    testee = fake(without=frozenset({"vector"}))
    results.testee = testee.start()
    settings = Settings(declared=Declared(without=frozenset({"bit"})))
    run([a_case(**members)], [], [testee], results, settings=settings)
    assert testee.asked == []
    assert results.outcomes[0].verdict == "not claimed"
    assert reason in results.outcomes[0].reason
    assert results.was_run == 0


def test_run_raw_door_is_asked_only_what_it_takes(
    results: Results, a_case: Make, fake: Fake
) -> None:
    settings = Settings(declared=Declared(raw=True))
    run([a_case("a"), a_case("b", options={"x": 1})], [], [fake()], results, settings=settings)
    assert list(verdicts(results).values()) == ["passed", "not claimed"]


def test_run_canonical_case_is_encoded_too_where_it_is_claimed(
    results: Results, a_case: Make, fake: Fake
) -> None:
    run([a_case(canonical=True)], [], [fake()], results)
    assert verdicts(results) == {"toy/rows/case": "passed", "toy/rows/case@encode": "not claimed"}


def derived_cases(a_case: Make, count: int) -> Iterator[Case]:
    for size in range(count):
        yield a_case(derived=f"cut:{size}", expect="reject")


def test_run_derived_cases_that_pass_are_only_counted(
    results: Results, a_case: Make, fake: Fake
) -> None:
    run([], derived_cases(a_case, 500), [fake(lambda _: Rejected())], results)
    assert results.outcomes == []
    assert results.count("passed", derived=True) == 500
    assert results.count(derived=False) == 0


def test_run_derived_cases_that_fail_are_kept(results: Results, a_case: Make, fake: Fake) -> None:
    run([], derived_cases(a_case, 3), [fake()], results)
    assert set(verdicts(results).values()) == {"failed"}
    assert results.has_failed


def test_run_crashes_are_counted_by_rule_and_base_case(
    results: Results, a_case: Make, fake: Fake
) -> None:
    testee = fake(crash)
    derived = [
        a_case(name, derived=f"{rule}:{size}", expect="reject")
        for name in ("b", "c")
        for rule in ("cut", "count")
        for size in range(10)
    ]
    run([a_case("a")], derived, [testee], results, settings=Settings(max_crashes=3))
    assert len(testee.asked) == 1 + 4 * 3  # the stored case does not count
    derived_ids = [outcome.id for outcome in results.outcomes if outcome.is_derived]
    assert derived_ids[:3] == [f"toy/rows/b@cut:{size}" for size in (0, 2, 6)]  # growing gaps
    assert results.count("not run") == 28
    assert results.left_out == {
        f"toy/rows/{base}": 7 for base in ("b@cut", "b@count", "c@cut", "c@count")
    }
    assert results.has_failed


def test_run_sampled_crashes_do_not_depend_on_the_number_of_testees(
    a_case: Make, fake: Fake
) -> None:
    """An expected-failure list with these ids is as good for --jobs 4 as for --jobs 1."""
    found = []
    for jobs in (1, 4):
        results = Results(Description("fake"), "", "kept alive", "", ("toy",))
        cases = [a_case(f"{number:03}") for number in range(200)]
        derived = [
            a_case(case.name, derived=f"cut:{size}", expect="reject")
            for case in cases
            for size in range(4)
        ]
        run(cases, derived, [fake(crash) for _ in range(jobs)], results)
        found.append(sorted(outcome.id for outcome in results.outcomes))
    assert found[0] == found[1]


def test_run_expected_crash_excuses_what_is_left_out(
    results: Results, a_case: Make, fake: Fake
) -> None:
    expected = known(("toy/rows/case@cut:{0..9}", ""))
    run([], derived_cases(a_case, 10), [fake(crash)], results, expected_failures=expected)
    assert results.count("not run") == 7
    assert results.stale == []
    assert not results.has_failed


def test_run_crash_on_the_first_cut_does_not_hide_the_others(
    results: Results, a_case: Make, fake: Fake
) -> None:
    def answer(request: Request) -> Answer:
        if len(testee.asked) == 1:
            raise NoAnswer("crashed", "boom")
        return RIGHT

    testee = fake(answer)
    run([], derived_cases(a_case, 50), [testee], results)
    assert results.count("not run") == 1
    assert results.count("failed") == 48


def test_run_no_limit_of_crashes_asks_all(results: Results, a_case: Make, fake: Fake) -> None:
    testee = fake(crash)
    settings = Settings(max_crashes=0)
    run([], derived_cases(a_case, 200), [testee], results, settings=settings)
    assert len(testee.asked) == 200


def known(*entries: tuple[str, str]) -> ExpectedFailures:
    return ExpectedFailures(
        ExpectedFailure(pattern, "known", fragment, line)
        for line, (pattern, fragment) in enumerate(entries, 1)
    )


def test_run_expected_failure_does_not_fail_the_run(
    results: Results, a_case: Make, fake: Fake
) -> None:
    expected = known(("toy/rows/case", "boom"))
    run([a_case()], [], [fake(crash)], results, expected_failures=expected)
    assert results.outcomes[0].verdict == "expected failure"
    assert results.outcomes[0].reason == "known"
    assert not results.has_failed


def test_run_failure_of_another_text_is_a_failure(
    results: Results, a_case: Make, fake: Fake
) -> None:
    expected = known(("toy/rows/case", "bang"))
    run([a_case()], [], [fake(crash)], results, expected_failures=expected)
    assert results.outcomes[0].verdict == "crashed"
    assert "fails otherwise" in results.outcomes[0].notes[0]
    assert results.stale == []


def test_run_expected_failure_that_passes_is_stale(
    results: Results, a_case: Make, fake: Fake
) -> None:
    run([a_case()], [], [fake()], results, expected_failures=known(("toy/rows/case", "")))
    assert results.stale[0].pattern == "toy/rows/case"
    assert results.has_failed


@pytest.mark.parametrize(("complete", "stale"), [((), 0), (("toy",), 1), (("other",), 0)])
def test_run_entry_of_no_case_is_stale_in_a_complete_run(
    results: Results, a_case: Make, fake: Fake, complete: tuple[str, ...], stale: int
) -> None:
    settings = Settings(complete=frozenset(complete))
    expected = known(("toy/rows/gone", ""))
    run([a_case()], [], [fake()], results, settings=settings, expected_failures=expected)
    assert len(results.stale) == stale


def test_run_pattern_is_stale_only_if_nothing_fails(
    results: Results, a_case: Make, fake: Fake
) -> None:
    expected = known(("toy/rows/case@cut:*", ""))
    cases = derived_cases(a_case, 10)
    answers = iter([Events([]), *[Rejected()] * 9])
    run([], cases, [fake(lambda _: next(answers))], results, expected_failures=expected)
    assert results.stale == []
    assert verdicts(results) == {"toy/rows/case@cut:0": "expected failure"}


def test_run_many_testees_share_the_cases_and_keep_their_order(
    results: Results, a_case: Make, fake: Fake
) -> None:
    both = threading.Barrier(2, timeout=120)
    local = threading.local()

    def answer(request: Request) -> Answer:
        if not getattr(local, "met", False):
            local.met = True
            both.wait()  # neither goes on before the other has a case too
        return Events([])

    testees = [fake(answer), fake(answer)]
    cases = [a_case(f"case-{number:03}") for number in range(100)]
    run(cases, [], testees, results)
    assert all(testee.asked for testee in testees)
    assert all(testee.is_closed for testee in testees)
    assert [outcome.id for outcome in results.outcomes] == [case.id for case in cases]


def test_run_that_is_interrupted_leaves_what_it_knows(
    results: Results, a_case: Make, fake: Fake
) -> None:
    def answer(request: Request) -> Answer:
        if len(testee.asked) == 3:
            raise KeyboardInterrupt
        return Events([])

    testee = fake(answer)
    expected = known(("toy/rows/e", ""))
    with pytest.raises(KeyboardInterrupt):
        run([a_case(name) for name in "abcde"], [], [testee], results, expected_failures=expected)
    assert verdicts(results) == {"toy/rows/a": "failed", "toy/rows/b": "failed"}
    assert results.is_interrupted
    assert results.has_failed
    assert results.stale == []


def test_run_few_cases_take_one_testee(results: Results, a_case: Make, fake: Fake) -> None:
    testees = [fake(), fake()]
    run([a_case("a"), a_case("b")], [], testees, results)
    assert [len(testee.asked) for testee in testees] == [2, 0]


@pytest.mark.parametrize("of_which", [0, 1])
def test_run_error_of_ours_ends_the_run_and_is_raised(
    results: Results, a_case: Make, fake: Fake, of_which: int
) -> None:
    both = threading.Barrier(2, timeout=120)
    local = threading.local()

    def waiting(request: Request) -> Answer:
        if not getattr(local, "met", False):
            local.met = True
            both.wait()
        return Events([])

    def broken(request: Request) -> Answer:
        both.wait()
        raise RuntimeError("a bug of ours")

    testees = [fake(broken if number == of_which else waiting) for number in range(2)]
    with pytest.raises(RuntimeError, match="a bug of ours"):
        run([a_case(str(number)) for number in range(100)], [], testees, results)
    assert all(testee.is_closed for testee in testees)


def test_run_odd_end_of_a_testee_is_noted_once(results: Results, a_case: Make, fake: Fake) -> None:
    testee = fake()
    testee.remark = "exit code 4 after stop"
    run([a_case()], [], [testee], results)
    assert results.notes == ["exit code 4 after stop"]


def test_run_progress_hears_of_every_case(results: Results, a_case: Make, fake: Fake) -> None:
    heard: list[tuple[int, str]] = []
    run(
        [a_case("a"), a_case("b", features=("vector",))],
        [],
        [fake(without=frozenset({"vector"}))],
        results,
        progress=lambda done, outcome: heard.append((done, outcome.id)),
    )
    assert heard == [(1, "toy/rows/a"), (2, "toy/rows/b")]


def test_claim_of_a_testee_that_was_not_asked_is_everything() -> None:
    assert Description("one-shot").claim("toy") == Claim()
