"""Searches the smallest messages that a testee reads wrongly, and the smallest events it writes so.

Hypothesis draws samples and shrinks those that fail. Failures of the same kind (the part of the
answer, expected and given) are one failure with one smallest sample. The answer to a request is
kept, so that a testee whose answers vary does not confuse the search. A fresh process confirms the
first answer of each kind, and the smallest sample.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import Unsatisfiable

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.format import Format
from cdcwire.registry import get_format
from cdcwire_conformance.corpus.store import corpus_version
from cdcwire_conformance.property.cases import task_of, with_clauses
from cdcwire_conformance.protocol.requests import Command
from cdcwire_conformance.run.asking import Judge
from cdcwire_conformance.run.groups import failure_key, size_of
from cdcwire_conformance.run.results import Outcome, StateLeak
from cdcwire_conformance.run.selection import Task
from cdcwire_conformance.testees.base import Testee
from cdcwire_generators.features import choices_of_sample
from cdcwire_generators.samples import Sample
from cdcwire_generators.strategies import samples

_MOST_TIMEOUTS = 5
_MOST_CRASHES = 200
_MOST_KINDS = 12  # of failures in one search; further ones are one kind
_SECONDS_TO_SHRINK = 60.0  # in a run
_LEAST_SECONDS_TO_SHRINK = 10.0  # in a search
_PHASES = (Phase.reuse, Phase.generate, Phase.shrink)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How long to search.

    ``examples``: how many samples are made before the first failure. ``database``: a directory of
    the samples that failed; the next search begins with them.
    """

    examples: int
    seed: int
    database: Path | None = None
    seconds_to_shrink: float = _SECONDS_TO_SHRINK


def seconds_to_shrink(searches: int) -> float:
    """Return the time that each search of a run has. A testee may fail in all of its formats."""
    return max(_LEAST_SECONDS_TO_SHRINK, _SECONDS_TO_SHRINK / max(searches, 1))


@dataclass(slots=True)
class Findings:
    """Results of a search. ``failures``: the smallest sample of each kind. ``passed``: answers.

    ``asked``: how many different messages. ``kinds``: of failure that were seen. ``shrinks``: how
    many times a smaller message of a kind was found.
    """

    failures: list[Outcome] = field(default_factory=list)
    leaks: list[StateLeak] = field(default_factory=list)
    passed: int = 0
    asked: int = 0
    kinds: int = 0
    shrinks: int = 0
    note: str = ""


Progress = Callable[[Findings], None]


