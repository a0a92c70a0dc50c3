"""One question of the corpus as a line of JSON: the request, and the right answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from cdcwire.files.json_messages import message_to_json
from cdcwire.model.events import POSITION_MEMBERS
from cdcwire.model.text import Json
from cdcwire.registry import get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.derive import clauses_of
from cdcwire_conformance.export.other_forms import exported_event
from cdcwire_conformance.judge.events import EventRules, rules_of
from cdcwire_conformance.protocol.check import SCHEMA_NAMES, schema
from cdcwire_conformance.run.selection import Task

_OWN_SCHEMAS = ("case-line", "manifest")
_OTHER_SCHEMAS = ("results",)  # of the protocol, but not of an export


def case_line(task: Task) -> dict[str, Json]:
    """Return one exported case as a JSON line, without empty members."""
    case = task.case
    line: dict[str, Json] = {
        "id": task.id,
        "title": case.title,
        "level": case.level,
        "expect": "encode" if task.cmd == "encode" else case.expect,
        "clause": list(clauses_of(case)),
        "features": list(case.features),
        "origin": case.origin,
        "since": case.since,
    }
    optional = {"choice": case.choice, "bugs": list(case.bugs), "note": case.note}
    line.update({name: value for name, value in optional.items() if value})
    request = task.request
    line["request"] = {"cmd": request.cmd, "format": request.format, **request.body}
    if task.cmd == "encode":
        line["messages"] = [message_to_json(message) for message in case.messages]
        line["bytes_fixed"] = case.canonical and get_format(case.format).fixes_bytes == "yes"
    elif case.expect == "reject":
        line["error"] = _error(case, line["clause"])
    else:
        values = _rules(case.format).values
        line["events"] = [exported_event(event, values) for event in case.events or ()]
    return line


def format_facts(name: str) -> dict[str, Json]:
    """Return what a test needs to know of a format to compare its events."""
    rules = _rules(name)
    return {
        "not_compared": sorted(rules.ignored),
        "not_made_up": [each for each in POSITION_MEMBERS if each in rules.extra_is_wrong],
        "zone_needed": rules.values.zone_needed,
        "key_rows_have_nulls": rules.key_rows_have_nulls,
    }


def schemas() -> Iterator[tuple[str, Json]]:
    """Yield the schemas of an export by name: its own, and those of the protocol."""
    for name in _OWN_SCHEMAS:
        file = files("cdcwire_conformance.export").joinpath(f"schemas/{name}.schema.json")
        yield name, json.loads(file.read_text(encoding="utf-8"))
    for name in SCHEMA_NAMES:
        if name not in _OTHER_SCHEMAS:
            yield name, _with_same(schema(name)) if name == "value" else schema(name)


def _with_same(value_schema: Json) -> Json:
    """Return the schema of a value that may have ``same``, a list of values."""
    typed = next(form for form in value_schema["anyOf"] if form["type"] == "object")
    typed["properties"]["same"] = {
        "description": "Expected values only: other forms of the value that are right as well.",
        "type": "array",
        "items": {"$ref": value_schema["$id"]},
    }
    return value_schema


@cache
def _rules(format_name: str) -> EventRules:
    return rules_of(get_format(format_name))


def _error(case: Case, clauses: list[str]) -> dict[str, Json]:
    """Return where and why a message is malformed, as far as the case says it."""
    if case.fault is None:
        return dict(case.error or {})
    error: dict[str, Json] = {"message": 0, "part": case.fault.part}
    if case.fault.offset is not None:
        error["offset"] = case.fault.offset
    return {**error, "clause": clauses[0]}
