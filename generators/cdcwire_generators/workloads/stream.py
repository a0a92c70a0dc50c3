"""From tables to a stream of events: rows that live, transactions, DDL, resolved events.

Each row of a table has a number, from which the values of its key columns follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from random import Random
from types import MappingProxyType
from typing import TypeAlias

from cdcwire.model import kinds
from cdcwire.model.events import Event, Image, Position, Progress, RowChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire_generators.positions import check_position_fields, commit_ts_at, position_at
from cdcwire_generators.workloads.makers import Maker, MakerOf, maker
from cdcwire_generators.workloads.statements import create_statements, later_statement

ValueOfNumber: TypeAlias = Callable[[int], Value]

ENDLESS = 1 << 62  # more rows than anyone makes
_DAYS = 24_000  # 1970 to 2035
_SECONDS = 2_000_000_000


def unique_columns(table: Table) -> tuple[str, ...]:
    """Return the names of the columns whose values are all different: key and unique columns."""
    key = table.key or ()
    return tuple(
        column.name
        for column in table.columns or ()
        if column.name in key or column.roles & {"primary", "handle", "unique"}
    )


def key_values(column: Column) -> tuple[ValueOfNumber, int]:
    """Return how a row's number becomes the value of a unique column, and how many there are."""
    kind = column.type
    match kind:
        case kinds.BoolType():
            return (lambda number: number % 2 == 1), 2
        case kinds.IntType(bits, unsigned):
            end = 1 << (bits if unsigned else bits - 1)
            return (lambda number: number % end), min(end, ENDLESS)
        case kinds.BitType(length):
            end = 1 << min(length or 1, 62)
            return (lambda number: number % end), end
        case kinds.FloatType(bits):
            end = 1 << (24 if bits == 32 else 53)
            return (lambda number: float(number % end)), end
        case kinds.DecimalType(precision, scale):
            return _decimals(precision or 10, scale or 0)
        case kinds.TextType(length):
            return _texts(8 if length is None else min(length, 8))
        case kinds.BytesType(length):
            size = 8 if length is None else min(length, 8)
            end = 1 << 8 * size
            return (lambda number: (number % end).to_bytes(size, "big")), min(end, ENDLESS)
        case kinds.YearType():
            return (lambda number: 1901 + number % 255), 255
        case kinds.DateType() | kinds.TimeType() | kinds.DatetimeType() | kinds.TimestampType():
            return _temporals(kind)
        case kinds.EnumType(labels, "label") | kinds.SetType(labels, "label"):
            known = labels or ("a", "b", "c")
            return (lambda number: known[number % len(known)]), len(known)
        case kinds.EnumType(labels):
            count = 65535 if labels is None else len(labels)
            return (lambda number: 1 + number % count), count
        case kinds.SetType(labels):
            end = 1 << (62 if labels is None else len(labels))
            return (lambda number: number % end), end
        case _:
            raise ValueError(f"column {column.name!r}: a key of this type is not supported")


def _texts(size: int) -> tuple[ValueOfNumber, int]:
    end = 36**size
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"

    def value_of(number: int) -> str:
        number %= end
        text = ""
        for _ in range(size):
            number, digit = divmod(number, 36)
            text = digits[digit] + text
        return text

    return value_of, end


def _decimals(precision: int, scale: int) -> tuple[ValueOfNumber, int]:
    end = 10 ** min(precision - scale, 18) if precision > scale else 1
    fraction = f".{'0' * scale}" if scale else ""
    return (lambda number: Decimal(f"{number % end}{fraction}")), end


def _temporals(
    kind: kinds.DateType | kinds.TimeType | kinds.DatetimeType | kinds.TimestampType,
) -> tuple[ValueOfNumber, int]:
    from cdcwire.model.temporal import count_text

    if isinstance(kind, kinds.DateType):
        if kind.form == "text":
            return (lambda number: count_text(kinds.DateType("d"), number % _DAYS)), _DAYS
        per_day = {"d": 1, "ms": 86_400_000}.get(kind.form, 86_400_000_000)
        return (lambda number: number % _DAYS * per_day), _DAYS
    seconds = 86_400 if isinstance(kind, kinds.TimeType) else _SECONDS
    if kind.form != "text":
        per_second = {"ms": 10**3, "us": 10**6, "ns": 10**9}[kind.form]
        return (lambda number: (number % (seconds - 1) + 1) * per_second), seconds - 1
    shown: kinds.TimeType | kinds.DatetimeType = (
        kinds.TimeType(kind.fraction, "ms")
        if isinstance(kind, kinds.TimeType)
        else kinds.DatetimeType(kind.fraction, "ms")
    )
    # 0 is left out: a TIMESTAMP of 1970-01-01 00:00:00 is MySQL's zero.
    return (lambda number: count_text(shown, (number % (seconds - 1) + 1) * 1000)), seconds - 1


