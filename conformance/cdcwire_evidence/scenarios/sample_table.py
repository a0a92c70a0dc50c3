"""One stream of one table that all ten formats carry, and differences planted in it.

The rows at its beginning are written here by hand: the ends of what a column holds. The others are
generated. Zero dates are not among them, as PostgreSQL has none; ``ZERO_DATES`` is for the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, TypeAlias

from cdcwire.model import kinds
from cdcwire.model.events import Image, RowChange, Table
from cdcwire.model.kinds import Column, Role, Value
from cdcwire_generators.positions import position_at
from cdcwire_generators.workloads import Mix, table_workload

PlantedName: TypeAlias = Literal[
    "changed", "lost", "doubled", "sent again", "out of order", "absent", "minus zero", "scale"
]

POSITION_FIELDS = ("commit_ts", "sequence_id", "lsn", "tx_id", "commit_ms", "sent_ms")
_SEED = 11
PLANTED_WITHIN = 2000  # changes of the stream's beginning
_SENT_AGAIN_BEHIND = 40  # changes; those planted are further from each other
_NO_ROLES: frozenset[Role] = frozenset()
_KEY: frozenset[Role] = frozenset({"primary", "handle"})


def _column(name: str, source: str, kind: kinds.Type, roles: frozenset[Role] = _NO_ROLES) -> Column:
    return Column(name, kind, source, nullable=not roles, roles=roles)


COLUMNS: tuple[Column, ...] = (
    _column("id", "bigint", kinds.IntType(64), _KEY),
    _column("units", "bigint unsigned", kinds.IntType(64, True)),
    _column("price", "decimal(12,2)", kinds.DecimalType(12, 2)),
    _column("exact", "decimal(65,30)", kinds.DecimalType(65, 30)),
    _column("flags", "bit(64)", kinds.BitType(64)),
    _column("state", "enum('new','open','closed')", kinds.EnumType(("new", "open", "closed"))),
    _column("tags", "set('a','b','c')", kinds.SetType(("a", "b", "c"))),
    _column("note", "json", kinds.JsonType()),
    _column("seen", "timestamp(6)", kinds.TimestampType(6)),
    _column("made", "datetime", kinds.DatetimeType(0)),
    _column("day", "date", kinds.DateType()),
    _column("raw", "varbinary(16)", kinds.BytesType(16)),
    _column("weight", "double", kinds.FloatType(64)),
    _column("name", "varchar(40)", kinds.TextType(40)),
)
TABLE = Table("parcels", "depot", columns=COLUMNS, key=("id",))

LARGEST: dict[str, Value] = {
    "id": 2**63 - 1,
    "units": 2**64 - 1,
    "price": Decimal("9999999999.99"),
    "exact": Decimal(f"{'9' * 35}.{'9' * 30}"),
    "flags": 2**64 - 1,
    "state": "closed",
    "tags": "a,b,c",
    "note": '{"b": 1, "a": [null, true, "\\u00e9"]}',
    "seen": "2038-01-19 03:14:07.999999",
    "made": "9999-12-31 23:59:59",
    "day": "9999-12-31",
    "raw": b"\x00\xff",
    "weight": 1.7976931348623157e308,
    "name": "Ünï 🚚",
}
SMALLEST: dict[str, Value] = {
    "id": -(2**63),
    "units": 0,
    "price": Decimal("-9999999999.99"),
    "exact": Decimal(f"-0.{'0' * 29}1"),
    "flags": 0,
    "state": "new",
    "tags": "",
    "note": "[]",
    "seen": "1970-01-01 00:00:01.000000",
    "made": "1000-01-01 00:00:00",
    "day": "1000-01-01",
    "raw": b"",
    "weight": 5e-324,
    "name": "",
}
NULLS: dict[str, Value] = {column.name: None for column in COLUMNS} | {"id": -3}
PLAIN: dict[str, Value] = LARGEST | {
    "id": -4,
    "units": 4,
    "price": Decimal("1.50"),
    "exact": Decimal(f"4.{'0' * 30}"),
    "tags": "a,c",
    "weight": 0.0,
}
SCALED: dict[str, Value] = PLAIN | {"id": -5}
ZERO_DATES: dict[str, Value] = PLAIN | {
    "id": -6,
    "made": "0000-00-00 00:00:00",
    "day": "0000-00-00",
    "weight": -0.0,
}
BY_HAND = (LARGEST, SMALLEST, NULLS, PLAIN, SCALED)

_EDITED: Mapping[PlantedName, tuple[dict[str, Value], str]] = {
    "absent": (NULLS, "day"),
    "minus zero": (PLAIN, "weight"),
    "scale": (SCALED, "price"),
}


def written_by_hand(*rows: dict[str, Value]) -> list[RowChange]:
    """Return the inserts of these rows, at positions before those of the stream."""
    table = replace(TABLE, columns=None)
    return [
        RowChange(
            table,
            "insert",
            None,
            Image(COLUMNS, tuple(row[column.name] for column in COLUMNS)),
            position_at(number - 100, number - 100, POSITION_FIELDS),
        )
        for number, row in enumerate(rows)
    ]


def sample_changes(rows: int) -> list[RowChange]:
    """Return so many changes of the table, those that are written by hand among them."""
    first = written_by_hand(*BY_HAND)
    made = table_workload(
        TABLE,
        rows - len(first),
        _SEED,
        mix=Mix(0.4, 0.45, 0.15, null_rate=0.1),
        position_fields=POSITION_FIELDS,
    )
    return [*first, *(event for event in made if isinstance(event, RowChange))]


@dataclass(frozen=True, slots=True)
class Planted:
    """A difference that was made. ``row`` is its key, ``commit_ts`` that of the change."""

    name: PlantedName
    row: int
    commit_ts: int | None
    column: str | None = None


@dataclass(frozen=True, slots=True)
class PlantedStream:
    """A stream in which differences were planted: what it is now, and which they are."""

    changes: tuple[RowChange, ...]
    planted: tuple[Planted, ...]


def plant(changes: Sequence[RowChange], names: Sequence[PlantedName]) -> PlantedStream:
    """Return the stream with one difference of each of these names, each in a row of its own.

    They are in rows whose changes are all among the first ``PLANTED_WITHIN``.
    Raises: ValueError for a stream that has no row for one of them.
    """
    slots = [[change] for change in changes]
    once = _inserted_once(changes)
    made: list[Planted] = []
    for name in names:
        if name == "out of order":
            first, second = _updated_twice(changes)
            slots[second] += slots[first]
            slots[first] = []
            made.append(_planted(name, changes[first]))
        elif name in _EDITED:
            row, column = _EDITED[name]
            index = BY_HAND.index(row)
            change = changes[index]
            slots[index] = [
                _without(change, column)
                if name == "absent"
                else _with(change, column, Decimal("1.5") if name == "scale" else -0.0)
            ]
            made.append(_planted(name, change, column))
        else:
            index = next(once)
            change = changes[index]
            is_changed = name == "changed"
            if is_changed:
                slots[index] = [_with(change, "name", f"{_after(change)['name']} ")]
            elif name == "sent again":  # behind others of its partition
                slots[index + _SENT_AGAIN_BEHIND].append(change)
            else:
                slots[index] = [] if name == "lost" else [change, change]
            made.append(_planted(name, change, "name" if is_changed else None))
    return PlantedStream(tuple(each for slot in slots for each in slot), tuple(made))


def _inserted_once(changes: Sequence[RowChange]) -> Iterator[int]:
    """Give the places of inserts of rows that don't change again, far from each other."""
    times = Counter(row_id(change) for change in changes)
    last = 100
    for index, change in enumerate(changes[:PLANTED_WITHIN]):
        is_free = change.op == "insert" and times[row_id(change)] == 1
        if index > last and is_free and _after(change)["name"] is not None:
            last = index + 50
            yield index
    raise ValueError("the stream is too short")


