"""What the chapters about readers that people use have in common: a matrix of questions x readers.

Each reader is a testee of ``adapters/`` and is put to golden cases of one format. Its failures are
no failures of ours: they are what such a chapter is there to show. A reader that is not installed
is not run.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.judge.difference import shorten
from cdcwire_conformance.output.markdown import inline
from cdcwire_conformance.run.results import Outcome, Results
from cdcwire_conformance.run.runner import DEFAULTS, Settings, run
from cdcwire_conformance.testees import CannotStartError, KeptAliveTestee
from cdcwire_conformance.testees.processes import START_TIMEOUT, Limits
from cdcwire_evidence.report.part import NotRun, Part, ReaderScore, left_out, table

Fits: TypeAlias = Callable[[Case], bool]
Found: TypeAlias = "Sequence[tuple[ThirdPartyReader, Results]]"

_TEXT_LIMIT = 160


def reader_settings(quick: bool) -> Settings:
    """Return how readers are asked; ``quick``: their failures count at the first answer.

    They have hundreds of failures, and a fresh process for each takes longer than everything else.
    """
    return replace(DEFAULTS, confirmed=0) if quick else DEFAULTS


@dataclass(frozen=True, slots=True)
class ThirdPartyReader:
    """A reader: its program, how it comes here, and the settings that were chosen for it.

    ``needs``: a file that is built or fetched first. ``timeout``: seconds for one answer.
    """

    title: str
    command: tuple[str, ...]
    install: str
    settings: str
    needs: str | None = None
    timeout: float = 10.0


@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked of readers of a format, whose cases are ``things``: files, messages.

    ``question_of``: the question that a case counts for, None if it asks nothing of a reader.
    ``is_passed``: whether a case counts as answered; some failures count for another question.
    """

    format: str
    things: str
    valid: Sequence[str]
    broken: Sequence[str]
    question_of: Callable[[Case], str | None]
    is_passed: Callable[[Outcome], bool] = lambda outcome: outcome.verdict == "passed"

    def of(self, cases: Iterable[Case]) -> list[Case]:
        """Return the cases that ask something."""
        return [case for case in cases if case.format == self.format and self.question_of(case)]


def clauses_fit(format_name: str, *names: str) -> Fits:
    """Return whether a case is about one of these clauses."""
    wanted = {f"{format_name}: {name}" for name in names}
    return lambda case: not wanted.isdisjoint(case.clauses)


def first_fitting(
    case: Case, valid: Iterable[tuple[str, Fits]], broken: Iterable[tuple[str, Fits]]
) -> str | None:
    """Return the first question that a case fits.

    A broken case is asked about by the clause of its error alone; it may fit none.
    """
    if case.expect == "accept":
        return next(title for title, fits in valid if fits(case))
    probe = replace(case, clauses=(str((case.error or {}).get("clause")),))
    return next((title for title, fits in broken if fits(probe)), None)


def ask_readers(
    part: Part,
    questions: Questions,
    asked: list[Case],
    readers: Sequence[ThirdPartyReader],
    head: str,
    settings: Settings,
) -> None:
    """Put each reader to the cases, and write what it makes of them into the chapter."""
    found: list[tuple[ThirdPartyReader, Results]] = []
    for reader in readers:
        try:
            found.append((reader, _ask(reader, asked, questions.format, settings)))
        except CannotStartError as error:
            part.not_run.append(NotRun(reader.title, _why_not_run(error), reader.install))
    part.readers += [_score(questions, reader, results) for reader, results in found]
    if found:
        part.lines = [
            head,
            "",
            *_matrix(questions, asked, found),
            "",
            *_settings(found),
            "",
            *_failures(questions, found),
        ]


def _why_not_run(error: CannotStartError) -> str:
    """Return the last error that a program printed, or else what it did; warnings say nothing."""
    lines = [line for line in error.stderr.splitlines() if "Error: " in line]
    return lines[-1].rpartition("Error: ")[2] if lines else error.problem


def _score(questions: Questions, reader: ThirdPartyReader, results: Results) -> ReaderScore:
    """Return the cases that a reader was asked, those that it passed, and the others."""
    asked = [outcome for outcome in results.outcomes if outcome.verdict != "not claimed"]
    failing = tuple(outcome.id for outcome in asked if not questions.is_passed(outcome))
    return ReaderScore(
        reader.title,
        results.testee.version,
        "library",
        results.command,
        questions.format,
        len(asked),
        len(asked) - len(failing),
        len(results.outcomes) - len(asked),
        failing,
        left_out(questions.format, (outcome.id for outcome in asked)),
    )


