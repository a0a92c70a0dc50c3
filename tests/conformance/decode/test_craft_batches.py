"""Craft by columns gives what row by row gives, and gives up on what is not as usual."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cdcwire.arrow.batches import BatchBuilder, MessagePlace, places_array
from cdcwire.arrow.building import ConversionError
from cdcwire.arrow.column_decoders import Irregular
from cdcwire.arrow.schema import CanonicalTable, canonical_table
from cdcwire.core.context import Context, Selection
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Row
from cdcwire.formats.craft import Column, ColumnGroup, Message, RowEvent, decode, encode
from cdcwire.formats.craft.events import messages_of
from cdcwire.formats.craft.fast import RowDecoder
from cdcwire.formats.craft.ranges import OutlineDecoder
from cdcwire.formats.craft.settings import Settings
from cdcwire.model.events import RowChange, Table
from cdcwire.model.kinds import Column as ModelColumn
from cdcwire.model.kinds import IntType, TextType
from cdcwire_conformance.formats.craft.arrow_batches import CraftBatchBuilder
from cdcwire_generators.formats.craft.messages import craft_messages, craft_renderings
from cdcwire_generators.strategies import damaged_bytes
from cdcwire_generators.workloads import WORKLOAD_NAMES, workload, workload_tables

many = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def by_rows(table: CanonicalTable, values: Iterable[bytes]) -> list[dict[str, Any]] | None:
    """Return the rows of a table, None if a message can't be read or a value does not fit."""
    name = (table.schema, table.table)
    decoder = RowDecoder(Context(selection=Selection(frozenset({name}))))
    builder = BatchBuilder(table)
    found = []
    for number, value in enumerate(values):
        try:
            rows = [
                row
                for row in decoder.decode(KafkaMessage(None, value))
                if isinstance(row, Row) and (row.table.schema, row.table.name) == name
            ]
            batch = builder.batch(rows, places_array([MessagePlace(offset=number)], [len(rows)]))
        except (DecodeError, ConversionError):
            return None
        found += batch.to_pylist()
    return found


def by_columns(
    table: CanonicalTable, values: Iterable[bytes], names: tuple[str, ...] = ()
) -> tuple[list[dict[str, Any]] | None, int]:
    """Return the rows of a table, or None, and how many messages were not taken."""
    columns = CraftBatchBuilder(BatchBuilder(table, skips_others=bool(names)), Settings())
    left = sum(
        not columns.add(KafkaMessage(None, value), MessagePlace(offset=number))
        for number, value in enumerate(values)
    )
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
        messages = messages_of(workload(name, 150, 5), Settings(max_batch_size=batch), tables)
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
            for row in RowDecoder().decode(KafkaMessage(None, encode(Message((event,))))):
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
    (message,) = messages_of(events, Settings(), (definition,))
    value = data.draw(damaged_bytes(encode(message)))
    table = canonical_table(definition)
    found, left = by_columns(table, [value])
    if found is not None and not left:
        assert found == by_rows(table, [value])


@many
@given(data=st.data(), rows=st.sampled_from([1, 3, 16]))
def test_damage_outside_the_rows_is_never_taken_for_another_meaning(
    data: st.DataObject, rows: int
) -> None:
    """Headers and tables of sizes are read for many messages at once; a bad one is among good."""
    tables = workload_tables("tiny")
    events = list(workload("tiny", 48, 9))
    values = [encode(m) for m in messages_of(events, Settings(max_batch_size=rows), tables)]
    index = data.draw(st.integers(0, len(values) - 1))
    outline = OutlineDecoder().outline(values[index])
    assert outline is not None
    size = len(values[index])
    places = st.one_of(
        st.integers(0, outline.bodies_start - 1), st.integers(outline.bodies_end, size - 1)
    )
    damaged = bytearray(values[index])
    for place in data.draw(st.lists(places, min_size=1, max_size=2)):
        damaged[place] = data.draw(st.one_of(st.integers(0, 8), st.integers(0, 255)))
    values[index] = bytes(damaged)
    for definition in tables:
        table = canonical_table(definition)
        found, left = by_columns(table, values)
        if found is not None and not left:
            assert found == by_rows(table, values)


