"""The format's own values: what key and value of a Kafka message say, without loss.

A string whose bytes are not UTF-8 (of a TEXT column only) is bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cdcwire.apache_avro.schema import Datum
from cdcwire.core.context import SchemaId
from cdcwire.formats.avro.plans import RecordPlan


@dataclass(frozen=True, slots=True)
class Datums:
    """One record after its envelope, the values in the order of the schema's fields."""

    schema_id: SchemaId
    values: tuple[Datum, ...]
    plan: RecordPlan = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Ddl:
    """A DDL. ``type`` is TiDB's number of the action; missing names are empty."""

    query: str
    type: int
    schema: str
    table: str
    commit_ts: int


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint: the commit timestamp up to which all changes were sent."""

    commit_ts: int


@dataclass(frozen=True, slots=True)
class DeletedAt:
    """A delete that has its commit timestamp, as the newer producer writes it in tests."""

    commit_ts: int


@dataclass(frozen=True, slots=True)
class Message:
    """A Kafka message. ``key`` None: no key; ``value`` None: Kafka's null, a delete.

    With neither, nothing says which row was deleted.
    """

    key: Datums | None
    value: Datums | Ddl | Checkpoint | DeletedAt | None
