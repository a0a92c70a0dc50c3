"""The pages of the cases: what a case says, its bytes, and which releases pass it.

The address of a page is the id of its case, which never changes: ``cases/craft/rows/big.html``.
Only cases that a run names have a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cdcwire.console.visible import shortened as cut
from cdcwire.model.events import path_text
from cdcwire.model.text import Json
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.clauses import Clause
from cdcwire_conformance.corpus.derive import SIGN
from cdcwire_conformance.corpus.rebuild import case_hexdump, json_text
from cdcwire_conformance.output.html.cases import case_facts, lines_of, shortened
from cdcwire_conformance.output.html.render import render_template
from cdcwire_conformance.output.results.history import Reader

_ENCODE = "encode"
_BAD = ("failed", "crashed", "timed out")
_STATES = {"passed": "good", **dict.fromkeys(_BAD, "bad")}
_WHY = 300  # characters
_PARTS_SHOWN = 8  # of what went wrong with messages derived from a case


@dataclass(slots=True)
class Answer:
    """What one release made of a case. ``parts``: of the messages derived from it, if they failed.

    ``corpus``: the version of the corpus at that time, if it is another one.
    """

    reader: str
    slug: str
    version: str
    verdict: str = ""
    why: str = ""
    encoding: str = ""
    parts: list[str] = field(default_factory=list)
    corpus: str = ""

    @property
    def state(self) -> str:
        """The class of its cells: good, bad or none."""
        if self.parts or self.encoding in _BAD:
            return "bad"
        return _STATES.get(self.verdict or self.encoding, "none")

    @property
    def parts_text(self) -> str:
        """The derived messages that it failed on."""
        more = len(self.parts) - _PARTS_SHOWN
        shown = ", ".join(self.parts[:_PARTS_SHOWN])
        return f"{shown} and {more} more" if more > 0 else shown


def answers_by_case(readers: Iterable[Reader], corpus: str) -> dict[str, list[Answer]]:
    """Return the answers of the newest run of each release, by the id of the case."""
    found: dict[str, list[Answer]] = {}
    for reader in readers:
        for release in reader.releases:
            run = release.judged
            if run is None:
                continue
            by_case: dict[str, Answer] = {}
            other = "" if run.corpus == corpus else run.corpus
            for outcome in run.outcomes:
                base, _, derived = outcome["id"].partition(SIGN)
                answer = by_case.get(base)
                if answer is None:
                    answer = Answer(reader.name, reader.slug, release.version, corpus=other)
                    by_case[base] = answer
                    found.setdefault(base, []).append(answer)
                _add(answer, derived, outcome)
    return found


def _add(answer: Answer, derived: str, outcome: Mapping[str, Json]) -> None:
    if not derived:
        answer.verdict, answer.why = outcome["verdict"], why_of(outcome)
    elif derived == _ENCODE:
        answer.encoding = outcome["verdict"]
        answer.why = answer.why or why_of(outcome)
    elif outcome["verdict"] in _BAD:
        answer.parts.append(derived)


def why_of(outcome: Mapping[str, Json]) -> str:
    """Return the first thing that is wrong with an answer, empty for a right one."""
    if outcome["verdict"] == "not claimed":
        return cut(str(outcome.get("reason", "")), _WHY)
    if outcome["verdict"] == "passed":
        return ""
    for difference in outcome.get("differences", ()):
        path = path_text(tuple(difference["path"])) or "answer"
        return cut(f"{path}: expected {difference['expected']}, got {difference['got']}", _WHY)
    return cut(str(outcome.get("problem", "")), _WHY)


def case_page(
    case: Case,
    answers: Sequence[Answer],
    witnesses: Sequence[str],
    clauses: Mapping[str, Clause],
) -> str:
    """Return the page of a case."""
    expected = ""
    if case.events is not None:
        expected = shortened(lines_of(json_text(case.events).rstrip()))
    elif case.error is not None:
        expected = lines_of(json_text(dict(case.error)).rstrip())
    return render_template(
        "results_case.html",
        title=case.id,
        root="../" * (case.id.count("/") + 1),
        case=case,
        expected=expected,
        facts=[(name, lines_of(text)) for name, text in case_facts(case, witnesses) if text],
        bytes=shortened(lines_of(case_hexdump(case).rstrip())),
        clauses=[(name, clauses[name].text if name in clauses else "") for name in case.clauses],
        answers=answers,
        has_encoding=any(answer.encoding for answer in answers),
    )


def index_page(format_name: str, cases: Sequence[Case], answers: Mapping[str, list[Answer]]) -> str:
    """Return the list of the cases of a format."""
    rows = []
    for case in cases:
        asked = [each for each in answers[case.id] if each.state != "none"]
        passed = sum(each.state == "good" for each in asked)
        rows.append((case, passed, len(asked)))
    return render_template(
        "results_cases.html", title=f"{format_name}: cases", root="../../", rows=rows
    )
