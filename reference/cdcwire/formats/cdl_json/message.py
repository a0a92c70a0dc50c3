"""The values of a CDL JSON message, message_version 1.0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from cdcwire.connect import Envelope
from cdcwire.connect import encode as encode_envelope
from cdcwire.connect.cdl import HEARTBEAT_TABLE, Row

OPERATIONS = ("INSERT", "UPDATE", "DELETE")

Key: TypeAlias = "Envelope | bytes | None"


def is_object(key: bytes) -> bool:
    """Return whether a Kafka key is an object, as JsonConverter writes it."""
    return key[:1] == b"{"


def key_bytes(key: Key) -> bytes | None:
    """Return the bytes of a Kafka key. Raises: EncodeError."""
    return encode_envelope(key) if isinstance(key, Envelope) else key


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one row.

    ``properties``: those of the transaction, in the order sent. ``envelope`` holds the same and
    what is not named here; it is what ``encode`` writes. ``key`` is the message's key, if
    any: an envelope, or the bytes of a key in another form.
    """

    data_store: str
    seg_owner: str
    table_name: str
    timestamp: int
    operation: str
    lob_columns: str | None
    properties: tuple[tuple[str, int], ...]
    unique: Row
    data: Row
    before: Row
    message_type: str
    heartbeat_identifier: str | None
    envelope: Envelope
    key: Key = None
    warnings: tuple[str, ...] = ()

    @property
    def is_heartbeat(self) -> bool:
        """True if it is a change of the table that CDL keeps for its heartbeats."""
        return (self.seg_owner.lower(), self.table_name.lower()) == HEARTBEAT_TABLE


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A message without value; ``key`` is that of the row that went."""

    key: Key


Message: TypeAlias = "Change | Tombstone"
