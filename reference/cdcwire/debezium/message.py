"""The values of Debezium's messages, and of CDL's with message_version 2.0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cdcwire.connect import Envelope
from cdcwire.connect.cdl import HEARTBEAT_TABLE, Row
from cdcwire.model.events import NO_EXTRA, Extra, Position, Table
from cdcwire.model.kinds import Column
from cdcwire.model.slotted import slotted

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
ROUTER_FIELD = "__dbz__physicalTableIdentifier"  # which ByLogicalTableRouter adds to a key
PLACEHOLDER = "__debezium_unavailable_value"
Names: TypeAlias = Mapping[str, str]
"""The original names of columns, by the names that a message has for them."""


@dataclass(frozen=True, slots=True)
class TextKey:
    """The Kafka key that StringConverter writes: a text that no reader can take apart."""

    text: str


KeyPart: TypeAlias = "Envelope | TextKey | None"


@slotted(frozen=True, slots=True)
class Source:
    """Where a change comes from. ``connector``: ``""`` for a producer that is not Debezium.

    ``place``: the fields of the position that the connector has; ``extra``: its other members, by
    their names in ``extra`` of events. ``schema`` is ``""`` where the connector has no such level.
    """

    version: str
    connector: str
    name: str
    ts_ms: int | None
    snapshot: str | None
    db: str
    schema: str
    table: str
    place: Mapping[str, int | str]
    extra: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Block:
    """The place of a change in its transaction."""

    id: str
    total_order: int
    data_collection_order: int


@slotted(frozen=True, slots=True)
class Change:
    """One change of one row, or ``t``: all rows of a table went.

    ``key``: the names of the key columns; None if they are not known. ``cdl`` holds what CDL adds;
    None for Debezium proper.
    ``envelope`` holds the same and what is not named here; it is what ``encode`` writes.
    ``physical_table``: the topic that ByLogicalTableRouter put into the key. ``key_may_be_null``: a
    column of the key is nullable, so that it is not the table's key. ``names``: original names of
    columns, where others were sent.
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
    physical_table: str | None = None
    key_may_be_null: bool = False
    names: Names | None = None

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
class Watermark:
    """``m`` of TiCDC: all changes up to its ``commit_ts`` were sent."""

    source: Source
    ts_ms: int | None
    envelope: Envelope
    key_envelope: KeyPart
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableChange:
    """One table after a statement. ``columns`` and ``key``: None where they are not known.

    ``text``: its JSON, which says more of the table than the model.
    """

    type: str
    id: str
    columns: tuple[Column, ...] | None
    key: tuple[str, ...] | None
    text: str


@dataclass(frozen=True, slots=True)
class Ddl:
    """A statement that changes a schema, and the tables after it.

    ``source_table``: as the source has it, null or ``""`` where it names none.
    """

    query: str | None
    database: str | None
    schema: str | None
    changes: tuple[TableChange, ...]
    source: Source
    ts_ms: int | None
    envelope: Envelope
    key_envelope: KeyPart
    warnings: tuple[str, ...] = ()
    source_table: str | None = None


@dataclass(frozen=True, slots=True)
class Notification:
    """A note of the connector about itself, such as the progress of a snapshot."""

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
class Unwrapped:
    """A row by itself. ``op``: as in a change; ``""`` where it is not known.

    ``table`` has the key columns, None if they are not known. ``added``: the names of the fields
    that the transform added. ``connector``: decides which columns a delete has. ``names``: as in a
    change. ``extra``: of the event. ``is_key``: the row is the columns of a Kafka key.
    """

    op: str
    row: Row
    table: Table
    position: Position
    added: tuple[str, ...]
    envelope: Envelope
    key_envelope: KeyPart
    warnings: tuple[str, ...] = ()
    connector: str = ""
    names: Names | None = None
    extra: Extra = field(default_factory=lambda: NO_EXTRA)
    is_key: bool = False


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A message without value; the key is that of the row that went.

    ``row``: the columns of the key, where the message is the delete of this row.
    """

    key_envelope: KeyPart
    row: Unwrapped | None = None


WithValue: TypeAlias = (
    "Change | LogicalMessage | Watermark | Ddl | Notification | Boundary | Heartbeat | Unwrapped"
)
Message: TypeAlias = "WithValue | Tombstone"
