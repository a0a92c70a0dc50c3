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

from cdcwire.connect.envelope import Envelope, SchemasEnable, decode, known_schema
from cdcwire.connect.payload_patterns import payload_pattern
from cdcwire.connect.schema import ConnectValue, Schema
from cdcwire.core.compiled import IRREGULARITIES, Irregular

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


class EnvelopeDecoder:
    """Decodes the messages of a feed. Keep one: it learns the schemas that it meets.

    What is remembered is bounded, whatever the messages hold. Not to be shared between threads.
    """

    def __init__(self, schemas_enable: SchemasEnable = "auto") -> None:
        self.schemas_enable: SchemasEnable = schemas_enable
        self._readers: OrderedDict[bytes, PayloadReader | None] = OrderedDict()
        self._seen: OrderedDict[bytes, int] = OrderedDict()
        self._credit = _FIRST_CREDIT

    def decode(self, data: bytes) -> Envelope:
        """Return schema and payload. Raises: the same as ``cdcwire.connect.decode``."""
        found = self.usual(data)
        return self.plain(data) if found is None else found

    def usual(self, data: bytes) -> Envelope | None:
        """Return schema and payload of a message of a schema that was learned, else None.

        It says nothing of the other messages: they may be good or broken. Null stays null.
        """
        head = data[: data.find(_BORDER) + len(_BORDER)]
        reader = self._readers.get(head)
        if reader is not None and data.endswith(b"}") and self.schemas_enable != "false":
            try:
                return Envelope(reader.schema, reader.read(data[len(head) : -1]))
            except IRREGULARITIES:
                pass  # leave the handler: an error of the plain decoder then has no context
        return None

    def plain(self, data: bytes) -> Envelope:
        """Return schema and payload by the plain decoder, and learn the schema. Raises: as it."""
        found = decode(data, self.schemas_enable)
        if found.schema is not None and found.wrapped:
            self.learn(data, found)
        return found

    def learn(self, data: bytes, found: Envelope) -> None:
        """Remember the schema of a good message, if it repeats and its bytes alone identify it."""
        head = data[: data.find(_BORDER) + len(_BORDER)]
        if head in self._readers or len(head) > _MAX_HEAD_BYTES:
            return
        self._credit += len(data)
        count = self._seen.pop(head, 0) + 1
        if count < _WORTH_A_PLAN or _PRICE * len(head) > self._credit:
            self._seen[head] = count
            if len(self._seen) > _MAX_PLANS:
                self._seen.popitem(last=False)
            return
        known = known_schema(data)
        if known is None or known[0] != len(head):
            return
        self._credit -= _PRICE * len(head)
        self._readers[head] = payload_reader(known[1], found.payload)
        if len(self._readers) > _MAX_PLANS:
            self._readers.popitem(last=False)
