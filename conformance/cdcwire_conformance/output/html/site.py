"""A small site: each reader's score on each question, and every stored case with its bytes.

``index.html`` holds the list of cases. The details of the cases are in one script per format, so
that the site also works from a folder, without a server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cdcwire.console.visible import visible
from cdcwire.model.text import Json
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.output.html.cases import case_details, case_row, lines_of
from cdcwire_conformance.output.html.page import (
    Cell,
    Matrix,
    Page,
    State,
    clause_texts,
    link_to,
    reader_matrix,
)
from cdcwire_conformance.output.html.render import render_page, script_json

DETAILS_FOLDER = "cases"
_MATRIX = "Cases that each reader passed, of those it was asked"
_STATES: Mapping[str, State] = {"passed": "good", "failed": "bad"}
_DERIVED_SHOWN = 8

Witnesses = Mapping[str, Sequence[str]]


def write_site(
    folder: Path,
    page: Page,
    cases: Sequence[Case],
    witnesses: Witnesses,
    progress: Callable[[str], None],
) -> None:
    """Write the site with this page. Raises: OSError, MissingExtraError without Jinja2."""
    (folder / DETAILS_FOLDER).mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(render_page(page), encoding="utf-8")
    for name in dict.fromkeys(case.format for case in cases):
        progress(f"the cases of {name}")
        script = details_script(name, [case for case in cases if case.format == name], witnesses)
        (folder / _details_file(name)).write_text(script, encoding="ascii")


def site_page(report: Mapping[str, Json], cases: Sequence[Case], witnesses: Witnesses) -> Page:
    """Return the page of a report. ``witnesses``: who confirms each case."""
    readers = report["readers"]
    names = [visible(f"{reader['name']} {reader['version']}".strip()) for reader in readers]
    rows = [case_row(case, (), witnesses=witnesses.get(case.id, ())) for case in cases]
    _add_answers(rows, readers)
    made, verdict = report["made"], report["verdict"]
    checks = verdict["checks"]
    changed = ", with changes" if made["changed"] else ""
    data: dict[str, Json] = {
        "readers": names,
        "rows": rows,
        "details": {},
        "files": {name: _details_file(name) for name in {case.format for case in cases}},
        "clauses": clause_texts(clause for case in cases for clause in case.clauses),
    }
    return Page(
        title="Report",
        verdict=f"{verdict['status'].upper()}: {checks['passed']:,} of {checks['asked']:,} checks "
        "passed",
        state=_STATES.get(verdict["status"], "none"),
        about=(
            visible(
                f"{made['date']}, revision {made['revision']}{changed}, corpus {made['corpus']}"
            ),
            visible(f"{made['python']}, {made['system']}, {made['processors']} processors"),
        ),
        matrices=(_matrix(names, readers, rows),),
        not_run=tuple(
            _plain(": ".join(filter(None, (missing["what"], missing["why"], missing["install"]))))
            for missing in report["not_run"]
        ),
        remarks=tuple(_plain(each["text"]) for each in report["attention"]),
        data=data,
        scripts=tuple(data["files"].values()),
    )


def _plain(text: str) -> str:
    """Return a line of the report, which is Markdown, without its backticks."""
    return lines_of(text).replace("`", "")


def details_script(name: str, cases: Iterable[Case], witnesses: Witnesses) -> str:
    """Return the script that gives a page the details of a format's cases."""
    details = {
        visible(case.id): case_details(case, witnesses=witnesses.get(case.id, ())) for case in cases
    }
    return f"cdcwireDetails({script_json(name)}, {script_json(details)});\n"


def _details_file(name: str) -> str:
    return f"{DETAILS_FOLDER}/{name}.js"


def _add_answers(rows: Sequence[dict[str, Json]], readers: Sequence[Mapping[str, Json]]) -> None:
    """Add what each reader made of each case.

    A case counts as failed too if a message derived from it was accepted.
    """
    for reader in readers:
        scores = {score["format"]: score for score in reader["formats"]}
        declined = {case for score in scores.values() for case in score["not_asked"]}
        failing: dict[str, list[str]] = {}
        for score in scores.values():
            for case_id in score["failing"]:
                base, sign, derived = case_id.partition("@")
                failing.setdefault(base, []).append(f"{sign}{derived}")
        for row in rows:
            found = failing.get(row["id"])
            if found is not None:
                row["results"].append("failed")
            elif row["format"] not in scores or row["id"] in declined:
                row["results"].append("")
            else:
                row["results"].append("passed")
            row.setdefault("answers", []).append(_failed_on(found or ()))


def _failed_on(found: Sequence[str]) -> str:
    """Return which messages derived from a case a reader failed on."""
    derived = [visible(name) for name in found if name]
    more = f" and {len(derived) - _DERIVED_SHOWN} more" if len(derived) > _DERIVED_SHOWN else ""
    return ", ".join(derived[:_DERIVED_SHOWN]) + more


def _matrix(
    names: Sequence[str], readers: Sequence[Mapping[str, Json]], rows: Sequence[Mapping[str, Json]]
) -> Matrix:
    """Return the matrix; the cells of a format also count malformed messages."""
    matrix = reader_matrix(_MATRIX, names, rows)
    scores = [{score["format"]: score for score in reader["formats"]} for reader in readers]
    lines = tuple(
        replace(
            row,
            cells=tuple(
                _score_cell(score.get(row.title), row.title, at) for at, score in enumerate(scores)
            ),
        )
        for row in matrix.rows
    )
    return replace(matrix, rows=lines)


def _score_cell(score: Mapping[str, Json] | None, format_name: str, reader: int) -> Cell:
    if score is None or not score["asked"]:
        return Cell("")
    text = f"{score['passed']:,}/{score['asked']:,}"
    is_whole = score["passed"] == score["asked"]
    result = "passed" if is_whole else "not passed"
    link = link_to(format=format_name, reader=str(reader), result=result)
    return Cell(text, "good" if is_whole else "bad", link)