@many
@given(data=st.data())
def test_damaged_message_of_other_tables_is_left(data: st.DataObject) -> None:
    """What has none of the wanted rows is passed over only where the row decoder does so."""
    (definition,) = workload_tables("proposal-29")
    (message,) = messages_of(workload("proposal-29", 6, 9), Settings(), (definition,))
    value = data.draw(damaged_bytes(encode(message)))
    other = canonical_table(Table("other", "s", columns=definition.columns))
    columns = CraftBatchBuilder(BatchBuilder(other), Settings())
    if columns.add(KafkaMessage(None, value), MessagePlace()):
        assert columns.rows == 0
        wanted = Selection(frozenset({(other.schema, other.table)}))
        assert list(RowDecoder(Context(selection=wanted)).decode(KafkaMessage(None, value))) == []


def rows_event(number: int, columns: tuple[Column, ...], partition: int | None = None) -> RowEvent:
    return RowEvent(number, "s", "t", (ColumnGroup(1, columns),), partition)


def test_messages_of_several_layouts_tables_and_partitions_are_one_batch() -> None:
    """Rows of other columns in one message and in others, beside rows of other tables."""
    a, b = Column("a", 3, 65, 7), Column("b", 15, 64, b"text" * 20)
    other = RowEvent(3, "s", "other", (ColumnGroup(2, (a,)),), 70)
    old = RowEvent(9, "s", "t", (ColumnGroup(1, (a, b)), ColumnGroup(2, (b, a))), 1)
    deleted = RowEvent(9, "s", "t", (ColumnGroup(2, (a,)),), None)
    values = [
        encode(Message(events))
        for events in (
            (rows_event(1, (a, b)), other, rows_event(2, (b,), 5), deleted),
            (other, other),
            (other, old, rows_event(1 << 63, (b, a), 70)),
            tuple(rows_event(number, (a,)) for number in range(5)),
        )
    ]
    table = canonical_table(
        Table("t", "s", columns=(ModelColumn("a", IntType(32)), ModelColumn("b", TextType())))
    )
    found, left = by_columns(table, values)
    assert left == 0
    assert found is not None
    assert [row["op"] for row in found] == ["insert"] * 2 + ["delete", "update"] + ["insert"] * 6
    assert [row["partition"] for row in found] == [None, 5, None, 1, 70] + [None] * 5
    assert [row["source"]["offset"] for row in found] == [0] * 3 + [2] * 2 + [3] * 5
    assert [row["commit_ts"] for row in found] == [1, 2, 9, 9, 1 << 63, 0, 1, 2, 3, 4]
    assert found == by_rows(table, values)


@pytest.mark.parametrize("size", [63, 64, 8191, 8192, 1 << 20])
def test_lengths_of_every_size_are_read(size: int) -> None:
    columns = tuple(Column(f"c{n}", 15, 64, b"x" * (size + n)) for n in range(9))
    null = Column("null", 3, 65, None)
    event = rows_event(1, (*columns, null, Column("last", 3, 65, -3)))
    value = encode(Message((event, event)))
    table = table_of(Message((event,)))
    assert table is not None
    found, left = by_columns(table, [value])
    assert left == 0
    assert found is not None
    assert [len(found[1]["after"][f"c{n}"]) for n in range(9)] == [size + n for n in range(9)]
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
    values = [encode(message) for message in messages_of(events, Settings(), (definition,))]
    kinds = [all(isinstance(e, RowEvent) for e in decode(value).events) for value in values]
    found, left = by_columns(canonical_table(definition), values)
    assert left == kinds.count(False) > 0
    assert found is not None
    assert len(found) == 40
    assert found == by_rows(canonical_table(definition), values)


def test_builder_begins_anew_after_a_batch() -> None:
    (definition,) = workload_tables("tiny")
    messages = messages_of(workload("tiny", 8, 2), Settings(max_batch_size=4), (definition,))
    columns = CraftBatchBuilder(BatchBuilder(canonical_table(definition)), Settings())
    for message in messages:
        assert columns.add(KafkaMessage(None, encode(message)), MessagePlace())
        assert isinstance(columns.batch(), pa.RecordBatch)
        assert columns.rows == columns.size == 0
