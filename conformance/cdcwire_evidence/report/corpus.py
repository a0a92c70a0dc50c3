"""The chapters about the corpus: known-wrong decoders, generated messages, witnesses, clauses.

Generated messages: how many it takes until one shows each known-wrong decoder. The decoders of a
format read the same samples, in this process. A decoder is found when the judge fails its answer.
Some of those that were found are then searched for as ``verify --property`` does, to see how small
the shrunk sample is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from cdcwire.extras import MissingExtraError, load_extra
from cdcwire.model.carries import EVENT_FIELDS, KINDS, CarryVerdict
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import case_sums
from cdcwire_conformance.corpus.witness import confirmations, read_witnesses
from cdcwire_conformance.run.catch import catching_case
from cdcwire_conformance.suite import get_suite
from cdcwire_evidence.report.part import Evidence, KnownWrongResult, NotRun, Part, table

KNOWN_WRONG = "Known-wrong decoders"
WITNESSES = "Who confirms the golden cases"
CLAUSES = "Clauses"
CARRIES = "What each format carries"
_MISSED = "**not caught**"


def known_wrong_part(cases: Sequence[Case]) -> Part:
    """Show which case catches each known-wrong decoder."""
    part = Part(KNOWN_WRONG, "pytest tests/conformance/known_wrong")
    caught: dict[tuple[str, str], list[str]] = {}
    for format_name in FORMAT_NAMES:
        for wrong in get_suite(format_name).known_wrong:
            case = catching_case(wrong, format_name, cases)
            part.known_wrong.append(KnownWrongResult(wrong.name, wrong.fault, format_name, case))
            if case is None:
                part.attention.append(f"no case of {format_name} catches `{wrong.name}`")
            shown = case or f"{_MISSED} in {format_name}"
            caught.setdefault((wrong.name, wrong.fault), []).append(shown)
    part.asked = len(part.known_wrong)
    part.passed = sum(each.case is not None for each in part.known_wrong)
    rows = [(name, fault, "<br>".join(found)) for (name, fault), found in caught.items()]
    part.lines = [
        f"{len(rows)} decoders with one fault each, which real decoders had. A case catches each:",
        "",
        *table(("decoder", "fault", "first case that catches it, per format"), rows),
    ]
    return part


def witnesses_part(cases: Sequence[Case]) -> Part:
    """Show who confirms the cases."""
    witnesses = read_witnesses()
    part = Part(WITNESSES, "cdcwire witness")
    names = [f"{w.name} {w.version} ({w.language})" for w in witnesses]
    part.lines = [
        "A case is confirmed if a producer wrote its bytes. It is also confirmed if an independent "
        "implementation reads or writes them as the reference does. These are: "
        f"{', '.join(names) or 'none yet'}.",
        "",
    ]
    part.evidence = [
        Evidence(name, found.cases, found.by_producer, found.by_others, found.by_nobody)
        for name, found in confirmations(cases, case_sums(), witnesses).items()
    ]
    alone = [case_id for each in part.evidence for case_id in each.author_only]
    rows = [(e.format, e.cases, e.producer, e.others, len(e.author_only)) for e in part.evidence]
    head = ("format", "cases", "from a producer", "confirmed by others", "author only")
    part.lines += table(head, rows)
    if alone:
        share = f"{len(alone) / max(len(cases), 1):.1%} of {len(cases):,} cases"
        listed = ", ".join(f"`{case_id}`" for case_id in alone)
        part.lines += ["", f"Confirmed by their author only, {share}: {listed}"]
    return part


def clauses_part(cases: Iterable[Case]) -> Part:
    """Count how many cases show each clause, and which known bugs have a case."""
    cases = tuple(cases)
    part = Part(CLAUSES, "cdcwire corpus check")
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
    """Show what each format can carry."""
    part = Part(CARRIES, "pytest tests/laws/test_carries.py")
    formats = [get_format(name) for name in FORMAT_NAMES]
    part.lines = [
        "· comes back equal; *as* comes back in another form with the same meaning. *option*: the "
        "option must be set. *lossy*: the named part is lost. Blank: can't be carried. A property "
        "proves each cell.",
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


GENERATED = "Known-wrong decoders and generated messages"
SAMPLES = 2000
_SHRUNK = 2  # decoders of a format; to shrink one takes longer than to find many
_SECONDS_TO_SHRINK = 10.0


def generated_part(
    cases: Sequence[Case], names: Sequence[str] = FORMAT_NAMES, samples: int = SAMPLES
) -> Part:
    """Search each known-wrong decoder of some formats with generated messages."""
    part = Part(GENERATED, f"cdcwire verify FORMAT --property {samples} -- COMMAND")
    try:
        load_extra("hypothesis", "generators", "the search")
    except MissingExtraError as error:
        part.not_run.append(NotRun(GENERATED, str(error), "pip install '.[generators]'"))
        return part
    from cdcwire_conformance.property.known_wrong_search import (
        ONLY_MALFORMED,
        find,
        reason,
        size_of,
        smallest,
    )

    rows, missed, shrunk = list[tuple[object, ...]](), list[tuple[str, ...]](), []
    for name in names:
        wrongs = {wrong.name: wrong for wrong in get_suite(name).known_wrong}
        found = find(name, samples, tuple(wrongs.values()))
        reasons = [reason(wrong, name, cases) for wrong in found.missed]
        missed += [
            (name, f"`{wrong.name}`", wrong.fault, why)
            for wrong, why in zip(found.missed, reasons, strict=True)
        ]
        numbers = sorted(found.at.values()) or [0]
        findable = len(wrongs) - reasons.count(ONLY_MALFORMED)
        rows.append(
            (name, len(wrongs), findable, len(found.at), f"{median(numbers):.0f}", numbers[-1])
        )
        for wrong_name in [*found.at][:: max(len(found.at) // _SHRUNK, 1)][:_SHRUNK]:
            wrong, number = wrongs[wrong_name], found.at[wrong_name]
            outcome = smallest(wrong, name, number, _SECONDS_TO_SHRINK)
            if outcome is not None:
                shrunk.append((name, f"`{wrong_name}`", wrong.fault, *size_of(outcome.case)))
    head = ("format", "decoders", "shown by valid messages", "found", "median", "last")
    part.lines = [
        f"All known-wrong decoders of a format read the same {samples:,} generated samples. "
        "Valid golden cases catch those in the third column. *median* and *last* give the number "
        "of the first sample that a decoder misreads.",
        "",
        *table(head, rows),
        "",
        "### Not found",
        "",
        *table(("format", "decoder", "fault", "reason"), missed),
        "",
        "### Shrunk",
        "",
        f"The smallest failing sample of {_SHRUNK} decoders per format, after at most "
        f"{_SECONDS_TO_SHRINK:.0f} seconds of shrinking:",
        "",
        *table(("format", "decoder", "fault", "events", "columns"), shrunk),
    ]
    return part
