"""One judgement a case: accept, reject and encode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pytest

from cdcwire.core.context import NO_CONTEXT, Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.format import Format
from cdcwire.model.carries import EXACT
from cdcwire.model.events import Event, Position, Progress
from cdcwire.model.text import Json, event_to_json
from cdcwire.registry import get_format
from cdcwire_conformance.corpus import Case, load_cases
from cdcwire_conformance.corpus.case import Fault
from cdcwire_conformance.judge import judge_decoded, judge_encoded, rules_of
from cdcwire_conformance.judge.cases import judge_size
from cdcwire_conformance.judge.locate import find_focus
from cdcwire_conformance.protocol import Events, Messages, Rejected

Make = Callable[..., Case]


def events_of(toy: Format, case: Case) -> list[Json]:
    return [
        event_to_json(event)
        for message in case.messages
        for event in toy.to_events(message, context=NO_CONTEXT)
    ]


def test_encode_message_of_the_other_carrier_fails() -> None:
    (case,) = (
        each for each in load_cases(("csv",)) if each.id == "csv/prefix/repeats-across-files"
    )
    answer = Messages((KafkaMessage(None, case.messages[0].value),))
    judgement = judge_encoded(case, answer, get_format("csv"), rules_of(get_format("csv")))
    assert judgement.problem == "message 0 can't be read"
    assert "not a file" in judgement.differences[0].got


def test_accept_equal_events_pass(toy: Format, a_case: Make) -> None:
    case = a_case()
    case = replace(case, events=events_of(toy, case))
    assert judge_decoded(case, Events(events_of(toy, case)), rules_of(toy)).passed


def test_answer_far_larger_than_its_case_is_not_compared_in_detail(a_case: Make) -> None:
    case = replace(a_case(), events=[{"kind": "row"}])
    for answer in (Events([]), Messages(())):
        assert judge_size(case, answer, 1 << 20).passed
        assert "not compared in detail" in judge_size(case, answer, 2 << 20).problem
    assert judge_size(case, Rejected("no" * (1 << 20)), 2 << 20).passed
    large = replace(case, events=[{"kind": "row", "query": "x" * (1 << 20)}])
    assert judge_size(large, Events([]), 16 << 20).passed


def test_accept_other_value_fails_at_its_byte(toy: Format, a_case: Make) -> None:
    case = a_case(values=[b"7 8", b"1 22 333"])
    case = replace(case, events=events_of(toy, case))
    given = events_of(toy, case)
    given[4]["after"]["n"] = "334"
    judgement = judge_decoded(case, Events(given), rules_of(toy))
    assert judgement.problem == "1 difference"
    assert judgement.differences[0].where == "events[4].after.n"
    focus = find_focus(judgement.differences, case, toy)
    assert focus is not None
    assert focus.message == case.messages[1]
    assert (focus.part, focus.offset) == ("value", 5)


def test_accept_rejected_fails_with_what_the_testee_said(toy: Format, a_case: Make) -> None:
    case = a_case()
    answer = Rejected("bad digit", 0, 2, ("rows", 1))
    judgement = judge_decoded(replace(case, events=events_of(toy, case)), answer, rules_of(toy))
    assert judgement.problem == "rejected, though it is valid"
    assert "message 0, byte 2, rows[1]: bad digit" in judgement.differences[0].got
    assert judgement.focus is not None
    assert judgement.focus.offset == 2


@pytest.mark.parametrize("answer", [Rejected(), Rejected(offset=5), Rejected(message=7)])
def test_reject_rejected_passes_wherever_it_was_noticed(
    toy: Format, a_case: Make, answer: Rejected
) -> None:
    error = {"message": 0, "offset": 3, "path": ["words", 1], "clause": "toy: digits"}
    case = a_case(expect="reject", events=None, error=error)
    judgement = judge_decoded(case, answer, rules_of(toy))
    assert judgement.passed
    assert bool(judgement.notes) == (answer != Rejected())


def test_reject_same_place_has_no_note(toy: Format, a_case: Make) -> None:
    error = {"message": 0, "offset": 3, "path": ["words", 1], "clause": "toy: digits"}
    case = a_case(expect="reject", events=None, error=error)
    answer = Rejected("no", 0, 3, ("words", 1))
    assert judge_decoded(case, answer, rules_of(toy)).notes == ()


def test_reject_accepted_fails_at_the_byte_of_the_case(toy: Format, a_case: Make) -> None:
    error = {"message": 0, "offset": 3, "clause": "toy: digits"}
    case = a_case(expect="reject", events=None, error=error)
    judgement = judge_decoded(case, Events([]), rules_of(toy))
    assert judgement.problem == "accepted, though it is malformed"
    assert "byte 3: toy: digits" in judgement.differences[0].expected
    assert judgement.focus is not None
    assert judgement.focus.offset == 3


@pytest.mark.parametrize(
    ("derived", "part", "offset"), [("cut:2", "value", 2), ("key-length:1+1", "key", 1)]
)
def test_reject_derived_shows_the_byte_of_its_fault(
    toy: Format, a_case: Make, derived: str, part: str, offset: int
) -> None:
    case = a_case(
        expect="reject",
        events=None,
        error={"message": 0},
        derived=derived,
        fault=Fault(part, offset),
        messages=(KafkaMessage(b"key", b"1 22"),),
    )
    judgement = judge_decoded(case, Events([]), rules_of(toy))
    assert judgement.focus is not None
    assert (judgement.focus.part, judgement.focus.offset) == (part, offset)


def test_reject_derived_without_a_byte_has_no_focus(toy: Format, a_case: Make) -> None:
    case = a_case(expect="reject", events=None, error={"message": 0}, derived="trailing")
    assert judge_decoded(case, Events([]), rules_of(toy)).focus is None


def encoded(toy: Format, case: Case, *values: bytes) -> str:
    answer = Messages(tuple(KafkaMessage(None, value) for value in values))
    return judge_encoded(case, answer, toy, rules_of(toy)).problem


def test_encode_same_bytes_pass(toy: Format, a_case: Make) -> None:
    case = a_case(expect="encode", canonical=True)
    assert encoded(toy, case, b"1 22 333") == ""


def test_encode_other_bytes_fail_where_the_format_fixes_them(toy: Format, a_case: Make) -> None:
    case = a_case(expect="encode", canonical=True)
    fixed = replace(toy, fixes_bytes="yes")
    judgement = judge_encoded(
        case, Messages((KafkaMessage(None, b"1 23 333"),)), fixed, rules_of(fixed)
    )
    assert judgement.problem == "other bytes, from byte 3 of the value on"
    assert judgement.differences[0].path == ("messages", 0, "value", 3)
    assert judgement.differences[0].got.startswith("33 20 33")
    assert judgement.focus is not None
    assert judgement.focus.offset == 3


def test_encode_shorter_bytes_differ_at_their_end(toy: Format, a_case: Make) -> None:
    case = a_case(expect="encode", canonical=True)
    assert encoded(replace(toy, fixes_bytes="yes"), case, b"1 22 33").startswith(
        "other bytes, from byte 7"
    )


def test_encode_missing_key_differs(toy: Format, a_case: Make) -> None:
    case = a_case(expect="encode", canonical=True, messages=(KafkaMessage(b"k", b"1"),))
    assert encoded(replace(toy, fixes_bytes="yes"), case, b"1") == "another key"


def test_encode_other_writing_passes_where_bytes_are_free(toy: Format, a_case: Make) -> None:
    case = a_case(expect="encode", canonical=True)
    assert encoded(toy, case, b"1  22  333") == ""


def test_encode_other_events_fail(toy: Format, a_case: Make) -> None:
    case = a_case(expect="encode", canonical=True)
    assert encoded(toy, case, b"1 22 334") == "message 0: 1 difference"


def test_encode_bytes_that_can_not_be_read_fail_at_their_byte(toy: Format, a_case: Make) -> None:
    case = a_case(expect="encode", canonical=True)
    answer = Messages((KafkaMessage(None, b"1 x"),))
    judgement = judge_encoded(case, answer, toy, rules_of(toy))
    assert judgement.problem == "message 0 can't be read"
    assert judgement.focus is not None
    assert judgement.focus.offset == 2
    assert "toy: digits" in judgement.differences[0].got


def test_encode_other_batching_counts_only_if_canonical(toy: Format, a_case: Make) -> None:
    split = (b"1", b"22 333")
    assert encoded(toy, a_case(expect="encode", canonical=False), *split) == ""
    assert encoded(toy, a_case(expect="encode", canonical=True), *split) == (
        "2 messages instead of 1"
    )


def test_encode_rejected_fails(toy: Format, a_case: Make) -> None:
    case = a_case(expect="encode", canonical=True)
    judgement = judge_encoded(case, Rejected("no such type"), toy, rules_of(toy))
    assert judgement.problem == "rejected, though the format can carry it"


def sent(position: dict[str, str]) -> dict[str, object]:
    return {"kind": "progress", "what": "resolved", "position": position}


def with_clock(toy: Format) -> Format:
    """A toy whose messages say when they were sent: as many milliseconds as they have bytes."""

    def to_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
        yield Progress("resolved", Position(commit_ts=1, sent_ms=len(message.value or b"")))

    fields = {**toy.carries.fields, "sent_ms": EXACT}
    return replace(toy, to_events=to_events, carries=replace(toy.carries, fields=fields))


@pytest.mark.parametrize(
    ("position", "passes"),
    [({"commit_ts": "1"}, True), ({"commit_ts": "1", "sent_ms": "1"}, False)],
    ids=["not told", "told"],
)
def test_encode_time_of_sending_is_free_where_no_event_tells_it(
    toy: Format, a_case: Make, position: dict[str, str], passes: bool
) -> None:
    case = a_case(
        expect="encode",
        canonical=True,
        events=[sent(position)],
        messages=(KafkaMessage(None, b"!"),),
    )
    assert (encoded(with_clock(toy), case, b"!!") == "") is passes


def test_encode_answers_are_read_with_what_they_tell_of_each_other(
    toy: Format, a_case: Make
) -> None:
    asked = []

    def prepared(messages: Iterable[Message], context: Context) -> Context:
        asked.append([message.value for message in messages])
        return context

    case = a_case(expect="encode", canonical=True)
    assert encoded(replace(toy, prepared=prepared), case, b"1  22  333") == ""
    assert asked == [[message.value for message in case.messages], [b"1  22  333"]]
