"""The signs of a message of the Craft proposal."""

from __future__ import annotations

from cdcwire.core.guess import Guess
from cdcwire.core.message import KafkaMessage, Message

_VERSION = b"\x00\x01"


def identify(message: Message) -> Guess | None:
    """Return what shows that a message follows the proposal: two bytes with the version."""
    if not isinstance(message, KafkaMessage) or not (message.value or b"").startswith(_VERSION):
        return None
    return Guess("the version of the Craft proposal is 1, in two bytes", facts={"version": "1"})