class PropertyFailure(Exception):
    """A sample failed. Each kind of failure has a subclass, so that Hypothesis shrinks each."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.text)
        self.outcome = outcome


def search(
    testee: Testee,
    judge: Judge,
    format_name: str,
    cmd: Command,
    settings_: SearchSettings,
    progress: Progress | None = None,
) -> Findings:
    """Ask a testee samples of a format. An interrupt leaves the known failures, and raises.

    Raises: Interrupted, with what was found.
    """
    return _Search(testee, judge, format_name, cmd, settings_, progress).run()


class Interrupted(KeyboardInterrupt):
    """A search was interrupted. ``findings``: what was known; ``cause``: the interrupt."""

    def __init__(self, findings: Findings, cause: BaseException) -> None:
        super().__init__()
        self.findings = findings
        self.cause = cause


class _Over(BaseException):
    """Nothing new is asked. Hypothesis ends at once, as it does for an interrupt."""


class _Search:
    def __init__(
        self,
        testee: Testee,
        judge: Judge,
        format_name: str,
        cmd: Command,
        settings_: SearchSettings,
        progress: Progress | None,
    ) -> None:
        self._testee = testee
        self._judge = judge
        self._format = get_format(format_name)
        self._cmd: Command = cmd
        self._settings = settings_
        self._progress = progress
        self._since = corpus_version()
        self._findings = Findings()
        self._answers: dict[str, Outcome | None] = {}
        self._types: dict[Hashable, type[PropertyFailure]] = {}
        self._smallest: dict[Hashable, Outcome] = {}
        self._stops_at: float | None = None
        self._timeouts = self._crashes = 0

    def run(self) -> Findings:
        try:
            self._search()
        except KeyboardInterrupt as cause:
            failures = [with_clauses(each) for each in self._smallest.values()]
            self._findings.failures = failures
            raise Interrupted(self._findings, cause) from cause
        return self._findings

    def _search(self) -> None:
        claim = self._judge.claim(self._format.name)
        assert claim is not None, "the format is claimed"
        drawn = samples(self._format, without=claim.without)
        try:
            self._property(drawn)()
        except Unsatisfiable:
            self._findings.note = "every generated message needs something that the testee declines"
        except _Over:
            self._confirm(self._smallest.values())
        except BaseException as error:
            found = list(_failures_in(error))
            if not found:
                raise
            self._confirm(found)

    def _property(self, drawn: st.SearchStrategy[Sample]) -> Callable[[], None]:
        folder = self._settings.database
        name = f"{self._format.name}-{self._cmd}"

        @settings(
            max_examples=self._settings.examples,
            database=None if folder is None else DirectoryBasedExampleDatabase(folder / name),
            deadline=None,
            derandomize=False,
            phases=_PHASES,
            print_blob=False,
            report_multiple_bugs=True,
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @seed(self._settings.seed)  # it sets no database; the settings above set it again
        @given(drawn)
        def is_read_right(sample: Sample) -> None:
            outcome = self._answer(sample)
            if outcome is not None:
                raise self._failure(outcome)

        return is_read_right

    def _answer(self, sample: Sample) -> Outcome | None:
        """Return the failure of a sample; None for one that passed or that is not asked."""
        task = task_of(sample, self._format, self._cmd, self._since)
        if task.id in self._answers:
            return self._answers[task.id]
        if self._is_over():
            raise _Over
        if not is_fair(self._judge, task, sample, self._format):
            return None
        outcome = self._ask(task)
        self._findings.asked += 1
        if outcome.is_bad:
            self._answers[task.id] = outcome
        else:
            self._answers[task.id] = None
            self._findings.passed += 1
        if self._progress is not None:
            self._progress(self._findings)
        return self._answers[task.id]

    def _is_over(self) -> bool:
        is_full = self._timeouts >= _MOST_TIMEOUTS or self._crashes >= _MOST_CRASHES
        return is_full or self._is_late()

    def _is_late(self) -> bool:
        """Return whether shrinking takes too long."""
        return self._stops_at is not None and time.monotonic() > self._stops_at

    def _ask(self, task: Task) -> Outcome:
        outcome = self._noted(self._judge.ask(self._testee, task))
        self._timeouts += outcome.verdict == "timed out"
        self._crashes += outcome.verdict == "crashed"
        if outcome.is_bad and self._stops_at is None:
            self._stops_at = time.monotonic() + self._settings.seconds_to_shrink
        return outcome

    def _noted(self, outcome: Outcome) -> Outcome:
        """Remember the first state leak."""
        if outcome.leak and not self._findings.leaks:
            leak = StateLeak(outcome.id, outcome.leak, outcome.text or outcome.verdict)
            self._findings.leaks.append(leak)
        return outcome

    def _failure(self, outcome: Outcome) -> PropertyFailure:
        """Return the exception of a kind of failure, and remember its last sample."""
        key = failure_key(outcome)
        if key not in self._types and len(self._types) >= _MOST_KINDS:
            key = None
        if key not in self._types:
            self._types[key] = type("PropertyFailure", (PropertyFailure,), {})
            self._smallest[key] = outcome
            self._findings.kinds += 1
        if size_of(outcome) <= size_of(self._smallest[key]):
            self._findings.shrinks += size_of(outcome) < size_of(self._smallest[key])
            self._smallest[key] = outcome
        return self._types[key](outcome)

    def _confirm(self, found: Iterable[Outcome]) -> None:
        """Keep the smallest samples that a fresh process fails too; the others have passed.

        A sample that passed is a state leak, except one that was late at first.
        """
        once = {outcome.id: outcome for outcome in found}
        for outcome in once.values():
            task = Task(outcome.id, outcome.case, outcome.cmd)
            again = self._noted(self._judge.confirm(self._testee, task, outcome))
            if again.is_bad:
                self._findings.failures.append(with_clauses(again))
            else:
                self._findings.passed += 1
        if self._timeouts >= _MOST_TIMEOUTS:
            late = f"the search ended after {self._timeouts} messages without an answer in time"
            self._findings.note = f"{late}; --timeout allows more"
        elif self._is_late():
            seconds = self._settings.seconds_to_shrink
            self._findings.note = f"shrinking ended after {seconds:.0f} s"


def is_fair(judge: Judge, task: Task, sample: Sample, through: Format) -> bool:
    """Return whether the testee claims what the sample needs, and reads choices like us.

    Samples whose meaning is in headers of Kafka are left out: a golden case has none.
    """
    if judge.settle(task) is not None or not _is_whole(task, sample, through):
        return False
    claim = judge.claim(through.name)
    stated = {} if claim is None else claim.choices
    return all(
        subject in stated and stated[subject] == through.choices.get(subject)
        for subject in choices_of_sample(sample, through)
    )


def _is_whole(task: Task, sample: Sample, through: Format) -> bool:
    """Return whether the case without headers says what the sample says."""
    if not any(isinstance(each, KafkaMessage) and each.headers for each in sample.messages):
        return True
    case = task.case
    context = through.prepared(case.messages, case.context())
    read = (event for each in case.messages for event in through.to_events(each, context=context))
    try:
        return tuple(read) == sample.read
    except DecodeError:
        return False


def _failures_in(error: BaseException) -> Iterator[Outcome]:
    """Yield the failures of an exception, which may be a group of them."""
    if isinstance(error, PropertyFailure):
        yield error.outcome
    for inner in getattr(error, "exceptions", ()):
        yield from _failures_in(inner)
