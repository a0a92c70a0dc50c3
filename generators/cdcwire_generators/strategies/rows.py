"""Row images and row changes of one table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import get_args

from hypothesis import strategies as st

from cdcwire.model.events import Image, Op, Position, RowChange, Table
from cdcwire.model.kinds import Column, Value
from cdcwire_generators.domain import PLAUSIBLE, Domain
from cdcwire_generators.positions import POSITION_FIELDS
from cdcwire_generators.strategies.tables import row_table, tables
from cdcwire_generators.strategies.values import values

_MAX_UINT64 = (1 << 64) - 1
_MAX_INT64 = (1 << 63) - 1
_MAX_MS = 10**13 - 1  # 13 digits, which last until 2286
_COMMIT_TS = st.one_of(
    st.integers(1, _MAX_UINT64),
    st.sampled_from((1, 424316594097225729, (1 << 53) + 1, _MAX_UINT64)),
)
_LSNS = st.integers(1, 0xFFFF).map(lambda n: f"00000027:{n:08x}:{n % 7:04x}")
_SCNS = st.integers(0, _MAX_UINT64).map(str)
_FIELDS: dict[str, st.SearchStrategy[int | str | None]] = {
    "commit_ts": _COMMIT_TS,
    "sequence_id": st.one_of(st.integers(0, _MAX_INT64), st.just(10**38 - 1)),
    "lsn": st.integers(0, _MAX_INT64),
    "tx_id": st.integers(0, _MAX_INT64).map(str),
    "tx_order": st.integers(0, 100),
    "partition": st.one_of(st.none(), st.integers(1, 1000), st.integers(1, _MAX_INT64)),
    "commit_ms": st.integers(0, _MAX_MS),
    "sent_ms": st.integers(0, _MAX_MS),
    "file": st.sampled_from(("binlog.000001", "binlog.1000000", "mysql-bin.000023")),
    "pos": st.integers(0, _MAX_INT64),
    "row": st.integers(0, (1 << 31) - 1),
    "gtid": st.sampled_from(("0-1-7", "24bc7850-2c16-11e6-a073-0242ac110002:23")),
    "server_id": st.integers(0, (1 << 32) - 1),
    "commit_lsn": _LSNS,
    "change_lsn": _LSNS,
    "event_serial_no": st.integers(1, 2),
    "commit_scn": _SCNS,
    "scn": _SCNS,
    "rs_id": st.sampled_from(("0x000002.00000001.0010", " 0x00000a.0000ffff.01a0 ")),
    "ssn": st.integers(0, _MAX_INT64),
    "start_ts": _COMMIT_TS,
}


@lru_cache(maxsize=64)
def positions(*, domain: Domain = PLAUSIBLE) -> st.SearchStrategy[Position]:
    """Give positions with the fields of the domain filled; ``partition`` may be absent."""
    filled = {name: _FIELDS[name] for name in POSITION_FIELDS if name in domain.position_fields}
    return st.builds(Position, **filled)


def images(
    table: Table, *, with_absent: bool = False, domain: Domain = PLAUSIBLE
) -> st.SearchStrategy[Image]:
    """Give row states of a table whose columns are known, with NULL in nullable columns only.

    ``with_absent``: columns outside of the key may be missing, as virtual ones are. At least
    one column exists.
    """
    if table.columns is None:
        raise ValueError(f"the table {table.name!r} comes without its columns")
    if with_absent:
        return _sent_columns(table).flatmap(lambda columns: _images(columns, domain))
    return _images(table.columns, domain)


@st.composite
def _sent_columns(draw: st.DrawFn, table: Table) -> tuple[Column, ...]:
    columns = table.columns or ()
    key = table.key or ()
    kept = tuple(column for column in columns if column.name in key or draw(st.booleans()))
    return kept or columns[:1]


@st.composite
def _images(draw: st.DrawFn, columns: tuple[Column, ...], domain: Domain) -> Image:
    return Image(columns, tuple(draw(_values_of(column, domain)) for column in columns))


def _values_of(column: Column, domain: Domain) -> st.SearchStrategy[Value]:
    drawn = values(column.type, nullable=column.nullable is not False, domain=domain)
    return drawn.map(_without_nulls) if column.source in domain.family.vectors else drawn


def _without_nulls(value: Value) -> Value:
    return tuple(item for item in value if item is not None) if isinstance(value, tuple) else value


@st.composite
def changed_images(
    draw: st.DrawFn,
    image: Image,
    *,
    keeps: Sequence[str] = (),
    domain: Domain = PLAUSIBLE,
) -> Image:
    """Give later states of a row: any of its columns has another value, but those in ``keeps``."""
    drawn = [
        draw(_values_of(column, domain))
        if column.name not in keeps and draw(st.booleans())
        else value
        for column, value in image.pairs
    ]
    return Image(image.columns, tuple(drawn))


@st.composite
def row_changes(
    draw: st.DrawFn,
    table: Table | None = None,
    *,
    ops: Sequence[Op] = ("insert", "update", "delete"),
    with_absent: bool = False,
    domain: Domain = PLAUSIBLE,
) -> RowChange:
    """Give single changes of a table, or of any table. An update has both images, of one layout.

    ``with_absent``: columns outside of the key may be missing from the images.
    """
    odd = set(ops) - set(get_args(Op))
    if odd or not ops:
        raise ValueError(f"ops={ops!r}: one or more of {', '.join(get_args(Op))}")
    if table is None:
        table = draw(tables(domain=domain))
    op = draw(st.sampled_from(list(ops)))
    before = after = None
    if op != "delete":
        after = draw(images(table, with_absent=with_absent, domain=domain))
    if op == "delete":
        before = draw(images(table, with_absent=with_absent, domain=domain))
    elif op == "update":
        assert after is not None
        before = draw(changed_images(after, domain=domain))
    return RowChange(row_table(table), op, before, after, draw(positions(domain=domain)))


@st.composite
def batches(
    draw: st.DrawFn,
    *,
    min_size: int = 1,
    max_size: int = 20,
    max_tables: int = 3,
    domain: Domain = PLAUSIBLE,
) -> list[RowChange]:
    """Give lists of changes of few tables, in no order of time: what an encoder is to batch."""
    if not 0 <= min_size <= max_size:
        raise ValueError(f"min_size={min_size} and max_size={max_size} are not in order")
    if max_tables < 1:
        raise ValueError(f"max_tables={max_tables} is less than 1")
    some = draw(
        st.lists(
            tables(max_columns=3, domain=domain),
            min_size=1,
            max_size=1 if domain.has_one_table else max_tables,
            unique_by=lambda table: (table.schema, table.name),
        )
    )
    changes = st.sampled_from(some).flatmap(lambda table: row_changes(table, domain=domain))
    return draw(st.lists(changes, min_size=min_size, max_size=max_size))
