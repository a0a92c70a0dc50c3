"""One question of the corpus as a line of JSON: the request, and the right answer.

The member ``same`` of a value has other ways to write it that the judge accepts as well. So a test
in another language needs no calendar. Each one was given to the judge: the archive and ``cdcwire
verify`` agree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.resources import files

from cdcwire.files.json_messages import message_to_json
from cdcwire.model.events import POSITION_MEMBERS
from cdcwire.model.instants import UTC, instant_of
from cdcwire.model.kind_text import kind_text, parse_kind
from cdcwire.model.kinds import (
    ArrayType,
    DatetimeType,
    DateType,
    EnumType,
    MapType,
    SetType,
    StructType,
    TimestampType,
    TimeType,
    Type,
    index_of_label,
    mask_of_labels,
)
from cdcwire.model.temporal import count_text
from cdcwire.model.text import Json
from cdcwire.registry import get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.derive import clauses_of
from cdcwire_conformance.judge.difference import is_null
from cdcwire_conformance.judge.events import EventRules, rules_of
from cdcwire_conformance.judge.values import ValueRules, compare_values
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


_TEMPORAL = (DateType, TimeType, DatetimeType, TimestampType)
_TIME = re.compile(r"(-?)([0-9]{1,3}):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,9}))?")
_UNITS = {"ms": 3, "us": 6, "ns": 9}


def exported_event(event: Mapping[str, Json], rules: ValueRules) -> dict[str, Json]:
    """Return an expected event whose values all say their type and their other forms."""
    exported = dict(event)
    for side in ("before", "after"):
        row = event.get(side) if event.get("kind") == "row" else None
        if row is not None:
            exported[side] = {name: exported_value(value, rules) for name, value in row.items()}
    return exported


def exported_value(document: Json, rules: ValueRules, known: Type | None = None) -> Json:
    """Return an expected value with its type, also inside arrays, and with its other forms.

    ``known``: the type of a value that does not say it.
    """
    if is_null(document) or (isinstance(document, Mapping) and document.get("unavailable") is True):
        return document
    value: dict[str, Json] = {"value": document} if isinstance(document, str) else dict(document)
    if "type" not in value and known is not None:
        value = {"type": kind_text(known), **value}
    if "type" not in value:
        return document
    kind = parse_kind(value["type"])
    match kind:
        case ArrayType(item):
            value["items"] = [exported_value(each, rules, item) for each in value["items"]]
        case MapType(key, item):
            value["entries"] = [
                [exported_value(pair[0], rules, key), exported_value(pair[1], rules, item)]
                for pair in value["entries"]
            ]
        case StructType(columns):
            kinds = {column.name: column.type for column in columns}
            value["fields"] = {
                name: exported_value(each, rules, kinds.get(name))
                for name, each in value["fields"].items()
            }
        case _:
            if same := _other_forms(kind, value, rules):
                value["same"] = same
    return value


def _other_forms(kind: Type, value: Mapping[str, Json], rules: ValueRules) -> list[Json]:
    forms: list[Json] = []
    for form in _candidates(kind, value):
        is_new = form not in forms and any(value.get(name) != form[name] for name in form)
        if is_new and not any(compare_values(value, form, (), rules)):
            forms.append(form)
    return forms


def _candidates(kind: Type, value: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    with suppress(ValueError, KeyError):
        if isinstance(kind, _TEMPORAL):
            yield from _temporal_forms(kind, value)
        elif isinstance(kind, EnumType) and kind.labels:
            known = index_of_label(
                kind, int(value["index"]) if "index" in value else value["label"]
            )
            yield {"index": str(known)}
            yield {"label": kind.labels[(known or 0) - 1] if known else ""}
        elif isinstance(kind, SetType) and kind.labels:
            mask = mask_of_labels(kind, int(value["index"]) if "index" in value else value["label"])
            chosen = [label for bit, label in enumerate(kind.labels) if (mask or 0) >> bit & 1]
            yield {"index": str(mask)}
            yield {"label": ",".join(chosen)}


def _temporal_forms(
    kind: DateType | TimeType | DatetimeType | TimestampType, value: Mapping[str, Json]
) -> Iterator[dict[str, Json]]:
    text, unit, zone = value["value"], value.get("unit"), value.get("zone")
    is_instant = isinstance(kind, TimestampType) and zone is not None
    if unit is not None and not is_instant:
        counted = replace(kind, form=unit)
        text = count_text(
            counted if isinstance(counted, DateType) else replace(counted, fraction=None), int(text)
        )
        yield from ({"value": padded} for padded in _padded(text))
    if isinstance(kind, TimeType):
        yield from _counts(*_time_parts(text))
        return
    stamp = f"{text} 00:00:00" if isinstance(kind, DateType) else text
    form = TimestampType(form=unit if unit and is_instant else "text", zone=zone or UTC)
    instant = instant_of(form, int(text) if unit and is_instant else stamp)
    if instant is None:
        return
    if is_instant:
        for padded in (instant.text, *_padded(instant.text)):
            yield {"value": padded, "zone": UTC}
            yield {"value": f"{padded.replace(' ', 'T')}Z", "zone": UTC}
    if isinstance(kind, DateType):
        yield {"value": str(instant.seconds // 86400), "unit": "d"}
    yield from _counts(instant.seconds, instant.fraction)


def _time_parts(text: str) -> tuple[int, str]:
    """Return a time as whole seconds, rounded down, and the digits after them."""
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a time")
    sign, hours, minutes, seconds, fraction = found.groups()
    whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    nanoseconds = whole * 10**9 + int((fraction or "").ljust(9, "0"))
    whole, rest = divmod(-nanoseconds if sign else nanoseconds, 10**9)
    return whole, f"{rest:09d}"


def _counts(seconds: int, fraction: str) -> Iterator[dict[str, Json]]:
    for unit, digits in _UNITS.items():
        if not fraction[digits:].strip("0"):
            below = int(fraction[:digits].ljust(digits, "0"))
            yield {"value": str(seconds * 10**digits + below), "unit": unit}


def _padded(text: str) -> Iterator[str]:
    """Yield the text without and with zeros at the end of its fraction."""
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    yield f"{whole}.{fraction}" if fraction else whole
    for digits in _UNITS.values():
        if len(fraction) <= digits:
            yield f"{whole}.{fraction.ljust(digits, '0')}"
