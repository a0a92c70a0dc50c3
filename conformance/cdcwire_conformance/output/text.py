"""The report on the terminal: what went wrong in groups, then the first case of each in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from cdcwire.console.visible import visible
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.judge.difference import shorten
from cdcwire_conformance.protocol.answers import Description
from cdcwire_conformance.run.excerpt import excerpt_of
from cdcwire_conformance.run.groups import (
    SECTIONS,
    FailureGroup,
    failure_groups,
    reason_lines,
)
from cdcwire_conformance.run.results import VERDICTS, Outcome, Results, Verdict

DIFFERENCES_SHOWN = 8
STDERR_ENDS_SHOWN = 6
_IDS_SHOWN = 6
_LEAKS_SHOWN = 5
_TITLES: dict[Verdict, str] = {"expected failure": "expected"}


def report_lines(results: Results, *, failures_shown: int = 10) -> Iterator[str]:
    """Yield the whole report: what went wrong in groups, the first case of each, the counts.

    ``failures_shown``: of how many groups the first case is shown; 0 shows all. Every line is fit
    for a terminal.
    """
    yield from map(visible, _report_lines(results, failures_shown))


def _report_lines(results: Results, failures_shown: int) -> Iterator[str]:
    groups = failure_groups(results)
    if groups:
        yield verdict_line(results)
        yield ""
        yield from group_lines(groups)
        yield ""
    shown = groups if not failures_shown else groups[:failures_shown]
    already: set[str] = set()
    for group in shown:
        if group.first.id not in already:
            already.add(group.first.id)
            is_whole = results.stopped_at is not None and group is groups[0]
            yield from failure_lines(group.first, others=group.outcomes[1:], is_whole=is_whole)
            yield ""
    if len(shown) < len(groups):
        left = _counted(len(groups) - len(shown), "more kind")
        yield f"{left} of failure without an example here (--show 0 shows all)"
        yield ""
    yield from summary_lines(results)


def group_lines(groups: Sequence[FailureGroup]) -> Iterator[str]:
    """Yield the groups: how many cases, which part, expected and got, the first case, a hint."""
    heading = ""
    width = len(str(max((len(group.outcomes) for group in groups), default=0)))
    for group in groups:
        binding = "must" if group.is_binding else "does not fail the run"
        title = f"{SECTIONS[group.section]} ({binding}):"
        if title != heading:
            yield title
            heading = title
        yield f"  {len(group.outcomes):>{width}}  {group.name}"
        notes = [f"first {group.first.id}", *filter(None, (group.hint, group.advice))]
        yield f"  {'':>{width}}    {'; '.join(notes)}"


def summary_lines(results: Results) -> Iterator[str]:
    """Yield the table of counts, what is odd about the run, and its verdict."""
    yield f"{describe(results.testee)}, {results.mode}; corpus {results.corpus_version}"
    yield ""
    yield from table_lines(results)
    yield ""
    for stale in results.stale:
        entry = f"{stale.pattern} ({stale.reason})"
        yield f"stale expected failure in line {stale.line}: {entry}: {stale.why}"
    yield from remarks(results)
    yield verdict_line(results)


def remarks(results: Results) -> Iterator[str]:
    """Yield what is odd about a run: state leaks, cases that were left out, notes.

    The first line says whether a claim is met, where there is one.
    """
    if results.claim is not None:
        passed, number = results.count("passed"), results.claim.cases
        verdict = "not met" if results.has_failed else "met"
        yield f"{results.claim.name}: {verdict}, {passed} of {_counted(number, 'case')} passed"
    if results.leaks:
        yield (
            f"state leaks between messages: {_counted(len(results.leaks), 'case')} changed when "
            "asked again in a fresh process; the second answer counts"
        )
        for leak in results.leaks[:_LEAKS_SHOWN]:
            yield f"  {leak.id}: {shorten(leak.first)}; fresh: {shorten(leak.fresh)}"
        if len(results.leaks) > _LEAKS_SHOWN:
            yield f"  and {len(results.leaks) - _LEAKS_SHOWN} more"
    elsewhere = sum(
        1 for outcome in results.outcomes if outcome.verdict == "passed" and outcome.notes
    )
    if elsewhere:
        yield (
            f"note: {_counted(elsewhere, 'rejection')} at another byte or path than the"
            " reference's (no failure)"
        )
    if results.left_out:
        named = ", ".join(f"{name} {number}" for name, number in results.left_out.most_common(3))
        more = ", …" if len(results.left_out) > 3 else ""
        total = _counted(results.left_out.total(), "malformed case")
        yield f"note: {total} not run after crashes on similar ones (--max-crashes): {named}{more}"
    if results.stopped_at is not None:
        yield "note: the other cases were not run; --max-crashes 0 runs them all the same"
    for note in results.notes:
        yield f"note: {note}"
    run = results.property_run
    if run is not None:
        budget = f"up to {run.examples} per format and direction"
        yield f"note: {counts_text(run)}"
        yield f"note: generated messages, {budget}; --seed {run.seed} generates them again"
        yield from (f"saved: {file}" for file in run.saved)


class SearchCounts(Protocol):
    """The counts of a search with generated messages."""

    @property
    def asked(self) -> int:
        """How many different messages the testee was asked."""

    @property
    def kinds(self) -> int:
        """How many kinds of failure were seen."""

    @property
    def shrinks(self) -> int:
        """How many times a smaller message of a kind was found."""


def counts_text(found: SearchCounts) -> str:
    """Return how many messages were generated, and what failed."""
    text = _counted(found.asked, "generated message")
    if not found.kinds:
        return f"{text}, no failure"
    return (
        f"{text}, {_counted(found.kinds, 'kind')} of failure, {_counted(found.shrinks, 'shrink')}"
    )


def describe(testee: Description) -> str:
    """Return a testee's name, version and language."""
    version = f" {testee.version}" if testee.version else ""
    language = f" ({testee.language})" if testee.language else ""
    return f"{testee.name}{version}{language}"


