"""Asks testees and collects verdicts.

Each testee has a separate thread and takes the next cases when it is free. A testee that ended is
started again by its next question. Stored cases come before derived ones, so that what matters most
is known first. All cases derived from one base case go to one testee, in order. So the cases that
are left out after crashes do not depend on the number of testees.

A testee whose libraries are missing often answers ``start`` and then crashes on each request. The
first questions come from all formats and groups. If each of them ends in the same crash and none
has an answer, the run stops. A decoder that fails only in one format or group is asked everything.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import TypeAlias

from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.run.asking import CONFIRMED_OF_A_KIND, Judge
from cdcwire_conformance.run.expected_failures import ExpectedFailures
from cdcwire_conformance.run.groups import crash_kind
from cdcwire_conformance.run.results import (
    CountKey,
    Outcome,
    Results,
    StaleEntry,
    StateLeak,
    Verdict,
)
from cdcwire_conformance.run.selection import Declared, Task, tasks_of
from cdcwire_conformance.testees.base import Testee
from cdcwire_conformance.testees.pipes import kill_all

_SECONDS_BETWEEN_LOOKS = 0.05
_SECONDS_TO_STOP = 2.0  # for the other threads of a run that is interrupted
_CASES_A_JOB = 32  # fewer are not worth starting another testee
MAX_CRASHES = 3


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run.

    ``max_crashes``: the limit N of crashes or timeouts of cases that one rule derives from one base
    case. After N of them the other cases of this rule and base are not run. Before that only a
    sample is run; 0 means no limit. ``crashes_at_start``: a run stops after this many equal crashes
    if nothing else was answered; 0 means no limit. ``complete``: the formats whose cases are all in
    the run. ``wanted``: which questions of the cases are asked. ``confirmed``: see ``Judge``.
    """

    max_crashes: int = MAX_CRASHES
    declared: Declared = field(default_factory=Declared)
    complete: frozenset[str] = frozenset()
    wanted: Callable[[Task], bool] = lambda task: True
    confirmed: int = CONFIRMED_OF_A_KIND
    crashes_at_start: int = 0


DEFAULTS = Settings()
Progress = Callable[[int, Outcome], None]
Batch: TypeAlias = list[tuple[int, Task]]


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
    """Ask the testees all cases and fill ``results``.

    ``testees``: the same decoder N times; ``results.testee`` is its own description. All are closed
    at the end. Derived cases of one base case have to follow each other. A run that is interrupted
    leaves in ``results`` what it knows, and raises.
    """
    began = time.monotonic()
    shared = _Run(results, settings, expected_failures or ExpectedFailures(), progress)
    try:
        shared.go(list(stored), derived, testees)
    except BaseException:
        results.is_interrupted = True
        raise
    finally:
        shared.finish()
        results.seconds = time.monotonic() - began
    return results


