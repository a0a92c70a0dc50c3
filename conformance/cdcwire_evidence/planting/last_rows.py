"""The last rows of a stream, replayed by hand: what ``--mode final`` is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from cdcwire.model.events import Event, Image, RowChange, SchemaChange, Table

LastRows: TypeAlias = "dict[tuple[str, ...], str]"  # values of the key, all values


def differing_tables(left: Iterable[Event], right: Iterable[Event]) -> set[str]:
    """Return the names of the tables whose last rows differ, as reports write them."""
    ours, theirs = _last_rows(left), _last_rows(right)
    return {name for name in {*ours, *theirs} if ours.get(name, {}) != theirs.get(name, {})}


def by_position(events: Iterable[Event], name: str) -> list[Event]:
    """Return events as a reader takes them that orders them by a member of their position.

    Events keep their order if ``name`` is not a member by which changes are ordered.
    """
    if name not in ("commit_ts", "sequence_id", "lsn"):
        return list(events)
    return sorted(events, key=lambda event: getattr(event.position, name) or 0)


def without_repeats(events: Iterable[Event]) -> Iterator[Event]:
    """Yield events as a reader of a storage prefix takes them: rows below an earlier one repeat."""
    last: dict[str, int] = {}
    for event in events:
        if isinstance(event, RowChange) and event.position.commit_ts is not None:
            name = table_text(event.table)
            if event.position.commit_ts < last.get(name, 0):
                continue
            last[name] = event.position.commit_ts
        yield event


def _last_rows(events: Iterable[Event]) -> dict[str, LastRows]:
    found: dict[str, LastRows] = {}
    for event in events:
        if isinstance(event, RowChange):
            rows = found.setdefault(table_text(event.table), {})
            if event.before is not None:
                rows.pop(_key(event.table, event.before), None)
            if event.after is not None:
                rows[_key(event.table, event.after)] = repr(event.after.values)
        elif isinstance(event, SchemaChange) and event.what in ("truncate", "erase"):
            for name in list(found):
                if event.table is not None and _names(event.table, name):
                    del found[name]
    return found


def table_text(table: Table) -> str:
    """Return the name of a table as reports write it, without its database."""
    return ".".join(part for part in (table.schema, table.name) if part)


def is_of(event: Event, table: Table | None) -> bool:
    """Return whether an event is a row change of a table, or of any table of a whole schema."""
    if table is None or not isinstance(event, RowChange):
        return False
    return _names(table, table_text(event.table))


def _names(table: Table, name: str) -> bool:
    """Return whether a schema change of a table or a whole schema changes this table."""
    return name.startswith(f"{table.schema}.") if table.name is None else name == table_text(table)


def _key(table: Table, image: Image) -> tuple[str, ...]:
    return tuple(repr(image[name]) for name in table.key or image.names)
