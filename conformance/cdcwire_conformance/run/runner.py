"""Puts cases to testees and collects verdicts.

Each testee has a thread of its own and takes the next case when it is free; one that ended is
started again by its next question. Stored cases come before derived ones, so that what matters most
is known first, and is complete even when the testee crashes too often to go on.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from cdcwire.core.format import Format
from cdcwire.core.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.judge.cases import Judgement, judge_decoded, judge_encoded
from cdcwire_conformance.judge.events import EventRules, rules_of
from cdcwire_conformance.judge.locate import with_focus
from cdcwire_conformance.protocol.answers import Description
from cdcwire_conformance.run.expected_failures import ExpectedFailures
from cdcwire_conformance.run.results import Group, Outcome, Results, StaleEntry, Verdict
from cdcwire_conformance.run.selection import CaseSelection, Declared, Task, tasks_of
from cdcwire_conformance.testees.base import NoAnswer, Testee
from cdcwire_conformance.testees.pipes import kill_all

_LOCATED_PER_FORMAT = 200  # finding the byte reads the message again
_PATIENCE = 2.0  # for the other threads of a run that is broken off
_CASES_A_JOB = 32  # fewer are not worth starting another testee


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run.

    ``max_crashes``: so many crashes and timeouts among derived cases, then the rest of these is not
    run; 0 is no limit. ``complete``: the formats of which all cases are there, none filtered out.
    """

    max_crashes: int = 100
    declared: Declared = field(default_factory=Declared)
    complete: frozenset[str] = frozenset()


DEFAULTS = Settings()
Progress = Callable[[int, Outcome], None]


def run(
    stored: Iterable[Case],
    derived: Iterable[Case],
    testees: Sequence[Testee],
    results: Results,
    *,
    settings: Settings = DEFAULTS,
    expected_failures: ExpectedFailures | None = None,
    progress: Progress | None = None,
) -> Results:
    """Put all cases to the testees and fill ``results``.

    ``testees``: the same decoder so many times; ``results.testee`` is what it says about itself.
    All are closed at the end.
    """
    began = time.monotonic()
    shared = _Run(results, settings, expected_failures or ExpectedFailures(), progress)
    shared.go(list(stored), derived, testees)
    results.seconds = time.monotonic() - began
    return results


class _Run:
    """The state that the threads of one run share, under one lock."""

    def __init__(
        self,
        results: Results,
        settings: Settings,
        expected: ExpectedFailures,
        progress: Progress | None,
    ) -> None:
        self._results = results
        self._settings = settings
        self._expected = expected
        self._progress = progress
        self._judge = Judge(results.testee, settings.declared)
        self._lock = threading.Lock()
        self._tasks: Iterator[tuple[int, Task]] = iter(())
        self._outcomes: list[tuple[int, Outcome]] = []
        self._ids: list[str] = []
        self._crashes = 0
        self._done = 0
        self._stop: BaseException | None = None

    def go(
        self,
        stored: list[Case],
        derived: Iterable[Case],
        testees: Sequence[Testee],
    ) -> None:
        tasks = chain.from_iterable(map(tasks_of, chain(stored, derived)))
        self._tasks = enumerate(tasks)
        needed = max(1, len(stored) // _CASES_A_JOB)
        first, *others_needed = testees[:needed]
        others = [
            threading.Thread(target=self._work, args=(testee,), daemon=True)
            for testee in others_needed
        ]
        for thread in others:
            thread.start()
        try:
            self._work(first)
            for thread in others:
                thread.join()
        except BaseException as error:
            self._stop = error
            kill_all()
            for thread in others:
                thread.join(_PATIENCE)
            raise
        if self._stop is not None:
            raise self._stop
        self._finish()

    def _work(self, testee: Testee) -> None:
        """Ask one testee until nothing is left to ask."""
        try:
            while (numbered := self._next()) is not None:
                self._ask(testee, *numbered)
        except BaseException as error:
            self._stop = self._stop or error
            if threading.current_thread() is threading.main_thread():
                raise
        finally:
            remark = testee.close()
            if remark:
                with self._lock:
                    if remark not in self._results.notes:
                        self._results.notes.append(remark)

    def _next(self) -> tuple[int, Task] | None:
        """Return the next question; what need not be asked is settled on the way."""
        with self._lock:
            while self._stop is None:
                numbered = next(self._tasks, None)
                if numbered is None:
                    return None
                number, task = numbered
                settled = self._judge.settle(task) or self._settle_unrun(task)
                if settled is None:
                    return numbered
                self._add(number, settled)
        return None

    def _settle_unrun(self, task: Task) -> Outcome | None:
        limit = self._settings.max_crashes
        if task.case.derived is None or not limit or self._crashes < limit:
            return None
        reason = f"the testee crashed {self._crashes} times on derived cases"
        return self._judge.outcome(task, "not run", reason=reason)

    def _ask(self, testee: Testee, number: int, task: Task) -> None:
        outcome = self._judge.ask(testee, task)
        with self._lock:
            if outcome.is_derived and outcome.verdict in ("crashed", "timed out"):
                self._crashes += 1
            if outcome.is_bad:
                outcome = compare_with_expected(outcome, self._expected)
            self._add(number, outcome)

    def _add(self, number: int, outcome: Outcome) -> None:
        case = outcome.case
        group = Group(case.format, case.level, outcome.is_derived)
        counter: Counter[Verdict] = self._results.counts.setdefault(group, Counter())
        counter[outcome.verdict] += 1
        if self._expected.entries and outcome.verdict not in ("not claimed", "skipped"):
            self._ids.append(outcome.id)
        is_dull = outcome.is_derived and outcome.verdict in ("passed", "not run", "not claimed")
        if not is_dull or outcome.notes:
            self._outcomes.append((number, outcome))
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, outcome)

    def _finish(self) -> None:
        results = self._results
        self._outcomes.sort(key=lambda numbered: numbered[0])
        results.outcomes = [outcome for _, outcome in self._outcomes]
        for entry, why in self._expected.stale(self._ids, self._settings.complete):
            results.stale.append(StaleEntry(entry.pattern, entry.reason, entry.line, why))
        if results.count("not run"):
            results.notes.append(
                f"{results.count('not run')} derived cases were not run: the testee crashed "
                f"{self._crashes} times on others (--max-crashes)"
            )


