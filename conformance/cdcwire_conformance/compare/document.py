"""A comparison for programs: as JSON (``schemas/comparison.schema.json``) or JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from importlib.resources import files
from xml.etree.ElementTree import Element, SubElement

from cdcwire.console.visible import visible_document
from cdcwire.console.visible import visible_lines as fit
from cdcwire.model.text import Json
from cdcwire_conformance.compare.record import InputFile, InputRecord, RunRecord
from cdcwire_conformance.compare.report import table_text, verdict_line
from cdcwire_conformance.compare.result import (
    Comparison,
    Counts,
    KafkaKeys,
    Pattern,
    RowDifference,
    RowPlace,
    Shown,
    TableComparison,
)
from cdcwire_conformance.compare.shown_text import ddl_line, problem_lines
from cdcwire_conformance.output.junit import document_text

DOCUMENT_VERSION = 2


def json_text(found: Comparison) -> str:
    """Return the JSON document as text."""
    return visible_document(document(found))


def document(found: Comparison) -> dict[str, Json]:
    """Return the JSON document of a comparison. Values are text; no number is a column's value."""
    return {
        "comparison": DOCUMENT_VERSION,
        "left": found.left,
        "right": found.right,
        "equal": found.is_equal,
        "exact": found.is_exact,
        "engine": found.engine,
        "seconds": round(found.seconds, 3),
        "differences": list(found.differences),
        "compared": list(found.compared),
        "tables": [_table_document(table) for table in found.tables],
        "errors": {"left": found.errors_left, "right": found.errors_right},
        "unreadable": list(map(str, found.unreadable)),
        "left_out": _left_out(found.left_out),
        "left_out_by_options": list(found.unwanted),
        "unread": list(found.unread),
        "events": {
            side: {"ddl": found.ddl[number], "progress": found.progress[number]}
            for number, side in enumerate(("left", "right"))
        },
        "ddl_differences": list(map(ddl_line, found.ddl_differences)),
        "kafka_keys": _keys_document(found.keys),
        "record": _record_document(found.record),
        "signature": {"name": None, "date": None, "decision": None},
        "hints": list(found.hints),
        "notes": list(found.notes),
    }


@cache
def schema() -> Json:
    """Return the JSON Schema of the document."""
    file = files("cdcwire_conformance.compare").joinpath("schemas/comparison.schema.json")
    return json.loads(file.read_text(encoding="utf-8"))


def _table_document(table: TableComparison) -> dict[str, Json]:
    counts = table.counts
    return {
        "table": table.table,
        "equal": table.is_equal,
        "counts": None
        if counts is None
        else {name: getattr(counts, name) for name in Counts.__dataclass_fields__},
        "paired_by": list(table.paired_by),
        "last_rows": table.is_final,
        "against_table": table.against_table,
        "repeats_allowed": table.allows_repeats,
        "schema_differences": list(table.schema_differences),
        "patterns": [_pattern_document(each) for each in table.patterns],
        "differences": [_difference_document(each) for each in table.differences],
        "left_out": _left_out(table.left_out),
        "notes": list(table.notes),
    }


def _left_out(pairs: Iterable[tuple[str, str]]) -> Json:
    return [{"name": name, "reason": reason} for name, reason in pairs]


def _pattern_document(pattern: Pattern) -> dict[str, Json]:
    return {
        "column": pattern.column,
        "type": pattern.type,
        "cause": pattern.kind,
        "text": pattern.text,
        "count": pattern.count,
        "option": pattern.option,
        "examples": [
            {
                "key": _key_document(each.key),
                "left": _shown_document(each.left),
                "right": _shown_document(each.right),
            }
            for each in pattern.examples
        ],
    }


def _key_document(key: Iterable[tuple[str, Shown]]) -> Json:
    return [{"column": name, **_shown_document(shown)} for name, shown in key]


