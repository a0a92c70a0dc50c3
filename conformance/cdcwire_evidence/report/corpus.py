"""The chapters about the corpus: known-wrong decoders, witnesses, clauses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from cdcwire.core.registry import FORMAT_NAMES, get_format
from cdcwire.model.carries import EVENT_FIELDS, KINDS, CarryVerdict
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import case_sums
from cdcwire_conformance.corpus.witness import confirmations, read_witnesses
from cdcwire_conformance.known_wrong.catch import catching_case
from cdcwire_conformance.suite import get_suite
from cdcwire_evidence.report.part import Part, table

_MISSED = "**not caught**"


def known_wrong_part(cases: Sequence[Case]) -> Part:
    """Tell which case catches which known-wrong decoder."""
    part = Part("Known-wrong decoders", "pytest tests/conformance/known_wrong")
    caught: dict[tuple[str, str], list[str]] = {}
    for format_name in FORMAT_NAMES:
        for known_wrong in get_suite(format_name).known_wrong:
            case = catching_case(known_wrong, format_name, cases) or f"{_MISSED} in {format_name}"
            part.failed |= case.startswith(_MISSED)
            caught.setdefault((known_wrong.name, known_wrong.fault), []).append(case)
    rows = [(name, fault, "<br>".join(found)) for (name, fault), found in caught.items()]
    part.lines = [
        f"{len(rows)} decoders with one fault each, which real decoders had. A case catches each:",
        "",
        *table(("decoder", "fault", "first case that catches it, a format a line"), rows),
    ]
    return part


def witnesses_part(cases: Sequence[Case]) -> Part:
    """Tell who confirms the cases."""
    witnesses = read_witnesses()
    part = Part("Who confirms the golden cases", "cdcwire witness")
    names = [f"{w.name} {w.version} ({w.language})" for w in witnesses]
    part.lines = [
        "Beside the reference, the bytes or their meaning come from a producer, or were read or "
        f"written alike by: {', '.join(names) or 'nobody yet'}.",
        "",
    ]
    rows = []
    alone: list[str] = []
    for name, found in confirmations(cases, case_sums(), witnesses).items():
        rows.append((name, found.cases, found.by_producer, found.by_others, len(found.by_nobody)))
        alone += found.by_nobody
    share = f"{len(alone) / max(len(cases), 1):.1%} of {len(cases):,} cases"
    head = ("format", "cases", "written by a producer", "confirmed by others", "by nobody else")
    part.lines += table(head, rows)
    if alone:
        listed = ", ".join(f"`{case_id}`" for case_id in alone)
        part.lines += ["", f"Confirmed by their author only, {share}: {listed}"]
    return part


def clauses_part(cases: Iterable[Case]) -> Part:
    """Tell how many cases show each clause, and which known bugs have a case."""
    cases = tuple(cases)
    part = Part("Clauses", "cdcwire corpus check")
    counts: Counter[tuple[str, str]] = Counter()
    for case in cases:
        for clause in case.clauses:
            counts[clause, "reject" if case.expect == "reject" else "accept"] += 1
    rows = []
    for name in FORMAT_NAMES:
        clauses = sorted({clause for clause, _ in counts if clause.split(":")[0] == name})
        thin = min(clauses, key=lambda c: counts[c, "accept"] + counts[c, "reject"])
        rows.append(
            (
                name,
                len(clauses),
                sum(counts[clause, "accept"] for clause in clauses),
                sum(counts[clause, "reject"] for clause in clauses),
                f"{thin.partition(': ')[2]} ({counts[thin, 'accept'] + counts[thin, 'reject']})",
            )
        )
    head = ("format", "clauses, all with cases", "accept and encode", "reject", "thinnest clause")
    part.lines = table(head, rows)
    bugs = {bug for case in cases for bug in case.bugs}
    part.lines += ["", f"{len(bugs)} names of faults that real decoders had are named by cases."]
    return part


def carries_part() -> Part:
    """Tell what each format can carry."""
    part = Part("What each format carries", "pytest tests/laws/test_carries.py")
    formats = [get_format(name) for name in FORMAT_NAMES]
    part.lines = [
        "· comes back equal; *as* comes back in another form with the same meaning; *option* needs "
        "it set; *lossy* loses what is said; blank can't be carried. A property proves each cell.",
        "",
    ]
    for title, names in (("event field", EVENT_FIELDS), ("kind", KINDS)):
        rows = [
            (
                name,
                *(
                    _verdict(
                        (f.carries.fields if title == "event field" else f.carries.kinds)[name]
                    )
                    for f in formats
                ),
            )
            for name in names
        ]
        part.lines += [*table((title, *(f.name for f in formats)), rows), ""]
    return part


def _verdict(verdict: CarryVerdict) -> str:
    match verdict.verdict:
        case "exact":
            return "·"
        case "no":
            return ""
        case "option":
            return f"option `{verdict.detail}`"
        case _:
            return str(verdict)
