"""Bodies of the service's put requests and get answers, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cdcwire.datahub.fields import FieldValue

Encoding: TypeAlias = Literal["json", "protobuf", "batch"]
BatchCompression: TypeAlias = Literal["none", "deflate", "lz4", "zlib"]
Attributes: TypeAlias = "tuple[tuple[str, str], ...]"


@dataclass(frozen=True, slots=True)
class Record:
    """One record. ``data``: the values of a tuple in the order of the topic, or a blob's bytes.

    ``shard_id``, ``hash_key`` and ``partition_key`` say where a put wants it; the rest is what the
    service says of it in an answer. ``offset``: where the data is in the body, or the part that
    holds it, where it is compressed or in base64.
    """

    data: tuple[FieldValue, ...] | bytes
    attributes: Attributes = ()
    shard_id: str | None = None
    hash_key: str | None = None
    partition_key: str | None = None
    cursor: str | None = None
    next_cursor: str | None = None
    sequence: int | None = None
    system_time: int | None = None
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ReadyRecord(Record):
    """A record whose text in a body of JSON is known. ``weight``: its size as estimated."""

    data: tuple[FieldValue, ...] | bytes = ()
    text: str = ""
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Records in one binary batch; the service's words about them are those of the whole.

    ``raw_size``: the bytes of its records before compression, of a batch that was read.
    """

    records: tuple[Record, ...]
    compression: BatchCompression = "none"
    cursor: str | None = None
    next_cursor: str | None = None
    sequence: int | None = None
    system_time: int | None = None
    serial: int | None = None
    raw_size: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Body:
    """A put request, or a get answer.

    ``entries``: records, or in the batch encoding batches. ``record_count`` counts the entries, as
    an answer says it.
    """

    encoding: Encoding
    entries: tuple[Record | Batch, ...]
    is_answer: bool = False
    next_cursor: str | None = None
    record_count: int | None = None
    start_sequence: int | None = None

    def records(self) -> tuple[Record, ...]:
        """Return all records, in their order."""
        found: list[Record] = []
        for entry in self.entries:
            found += entry.records if isinstance(entry, Batch) else (entry,)
        return tuple(found)
