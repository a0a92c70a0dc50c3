"""One difference in a stream of changes, of every kind.

A plant names the words by which a comparison may say that it does not compare this part. Without
such a line the plant has to be found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from cdcwire.model.events import (
    Event,
    Image,
    Marker,
    Position,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import Column, IntType, TextType, Value
from cdcwire.model.steps import split_key_changes
from cdcwire_evidence.planting.last_rows import table_text

Events: TypeAlias = "Sequence[Event]"
OtherValue: TypeAlias = "Callable[[Column, Value], Value]"
"""Returns another value that a column may have, or the same value if it has only one."""

KeyDamage: TypeAlias = Literal["exchanged", "cut"]

_OF_A_DELETE = ("columns of deletes beyond the key", "deletes")
_BEFORE = ("before images of updates",)
_OPERATION = ("insert against update", "updates that change nothing against inserts")
_TIES = ("order of changes at one commit_ts", "order of changes at one sequence_id")
_KEYS = ("Kafka keys",)
_SOURCES = ("other members of source", "transaction", "ts_us", "ts_ns")
TYPES = ("types of columns",)
# What lines call the time at which a producer sent a message.
_SENT = ("ts_ms of the envelope", "ts", "buildTs", "times of writing", "systemTime", "push_ts")
_BINLOG = "binlog"
_READS = ("rows of snapshots against inserts",)
_OF_CHANGE_LSN = ("commit_lsn", "change_lsn", "event_serial_no")
_OF_RS_ID = ("commit_scn", "scn", "rs_id", "ssn")
_TRUNCATE = 11  # the number of TRUNCATE TABLE in TiDB
_STEP = (1 << 20) + 1  # no position of a stream is so far after another one


@dataclass(frozen=True, slots=True)
class Plant:
    """A stream with one difference. ``accepts``: parts that may be named as not compared.

    ``keys``: the difference is in the messages: two of them exchange their Kafka keys, or the key
    of one is cut. ``seed`` chooses them.
    """

    kind: str
    what: str
    events: tuple[Event, ...]
    accepts: tuple[str, ...] = ()
    keys: KeyDamage | None = None
    seed: int = 0


Planter: TypeAlias = "Callable[[Events, Random, OtherValue], Iterator[Plant]]"


def _rows(events: Events, *ops: str) -> list[int]:
    """Return the places of row changes, in their order; ``ops``: only these."""
    return [
        number
        for number, event in enumerate(events)
        if isinstance(event, RowChange) and (not ops or event.op in ops)
    ]


def _rows_in_any_order(events: Events, chance: Random, *ops: str) -> list[int]:
    places = _rows(events, *ops)
    chance.shuffle(places)
    return places


def _with(events: Events, at: int, *instead: Event) -> tuple[Event, ...]:
    return (*events[:at], *instead, *events[at + 1 :])


def _row(events: Events, at: int) -> RowChange:
    event = events[at]
    assert isinstance(event, RowChange)
    return event


def _changed_values(
    events: Events, chance: Random, side: str, ops: Sequence[str], value_of: OtherValue
) -> Iterator[tuple[int, RowChange, Column]]:
    """Yield rows with another value in one column of an image; the key's columns keep theirs."""
    places = _rows_in_any_order(events, chance, *ops)
    for at in places:
        row = _row(events, at)
        image: Image | None = getattr(row, side)
        if image is None:
            continue
        numbers = [
            n for n, c in enumerate(image.columns) if not c.roles and c.name not in _key(row)
        ]
        chance.shuffle(numbers)
        for number in numbers:
            column, old = image.columns[number], image.values[number]
            new = value_of(column, old)
            if repr(new) == repr(old):
                continue
            values = (*image.values[:number], new, *image.values[number + 1 :])
            changed = replace(image, values=values)
            is_new = side == "after"
            yield (
                at,
                replace(row, after=changed) if is_new else replace(row, before=changed),
                column,
            )


def _key(row: RowChange) -> tuple[str, ...]:
    return row.table.key or ()


