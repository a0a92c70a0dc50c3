"""The one interface of fast decoders, and the fallback to the plain decoder."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable

from cdcwire.core.message import Message
from cdcwire.core.rows import Row, event_of
from cdcwire.model.events import Event


class Irregular(Exception):
    """The fast decoder does not read this message, which may be good or bad."""


IRREGULARITIES = (
    Irregular,
    LookupError,  # an index or a number that is not in a table
    ValueError,  # texts and numbers that do not parse; every DecodeError
    OverflowError,  # a number that does not fit into a float32
    struct.error,  # fewer bytes than a number needs
    RecursionError,  # JSON in too many levels
)
"""What a fast decoder raises for a message that it does not read."""

ENCODE_IRREGULARITIES = (*IRREGULARITIES, TypeError, AttributeError)
"""What a fast encoder raises for a row that it does not write: a value may be of any type."""


class FastDecoder(ABC):
    """Decodes the messages of one feed to rows, by what it learned from earlier messages.

    Keep one decoder for a whole feed. Its memory is bounded, whatever the messages hold. It is not
    thread-safe. A format's decoder is made of a ``Context``.
    """

    def decode(self, message: Message) -> Iterable[Row | Event]:
        """Return the rows of a message, and its other events as they are.

        Raises: DecodeError, the same as the plain decoder.
        """
        try:
            return self._usual(message)
        except IRREGULARITIES:
            pass  # outside this block, an error of the plain decoder has no context
        return self._plain(message)

    def decode_events(self, message: Message) -> list[Event]:
        """Return the neutral events of a message. Raises: DecodeError."""
        return list(map(event_of, self.decode(message)))

    @abstractmethod
    def _usual(self, message: Message) -> Iterable[Row | Event]:
        """Return the rows of a regular message. Raises: one of IRREGULARITIES for any other."""

    @abstractmethod
    def _plain(self, message: Message) -> Iterable[Row | Event]:
        """Return the rows and events of any message, by the plain decoder. Raises: DecodeError."""
