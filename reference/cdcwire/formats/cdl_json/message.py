"""The values of a CDL JSON message, message_version 1.0, and the declaration of its members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from cdcwire.connect import Envelope, Field, Schema
from cdcwire.connect import encode as encode_envelope
from cdcwire.connect.cdl import HEARTBEAT_TABLE, Row
from cdcwire.connect.types import CONNECT_TIMESTAMP
from cdcwire.core.json_record import extra, part
from cdcwire.core.reader import Subject

OPERATIONS = ("INSERT", "UPDATE", "DELETE")
FIELDS = "cdl-json: fields"
OPERATION = "cdl-json: operation"
TRANSACTION = "cdl-json: transaction"
UNIQUE = "cdl-json: unique"
IMAGES = "cdl-json: images"
VERSION = "cdl-json: message version"

_STRING, _TEXT = Schema("string"), Schema("string", True)
_TIMESTAMP = Schema("int64", name=CONNECT_TIMESTAMP, version=1)
_PROPERTY = Schema("struct", fields=(Field("name", _STRING), Field("value", Schema("int64"))))
_PROPERTIES = Field("properties", Schema("array", items=_PROPERTY))
_TRANSACTION = Schema("struct", name="transaction", fields=(_PROPERTIES,))
_PLACE = Subject(0, ("lsn", "tx_id", "extra"), "transaction_properties")
NO_FIELDS = Schema("struct", True)


class Declared(NamedTuple):
    """A member of the payload. ``schema``: None for a row, whose columns are those of its table."""

    name: str
    clause: str
    schema: Schema | None
    subject: Subject | None = None


MEMBERS = (  # in the order of writing
    Declared("DATA_STORE", FIELDS, _STRING, extra("connector")),
    Declared("SEG_OWNER", FIELDS, _STRING, part("schema")),
    Declared("TABLE_NAME", FIELDS, _STRING, part("table")),
    Declared("TIMESTAMP", "cdl-json: timestamp", _TIMESTAMP, part("commit_ms")),
    Declared("OPERATION", OPERATION, _STRING, part("kind", "op")),
    Declared("LOB_COLUMNS", "cdl-json: lob columns", _TEXT, extra("lob_columns")),
    Declared("transaction", TRANSACTION, _TRANSACTION, _PLACE),
    Declared("unique", UNIQUE, None, part("key")),
    Declared("data", IMAGES, None, part("after")),
    Declared("before", IMAGES, None, part("before")),
    Declared("message_version", VERSION, _STRING),
    Declared("message_type", "cdl-json: message type", _STRING, extra("message_type")),
    Declared("HEARTBEAT_IDENTIFIER", "cdl-json: heartbeat", _TEXT, extra("heartbeat_identifier")),
)

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
