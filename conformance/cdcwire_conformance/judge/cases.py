"""One judgement per case.

Accept: the events have to agree. Reject: a refusal is enough. The place of the refusal is a note,
since the offset of a rejection is only a "should". Encode: the bytes have to agree where the format
fixes them and the case is canonical. Otherwise the events that the reference reads in them have to
agree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.format import Format
from cdcwire.model.events import path_text
from cdcwire.model.text import Json, event_to_json
from cdcwire_conformance.corpus.case import Case
from cdcwire_conformance.judge.difference import Difference, shorten, shown_event
from cdcwire_conformance.judge.events import MOST_DIFFERENCES, EventRules, compare_events
from cdcwire_conformance.protocol.answers import Answer, Events, Messages, Rejected


@dataclass(frozen=True, slots=True)
class Focus:
    """The byte that a failure is about, in a message of the case or of the answer."""

    message: Message
    part: str
    offset: int
    title: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """``problem`` in a line, with nothing in it when the case is passed. ``notes`` never fail."""

    problem: str = ""
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    focus: Focus | None = None

    @property
    def passed(self) -> bool:
        """True if the case passed."""
        return not self.problem


PASSED = Judgement()
_MOST_DETAILED = 1 << 20  # bytes of an answer that are always compared
_LARGER = 16  # how many times larger an answer may be than events and messages of its case


def judge_size(case: Case, answer: Answer, size: int) -> Judgement:
    """Return a failure for an answer that is far larger than any right one.

    Comparing one in detail may take longer than a testee has for its answer. ``size``: in bytes.
    """
    if size <= _MOST_DETAILED or isinstance(answer, Rejected):
        return PASSED
    expected = len(json.dumps(case.events or []))
    expected += sum(len(part or b"") for each in case.messages for part in _bytes_of(each))
    if size <= _MOST_DETAILED + _LARGER * expected:
        return PASSED
    return Judgement(
        f"the answer has {size:,} bytes, and what it is about has {expected:,}: it is not compared "
        "in detail"
    )


def judge_decoded(case: Case, answer: Answer, rules: EventRules) -> Judgement:
    """Judge the answer to the decode request of a case."""
    if case.expect == "reject":
        return _judge_rejection(case, answer)
    if isinstance(answer, Rejected):
        return Judgement(
            "rejected, though it is valid",
            (_refused(_summary(case.events or []), answer),),
            focus=_focus_of_rejection(case, answer),
        )
    assert isinstance(answer, Events)
    differences = compare_events(case.events or [], answer.events, rules)
    if not differences:
        return PASSED
    return Judgement(_count(differences), tuple(differences))


def _refused(wanted: str, answer: Rejected) -> Difference:
    change = "accepted", f"rejected: {answer.problem or 'no reason given'}"
    return Difference((), wanted, rejection_text(answer), change=change)


def _summary(events: Sequence[Json]) -> str:
    shown = ", ".join(shown_event(event) for event in events[:3])
    more = f", and {len(events) - 3} more" if len(events) > 3 else ""
    return f"{shown}{more}" if events else "no events"


def rejection_text(answer: Rejected) -> str:
    """Return a rejection for people."""
    where = [] if answer.message is None else [f"message {answer.message}"]
    if answer.offset is not None:
        where.append(f"byte {answer.offset}")
    if answer.path:
        where.append(shorten(path_text(answer.path)))
    place = f" at {', '.join(where)}" if where else ""
    return f"rejected{place}: {shorten(answer.problem or 'no reason given')}"


def _focus_of_rejection(case: Case, answer: Rejected) -> Focus | None:
    index = answer.message or 0
    if answer.offset is None or index >= len(case.messages):
        return None
    title = "the byte where the testee stopped"
    return _focus(case.messages[index], "value", answer.offset, title)


def _focus(message: Message, part: str, offset: int, title: str) -> Focus | None:
    data = message.key if part == "key" and isinstance(message, KafkaMessage) else message.value
    return None if data is None else Focus(message, part, min(offset, len(data)), title)


def _count(differences: Sequence[Difference]) -> str:
    if len(differences) >= MOST_DIFFERENCES:
        return f"{MOST_DIFFERENCES} differences or more"
    return "1 difference" if len(differences) == 1 else f"{len(differences)} differences"


def _judge_rejection(case: Case, answer: Answer) -> Judgement:
    error = case.error or {}
    if isinstance(answer, Rejected):
        return Judgement(notes=tuple(_rejection_notes(error, answer)))
    assert isinstance(answer, Events)
    index, part, offset = _place_of_fault(case, error)
    focus = None
    if offset is not None and index < len(case.messages):
        focus = _focus(case.messages[index], part, offset, "the byte that is wrong")
    where = "" if offset is None else f" at byte {offset}{' of the key' if part == 'key' else ''}"
    wanted = f"a rejection{where}: {error.get('clause') or case.title}"
    return Judgement(
        "accepted, though it is malformed",
        (Difference((), wanted, _summary(answer.events), change=("rejected", "accepted")),),
        focus=focus,
    )


def _place_of_fault(case: Case, error: Mapping[str, Json]) -> tuple[int, str, int | None]:
    """Return message, part and offset."""
    if case.fault is not None:
        return error.get("message", 0), case.fault.part, case.fault.offset
    return error.get("message", 0), error.get("part", "value"), error.get("offset")


def _rejection_notes(error: Json, answer: Rejected) -> list[str]:
    """Return where the testee noticed the fault elsewhere than the reference."""
    notes = []
    for name in ("message", "offset"):
        wanted, found = error.get(name), getattr(answer, name)
        if wanted is not None and found is not None and wanted != found:
            notes.append(f"rejected with {name} {found}; the reference says {wanted}")
    path = error.get("path")
    if path is not None and answer.path is not None and tuple(path) != answer.path:
        theirs, ours = shorten(path_text(answer.path)), path_text(tuple(path))
        notes.append(f"rejected in {theirs or 'the message'}; the reference says {ours}")
    return notes


def judge_encoded(case: Case, answer: Answer, codec: Format, rules: EventRules) -> Judgement:
    """Judge the answer to the encode request of a case."""
    if isinstance(answer, Rejected):
        wanted = f"{len(case.messages)} messages" if len(case.messages) > 1 else "a message"
        return Judgement(
            "rejected, though the format can carry it",
            (_refused(wanted, answer),),
        )
    assert isinstance(answer, Messages)
    if _same_bytes(case.messages, answer.messages):
        return PASSED
    if case.canonical and codec.fixes_bytes == "yes":
        return _first_other_byte(case.messages, answer.messages)
    return _judge_by_reading(case, answer.messages, codec, rules)


def _same_bytes(expected: Sequence[Message], given: Sequence[Message]) -> bool:
    """Headers are not compared: no format here says anything in them."""
    return list(map(_bytes_of, expected)) == list(map(_bytes_of, given))


def _bytes_of(message: Message) -> tuple[str | bytes | None, bytes | None]:
    first = message.key if isinstance(message, KafkaMessage) else message.path
    return first, message.value


def _first_other_byte(expected: Sequence[Message], given: Sequence[Message]) -> Judgement:
    if len(expected) != len(given):
        difference = Difference(("messages",), str(len(expected)), str(len(given)))
        return Judgement(f"{len(given)} messages instead of {len(expected)}", (difference,))
    for index, pair in enumerate(zip(expected, given, strict=True)):
        for name in ("key", "path", "value"):
            wanted, found = (getattr(message, name, None) for message in pair)
            if wanted == found:
                continue
            path = ("messages", index, name)
            if not isinstance(wanted, bytes) or not isinstance(found, bytes):
                return Judgement(
                    f"another {name}", (Difference(path, f"{wanted!r}", f"{found!r}"),)
                )
            offset = _first_difference(wanted, found)
            got = f"{_bytes_at(found, offset)} (in all {len(found)} bytes)"
            want = f"{_bytes_at(wanted, offset)} (in all {len(wanted)} bytes)"
            title = f"where the bytes expected of message {index} differ"
            return Judgement(
                f"other bytes, from byte {offset} of the {name} on",
                (Difference((*path, offset), want, got),),
                focus=_focus(pair[0], name, offset, title),
            )
    raise AssertionError("the messages are equal")


def _first_difference(left: bytes, right: bytes) -> int:
    for offset, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return offset
    return min(len(left), len(right))


def _bytes_at(data: bytes, offset: int) -> str:
    shown = data[offset : offset + 8].hex(" ")
    return f"{shown or 'the end'}{'…' if len(data) > offset + 8 else ''}"


def _judge_by_reading(
    case: Case, given: Sequence[Message], codec: Format, rules: EventRules
) -> Judgement:
    """Let the reference read what was written, and what should have been."""
    rules = _without_clock(rules, case)
    context = codec.prepared(case.messages, case.context())
    expected = [_read(message, codec, context) for message in case.messages]
    if case.canonical and len(given) != len(expected):
        difference = Difference(("messages",), str(len(expected)), str(len(given)))
        return Judgement(f"{len(given)} messages instead of {len(expected)}", (difference,))
    found = []
    context = codec.prepared(given, case.context())
    for index, message in enumerate(given):
        try:
            found.append(_read(message, codec, context))
        except DecodeError as error:
            title = f"message {index} of the answer, where the reference stops"
            return Judgement(
                f"message {index} can't be read",
                (Difference(("messages", index), "a valid message", str(error)),),
                focus=_focus(message, "value", error.offset, title),
            )
    if case.canonical:
        for index, (wanted, got) in enumerate(zip(expected, found, strict=True)):
            if differences := compare_events(wanted, got, rules):
                where = f"message {index}: {_count(differences)}"
                return Judgement(where, tuple(differences))
        return PASSED
    differences = compare_events(list(chain(*expected)), list(chain(*found)), rules)
    return Judgement(_count(differences), tuple(differences)) if differences else PASSED


def _without_clock(rules: EventRules, case: Case) -> EventRules:
    """Return the rules without the time of sending where no event has it: a clock may give it."""
    if any("sent_ms" in event.get("position", {}) for event in case.events or ()):
        return rules
    return replace(rules, ignored=rules.ignored | {"sent_ms"})


def _read(message: Message, codec: Format, context: Context) -> list[Json]:
    return [event_to_json(event) for event in codec.to_events(message, context=context)]
