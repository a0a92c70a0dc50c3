"""Craft by columns gives what row by row gives, and gives up on what is not as usual."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cdcwire.craft import Column, ColumnGroup, Message, RowEvent, decode, encode, from_events
from cdcwire.craft.fast import RowDecoder
from cdcwire.craft.settings import Settings
from cdcwire.errors import DecodeError
from cdcwire.model.events import RowChange, Table
from cdcwire.rows import Row
from cdcwire_conformance.arrow.batches import BatchBuilder, Place, places_array
from cdcwire_conformance.arrow.building import ConversionError
from cdcwire_conformance.arrow.craft_batches import CraftBatchBuilder, Irregular
from cdcwire_conformance.arrow.schema import CanonicalTable, canonical_table
from cdcwire_generators.strategies import craft_messages, craft_renderings, damaged_bytes
from cdcwire_generators.workloads import WORKLOAD_NAMES, workload, workload_tables

many = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def by_rows(table: CanonicalTable, values: Iterable[bytes]) -> list[dict[str, object]] | None:
    """Return the rows of a table, None if a message can't be read or a value does not fit."""
    decoder, builder = RowDecoder(), BatchBuilder(table)
    name = (table.schema, table.table)
    found = []
    for number, value in enumerate(values):
        try:
            rows = [
                row
                for row in decoder.decode(value)
                if isinstance(row, Row) and (row.table.schema, row.table.name) == name
            ]
            batch = builder.batch(rows, places_array([Place(offset=number)], [len(rows)]))
        except (DecodeError, ConversionError):
            return None
        found += batch.to_pylist()
    return found


def by_columns(
    table: CanonicalTable, values: Iterable[bytes], names: tuple[str, ...] = ()
) -> tuple[list[dict[str, object]] | None, int]:
    """Return the rows of a table, or None, and how many messages were not taken."""
    columns = CraftBatchBuilder(BatchBuilder(table, skips_others=bool(names)), Settings())
    left = sum(not columns.add(value, Place(offset=number)) for number, value in enumerate(values))
    if not columns.rows:
        return [], left
    try:
        return columns.batch().to_pylist(), left
    except (Irregular, ConversionError):
        return None, left


@pytest.mark.parametrize("name", WORKLOAD_NAMES)
def test_workload_by_columns_is_the_workload_by_rows(name: str) -> None:
    tables = workload_tables(name)
    for batch in (1, 16):
        messages = from_events(workload(name, 150, 5), Settings(max_batch_size=batch), tables)
        values = [encode(message) for message in messages]
        for table in tables[:6]:
            canonical = canonical_table(table)
            found, left = by_columns(canonical, values)
            assert left == 0
            assert found == by_rows(canonical, values)


def table_of(message: Message) -> CanonicalTable | None:
    """Return the table of a message's first row as its own columns say."""
    for event in message.events:
        if isinstance(event, RowEvent):
            for row in RowDecoder().decode(encode(Message((event,)))):
                assert isinstance(row, Row)
                layout = row.new_layout or row.old_layout
                assert layout is not None
                name = row.table.name
                return canonical_table(Table(name, row.table.schema, columns=layout.columns))
    return None


@many
@given(data=st.data(), message=craft_messages())
def test_message_by_columns_is_the_message_by_rows_or_is_left(
    data: st.DataObject, message: Message
) -> None:
    """For any message, however its integers are written: equal rows, or none."""
    table = table_of(message)
    if table is None:
        return
    values = [encode(message), data.draw(craft_renderings(message)), encode(message)]
    found, left = by_columns(table, values)
    if found is not None and not left:
        assert found == by_rows(table, values)


@many
@given(data=st.data())
def test_damaged_message_by_columns_is_refused_wherever_row_by_row_is(data: st.DataObject) -> None:
    """What the row decoder refuses is never taken; what is taken is what it reads."""
    (definition,) = workload_tables("proposal-29")
    events = [e for e in workload("proposal-29", 12, 9) if isinstance(e, RowChange)]
    (message,) = from_events(events, Settings(), (definition,))
    value = data.draw(damaged_bytes(encode(message)))
    table = canonical_table(definition)
    found, left = by_columns(table, [value])
    if found is not None and not left:
        assert found == by_rows(table, [value])


@pytest.mark.parametrize(
    "column",
    [Column("v", 225, 65, "[1,2]"), Column("v", 6, 0, None), Column("v", 0, 0, None)],
    ids=["vector", "null", "unspecified"],
)
def test_kind_that_is_not_read_by_columns_is_left(column: Column) -> None:
    event = RowEvent(1, "s", "t", (ColumnGroup(1, (column,)),))
    message = encode(Message((event,)))
    table = table_of(Message((event,)))
    assert table is not None
    assert by_columns(table, [message]) == ([], 1)


@pytest.mark.parametrize(
    "column",
    [
        Column("v", 4, 65, 1e300),
        Column("v", 15, 64, b"\xff"),
        Column("v", 1, 65, 300),
    ],
    ids=["float beyond 32 bits", "ill-formed text", "tinyint beyond 8 bits"],
)
def test_value_that_needs_a_second_look_is_given_up(column: Column) -> None:
    event = RowEvent(1, "s", "t", (ColumnGroup(1, (column,)),))
    table = table_of(Message((event,)))
    assert table is not None
    assert by_columns(table, [encode(Message((event,)))]) == (None, 0)


def test_columns_that_are_not_wanted_are_not_read() -> None:
    wanted = Column("a", 3, 65, 7)
    event = RowEvent(1, "s", "t", (ColumnGroup(1, (Column("b", 15, 64, b"\xff"), wanted)),))
    table = table_of(Message((event,)))
    assert table is not None
    found, left = by_columns(table.with_columns(["a"]), [encode(Message((event,)))], ("a",))
    assert left == 0
    assert found is not None
    assert [row["after"] for row in found] == [{"a": 7}]
    assert [row["after_has"] for row in found] == [b"\x01"]


def test_other_events_among_rows_are_left() -> None:
    (definition,) = workload_tables("tiny")
    events = workload("tiny", 40, 2, ddl=True, resolved_every=5)
    values = [encode(message) for message in from_events(events, Settings(), (definition,))]
    kinds = [all(isinstance(e, RowEvent) for e in decode(value).events) for value in values]
    found, left = by_columns(canonical_table(definition), values)
    assert left == kinds.count(False) > 0
    assert found is not None
    assert len(found) == 40
    assert found == by_rows(canonical_table(definition), values)


def test_builder_begins_anew_after_a_batch() -> None:
    (definition,) = workload_tables("tiny")
    messages = from_events(workload("tiny", 8, 2), Settings(max_batch_size=4), (definition,))
    columns = CraftBatchBuilder(BatchBuilder(canonical_table(definition)), Settings())
    for message in messages:
        assert columns.add(encode(message), Place())
        assert isinstance(columns.batch(), pa.RecordBatch)
        assert columns.rows == columns.size == 0
