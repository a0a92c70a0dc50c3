"""The byte that a difference is about, in the formats there are."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from itertools import islice

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.reader import Span
from cdcwire.format import Format
from cdcwire.model.events import Event, Path
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus import Case, load_case, load_cases
from cdcwire_conformance.judge.difference import Difference
from cdcwire_conformance.judge.events import compare_events, join_halves, rules_of
from cdcwire_conformance.judge.locate import find_focus

NO_CONTEXT = Context()


def remembering(codec: Format) -> Format:
    """Return a format that decodes and explains each message of one case once."""
    decoded: dict[Message, list[Event]] = {}
    explained: dict[Message, list[Span]] = {}

    def to_events(message: Message, /, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
        if message not in decoded:
            decoded[message] = list(codec.to_events(message, context=context))
        return iter(decoded[message])

    def spans(message: Message, context: Context) -> Iterator[Span]:
        if message not in explained:
            explained[message] = list(codec.spans(message, context))
        return iter(explained[message])

    return replace(codec, to_events=to_events, spans=spans)


def span_at(case: Case, *path: str | int, codec: Format | None = None) -> Span | None:
    """Return the span of the byte that is found; None if none is found."""
    codec = codec or get_format(case.format)
    index = path[1] if path[:1] == ("events",) and path[1:] else None
    events = (index,) if isinstance(index, int) else ()
    focus = find_focus([Difference(path, "", "", events=events)], case, codec)
    if focus is None:
        return None
    context = codec.prepared(case.messages, case.context())
    return next(
        span
        for span in codec.explain(focus.message, context=context).spans
        if (span.start, span.part) == (focus.offset, focus.part)
    )


def text_at(case: Case, *path: str | int) -> str | None:
    """Return what the explanation says of the byte that is found; None if none is found."""
    span = span_at(case, *path)
    return None if span is None else span.text


def integers_of(case: Case) -> Iterator[tuple[Path, str]]:
    for index, event in enumerate(join_halves(case.events or ())):
        for side in ("before", "after"):
            for name, value in (event.get(side) or {}).items():
                if isinstance(value, dict) and value.get("type", "").startswith("int"):
                    yield ("events", index, side, name), value["value"]


def is_equal_number(text: str, value: str) -> bool:
    """Return whether the text is the value in another form: 1E4 for 10000."""
    try:
        return Decimal(text) == int(value)
    except InvalidOperation:
        return False


def is_of_unsigned(text: str, value: str) -> bool:
    """Return whether the text is an unsigned integer as Debezium may send it.

    It is a long that has wrapped, or a Decimal of scale 0 in base64.
    """
    if not value.isdecimal():
        return False
    number, _, _ = text.partition(" ")  # without the type in a schema
    if is_equal_number(number, str(int(value) - (1 << 64))):
        return True
    try:
        found = b64decode(text.strip("'\""), validate=True)
    except ValueError:
        return False
    return int.from_bytes(found, "big", signed=True) == int(value)


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_focus_of_a_column_is_where_its_value_stands(format_name: str) -> None:
    """What is found says the value; in nearly all cases something is found."""
    found = missed = 0
    for case in load_cases([format_name]):
        if case.expect != "accept" or "compression" in case.features:
            continue
        codec = remembering(get_format(format_name))
        for path, value in islice(integers_of(case), 8):  # of many columns the first
            span = span_at(case, *path, codec=codec)
            if span is None or span.subject is None:
                missed += 1
            elif span.subject.parts:
                is_column = span.subject.name == path[-1]
                found += is_column
                missed += not is_column  # the row, which is elsewhere
                # A default that replaces NULL has no bytes of its own.
                is_replaced = case.name.endswith("null-replaced")
                is_said = value in span.text or is_equal_number(span.text, value)
                is_said = is_said or is_of_unsigned(span.text, value)
                assert is_said or is_replaced or not is_column, case.id
    assert found > 20
    assert missed < found / 10


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("events", 0, "position", "commit_ts"), "433305438660591626"),
        (("events", 0, "table"), "1 ('t')"),
        (("events", 0, "op"), "1 (row)"),
    ],
)
def test_focus_of_a_field_is_where_it_stands(path: Path, text: str) -> None:
    assert text_at(load_case("craft/values/year-2024"), *path) == text


@pytest.mark.parametrize(
    ("case", "path", "text"),
    [
        ("csv/producer/c03-old-value-hex", ("events", 1, "before", "b"), "'x'"),
        ("csv/producer/c03-old-value-hex", ("events", 1, "after", "b"), "'y'"),
        ("csv/producer/c03-old-value-hex", ("events", 1, "op"), "D (delete)"),
        ("csv/producer/c03-old-value-hex", ("events", 2, "table"), "'nopk'"),
        ("canal-json/files/date-day", ("events", 0, "op"), "'INSERT'"),
        ("canal-json/files/date-day", ("events", 0, "key"), "['id']"),
        ("canal-json/old/to-null", ("events", 0, "op"), "'UPDATE'"),
        ("canal-json/options/commit-ts-above-2p53", ("events", 0, "schema"), "'test'"),
        ("avro/messages/insert", ("events", 0, "after", "v"), "'x'"),
        ("avro/messages/insert", ("events", 0, "op"), "'c' (insert)"),
        ("avro/messages/insert", ("events", 0, "table"), "2"),
        ("avro/messages/insert", ("events", 0, "key"), "1"),
        ("avro/messages/insert", ("events", 0, "position", "commit_ms"), "1683614201188"),
        ("avro/messages/delete", ("events", 0, "before", "id"), "1"),
        ("avro/internal/checkpoint", ("events", 0, "position", "commit_ts"), "441349361156227075"),
        ("avro/internal/ddl", ("events", 0, "code"), "'3'"),
        ("datahub-blob/document/insert", ("events", 0, "schema"), "'yunshi_db'"),
        ("datahub-blob/document/insert", ("events", 0, "op"), "INSERT (row)"),
        ("datahub-blob/document/insert", ("events", 0, "key"), "an array"),
        ("datahub-blob/document/insert", ("events", 0, "after", "name"), "'joe' (STRING)"),
        (
            "datahub-blob/document/insert",
            ("events", 0, "position", "sequence_id"),
            "'1605339516000000004'",
        ),
        ("datahub-blob/bodies/batch-put", ("events", 1, "after", "id"), "'306 bytes'"),
        ("datahub-tuple/bodies/json-answer", ("events", 1, "after", "id"), "id: '1'"),
        ("datahub-tuple/bodies/protobuf-put", ("events", 1, "op"), "'D'"),
        ("datahub-tuple/bodies/batch-two-puts", ("events", 0, "after", "id"), "1"),
        ("datahub-tuple/updates/key-change", ("events", 0, "before", "id"), "id: '1'"),
        ("datahub-tuple/updates/key-change", ("events", 0, "after", "id"), "id: '2'"),
        ("cdl-json/document/insert", ("events", 0, "after", "id"), "34 (int32)"),
        ("cdl-json/document/insert", ("events", 0, "op"), "'INSERT'"),
        ("cdl-json/document/insert", ("events", 0, "position", "lsn"), "an array of 2 (array)"),
        ("cdl-json/document/insert", ("events", 0, "extra", "connector"), "'POSTGRESQL'"),
        ("cdl-json/document/insert", ("events", 0, "before", "id"), "NULL"),
        ("debezium-json/envelope/schemas-off", ("events", 0, "after", "v"), "'abc'"),
        ("debezium-json/events/insert", ("events", 0, "after", "v"), "'a' (string)"),
        ("debezium-json/events/insert", ("events", 0, "key"), "payload"),
        (
            "debezium-json/events/insert",
            ("events", 0, "position", "commit_ms"),
            "1707048891235 (int64)",
        ),
        ("debezium-json/events/insert", ("events", 0, "position", "sent_ms"), "1707048891300"),
        ("debezium-json/messages/heartbeat", ("events", 0, "what"), "1707048891300"),
    ],
)
def test_focus_in_files_and_single_messages(case: str, path: Path, text: str) -> None:
    """Halves are one event, and a message of one event has members without a number."""
    assert text_at(load_case(case), *path) == text


def test_focus_after_a_tombstone_is_that_of_the_row() -> None:
    """An answer without tombstones has fewer events than the case."""
    row = load_case("debezium-json/events/insert")
    tombstone = KafkaMessage(row.messages[0].key, None)  # type: ignore[union-attr]
    codec = get_format(row.format)
    marker = {"kind": "marker", "what": "tombstone"}
    case = replace(row, messages=(tombstone, row.messages[0]), events=[marker, *(row.events or [])])
    given = json.loads(json.dumps(row.events))
    given[0]["after"]["v"] = "other"
    differences = compare_events(case.events or [], given, rules_of(codec))
    assert [each.path for each in differences] == [("events", 0, "after", "v")]
    focus = find_focus(differences, case, codec)
    assert focus is not None
    assert focus.message == row.messages[0]


def test_focus_is_of_the_first_difference_that_has_bytes() -> None:
    """The key is in no byte of this message, only in the definition of its table."""
    case = load_case("maxwell-json/values/empty")
    codec = get_format(case.format)
    given = json.loads(json.dumps(case.events))
    del given[0]["key"]
    given[0]["after"]["b"] = ""
    differences = compare_events(case.events or [], given, rules_of(codec))
    assert [each.path[2] for each in differences] == ["key", "after"]
    focus = find_focus(differences, case, codec)
    assert focus is not None
    assert focus.message.value is not None
    assert focus.message.value[focus.offset :].startswith(b',"b":')


@pytest.mark.parametrize(
    "path", [(), ("events",), ("messages", 0), ("events", 7, "op"), ("events", 0, "colour")]
)
def test_focus_of_what_is_not_there_is_none(path: Path) -> None:
    assert text_at(load_case("craft/values/year-2024"), *path) is None


@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_subjects_name_events_that_are_in_the_message(format_name: str) -> None:
    codec = get_format(format_name)
    for case in load_cases([format_name]):
        if case.expect != "accept" or case.name == "row-of-unknown-groups":  # a row that is skipped
            continue
        context = codec.prepared(case.messages, case.context())
        for message in case.messages:
            count = len(list(codec.to_events(message, context=context)))
            for span in codec.explain(message, context=context).spans:
                if span.subject is not None and span.subject.event is not None:
                    assert span.subject.event < count, case.id