class _CrashSample:
    """The cases derived from one base case that are left out after crashes, per rule.

    After the first crash one case is left out, after the second three, then seven. After the last
    crash that is allowed, all of the rule are. A decoder that crashes on the empty message is still
    asked the others.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._crashes: Counter[str] = Counter()
        self._to_skip: Counter[str] = Counter()

    def leaves_out(self, task: Task) -> bool:
        rule = task.rule
        if self._to_skip[rule] > 0:
            self._to_skip[rule] -= 1
            return True
        return bool(rule and self._limit) and self._crashes[rule] >= self._limit

    def add_crash(self, rule: str) -> None:
        self._crashes[rule] += 1
        if rule and self._limit:
            self._to_skip[rule] = 2 ** self._crashes[rule] - 1


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
        self._judge = Judge(results.testee, settings.declared, settings.confirmed, expected)
        self._lock = threading.Lock()
        self._batches_lock = threading.Lock()
        self._batches: Iterator[Batch] = iter(())
        self._outcomes: list[tuple[int, Outcome]] = []
        self._ids: list[str] = []
        self._done = 0
        self._stop: BaseException | None = None
        self._opening = Opening(settings.crashes_at_start)

    def go(
        self,
        stored: list[Case],
        derived: Iterable[Case],
        testees: Sequence[Testee],
    ) -> None:
        self._batches = self._make_batches(stored, derived)
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
            give_up = time.monotonic() + _SECONDS_TO_STOP
            while time.monotonic() < give_up:
                kill_all()  # again: a thread may have started one meanwhile
                for thread in others:
                    thread.join(_SECONDS_BETWEEN_LOOKS)
                if not any(thread.is_alive() for thread in others):
                    break
            raise
        if self._stop is not None:
            raise self._stop

    def _make_batches(self, stored: list[Case], derived: Iterable[Case]) -> Iterator[Batch]:
        """Yield the questions with their numbers: a stored case alone, derived ones by base."""
        number = 0

        def batch_of(cases: Iterable[Case]) -> Batch:
            nonlocal number
            tasks = filter(self._settings.wanted, chain.from_iterable(map(tasks_of, cases)))
            batch = list(enumerate(tasks, number))
            number += len(batch)
            return batch

        alone = [batch_of([case]) for case in stored]
        yield from (alone[place] for place in asking_order(stored))
        by_base = groupby(derived, lambda case: case.id.partition("@")[0])
        yield from (batch_of(cases) for _, cases in by_base)

    def _work(self, testee: Testee) -> None:
        """Ask one testee until nothing is left to ask."""
        try:
            while (batch := self._next()) is not None:
                sample = _CrashSample(self._settings.max_crashes)
                settled = [self._judge.settle(task) for _, task in batch]
                testee.announce(
                    task.request
                    for (_, task), outcome in zip(batch, settled, strict=True)
                    if outcome is None
                )
                for (number, task), known in zip(batch, settled, strict=True):
                    if self._is_over:
                        return
                    began = time.monotonic()
                    outcome = known or self._outcome(testee, task, sample)
                    if self._is_over:  # the process may have been killed by us
                        return
                    self._add(number, outcome, 0.0 if known else time.monotonic() - began)
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

    def _next(self) -> Batch | None:
        with self._batches_lock:
            return None if self._is_over else next(self._batches, None)

    @property
    def _is_over(self) -> bool:
        """True if nothing more is asked: after an error, an interrupt or equal crashes."""
        return self._stop is not None or self._results.stopped_at is not None

    def _outcome(self, testee: Testee, task: Task, sample: _CrashSample) -> Outcome:
        if sample.leaves_out(task):
            reason = "the testee crashed on other cases of this rule and base case"
            return self._judge.outcome(task, "not run", reason=reason)
        outcome = self._judge.ask(testee, task)
        if outcome.verdict in ("crashed", "timed out"):
            sample.add_crash(outcome.rule)
            testee.announce(())  # some of the next cases may be left out
        return compare_with_expected(outcome, self._expected) if outcome.is_bad else outcome

    def _add(self, number: int, outcome: Outcome, seconds: float) -> None:
        with self._lock:
            if self._is_over:
                return
            if self._opening.stops_at(outcome):
                self._results.stopped_at = outcome
            case = outcome.case
            key = CountKey(case.format, case.level, outcome.is_derived)
            counter: Counter[Verdict] = self._results.counts.setdefault(key, Counter())
            counter[outcome.verdict] += 1
            if outcome.is_derived:
                total = self._results.derived_seconds
                total[case.format] = total.get(case.format, 0.0) + seconds
            if self._expected.entries and outcome.verdict not in ("not claimed", "skipped"):
                self._ids.append(outcome.id)
            if outcome.verdict == "not run":
                self._results.left_out[f"{case.id.partition('@')[0]}@{outcome.rule}"] += 1
                self._expected.excuse(outcome.id)
            if outcome.leak and not self._expected.expects_leaks(case.format):
                leak = StateLeak(outcome.id, outcome.leak, outcome.text or outcome.verdict)
                self._results.leaks.append(leak)
            is_dull = outcome.is_derived and outcome.verdict in (
                *("passed", "not run", "not claimed"),
            )
            if not is_dull or outcome.notes:
                self._outcomes.append((number, replace(outcome, seconds=seconds)))
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, outcome)

    def finish(self) -> None:
        """Put what is known into the results."""
        results = self._results
        with self._lock:
            self._outcomes.sort(key=lambda numbered: numbered[0])
            results.outcomes = [outcome for _, outcome in self._outcomes]
            results.leaks.sort(key=lambda leak: leak.id)
        if results.is_whole:
            for entry, why in self._expected.stale(self._ids, self._settings.complete):
                results.stale.append(StaleEntry(entry.pattern, entry.reason, entry.line, why))


def compare_with_expected(outcome: Outcome, expected: ExpectedFailures) -> Outcome:
    """Return a failure as an expected one, if the list has it and it fails as the list says."""
    entry = expected.find(outcome.id)
    if entry is None:
        return outcome
    entry.use(outcome.id)
    if entry.explains(outcome.text):
        return replace(outcome, verdict="expected failure", reason=entry.reason)
    why = f"it was expected to fail with {entry.fragment!r} ({entry.reason}), and fails otherwise"
    return replace(outcome, notes=(*outcome.notes, why))


CRASHES_AT_START = 10


def asking_order(cases: Sequence[Case]) -> list[int]:
    """Return the places of cases in the order of asking.

    The first case of each group comes first, and the formats take turns. The others keep their
    order.
    """
    groups_seen: Counter[str] = Counter()
    turns: dict[int, int] = {}
    seen: set[tuple[str, str]] = set()
    for place, case in enumerate(cases):
        group = case.format, case.group
        if group not in seen:
            seen.add(group)
            turns[place] = groups_seen[case.format]
            groups_seen[case.format] += 1
    first = sorted(turns, key=lambda place: (turns[place], place))
    return [*first, *(place for place in range(len(cases)) if place not in turns)]


class Opening:
    """Watches the first answers of a run. ``limit``: of equal crashes; 0 means no limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._crashes = 0
        self._kind: Hashable = None
        self._is_over = not limit

    def stops_at(self, outcome: Outcome) -> bool:
        """Return whether the run stops: the testee gave nothing else than this crash so far.

        Questions that were not asked do not count. An expected failure counts as an answer.
        """
        if self._is_over or outcome.verdict in ("not claimed", "skipped", "not run"):
            return False
        is_crash = outcome.verdict in ("crashed", "timed out")
        kind = crash_kind(outcome) if is_crash else None
        if not is_crash or (self._crashes and kind != self._kind):
            self._is_over = True
            return False
        self._kind = kind
        self._crashes += 1
        return self._crashes >= self._limit