def _updated_twice(changes: Sequence[RowChange]) -> tuple[int, int]:
    """Return the places of a row's last two changes, which are updates at two times."""
    places: dict[int, list[int]] = {}
    for index, change in enumerate(changes):
        places.setdefault(row_id(change), []).append(index)
    for found in places.values():
        if len(found) < 2 or found[-1] >= PLANTED_WITHIN:
            continue
        first, second = (changes[index] for index in found[-2:])
        if first.op == second.op == "update" and first.position != second.position:
            return found[-2], found[-1]
    raise ValueError("no row ends with two updates")


def row_id(change: RowChange) -> int:
    """Return the key of a change of this table."""
    image = change.after or change.before
    assert image is not None
    found = image["id"]
    assert isinstance(found, int)
    return found


def _planted(name: PlantedName, change: RowChange, column: str | None = None) -> Planted:
    return Planted(name, row_id(change), change.position.commit_ts, column)


def _after(change: RowChange) -> Image:
    assert change.after is not None
    return change.after


def _with(change: RowChange, column: str, value: Value) -> RowChange:
    values = [
        value if each.name == column else old
        for each, old in zip(_after(change).columns, _after(change).values, strict=True)
    ]
    return replace(change, after=replace(_after(change), values=tuple(values)))


def _without(change: RowChange, column: str) -> RowChange:
    kept = [
        (each, value)
        for each, value in zip(_after(change).columns, _after(change).values, strict=True)
        if each.name != column
    ]
    image = Image.of(kept)
    return replace(change, after=image)
