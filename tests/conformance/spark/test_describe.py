"""The tables of a feed, as its bytes tell them and as a definition completes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cdcwire.arrow.types import SchemaError
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import (
    BoolType,
    BytesType,
    Column,
    DecimalType,
    EnumType,
    IntType,
    TextType,
)
from cdcwire.registry import get_format
from cdcwire_conformance.sources.source_urls import source_of_folder
from cdcwire_conformance.spark import (
    FeedError,
    Source,
    decode_frame,
    describe_feed,
    flat,
    readable_errors,
)
from cdcwire_generators.workloads import workload, workload_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMATS = ("craft", "craft-proposal", "open-protocol")
ID = Column("id", IntType(32), "int", nullable=False, roles=frozenset({"primary", "handle"}))
NOTE = Column("note", TextType(), "text", nullable=True)
TABLE = Table("t", "s", columns=(ID,), key=("id",))


def feed(folder: Path, name: str, events: Iterable[Event], **options: int) -> Source:
    context = Context(options={key.replace("_", "-"): value for key, value in options.items()})
    folder.mkdir(exist_ok=True)
    write_messages(str(folder / "m.jsonl"), get_format(name).from_events(events, context=context))
    return source_of_folder(name, folder)


def inserts(*rows: dict[Column, Any]) -> list[RowChange]:
    return [
        RowChange(TABLE, "insert", None, Image(tuple(row), tuple(row.values())), Position(number))
        for number, row in enumerate(rows, 1)
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_feed_tells_its_tables_and_their_rows(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    events = [
        *workload("orders-10", 60, 5, ddl=True, resolved_every=7),
        *workload("tiny", 25, 5, ddl=True),
    ]
    source = feed(tmp_path, name, events, max_batch_size=4)
    orders, tiny = describe_feed(spark, source, share_bytes=4000)
    assert [(str(each.table), each.rows) for each in (orders, tiny)] == [
        ("shop.orders", 60),
        ("test.tiny", 25),
    ]
    (definition,) = workload_tables("orders-10")
    assert orders.table.key == definition.key
    names = tuple(column.name for column in definition.columns or ())
    # Open Protocol writes columns by name, and only a definition tells their order.
    assert set(orders.table.column_names) == set(names)
    (defined, _) = describe_feed(spark, source, definitions=[definition])
    assert defined.table.column_names == names
    assert orders.table.column("trace_id").type == IntType(64, True)


def test_parquet_tells_the_same_as_json_lines(spark: SparkSession, tmp_path: Path) -> None:
    events = list(workload("orders-10", 60, 5))
    lines = feed(tmp_path / "a", "craft", events)
    rows = [
        {"key": message.key, "value": message.value}
        for message in get_format("craft").from_events(events, context=Context())
        if isinstance(message, KafkaMessage)
    ]
    (tmp_path / "b").mkdir()
    kinds = pa.schema([("key", pa.binary()), ("value", pa.binary())])
    pq.write_table(pa.Table.from_pylist(rows, kinds), tmp_path / "b" / "p.parquet")
    parquet = source_of_folder("craft", tmp_path / "b")
    (here,), (there,) = (describe_feed(spark, each) for each in (parquet, lines))
    ((_, _, file),) = here.span.parts  # Spark names it by a URL
    assert file is not None
    assert file.removeprefix("file:") == parquet.files[0]
    assert here.span.offsets is None
    assert there.span.parts == {(None, None, lines.files[0])}
    assert replace(here, span=there.span) == there  # but for the place of the rows


@pytest.mark.parametrize("name", FORMATS)
def test_column_that_comes_or_grows_later_is_found(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    wide = replace(ID, type=IntType(64), source="bigint")
    events = inserts({ID: 1}, {ID: 2, NOTE: "x"}, {wide: 2**40}, {ID: 3})
    source = feed(tmp_path, name, events, max_batch_size=1)
    (found,) = describe_feed(spark, source)
    assert found.table.column_names == ("id", "note")
    assert found.table.column("id").type == IntType(64)
    assert found.rows == 4
    rows = flat(decode_frame(spark, source, found.table)).orderBy("commit_ts").collect()
    assert [(row["id"], row["note"]) for row in rows] == [
        *((1, None), (2, "x"), (2**40, None), (3, None))
    ]


def test_column_of_two_kinds_that_do_not_meet_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    born = Column("at", parse_kind("date"), "date")
    moment = Column("at", parse_kind("datetime"), "datetime")
    events = inserts({ID: 1, born: "2020-01-01"}, {ID: 2, moment: "2020-01-01 00:00:00"})
    source = feed(tmp_path, "craft", events, max_batch_size=1)
    wanted = "column at: date and datetime have no kind in common"
    with pytest.raises((SchemaError, FeedError), match=wanted), readable_errors():
        describe_feed(spark, source)


def test_definition_tells_what_the_bytes_do_not(spark: SparkSession, tmp_path: Path) -> None:
    price = Column("price", DecimalType(), "decimal")
    state = Column("state", EnumType(), "enum")
    flag = Column("flag", IntType(8), "tinyint")
    source = feed(tmp_path, "craft", inserts({ID: 1, price: "1.50", state: 2, flag: 1}))
    defined = Table(
        "t",
        "s",
        columns=(
            ID,
            replace(price, type=DecimalType(6, 3)),
            replace(state, type=EnumType(("new", "old"))),
            replace(flag, type=BoolType(), source="boolean"),
        ),
        key=("id",),
    )
    other = replace(defined, name="other")
    (found,) = describe_feed(spark, source, definitions=[other, defined])
    assert [column.type for column in found.table.columns] == [
        *(IntType(32), DecimalType(6, 3), EnumType(("new", "old")), BoolType())
    ]
    (row,) = flat(decode_frame(spark, source, found.table)).collect()
    assert (str(row["price"]), row["state"], row["flag"]) == ("1.500", "old", True)


def test_only_included_tables_are_reported(spark: SparkSession, tmp_path: Path) -> None:
    source = feed(tmp_path, "craft", [*workload("orders-10", 9, 5), *workload("tiny", 5, 5)])
    found = describe_feed(spark, source, include=[("test", "tiny"), ("test", "nothing")])
    assert [(str(each.table), each.rows) for each in found] == [("test.tiny", 5)]


@pytest.mark.parametrize("name", ["craft", "open-protocol"])
def test_ill_formed_text_is_found_where_it_is_looked_for(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    source = feed(tmp_path, name, inserts({ID: 1, NOTE: "x"}, {ID: 2, NOTE: b"\xff"}))
    (plain,) = describe_feed(spark, source)
    assert plain.table.column("note").type == TextType()
    (found,) = describe_feed(spark, source, look_into_text=True)
    assert found.table.column("note").type == BytesType()
    assert found.rows == 2


def test_poisoned_message_stops_or_is_passed_over(spark: SparkSession, tmp_path: Path) -> None:
    source = feed(tmp_path, "craft", workload("tiny", 8, 5), max_batch_size=2)
    file = Path(source.files[0])
    lines = file.read_text().splitlines()
    lines[1] = '{"key":null,"value":"AQID"}'
    lines[2] = "{"
    file.write_text("\n".join(lines))
    (found,) = describe_feed(spark, source, on_error="row")
    assert found.rows == 4
    with pytest.raises(FeedError, match=rf"^{file}:2: byte \d+: .+ \(.*craft: "), readable_errors():
        describe_feed(spark, source)


def test_feed_without_rows_has_no_tables(spark: SparkSession, tmp_path: Path) -> None:
    for number, name in enumerate(("craft", "open-protocol")):
        assert describe_feed(spark, feed(tmp_path / str(number), name, [])) == ()
