"""Canonical tables: the schema of events, where two tables meet, and how they differ."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cdcwire.arrow.schema import (
    CanonicalTable,
    apply_definition,
    canonical_table,
    event_schema,
    merge_tables,
    schema_difference,
    union_tables,
)
from cdcwire.arrow.types import UTC, SchemaError
from cdcwire.model.events import Table
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import BytesType, Column, IntervalType, TextType, TimestampType


def table(key: tuple[str, ...] | None = ("id",), **columns: str) -> CanonicalTable:
    made = tuple(Column(name, parse_kind(kind)) for name, kind in columns.items())
    return CanonicalTable("s", "t", made, key)


def test_event_schema_has_the_columns_of_the_model() -> None:
    schema = event_schema(table(id="int64 unsigned", name="text"))
    assert schema.names == [
        *("op", "half", "schema", "table", "commit_ts", "sequence_id", "lsn", "commit_ms"),
        *("sent_ms", "partition", "tx_id", "before", "after", "before_has", "after_has"),
        *("source", "error"),
    ]
    image = pa.struct({"id": pa.decimal128(20, 0), "name": pa.string()})
    assert schema.field("before").type == schema.field("after").type == image
    assert schema.field("commit_ts").type == pa.decimal128(20, 0)
    assert schema.field("sequence_id").type == pa.decimal128(38, 0)


def test_schema_error_names_table_and_column() -> None:
    with pytest.raises(SchemaError, match=r"^table s\.t: column price: "):
        event_schema(table(price="decimal"), profile="flink")


def test_definition_without_columns_is_refused() -> None:
    with pytest.raises(SchemaError):
        canonical_table(Table("t", "s"))


def test_definition_with_a_duplicate_column_is_refused() -> None:
    column = Column("a", TextType())
    with pytest.raises(SchemaError, match="twice"):
        canonical_table(Table("t", "s", columns=(column, column)))


def test_tables_of_one_shape_have_no_difference() -> None:
    left = table(id="int64", price="decimal", state="enum")
    right = table(id="int64", price="decimal(6,3)", state="enum(a,b)")
    assert schema_difference(left, right) == []
    merged = merge_tables(left, right)
    assert (merged.differences, merged.left_out, merged.notes) == ((), (), ())
    assert merged.table == table(id="int64", price="decimal(6,3)", state="enum(a,b)")


def test_each_difference_is_reported_on_one_line() -> None:
    left = table(id="int64", name="text", born="date", only="int8")
    right = table(id="int64", name="text", born="datetime", more="int8", key=())
    assert schema_difference(left, right) == [
        "column born: date on the left, datetime on the right: "
        "date and datetime have no kind in common",
        "column only: only on the left (int8)",
        "column more: only on the right (int8)",
        "key: (id) on the left, none on the right",
    ]
    merged = merge_tables(left, right)
    assert merged.table.column_names == ("id", "name")
    assert [name for name, _ in merged.left_out] == ["born", "only", "more"]


def test_key_that_one_side_does_not_carry_is_not_a_difference() -> None:
    left, right = table(None, id="int8"), table(id="int8")
    assert schema_difference(left, right) == []
    assert merge_tables(left, right).table.key == ("id",)


def test_unknown_zone_that_meets_a_known_one_is_noted() -> None:
    left = CanonicalTable("s", "t", (Column("at", TimestampType()),))
    right = CanonicalTable("s", "t", (Column("at", TimestampType(zone=UTC)),))
    merged = merge_tables(left, right, time_zone="Asia/Tokyo")
    assert merged.table.column("at").type == TimestampType(zone=UTC)
    assert merged.notes == (
        "column at: the left side does not state its zone; it is read in Asia/Tokyo",
    )


def test_periods_that_meet_counts_are_noted() -> None:
    left = CanonicalTable("s", "t", (Column("span", IntervalType()),))
    right = CanonicalTable("s", "t", (Column("span", IntervalType("us")),))
    merged = merge_tables(left, right)
    assert merged.table.column("span").type == IntervalType("us")
    assert merged.notes == (
        "column span: periods are compared as microseconds, as one side has only these; "
        "a month is 30.4375 days",
    )


def test_definition_wins_over_both_sides() -> None:
    side = table(id="int8", flag="int8", price="decimal")
    declared = table(id="int8", flag="bool", price="decimal(6,3)", other="text")
    assert merge_tables(side, side, declared).table == table(
        id="int8", flag="bool", price="decimal(6,3)"
    )
    assert apply_definition(side, declared) == table(id="int8", flag="bool", price="decimal(6,3)")


def test_definition_tells_the_order_of_a_feeds_columns() -> None:
    feed = table(a="int8", b="text", other="int8", id="int8")
    declared = table(id="int8", missing="int8", b="text", a="int8")
    assert apply_definition(feed, declared).column_names == ("id", "b", "a", "other")


def test_key_of_a_definition_does_not_count_if_the_feed_lacks_a_column_of_it() -> None:
    feed, declared = table(("b",), b="int8"), table(("a",), a="int8", b="int8")
    assert apply_definition(feed, declared).key == ("b",)


def test_definition_that_contradicts_a_feed_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"^table s\.t: column id: "):
        apply_definition(table(id="date"), table(id="int8"))


def test_descriptions_of_one_feed_become_one_table() -> None:
    first = table(id="int32", name="text")
    second = table(id="int64", added="date")
    assert union_tables(first, second) == table(id="int64", name="text", added="date")
    with pytest.raises(SchemaError):
        union_tables(first, table(id="date"))


def test_columns_are_chosen_in_the_tables_order() -> None:
    whole = table(a="int8", b="int8", c="int8")
    assert whole.with_columns(["c", "a"]).column_names == ("a", "c")
    with pytest.raises(SchemaError, match="no column z"):
        whole.with_columns(["z"])


def test_text_is_declared_binary_by_its_name() -> None:
    whole = table(a="text(3)", b="int8")
    assert whole.with_binary_text(["a"]).column("a").type == BytesType(3)
    with pytest.raises(SchemaError, match="no text column b"):
        whole.with_binary_text(["b"])


def test_labels_that_were_added_make_one_column_in_whatever_order() -> None:
    short = table(id="int8", kind="enum(a,b)", tags="set(x)")
    long = table(id="int8", kind="enum(a,b,c)", tags="set(x,y)")
    assert union_tables(short, long).columns == long.columns
    assert union_tables(long, short).columns == long.columns


def test_labels_that_were_renamed_are_a_contradiction() -> None:
    with pytest.raises(SchemaError, match="labels differ"):
        union_tables(table(id="int8", kind="enum(a,b)"), table(id="int8", kind="enum(a,c)"))
