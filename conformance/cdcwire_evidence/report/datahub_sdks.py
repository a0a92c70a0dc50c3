"""The chapter about DataHub's SDKs: what they write that is read here, and the other way round.

Its known faults are those of the SDKs and fail nothing; a fault that is not known, and one that is
known and appears no longer, fail the report. ``python conformance/evidence.py report.datahub_sdks``
prints the chapter alone, and ends with 1 if it fails.
"""

from __future__ import annotations

import shlex
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.output.markdown import code, inline
from cdcwire_conformance.run.expected_failures import ExpectedFailures
from cdcwire_conformance.run.results import Results
from cdcwire_conformance.testees import CannotStartError
from cdcwire_evidence.datahub.sdk_driver import SDKS, Sdk, driver_of
from cdcwire_evidence.datahub.sdk_golden import cases_for_sdks, run_cases
from cdcwire_evidence.datahub.sdk_questions import ENCODINGS, GROUPS, Direction, Question
from cdcwire_evidence.datahub.sdks import Finding, ask_all, known_faults, surprises
from cdcwire_evidence.datahub.service import Service
from cdcwire_evidence.report.datahub_golden import golden_lines, golden_scores
from cdcwire_evidence.report.part import NotRun, Part, table

TITLE = "DataHub's SDKs as witnesses"
_COMMAND = "python conformance/evidence.py report.datahub_sdks"
_HEAD = (
    "Each SDK speaks HTTP to a substitute for the service on this machine, in JSON, protobuf "
    "and batches. For put, it writes values, and the body is decoded here. For get, it reads "
    "an answer that is encoded here. A cell: **yes** if all encodings give the intended values, "
    "else those that don't; - if it was not tried. The last rows are broken answers, and whether "
    "the SDK refuses them. `docs/datahub-sdks.md` says what follows."
)
_DIRECTIONS: tuple[Direction, ...] = ("put", "get")


def datahub_sdks_part(
    cases: Iterable[Case] = (), sdks: Sequence[Sdk] = SDKS, root: Path | None = None
) -> Part:
    """Ask each SDK that is here, and show what came out. ``root``: the checkout."""
    golden = cases_for_sdks(cases)
    part = Part(TITLE, _COMMAND)
    found: list[tuple[Sdk, str, list[Finding]]] = []
    on_golden: list[tuple[str, Results]] = []
    with Service() as service:
        for sdk in sdks:
            try:
                with driver_of(sdk, Path() if root is None else root) as driver:
                    found.append((sdk, driver.version, ask_all(sdk, driver, service)))
                    if golden:
                        results = run_cases(golden, sdk.name, driver, service)
                        on_golden.append((sdk.name, results))
            except CannotStartError as error:
                last = (error.stderr.splitlines() or [error.problem])[-1]
                why = last.rpartition("Error: ")[2]
                part.not_run.append(NotRun(f"DataHub's SDK {sdk.name}", why, sdk.install))
    if not found:
        return part
    known = known_faults()
    findings = [finding for _, _, each in found for finding in each]
    odd = surprises(findings, known)
    part.failed = bool(odd)
    part.lines = [
        _HEAD,
        "",
        *_matrix(found),
        "",
        *_totals(found),
        "",
        *_faults(findings, known),
    ]
    part.attention = [f"not as known: {code(line)}" for line in odd]
    if on_golden:
        part.readers = list(golden_scores(on_golden))
        part.lines += ["", *golden_lines(on_golden)]
    return part


def _matrix(found: Sequence[tuple[Sdk, str, list[Finding]]]) -> list[str]:
    columns = [(sdk, direction) for sdk, _, _ in found for direction in _DIRECTIONS]
    by_place: dict[tuple[str, Direction, str], list[Finding]] = defaultdict(list)
    for _, _, findings in found:
        for finding in findings:
            by_place[finding.sdk, finding.direction, finding.question.id].append(finding)
    rows = []
    for group, questions in GROUPS:
        for question in questions:
            cells = (_cell(by_place[sdk.name, way, question.id]) for sdk, way in columns)
            rows.append((_title(group, question), *cells))
    head = ("question", *(f"{sdk.name}, {direction}" for sdk, direction in columns))
    return table(head, rows)


def _title(group: str, question: Question) -> str:
    return f"refuses: {question.title}" if group == "refuses" else question.title


def _cell(findings: Sequence[Finding]) -> str:
    if not findings:
        return "-"
    bad = [finding.encoding for finding in findings if finding.problem]
    if not bad:
        return "**yes**"
    return "no" if len(bad) == len(findings) else f"not {', '.join(bad)}"


def _totals(found: Iterable[tuple[Sdk, str, list[Finding]]]) -> list[str]:
    rows = []
    for sdk, version, findings in found:
        sums = []
        for direction in _DIRECTIONS:
            for encoding in ENCODINGS:
                here = [
                    not finding.problem
                    for finding in findings
                    if (finding.direction, finding.encoding) == (direction, encoding)
                ]
                sums.append(f"{sum(here)}/{len(here)}")
        rows.append((sdk.name, version, f"`{shlex.join(sdk.command)}`", *sums))
    ways = (f"{direction}, {encoding}" for direction in _DIRECTIONS for encoding in ENCODINGS)
    return table(("SDK", "version", "command", *ways), rows)


def _faults(findings: Iterable[Finding], known: ExpectedFailures) -> list[str]:
    """Return the faults with their reasons; those of one question and reason are one row."""
    alike: dict[tuple[str, str, str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.problem:
            entry = known.find(finding.id)
            reason = "not known" if entry is None else entry.reason
            key = (finding.sdk, finding.direction, finding.question.title, reason)
            alike[key].append(finding)
    rows = []
    for (sdk, direction, title, reason), each in alike.items():
        encodings = ", ".join(finding.encoding for finding in each)
        rows.append((sdk, f"{direction}: {encodings}", title, inline(each[0].problem), reason))
    if not rows:
        return []
    return table(("SDK", "where", "question", "what it does", "why"), rows)


def main() -> int:
    """Print the chapter. Returns: an exit code."""
    part = datahub_sdks_part(load_cases())
    print("\n".join(part.lines))
    for missing in part.not_run:
        print(f"Not run: {missing.what}: {missing.why}.")
    return 2 if not part.lines else int(part.failed)


if __name__ == "__main__":
    sys.exit(main())
