"""The named workloads: their tables, and what their streams are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from cdcwire.model import kinds
from cdcwire.model.events import Event, Table
from cdcwire.model.kinds import Column, Role
from cdcwire_generators.workloads.makers import (
    Maker,
    blobs,
    digit_groups,
    long_texts,
    mostly_small_unsigned,
)
from cdcwire_generators.workloads.stream import Mix, stream

DEFAULT_WORKLOAD = "proposal-29"


@dataclass(frozen=True, slots=True)
class _Workload:
    title: str
    tables: tuple[Table, ...]
    mix: Mix


def workload(
    name: str,
    rows: int,
    seed: int,
    *,
    inserts_only: bool = False,
    ddl: bool = False,
    resolved_every: int = 0,
    position_fields: tuple[str, ...] = ("commit_ts",),
) -> Iterator[Event]:
    """Give ``rows`` row changes of a named workload, the same ones for the same seed.

    A row is inserted before it changes, and the before image of a change is the row's last state.
    Keys are unique among the existing rows. Commit timestamps grow from 2024-01-01 on; changes of
    one transaction share theirs.

    ``inserts_only``: no updates and deletes; keys of few values (TINYINT) come again then. ``ddl``:
    schema changes too: the statements that create the tables first, and more on the way.
    ``resolved_every``: a resolved event after about N rows; 0: none. Raises: ValueError for a name
    that is not known or a number below 0, at once.
    """
    found = _find(name)
    return stream(
        found.tables,
        rows,
        seed,
        found.mix,
        inserts_only=inserts_only,
        ddl=ddl,
        resolved_every=resolved_every,
        position_fields=position_fields,
    )


def workload_tables(name: str) -> tuple[Table, ...]:
    """Return the definitions of the tables of a named workload."""
    return _find(name).tables


def workload_title(name: str) -> str:
    """Return what a named workload is, in a line."""
    return _find(name).title


def _find(name: str) -> _Workload:
    if name not in _WORKLOADS:
        known = ", ".join(WORKLOAD_NAMES)
        raise ValueError(f"workload {name!r} is not known; there are: {known}")
    return _WORKLOADS[name]


_NO_ROLES: frozenset[Role] = frozenset()
_KEY: frozenset[Role] = frozenset({"primary", "handle"})
_COMPOSITE: frozenset[Role] = frozenset({"primary", "handle", "multiple"})
_UNIQUE: frozenset[Role] = frozenset({"unique"})


def _column(name: str, source: str, kind: kinds.Type, roles: frozenset[Role] = _NO_ROLES) -> Column:
    return Column(name, kind, source, nullable=not roles & _KEY, roles=roles)


def _not_null(name: str, source: str, kind: kinds.Type) -> Column:
    return Column(name, kind, source, nullable=False)


def _table(name: str, *columns: Column, schema: str = "test") -> Table:
    key = tuple(column.name for column in columns if "handle" in column.roles)
    return Table(name, schema, columns=columns, key=key)


_TINY = _table(
    "tiny",
    _column("id", "bigint", kinds.IntType(64), _KEY),
    _not_null("v", "tinyint", kinds.IntType(8)),
)

_SYSBENCH = _table(
    "sbtest1",
    _column("id", "int", kinds.IntType(32), _KEY),
    _not_null("k", "int", kinds.IntType(32)),
    _not_null("c", "char(120)", kinds.TextType(120)),
    _not_null("pad", "char(60)", kinds.TextType(60)),
    schema="sbtest",
)

_ORDERS = _table(
    "orders",
    _column("id", "bigint", kinds.IntType(64), _KEY),
    _column("trace_id", "bigint unsigned", kinds.IntType(64, True)),
    _column("status", "tinyint", kinds.IntType(8)),
    _column("quantity", "int", kinds.IntType(32)),
    _column("price", "decimal(12,2)", kinds.DecimalType(12, 2)),
    _column("weight", "double", kinds.FloatType(64)),
    _column("customer", "varchar(64)", kinds.TextType(64)),
    _column("note", "varchar(255)", kinds.TextType(255)),
    _column("created_at", "datetime", kinds.DatetimeType(0)),
    _column("updated_at", "timestamp(3)", kinds.TimestampType(3)),
    schema="shop",
)

# The table of the document that proposes Craft.
_PROPOSAL = _table(
    "test_flink",
    _column("c1", "tinyint", kinds.IntType(8), _KEY),
    _column("c2", "smallint", kinds.IntType(16), _UNIQUE),
    _column("c3", "mediumint", kinds.IntType(24)),
    _column("c4", "int", kinds.IntType(32)),
    _column("c5", "bigint", kinds.IntType(64)),
    _column("c6", "char(10)", kinds.TextType(10)),
    _column("c7", "varchar(20)", kinds.TextType(20)),
    _column("c8", "tinytext", kinds.TextType(255)),
    _column("c9", "mediumtext", kinds.TextType()),
    _column("c10", "text", kinds.TextType()),
    _column("c11", "longtext", kinds.TextType()),
    _column("c12", "binary(20)", kinds.BytesType(20)),
    _column("c13", "varbinary(20)", kinds.BytesType(20)),
    _column("c14", "tinyblob", kinds.BytesType()),
    _column("c15", "mediumblob", kinds.BytesType()),
    _column("c16", "blob", kinds.BytesType()),
    _column("c17", "longblob", kinds.BytesType()),
    _column("c18", "float", kinds.FloatType(32)),
    _column("c19", "double", kinds.FloatType(64)),
    _column("c20", "decimal(6,3)", kinds.DecimalType(6, 3)),
    _column("c21", "date", kinds.DateType()),
    _column("c22", "time", kinds.TimeType(0)),
    _column("c23", "datetime", kinds.DatetimeType(0)),
    _column("c24", "timestamp", kinds.TimestampType(0)),
    _column("c25", "year", kinds.YearType()),
    _column("c26", "boolean", kinds.IntType(8)),
    _column("c27", "json", kinds.JsonType()),
    _column("c28", "enum('1','2','3')", kinds.EnumType(("1", "2", "3"))),
    _column("c29", "set('a','b','c')", kinds.SetType(("a", "b", "c"))),
)

_ACCOUNTS = _table(
    "accounts",
    _column("id", "bigint", kinds.IntType(64), _KEY),
    _column("email", "varchar(64)", kinds.TextType(64), _UNIQUE),
    _not_null("balance", "decimal(18,4)", kinds.DecimalType(18, 4)),
    _not_null("version", "int unsigned", kinds.IntType(32, True)),
    _column("nickname", "varchar(32)", kinds.TextType(32)),
    _column("settings", "json", kinds.JsonType()),
    _column("last_seen", "timestamp(6)", kinds.TimestampType(6)),
    _column("state", "enum('new','open','closed')", kinds.EnumType(("new", "open", "closed"))),
    schema="bank",
)

_SPARSE_TYPES: tuple[tuple[str, kinds.Type], ...] = (
    ("int", kinds.IntType(32)),
    ("bigint unsigned", kinds.IntType(64, True)),
    ("varchar(40)", kinds.TextType(40)),
    ("decimal(10,2)", kinds.DecimalType(10, 2)),
    ("datetime(6)", kinds.DatetimeType(6)),
    ("double", kinds.FloatType(64)),
    ("varbinary(16)", kinds.BytesType(16)),
    ("date", kinds.DateType()),
)
_SPARSE = _table(
    "sparse",
    _column("id", "bigint", kinds.IntType(64), _KEY),
    *(
        _column(f"attribute_{number:02d}", *_SPARSE_TYPES[number % len(_SPARSE_TYPES)])
        for number in range(1, 41)
    ),
    schema="catalog",
)


def _one_of_many(number: int) -> Table:
    """Return table ``number`` of 48: some without key, some with a key of two columns."""
    is_composite = number % 5 == 4 and number % 7 != 6
    key = _NO_ROLES if number % 7 == 6 else _COMPOSITE if is_composite else _KEY
    second = _COMPOSITE if is_composite else _NO_ROLES
    return _table(
        f"table_{number:02d}",
        Column("id", kinds.IntType(64), "bigint", nullable=False, roles=key),
        Column("part", kinds.IntType(32), "int", nullable=False, roles=second),
        _column("name", "varchar(30)", kinds.TextType(30)),
        _column(f"value_{number % 3}", *_SPARSE_TYPES[number % len(_SPARSE_TYPES)]),
        schema=f"tenant_{number % 6}",
    )


def _large_blobs(rng: Random) -> Maker:
    return blobs(0, 65536, rng)


_LARGE = _table(
    "documents",
    _column("id", "bigint", kinds.IntType(64), _KEY),
    _not_null("title", "varchar(200)", kinds.TextType(200)),
    _column("body", "longtext", kinds.TextType()),
    _column("attachment", "longblob", kinds.BytesType()),
    schema="archive",
)

_WORKLOADS: dict[str, _Workload] = {
    "tiny": _Workload("an id and a small number", (_TINY,), Mix()),
    "sysbench": _Workload(
        "the table of sysbench: id, k, c char(120), pad char(60)",
        (_SYSBENCH,),
        Mix(0.3, 0.5, 0.2, special={"c": digit_groups(10), "pad": digit_groups(5)}),
    ),
    "orders-10": _Workload(
        "ten columns of an order table, 10 to 30 % NULL",
        (_ORDERS,),
        Mix(
            null_rate=0.1,
            null_rates={"note": 0.3, "updated_at": 0.2, "weight": 0.2},
            special={"trace_id": mostly_small_unsigned(0.02)},
        ),
    ),
    "proposal-29": _Workload(
        "the 29 columns of the Craft proposal, random binary, 5 % NULL",
        (_PROPOSAL,),
        Mix(0.5, 0.3, 0.2, null_rate=0.05),
    ),
    "updates": _Workload("nearly all updates, with old values", (_ACCOUNTS,), Mix(0.06, 0.9, 0.04)),
    "mostly-null": _Workload("forty columns, 93 % NULL", (_SPARSE,), Mix(null_rate=0.93)),
    "many-tables": _Workload(
        "forty-eight partitioned tables in six schemas, mixed in every batch",
        tuple(map(_one_of_many, range(48))),
        Mix(partitions=4),
    ),
    "large-values": _Workload(
        "texts and blobs up to 64 KiB",
        (_LARGE,),
        Mix(
            changed_columns=1,
            null_rate=0.05,
            special={"body": long_texts(1024, 65536), "attachment": _large_blobs},
        ),
    ),
}

WORKLOAD_NAMES: tuple[str, ...] = tuple(_WORKLOADS)
