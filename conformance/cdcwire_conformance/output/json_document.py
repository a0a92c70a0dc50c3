"""Results as one JSON document; ``protocol/schemas/results.schema.json`` is its schema.

Everything else can be made from it. Derived cases that were passed stand in the counts only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from cdcwire.model.text import Json
from cdcwire_conformance.judge.difference import Difference
from cdcwire_conformance.run.exhibits import exhibit_of
from cdcwire_conformance.run.results import VERDICTS, Outcome, Results

DOCUMENT_VERSION = 1
_EXHIBITS = 200  # of so many failures the bytes are shown


def json_text(results: Results) -> str:
    """Return the document as text."""
    return json.dumps(document_of(results), indent=1, ensure_ascii=False) + "\n"


def document_of(results: Results) -> dict[str, Json]:
    """Return the document of a run."""
    exhibits_left = _EXHIBITS
    outcomes: list[Json] = []
    for outcome in results.outcomes:
        shown = _outcome(outcome)
        if outcome.is_bad and outcome.focus is not None and exhibits_left:
            exhibits_left -= 1
            exhibit = exhibit_of(outcome)
            if exhibit is not None:
                shown["bytes"] = {"title": exhibit.title, "lines": list(exhibit.lines)}
        outcomes.append(shown)
    return {
        "results": DOCUMENT_VERSION,
        "testee": _testee(results),
        "corpus": results.corpus_version,
        "seconds": round(results.seconds, 3),
        "passed": bool(results.was_run) and not results.has_failed,
        "formats": {name: _counts(results, name) for name in results.formats},
        "outcomes": outcomes,
        "stale": [
            {"id": stale.pattern, "reason": stale.reason, "line": stale.line, "why": stale.why}
            for stale in results.stale
        ],
        "notes": list(results.notes),
    }


def _testee(results: Results) -> dict[str, Json]:
    testee = results.testee
    return {
        "name": testee.name,
        "version": testee.version,
        "language": testee.language,
        "command": results.command,
        "door": results.door,
        "formats": {
            name: {
                "encode": claim.encode,
                "without": sorted(claim.without),
                "choices": dict(claim.choices),
            }
            for name, claim in (testee.formats or {}).items()
        },
    }


def _counts(results: Results, name: str) -> Mapping[str, Json]:
    """Return how many cases have each verdict: stored and derived ones."""
    return {
        kind: {
            verdict: number
            for verdict in VERDICTS
            if (number := results.count(verdict, format_name=name, derived=derived))
        }
        for kind, derived in (("stored", False), ("derived", True))
    }


def _outcome(outcome: Outcome) -> dict[str, Json]:
    case = outcome.case
    shown: dict[str, Json] = {
        "id": outcome.id,
        "cmd": outcome.cmd,
        "title": case.title,
        "level": case.level,
        "expect": case.expect,
        "verdict": outcome.verdict,
        "binding": outcome.is_binding,
        "clause": list(case.clauses),
    }
    if outcome.problem:
        shown["problem"] = outcome.problem
    if outcome.differences:
        shown["differences"] = [_difference(difference) for difference in outcome.differences]
    if outcome.notes:
        shown["notes"] = list(outcome.notes)
    if outcome.reason:
        shown["reason"] = outcome.reason
    if outcome.stderr and outcome.verdict != "passed":
        shown["stderr"] = outcome.stderr
    return shown


def _difference(difference: Difference) -> dict[str, Json]:
    shown: dict[str, Json] = {
        "path": list(difference.path),
        "expected": difference.expected,
        "got": difference.got,
    }
    if difference.hint:
        shown["hint"] = difference.hint
    return shown
