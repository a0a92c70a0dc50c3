"""Begin, end and order of transactions, made from the ids in the changes.

Debezium adds them with ``provide.transaction.metadata``. The parts that an event already has stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from cdcwire.debezium.connectors import POSTGRESQL
from cdcwire.debezium.settings import Settings
from cdcwire.debezium.shapes import shape_of
from cdcwire.model.events import Event, Marker, Position, RowChange, SchemaChange

_Event: TypeAlias = "RowChange | SchemaChange | Marker"


@dataclass(slots=True)
class _Open:
    """A transaction whose end has not come. ``has_begin``: its begin was an event.

    ``mark``: what its changes have in common.
    """

    mark: str | None
    id: str
    has_begin: bool
    last: _Event
    total: int = 0
    counts: dict[str, int] = field(default_factory=dict)


def with_transactions(events: Iterable[Event], settings: Settings) -> Iterator[Event]:
    """Yield the events with their order in their transactions, between begin and end of each.

    Changes of one transaction are adjacent. A change without transaction id is in none.
    """
    now: _Open | None = None
    for event in events:
        match event:
            case Marker("begin", id):
                if now is not None and not now.has_begin:
                    yield _end(now, settings)
                now = _Open(None, id or "", True, event)
                yield event
            case Marker("end"):
                if now is not None and not now.has_begin:
                    yield _end(now, settings)
                yield event if now is None or not now.has_begin else _counted(event, now)
                now = None
            case RowChange() | SchemaChange() | Marker("logical_message"):
                mark = _mark(event, settings)
                if now is not None and not now.has_begin and mark != now.mark:
                    yield _end(now, settings)
                    now = None
                if now is None and mark is not None and not _has_transaction(event):
                    name = _name(event, settings)
                    now = _Open(mark, name, False, event)
                    yield Marker("begin", name, _moment(event.position))
                yield event if now is None else _placed(event, now, settings)
            case _:
                yield event
    if now is not None and not now.has_begin:
        yield _end(now, settings)


def moved_behind(event: RowChange) -> RowChange:
    """Return the second change of an update that moves its row: one later in the transaction."""
    order = event.extra.get("data_collection_order")
    if event.position.tx_order is None or not isinstance(order, str) or not order.isdecimal():
        return event
    position = replace(event.position, tx_order=event.position.tx_order + 1)
    extra = {**event.extra, "data_collection_order": str(int(order) + 1)}
    return replace(event, position=position, extra=extra)


def _has_transaction(event: _Event) -> bool:
    return "transaction_id" in event.extra


def _placed(event: _Event, now: _Open, settings: Settings) -> _Event:
    """Return a change with its order, and count it."""
    now.last = event
    name = _collection(event, settings)
    now.total += 1
    now.counts[name] = now.counts.get(name, 0) + 1
    total, order = now.total, now.counts[name]
    if isinstance(event, RowChange) and _moves(event):
        now.total += 1
        now.counts[name] += 1
    if _has_transaction(event):
        return event
    value = now.id if now.has_begin else _name(event, settings)
    extra = {**event.extra, "transaction_id": value, "data_collection_order": str(order)}
    return replace(event, position=replace(event.position, tx_order=total), extra=extra)


def _collection(event: _Event, settings: Settings) -> str:
    if isinstance(event, Marker) or event.table is None:
        return "message" if isinstance(event, Marker) else ""
    table = event.table
    has_database = shape_of(event.extra, settings).source.counts_by_database
    parts = (table.database if has_database else None, table.schema, table.name)
    return ".".join(part for part in parts if part)


def _moves(event: RowChange) -> bool:
    """Return whether an update changes its key, so that it is written as two changes."""
    before, after = event.before, event.after
    if before is None or after is None:
        return False
    return any(
        name in before and name in after and before[name] != after[name]
        for name in event.table.key or ()
    )


def _mark(event: _Event, settings: Settings) -> str | None:
    """Return what the changes of one transaction have in common; None if that is not known."""
    place = shape_of(event.extra, settings).source.transaction_place
    if event.position.tx_id is not None or place == "tx_id":
        return event.position.tx_id
    found = getattr(event.position, place)
    return found if isinstance(found, str) else None


def _name(event: _Event, settings: Settings) -> str:
    """Return the id of a transaction; later versions of PostgreSQL's have the place in the log."""
    shape, mark = shape_of(event.extra, settings), _mark(event, settings)
    has_lsn = shape.has_schema_versions and shape.source is POSTGRESQL
    lsn = event.position.lsn if has_lsn else None
    return f"{mark}" if lsn is None else f"{mark}:{lsn}"


def _moment(position: Position) -> Position:
    # The producer sends the time of the commit, not when it handled the change.
    value = position.commit_ms if position.commit_ms is not None else position.sent_ms
    return Position(sent_ms=value)


def _end(now: _Open, settings: Settings) -> Marker:
    return _counted(Marker("end", _name(now.last, settings), _moment(now.last.position)), now)


def _counted(event: Marker, now: _Open) -> Marker:
    counts = json.dumps(list(now.counts.items()), separators=(",", ":"), ensure_ascii=False)
    extra = {"event_count": str(now.total), "data_collections": counts, **event.extra}
    return replace(event, extra=extra)
