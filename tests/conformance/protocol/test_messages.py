"""A message in JSON, and back."""

from __future__ import annotations

import pytest

from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.files.json_messages import message_from_json, message_to_json
from cdcwire.model.text import Json


@pytest.mark.parametrize(
    ("message", "document"),
    [
        (KafkaMessage(None, None), {"key": None, "value": None}),
        (KafkaMessage(b"", b"\xff\x00"), {"key": "", "value": "/wA="}),
        (
            KafkaMessage(None, b"a", (("h", b"b"),)),
            {"key": None, "value": "YQ==", "headers": {"h": "Yg=="}},
        ),
        (StoredFile("a/b.csv", b"1\n"), {"path": "a/b.csv", "value": "MQo="}),
    ],
)
def test_message_goes_both_ways(message: Message, document: Json) -> None:
    assert message_to_json(message) == document
    assert message_from_json(document) == message


def test_message_what_is_missing_is_null() -> None:
    assert message_from_json({}) == KafkaMessage(None, None)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {"value": 1},
        {"value": "YQ"},
        {"value": "Y Q=="},
        {"value": "é"},
        {"key": "-_-_", "value": None},
        {"path": "a", "value": None},
        {"path": 1, "value": "YQ=="},
        {"value": "YQ==", "headers": []},
        {"value": "YQ==", "headers": {"h": 1}},
    ],
)
def test_message_that_is_none_is_refused(document: Json) -> None:
    with pytest.raises(ValueError, match=r"."):
        message_from_json(document)
