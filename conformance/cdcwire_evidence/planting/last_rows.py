"""The last rows of a stream, replayed by hand: what ``--mode final`` is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from cdcwire.model.events import Event, Image, RowChange, SchemaChange, Table

DROP_SCHEMA = 2  # the number of DROP DATABASE in TiDB, which is a query for Canal
# The members by which changes have an order, the most important one first.
_ORDERS = (
    ("commit_ts",),
    ("sequence_id",),
    ("lsn",),
    ("commit_lsn", "change_lsn", "event_serial_no"),
    ("commit_scn", "scn", "rs_id", "ssn"),
    ("file", "pos", "row"),
)

LastRows: TypeAlias = "dict[tuple[str, ...], str]"  # values of the key, all values


def differing_tables(left: Iterable[Event], right: Iterable[Event]) -> set[str]:
    """Return the names of the tables whose last rows differ, as reports write them.

    A table that is renamed has both names.
    """
    events = [*left]
    ours, theirs = _last_rows(events), _last_rows(right)
    found = {name for name in {*ours, *theirs} if ours.get(name, {}) != theirs.get(name, {})}
    return found | {new for old, new in _renames(events) if old in found}


def _renames(events: Iterable[Event]) -> Iterator[tuple[str, str]]:
    """Yield the old and the new name of each table that is renamed."""
    for event in events:
        if isinstance(event, SchemaChange) and event.what == "rename" and event.table is not None:
            new = str(event.query).rpartition(" TO ")[2]
            yield table_text(event.table), new.replace("`", "")


def by_position(events: Iterable[Event], name: str) -> list[Event]:
    """Return events as a reader takes them that orders them by a member of their position.

    Events keep their order if ``name`` is not a member by which changes are ordered.
    """
    members = next((each for each in _ORDERS if name in each), ())
    return sorted(events, key=lambda event: [_place(event, member) for member in members])


def _place(event: Event, member: str) -> tuple[bool, int | str]:
    """Return the place of an event in one member. Texts have one width, or are numbers."""
    value: int | str | None = getattr(event.position, member)
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    return value is not None, value or 0


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
        elif isinstance(event, SchemaChange) and (
            event.what in ("truncate", "erase") or event.code == DROP_SCHEMA
        ):
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
