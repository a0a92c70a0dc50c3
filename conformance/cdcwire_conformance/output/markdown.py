"""Results as Markdown: for a pull request, a job summary of GitHub, or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cdcwire.console.visible import visible, visible_lines
from cdcwire_conformance.output.text import describe, remarks, stderr_lines, verdict_line
from cdcwire_conformance.run.excerpt import excerpt_of
from cdcwire_conformance.run.groups import SECTIONS, FailureGroup, failure_groups
from cdcwire_conformance.run.results import VERDICTS, Outcome, Results

_FAILURES_SHOWN = 25
_DIFFERENCES_SHOWN = 8


def markdown_text(results: Results) -> str:
    """Return the document."""
    return visible_lines("\n".join(_lines(results))) + "\n"


def _lines(results: Results) -> Iterator[str]:
    yield f"# {inline(describe(results.testee))}"
    yield ""
    yield f"{verdict_line(results)} ({results.mode}, corpus {inline(results.corpus_version)})"
    yield ""
    yield from count_table(results)
    for stale in results.stale:
        yield ""
        reason, why = inline(stale.reason), inline(stale.why)
        yield f"Stale expected failure: {code(stale.pattern)} ({reason}): {why}."
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
            is_whole = results.stopped_at is not None and group is groups[0]
            yield from _failure(group.first, len(group.outcomes) - 1, is_whole=is_whole)
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
        cells = (group.title, *group.shown_change, group.first.id, hint)
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
            title = inline(f"{name}, malformed" if derived else name)
            yield f"| {title} | {total} | {' | '.join(numbers)} |"


def _failure(outcome: Outcome, others: int, *, is_whole: bool) -> Iterator[str]:
    case = outcome.case
    binding = "" if outcome.is_binding else ", does not bind"
    yield f"### {code(outcome.id)} ({outcome.verdict}, {case.level}{binding})"
    yield ""
    problem = inline(outcome.problem[:1].upper() + outcome.problem[1:])
    yield f"{inline(case.title)}. {problem}."
    yield f"Clause: {inline(', '.join(outcome.clauses))}."
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
        lines = stderr_lines(outcome.stderr, is_whole=is_whole)
        blocks.append(("Standard error of the testee", lines))
    for title, lines in blocks:
        yield ""
        yield f"{title[:1].upper()}{title[1:]}:"
        yield ""
        yield from code_block(lines)


# Entities where a dialect knows no backslash before the sign.
_MARKUP = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "\\`*_|[]#"},
        **{sign: f"&#{ord(sign)};" for sign in "$~"},
        "<": "&lt;",
        ">": "&gt;",
        "&": "&amp;",
    }
)
_ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_BLOCK = re.compile(r"(?=[-+=])|(?<=\d)(?=[.)])")


def inline(text: str) -> str:
    """Return text escaped for Markdown, on one line, also inside a table.

    Nothing in it becomes markup, HTML, a link or the beginning of a block.
    """
    escaped = visible(" ".join(text.split())).translate(_MARKUP)
    escaped = _ADDRESS.sub(lambda found: f"&#{ord(found[0])};", escaped)
    digits = len(escaped) - len(escaped.lstrip("0123456789"))
    begin = _BLOCK.match(escaped, digits)
    return escaped if begin is None else f"{escaped[:digits]}\\{escaped[digits:]}"


def code_block(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines as an indented block of code, which no line can end."""
    return (f"    {visible(line)}" for line in lines)


def code(text: str) -> str:
    """Return text as code in a line of Markdown, outside of tables."""
    shown = visible(" ".join(text.split()))
    ticks = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    space = " " if "`" in shown else ""
    return f"{ticks}{space}{shown}{space}{ticks}"