def verdict_line(results: Results) -> str:
    """Return the one line that says it all."""
    bad = list(results.bad())
    binding = sum(1 for outcome in bad if outcome.is_binding)
    others = len(bad) - binding
    aside = f"; {_counted(others, 'non-binding failure')}"
    if not others:
        aside = ""
    run = _counted(results.was_run, "case")
    if results.is_interrupted:
        return f"INTERRUPTED: {binding} of {run} failed so far{aside}"
    if results.stopped_at is not None:
        return f"STOPPED: the first {run} ended in the same crash; nothing was answered"
    if not results.was_run and results.property_run is not None:
        return "NOTHING WAS RUN: each generated message needs something that the testee declines"
    if not results.was_run:
        return "NOTHING WAS RUN: every case is declined or skipped"
    if not results.has_failed:
        return f"PASSED: {results.count('passed')} of {run}{aside}"
    reasons = [f"{binding} of {run}"] if binding else []
    if results.stale:
        reasons.append(_counted(len(results.stale), "stale expected failure"))
    if results.leaks:
        reasons.append(_counted(len(results.leaks), "state leak"))
    if not reasons and results.claim is not None:
        reasons.append(f"{results.claim.name} is not met")
    return f"FAILED: {', '.join(reasons)}{aside}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def table_lines(results: Results) -> Iterator[str]:
    """Yield the counts: a line per format, and a line for the cases derived from its cases."""
    rows: list[list[str]] = []
    verdicts = [
        verdict for verdict in VERDICTS if verdict == "passed" or results.count(verdict) > 0
    ]
    for name in results.formats:
        for derived in (False, True):
            total = results.count(format_name=name, derived=derived)
            if total:
                numbers = [
                    results.count(verdict, format_name=name, derived=derived)
                    for verdict in verdicts
                ]
                title = f"{name}, malformed" if derived else name
                rows.append([title, str(total), *map(str, numbers)])
    headings = ["format", "cases", *(_TITLES.get(verdict, verdict) for verdict in verdicts)]
    yield from aligned([headings, *rows])


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as columns: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *numbers = (
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join([first, *numbers]).rstrip()


def failure_lines(
    outcome: Outcome, *, others: Sequence[Outcome] = (), is_whole: bool = False
) -> Iterator[str]:
    """Yield all about one failure; ``others`` are like it. ``is_whole``: all of standard error."""
    case = outcome.case
    binding = "" if outcome.is_binding else ", does not bind"
    yield f"{outcome.verdict.upper()} {outcome.id} ({case.level}{binding}): {outcome.problem}"
    yield f"  {case.title}"
    if others:
        ids = ", ".join(_short_id(other, case) for other in others[:_IDS_SHOWN])
        more = ", …" if len(others) > _IDS_SHOWN else ""
        yield f"  and {len(others)} more like this: {ids}{more}"
    yield from _difference_lines(outcome)
    yield f"  clause: {', '.join(outcome.clauses)}"
    for note in outcome.notes:
        yield f"  note: {note}"
    excerpt = excerpt_of(outcome)
    if excerpt is not None:
        yield f"  {excerpt.title}:"
        for line in excerpt.lines:
            yield f"    {line}"
    if outcome.stderr:
        yield "  standard error of the testee:"
        for line in stderr_lines(outcome.stderr, is_whole=is_whole):
            yield f"    {line}"


def stderr_lines(text: str, *, is_whole: bool = False) -> list[str]:
    """Return the first and the last lines of standard error, and those that give the reason.

    ``is_whole``: all lines. Their number is bounded where standard error is read.
    """
    lines = [visible(line.expandtabs()) for line in text.splitlines()]
    if is_whole or len(lines) <= 2 * STDERR_ENDS_SHOWN:
        return lines
    ends = {*range(STDERR_ENDS_SHOWN), *range(len(lines) - STDERR_ENDS_SHOWN, len(lines))}
    shown: list[str] = []
    last = -1
    for place in sorted(ends | reason_lines(lines)):
        if place > last + 1:
            shown.append(f"… {_counted(place - last - 1, 'line')} left out")
        shown.append(lines[place])
        last = place
    return shown


def _short_id(outcome: Outcome, case: Case) -> str:
    """Return an id, without its beginning where that is the id of the case shown."""
    base = case.id.partition("@")[0]
    return outcome.id.removeprefix(base) if outcome.id.startswith(f"{base}@") else outcome.id


def _difference_lines(outcome: Outcome) -> Iterator[str]:
    for difference in outcome.differences[:DIFFERENCES_SHOWN]:
        if difference.path:
            yield f"  {difference.where}"
        yield f"    expected  {difference.expected}"
        yield f"    got       {difference.got}"
        if difference.hint:
            yield f"    hint      {difference.hint}"
    left = len(outcome.differences) - DIFFERENCES_SHOWN
    if left > 0:
        yield f"  and {left} more differences"
