"""Blob messages as values: all that a message says, in the forms of its column types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from cdcwire.datahub.streamx import BlobValue, StreamXType

# Names and values in the order of the text. A name that is missing is not NULL: it was not sent.
Cells: TypeAlias = "tuple[tuple[str, BlobValue], ...]"

DEFAULT_VERSION = "0.0.1"


class BlobColumn(NamedTuple):
    """A column that the message declares."""

    name: str
    type: StreamXType


@dataclass(frozen=True, slots=True)
class Source:
    """Where a change comes from. None is a missing member."""

    db_name: str | None = None
    db_type: str | None = None
    db_version: str | None = None
    schema_name: str | None = None
    table_name: str | None = None


@dataclass(frozen=True, slots=True)
class Ddl:
    """A statement, and the serialised Java object of it, which nothing here opens."""

    text: str
    meta: bytes | None = None


@dataclass(frozen=True, slots=True)
class BlobMessage:
    """One message. ``sequence_id``: digits as written; times are milliseconds since 1970."""

    op: str
    event_time: int
    sequence_id: str | None = None
    columns: tuple[BlobColumn, ...] | None = None
    source: Source | None = None
    primary_key: tuple[str, ...] | None = None
    before: Cells | None = None
    after: Cells | None = None
    ddl: Ddl | None = None
    system_time: int | None = None
    checkpoint_time: int | None = None
    version: str = DEFAULT_VERSION