def _value(side: str, ops: Sequence[str], accepts: tuple[str, ...]) -> Planter:
    def plant(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
        for at, row, column in _changed_values(events, chance, side, ops, other):
            what = f"{side}.{column.name} of event {at}"
            yield Plant("", what, _with(events, at, row), _of_split(row, accepts))

    return plant


def _late_value(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    """Change a value of a column that the first row of its table does not have."""
    first: dict[tuple[str, str], set[str]] = {}
    for at in _rows(events):
        row = _row(events, at)
        image = row.after or row.before
        first.setdefault(_name(row.table), set() if image is None else set(image.names))
    ops = ("insert", "read", "upsert", "update")
    for at, row, column in _changed_values(events, chance, "after", ops, other):
        if column.name not in first[_name(row.table)]:
            what = f"after.{column.name} of event {at}, which earlier rows do not have"
            yield Plant("", what, _with(events, at, row))


def _of_split(row: RowChange, accepts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts that may be named: an update of a key has its old row in a delete."""
    return (*accepts, *_OF_A_DELETE) if accepts and _is_split(row) else accepts


def _is_split(row: RowChange) -> bool:
    """Return whether a producer may send an update as a delete and an insert."""
    return len(list(split_key_changes([row]))) > 1


def _null(column: Column, value: Value) -> Value:
    return value if column.nullable is False else None


def _nulls(side: str, ops: Sequence[str], accepts: tuple[str, ...]) -> Planter:
    def plant(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
        for at, row, column in _changed_values(events, chance, side, ops, _null):
            what = f"{side}.{column.name} of event {at} is NULL"
            yield Plant("", what, _with(events, at, row), _of_split(row, accepts))

    return plant


def _lost(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    places = _rows_in_any_order(events, chance)
    for at in places:
        accepts = ("deletes",) if _row(events, at).op == "delete" else ()
        yield Plant("", f"event {at} is lost", _with(events, at), accepts)


def _repeated(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    places = _rows_in_any_order(events, chance)
    for at in places:
        event = _row(events, at)
        accepts = ("deletes",) if event.op == "delete" else ()
        yield Plant("", f"event {at} comes twice", _with(events, at, event, event), accepts)


def _swapped_contents(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    """Exchange two changes of one row; each takes the other's position."""
    for first, second in _pairs_of_one_row(events, chance):
        one, two = _row(events, first), _row(events, second)
        if one.position == two.position:
            continue  # this is a feed out of order
        found = _with(events, first, replace(two, position=one.position))
        found = _with(found, second, replace(one, position=two.position))
        yield Plant("", f"events {first} and {second} are exchanged", found, _moved_parts(one, two))


def _swapped_events(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    """Exchange two changes of one row with their positions, as a feed out of order has them."""
    for first, second in _pairs_of_one_row(events, chance):
        one, two = _row(events, first), _row(events, second)
        if one.position.partition != two.position.partition:
            continue  # partitions have no order among them
        found = _with(_with(events, first, two), second, one)
        what = f"events {first} and {second} are out of order"
        yield Plant("", what, found, (*_moved_parts(one, two), *_TIES))


def _moved_parts(one: RowChange, two: RowChange) -> tuple[str, ...]:
    """Return the parts that may be named in place of two changes of one row that moved.

    Two changes that leave the same row differ by their operation or by their before image.
    """
    if one.op == two.op == "delete":
        return _OF_A_DELETE
    if "delete" in (one.op, two.op):
        return ("deletes",)
    if repr(one.after) != repr(two.after):
        return ()
    if {one.op, two.op} == {"insert", "read"}:
        return _READS
    if any(_is_split(each) for each in (one, two)):  # an insert of the row that the other updates
        return (*_BEFORE, *_OPERATION)
    return _BEFORE if one.op == two.op else _OPERATION


def _pairs_of_one_row(events: Events, chance: Random) -> Iterator[tuple[int, int]]:
    """Yield the places of two changes of one row of a table with a key, which are not the same."""
    places: dict[object, list[int]] = {}
    for at in _rows(events):
        row = _row(events, at)
        image = row.after or row.before
        if image is not None and row.table.key and set(row.table.key) <= set(image.names):
            values = tuple(repr(image[name]) for name in row.table.key)
            places.setdefault((row.table.schema, row.table.name, values), []).append(at)
    pairs = [(own[n], own[m]) for own in places.values() for m in range(len(own)) for n in range(m)]
    chance.shuffle(pairs)
    for first, second in pairs:
        one, two = _row(events, first), _row(events, second)
        if repr((one.op, one.before, one.after)) != repr((two.op, two.before, two.after)):
            yield first, second


def _far_from(place: int | str) -> int | str:
    """Return another place in a source, in the form of one."""
    if isinstance(place, int):
        return place + _STEP
    if place.isdecimal():
        return str(int(place) + _STEP)
    return f"{'1' if place[0] != '1' else '2'}{place[1:]}"


def _position(name: str, *others: str) -> Planter:
    """Plant another value of a member. ``others``: what lines call it or its order."""

    def plant(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
        places = _rows_in_any_order(events, chance)
        for at in places:
            row = _row(events, at)
            old = getattr(row.position, name)
            if old is None:
                continue
            moved = replace(row, position=_with_member(row.position, name, _far_from(old)))
            names = [name, *others]
            if name == "commit_ts" and row.position.commit_ms is None:
                names.append("commit_ms")  # a format without commit_ts writes the time that it says
            accepts: tuple[str, ...] = tuple(names)
            if row.op == "delete":
                accepts = (*accepts, "deletes", *(f"{each} of deletes" for each in names))
            elif row.op == "read":
                accepts = (*accepts, *(f"{each} of rows of snapshots" for each in names))
            yield Plant("", f"{name} of event {at}", _with(events, at, moved), accepts)

    return plant


def _with_member(position: Position, name: str, value: Any) -> Position:
    return replace(position, **{name: value})


def _operation(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    """Make an insert of an update, and the other way round."""
    places = _rows_in_any_order(events, chance, "insert", "update")
    for at in places:
        row = _row(events, at)
        if row.op == "update":
            moved = replace(row, op="insert", before=None)
        else:
            moved = replace(row, op="update", before=row.after)
        yield Plant("", f"op of event {at}", _with(events, at, moved), _OPERATION)


def _renamed(change: Callable[[Table], Table], word: str) -> Planter:
    """Give one row change another table."""

    def plant(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
        places = _rows_in_any_order(events, chance)
        for at in places:
            row = _row(events, at)
            moved = replace(row, table=change(row.table))
            yield Plant("", f"{word} of event {at}", _with(events, at, moved), (word,))

    return plant


def _all_renamed(change: Callable[[Table], Table], word: str) -> Planter:
    """Give all row changes of one table another table."""

    def plant(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
        names = sorted({_name(_row(events, at).table) for at in _rows(events)})
        chance.shuffle(names)
        for name in names:
            found = tuple(
                replace(event, table=change(event.table))
                if isinstance(event, RowChange) and _name(event.table) == name
                else event
                for event in events
            )
            yield Plant("", f"{word} of all of {name}", found, (word,))

    return plant


def _name(table: Table) -> tuple[str, str]:
    return table.schema or "", table.name or ""


def _ddl(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    """Leave out a schema change."""
    places = [n for n, event in enumerate(events) if isinstance(event, SchemaChange)]
    chance.shuffle(places)
    for at in places:
        event = events[at]
        assert isinstance(event, SchemaChange)
        accepts: tuple[str, ...] = ("DDL events",)
        if event.table is not None:  # it may empty the table
            accepts = (*accepts, f"TRUNCATE of {table_text(event.table)}")
        yield Plant("", f"the DDL of event {at} is lost", _with(events, at), accepts)


def _kafka_keys(keys: KeyDamage, what: str) -> Planter:
    def plant(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
        if len(_rows(events)) > 1:
            yield Plant("", what, tuple(events), _KEYS, keys, chance.randrange(1 << 32))

    return plant


def _marker(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    """Leave out a marker."""
    places = [n for n, event in enumerate(events) if isinstance(event, Marker)]
    chance.shuffle(places)
    for at in places:
        event = events[at]
        assert isinstance(event, Marker)
        what = f"the marker of event {at} is lost"
        yield Plant("", what, _with(events, at), (marker_text(event),))


def marker_text(event: Marker) -> str:
    """Return what lines call markers of one kind."""
    return f"{event.what.replace('_', ' ')} events"


def _truncate(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    """Delete the rows of a table after one of its changes, at a position of no later one."""
    places = _rows_in_any_order(events, chance)
    for at in places:
        row = _row(events, at)
        if any(each.position.commit_ts == row.position.commit_ts for each in events[at + 1 :]):
            continue
        names = (part.replace("`", "``") for part in (row.table.schema, row.table.name) if part)
        statement = f"TRUNCATE TABLE {'.'.join(f'`{name}`' for name in names)}"
        truncate = SchemaChange(
            "truncate", statement, _TRUNCATE, row.table, replace(row.position, partition=None)
        )
        named = (f"TRUNCATE of {table_text(row.table)}", "DDL events")
        yield Plant("", f"TRUNCATE after event {at}", _with(events, at, row, truncate), named)


def _moved(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    """Send a change of a row after a later one, with its position."""
    for first, second in _pairs_of_one_row(events, chance):
        one, two = _row(events, first), _row(events, second)
        if one.position.partition != two.position.partition:
            continue  # partitions have no order among them
        found = (*events[:first], *events[first + 1 : second + 1], one, *events[second + 1 :])
        what = f"event {first} comes after event {second}"
        yield Plant("", what, found, (*_moved_parts(one, two), *_TIES))


def _extra(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    """Change a member of a message that no rule has."""
    places = _rows_in_any_order(events, chance)
    for at in places:
        row = _row(events, at)
        for name, value in row.extra.items():
            if isinstance(value, str) and name not in ("connector", "connector_version"):
                extra = {**row.extra, name: f"{value}1"}
                found = _with(events, at, replace(row, extra=extra))
                yield Plant("", f"{name} of event {at}", found, _SOURCES)


def _type(events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    """Send the text of a number in place of the number, in one row."""
    for at, row, column in _changed_values(events, chance, "after", ("insert",), _as_text):
        assert row.after is not None
        columns = tuple(
            replace(each, type=TextType(), source=None) if each.name == column.name else each
            for each in row.after.columns
        )
        found = replace(row, after=replace(row.after, columns=columns))
        yield Plant("", f"type of {column.name} of event {at}", _with(events, at, found), TYPES)


def _as_text(column: Column, value: Value) -> Value:
    return str(value) if type(value) is int and isinstance(column.type, IntType) else value


def _other_name(table: Table) -> Table:
    return replace(table, name=f"{table.name}2")


def _other_schema(table: Table) -> Table:
    return replace(table, schema=f"{table.schema or ''}2")


def _other_database(table: Table) -> Table:
    return replace(table, database=f"{table.database or ''}2")


LATE_COLUMN = "value of a late column"
"""A kind that few streams have room for."""

_PLANTERS: Mapping[str, Planter] = MappingProxyType(
    {
        "value of a new row": _value("after", ("insert", "read", "upsert", "update"), ()),
        "value of an old row": _value("before", ("update",), _BEFORE),
        "value of a deleted row": _value("before", ("delete",), _OF_A_DELETE),
        LATE_COLUMN: _late_value,
        "NULL in a new row": _nulls("after", ("insert", "read", "upsert", "update"), ()),
        "NULL in an old row": _nulls("before", ("update",), _BEFORE),
        "NULL in a deleted row": _nulls("before", ("delete",), _OF_A_DELETE),
        "lost": _lost,
        "repeated": _repeated,
        "exchanged": _swapped_contents,
        "out of order": _swapped_events,
        "operation": _operation,
        "table": _renamed(_other_name, "table"),
        "schema": _renamed(_other_schema, "schema"),
        "database": _renamed(_other_database, "databases"),
        "table of all": _all_renamed(_other_name, "table"),
        "schema of all": _all_renamed(_other_schema, "schema"),
        "database of all": _all_renamed(_other_database, "databases"),
        "commit_ts": _position("commit_ts"),
        "sequence_id": _position("sequence_id"),
        "lsn": _position("lsn"),
        "tx_id": _position("tx_id"),
        "commit_ms": _position("commit_ms"),
        "sent_ms": _position("sent_ms", *_SENT),
        **{name: _position(name, _BINLOG) for name in ("file", "pos", "row", "server_id")},
        "gtid": _position("gtid"),
        **{name: _position(name, "change_lsn") for name in _OF_CHANGE_LSN},
        **{name: _position(name, "rs_id", "scn") for name in _OF_RS_ID},
        "start_ts": _position("start_ts", *_SOURCES),
        "partition": _position("partition"),
        "moved": _moved,
        "extra": _extra,
        "type": _type,
        "marker": _marker,
        "TRUNCATE": _truncate,
        "DDL": _ddl,
        "Kafka key": _kafka_keys("exchanged", "two Kafka keys are exchanged"),
        "damaged Kafka key": _kafka_keys("cut", "a Kafka key is cut"),
    }
)
KINDS = tuple(_PLANTERS)


def plants(kind: str, events: Events, chance: Random, other: OtherValue) -> Iterator[Plant]:
    """Yield all plants of a kind in a stream, in random order.

    ``other``: draws another value of a column.
    """
    for each in _PLANTERS[kind](events, chance, other):
        yield replace(each, kind=kind)
