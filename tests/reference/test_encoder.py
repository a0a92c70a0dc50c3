"""``Encoder``: wrong arguments are named, and settings count."""

from __future__ import annotations

from typing import Any

import pytest

import cdcwire
from cdcwire import Decoder, EncodeError, Encoder, OptionError
from cdcwire_conformance.corpus.store import load_case

VALUE = b'{"database":"shop","table":"orders","type":"insert","ts":1,"data":{"id":7,"note":"a"}}'
[EVENT] = cdcwire.decode("maxwell-json", VALUE)
[RESOLVED] = cdcwire.decode("craft", bytes.fromhex("010003010101020a09010005"))
MARKER = cdcwire.Marker("begin", "1")


def test_events_become_the_messages_that_they_come_from() -> None:
    [message] = Encoder("maxwell-json").encode([EVENT])
    assert message.value == VALUE


def test_options_count() -> None:
    [event] = cdcwire.decode("open-protocol", load_case("open-protocol/rows/update").messages[0])
    assert len(Encoder("open-protocol").encode([event] * 3)) == 1
    encoder = Encoder("open-protocol", options={"max-batch-size": 1})
    assert len(encoder.encode([event] * 3)) == 3


def test_event_without_a_place_is_an_encode_error_with_its_number() -> None:
    with pytest.raises(EncodeError) as caught:
        Encoder("craft").encode([RESOLVED, MARKER])
    assert 1 in caught.value.path


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        (EVENT, "events is one RowChange; it must be a list"),
        ([VALUE], "events holds a bytes; it must hold events"),
        (Decoder("maxwell-json", rows=dict).decode(VALUE), "events holds a Change; it must"),
    ],
)
def test_other_things_than_events_are_a_type_error(events: Any, problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        Encoder("maxwell-json").encode(events)


def test_wrong_settings_are_named_at_once() -> None:
    with pytest.raises(ValueError, match=r"unknown format 'crafd'; did you mean 'craft'\?"):
        Encoder("crafd")
    with pytest.raises(OptionError, match="unknown option 'protocool'"):
        Encoder("craft", options={"protocool": 1})
    with pytest.raises(TypeError, match=r"^options is "):
        Encoder("craft", options=[1])  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(TypeError, match=r"^tables holds "):
        Encoder("craft", tables=[1])  # type: ignore[list-item]  # wrong on purpose
