"""The fast decoder: Connect's messages to envelopes, with the plain decoder as the fallback.

It accepts and rejects exactly what ``cdcwire.connect.decode`` does, by construction: what is not as
JsonConverter writes it is given to the plain decoder. A schema that came before is known by its
bytes, and its payload is read by one pattern (``cdcwire.connect.payload_patterns``).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from cdcwire.connect.envelope import Envelope, SchemasEnable, decode, known_schema
from cdcwire.connect.payload_patterns import payload_pattern
from cdcwire.connect.schema import ConnectValue, Schema
from cdcwire.core.compiled import IRREGULARITIES, Irregular

Made = TypeVar("Made")

_BORDER = b'},"payload":'
_MAX_PLANS = 64
_MAX_HEAD_BYTES = 1 << 18
_MAX_BYTES = 1 << 20  # of a payload: matching takes some memory for each escape
_WORTH_A_PLAN = 2  # messages of one schema before its pattern is made
# To make a pattern takes as long as to decode many times its schema's bytes. What was decoded pays
# for it, so that schemas which change all the time do not cost more than they would without.
_PRICE = 16
_FIRST_CREDIT = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class PayloadReader:
    """Reads payloads of one schema, as JsonConverter writes them."""

    schema: Schema
    match: Callable[[str], re.Match[str] | None]
    convert: Callable[[tuple[str | None, ...]], ConnectValue]

    def read(self, data: bytes) -> ConnectValue:
        """Return the value of a payload's bytes.

        Raises: one of IRREGULARITIES, for what is not as usual.
        """
        if len(data) > _MAX_BYTES:
            raise Irregular
        found = self.match(data.decode())
        if found is None:
            raise Irregular
        return self.convert(found.groups())


def payload_reader(schema: Schema, usual: ConnectValue = None) -> PayloadReader | None:
    """Return a reader of payloads; None for a schema with very many fields, or odd ones.

    ``usual``: a payload of the schema, whose texts outside of rows are likely to come again.
    """
    if schema.type != "struct" or schema.optional:
        return None
    try:
        pattern, convert = payload_pattern(schema, usual)
    except Irregular:
        return None
    return PayloadReader(schema, pattern.fullmatch, convert)


class KnownHeads(Generic[Made]):
    """Things made of the schemas of a feed, by the bytes of a message up to its payload.

    What is remembered is bounded, whatever the messages hold.
    """

    def __init__(self) -> None:
        self.made: OrderedDict[bytes, Made] = OrderedDict()
        self.seen: OrderedDict[bytes, int] = OrderedDict()
        self.credit = _FIRST_CREDIT
        self._last: tuple[bytes, int, Made] | None = None

    def find(self, data: bytes) -> tuple[int, Made] | None:
        """Return where the payload begins, and what was made of the schema; None if nothing was."""
        last = self._last
        if last is not None and data.startswith(last[0]):
            return last[1:]
        head = data[: data.find(_BORDER) + len(_BORDER)]
        made = self.made.get(head)
        if made is None:
            return None
        self._last = head, len(head), made
        return len(head), made

    def learn(self, data: bytes, make: Callable[[Schema], Made]) -> None:
        """Make something of the schema of a good message, if its bytes repeat and identify it."""
        head = data[: data.find(_BORDER) + len(_BORDER)]
        if head in self.made or len(head) > _MAX_HEAD_BYTES:
            return
        self.credit += len(data)
        count = self.seen.pop(head, 0) + 1
        if count < _WORTH_A_PLAN or not self.spend(head):
            self.seen[head] = count
            if len(self.seen) > _MAX_PLANS:
                self.seen.popitem(last=False)
            return
        known = known_schema(data)
        if known is None or known[0] != len(head):
            return
        self.made[head] = make(known[1])
        if len(self.made) > _MAX_PLANS:
            self.made.popitem(last=False)
            self._last = None

    def spend(self, head: bytes) -> bool:
        """Return whether what was decoded pays for a pattern of a schema, and take it."""
        price = _PRICE * len(head)
        if price > self.credit:
            return False
        self.credit -= price
        return True


class EnvelopeDecoder:
    """Decodes the messages of a feed. Keep one: it learns the schemas that it meets.

    Not to be shared between threads.
    """

    def __init__(self, schemas_enable: SchemasEnable = "auto") -> None:
        self.schemas_enable: SchemasEnable = schemas_enable
        self.heads: KnownHeads[PayloadReader | None] = KnownHeads()

    def decode(self, data: bytes) -> Envelope:
        """Return schema and payload. Raises: the same as ``cdcwire.connect.decode``."""
        found = self.usual(data)
        return self.plain(data) if found is None else found

    def usual(self, data: bytes) -> Envelope | None:
        """Return schema and payload of a message of a schema that was learned, else None.

        It says nothing of the other messages: they may be good or broken. Null stays null.
        """
        found = self.heads.find(data)
        if found is None or self.schemas_enable == "false" or not data.endswith(b"}"):
            return None
        start, reader = found
        try:
            return None if reader is None else Envelope(reader.schema, reader.read(data[start:-1]))
        except IRREGULARITIES:
            return None

    def plain(self, data: bytes) -> Envelope:
        """Return schema and payload by the plain decoder, and learn the schema. Raises: as it."""
        found = decode(data, self.schemas_enable)
        if found.schema is not None and found.wrapped:
            self.learn(data, found)
        return found

    def learn(self, data: bytes, found: Envelope) -> None:
        """Remember the schema of a good message, if it repeats and its bytes alone identify it."""
        self.heads.learn(data, lambda schema: payload_reader(schema, found.payload))
