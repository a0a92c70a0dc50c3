"""The signs of a Tuple topic: a body whose records are lists of fields."""

from __future__ import annotations

from cdcwire.core.guess import Guess
from cdcwire.core.message import Message
from cdcwire.datahub.identify import guess_body


def identify(message: Message) -> Guess | None:
    """Return what shows that a message is a body of tuples."""
    return guess_body(message, "tuples")
