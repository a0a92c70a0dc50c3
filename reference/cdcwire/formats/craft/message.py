"""The values of a Craft message, field by field as the bytes have them.

``None`` for a name or a partition means that the event has none (id -1 on the wire). The form of a
column's value follows from its type code: int, float, ``str`` for decimals, dates, times, JSON and
vectors, ``bytes`` for strings. None stands for NULL. Flags are kept whole, undefined bits too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from cdcwire.mysql.values import WireValue

EVENT_ROW = 1  # event types
EVENT_DDL = 2
EVENT_RESOLVED = 3

GROUP_NEW = 1  # column group types
GROUP_OLD = 2


class Skipped(Enum):
    """The value of a column that the selection left out: its bytes were not looked at."""

    SKIPPED = "skipped"

    def __repr__(self) -> str:
        return self.name


SKIPPED = Skipped.SKIPPED


class Column(NamedTuple):
    """One column of a group. ``type`` is MySQL's type code."""

    name: str
    type: int
    flags: int
    value: WireValue | Skipped


@dataclass(frozen=True, slots=True)
class ColumnGroup:
    """The columns of one state of a row. ``type`` says which: 1 new, 2 old."""

    type: int
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class RowEvent:
    """One changed row: an insert has the new group, a delete the old one, an update both."""

    commit_ts: int
    schema: str
    table: str
    groups: tuple[ColumnGroup, ...]
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class DDLEvent:
    """One schema change. ``type`` is TiDB's number of the DDL."""

    commit_ts: int
    type: int
    query: str
    schema: str | None = None
    table: str | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class ResolvedEvent:
    """All changes up to ``commit_ts`` were sent. The other fields are absent in practice."""

    commit_ts: int
    schema: str | None = None
    table: str | None = None
    partition: int | None = None


Event: TypeAlias = "RowEvent | DDLEvent | ResolvedEvent"


@dataclass(frozen=True, slots=True)
class Message:
    """One Kafka value: row events, or exactly one DDL or resolved event."""

    events: tuple[Event, ...]
