"""The values of a message of the Craft proposal, field by field as the bytes have them.

The proposal lets later writers add what an older reader does not know: event types, column group
types, and bytes after the known ones. All of it is kept here (``UnknownEvent``, ``UnknownGroup``,
``surplus``), so that nothing is lost in silence; a message that has none of it is canonical.

``None`` for a name means the empty string on the wire, None for a partition -1, row id 0 no row id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from cdcwire.formats.craft.message import (
    EVENT_DDL,
    EVENT_RESOLVED,
    EVENT_ROW,
    GROUP_NEW,
    GROUP_OLD,
    Column,
)
from cdcwire.model.events import Path, path_text

GROUP_DELETE = 3

KNOWN_EVENTS = (EVENT_ROW, EVENT_DDL, EVENT_RESOLVED)
KNOWN_GROUPS = (GROUP_NEW, GROUP_OLD, GROUP_DELETE)


@dataclass(frozen=True, slots=True)
class ColumnGroup:
    """The columns of one state of a row. ``type`` says which: 1 new, 2 old, 3 delete."""

    type: int
    columns: tuple[Column, ...]
    surplus: bytes = b""


@dataclass(frozen=True, slots=True)
class UnknownGroup:
    """A column group of a type that is not defined. ``content`` is what follows the type."""

    type: int
    content: bytes


Group: TypeAlias = "ColumnGroup | UnknownGroup"


@dataclass(frozen=True, slots=True)
class RowEvent:
    """One changed row: an insert has the new group, an update new and old, a delete its own."""

    commit_ts: int
    schema: str
    table: str
    groups: tuple[Group, ...]
    row_id: int = 0
    partition: int | None = None
    surplus: bytes = b""

    @property
    def known_groups(self) -> tuple[ColumnGroup, ...]:
        """The column groups of a defined type."""
        return tuple(group for group in self.groups if isinstance(group, ColumnGroup))


@dataclass(frozen=True, slots=True)
class DDLEvent:
    """One schema change. ``type`` is TiDB's number of the DDL."""

    commit_ts: int
    type: int
    query: str
    schema: str | None = None
    table: str | None = None
    row_id: int = 0
    partition: int | None = None
    surplus: bytes = b""


@dataclass(frozen=True, slots=True)
class ResolvedEvent:
    """All changes up to ``commit_ts`` were sent. The other fields are absent in practice."""

    commit_ts: int
    schema: str | None = None
    table: str | None = None
    row_id: int = 0
    partition: int | None = None
    surplus: bytes = b""


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of a type that is not defined, with its value and its table of group sizes."""

    commit_ts: int
    type: int
    value: bytes
    group_sizes: tuple[int, ...]
    schema: str | None = None
    table: str | None = None
    row_id: int = 0
    partition: int | None = None


Event: TypeAlias = "RowEvent | DDLEvent | ResolvedEvent | UnknownEvent"


@dataclass(frozen=True, slots=True)
class Message:
    """One Kafka value: 1 to 65535 events of any kinds."""

    events: tuple[Event, ...]
    keys_surplus: bytes = b""
    tables_surplus: bytes = b""


def warnings_of(message: Message) -> tuple[str, ...]:
    """Return a line for everything in a message that a reader of this version ignores."""
    return warnings_of_parts(message.keys_surplus, message.events, message.tables_surplus)


def warnings_of_parts(
    keys_surplus: bytes, events: Iterable[Event], tables_surplus: bytes
) -> tuple[str, ...]:
    """Return the warnings of a message that is given by its parts."""
    found = _passed_over(keys_surplus, events, tables_surplus)
    return tuple(f"{path_text(path)}: {what}" for path, what in found)


def _passed_over(
    keys_surplus: bytes, events: Iterable[Event], tables_surplus: bytes
) -> Iterator[tuple[Path, str]]:
    if keys_surplus:
        yield ("keys",), _surplus(keys_surplus)
    for index, event in enumerate(events):
        path: Path = ("events", index)
        if isinstance(event, UnknownEvent):
            yield path, f"event type {event.type} is not known, {len(event.value)} bytes skipped"
            continue
        if isinstance(event, RowEvent):
            yield from _passed_over_groups(event, path)
        if event.surplus:
            yield path, _surplus(event.surplus)
    if tables_surplus:
        yield ("size_tables",), _surplus(tables_surplus)


def _passed_over_groups(event: RowEvent, path: Path) -> Iterator[tuple[Path, str]]:
    for number, group in enumerate(event.groups):
        where = (*path, "groups", number)
        if isinstance(group, UnknownGroup):
            size = len(group.content)
            yield where, f"column group type {group.type} is not known, {size} bytes skipped"
        elif group.surplus:
            yield where, _surplus(group.surplus)
    if not event.known_groups:
        yield path, "a row of unknown column groups only is skipped"


def _surplus(surplus: bytes) -> str:
    return f"{len(surplus)} bytes after the known ones are ignored"
