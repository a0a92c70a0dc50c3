"""The page of one run: verdict, groups of failures, and every case with its bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cdcwire.console.visible import visible
from cdcwire.model.text import Json
from cdcwire_conformance.corpus.store import case_sums
from cdcwire_conformance.corpus.witness import read_witnesses
from cdcwire_conformance.judge.difference import Difference
from cdcwire_conformance.output.html.cases import (
    case_details,
    case_row,
    lines_of,
    witness_names,
)
from cdcwire_conformance.output.html.page import (
    BAD_RESULTS,
    Cell,
    GroupLine,
    Matrix,
    MatrixRow,
    Page,
    State,
    clause_texts,
    link_to,
    reader_matrix,
)
from cdcwire_conformance.output.html.render import render_page
from cdcwire_conformance.output.text import describe, remarks, stderr_lines, verdict_line
from cdcwire_conformance.run.excerpt import focus_of
from cdcwire_conformance.run.groups import SECTIONS, FailureGroup, failure_groups
from cdcwire_conformance.run.results import VERDICTS, Outcome, Results

MOST_DETAILS = 400  # failures with their bytes, and the first of each group
_DIFFERENCES = 20
_REASONS = 12


def html_text(results: Results, witnesses: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the page of a run. Raises: MissingExtraError without Jinja2."""
    return render_page(page_of(results, witnesses or {}))


def witness_names_of(root: Path | None = None) -> Mapping[str, Sequence[str]]:
    """Return who confirms each case of a corpus. Raises: CorpusError."""
    witnesses = read_witnesses(root)
    return witness_names(witnesses, case_sums(root)) if witnesses else {}


def page_of(results: Results, witnesses: Mapping[str, Sequence[str]]) -> Page:
    """Return the page of a run. ``witnesses``: who confirms each case."""
    groups = failure_groups(results)
    detailed = _detailed(results, groups)
    ordered = [*results.bad(), *(each for each in results.outcomes if not each.is_bad)]
    whole = groups[0].first if results.stopped_at is not None else None
    rows = [_row(outcome, witnesses, is_whole=outcome is whole) for outcome in ordered]
    places = {outcome.id: place for place, outcome in enumerate(ordered)}
    details: dict[str, Json] = {
        visible(outcome.id): _details(outcome, witnesses.get(outcome.case.id, ()))
        for outcome in detailed
    }
    clauses = {clause for outcome in detailed for clause in outcome.clauses}
    data: dict[str, Json] = {
        "readers": [visible(describe(results.testee))],
        "rows": rows,
        "details": details,
        "clauses": clause_texts(clauses),
        "groups": [[places[outcome.id] for outcome in group.outcomes] for group in groups],
        "no_details": f"The page keeps the bytes of {len(detailed)} failures. "
        "`cdcwire corpus show ID` shows any case.",
    }
    state: State = "none" if not results.was_run else "bad" if results.has_failed else "good"
    return Page(
        title=f"Verdict on {visible(describe(results.testee))}",
        verdict=verdict_line(results),
        state=state,
        about=(
            visible(results.command),
            f"{results.mode}, corpus {results.corpus_version}, {results.seconds:.1f} s",
        ),
        matrices=(_counts(results, rows),),
        groups=tuple(_group_line(number, group) for number, group in enumerate(groups)),
        not_run=tuple(_not_run(results)),
        remarks=tuple(visible(line) for line in _remarks(results)),
        data=data,
    )


def _detailed(results: Results, groups: Sequence[FailureGroup]) -> list[Outcome]:
    """Return the failures whose bytes the page holds: the first of each group before others."""
    chosen = {group.first.id: group.first for group in groups}
    for outcome in results.bad():
        if len(chosen) >= MOST_DETAILS:
            break
        chosen.setdefault(outcome.id, outcome)
    return list(chosen.values())


def _row(
    outcome: Outcome, witnesses: Mapping[str, Sequence[str]], *, is_whole: bool
) -> dict[str, Json]:
    case = outcome.case
    row = case_row(
        case,
        [outcome.verdict],
        case_id=outcome.id,
        clauses=outcome.clauses if outcome.is_bad else (),
        witnesses=witnesses.get(case.id, ()),
    )
    if outcome.is_bad and not outcome.is_binding:
        row["aside"] = "does not bind"
    if outcome.problem:
        row["problem"] = lines_of(outcome.problem)
    if outcome.reason:
        row["reason"] = lines_of(outcome.reason)
    if outcome.differences:
        row["differences"] = list(map(_difference, outcome.differences[:_DIFFERENCES]))
        row["more"] = max(0, len(outcome.differences) - _DIFFERENCES)
    if outcome.stderr and outcome.verdict != "passed":
        row["stderr"] = "\n".join(stderr_lines(outcome.stderr, is_whole=is_whole))
    return row


