"""Craft in the registry: messages to events and back, and the promises of its tables."""

from __future__ import annotations

import pytest

from cdcwire.core.context import NO_CONTEXT, Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.formats.craft.format import FORMAT
from cdcwire.model.events import Position, Progress
from cdcwire.registry import get_format

RESOLVED = bytes.fromhex("010103010101020a09010005")
ROW = bytes.fromhex(
    "01a091d8e18ebba7c51601010000010102060001020404746573746e756c6c021a03010c010c07"
)


def test_registry_has_the_format() -> None:
    assert get_format("craft") is FORMAT


@pytest.mark.parametrize("message", [KafkaMessage(None, RESOLVED), StoredFile("a", RESOLVED)])
def test_message_is_decoded_from_any_carrier(message: KafkaMessage | StoredFile) -> None:
    events = list(FORMAT.to_events(message, context=NO_CONTEXT))
    assert events == [Progress("resolved", Position(commit_ts=1))]


def test_message_is_encoded_with_a_null_key() -> None:
    nullable = ROW[:18] + b"\x41" + ROW[19:]
    events = list(FORMAT.to_events(KafkaMessage(None, nullable), context=NO_CONTEXT))
    assert list(FORMAT.from_events(events, context=NO_CONTEXT)) == [KafkaMessage(None, nullable)]


def test_message_key_is_not_looked_at() -> None:
    assert list(FORMAT.to_events(KafkaMessage(b"key", RESOLVED), context=NO_CONTEXT))


def test_message_without_value_is_rejected() -> None:
    with pytest.raises(DecodeError) as caught:
        list(FORMAT.to_events(KafkaMessage(None, None), context=NO_CONTEXT))
    assert caught.value.clause == "craft: kafka message"


def test_selection_of_the_context_is_kept_to() -> None:
    context = Context(selection=Selection(tables=frozenset({("test", "other")})))
    assert list(FORMAT.to_events(KafkaMessage(None, ROW), context=context)) == []


def test_options_of_the_context_are_parsed() -> None:
    with pytest.raises(ValueError, match="max-batch-size"):
        list(
            FORMAT.to_events(
                KafkaMessage(None, ROW), context=Context(options={"max-batch-size": "many"})
            )
        )
