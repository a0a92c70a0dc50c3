"""The values of Debezium's messages, and of CDL's with message_version 2.0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from cdcwire.connect import ConnectValue, Envelope
from cdcwire.connect.cdl import HEARTBEAT_TABLE, Row
from cdcwire.model.events import Position, Table

OPERATIONS = ("c", "u", "d", "r", "t")
SNAPSHOTS = (
    "true",
    "first",
    "first_in_data_collection",
    "last_in_data_collection",
    "last",
    "false",
    "incremental",
)
PLACEHOLDER = "__debezium_unavailable_value"


@dataclass(frozen=True, slots=True)
class TextKey:
    """The Kafka key that StringConverter writes: a text that no reader can take apart."""

    text: str


KeyPart: TypeAlias = "Envelope | TextKey | None"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a change comes from. ``others``: fields of other versions and connectors."""

    version: str
    connector: str
    name: str
    ts_ms: int
    snapshot: str | None
    db: str
    schema: str
    table: str
    tx_id: int | None
    lsn: int | None
    others: tuple[tuple[str, ConnectValue], ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """The place of a change in its transaction."""

    id: str
    total_order: int
    data_collection_order: int


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one row, or ``t``: all rows of a table went.

    ``key``: the names of the key columns; None if they are not known. ``cdl`` holds what CDL adds;
    None for Debezium proper.
    ``envelope`` holds the same and what is not named here; it is what ``encode`` writes.
    """

    op: str
    before: Row
    after: Row
    source: Source
    ts_ms: int | None
    ts_us: int | None
    ts_ns: int | None
    transaction: Block | None
    key: tuple[str, ...] | None
    cdl: CdlMembers | None
    envelope: Envelope
    key_envelope: KeyPart
    warnings: tuple[str, ...] = ()

    @property
    def is_heartbeat(self) -> bool:
        """True if it is a change of the table that CDL keeps for its heartbeats."""
        return (self.source.schema.lower(), self.source.table.lower()) == HEARTBEAT_TABLE


@dataclass(frozen=True, slots=True)
class CdlMembers:
    """The members that CDL adds to a change."""

    message_type: str
    lob_columns: str | None
    unique: Row
    heartbeat_identifier: str | None


@dataclass(frozen=True, slots=True)
class LogicalMessage:
    """``m``: a text or bytes that was put into the log by hand."""

    prefix: str | None
    content: str | bytes | None
    source: Source
    ts_ms: int | None
    transaction: Block | None
    envelope: Envelope
    key_envelope: KeyPart
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Boundary:
    """The begin or the end of a transaction."""

    status: Literal["BEGIN", "END"]
    id: str
    ts_ms: int | None
    event_count: int | None
    data_collections: tuple[tuple[str, int], ...] | None
    envelope: Envelope
    key_envelope: KeyPart
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A sign of life; ``server_name`` is in the key."""

    ts_ms: int
    server_name: str | None
    envelope: Envelope
    key_envelope: KeyPart
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A message without value; the key is that of the row that went."""

    key_envelope: KeyPart


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A row by itself. ``op``: as in a change; ``""`` where it is not known.

    ``table`` has the key columns, None if they are not known. ``added``: the names of the fields
    that the transform added.
    """

    op: str
    row: Row
    table: Table
    position: Position
    added: tuple[str, ...]
    envelope: Envelope
    key_envelope: KeyPart
    warnings: tuple[str, ...] = ()


Message: TypeAlias = "Change | LogicalMessage | Boundary | Heartbeat | Unwrapped | Tombstone"