def _difference(difference: Difference) -> Json:
    sides = (difference.where, difference.expected, difference.got, difference.hint)
    return [lines_of(text) for text in sides]


def _details(outcome: Outcome, witnesses: Sequence[str]) -> dict[str, Json]:
    details = case_details(outcome.case, witnesses=witnesses, focus=focus_of(outcome))
    details["notes"] = [lines_of(note) for note in outcome.notes]
    return details


def _counts(results: Results, rows: Sequence[Mapping[str, Json]]) -> Matrix:
    """Return how many cases passed, by format and clause, and how many have other verdicts."""
    others = [verdict for verdict in VERDICTS if verdict != "passed" and results.count(verdict) > 0]
    stored = reader_matrix("", ("stored",), [row for row in rows if not _is_derived(row)])
    parts = {row.title: row for row in stored.rows}
    lines = []
    for name in results.formats:
        if not results.count(format_name=name):
            continue
        malformed = _passed_of(results, name, derived=True)
        counts = (
            Cell(
                f"{number:,}" if (number := results.count(verdict, format_name=name)) else "",
                "bad" if number and verdict in BAD_RESULTS else "none",
                link_to(format=name, result=verdict) if number else "",
            )
            for verdict in others
        )
        known = parts.get(name)
        blank = (Cell(""),) * (len(others) + 1)
        lines.append(
            MatrixRow(
                name,
                (_passed_of(results, name, derived=False), malformed, *counts),
                tuple(
                    MatrixRow(part.title, part.cells + blank)
                    for part in (known.parts if known else ())
                ),
            )
        )
    columns = ("stored cases", "malformed cases", *others)
    return Matrix("Passed of those asked", columns, tuple(lines)).without_empty_columns()


def _is_derived(row: Mapping[str, Json]) -> bool:
    return "@" in str(row["id"]) and not str(row["id"]).endswith("@encode")


def _passed_of(results: Results, name: str, *, derived: bool) -> Cell:
    passed = results.count("passed", format_name=name, derived=derived)
    asked = passed + results.count(
        "failed", "crashed", "timed out", "expected failure", format_name=name, derived=derived
    )
    if not asked:
        return Cell("")
    link = link_to(format=name) if passed == asked else link_to(format=name, result="not passed")
    return Cell(f"{passed:,}/{asked:,}", "good" if passed == asked else "bad", link)


def _group_line(number: int, group: FailureGroup) -> GroupLine:
    binding = "must" if group.is_binding else "does not fail the run"
    expected, got = group.change
    if group.clauses:
        expected, got = f"a rejection by {expected}", "accepted"
    return GroupLine(
        section=f"{SECTIONS[group.section].capitalize()} ({binding})",
        number=len(group.outcomes),
        part=visible(group.title),
        expected=visible(expected),
        got=visible(got),
        first=visible(group.first.id),
        notes=visible("; ".join(filter(None, (group.hint, group.advice)))),
        link=link_to(group=str(number)),
    )


def _not_run(results: Results) -> Iterator[str]:
    """Yield what the testee was not asked, by reason."""
    reasons: dict[str, int] = {}
    for outcome in results.outcomes:
        if outcome.verdict in ("not claimed", "skipped", "not run"):
            why = f"{outcome.verdict}: {outcome.reason}" if outcome.reason else outcome.verdict
            reasons[why] = reasons.get(why, 0) + 1
    ordered = sorted(reasons.items(), key=lambda item: -item[1])
    for why, number in ordered[:_REASONS]:
        yield f"{number:,} {'case' if number == 1 else 'cases'}, {visible(why)}"
    rest = sum(number for _, number in ordered[_REASONS:])
    if rest:
        yield f"{rest:,} cases for {len(ordered) - _REASONS} other reasons"


def _remarks(results: Results) -> Iterator[str]:
    for stale in results.stale:
        yield f"Stale expected failure: {stale.pattern} ({stale.reason}): {stale.why}"
    yield from remarks(results)
