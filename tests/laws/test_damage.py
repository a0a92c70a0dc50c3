"""Damaged bytes: a decoder says where and why, or reads another message; it never breaks.

Each error is a DecodeError with an offset within the bytes, a path, and a clause of the format.
``explain`` meets the same bytes with spans that lie within them, and the same error.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire import craft, craft_proposal, open_protocol
from cdcwire.errors import DecodeError
from cdcwire.format import NO_CONTEXT, Format
from cdcwire.formats import FORMAT_NAMES, get_format
from cdcwire.message import KafkaMessage
from cdcwire_generators.strategies import (
    craft_messages,
    damaged_bytes,
    open_messages,
    proposal_messages,
)


def _craft_messages() -> st.SearchStrategy[KafkaMessage]:
    return craft_messages().map(lambda message: KafkaMessage(None, craft.encode(message)))


def _proposal_messages() -> st.SearchStrategy[KafkaMessage]:
    return proposal_messages().map(
        lambda message: KafkaMessage(None, craft_proposal.encode(message))
    )


def _open_messages() -> st.SearchStrategy[KafkaMessage]:
    return open_messages().map(lambda message: KafkaMessage(*open_protocol.encode(message)))


MESSAGES: dict[str, Callable[[], st.SearchStrategy[KafkaMessage]]] = {
    "craft": _craft_messages,
    "craft-proposal": _proposal_messages,
    "open-protocol": _open_messages,
}
FIXED_COST = 1 << 17  # tables and caches that do not grow with a message
each_format = pytest.mark.parametrize("name", FORMAT_NAMES)


def damaged(data: st.DataObject, message: KafkaMessage) -> KafkaMessage:
    """Return a message with damage in its key, its value or both."""
    sides = ["value"] if message.key is None else ["value", "key", "both"]
    side = data.draw(st.sampled_from(sides))
    if side != "value":
        assert message.key is not None
        message = replace(message, key=data.draw(damaged_bytes(message.key)))
    if side != "key":
        assert message.value is not None
        message = replace(message, value=data.draw(damaged_bytes(message.value)))
    return message


def failure_of(through: Format, message: KafkaMessage) -> DecodeError | None:
    try:
        list(through.decode(message, NO_CONTEXT))
    except DecodeError as error:
        return error
    return None


@each_format
@given(data=st.data())
def test_damaged_bytes_raise_decode_error_only(name: str, data: st.DataObject) -> None:
    message = damaged(data, data.draw(MESSAGES[name]()))
    error = failure_of(get_format(name), message)
    if error is not None:
        longest = max(len(message.key or b""), len(message.value or b""))
        assert 0 <= error.offset <= longest
        assert error.path
        assert error.clause.startswith(f"{name}: ")


@each_format
@given(data=st.data())
def test_any_bytes_raise_decode_error_only(name: str, data: st.DataObject) -> None:
    random_bytes = st.binary(max_size=60)
    key = data.draw(st.one_of(st.none(), random_bytes))
    message = KafkaMessage(key, data.draw(st.one_of(random_bytes, st.none())))
    error = failure_of(get_format(name), message)
    assert error is None or error.clause.startswith(f"{name}: ")


@each_format
@given(data=st.data())
def test_every_truncation_is_rejected(name: str, data: st.DataObject) -> None:
    """No message is the beginning of another one."""
    message = data.draw(MESSAGES[name]())
    assert message.value is not None
    through = get_format(name)
    for cut in range(len(message.value)):
        error = failure_of(through, replace(message, value=message.value[:cut]))
        if name == "open-protocol" and error is None:
            assert cut == 0  # an empty value stands for those of resolved events
            continue
        assert error is not None
        assert error.offset <= cut


@each_format
@given(data=st.data())
def test_explain_of_damaged_bytes_never_raises_and_finds_the_same_error(
    name: str, data: st.DataObject
) -> None:
    message = damaged(data, data.draw(MESSAGES[name]()))
    through = get_format(name)
    error = failure_of(through, message)
    explanation = through.explain(message, NO_CONTEXT)
    sides = {"key": message.key or b"", "value": message.value or b""}
    for span in explanation.spans:
        assert 0 <= span.start <= span.end <= len(sides[span.part])
        assert span.clause.startswith(f"{name}: ")
    if error is None:
        assert explanation.error is None
    else:
        assert explanation.error is not None
        assert explanation.error.offset == error.offset
        assert explanation.error.path == error.path
        assert explanation.error.clause == error.clause


@each_format
@given(data=st.data())
def test_explain_of_good_bytes_covers_every_byte(name: str, data: st.DataObject) -> None:
    """Each byte of a message belongs to exactly one span."""
    message = data.draw(MESSAGES[name]())
    explanation = get_format(name).explain(message, NO_CONTEXT)
    for part, side in (("key", message.key or b""), ("value", message.value or b"")):
        spans = sorted((s.start, s.end) for s in explanation.spans if s.part == part)
        reached = 0
        for start, end in spans:
            assert start == reached
            reached = end
        assert reached == len(side)


@each_format
@given(data=st.data())
def test_damaged_bytes_need_memory_in_proportion_to_their_number(
    name: str, data: st.DataObject
) -> None:
    """A length that lies is found before anything is allocated: 128 bytes a byte are enough."""
    message = damaged(data, data.draw(MESSAGES[name]()))
    through = get_format(name)
    tracemalloc.start()
    failure_of(through, message)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = len(message.key or b"") + len(message.value or b"")
    assert peak < 128 * size + FIXED_COST
