"""Asks one question at a time and makes an outcome of the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from cdcwire.format import Format
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.derive import clauses_of
from cdcwire_conformance.judge.cases import Judgement, judge_decoded, judge_encoded, judge_size
from cdcwire_conformance.judge.events import EventRules, rules_of
from cdcwire_conformance.protocol.answers import Claim, Description
from cdcwire_conformance.run.expected_failures import ExpectedFailures
from cdcwire_conformance.run.groups import failure_key
from cdcwire_conformance.run.results import BAD, Outcome, Verdict
from cdcwire_conformance.run.selection import CaseSelection, Declared, Task
from cdcwire_conformance.testees.base import NoAnswer, Testee

CONFIRMED_OF_A_KIND = 10  # starting a process takes up to a second


class Judge:
    """Asks testees of one description and judges their answers. Threads may share it.

    ``confirmed``: how many failures of one kind are asked again in a fresh process. ``expected``:
    the failures that are known, and so need no second answer.
    """

    def __init__(
        self,
        testee: Description,
        declared: Declared,
        confirmed: int = CONFIRMED_OF_A_KIND,
        expected: ExpectedFailures | None = None,
    ) -> None:
        self._limit = confirmed
        self._expected = expected or ExpectedFailures()
        self._selection = CaseSelection(testee, declared)
        self._codecs: dict[str, Format | None] = {}
        self._rules: dict[str, EventRules] = {}
        self._has_leaked = False
        self._confirmed: Counter[Hashable] = Counter()

    def claim(self, format_name: str) -> Claim | None:
        """Return what the testee claims of a format; None where it does not have it."""
        return self._selection.claim(format_name)

    def settle(self, task: Task) -> Outcome | None:
        """Return the outcome of a question that is not asked; None if it is."""
        if reason := self._selection.not_claimed(task):
            return self.outcome(task, "not claimed", reason=reason)
        if reason := self._selection.skipped(task.case):
            return self.outcome(task, "skipped", reason=reason)
        return None

    def outcome(self, task: Task, verdict: Verdict, **members: Any) -> Outcome:
        """Return an outcome with the members that the question determines."""
        binding = self._selection.is_binding(task.case)
        clauses = clauses_of(task.case) if verdict in BAD else task.case.clauses
        return Outcome(task.id, task.case, task.cmd, verdict, binding, clauses, **members)

    def ask(self, testee: Testee, task: Task) -> Outcome:
        """Ask a testee and judge its answer; what fails is asked again in a fresh process.

        The second answer counts. Only the first failures of one kind are asked again, and none that
        is known. All are asked again once a process has mixed up its messages.
        """
        outcome, is_fresh = self.ask_once(testee, task)
        if is_fresh or not outcome.is_bad:
            return outcome
        if outcome.is_derived and outcome.verdict != "failed":
            return outcome
        if self._is_known(outcome) and not self._has_leaked:
            return outcome
        kind = task.case.format, failure_key(outcome)
        if self._confirmed[kind] >= self._limit and not self._has_leaked:
            return outcome
        self._confirmed[kind] += 1
        return self.confirm(testee, task, outcome)

    def _is_known(self, outcome: Outcome) -> bool:
        """Return whether the list has this failure, and none of state leaks.

        A timeout is always asked again: on a slow machine any case may time out.
        """
        if outcome.verdict == "timed out" or self._expected.expects_leaks(outcome.case.format):
            return False
        entry = self._expected.find(outcome.id)
        return entry is not None and entry.explains(outcome.text)

    def confirm(self, testee: Testee, task: Task, outcome: Outcome) -> Outcome:
        """Ask a fresh process. Its answer counts; another one than before is a state leak."""
        again, _ = self.ask_once(testee, task, fresh=True)
        if again.is_like(outcome):
            return again
        if outcome.verdict == "timed out":
            note = f"{outcome.problem} at first; the second answer counts"
            return replace(again, notes=(*again.notes, note))
        self._has_leaked = True
        return replace(again, leak=outcome.text)

    def ask_once(self, testee: Testee, task: Task, *, fresh: bool = False) -> tuple[Outcome, bool]:
        """Return the outcome of one answer, and whether a fresh process gave it."""
        try:
            reply = testee.ask(task.request, fresh=fresh)
        except NoAnswer as failure:
            problem, stderr = failure.problem, failure.stderr
            outcome = self.outcome(task, failure.kind, problem=problem, stderr=stderr)
            return outcome, failure.is_fresh
        case = task.case
        codec, rules = self._codec(case.format)
        try:
            judgement = judge_size(case, reply.answer, reply.size)
            if judgement.passed and task.cmd == "encode":
                assert codec is not None, "there are encode cases for known formats only"
                judgement = judge_encoded(case, reply.answer, codec, rules)
            elif judgement.passed:
                judgement = judge_decoded(case, reply.answer, rules)
        except Exception as error:  # noqa: BLE001  (the edge: the other cases are still judged)
            judgement = Judgement(f"the answer can't be judged: {error!r:.200}")
        if judgement.passed:
            return self.outcome(task, "passed", notes=judgement.notes), reply.is_fresh
        outcome = self.outcome(
            task,
            "failed",
            problem=judgement.problem,
            differences=judgement.differences,
            notes=judgement.notes,
            focus=judgement.focus,
            stderr=reply.stderr,
        )
        return outcome, reply.is_fresh

    def _codec(self, format_name: str) -> tuple[Format | None, EventRules]:
        if format_name not in self._rules:
            codec = get_format(format_name) if format_name in FORMAT_NAMES else None
            claim = self._selection.claim(format_name)
            self._codecs[format_name] = codec
            self._rules[format_name] = rules_of(codec, claim.without if claim else frozenset())
        return self._codecs[format_name], self._rules[format_name]
