"""Python functions as a testee."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.model.events import Event, Progress
from cdcwire_conformance.protocol import Events, Messages, Rejected, Request
from cdcwire_conformance.testees import NoAnswer
from cdcwire_conformance.testees.codecs import Decode
from cdcwire_conformance.testees.in_process import Codec, InProcessTestee

ASK = Request("decode", "toy", {"messages": [{"key": None, "value": "AAE="}]})


def decoder_of(decode: Decode, timeout: float = 60, **members: object) -> InProcessTestee:
    codec = Codec(decode, **members)  # type: ignore[arg-type]
    return InProcessTestee("toy decoder", {"toy": codec}, timeout=timeout)


def test_ask_events_of_the_model_come_in_the_text_form() -> None:
    def decode(message: Message, context: Context) -> Iterator[Event]:
        assert message == KafkaMessage(None, b"\x00\x01")
        yield Progress("resolved")

    answer = decoder_of(decode).ask(ASK).answer
    assert answer == Events([{"kind": "progress", "what": "resolved"}])


def test_ask_events_in_the_text_form_stay() -> None:
    document = {"kind": "marker", "what": "begin"}
    assert decoder_of(lambda _message, *, context: [document]).ask(ASK).answer == Events([document])


def test_ask_decode_error_is_rejected_with_its_place() -> None:
    def decode(message: Message, context: Context) -> Iterator[Event]:
        raise DecodeError("nonsense", 1, "toy: all", ("rows", 0))

    answer = decoder_of(decode).ask(ASK).answer
    assert answer == Rejected("nonsense (toy: all)", 0, 1, ("rows", 0))


def test_ask_error_declared_as_rejection_is_rejected() -> None:
    def decode(message: Message, context: Context) -> Iterator[Event]:
        raise LookupError("no such thing")

    testee = decoder_of(decode, rejections=(LookupError,))
    assert testee.ask(ASK).answer == Rejected("no such thing")


def test_ask_any_other_error_is_a_crash_with_its_traceback() -> None:
    def decode(message: Message, context: Context) -> Iterator[Event]:
        raise IndexError("out of range")

    with pytest.raises(NoAnswer, match="IndexError: out of range") as caught:
        decoder_of(decode).ask(ASK)
    assert caught.value.kind == "crashed"
    assert "Traceback" in caught.value.stderr


@pytest.mark.skipif(os.name != "posix", reason="there is no alarm")
def test_ask_function_that_never_returns_times_out() -> None:
    def decode(message: Message, context: Context) -> Iterator[Event]:
        while True:
            time.sleep(0.01)

    with pytest.raises(NoAnswer) as caught:
        decoder_of(decode, timeout=0.2).ask(ASK)
    assert caught.value.kind == "timed out"


def test_ask_encode_gives_messages() -> None:
    testee = decoder_of(
        lambda _message, *, context: [],
        encode=lambda _events, *, context: [KafkaMessage(None, b"x")],
    )
    request = Request("encode", "toy", {"events": [{"kind": "progress", "what": "resolved"}]})
    assert testee.ask(request).answer == Messages((KafkaMessage(None, b"x"),))
