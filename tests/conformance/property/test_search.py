"""Known-wrong decoders are found by generated messages, and shrink to the smallest one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import Message
from cdcwire.model.events import Event
from cdcwire.registry import get_format
from cdcwire_conformance.known_wrong import KnownWrong
from cdcwire_conformance.known_wrong.decoder import right
from cdcwire_conformance.property.search import (
    Findings,
    SearchSettings,
    search,
    seconds_to_shrink,
)
from cdcwire_conformance.run.asking import Judge
from cdcwire_conformance.run.selection import Declared
from cdcwire_conformance.suite import get_suite
from cdcwire_conformance.testees import NoAnswer
from cdcwire_conformance.testees.in_process import Codec, InProcessTestee

pytest.importorskip("hypothesis")
EXAMPLES = 300


class Counting(InProcessTestee):
    """A testee that counts how often it is asked."""

    asked = 0

    def ask(self, *arguments: Any, **members: Any) -> Any:
        self.asked += 1
        return super().ask(*arguments, **members)


def found_in(
    known_wrong: KnownWrong,
    format_name: str,
    *,
    without: frozenset[str] = frozenset(),
    database: Path | None = None,
    examples: int = EXAMPLES,
    seconds: float = 600,
) -> tuple[Findings, Counting]:
    through = get_format(format_name)

    def decode(message: Message, *, context: Context) -> list[Event]:
        return known_wrong.decode(through, message, context)

    codec = Codec(decode, without=without, prepared=through.prepared)
    testee = Counting(known_wrong.name, {format_name: codec})
    judge = Judge(testee.start(), Declared(choices=through.choices))
    settings = SearchSettings(examples, 1, database, seconds_to_shrink=seconds)
    return search(testee, judge, format_name, "decode", settings), testee


class Late(InProcessTestee):
    """A testee whose first answers come too late, as on a slow machine."""

    left = 5

    def ask(self, *arguments: Any, **members: Any) -> Any:
        if self.left:
            self.left -= 1
            raise NoAnswer("timed out", "no answer within 1 s")
        return super().ask(*arguments, **members)


def test_answers_that_are_late_at_first_count_as_passed() -> None:
    through = get_format("craft")
    testee = Late("late", {"craft": Codec(through.to_events)})
    judge = Judge(testee.start(), Declared(choices=through.choices))
    findings = search(testee, judge, "craft", "decode", SearchSettings(20, 1))
    assert findings.failures == []
    assert findings.passed > 0
    assert "after 5 messages without an answer in time; --timeout allows more" in findings.note


def known_wrong_of(format_name: str, name: str) -> KnownWrong:
    return next(each for each in get_suite(format_name).known_wrong if each.name == name)


@pytest.mark.long
@pytest.mark.parametrize(
    ("format_name", "name"),
    [
        ("craft", "year-without-zigzag"),
        ("craft", "delete-lost"),
        ("open-protocol", "empty-text-as-null"),
        ("avro", "key-lost"),
        ("maxwell-json", "null-left-out"),
    ],
)
def test_known_wrong_decoder_is_found_and_shrunk_to_one_row(format_name: str, name: str) -> None:
    findings, _ = found_in(known_wrong_of(format_name, name), format_name)
    assert findings.failures
    for outcome in findings.failures:
        events = outcome.case.events or []
        assert len(events) == 1
        assert all(len(image) <= 2 for image in (events[0]["before"], events[0]["after"]) if image)
        assert outcome.case.clauses
        assert outcome.differences


def test_right_decoder_passes() -> None:
    findings, _ = found_in(KnownWrong("right", "none", right), "craft", examples=20)
    assert findings.failures == []
    assert findings.passed == findings.asked > 0


def test_search_ends_at_once_if_its_time_to_shrink_is_over() -> None:
    wrong = known_wrong_of("craft", "key-lost")
    findings, testee = found_in(wrong, "craft", seconds=0)
    assert len(findings.failures) == 1
    assert testee.asked == findings.asked + 1  # a fresh process confirms the failure
    assert findings.note == "shrinking ended after 0 s"


@pytest.mark.parametrize(("searches", "seconds"), [(0, 60), (1, 60), (4, 15), (20, 10)])
def test_searches_of_a_run_share_the_time_to_shrink(searches: int, seconds: float) -> None:
    assert seconds_to_shrink(searches) == seconds


def test_second_search_begins_with_the_failure_of_the_first(tmp_path: Path) -> None:
    wrong = known_wrong_of("craft", "year-without-zigzag")
    first, _ = found_in(wrong, "craft", database=tmp_path)
    second, _ = found_in(wrong, "craft", database=tmp_path, examples=1)
    assert [each.id for each in second.failures] == [each.id for each in first.failures] != []


def test_declined_features_are_never_asked() -> None:
    without = frozenset({"year", "ddl", "resolved", "partition"})
    wrong = known_wrong_of("craft", "year-without-zigzag")
    findings, testee = found_in(wrong, "craft", without=without, examples=40)
    assert testee.asked > 0
    assert findings.failures == []
