"""The prediction of what comes back, where it needs no codec to be checked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cdcwire.formats import get_format
from cdcwire.model.carries import NO, Carries
from cdcwire.model.events import (
    UNAVAILABLE,
    Column,
    Image,
    Marker,
    Position,
    Progress,
    RowChange,
    SchemaChange,
    Table,
)
from cdcwire.model.kinds import BoolType, EnumType, IntervalType, IntType, TextType
from cdcwire_generators.carried import NotCarriedError, carried

CRAFT = get_format("craft")
OPEN = get_format("open-protocol")

ID = Column("id", IntType(64), "bigint", False, roles=frozenset({"primary", "handle"}))
NOTE = Column("note", TextType(20), "varchar(20)", True)
BEFORE = Image((NOTE, ID), ("old", 1))
AFTER = Image((NOTE, ID), ("new", 1))
UPDATE = RowChange(
    Table("t", "s", key=("id",)), "update", BEFORE, AFTER, Position(commit_ts=5, sequence_id=9)
)


def test_carried_leaves_out_positions_that_the_format_does_not_have() -> None:
    assert carried(UPDATE, CRAFT).position == Position(commit_ts=5)


def test_carried_columns_lose_what_the_wire_does_not_tell() -> None:
    found = carried(UPDATE, CRAFT)
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert [column.source for column in found.after.columns] == ["varchar", "bigint"]
    assert found.after.columns[0].type == TextType()


def test_carried_columns_are_sorted_by_the_older_producer_only() -> None:
    orders = []
    for dialect in ("tiflow", "ticdc"):
        found = carried(UPDATE, OPEN, {"dialect": dialect})
        assert isinstance(found, RowChange)
        assert found.after is not None
        orders.append(found.after.names)
    assert orders == [("id", "note"), ("note", "id")]


def test_carried_without_old_values_is_an_insert() -> None:
    found = carried(UPDATE, OPEN, {"output-old-value": False})
    assert isinstance(found, RowChange)
    assert (found.op, found.before) == ("insert", None)


def test_carried_with_updated_columns_only_has_those() -> None:
    found = carried(UPDATE, OPEN, {"only-output-updated-columns": True})
    assert isinstance(found, RowChange)
    assert found.before is not None
    assert (found.before.names, found.sent) == (("note",), "changed")


def test_carried_update_of_nothing_with_updated_columns_only_looks_like_an_insert() -> None:
    same = replace(UPDATE, before=AFTER)
    found = carried(same, OPEN, {"only-output-updated-columns": True})
    assert isinstance(found, RowChange)
    assert (found.op, found.before, found.sent) == ("insert", None, None)


def test_carried_delete_cut_to_a_key_that_is_not_there_is_refused() -> None:
    delete = replace(UPDATE, op="delete", after=None, table=Table("t", "s", key=()))
    with pytest.raises(NotCarriedError):
        carried(delete, CRAFT, {"delete-only-output-handle-key-columns": True})


@pytest.mark.parametrize(
    ("column", "value", "what"),
    [
        (Column("c", IntervalType()), "P1D", "interval"),
        (Column("c", IntType(8)), UNAVAILABLE, "unavailable"),
        (Column("c", EnumType(None, "label")), "a", "enum"),
    ],
    ids=["interval", "unavailable", "label-without-labels"],
)
def test_carried_value_that_the_format_refuses_is_refused(
    column: Column, value: object, what: str
) -> None:
    change = replace(UPDATE, op="insert", before=None, after=Image((column,), (value,)))
    with pytest.raises(NotCarriedError, match=what):
        carried(change, CRAFT)


def test_carried_bool_is_a_tinyint() -> None:
    image = Image((Column("c", BoolType()),), (True,))
    found = carried(replace(UPDATE, op="insert", before=None, after=image), CRAFT)
    assert isinstance(found, RowChange)
    assert found.after is not None
    assert (found.after.columns[0].type, found.after.values) == (IntType(8), (1,))


def test_carried_marker_is_refused() -> None:
    with pytest.raises(NotCarriedError, match="markers"):
        carried(Marker("begin"), CRAFT)


def test_carried_schema_change_names_its_table_only() -> None:
    table = Table("t", "s", columns=(ID,), key=("id",))
    found = carried(SchemaChange("create", "CREATE …", 3, table, Position(commit_ts=1)), CRAFT)
    assert isinstance(found, SchemaChange)
    assert found.table == Table("t", "s")


def test_carried_follows_the_verdicts() -> None:
    """A format that says "no" to progress is taken at its word."""
    silent = replace(
        CRAFT, carries=Carries({**CRAFT.carries.fields, "progress": NO}, CRAFT.carries.kinds)
    )
    with pytest.raises(NotCarriedError, match="progress"):
        carried(Progress("resolved", Position(commit_ts=1)), silent)
