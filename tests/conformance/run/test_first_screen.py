"""The first screen names the faults of a decoder that has three, in each format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from xml.etree.ElementTree import fromstring

import pytest

from cdcwire.console.visible import visible, visible_lines
from cdcwire.core.context import Context
from cdcwire.core.message import Message
from cdcwire.format import Format
from cdcwire.model.events import Event, Image, RowChange
from cdcwire.model.kinds import SetType
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.corpus import load_cases
from cdcwire_conformance.known_wrong import KnownWrong
from cdcwire_conformance.output.html.verify_page import page_of
from cdcwire_conformance.output.json_document import document_of
from cdcwire_conformance.output.junit import junit_text
from cdcwire_conformance.output.markdown import markdown_text
from cdcwire_conformance.output.text import report_lines
from cdcwire_conformance.run.groups import FailureGroup, failure_groups
from cdcwire_conformance.run.results import Results
from cdcwire_conformance.run.runner import run
from cdcwire_conformance.suite import get_suite
from cdcwire_conformance.testees.in_process import Codec, InProcessTestee

SCREEN = 24  # lines
NO_CONTEXT = Context()

# Name of a known-wrong decoder to what its line says.
NUMBERS_NULLS_KEYS = {
    "integers-through-double": "it went through a 64-bit float",
    "null-left-out": "NULL -> absent",
    "key-lost": '  key: ["',
}
TEXTS_AND_IMAGES = {
    "empty-text-as-null": '"" as text',
    "text-as-latin-1": "UTF-8 was read as Latin-1",
    "insert-with-null-before": "before: no row (null) -> a row of",
}
BYTES_AND_ERRORS = {
    "null-as-zero": 'NULL -> "',
    "binary-as-text": 'the type is bytes: answer {"bytes": base64}',
    "errors-swallowed": "accepted, though malformed: ",
}
FAULTS = (NUMBERS_NULLS_KEYS, TEXTS_AND_IMAGES, BYTES_AND_ERRORS)
# One for each set of faults: the writers of reports do not know the format.
ONE_OF_EACH = [
    pytest.param(name, marks=() if name in FORMAT_NAMES[-len(FAULTS) :] else pytest.mark.nightly)
    for name in FORMAT_NAMES
]


def faults_of(format_name: str) -> dict[str, str]:
    """Return the faults of a format's decoder; the sets take turns."""
    return FAULTS[FORMAT_NAMES.index(format_name) % len(FAULTS)]


def with_fault(format_: Format, fault: KnownWrong) -> Format:
    """Return a format whose decoder also has this fault."""

    def to_events(message: Message, /, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
        return iter(fault.decode(format_, message, context))

    return replace(format_, to_events=to_events)


@cache
def results_of(format_name: str) -> Results:
    """Return a run of the format's cases against a decoder with its three faults."""
    known = {wrong.name: wrong for wrong in get_suite(format_name).known_wrong}
    right = wrong = get_format(format_name)
    for name in faults_of(format_name):
        wrong = with_fault(wrong, known[name])
    codec = Codec(wrong.to_events, prepared=right.prepared)
    testee = InProcessTestee("three faults", {format_name: codec})
    results = Results(testee.start(), "", "in process", "0.1.0", (format_name,))
    return run(load_cases([format_name]), (), [testee], results)


@pytest.mark.long
@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_first_screen_names_three_planted_faults(format_name: str) -> None:
    screen = list(report_lines(results_of(format_name)))[:SCREEN]
    for name, line in faults_of(format_name).items():
        assert any(line in shown for shown in screen), (name, screen)


@pytest.mark.parametrize("format_name", ONE_OF_EACH)
def test_markdown_and_json_have_the_same_groups(format_name: str) -> None:
    results = results_of(format_name)
    groups = failure_groups(results)
    text = markdown_text(results)
    rows = [line for line in text.splitlines() if line.startswith("| ") and "`" not in line]
    assert [int(row.split(" | ")[0][2:]) for row in rows if row[2].isdigit()] == [
        len(group.outcomes) for group in groups
    ]
    assert [(group["part"], group["count"]) for group in document_of(results)["groups"]] == [
        (group.part, len(group.outcomes)) for group in groups
    ]


@pytest.mark.parametrize("format_name", ONE_OF_EACH)
def test_junit_and_html_name_the_same_groups(format_name: str) -> None:
    results = results_of(format_name)
    groups = failure_groups(results)
    texts = [each.text or "" for each in fromstring(junit_text(results)).iter() if each.text]
    named = Counter(
        line.removeprefix("group: ")
        for text in texts
        for line in text.splitlines()
        if line.startswith("group: ")
    )
    expected: Counter[str] = Counter()
    for group in groups:
        expected[visible_lines(group.name)] += len(group.outcomes)
    assert named == expected
    page = page_of(results, {})
    assert [(line.part, line.number) for line in page.groups] == [
        (visible(group.title), len(group.outcomes)) for group in groups
    ]


@pytest.mark.long
@pytest.mark.parametrize("format_name", FORMAT_NAMES)
def test_groups_hold_every_failure_and_begin_with_what_binds(format_name: str) -> None:
    results = results_of(format_name)
    groups = failure_groups(results)
    grouped = {outcome.id for group in groups for outcome in group.outcomes}
    assert grouped == {outcome.id for outcome in results.bad()}

    def rank(group: FailureGroup) -> tuple[bool, int]:
        return not group.is_binding, ("accept", "encode", "reject").index(group.section)

    assert list(map(rank, groups)) == sorted(map(rank, groups))
    assert len(groups) < 30


def test_position_that_is_never_answered_can_be_declined() -> None:
    """One feature explains many failures: the report says how to decline it."""
    format_ = get_format("craft")

    def decode(message: Message, /, *, context: Context) -> Iterable[Event]:
        for event in format_.to_events(message, context=context):
            yield replace(event, position=replace(event.position, commit_ts=None))

    testee = InProcessTestee("no position", {"craft": Codec(decode)})
    results = Results(testee.start(), "", "in process", "0.1.0", ("craft",))
    run([case for case in load_cases(["craft"]) if case.expect == "accept"], (), [testee], results)
    group = failure_groups(results)[0]
    assert (group.part, group.decline) == ("position.commit_ts", "commit_ts")
    assert "differ only here; decline it with --without commit_ts" in (group.advice)
    assert len(failure_groups(results)) == 2  # those that bind, and those that do not


def test_declined_feature_is_the_type_of_the_columns() -> None:
    """The cases with sets have bits and texts too: the line about sets must not blame these."""
    format_ = get_format("maxwell-json")

    def without_sets(image: Image | None) -> Image | None:
        return image and Image.of(
            (column, value) for column, value in image.pairs if not isinstance(column.type, SetType)
        )

    def decode(message: Message, /, *, context: Context) -> Iterable[Event]:
        for event in format_.to_events(message, context=context):
            if isinstance(event, RowChange):
                before, after = without_sets(event.before), without_sets(event.after)
                yield replace(event, before=before, after=after)
            else:
                yield event

    codec = Codec(decode, prepared=format_.prepared)
    testee = InProcessTestee("no sets", {"maxwell-json": codec})
    results = Results(testee.start(), "", "in process", "0.1.0", ("maxwell-json",))
    cases = [case for case in load_cases(["maxwell-json"]) if case.expect == "accept"]
    run(cases, (), [testee], results)
    assert {group.decline for group in failure_groups(results)} - {""} == {"set"}
