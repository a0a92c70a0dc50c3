"""The named workloads: their tables, and what their streams are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from cdcwire.model.events import Column, Event, Role, Table
from cdcwire.model.kinds import (
    BytesType,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    JsonType,
    SetType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    YearType,
)
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

    A row is inserted before it changes, the before image of a change is the row's last state, keys
    are unique among the rows that are there, and commit timestamps grow from 2024-01-01 on; changes
    of one transaction share theirs.

    ``inserts_only``: no updates and deletes; keys of few values (TINYINT) come again then.
    ``ddl``: schema changes too: the statements that create the tables first, and more on the way.
    ``resolved_every``: a resolved event after about so many rows; 0: none.
    Raises: ValueError for a name that is not known or a number below 0, at once.
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


def _column(name: str, source: str, kind: Type, roles: frozenset[Role] = _NO_ROLES) -> Column:
    return Column(name, kind, source, nullable=not roles & _KEY, roles=roles)


def _not_null(name: str, source: str, kind: Type) -> Column:
    return Column(name, kind, source, nullable=False)


def _table(name: str, *columns: Column, schema: str = "test") -> Table:
    key = tuple(column.name for column in columns if "handle" in column.roles)
    return Table(name, schema, columns=columns, key=key)


_TINY = _table(
    "tiny", _column("id", "bigint", IntType(64), _KEY), _not_null("v", "tinyint", IntType(8))
)

_SYSBENCH = _table(
    "sbtest1",
    _column("id", "int", IntType(32), _KEY),
    _not_null("k", "int", IntType(32)),
    _not_null("c", "char(120)", TextType(120)),
    _not_null("pad", "char(60)", TextType(60)),
    schema="sbtest",
)

_ORDERS = _table(
    "orders",
    _column("id", "bigint", IntType(64), _KEY),
    _column("trace_id", "bigint unsigned", IntType(64, True)),
    _column("status", "tinyint", IntType(8)),
    _column("quantity", "int", IntType(32)),
    _column("price", "decimal(12,2)", DecimalType(12, 2)),
    _column("weight", "double", FloatType(64)),
    _column("customer", "varchar(64)", TextType(64)),
    _column("note", "varchar(255)", TextType(255)),
    _column("created_at", "datetime", DatetimeType(0)),
    _column("updated_at", "timestamp(3)", TimestampType(3)),
    schema="shop",
)

# The table of the document that proposes Craft.
_PROPOSAL = _table(
    "test_flink",
    _column("c1", "tinyint", IntType(8), _KEY),
    _column("c2", "smallint", IntType(16), _UNIQUE),
    _column("c3", "mediumint", IntType(24)),
    _column("c4", "int", IntType(32)),
    _column("c5", "bigint", IntType(64)),
    _column("c6", "char(10)", TextType(10)),
    _column("c7", "varchar(20)", TextType(20)),
    _column("c8", "tinytext", TextType(255)),
    _column("c9", "mediumtext", TextType()),
    _column("c10", "text", TextType()),
    _column("c11", "longtext", TextType()),
    _column("c12", "binary(20)", BytesType(20)),
    _column("c13", "varbinary(20)", BytesType(20)),
    _column("c14", "tinyblob", BytesType()),
    _column("c15", "mediumblob", BytesType()),
    _column("c16", "blob", BytesType()),
    _column("c17", "longblob", BytesType()),
    _column("c18", "float", FloatType(32)),
    _column("c19", "double", FloatType(64)),
    _column("c20", "decimal(6,3)", DecimalType(6, 3)),
    _column("c21", "date", DateType()),
    _column("c22", "time", TimeType(0)),
    _column("c23", "datetime", DatetimeType(0)),
    _column("c24", "timestamp", TimestampType(0)),
    _column("c25", "year", YearType()),
    _column("c26", "boolean", IntType(8)),
    _column("c27", "json", JsonType()),
    _column("c28", "enum('1','2','3')", EnumType(("1", "2", "3"))),
    _column("c29", "set('a','b','c')", SetType(("a", "b", "c"))),
)

_ACCOUNTS = _table(
    "accounts",
    _column("id", "bigint", IntType(64), _KEY),
    _column("email", "varchar(64)", TextType(64), _UNIQUE),
    _not_null("balance", "decimal(18,4)", DecimalType(18, 4)),
    _not_null("version", "int unsigned", IntType(32, True)),
    _column("nickname", "varchar(32)", TextType(32)),
    _column("settings", "json", JsonType()),
    _column("last_seen", "timestamp(6)", TimestampType(6)),
    _column("state", "enum('new','open','closed')", EnumType(("new", "open", "closed"))),
    schema="bank",
)

_SPARSE_TYPES: tuple[tuple[str, Type], ...] = (
    ("int", IntType(32)),
    ("bigint unsigned", IntType(64, True)),
    ("varchar(40)", TextType(40)),
    ("decimal(10,2)", DecimalType(10, 2)),
    ("datetime(6)", DatetimeType(6)),
    ("double", FloatType(64)),
    ("varbinary(16)", BytesType(16)),
    ("date", DateType()),
)
_SPARSE = _table(
    "sparse",
    _column("id", "bigint", IntType(64), _KEY),
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
        Column("id", IntType(64), "bigint", nullable=False, roles=key),
        Column("part", IntType(32), "int", nullable=False, roles=second),
        _column("name", "varchar(30)", TextType(30)),
        _column(f"value_{number % 3}", *_SPARSE_TYPES[number % len(_SPARSE_TYPES)]),
        schema=f"tenant_{number % 6}",
    )


def _large_blobs(rng: Random) -> Maker:
    return blobs(0, 65536, rng)


_LARGE = _table(
    "documents",
    _column("id", "bigint", IntType(64), _KEY),
    _not_null("title", "varchar(200)", TextType(200)),
    _column("body", "longtext", TextType()),
    _column("attachment", "longblob", BytesType()),
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
