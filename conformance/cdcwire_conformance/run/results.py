"""What a run found: an outcome for each case, and how many there are of each kind.

Derived cases that were passed are only counted; there are tens of thousands of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cdcwire_conformance.corpus.case import Case, Level
from cdcwire_conformance.judge.cases import Focus
from cdcwire_conformance.judge.difference import Difference
from cdcwire_conformance.protocol.answers import Description
from cdcwire_conformance.protocol.requests import Command

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
BAD: frozenset[Verdict] = frozenset({"failed", "crashed", "timed out", "not run"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case and its verdict.

    ``id``: that of the case; ``@encode`` behind it when events of a case to accept were encoded.
    ``is_binding``: whether a failure fails the run. ``reason``: why it was not claimed, not run,
    skipped or expected to fail.
    """

    id: str
    case: Case
    cmd: Command
    verdict: Verdict
    is_binding: bool
    problem: str = ""
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    focus: Focus | None = None
    stderr: str = ""
    reason: str = ""

    @property
    def is_bad(self) -> bool:
        """Whether the case failed, crashed, timed out or was not run."""
        return self.verdict in BAD

    @property
    def fails_run(self) -> bool:
        """Whether the outcome makes the run fail."""
        return self.is_bad and self.is_binding

    @property
    def is_derived(self) -> bool:
        """Whether the case is derived from another case."""
        return self.case.derived is not None

    @property
    def text(self) -> str:
        """The failure in a line: what an entry of the expected failures is compared with."""
        first = f"; {self.differences[0]}" if self.differences else ""
        return f"{self.problem}{first}"


@dataclass(frozen=True, slots=True)
class StaleEntry:
    """An expected failure that is none."""

    pattern: str
    reason: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Group:
    """What outcomes are counted by."""

    format: str
    level: Level
    derived: bool


@dataclass(slots=True)
class Results:
    """All of a run. ``outcomes`` stand in the order of the cases."""

    testee: Description
    command: str
    door: str
    corpus_version: str
    formats: tuple[str, ...]
    outcomes: list[Outcome] = field(default_factory=list)
    counts: dict[Group, Counter[Verdict]] = field(default_factory=dict)
    stale: list[StaleEntry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

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
        """Yield what did not pass, what fails the run first."""
        bad = [outcome for outcome in self.outcomes if outcome.is_bad]
        yield from (outcome for outcome in bad if outcome.is_binding)
        yield from (outcome for outcome in bad if not outcome.is_binding)

    @property
    def was_run(self) -> int:
        """How many cases were put to the testee."""
        return self.count() - self.count("not claimed", "skipped", "not run")

    @property
    def has_failed(self) -> bool:
        """Whether the run failed: a binding failure, a stale entry or a case that was not run."""
        unrun = self.count("not run") > 0
        return unrun or bool(self.stale) or any(outcome.fails_run for outcome in self.outcomes)
