"""Avro feeds on Spark: where their schemas come from, and what rows they give."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message, StoredFile
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, RowChange
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_generators.workloads import workload

pytest.importorskip("pyspark", reason="needs the extra spark")

from cdcwire_conformance.decode.reading import FeedError
from cdcwire_conformance.sources.source_urls import SourceError
from cdcwire_conformance.spark import (
    decode_frame,
    describe_feed,
    errors_frame,
    parse_source,
    readable_errors,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.usefixtures("spark"),
    pytest.mark.skipif("avro" not in FORMAT_NAMES, reason="avro is not a format here"),
]

OPTIONS = {"enable-tidb-extension": True}


def messages_of(
    format_name: str, events: Iterable[Event], has_extension_fields: bool
) -> list[Message]:
    options = OPTIONS if has_extension_fields and format_name in ("avro", "canal-json") else {}
    return list(get_format(format_name).from_events(events, context=Context(options=options)))


def write(
    folder: Path, format_name: str, events: Iterable[Event], *, has_extension_fields: bool = True
) -> str:
    """Write a feed and return its source. ``has_extension_fields``: with TiDB's extension."""
    folder.mkdir()
    write_messages(
        str(folder / "messages.jsonl"), messages_of(format_name, events, has_extension_fields)
    )
    return f"{format_name}:file:{folder}"


def write_parquet(folder: Path, messages: Iterable[Message]) -> dict[str, str]:
    """Write Kafka's records, and return the schemas that were among the messages."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    messages = list(messages)
    records = [message for message in messages if isinstance(message, KafkaMessage)]
    folder.mkdir()
    columns = {
        "key": pa.array([record.key for record in records], pa.binary()),
        "value": pa.array([record.value for record in records], pa.binary()),
        "topic": pa.array(["shop"] * len(records)),
        "partition": pa.array([0] * len(records), pa.int32()),
        "offset": pa.array(range(len(records)), pa.int64()),
    }
    pq.write_table(pa.table(columns), folder / "feed.parquet")
    return dict(get_format("avro").prepared(messages, Context()).schemas)


def stream(count: int) -> list[RowChange]:
    found = list(workload("proposal-29", count, 7))
    assert {event.op for event in found} == {"insert", "update", "delete"}  # type: ignore[union-attr]
    return found  # type: ignore[return-value]  # there is no DDL in it


def test_parquet_takes_its_schemas_from_a_mapping(tmp_path: Path, spark: SparkSession) -> None:
    events = stream(40)
    texts = write_parquet(tmp_path / "a", messages_of("avro", events, has_extension_fields=True))
    source = parse_source(f"avro:file:{tmp_path / 'a'}")
    context = Context(options=OPTIONS, schemas={**texts, "77": '"string"'})
    (found,) = describe_feed(spark, source, context=context)
    assert found.rows == len(events)
    assert decode_frame(spark, source, found.table, context=context).count() == len(events)
    with pytest.raises(SourceError, match="needs its schemas"):
        describe_feed(spark, source)


def test_unknown_schema_is_reported_with_its_place(tmp_path: Path, spark: SparkSession) -> None:
    messages = messages_of("avro", stream(20), has_extension_fields=True)
    kept = [message for message in messages if not isinstance(message, StoredFile)]
    schemas = [message for message in messages if isinstance(message, StoredFile)]
    stranger = KafkaMessage(b"\x00\x00\x00\x00\x63\x02", b"\x00\x00\x00\x00\x63\x02")
    folder = tmp_path / "a"
    folder.mkdir()
    write_messages(str(folder / "messages.jsonl"), [*schemas, *kept[:5], stranger, *kept[5:]])
    source = parse_source(f"avro:file:{folder}")
    context = Context(options=OPTIONS)
    (found,) = describe_feed(spark, source, context=context, on_error="row")
    assert found.rows == len(kept)
    (error,) = errors_frame(
        decode_frame(spark, source, found.table, "row", context=context)
    ).collect()
    assert (error["line"], error["byte"]) == (len(schemas) + 6, 1)
    assert error["clause"].startswith("avro: ")


def test_id_of_two_meanings_is_refused(tmp_path: Path, spark: SparkSession) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    messages = messages_of("avro", stream(20), has_extension_fields=True)
    write_messages(str(folder / "1.jsonl"), messages)
    write_messages(str(folder / "2.jsonl"), [StoredFile("schemas/1.avsc", b'"string"')])
    with pytest.raises(SourceError, match=r"2\.jsonl:1: schema 1 differs from the one in .*:1;"):
        describe_feed(spark, parse_source(f"avro:file:{folder}"))


def test_types_are_those_of_the_schemas(tmp_path: Path, spark: SparkSession) -> None:
    events = stream(20)
    source = parse_source(write(tmp_path / "a", "avro", events))
    (found,) = describe_feed(spark, source, context=Context(options=OPTIONS))
    assert (found.table.schema, found.table.table, found.rows) == ("test", "test_flink", 20)
    assert found.table.key == ("c1",)
    frame = decode_frame(spark, source, found.table, context=Context(options=OPTIONS))
    rows = frame.select("op", "commit_ts", "commit_ms", "before.c1", "after").collect()
    assert [row["op"] for row in rows] == [event.op for event in events]
    for row, event in zip(rows, events, strict=True):
        is_delete = event.op == "delete"
        assert (row["commit_ts"] is None) is (row["commit_ms"] is None) is is_delete
        assert (row["after"] is None) is is_delete
        if not is_delete:
            assert int(row["commit_ts"]) == event.position.commit_ts


def test_truncated_message_stops_with_file_line_and_clause(
    tmp_path: Path, spark: SparkSession
) -> None:
    *messages, last = messages_of("avro", stream(20), has_extension_fields=True)
    assert isinstance(last, KafkaMessage)
    assert last.key is not None
    folder = tmp_path / "a"
    folder.mkdir()
    broken = replace(last, key=last.key[:-1])
    write_messages(str(folder / "messages.jsonl"), [*messages, broken])
    source = parse_source(f"avro:file:{folder}")
    line = len(messages) + 1
    problem = rf"messages\.jsonl:{line}: byte \d+: .*avro: "
    with pytest.raises(FeedError, match=problem), readable_errors():
        describe_feed(spark, source, context=Context(options=OPTIONS))