def _ask(
    reader: ThirdPartyReader, cases: list[Case], format_name: str, settings: Settings
) -> Results:
    program, *arguments = reader.command
    if reader.needs is not None and not Path(reader.needs).exists():
        raise CannotStartError(f"{reader.needs} not found")
    if reader.needs is None and not Path(arguments[0]).exists():
        raise CannotStartError(f"{arguments[0]} not found; run it in a checkout")
    command = [sys.executable if program == "python" else program, *arguments]
    limits = Limits(reader.timeout, max(START_TIMEOUT, 2 * reader.timeout))
    testee = KeptAliveTestee(command, limits)
    results = Results(testee.start(), shlex.join(reader.command), "kept alive", "", (format_name,))
    return run(cases, (), [testee], results, settings=settings)


def _matrix(questions: Questions, asked: Iterable[Case], found: Found) -> list[str]:
    totals = Counter(map(questions.question_of, asked))
    tallies = [_Tally(questions, results) for _, results in found]
    rows = []
    for titles, word in ((questions.valid, "valid"), (questions.broken, "broken")):
        here = [title for title in titles if totals[title]]
        rows += [(title, *(t.cell(totals, [title]) for t in tallies)) for title in here]
        sums = (tally.cell(totals, here) for tally in tallies)
        rows.append((f"**all {word} {questions.things}**", *sums))
    return table(("question", *(reader.title for reader, _ in found)), rows)


class _Tally:
    """What one reader answered, by question."""

    def __init__(self, questions: Questions, results: Results) -> None:
        self._passed: Counter[str | None] = Counter()
        self._claimed: set[str | None] = set()
        valid: Counter[bool] = Counter()
        for outcome in results.outcomes:
            if outcome.verdict == "not claimed":  # to encode, for one
                continue
            title = questions.question_of(outcome.case)
            is_passed = questions.is_passed(outcome)
            self._claimed.add(title)
            self._passed[title] += is_passed
            valid[is_passed] += title in questions.valid
        if valid[False] > valid[True]:  # it would be right about broken ones for no good reason
            self._claimed.difference_update(questions.broken)

    def cell(self, totals: Counter[str | None], titles: Sequence[str]) -> str:
        if not self._claimed.intersection(titles):
            return "-"
        passed = sum(self._passed[title] for title in titles)
        total = sum(totals[title] for title in titles)
        return f"**{passed}/{total}**" if passed == total else f"{passed}/{total}"


def _settings(found: Found) -> list[str]:
    rows = [
        (reader.title, results.testee.version, f"`{results.command}`", reader.settings)
        for reader, results in found
    ]
    return table(("reader", "version", "command", "settings"), rows)


def _failures(questions: Questions, found: Found) -> list[str]:
    """Return the first case of each question that a reader fails; equal refusals appear once."""
    rows = []
    for reader, results in found:
        first: dict[str | None, Outcome] = {}
        for outcome in results.outcomes:
            if outcome.is_bad and not questions.is_passed(outcome):
                first.setdefault(questions.question_of(outcome.case), outcome)
        shown = [(t, first[t]) for t in (*questions.valid, *questions.broken) if t in first]
        reasons = Counter(_why(outcome) for _, outcome in shown)
        for title, outcome in shown:
            why = _why(outcome)
            many = reasons[why] if why.startswith("refused: ") else 1
            if many:
                question = title if many == 1 else f"{title}, and {many - 1} more"
                rows.append((reader.title, question, f"`{outcome.id}`", why))
            if why.startswith("refused: "):
                reasons[why] = 0
    if not rows:
        return []
    return table(("reader", "question", "first case that it fails", "what it does"), rows)


def _why(outcome: Outcome) -> str:
    if not outcome.differences:
        return _inline(outcome.problem)
    first = outcome.differences[0]
    if first.path:
        return _inline(str(first))
    # The whole answer is other than expected: a rejection, or none.
    word = first.got.replace("rejected at message 0: ", "refused: ")
    return _inline(outcome.problem if outcome.case.expect == "reject" else word)


def _inline(text: str) -> str:
    """Return text that fits into a cell."""
    return inline(shorten(" ".join(text.split()), _TEXT_LIMIT))
