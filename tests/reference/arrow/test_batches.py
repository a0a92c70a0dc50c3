"""Row changes to record batches, whichever way they were decoded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from cdcwire.arrow.batches import (
    BatchBuilder,
    MessagePlace,
    RowProblem,
    places_array,
    problem_of,
)
from cdcwire.arrow.building import CLAUSE_COLUMNS, CLAUSE_TYPES, ConversionError
from cdcwire.arrow.schema import CanonicalTable, canonical_table
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.rows import Row
from cdcwire.formats.craft.fast import RowDecoder
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import UNAVAILABLE, Column, DatetimeType, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_generators.workloads import WORKLOAD_NAMES, workload, workload_tables

ID = Column("id", IntType(8))
NAME = Column("name", TextType())
TABLE = Table("t", "s")
CANONICAL = CanonicalTable("s", "t", (ID, NAME), ("id",))


def inserted(*pairs: tuple[Column, Any], position: Position | None = None) -> RowChange:
    image = Image(tuple(column for column, _ in pairs), tuple(value for _, value in pairs))
    return RowChange(TABLE, "insert", None, image, position or Position(commit_ts=1))


def batch_of(changes: list[RowChange], table: CanonicalTable = CANONICAL) -> pa.RecordBatch:
    return BatchBuilder(table).batch(changes, places_array([MessagePlace()], [len(changes)]))


def test_presence_bits_distinguish_absent_and_null() -> None:
    found = batch_of([inserted((ID, 1), (NAME, None)), inserted((ID, 2)), inserted((NAME, "x"))])
    assert found.column("after").to_pylist() == [
        {"id": 1, "name": None},
        {"id": 2, "name": None},
        {"id": None, "name": "x"},
    ]
    assert found.column("after_has").to_pylist() == [b"\x03", b"\x01", b"\x02"]
    assert found.column("before").to_pylist() == [None] * 3
    assert found.column("before_has").to_pylist() == [None] * 3


def test_unavailable_value_is_absent() -> None:
    found = batch_of([inserted((ID, 1), (NAME, UNAVAILABLE))])
    assert found.column("after_has").to_pylist() == [b"\x01"]


def test_bits_need_as_many_bytes_as_columns_do() -> None:
    columns = tuple(Column(f"c{number}", IntType(8)) for number in range(9))
    found = batch_of(
        [inserted((columns[8], 1), (columns[0], 2))], CanonicalTable("s", "t", columns)
    )
    assert found.column("after_has").to_pylist() == [b"\x01\x01"]


def test_positions_and_halves_are_columns() -> None:
    position = Position(
        commit_ts=2**64 - 1,
        sequence_id=10**37,
        lsn=5,
        tx_id="x",
        partition=3,
        commit_ms=7,
        sent_ms=8,
    )
    change = replace(inserted((ID, 1), position=position), half="after", op="update")
    row = batch_of([change]).to_pylist()[0]
    expected = {
        "op": "update",
        "half": "after",
        "schema": "s",
        "table": "t",
        "commit_ts": Decimal(2**64 - 1),
        "sequence_id": Decimal(10**37),
        "lsn": 5,
        "tx_id": "x",
        "partition": 3,
        "commit_ms": 7,
        "sent_ms": 8,
        "error": None,
    }
    assert {name: row[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("change", "path", "clause"),
    [
        (inserted((ID, 300)), ("after", "id"), CLAUSE_TYPES),
        (inserted((Column("new", IntType(8)), 1)), ("after", "new"), CLAUSE_COLUMNS),
        (inserted((ID, 1), (ID, 1)), ("after", "id"), CLAUSE_COLUMNS),
        (inserted((Column("id", DatetimeType()), "x")), ("after", "id"), CLAUSE_TYPES),
        (inserted(position=Position(commit_ts=2**64)), ("commit_ts",), CLAUSE_TYPES),
    ],
)
def test_change_that_does_not_fit_is_refused_with_its_column(
    change: RowChange, path: tuple[str, ...], clause: str
) -> None:
    with pytest.raises(ConversionError) as caught:
        batch_of([inserted((ID, 1)), change])
    assert (caught.value.path, caught.value.clause) == (path, clause)


def test_rows_are_numbered_within_messages_of_several_rows() -> None:
    changes = [inserted((ID, number if number != 5 else 500)) for number in range(7)]
    places = [MessagePlace(offset=number) for number in (3, 4, 5)]
    builder = BatchBuilder(CANONICAL, pairs_rows=True)
    found = builder.good_batches(changes, builder.places(places, [3, 1, 3]))
    rows = [row for each in found if isinstance(each, pa.RecordBatch) for row in each.to_pylist()]
    numbers = [(row["source"]["offset"], row["source"]["row"]) for row in rows]
    assert numbers == [(3, 0), (3, 1), (3, 2), (4, None), (5, 0), (5, 2)]


def test_plain_batches_have_no_numbers_of_rows() -> None:
    batch = batch_of([inserted((ID, 1)), inserted((ID, 2))])
    assert "row" not in batch.schema.field("source").type.names


def test_one_bad_change_leaves_the_others() -> None:
    changes = [inserted((ID, number if number != 5 else 500)) for number in range(9)]
    places = places_array([MessagePlace(offset=number) for number in range(9)], [1] * 9)
    good, bad = [], []
    for found in BatchBuilder(CANONICAL).good_batches(changes, places):
        if isinstance(found, pa.RecordBatch):
            good += found.to_pylist()
        else:
            bad.append(found)
    assert [row["after"]["id"] for row in good] == [0, 1, 2, 3, 4, 6, 7, 8]
    assert [row["source"]["offset"] for row in good] == [0, 1, 2, 3, 4, 6, 7, 8]
    ((index, error),) = bad
    assert (index, error.path) == (5, ("after", "id"))


def test_other_columns_are_passed_over_where_this_is_wanted() -> None:
    change = inserted((NAME, "x"), (Column("new", IntType(8)), 1), (ID, 7))
    builder = BatchBuilder(CANONICAL, skips_others=True)
    found = builder.batch([change], places_array([MessagePlace()], [1]))
    assert found.column("after").to_pylist() == [{"id": 7, "name": "x"}]


def test_problem_has_a_separate_row() -> None:
    builder = BatchBuilder(CANONICAL)
    place = MessagePlace(file="f", offset=9, line=2)
    message = builder.problem_batch(RowProblem(3, "rows[1]", "craft: limits", "too long"), place)
    row = message.to_pylist()[0]
    assert message.schema == builder.schema
    assert row["source"]["line"] == 2
    assert row["error"] == {
        "offset": 3,
        "path": "rows[1]",
        "clause": "craft: limits",
        "problem": "too long",
    }
    assert row["op"] is row["after"] is None
    problem = problem_of(ConversionError("too large", CLAUSE_TYPES, ("after", "id")))
    change = builder.problem_batch(problem, place, inserted((ID, 300))).to_pylist()[0]
    assert (change["op"], change["table"], change["commit_ts"]) == ("insert", "t", Decimal(1))
    assert change["error"]["path"] == "after.id"


def test_problem_of_a_row_that_pairs_keeps_its_key() -> None:
    table = replace(CANONICAL, key=("id",))
    problem = RowProblem(None, "after.name", CLAUSE_TYPES, "too long")
    change = inserted((NAME, "x"), (ID, 7))
    bad_key = inserted((NAME, "x"), (ID, 300))
    builder = BatchBuilder(table, pairs_rows=True)
    found, unknown = (
        builder.problem_batch(problem, MessagePlace(), each).to_pylist()[0]
        for each in (change, bad_key)
    )
    assert (found["after"], found["after_has"]) == ({"id": 7, "name": None}, b"\x01")
    assert found["before"] is unknown["after"] is None
    alone = BatchBuilder(table).problem_batch(problem, MessagePlace(), change)
    assert alone.to_pylist()[0]["after"] is None


def test_problem_of_a_position_leaves_the_position_out() -> None:
    change = inserted((ID, 1), position=Position(commit_ts=2**64))
    row = BatchBuilder(CANONICAL).problem_batch(
        RowProblem(None, "", "c", "p"), MessagePlace(), change
    )
    assert row.to_pylist()[0]["commit_ts"] is None
    assert row.to_pylist()[0]["table"] == "t"


def craft_rows(name: str, rows: int) -> Iterator[tuple[list[RowChange], list[Row]]]:
    """Yield the changes of each table of a workload: as events, and as typed rows."""
    tables = workload_tables(name)
    context = Context(tables=tables)
    decoder = RowDecoder()
    typed = []
    for message in get_format("craft").from_events(workload(name, rows, 3), context=context):
        assert isinstance(message, KafkaMessage)
        typed += [row for row in decoder.decode(message) if isinstance(row, Row)]
    for table in tables:
        own = [
            row for row in typed if (row.table.schema, row.table.name) == (table.schema, table.name)
        ]
        events = [row.to_event() for row in own]
        yield [event for event in events if isinstance(event, RowChange)], own


@pytest.mark.parametrize("name", WORKLOAD_NAMES)
def test_rows_and_their_events_give_one_batch(name: str) -> None:
    tables = workload_tables(name)
    for table, (events, rows) in zip(tables, craft_rows(name, 120), strict=True):
        if not rows:
            continue
        places = places_array([MessagePlace(file="f", offset=1)], [len(rows)])
        builder = BatchBuilder(canonical_table(table))
        by_row = builder.batch(rows, places)
        assert by_row.equals(builder.batch(events, places))
        assert [row["op"] for row in by_row.to_pylist()] == [event.op for event in events]
