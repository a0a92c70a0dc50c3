"""Results as one JSON document; ``protocol/schemas/results.schema.json`` is its schema.

Everything else can be made from it. Derived cases that passed are in the counts only. Paths of this
machine are taken out of results that others read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from cdcwire.console.visible import visible_document
from cdcwire.model.text import Json
from cdcwire_conformance.judge.difference import Difference
from cdcwire_conformance.run.excerpt import excerpt_of
from cdcwire_conformance.run.groups import FailureGroup, failure_groups
from cdcwire_conformance.run.results import VERDICTS, Outcome, Results

DOCUMENT_VERSION = 1
_EXCERPTS = 200  # for this many failures the bytes are shown, and for the first of each group


def json_text(results: Results) -> str:
    """Return the document as text."""
    return visible_document(document_of(results))


def document_of(results: Results) -> dict[str, Json]:
    """Return the document of a run."""
    groups = failure_groups(results)
    firsts = {group.first.id for group in groups}
    excerpts_left = _EXCERPTS
    outcomes: list[Json] = []
    for outcome in results.outcomes:
        shown = _outcome(outcome)
        is_first = outcome.id in firsts
        if outcome.is_bad and (is_first or excerpts_left):
            excerpt = excerpt_of(outcome)
            if excerpt is not None:
                excerpts_left -= not is_first
                shown["bytes"] = {"title": excerpt.title, "lines": list(excerpt.lines)}
        outcomes.append(shown)
    return {
        "results": DOCUMENT_VERSION,
        "testee": _testee(results),
        "corpus": results.corpus_version,
        "seconds": round(results.seconds, 3),
        "passed": bool(results.was_run) and not results.has_failed,
        "interrupted": results.is_interrupted,
        "stopped": results.stopped_at is not None,
        "formats": {name: _counts(results, name) for name in results.formats},
        "groups": [_group(group) for group in groups],
        "outcomes": outcomes,
        "stale": [
            {"id": stale.pattern, "reason": stale.reason, "line": stale.line, "why": stale.why}
            for stale in results.stale
        ],
        "leaks": [
            {"id": leak.id, "first": leak.first, "fresh": leak.fresh} for leak in results.leaks
        ],
        "left_out": dict(sorted(results.left_out.items())),
        "notes": list(results.notes),
        **_property(results),
        **_claim(results),
    }


def _claim(results: Results) -> dict[str, Json]:
    """Return the requirements that the run judges, for a run with a claim."""
    claim = results.claim
    if claim is None:
        return {}
    return {
        "claim": {"name": claim.name, "cases": claim.cases, "met": not results.has_failed},
    }


def _property(results: Results) -> dict[str, Json]:
    """Return how messages were generated, for a run without golden cases."""
    run = results.property_run
    if run is None:
        return {}
    return {
        "property": {
            "examples": run.examples,
            "seed": run.seed,
            "messages": run.asked,
            "kinds": run.kinds,
            "shrinks": run.shrinks,
            "saved": list(run.saved),
        }
    }


def _group(group: FailureGroup) -> dict[str, Json]:
    return {
        "section": group.section,
        "binding": group.is_binding,
        "part": group.part,
        "types": list(group.types),
        "expected": group.expected,
        "got": group.got,
        "clauses": list(group.clauses),
        "hint": group.hint,
        "decline": group.decline,
        "count": len(group.outcomes),
        "alone": group.alone,
        "cases": [outcome.id for outcome in group.outcomes],
    }


def _testee(results: Results) -> dict[str, Json]:
    testee = results.testee
    return {
        "name": testee.name,
        "version": testee.version,
        "language": testee.language,
        "command": results.command,
        "mode": results.mode,
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
        "clause": list(outcome.clauses),
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


_ABSOLUTE = re.compile(
    r"(?<![\w/.:~-])(?:file:(?://)?)?(/[^\s/`'\"<>|:,;()\[\]{}*?#]+)([^\s`'\"<>|:,;()]*)"
)


def without_machine_paths(value: Json, project: Path) -> Json:
    """Return a document whose texts name paths of the project relative to it.

    Of any other path on this machine, only the name of the file is left.
    """
    if isinstance(value, str):
        if project.name:
            value = value.replace(f"{project}/", "").replace(str(project), ".")
        return _ABSOLUTE.sub(_name, value)
    if isinstance(value, dict):
        return {key: without_machine_paths(each, project) for key, each in value.items()}
    if isinstance(value, list):
        return [without_machine_paths(each, project) for each in value]
    return value


def _name(found: re.Match[str]) -> str:
    top, rest = found.groups()
    # Other texts begin with a slash too, as the path of a request does.
    return Path(top + rest).name if Path(top).exists() else found[0]
