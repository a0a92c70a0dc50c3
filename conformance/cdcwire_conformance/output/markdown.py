"""Results as Markdown: for a pull request, a job summary of GitHub, or a wiki."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdcwire_conformance.corpus.derive import clauses_of
from cdcwire_conformance.judge.difference import shorten
from cdcwire_conformance.output.text import describe, remarks, stderr_lines, verdict_line
from cdcwire_conformance.run.excerpt import excerpt_of
from cdcwire_conformance.run.groups import SECTIONS, FailureGroup, failure_groups
from cdcwire_conformance.run.results import VERDICTS, Outcome, Results

_FAILURES_SHOWN = 25
_CLAUSES = 160  # of a row's clauses
_SIDE = 64  # of an expected or given value in a table
_DIFFERENCES_SHOWN = 8


def markdown_text(results: Results) -> str:
    """Return the document."""
    return "\n".join(_lines(results)) + "\n"


def _lines(results: Results) -> Iterator[str]:
    yield f"# {inline(describe(results.testee))}"
    yield ""
    yield f"{verdict_line(results)} ({results.mode}, corpus {results.corpus_version})"
    yield ""
    yield from count_table(results)
    for stale in results.stale:
        yield ""
        yield f"Stale expected failure: `{stale.pattern}` ({inline(stale.reason)}): {stale.why}."
    lines = list(remarks(results))
    if lines:
        yield ""
        yield from (f"- {inline(line)}" for line in lines)
    groups = failure_groups(results)
    if groups:
        yield ""
        yield "## What went wrong"
        yield from _group_tables(groups)
        yield ""
        yield "## The first case of each"
    shown: set[str] = set()
    for group in groups[:_FAILURES_SHOWN]:
        if group.first.id not in shown:
            shown.add(group.first.id)
            yield ""
            yield from _failure(group.first, len(group.outcomes) - 1)
    if len(groups) > _FAILURES_SHOWN:
        yield ""
        yield f"{len(groups) - _FAILURES_SHOWN} more kinds of failure have no example here."


def _group_tables(groups: Sequence[FailureGroup]) -> Iterator[str]:
    heading = ""
    for group in groups:
        binding = "must" if group.is_binding else "does not fail the run"
        title = f"{SECTIONS[group.section].capitalize()} ({binding})"
        if title != heading:
            heading = title
            yield ""
            yield f"**{title}**"
            yield ""
            yield "| cases | part | expected | got | first case | hint |"
            yield "| ---: | --- | --- | --- | --- | --- |"
        hint = "; ".join(filter(None, (group.hint, group.advice)))
        limit = _CLAUSES if group.clauses else _SIDE
        values = (shorten(side, limit) for side in group.change)
        cells = (group.title, *values, group.first.id, hint)
        yield f"| {len(group.outcomes)} | {' | '.join(map(inline, cells))} |"


def count_table(results: Results) -> Iterator[str]:
    """Yield the counts as a table: a line per format, and one for its derived cases."""
    verdicts = [
        verdict for verdict in VERDICTS if verdict == "passed" or results.count(verdict) > 0
    ]
    yield f"| format | cases | {' | '.join(verdicts)} |"
    yield f"| --- |{' ---: |' * (len(verdicts) + 1)}"
    for name in results.formats:
        for derived in (False, True):
            total = results.count(format_name=name, derived=derived)
            if not total:
                continue
            numbers = [
                str(results.count(verdict, format_name=name, derived=derived))
                for verdict in verdicts
            ]
            title = f"{name}, malformed" if derived else name
            yield f"| {title} | {total} | {' | '.join(numbers)} |"


def _failure(outcome: Outcome, others: int) -> Iterator[str]:
    case = outcome.case
    binding = "" if outcome.is_binding else ", does not bind"
    yield f"### `{outcome.id}` ({outcome.verdict}, {case.level}{binding})"
    yield ""
    yield f"{inline(case.title)}. {inline(outcome.problem).capitalize()}."
    yield f"Clause: {inline(', '.join(clauses_of(case)))}."
    if others:
        yield f"{others} more fail like this."
    if outcome.differences:
        yield ""
        yield "| where | expected | got | hint |"
        yield "| --- | --- | --- | --- |"
        for difference in outcome.differences[:_DIFFERENCES_SHOWN]:
            cells = (difference.where, difference.expected, difference.got, difference.hint)
            yield f"| {' | '.join(map(inline, cells))} |"
    excerpt = excerpt_of(outcome)
    blocks = [] if excerpt is None else [(excerpt.title, list(excerpt.lines))]
    if outcome.stderr:
        blocks.append(("Standard error of the testee", stderr_lines(outcome.stderr)))
    for title, lines in blocks:
        yield ""
        yield f"{title[:1].upper()}{title[1:]}:"
        yield ""
        yield from (f"    {line}" for line in lines)


def inline(text: str) -> str:
    """Return text escaped for Markdown, on one line, also inside a table."""
    escaped = "".join(f"\\{sign}" if sign in "\\`*_|<>[]" else sign for sign in text)
    return " ".join(escaped.split())
