"""The one interface of fast decoders, and the fallback to the plain decoder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from cdcwire.core.compiled.fallback import IRREGULARITIES
from cdcwire.core.message import Message
from cdcwire.core.rows import Row, event_of
from cdcwire.model.events import Event


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
