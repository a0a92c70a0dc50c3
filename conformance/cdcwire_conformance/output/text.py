"""The report on the terminal: each failure with what was expected, what came, and at which byte."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.protocol.answers import Description
from cdcwire_conformance.run.exhibits import exhibit_of
from cdcwire_conformance.run.results import VERDICTS, Outcome, Results, Verdict
from cdcwire_conformance.visible import visible

DIFFERENCES_SHOWN = 8
STDERR_LINES_SHOWN = 12
_IDS_SHOWN = 6
_NUMBERS = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")
_TITLES: dict[Verdict, str] = {"expected failure": "expected"}


def report_lines(results: Results, *, failures_shown: int = 20) -> Iterator[str]:
    """Yield the whole report. ``failures_shown``: 0 shows all."""
    groups = list(grouped(results.bad()))
    shown = groups if not failures_shown else groups[:failures_shown]
    for outcomes in shown:
        yield from failure_lines(outcomes[0], others=outcomes[1:])
        yield ""
    if len(shown) < len(groups):
        yield f"{len(groups) - len(shown)} more failures are not shown (--show 0 shows all)"
        yield ""
    yield from summary_lines(results)


def summary_lines(results: Results) -> Iterator[str]:
    """Yield the table of counts, what is odd about the run, and its verdict."""
    yield f"{describe(results.testee)}, {results.door}; corpus {results.corpus_version}"
    yield ""
    yield from table_lines(results)
    yield ""
    for stale in results.stale:
        entry = f"{stale.pattern} ({stale.reason})"
        yield f"stale expected failure in line {stale.line}: {entry}: {stale.why}"
    elsewhere = sum(
        1 for outcome in results.outcomes if outcome.verdict == "passed" and outcome.notes
    )
    if elsewhere:
        yield (
            f"note: {_counted(elsewhere, 'rejection')} at another byte or path than the"
            " reference's (no failure)"
        )
    for note in results.notes:
        yield f"note: {note}"
    yield verdict_line(results)


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
    aside = f"; {_counted(others, 'failure')} that {'does' if others == 1 else 'do'} not bind"
    if not others:
        aside = ""
    if not results.was_run:
        return "NOTHING WAS RUN: every case is declined or skipped"
    if not results.has_failed:
        return f"PASSED: {results.count('passed')} of {_counted(results.was_run, 'case')}{aside}"
    reasons = [f"{binding} of {_counted(results.was_run, 'case')}"] if binding else []
    if results.stale:
        reasons.append(_counted(len(results.stale), "stale expected failure"))
    if results.count("not run"):
        reasons.append(f"{results.count('not run')} not run")
    return f"FAILED: {', '.join(reasons)}{aside}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def table_lines(results: Results) -> Iterator[str]:
    """Yield the counts: a line a format, and a line for what was derived from its cases."""
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
                title = f"{name}, malformed by rule" if derived else name
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


def grouped(outcomes: Iterable[Outcome]) -> Iterator[list[Outcome]]:
    """Yield failures one by one; those of one case by one rule, and equal crashes, together."""
    groups: dict[tuple[str, ...], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(_group_key(outcome), []).append(outcome)
    yield from groups.values()


def _group_key(outcome: Outcome) -> tuple[str, ...]:
    binding = str(outcome.is_binding)
    if outcome.verdict == "crashed" and outcome.stderr:
        return outcome.verdict, binding, outcome.problem, _NUMBERS.sub("0", outcome.stderr)
    if outcome.is_derived:
        return outcome.verdict, binding, outcome.id.partition(":")[0]
    return outcome.verdict, binding, outcome.id


def failure_lines(outcome: Outcome, *, others: Sequence[Outcome] = ()) -> Iterator[str]:
    """Yield all about one failure; ``others`` are like it."""
    case = outcome.case
    binding = "" if outcome.is_binding else ", does not bind"
    yield f"{outcome.verdict.upper()} {outcome.id} ({case.level}{binding}): {outcome.problem}"
    yield f"  {case.title}"
    if others:
        ids = ", ".join(_short_id(other, case) for other in others[:_IDS_SHOWN])
        more = ", …" if len(others) > _IDS_SHOWN else ""
        yield f"  and {len(others)} more like this: {ids}{more}"
    yield from _difference_lines(outcome)
    yield f"  clause: {', '.join(case.clauses)}"
    for note in outcome.notes:
        yield f"  note: {note}"
    exhibit = exhibit_of(outcome)
    if exhibit is not None:
        yield f"  {exhibit.title}:"
        for line in exhibit.lines:
            yield f"    {line}"
    if outcome.stderr:
        yield "  standard error of the testee:"
        lines = outcome.stderr.splitlines()
        if len(lines) > STDERR_LINES_SHOWN:
            yield f"    … {len(lines) - STDERR_LINES_SHOWN} lines before"
        for line in lines[-STDERR_LINES_SHOWN:]:
            yield f"    {visible(line.expandtabs())}"


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