# So many rows of a table are remembered for later updates and deletes.
_REMEMBERED = 1024
_ROWS_BETWEEN_DDL = 1000
_ONLY_COMMIT_TS = ("commit_ts",)


@dataclass(frozen=True, slots=True)
class Mix:
    """The settings of a stream. ``inserts``, ``updates``, ``deletes`` are shares and add up to 1.

    ``null_rate`` holds for nullable columns; ``null_rates`` for columns by their names, and
    ``special`` has makers of values for columns by their names. ``changed_columns``: the maximum
    number of columns that get a new value in an update. ``partitions``: the number of partitions of
    a table; 0: it is not partitioned.
    """

    inserts: float = 0.6
    updates: float = 0.3
    deletes: float = 0.1
    null_rate: float = 0.1
    null_rates: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    special: Mapping[str, MakerOf] = field(default_factory=lambda: MappingProxyType({}))
    changed_columns: int = 3
    partitions: int = 0

    def __post_init__(self) -> None:
        shares = (self.inserts, self.updates, self.deletes)
        if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
            raise ValueError(f"the shares {shares} do not add up to 1")


def table_workload(
    table: Table,
    rows: int,
    seed: int,
    *,
    mix: Mix | None = None,
    inserts_only: bool = False,
    ddl: bool = False,
    resolved_every: int = 0,
    position_fields: tuple[str, ...] = _ONLY_COMMIT_TS,
) -> Iterator[Event]:
    """Give ``rows`` changes of any table whose columns are known. See ``workload``."""
    return stream(
        (table,),
        rows,
        seed,
        mix or Mix(),
        inserts_only=inserts_only,
        ddl=ddl,
        resolved_every=resolved_every,
        position_fields=position_fields,
    )


def stream(
    tables: Sequence[Table],
    rows: int,
    seed: int,
    mix: Mix,
    *,
    inserts_only: bool = False,
    ddl: bool = False,
    resolved_every: int = 0,
    position_fields: tuple[str, ...] = _ONLY_COMMIT_TS,
) -> Iterator[Event]:
    """Give ``rows`` changes over several tables, in commit order. Wrong arguments raise at once."""
    if rows < 0 or resolved_every < 0:
        raise ValueError(f"rows={rows} or resolved_every={resolved_every} is less than 0")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"a seed is an integer, not {type(seed).__name__}")
    if not tables:
        raise ValueError("a stream needs a table")
    check_position_fields(position_fields)
    rng = Random(seed)
    if inserts_only:
        mix = replace(mix, inserts=1.0, updates=0.0, deletes=0.0)
    writers = [TableWriter(table, rng, mix) for table in tables]
    return _events(writers, rows, rng, ddl, resolved_every, position_fields)


