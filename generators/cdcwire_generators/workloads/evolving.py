"""The workload ``storage``: tables that change, rows of four days, and one table in partitions.

Three tables of a schema ``shop``: ``orders`` gets a column between two others when the second day
ends, ``events`` has partitions, ``users`` becomes ``customers`` when the third day ends. The times
of these changes are fixed, and so are the versions of the tables. Rows come in a burst every six
hours, so that a writer has files of several rows to make.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from cdcwire.model import kinds
from cdcwire.model.events import Event, Position, SchemaChange, Table
from cdcwire.model.kinds import Column, Role
from cdcwire_generators.positions import check_position_fields, commit_ts_at, position_at
from cdcwire_generators.workloads.statements import (
    add_column,
    create_schema,
    create_whole_table,
    rename_table,
)
from cdcwire_generators.workloads.stream import Mix, TableWriter

EVOLVING_WORKLOAD = "storage"
EVOLVING_TITLE = "three tables over four days: a new column, partitions, a new name"

DAYS = 4
_DAY_MS = 86_400_000
_FIRST_ROW_MS = 1000  # of a burst
_BURST_MS = _DAY_MS // 4
_BURSTS = DAYS * 4
_BETWEEN_ROWS_MS = 10
_PARTITIONS = 3
_ALTER_MS = 2 * _DAY_MS
_RENAME_MS = 3 * _DAY_MS

_NO_ROLES: frozenset[Role] = frozenset()
_KEY: frozenset[Role] = frozenset({"primary", "handle"})


def _column(name: str, source: str, kind: kinds.Type, roles: frozenset[Role] = _NO_ROLES) -> Column:
    return Column(name, kind, source, nullable=not roles & _KEY, roles=roles)


def _table(name: str, created_ms: int, *columns: Column) -> Table:
    return Table(name, "shop", None, columns, ("id",), commit_ts_at(created_ms))


_STATES = ("new", "paid", "it's sent", "closed")
_MARKS = ("gift", "express", "fragile")

_ORDERS = _table(
    "orders",
    2,
    _column("id", "bigint", kinds.IntType(64), _KEY),
    _column("state", "enum('new','paid','it''s sent','closed')", kinds.EnumType(_STATES)),
    _column("marks", "set('gift','express','fragile')", kinds.SetType(_MARKS)),
    _column("price", "decimal(12,2)", kinds.DecimalType(12, 2)),
    _column("weight", "double", kinds.FloatType(64)),
    _column("score", "float", kinds.FloatType(32)),
    _column("customer", "varchar(64)", kinds.TextType(64)),
    _column("created_at", "datetime", kinds.DatetimeType(0)),
    _column("updated_at", "timestamp(3)", kinds.TimestampType(3)),
)
_DISCOUNT = _column("discount", "decimal(5,2)", kinds.DecimalType(5, 2))
_ALTERED_ORDERS = replace(
    _ORDERS,
    columns=(*(_ORDERS.columns or ())[:4], _DISCOUNT, *(_ORDERS.columns or ())[4:]),
    version=commit_ts_at(_ALTER_MS),
)
_EVENTS = _table(
    "events",
    3,
    _column("id", "bigint unsigned", kinds.IntType(64, True), _KEY),
    _column("kind", "varchar(20)", kinds.TextType(20)),
    _column("payload", "json", kinds.JsonType()),
    _column("body", "varbinary(32)", kinds.BytesType(32)),
    _column("at", "time(2)", kinds.TimeType(2)),
    _column("on_day", "date", kinds.DateType()),
    _column("of_year", "year", kinds.YearType()),
    _column("flags", "bit(10)", kinds.BitType(10)),
)
_USERS = _table(
    "users",
    4,
    _column("id", "int", kinds.IntType(32), _KEY),
    _column("name", "varchar(40)", kinds.TextType(40)),
    _column("age", "tinyint unsigned", kinds.IntType(8, True)),
    _column("is_active", "tinyint(1)", kinds.IntType(8)),
    _column("photo", "blob", kinds.BytesType()),
    _column("note", "text", kinds.TextType()),
)
_CUSTOMERS = replace(_USERS, name="customers", version=commit_ts_at(_RENAME_MS))


def evolving_tables() -> tuple[Table, ...]:
    """Return the definitions of the tables, each under the version at which it came to be."""
    return _ORDERS, _EVENTS, _USERS, _ALTERED_ORDERS, _CUSTOMERS


def evolving_workload(
    rows: int,
    seed: int,
    *,
    ddl: bool = True,
    position_fields: tuple[str, ...] = ("commit_ts",),
) -> Iterator[Event]:
    """Return ``rows`` row changes, the same ones for the same seed.

    With ``ddl``, the stream begins with the statements that create the tables. Statements that
    alter tables follow between the rows, the last ones at the end.
    Raises: ValueError on the call for a number below 0.
    """
    if rows < 0:
        raise ValueError(f"rows={rows} is less than 0")
    check_position_fields(position_fields)
    return _events(rows, Random(seed), ddl, position_fields)


def _events(rows: int, rng: Random, ddl: bool, position_fields: tuple[str, ...]) -> Iterator[Event]:
    if ddl:
        yield replace(create_schema("shop"), position=Position(commit_ts_at(1)))
        yield from map(create_whole_table, (_ORDERS, _EVENTS, _USERS))
    orders = TableWriter(_ORDERS, rng, Mix(null_rate=0.1))
    events = TableWriter(_EVENTS, rng, Mix(null_rate=0.1, partitions=_PARTITIONS))
    users = TableWriter(_USERS, rng, Mix(0.5, 0.4, 0.1, null_rate=0.2))
    per_burst = -(-rows // _BURSTS)
    between = max(1, min(_BETWEEN_ROWS_MS, _BURST_MS // 2 // max(per_burst, 1)))
    due = [_ALTER_MS, _RENAME_MS]
    made = changes = 0
    while made < rows:
        size = min(rows - made, 1 if rng.getrandbits(2) else 1 + rng.getrandbits(2))
        burst, place = divmod(made, per_burst)
        commit_ms = burst * _BURST_MS + _FIRST_ROW_MS + place * between
        while due and commit_ms > due[0]:
            orders, users, statement = _changed(due.pop(0), orders, users)
            if ddl:
                yield statement
        for _ in range(size):
            writer = (orders, events, users)[int(rng.random() * 3)]
            made += 1
            changes += 1
            yield writer.change(
                position_at(changes, commit_ms, position_fields, writer.partition())
                if position_fields != ("commit_ts",)
                else Position(commit_ts_at(commit_ms), partition=writer.partition())
            )
    for moment in due if ddl else ():
        yield _changed(moment, orders, users)[2]


def _changed(
    moment: int, orders: TableWriter, users: TableWriter
) -> tuple[TableWriter, TableWriter, SchemaChange]:
    if moment == _ALTER_MS:
        return (
            orders.altered(_ALTERED_ORDERS),
            users,
            add_column(_ALTERED_ORDERS, _DISCOUNT, "price"),
        )
    return orders, users.altered(_CUSTOMERS), rename_table(_USERS, _CUSTOMERS)
