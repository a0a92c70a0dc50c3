"""The results of a run: an outcome for each case, and the number of each kind.

Derived cases that passed are only counted; there are tens of thousands of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cdcwire.model.events import Path
from cdcwire_conformance.corpus.case import Case, Level
from cdcwire_conformance.judge.cases import Focus
from cdcwire_conformance.judge.difference import Difference
from cdcwire_conformance.protocol.answers import Description
from cdcwire_conformance.protocol.requests import Command


@dataclass(frozen=True, slots=True)
class PropertyRun:
    """How the messages of a run were generated.

    ``examples``: the limit per format and direction. ``seed``: the same seed gives the same
    messages. ``asked``: how many different ones the testee was asked. ``kinds``: of failure.
    ``shrinks``: how many times a smaller message of a kind was found. ``saved``: the files of the
    golden cases that the run wrote.
    """

    examples: int
    seed: int
    asked: int = 0
    kinds: int = 0
    shrinks: int = 0
    saved: tuple[str, ...] = ()


Verdict: TypeAlias = Literal[
    "passed",
    "failed",
    "crashed",
    "timed out",
    "expected failure",
    "not claimed",
    "skipped",
    "not run",
]
VERDICTS: tuple[Verdict, ...] = (
    "passed",
    "failed",
    "crashed",
    "timed out",
    "expected failure",
    "not claimed",
    "skipped",
    "not run",
)
BAD: frozenset[Verdict] = frozenset({"failed", "crashed", "timed out"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case and its verdict.

    ``id``: that of the case, followed by ``@encode`` when events of an accept case were encoded.
    ``clauses``: those that the case shows; of a failed malformed message the one that it breaks.
    ``is_binding``: whether a failure fails the run. ``reason``: why it was not claimed, not run,
    skipped or expected to fail. ``leak``: what a process answered that had answered other requests
    before, where a fresh process gave the outcome. ``seconds``: how long the answers took.
    """

    id: str
    case: Case
    cmd: Command
    verdict: Verdict
    is_binding: bool
    clauses: tuple[str, ...] = ()
    problem: str = ""
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    focus: Focus | None = None
    stderr: str = ""
    reason: str = ""
    leak: str = ""
    seconds: float = 0.0

    @property
    def is_bad(self) -> bool:
        """True if the case failed, crashed or timed out."""
        return self.verdict in BAD

    @property
    def fails_run(self) -> bool:
        """True if the outcome makes the run fail."""
        return self.is_bad and self.is_binding

    @property
    def is_derived(self) -> bool:
        """True if the case is derived from another case."""
        return self.case.derived is not None

    @property
    def text(self) -> str:
        """The failure in a line: what an entry of the expected failures is compared with."""
        first = f"; {self.differences[0]}" if self.differences else ""
        return f"{self.problem}{first}"

    @property
    def rule(self) -> str:
        """The rule that made a derived case: ``cut``. Empty for a stored case."""
        return (self.case.derived or "").partition(":")[0]

    def is_like(self, other: Outcome) -> bool:
        """Return whether two answers to one request mean the same.

        The text of a rejection is not compared: it may contain addresses or times.
        """
        return self.verdict == other.verdict and _places(self) == _places(other)


def _places(outcome: Outcome) -> list[tuple[Path, str]]:
    return [(each.path, each.got if each.path else "") for each in outcome.differences]


@dataclass(frozen=True, slots=True)
class StaleEntry:
    """An entry of the expected failures that no longer fails."""

    pattern: str
    reason: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class StateLeak:
    """A case whose answer changed when it was asked again in a fresh process.

    ``first``: the failure in a process that had answered other requests. ``fresh``: the outcome.
    """

    id: str
    first: str
    fresh: str


@dataclass(frozen=True, slots=True)
class CountKey:
    """The categories by which outcomes are counted."""

    format: str
    level: Level
    derived: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """A frozen set of requirements that a testee claims to meet, and the number of its cases."""

    name: str
    cases: int


@dataclass(slots=True)
class Results:
    """All of a run.

    ``outcomes`` are in the order of the cases. ``leaks``: state leaks between messages, without the
    expected ones. ``left_out``: how many derived cases were not run, by ``BASE@RULE``.
    ``derived_seconds``: how long the answers to derived cases took, by format.
    ``property_run``: how the messages were generated, if they are not those of golden cases.
    ``stopped_at``: the last of the equal crashes that ended the run at its start.
    ``claim``: the requirements that the run judges. It is met if every case of them passed.
    """

    testee: Description
    command: str
    mode: str
    corpus_version: str
    formats: tuple[str, ...]
    outcomes: list[Outcome] = field(default_factory=list)
    counts: dict[CountKey, Counter[Verdict]] = field(default_factory=dict)
    stale: list[StaleEntry] = field(default_factory=list)
    leaks: list[StateLeak] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    derived_seconds: dict[str, float] = field(default_factory=dict)
    is_interrupted: bool = False
    property_run: PropertyRun | None = None
    stopped_at: Outcome | None = None
    claim: Claim | None = None

    def count(
        self,
        *verdicts: Verdict,
        format_name: str | None = None,
        derived: bool | None = None,
    ) -> int:
        """Return how many cases have one of these verdicts; none given: any."""
        return sum(
            number
            for group, counter in self.counts.items()
            if (format_name is None or group.format == format_name)
            and (derived is None or group.derived == derived)
            for verdict, number in counter.items()
            if not verdicts or verdict in verdicts
        )

    def bad(self) -> Iterator[Outcome]:
        """Yield what failed, crashed or timed out: what fails the run first."""
        bad = [outcome for outcome in self.outcomes if outcome.is_bad]
        yield from (outcome for outcome in bad if outcome.is_binding)
        yield from (outcome for outcome in bad if not outcome.is_binding)

    @property
    def is_whole(self) -> bool:
        """False if the run ended early: by an interrupt, or by equal crashes at its start."""
        return not self.is_interrupted and self.stopped_at is None

    @property
    def was_run(self) -> int:
        """How many cases the testee was asked."""
        return self.count() - self.count("not claimed", "skipped", "not run")

    @property
    def meets_claim(self) -> bool:
        """True if every case of the claimed requirements passed. Without a claim it is met."""
        return self.claim is None or self.count("passed") == self.claim.cases

    @property
    def has_failed(self) -> bool:
        """True if the run failed: a binding failure, a stale entry, a leak, an early end.

        A claim that is not met fails the run too, as where a case of it was declined.
        """
        is_clean = self.is_whole and not self.stale and not self.leaks and self.meets_claim
        return not is_clean or any(outcome.fails_run for outcome in self.outcomes)