def compare_with_expected(outcome: Outcome, expected: ExpectedFailures) -> Outcome:
    """Return a failure as an expected one, if the list has it and it fails as the list says."""
    entry = expected.find(outcome.id)
    if entry is None:
        return outcome
    entry.uses += 1
    if entry.fragment in outcome.text:
        return replace(outcome, verdict="expected failure", reason=entry.reason)
    why = f"it was expected to fail with {entry.fragment!r} ({entry.reason}), and fails otherwise"
    return replace(outcome, notes=(*outcome.notes, why))


class Judge:
    """Asks one question at a time and makes an outcome of the answer."""

    def __init__(self, testee: Description, declared: Declared) -> None:
        self._selection = CaseSelection(testee, declared)
        self._codecs: dict[str, Format | None] = {}
        self._rules: dict[str, EventRules] = {}
        self._located: Counter[str] = Counter()

    def settle(self, task: Task) -> Outcome | None:
        """Return the outcome of a task that is not to be asked; None if it is."""
        if reason := self._selection.not_claimed(task):
            return self.outcome(task, "not claimed", reason=reason)
        if reason := self._selection.skipped(task.case):
            return self.outcome(task, "skipped", reason=reason)
        return None

    def outcome(self, task: Task, verdict: Verdict, **members: Any) -> Outcome:
        """Return an outcome with what the task says."""
        binding = self._selection.is_binding(task.case)
        return Outcome(task.id, task.case, task.cmd, verdict, binding, **members)

    def ask(self, testee: Testee, task: Task) -> Outcome:
        """Put a task to a testee and judge its answer."""
        try:
            reply = testee.ask(task.request())
        except NoAnswer as failure:
            return self.outcome(task, failure.kind, problem=failure.problem, stderr=failure.stderr)
        case = task.case
        codec, rules = self._codec(case.format)
        try:
            if task.cmd == "encode":
                assert codec is not None, "there are cases to encode only for known formats"
                judgement = judge_encoded(case, reply.answer, codec, rules)
            else:
                judgement = judge_decoded(case, reply.answer, rules)
        except Exception as error:  # noqa: BLE001  (the edge: the other cases are still judged)
            judgement = Judgement(f"the answer can't be judged: {error!r:.200}")
        if judgement.passed:
            return self.outcome(task, "passed", notes=judgement.notes)
        judgement = self._with_focus(judgement, task, codec)
        return self.outcome(
            task,
            "failed",
            problem=judgement.problem,
            differences=judgement.differences,
            notes=judgement.notes,
            focus=judgement.focus,
            stderr=reply.stderr,
        )

    def _with_focus(self, judgement: Judgement, task: Task, codec: Format | None) -> Judgement:
        if codec is None or task.cmd == "encode" or task.case.derived is not None:
            return judgement
        self._located[task.case.format] += 1
        if self._located[task.case.format] > _LOCATED_PER_FORMAT:
            return judgement
        return with_focus(judgement, task.case, codec)

    def _codec(self, format_name: str) -> tuple[Format | None, EventRules]:
        if format_name not in self._rules:
            codec = get_format(format_name) if format_name in FORMAT_NAMES else None
            claim = self._selection.claim(format_name)
            self._codecs[format_name] = codec
            self._rules[format_name] = rules_of(codec, claim.without if claim else frozenset())
        return self._codecs[format_name], self._rules[format_name]
