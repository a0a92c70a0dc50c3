"""Results as Markdown: for a pull request, a wiki, or the report of the project."""

from __future__ import annotations

from collections.abc import Iterator

from cdcwire_conformance.output.text import describe, grouped, verdict_line
from cdcwire_conformance.run.exhibits import exhibit_of
from cdcwire_conformance.run.results import VERDICTS, Outcome, Results

_FAILURES_SHOWN = 50
_DIFFERENCES_SHOWN = 8


def markdown_text(results: Results) -> str:
    """Return the document."""
    return "\n".join(_lines(results)) + "\n"


def _lines(results: Results) -> Iterator[str]:
    yield f"# {_inline(describe(results.testee))}"
    yield ""
    yield f"{verdict_line(results)} ({results.door}, corpus {results.corpus_version})"
    yield ""
    yield from count_table(results)
    for stale in results.stale:
        yield ""
        yield f"Stale expected failure: `{stale.pattern}` ({_inline(stale.reason)}): {stale.why}."
    for note in results.notes:
        yield ""
        yield f"Note: {_inline(note)}."
    groups = list(grouped(results.bad()))
    if groups:
        yield ""
        yield "## Failures"
    for outcomes in groups[:_FAILURES_SHOWN]:
        yield ""
        yield from _failure(outcomes[0], len(outcomes) - 1)
    if len(groups) > _FAILURES_SHOWN:
        yield ""
        yield f"{len(groups) - _FAILURES_SHOWN} more are not shown."


def count_table(results: Results) -> Iterator[str]:
    """Yield the counts as a table: a line a format, and one for what is malformed by rule."""
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
            title = f"{name}, malformed by rule" if derived else name
            yield f"| {title} | {total} | {' | '.join(numbers)} |"


def _failure(outcome: Outcome, others: int) -> Iterator[str]:
    case = outcome.case
    binding = "" if outcome.is_binding else ", does not bind"
    yield f"### `{outcome.id}` ({outcome.verdict}, {case.level}{binding})"
    yield ""
    yield f"{_inline(case.title)}. {_inline(outcome.problem).capitalize()}."
    yield f"Clause: {_inline(', '.join(case.clauses))}."
    if others:
        yield f"{others} more fail like this."
    if outcome.differences:
        yield ""
        yield "| where | expected | got | hint |"
        yield "| --- | --- | --- | --- |"
        for difference in outcome.differences[:_DIFFERENCES_SHOWN]:
            cells = (difference.where, difference.expected, difference.got, difference.hint)
            yield f"| {' | '.join(map(_inline, cells))} |"
    exhibit = exhibit_of(outcome)
    blocks = [] if exhibit is None else [(exhibit.title, list(exhibit.lines))]
    if outcome.stderr:
        blocks.append(("Standard error of the testee", outcome.stderr.splitlines()[-12:]))
    for title, lines in blocks:
        yield ""
        yield f"{title[:1].upper()}{title[1:]}:"
        yield ""
        yield from (f"    {line}" for line in lines)


def _inline(text: str) -> str:
    """Return text that Markdown takes as it stands, on one line and inside a table."""
    escaped = "".join(f"\\{sign}" if sign in "\\`*_|<>[]" else sign for sign in text)
    return " ".join(escaped.split())
