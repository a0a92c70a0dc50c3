"""The format's own values: what key and value of a Kafka message say, without loss.

A datum has the form of its Avro type: None, bool, int, float, bytes, str. An array is a tuple, a
map a tuple of pairs, a record a tuple of its fields. In a union of NULL and one other type the
value shows the branch; in any other one ``Branch`` does. A string whose bytes are not UTF-8 (of a
TEXT column only) is bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cdcwire.core.schemas import SchemaId
from cdcwire.formats.avro.plans import RecordPlan

Datum: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Branch:
    """A value of a union whose branches cannot be distinguished by the value alone."""

    index: int
    value: Datum


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
    """A Kafka message. ``key`` None: no key; ``value`` None: Kafka's null, a delete."""

    key: Datums | None
    value: Datums | Ddl | Checkpoint | DeletedAt | None
