"""The chapters of a report: the results that each contributes, and its text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cdcwire_conformance.corpus.derive import SIGN
from cdcwire_conformance.corpus.store import load_cases

Status: TypeAlias = Literal["passed", "failed", "partly run", "not run"]
ReaderKind: TypeAlias = Literal["decoder", "library"]


@dataclass(frozen=True, slots=True)
class NotRun:
    """Work that was left out: what, why, and the command or package that makes it run.

    It is never counted as passed.
    """

    what: str
    why: str
    install: str = ""


@dataclass(frozen=True, slots=True)
class ReaderScore:
    """The verdicts on one reader for one format.

    ``kind``: a decoder of this project, which has to pass, or a third party's library, whose
    failures are results. ``declined``: cases that it does not claim. ``failing``: ids of cases.
    ``not_asked``: ids of the stored cases of the format that it does not claim or was not asked.
    """

    name: str
    version: str
    kind: ReaderKind
    command: str
    format: str
    asked: int
    passed: int
    declined: int
    failing: tuple[str, ...] = ()
    not_asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownWrongResult:
    """A known-wrong decoder of one format, and the first case that catches it; None: no case."""

    name: str
    fault: str
    format: str
    case: str | None


@dataclass(frozen=True, slots=True)
class PlantedResult:
    """One comparison of two feeds: how many planted differences it found.

    ``unexpected``: differences that it reported though nobody planted them.
    """

    left: str
    right: str
    options: tuple[str, ...]
    expected: int
    found: int
    unexpected: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counts of confirmed cases per format. ``author_only``: ids of cases that nobody confirms."""

    format: str
    cases: int
    producer: int
    others: int
    author_only: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A measured value with a limit. ``is_least``: it is the least allowed value.

    ``workload``: the one with the worst value, where several are measured.
    """

    benchmark: str
    title: str
    value: float
    unit: str
    bar: float
    is_least: bool
    met: bool
    workload: str = ""


@dataclass(frozen=True, slots=True)
class SizeCell:
    """The bytes per row of one format, and the ratio to the baseline's bytes."""

    workload: str
    format: str
    batch: int
    compression: str
    bytes_per_row: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """All sizes as ratios to one format. ``picture``: the name of the picture's file."""

    baseline: str
    picture: str
    cells: tuple[SizeCell, ...]


@dataclass(slots=True)
class Part:
    """One chapter: a title, the command that made it, its Markdown lines and its results.

    ``asked`` and ``passed``: checks that cdcwire itself has to pass. ``attention``: a line for each
    result that needs a person.
    """

    title: str
    command: str = ""
    lines: list[str] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)
    failed: bool = False
    asked: int = 0
    passed: int = 0
    seconds: float = 0.0
    attention: list[str] = field(default_factory=list)
    readers: list[ReaderScore] = field(default_factory=list)
    known_wrong: list[KnownWrongResult] = field(default_factory=list)
    planted: list[PlantedResult] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    sizes: Sizes | None = None

    @property
    def id(self) -> str:
        """The name of the chapter's page: its title in small letters, joined by hyphens."""
        small = "".join(sign if sign.isalnum() else " " for sign in self.title.lower())
        return "-".join(small.split())

    @property
    def status(self) -> Status:
        """The result of the chapter in a word."""
        if self.failed or self.passed < self.asked:
            return "failed"
        if not self.lines:
            return "not run"
        return "partly run" if self.not_run else "passed"


def left_out(format_name: str, asked: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of a format's stored cases that are not among these ids."""
    known = {case_id.partition(SIGN)[0] for case_id in asked}
    return tuple(
        case.id for case in load_cases() if case.format == format_name and case.id not in known
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return a Markdown table; columns after the first are aligned right if all are numbers."""
    body = [[str(cell) for cell in row] for row in rows]
    marks = [
        "---:" if index and body and all(_is_number(row[index]) for row in body) else "---"
        for index in range(len(head))
    ]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join(marks)} |"]
    return lines + [f"| {' | '.join(cell or ' ' for cell in row)} |" for row in body]


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").replace(" %", "").replace("x", "").isdigit()
