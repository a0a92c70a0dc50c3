"""The interfaces of fast decoders and encoders, and the fallback to the plain ones.

A fast encoder gives the messages and the errors of ``from_events``, by construction. It makes the
*piece* of a message that one row needs. Batches, files and all other events are the plain
encoder's, which takes the pieces that are ready and makes the others itself.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from cdcwire.core.caches import BoundedCache
from cdcwire.core.message import Message
from cdcwire.core.rows import Row, event_of
from cdcwire.model.events import Event, RowChange, Table
from cdcwire.model.kinds import ABSENT, Column


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


Piece = TypeVar("Piece", covariant=True)
Plan = TypeVar("Plan")

_MAX_COLUMNS = 1 << 15  # of all plans together


class FastEncoder(ABC, Generic[Piece]):
    """Encodes events to messages, by what it learned from earlier events.

    Keep one encoder for a whole feed. Its memory is bounded. It is not thread-safe. A format's
    encoder is made of a ``Context``.
    """

    def encode(self, events: Iterable[Row | Event]) -> Iterator[Message]:
        """Yield the messages of a feed, batched as the producer does.

        Raises: EncodeError, the same as ``from_events`` of these events.
        """
        return self._messages(map(event_of, events))

    def piece(self, event: Event) -> Piece | None:
        """Return what a message has of a row; None where the plain encoder has to make it."""
        if not isinstance(event, RowChange):
            return None
        try:
            return self._piece(event)
        except ENCODE_IRREGULARITIES:
            return None

    @abstractmethod
    def _messages(self, events: Iterable[Event]) -> Iterator[Message]:
        """Yield the messages as the plain encoder does, with the pieces of ``piece``."""

    @abstractmethod
    def _piece(self, change: RowChange) -> Piece:
        """Return the piece of a regular row.

        Raises: one of ENCODE_IRREGULARITIES for any other.
        """


class ImagePlans(Generic[Plan]):
    """Plans of row images: all that an encoder derives from a table and its columns, made once.

    ``make`` makes the plan of a table and its columns. The images of a feed mostly share one tuple
    of columns, which is found by its identity. Other tuples are found by their value, except those
    with defaults: 1.0 and 1.00 are equal, and not the same default.
    """

    def __init__(self, make: Callable[[Table, tuple[Column, ...]], Plan]) -> None:
        self._make = make
        self._by_id: BoundedCache[tuple[object, ...], tuple[Plan, object, object]]
        self._by_id = BoundedCache(_MAX_COLUMNS)
        self._by_value: BoundedCache[tuple[Table, tuple[Column, ...]], Plan]
        self._by_value = BoundedCache(_MAX_COLUMNS)
        self._last: tuple[Table, tuple[Column, ...], Plan] | None = None

    def of(self, table: Table, columns: tuple[Column, ...]) -> Plan:
        """Return the plan of an image. Raises: what ``make`` raises."""
        last = self._last
        if last is not None and last[0] is table and last[1] is columns:
            return last[2]
        plan = self._of_identity(table, columns)
        self._last = table, columns, plan
        return plan

    def _of_identity(self, table: Table, columns: tuple[Column, ...]) -> Plan:
        defined = table.columns
        names = (table.schema, table.name, table.database, table.key, table.version)
        place = (id(columns), id(defined), names)
        known = self._by_id.get(place)
        if known is not None:
            return known[0]
        plan = self._of_value(table, columns)
        # The tuples are kept with the plan, so that their ids remain theirs.
        self._by_id.keep(place, (plan, columns, defined), len(columns) + 1)
        return plan

    def _of_value(self, table: Table, columns: tuple[Column, ...]) -> Plan:
        if table.columns is not None or any(each.default is not ABSENT for each in columns):
            return self._make(table, columns)
        plan = self._by_value.get((table, columns))
        if plan is None:
            plan = self._make(table, columns)
            self._by_value.keep((table, columns), plan, len(columns) + 1)
        return plan