def _difference_document(difference: RowDifference) -> dict[str, Json]:
    due = {"position": difference.due, "place": _place_document(difference.due_place)}
    return {
        "verdict": difference.verdict,
        "op": difference.op,
        "key": _key_document(difference.key),
        "position": dict(difference.position),
        "due": due if any(due.values()) else None,
        "copies": {"left": difference.left_count, "right": difference.right_count},
        "places": {
            "left": _place_document(difference.left_place),
            "right": _place_document(difference.right_place),
        },
        "columns": [
            {
                "image": column.image,
                "column": column.column,
                "type": column.kind,
                "left": _shown_document(column.left),
                "right": _shown_document(column.right),
                "release": column.release,
            }
            for column in difference.columns
        ],
    }


def _record_document(record: RunRecord | None) -> Json:
    if record is None:
        return None
    return {
        "date": record.date,
        "command": record.command,
        "versions": dict(record.versions),
        "left": _input_document(record.left),
        "right": _input_document(record.right),
        "definitions": _files_document(record.definitions),
    }


def _input_document(found: InputRecord) -> dict[str, Json]:
    return {
        "name": found.name,
        "options": [
            {"name": each.name, "value": each.value, "origin": each.origin}
            for each in found.options
        ],
        "files": _files_document(found.files),
        "size": found.size,
        "sha256": found.sha256,
        "partitions": [
            {"topic": p.topic, "partition": p.partition, "start": p.start, "end": p.end}
            for p in found.partitions
        ],
        "messages": found.messages,
        "rows": found.rows,
        "bounds": [
            {"name": each.name, "first": each.first, "last": each.last} for each in found.bounds
        ],
        "checkpoint": None if found.checkpoint is None else str(found.checkpoint),
    }


def _files_document(files: Iterable[InputFile]) -> list[Json]:
    return [{"name": each.name, "size": each.size, "sha256": each.sha256} for each in files]


def _keys_document(keys: KafkaKeys) -> dict[str, Json]:
    return {
        **{
            side: {"keyed": keys.keyed[number], "contradicting": keys.contradicting[number]}
            for number, side in enumerate(("left", "right"))
        },
        "different": keys.differ,
        "first": [
            {
                "side": each.side,
                "table": each.table,
                "place": _place_document(each.place),
                "column": each.column,
                "key": _shown_document(each.in_key),
                "row": _shown_document(each.in_row),
            }
            for each in keys.first
        ],
    }


def _shown_document(shown: Shown) -> dict[str, Json]:
    if shown.is_absent:
        return {"absent": True}
    if shown.hidden == "redacted":
        return {"redacted": True}
    if shown.hidden == "masked":
        return {"masked": shown.text, "length": shown.length}
    if shown.length is None:
        return {"value": shown.text}
    return {"value": shown.text, "length": shown.length}


def _place_document(place: RowPlace | None) -> Json:
    if place is None:
        return None
    known = {each.name: getattr(place, each.name) for each in fields(RowPlace)}
    return {name: value for name, value in known.items() if value is not None}


def junit_text(found: Comparison) -> str:
    """Return the XML document."""
    root = Element("testsuites", name="cdcwire compare")
    suite = SubElement(root, "testsuite", name=fit(f"{found.left} and {found.right}"))
    for table in found.tables:
        case = SubElement(suite, "testcase", classname="cdcwire.compare", name=fit(table.table))
        if not table.is_equal:
            lines = [*table.schema_differences, *table_text(table)]
            message = lines[0] if lines else "not compared"
            SubElement(case, "failure", message=fit(message)).text = fit("\n".join(lines))
    problems = problem_lines(found)
    case = SubElement(suite, "testcase", classname="cdcwire.compare", name="all tables")
    case.set("time", f"{found.seconds:.3f}")
    if problems or not found.is_equal:
        hints = [f"hint: {hint}" for hint in found.hints]
        lines = [*problems, *hints, verdict_line(found)]
        failure = SubElement(case, "failure", message=fit(verdict_line(found)))
        failure.text = fit("\n".join(lines))
    return document_text(root)
