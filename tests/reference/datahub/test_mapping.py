"""Tuple rows and Blob messages into each other: nothing changes but what the losses list."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdcwire.core.errors import EncodeError
from cdcwire.datahub.mapping import (
    TO_TUPLE,
    Origin,
    blob_to_tuple,
    table_of_blob,
    tuple_to_blob,
)
from cdcwire.datahub.ops import OPS
from cdcwire.formats.datahub_blob import BlobColumn, BlobMessage, Ddl, Source, encode
from cdcwire.formats.datahub_tuple import (
    SchemaMismatchError,
    TupleRow,
    UnsupportedInTupleError,
    record_of,
    row_of,
    topic_of,
)
from cdcwire.model.events import Table
from cdcwire.model.kinds import (
    BytesType,
    Column,
    DecimalType,
    FloatType,
    IntType,
    TextType,
    TimestampType,
)

ORIGIN = Origin("db", "MySQL", "8.0", None, ("a",), "1.0.0")
MS = st.integers(-62135798400000, 253402271999000)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "LONG": st.integers(-(1 << 63), (1 << 63) - 1),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False),
    "BOOLEAN": st.booleans(),
    "STRING": st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    "DATE": MS,
    "BYTES": st.binary(max_size=9),
}


@st.composite
def blob_messages(draw: st.DrawFn) -> BlobMessage:
    op = OPS[draw(st.sampled_from(["INSERT", "UPDATE_BEFOR", "UPDATE_AFTER", "DELETE"]))]
    types = draw(st.lists(st.sampled_from(list(TO_TUPLE)), min_size=1, max_size=8))
    columns = tuple(BlobColumn(chr(97 + index), type_) for index, type_ in enumerate(types))
    cells = tuple((c.name, draw(st.none() | VALUES[c.type])) for c in columns)
    return BlobMessage(
        op.name,
        draw(st.integers(0, 9999999999999)),
        str(draw(st.integers(0, 10**30))),
        columns,
        Source("db", "MySQL", "8.0", None, "t"),
        ("a",),
        cells if op.has_before else None,
        cells if op.has_after else None,
        None,
        draw(st.none() | st.just(5)),
        draw(st.none() | st.just(6)),
        "1.0.0",
    )


@given(blob_messages())
def test_blob_comes_back_less_the_losses(message: BlobMessage) -> None:
    """tuple_to_blob(blob_to_tuple(message)) == message without what ``losses`` lists."""
    topic = topic_of(table_of_blob(message))
    there = blob_to_tuple(message, topic)
    (row,) = there.value
    assert row_of(record_of(row, topic), topic) == row
    back = tuple_to_blob(row, topic, ORIGIN)
    assert back.losses == ()
    assert back.value == replace(message, system_time=None, checkpoint_time=None)
    assert encode(back.value)
    lost = {loss.what: loss.value for loss in there.losses}
    assert lost.pop("systemTime", None) == (None if message.system_time is None else "5")
    assert lost.pop("checkpointTime", None) == (None if message.checkpoint_time is None else "6")
    assert lost == {
        "dbType": "MySQL",
        "dbVersion": "8.0",
        "dbName": "db",
        "version": "1.0.0",
        "primaryKey": "a",
    }


def test_update_with_both_images_is_two_rows() -> None:
    message = BlobMessage(
        "UPDATE",
        1,
        "5",
        (BlobColumn("a", "LONG"),),
        Source("d", "x", None, "s", "t"),
        None,
        (("a", 1),),
        (("a", 2),),
    )
    topic = topic_of(table_of_blob(message))
    first, second = blob_to_tuple(message, topic).value
    assert (first.has_before, first.values) == (True, (1,))
    assert (second.has_after, second.values) == (True, (2,))
    assert first.sequence_id == second.sequence_id
    assert table_of_blob(message) == Table("t", "s", "d", (Column("a", IntType(64), "BIGINT"),), ())


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.group != "row"])
def test_op_that_is_not_a_row_is_refused_by_name(name: str) -> None:
    ddl = Ddl("x") if OPS[name].group == "ddl" else None
    message = BlobMessage(name, 1, "5", None, Source("d", "x", None, None, "t"), ddl=ddl)
    topic = topic_of(Table("t", columns=(Column("a", IntType(64)),)))
    with pytest.raises(UnsupportedInTupleError) as caught:
        blob_to_tuple(message, topic)
    assert caught.value.op == name
    with pytest.raises(UnsupportedInTupleError):
        table_of_blob(message)


@pytest.mark.parametrize(
    ("columns", "cells", "column"),
    [
        ((("a", "LONG"),), (("a", 1),), "b"),
        ((("a", "LONG"), ("b", "STRING"), ("c", "LONG")), (("a", 1), ("b", "x"), ("c", 1)), "c"),
        ((("a", "DOUBLE"), ("b", "STRING")), (("a", 1.0), ("b", "x")), "a"),
        ((("a", "LONG"), ("b", "STRING")), (("a", 1),), "b"),
    ],
)
def test_message_of_other_columns_is_refused(columns: Any, cells: Any, column: str) -> None:
    topic = topic_of(Table("t", columns=(Column("a", IntType(64)), Column("b", TextType()))))
    declared = tuple(BlobColumn(*each) for each in columns)
    message = BlobMessage(
        "INSERT", 1, "5", declared, Source("d", "x", None, None, "t"), None, None, cells
    )
    with pytest.raises(SchemaMismatchError) as caught:
        blob_to_tuple(message, topic)
    assert caught.value.column == column


def test_date_outside_the_range_of_timestamp_is_refused() -> None:
    message = BlobMessage(
        "INSERT",
        1,
        "5",
        (BlobColumn("a", "DATE"),),
        Source("d", "x", None, None, "t"),
        None,
        None,
        (("a", 1 << 60),),
    )
    with pytest.raises(EncodeError) as caught:
        blob_to_tuple(message, topic_of(table_of_blob(message)))
    assert caught.value.path == ("after", "a")


COLUMNS = (
    Column("tiny", IntType(8), "TINYINT"),
    Column("float", FloatType(32), "FLOAT"),
    Column("decimal", DecimalType(), "DECIMAL"),
    Column("time", TimestampType(form="us", zone="+00:00"), "TIMESTAMP"),
    Column("bytes", BytesType(), "STRING"),
)
TOPIC = topic_of(Table("t", "db", columns=COLUMNS))


def row(*values: Any) -> TupleRow:
    return TupleRow("I", False, True, "5", 1, "t", values)


def test_types_that_a_blob_lacks_are_listed() -> None:
    found = tuple_to_blob(row(1, 0.5, Decimal("1.10"), 5000, "YQ=="), TOPIC, ORIGIN)
    assert found.value.after == (
        ("tiny", 1),
        ("float", 0.5),
        ("decimal", "1.10"),
        ("time", 5),
        ("bytes", b"a"),
    )
    assert [(loss.what, loss.value, loss.column) for loss in found.losses] == [
        ("column type", "TINYINT", "tiny"),
        ("column type", "FLOAT", "float"),
        ("column type", "DECIMAL", "decimal"),
    ]


def test_bytes_in_a_topic_that_does_not_know_them_are_listed() -> None:
    message = BlobMessage(
        "INSERT",
        1,
        "5",
        (BlobColumn("a", "BYTES"),),
        Source("d", "x", None, None, "t"),
        None,
        None,
        (("a", b"a"),),
    )
    topic = topic_of(Table("t", columns=(Column("a", TextType(), "STRING"),)))
    found = blob_to_tuple(message, topic)
    assert found.value[0].values == ("YQ==",)
    assert ("column type", "a") in [(loss.what, loss.column) for loss in found.losses]


def test_microseconds_are_cut_only_if_specified() -> None:
    values = (None, None, None, -1, None)
    with pytest.raises(EncodeError) as caught:
        tuple_to_blob(row(*values), TOPIC, ORIGIN)
    assert caught.value.path == ("time",)
    found = tuple_to_blob(row(*values), TOPIC, ORIGIN, truncate=True)
    assert dict(found.value.after or ())["time"] == -1
    assert [(loss.what, loss.value) for loss in found.losses if loss.column == "time"] == [
        ("digits below ms", "999 us")
    ]


@pytest.mark.parametrize(
    "values",
    [(None, float("nan"), None, None, None), (None, None, None, None, "no base64")],
)
def test_value_that_a_blob_lacks_is_refused(values: tuple[Any, ...]) -> None:
    with pytest.raises(EncodeError):
        tuple_to_blob(row(*values), TOPIC, ORIGIN)
