"""Definitions without a schema take that of a feed."""

from __future__ import annotations

import pytest

from cdcwire.console.problems import UsageError
from cdcwire.core.context import NO_CONTEXT
from cdcwire.core.message import KafkaMessage
from cdcwire.ddl.schemas import (
    lack_schemas,
    names_of,
    schema_notes,
    with_schemas,
)
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format

ORDERS, ITEMS = Table("orders"), Table("items")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([("shop", "orders")], ["shop", "shop"]),  # the only schema, also of a table without rows
        ([("shop", "orders"), ("crm", "items")], ["shop", "crm"]),
        ([("shop", "orders"), ("crm", "people")], ["shop", "test"]),
        ([(None, "orders")], [None, None]),
        ([], ["test", "test"]),
    ],
)
def test_schema_is_that_of_the_feeds_table(
    names: list[tuple[str | None, str]], expected: list[str | None]
) -> None:
    assert [table.schema for table in with_schemas([ORDERS, ITEMS], names)] == expected


def test_schema_of_a_definition_stays() -> None:
    own = Table("orders", "old")
    assert with_schemas([own], [("shop", "orders")]) == (own,)
    assert not lack_schemas([own])
    assert lack_schemas([own, ITEMS])


def test_table_of_two_schemas_is_refused_with_what_to_write() -> None:
    with pytest.raises(UsageError, match=r"orders in a, b; put USE a; before it"):
        with_schemas([ORDERS], [("a", "orders"), ("b", "orders")])


def test_note_names_each_schema_that_was_taken_once() -> None:
    names = [("shop", "orders"), ("shop", "items"), ("crm", "people")]
    (line,) = schema_notes([ORDERS, ITEMS, Table("people", "crm")], names)
    assert "are those of shop" in line


@pytest.mark.parametrize("name", ["craft", "canal-json", "debezium-json", "maxwell-json", "avro"])
def test_names_are_found_without_definitions(name: str) -> None:
    format_ = get_format(name)
    if format_.schemas is not None:
        pytest.skip("its messages need their schemas")
    columns = (Column("id", IntType(32)),)
    table = Table("orders", "shop", columns=columns, key=("id",))
    change = RowChange(table, "insert", None, Image(columns, (1,)), Position(7))
    messages = list(format_.from_events([change]))
    broken = KafkaMessage(None, b"\xff")
    assert names_of(format_, NO_CONTEXT, [broken, *messages]) == {("shop", "orders")}
