"""DataHub's two kinds of topics on Spark: what rows they give, and that they meet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.ddl import parse_ddl, sent_columns
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, RowChange, Table
from cdcwire.model.text import table_to_json
from cdcwire.registry import get_format
from cdcwire_conformance.sources.topics import write_topics
from cdcwire_generators.workloads import Mix
from cdcwire_generators.workloads.stream import stream

pytest.importorskip("pyspark", reason="needs the extra spark")

from cdcwire_conformance.sources.source_urls import SourceError
from cdcwire_conformance.spark import (
    decode_frame,
    describe_feed,
    errors_frame,
    parse_source,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"

pytestmark = pytest.mark.usefixtures("spark")

DDL = """
CREATE TABLE orders (id bigint not null primary key, code varchar(12) not null unique,
  price decimal(10,2), status enum('new','paid'), tags set('a','b','c'), made timestamp(3),
  bin blob, doc json, d double, f float, u bigint unsigned, y year, b bit(10), t time,
  dt datetime, day date, small tinyint, wide bit(64));
CREATE TABLE items (order_id int not null, line smallint unsigned not null, name varchar(20),
  primary key (order_id, line));
CREATE TABLE people (id int not null primary key, vip tinyint(1), born date)
"""
SHARDS = 4
POSITIONS = ("commit_ts", "sequence_id", "commit_ms")


@pytest.fixture(scope="module")
def tables() -> tuple[Table, ...]:
    return tuple(map(sent_columns, parse_ddl(DDL, "shop")))


@pytest.fixture(scope="module")
def changes(tables: tuple[Table, ...]) -> list[RowChange]:
    """Return 3,000 changes, of which some updates change their key."""
    found: list[Any] = list(stream(tables, 3000, 7, Mix(), position_fields=POSITIONS))
    moved = 0
    for index, change in enumerate(found):
        if change.op == "update" and change.table.name == "items" and not index % 3:
            # Nothing else of the row changes: that of another row may be what it moves to.
            found[index] = with_values(change, "after", line=60_000 + index % 5_000)
            moved += 1
    assert moved > 20
    return found


def with_values(change: RowChange, side: str, **values: object) -> RowChange:
    image: Image = getattr(change, side)
    new = tuple(values.get(n, v) for n, v in zip(image.names, image.values, strict=True))
    found = Image(image.columns, new)
    return replace(change, before=found) if side == "before" else replace(change, after=found)


def write(
    folder: Path,
    format_name: str,
    events: Iterable[Event],
    tables: Sequence[Table],
    shards: int | None = SHARDS,
    **options: OptionValue,
) -> str:
    """Write a feed, of DataHub in shards, and return its source."""
    folder.mkdir()
    known = {name.replace("_", "-"): value for name, value in options.items()}
    context = Context(options=known, tables=tuple(tables))
    if format_name.startswith("datahub"):
        write_topics(folder, format_name, events, context, tables, shards)
    else:
        messages = get_format(format_name).from_events(events, context=context)
        write_messages(str(folder / "messages.jsonl"), messages)
    return f"{format_name}:file:{folder}"


@pytest.fixture
def compare(compare: Compare, tmp_path: Path, tables: tuple[Table, ...]) -> Compare:
    """Run the command with the definitions of the tables. Returns: what ``compare`` returns."""
    known = tmp_path / "tables.json"
    known.write_text(json.dumps(list(map(table_to_json, tables))), "utf-8")
    return lambda *arguments: compare(*arguments, "--tables", str(known))


def test_shards_of_tuple_and_blob_are_equal_in_any_order(
    compare: Compare, tmp_path: Path, tables: tuple[Table, ...], changes: list[RowChange]
) -> None:
    left = write(tmp_path / "a", "datahub-tuple", changes, tables)
    right = write(tmp_path / "b", "datahub-blob", changes, tables)
    for number in range(SHARDS):  # the last shard is read first
        file = tmp_path / "b" / f"messages.{number}.jsonl"
        file.rename(tmp_path / "b" / f"{SHARDS - number}.jsonl")
    code, out, document = compare(left, right)
    assert code == 0, out
    assert [each for each in document["left_out"] if "no rule asks" not in each["reason"]] == []
    assert document["compared"] == ["op", "half", "commit_ms", "before", "after"]
    counts = [table["counts"] for table in document["tables"]]
    assert sum(each["left_rows"] for each in counts) == len(changes)
    updates = sum(change.op == "update" for change in changes)
    assert sum(each["same"] for each in counts) == len(changes) + updates
    assert [table["paired_by"] for table in document["tables"]] == [
        ["sequence_id", "order_id", "line"],
        ["sequence_id", "id"],
        ["sequence_id", "id"],
    ]
    assert "EQUAL: 3,000 changes of 3 tables" in out


def test_planted_differences_are_named_and_no_others(
    compare: Compare, tmp_path: Path, tables: tuple[Table, ...], changes: list[RowChange]
) -> None:
    people = [change for change in changes if change.table.name == "people"][:300]
    deletes = [number for number, change in enumerate(people) if change.op == "delete"]
    updates = [number for number, change in enumerate(people) if change.op == "update"]
    planted = list(people)
    planted[updates[3]] = with_values(people[updates[3]], "before", born=None)
    planted[updates[4]] = with_values(people[updates[4]], "after", born="2001-01-01")
    planted.pop(deletes[2])
    code, out, document = compare(
        write(tmp_path / "a", "datahub-tuple", people, tables[2:], encoding="batch"),
        write(tmp_path / "b", "datahub-blob", planted, tables[2:], split_updates=False),
        *("--left-option", "table=people"),
    )
    assert code == 1, out
    (table,) = document["tables"]
    counts = table["counts"]
    assert (counts["changed"], counts["only_left"], counts["only_right"]) == (2, 1, 0), out
    named = {
        (each["verdict"], each["position"]["sequence_id"], each["columns"][0]["image"])
        for each in table["differences"]
    }
    ids = {n: str(people[n].position.sequence_id) for n in (*updates[3:5], deletes[2])}
    assert named == {
        ("changed", ids[updates[3]], "before"),
        ("changed", ids[updates[4]], "after"),
        ("only left", ids[deletes[2]], "before"),
    }


@pytest.mark.spark_nightly
@pytest.mark.parametrize(("right", "name"), [("craft", "items"), ("avro", "people")])
def test_topic_meets_a_feed_without_its_position(
    compare: Compare,
    tmp_path: Path,
    tables: tuple[Table, ...],
    changes: list[RowChange],
    right: str,
    name: str,
) -> None:
    own = [change for change in changes if change.table.name == name][:300]
    defined = [table for table in tables if table.name == name]
    code, out, document = compare(
        write(tmp_path / "a", "datahub-blob", own, defined),
        write(tmp_path / "b", right, own, defined),
    )
    assert code == 0, out
    (table,) = document["tables"]
    assert table["paired_by"] == ["ordinal", *(defined[0].key or ())]
    updates = sum(change.op == "update" for change in own)
    halves = updates if right == "craft" else 0
    assert table["counts"]["same"] == len(own) + halves
    assert "sequence_id" in [each["name"] for each in document["left_out"]]


def test_bodies_of_several_topics_in_parquet(
    tmp_path: Path, spark: SparkSession, tables: tuple[Table, ...], changes: list[RowChange]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows: list[tuple[str | None, bytes | None]] = []
    for table in tables[1:]:
        own = [change for change in changes if change.table.name == table.name][:40]
        context = Context(tables=(table,), options={"encoding": "protobuf"})
        for message in get_format("datahub-tuple").from_events(own, context=context):
            assert isinstance(message, KafkaMessage)
            rows.append((table.name, message.value))
    rows.append(("nobody's", b"{}"))
    columns = {
        "key": pa.nulls(len(rows), pa.binary()),
        "value": pa.array([value for _, value in rows], pa.binary()),
        "topic": pa.array([topic for topic, _ in rows]),
        "partition": pa.array([0] * len(rows), pa.int32()),
        "offset": pa.array(range(len(rows)), pa.int64()),
    }
    (tmp_path / "a").mkdir()
    pq.write_table(pa.table(columns), tmp_path / "a" / "feed.parquet")
    source = parse_source(f"datahub-tuple:file:{tmp_path / 'a'}")
    context = Context(tables=tables)
    found = describe_feed(spark, source, context=context, on_error="row")
    assert [str(each.table) for each in found] == ["shop.items", "shop.people"]
    frame = decode_frame(spark, source, found[1].table, "row", context=context).persist()
    people = [change for change in changes if change.table.name == "people"][:40]
    halves = [row for row in frame.collect() if row["half"] is not None]
    assert len(halves) == 2 * sum(change.op == "update" for change in people)
    assert all((row["before"] is None) is (row["half"] == "after") for row in halves)
    assert {row["op"] for row in halves} == {"update"}
    (error,) = errors_frame(frame).collect()
    assert (error["topic"], error["clause"]) == ("nobody's", "datahub: topics")
    frame.unpersist()


def test_kinds_are_those_of_the_service(
    tmp_path: Path, spark: SparkSession, tables: tuple[Table, ...], changes: list[RowChange]
) -> None:
    orders = [change for change in changes if change.table.name == "orders"][:30]
    blob = parse_source(write(tmp_path / "a", "datahub-blob", orders, tables))
    (found,) = describe_feed(spark, blob)
    kinds = {column.name: column.source for column in found.table.columns}
    assert kinds["id"] == kinds["y"] == kinds["b"] == kinds["small"] == "LONG"
    assert kinds["u"] == kinds["price"] == kinds["made"] == kinds["wide"] == "STRING"
    assert (kinds["f"], kinds["bin"]) == ("DOUBLE", "BYTES")
    (known,) = describe_feed(spark, blob, definitions=tables)
    frame = decode_frame(spark, blob, known.table)
    types = dict(frame.select("after.*").dtypes)
    assert types["price"] == "decimal(10,2)"
    assert types["u"] == types["wide"] == "decimal(20,0)"
    row = frame.where("op = 'insert'").orderBy("sequence_id").first()
    first = next(change for change in orders if change.op == "insert")
    assert row is not None
    assert int(row["sequence_id"]) == first.position.sequence_id
    assert row["commit_ms"] == first.position.commit_ms


def test_files_without_a_definition_are_refused_in_one_line(
    tmp_path: Path, spark: SparkSession, tables: tuple[Table, ...], changes: list[RowChange]
) -> None:
    text = write(tmp_path / "a", "datahub-tuple", changes[:9], tables, None)
    (tmp_path / "a" / "others.jsonl").write_text("")
    source = parse_source(text)
    known = Context(tables=tables)
    with pytest.raises(SourceError, match=r"others\.jsonl: the file's name does not"):
        describe_feed(spark, source, context=known)
    with pytest.raises(SourceError, match="needs the definition of its table"):
        describe_feed(spark, source)
    (tmp_path / "a" / "others.jsonl").unlink()
    found = describe_feed(spark, parse_source(text), context=known, include=[("shop", "people")])
    assert [str(each.table) for each in found] == ["shop.people"]
