"""Each valid must case accepts every form of an answer that its bytes leave open."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cdcwire.format import Format
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import EnumType, SetType
from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.corpus.store import load_cases
from cdcwire_conformance.judge.events import compare_events, rules_of


def in_other_forms(case: Case, format_: Format) -> list[Json]:
    """Return what a case expects, as a right reader may say it that was made on its own.

    It answers labels for numbers and numbers for labels, and an empty name for a missing one. Its
    instants lack the zone that no byte says. A row that is cut to its key has NULL elsewhere.
    """
    says_zones = rules_of(format_).values.zone_needed
    columns = {
        (table.get("schema"), table["table"]): [column["name"] for column in table["columns"]]
        for table in case.tables
    }

    def reformed(event: Json) -> Json:
        if event["kind"] != "row":
            return event
        event = {**event, "database": event.get("database", "")}
        for side in ("before", "after"):
            if event.get(side) is not None:
                row = {name: other_form(v, says_zones) for name, v in event[side].items()}
                if event.get("sent") == "key" and format_.comparing.key_rows_have_nulls:
                    names = columns.get((event.get("schema"), event["table"]), ())
                    row = {**dict.fromkeys(names), **row} if side == "before" else row
                event[side] = row
        return event

    return [reformed(event) for event in case.events or ()]


def other_form(value: Json, says_zones: bool) -> Json:
    if not isinstance(value, dict) or "type" not in value:
        return value
    value = {name: v for name, v in value.items() if name != "zone" or says_zones}
    kind = parse_kind(value["type"])
    if not isinstance(kind, (EnumType, SetType)) or kind.labels is None:
        return value
    if ("index" in value) == ("label" in value):
        return value
    names = {name: v for name, v in value.items() if name not in ("index", "label")}
    if "index" in value:
        label = label_of(kind, int(value["index"]))
        return {**names, "label": label} if index_of(kind, label) == int(value["index"]) else value
    number = index_of(kind, value["label"])
    return value if number is None else {**names, "index": str(number)}


def label_of(kind: EnumType | SetType, number: int) -> str:
    labels = kind.labels or ()
    if isinstance(kind, EnumType):
        return labels[number - 1] if number else ""
    return ",".join(label for place, label in enumerate(labels) if number >> place & 1)


def index_of(kind: EnumType | SetType, label: str) -> int | None:
    """Return a number; None if the labels lack one. Labels with commas are not unique."""
    numbers = {name: place for place, name in enumerate(kind.labels or ())}
    if isinstance(kind, EnumType):
        if label not in numbers:
            return None if label else 0
        return numbers[label] + 1
    parts = label.split(",") if label else []
    return sum(1 << numbers[part] for part in parts) if numbers.keys() >= set(parts) else None


def asked(format_name: str) -> Iterator[Case]:
    for case in load_cases([format_name]):
        if case.level == "must" and case.expect == "accept":
            yield case


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_a_must_case_takes_each_form_of_an_answer_that_its_bytes_leave_open(
    format_name: str,
) -> None:
    format_ = get_format(format_name)
    rules = rules_of(format_)
    failed = {}
    for case in asked(format_name):
        found = compare_events(case.events or (), in_other_forms(case, format_), rules)
        if found:
            failed[case.id] = str(found[0])
    assert not failed


def is_without_labels(value: Json) -> bool:
    """Return whether a case expects a number or a label alone, of a type without labels."""
    if not isinstance(value, dict) or ("index" in value) == ("label" in value):
        return False
    kind = parse_kind(value["type"])
    return isinstance(kind, (EnumType, SetType)) and kind.labels is None


def columns_without_labels(case: Case) -> set[str]:
    rows = [event.get(side) or {} for event in case.events or () for side in ("before", "after")]
    return {name for row in rows for name, value in row.items() if is_without_labels(value)}


def columns_with_labels(case: Case, format_: Format) -> Iterator[str]:
    """Yield the columns whose labels the reference knows from the bytes or the tables."""
    context = format_.prepared(case.messages, case.context())
    for message in case.messages:
        for event in format_.to_events(message, context=context):
            for image in (getattr(event, side, None) for side in ("before", "after")):
                for column in () if image is None else image.columns:
                    if isinstance(column.type, (EnumType, SetType)) and column.type.labels:
                        yield column.name


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_a_must_case_names_the_labels_that_its_bytes_or_tables_say(format_name: str) -> None:
    """Else an answer by label is accused where the case expects the number, or the reverse."""
    format_ = get_format(format_name)
    unnamed = {}
    for case in asked(format_name):
        without = columns_without_labels(case)
        if without and (found := without.intersection(columns_with_labels(case, format_))):
            unnamed[case.id] = found
    assert not unnamed
