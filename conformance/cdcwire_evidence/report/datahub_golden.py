"""What DataHub's SDKs make of golden cases, as tables: by group of cases, and what fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.judge.difference import shorten
from cdcwire_conformance.output.markdown import inline
from cdcwire_conformance.run.results import Outcome, Results
from cdcwire_evidence.report.part import ReaderScore, left_out, table

# Groups of the corpus, by what they ask of an SDK.
_VALID: Mapping[str, str] = MappingProxyType(
    {
        "bodies": "bodies, and their compressions",
        "batch": "layouts of batches",
        "fields": "values of fields",
        "types": "values of fields",
        "null": "NULL, and the empty text",
        "producer": "bodies that an SDK wrote",
    }
)
_OTHER = "rows"
_BROKEN: Mapping[str, str] = MappingProxyType(
    {
        "reject-bodies": "refuses: broken bodies",
        "reject-protobuf": "refuses: broken frames and protobuf",
        "reject-batch": "refuses: broken batches",
        "reject-compression": "refuses: broken compressions, bombs",
        "reject-fields": "refuses: invalid values",
    }
)
_HEAD = (
    "Golden cases of `datahub-tuple` and `datahub-blob`, served as answers; a put is made one, "
    "with its records byte for byte. A cell: how many come out as the format says. An SDK that "
    "reads malformed data does no harm by itself, but two readers may differ there."
)
_TEXT_LIMIT = 120

Found: TypeAlias = "Sequence[tuple[str, Results]]"


def golden_lines(found: Found) -> list[str]:
    """Return the tables of what came out, by the names of the SDKs."""
    return [_HEAD, "", *_matrix(found), "", *_failures(found)]


def golden_scores(found: Found) -> Iterator[ReaderScore]:
    """Yield the score of each SDK for each format."""
    for name, results in found:
        for format_name in dict.fromkeys(outcome.case.format for outcome in results.outcomes):
            own = [outcome for outcome in results.outcomes if outcome.case.format == format_name]
            asked = [outcome for outcome in own if outcome.verdict != "not claimed"]
            failing = tuple(outcome.id for outcome in asked if outcome.verdict != "passed")
            yield ReaderScore(
                name,
                results.testee.version,
                "library",
                results.command,
                format_name,
                len(asked),
                len(asked) - len(failing),
                len(own) - len(asked),
                failing,
                left_out(format_name, (outcome.id for outcome in asked)),
            )


def _title(case: Case) -> str:
    return _BROKEN[case.group] if case.expect == "reject" else _VALID.get(case.group, _OTHER)


def _titles() -> list[str]:
    return [*dict.fromkeys(_VALID.values()), _OTHER, *_BROKEN.values()]


def _asked(results: Results) -> list[Outcome]:
    return [outcome for outcome in results.outcomes if outcome.verdict != "not claimed"]


def _matrix(found: Found) -> list[str]:
    passed: list[Counter[str]] = []
    totals: list[Counter[str]] = []
    for _, results in found:
        asked = _asked(results)
        totals.append(Counter(_title(outcome.case) for outcome in asked))
        good = (outcome for outcome in asked if outcome.verdict == "passed")
        passed.append(Counter(_title(outcome.case) for outcome in good))
    rows = []
    for title in _titles():
        if any(total[title] for total in totals):
            cells = zip(passed, totals, strict=True)
            rows.append((title, *(_cell(some[title], all_[title]) for some, all_ in cells)))
    return table(("golden cases", *(name for name, _ in found)), rows)


def _cell(passed: int, total: int) -> str:
    return f"**{passed}/{total}**" if passed == total else f"{passed}/{total}"


def _failures(found: Found) -> list[str]:
    """Return the valid cases that fail, and the broken ones of each group by name."""
    rows = []
    for name, results in found:
        bad = [outcome for outcome in _asked(results) if outcome.verdict != "passed"]
        for outcome in bad:
            if outcome.case.expect == "accept":
                rows.append((name, _title(outcome.case), f"`{outcome.id}`", _why(outcome)))
        for title in _BROKEN.values():
            ids = [
                outcome.id.rpartition("/")[2] for outcome in bad if _title(outcome.case) == title
            ]
            if ids:
                names = ", ".join(f"`{id_}`" for id_ in ids)
                rows.append((name, title, names, "reads them"))
    return table(("SDK", "question", "cases that it fails", "what it does"), rows) if rows else []


def _why(outcome: Outcome) -> str:
    text = str(outcome.differences[0]) if outcome.differences else outcome.problem
    return inline(shorten(" ".join(text.split()), _TEXT_LIMIT))
