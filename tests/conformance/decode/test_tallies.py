"""The facts of rows, which are counted many at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.arrow.batches import MessagePlace
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format
from cdcwire_conformance.decode.row_facts import OrderFacts
from cdcwire_conformance.decode.tallies import RowTally

ID, VALUE = Column("id", IntType(32)), Column("v", IntType(32))
TABLE = Table("t", "s", columns=(ID, VALUE), key=("id",))
ROW = Image((ID, VALUE), (1, 2))
AT = Position(file="bin.000009", pos=7, row=0, server_id=3, commit_ms=5)
INSERT = RowChange(TABLE, "insert", None, ROW, AT)
LATER = replace(AT, file="bin.000010", pos=4, commit_ms=None)
UPDATE = RowChange(TABLE, "update", ROW, ROW, LATER)
DELETE = RowChange(TABLE, "delete", Image((ID,), (1,)), None, AT, sent="key")
READ = RowChange(TABLE, "read", None, ROW, replace(AT, server_id=None))


@pytest.fixture
def tally() -> RowTally:
    return RowTally(get_format("debezium-json"))


def places(count: int) -> list[MessagePlace]:
    return [MessagePlace(None, None, 10 * number, "a.jsonl", None) for number in range(count)]


def test_counts_of_all_kinds(tally: RowTally) -> None:
    changes = [READ, INSERT, UPDATE, DELETE]
    tally.add(changes, places(4))
    facts = tally.facts
    assert (tally.rows, facts.changes, facts.reads) == (4, 3, 1)
    assert (tally.updates, tally.old_images) == (1, 1)
    assert (tally.has_key_deletes, tally.has_whole_deletes) == (True, False)
    assert facts.fields == {"tx_id": 0, "commit_ms": 2, "partition": 0}
    assert tally.extent.bounds == {"commit_ms": (5, 5)}
    assert tally.span.offsets == (0, 30)


def test_place_of_text_has_its_range_over_all_rows(tally: RowTally) -> None:
    tally.add([INSERT, UPDATE], places(2))
    tally.add([READ], places(1))
    order = tally.facts.order("binlog")
    nine, ten = f"{9:020}:{7:020}:{0:020}", f"{10:020}:{4:020}:{0:020}"
    assert order.range == (nine, ten)
    assert (order.changes, order.reads) == (2, 1)
    assert order.places == {nine, ten}
    assert order.scopes == {("server_id 3", "file bin.")}


def test_position_without_order_is_named_once(tally: RowTally) -> None:
    strange = replace(INSERT, position=replace(AT, file="bin"))
    tally.add([strange, INSERT, strange], places(3))
    order = tally.facts.order("binlog")
    assert order.changes == 1
    assert order.problem == "file 'bin' has no number at its end"


def test_order_that_no_row_has(tally: RowTally) -> None:
    tally.add([INSERT], places(1))
    assert tally.facts.order("gtid") == OrderFacts()


def test_facts_do_not_depend_on_how_many_are_taken_at_once(tally: RowTally) -> None:
    changes = [READ, INSERT, UPDATE, DELETE, INSERT] * 3
    tally.add(changes, places(15))
    one_by_one = RowTally(get_format("debezium-json"))
    for change, place in zip(changes, places(15), strict=True):
        one_by_one.add([change], [place])
    assert one_by_one.facts == tally.facts
    assert one_by_one.span == tally.span
    assert one_by_one.extent == tally.extent


def test_whole_delete_of_a_feed_whose_deletes_have_no_position() -> None:
    tally = RowTally(get_format("avro"), skips_deletes=True)
    position = Position(commit_ts=4)
    tally.add([replace(INSERT, position=position), replace(DELETE, sent=None)], places(2))
    assert tally.has_whole_deletes
    assert (tally.rows, tally.facts.changes) == (2, 1)
    assert tally.facts.order("commit_ts").range == (4, 4)