def _events(
    writers: list[TableWriter],
    rows: int,
    rng: Random,
    ddl: bool,
    resolved_every: int,
    position_fields: tuple[str, ...],
) -> Iterator[Event]:
    random, bits_of, count = rng.random, rng.getrandbits, len(writers)
    is_plain = position_fields == _ONLY_COMMIT_TS
    changes = commit = statements = made = 0
    next_ddl = _ROWS_BETWEEN_DDL if ddl else rows + 1
    next_resolved = resolved_every or rows + 1
    if ddl:
        for change in create_statements([writer.table for writer in writers]):
            changes += 1
            commit += 1
            yield replace(change, position=position_at(changes, commit, position_fields))
    while made < rows:
        commit += 1 + bits_of(2)
        position = Position(commit_ts_at(commit))
        # Every fourth transaction has up to four rows, the others one.
        size = min(rows - made, 1 if bits_of(2) else 1 + bits_of(2))
        for _ in range(size):
            writer = writers[int(random() * count)] if count > 1 else writers[0]
            made += 1
            changes += 1
            if not is_plain or writer.partitions:
                partition = writer.partition()
                position = (
                    Position(commit_ts_at(commit), partition=partition)
                    if is_plain
                    else position_at(changes, commit, position_fields, partition)
                )
            yield writer.change(position)
        if made >= next_ddl:
            next_ddl += _ROWS_BETWEEN_DDL
            changes += 1
            commit += 1
            writer = writers[statements % count]
            change = later_statement(writer.table, statements // count)
            statements += 1
            if change.what == "truncate":
                writer.forget()
            yield replace(change, position=position_at(changes, commit, position_fields))
        if made >= next_resolved:
            next_resolved += resolved_every
            yield Progress("resolved", Position(commit_ts_at(commit)))


class TableWriter:
    """The rows of one table that are remembered, and what makes its next change.

    A table whose key has few values (TINYINT) keeps all its rows and uses freed keys again. Of one
    with an endless key old rows are forgotten, and never change after that.
    """

    def __init__(self, table: Table, rng: Random, mix: Mix) -> None:
        if not table.columns:
            raise ValueError(f"the table {table.name!r} comes without its columns")
        self.table = table
        self.row_table = replace(table, columns=None, version=None)
        self.rng = rng
        self.mix = mix
        self.columns = table.columns
        unique = unique_columns(table)
        self.makers: list[Maker | None] = []
        self.key_makers = []
        self.capacity = ENDLESS
        for index, column in enumerate(table.columns):
            if column.name in unique:
                value_of, count = key_values(column)
                self.key_makers.append((index, value_of))
                self.capacity = min(self.capacity, count)
                self.makers.append(None)
            else:
                null_rate = mix.null_rates.get(column.name, mix.null_rate)
                self.makers.append(maker(column, rng, null_rate, mix.special))
        self.changeable = [index for index, make in enumerate(self.makers) if make is not None]
        self.partitions = mix.partitions
        self.is_limited = self.capacity < 1 << 31 and mix.inserts < 1.0
        self.limit = min(self.capacity, _REMEMBERED)
        self.rows: list[tuple[int, tuple[Value, ...]]] = []
        self.next_number = 0
        self.free: list[int] = []

    def partition(self) -> int | None:
        """Return a random partition id; None if the table has no partitions."""
        return 100 + int(self.rng.random() * self.partitions) if self.partitions else None

    def forget(self) -> None:
        """Forget all rows: the table was truncated."""
        if self.is_limited:
            self.free += [number for number, _ in self.rows]
        self.rows.clear()

    def change(self, position: Position) -> RowChange:
        """Return the next change; another one where there is no row, or no key for a new one."""
        rows, choice = self.rows, self.rng.random()
        if not rows or (choice < self.mix.inserts and not self._is_full()):
            return self._insert(position)
        place = int(self.rng.random() * len(rows))
        number, before = rows[place]
        image = Image(self.columns, before)
        is_delete = choice >= 1.0 - self.mix.deletes or not self.changeable
        if is_delete or (choice < self.mix.inserts and len(rows) > self.limit // 2):
            rows[place] = rows[-1]
            rows.pop()
            if self.is_limited:
                self.free.append(number)
            return RowChange(self.row_table, "delete", image, None, position)
        after = self._changed(before)
        rows[place] = (number, after)
        return RowChange(self.row_table, "update", image, Image(self.columns, after), position)

    def altered(self, table: Table) -> TableWriter:
        """Return what writes the same rows under another definition; new columns are NULL there."""
        after = TableWriter(table, self.rng, self.mix)
        places = {column.name: index for index, column in enumerate(self.columns)}
        names = [column.name for column in after.columns]
        for number, values in self.rows:
            row = tuple(values[places[name]] if name in places else None for name in names)
            after.rows.append((number, row))
        after.next_number = self.next_number
        after.free = list(self.free)
        return after

    def _is_full(self) -> bool:
        return self.is_limited and len(self.rows) >= self.limit

    def _insert(self, position: Position) -> RowChange:
        if self.is_limited and self.free:
            number = self.free.pop()
        else:
            number = self.next_number
            self.next_number += 1
        drawn = [None if make is None else make() for make in self.makers]
        for index, value_of in self.key_makers:
            drawn[index] = value_of(number)
        values = tuple(drawn)
        rows = self.rows
        if len(rows) < self.limit:
            rows.append((number, values))
        elif self.mix.inserts < 1.0:
            rows[int(self.rng.random() * len(rows))] = (number, values)
        return RowChange(self.row_table, "insert", None, Image(self.columns, values), position)

    def _changed(self, before: tuple[Value, ...]) -> tuple[Value, ...]:
        values = list(before)
        random, changeable = self.rng.random, self.changeable
        for _ in range(1 + int(random() * self.mix.changed_columns)):
            index = changeable[int(random() * len(changeable))]
            make = self.makers[index]
            assert make is not None
            values[index] = make()
        return tuple(values)
