"""Spark decodes topics as streams into Parquet: killed, started again, and met by bad messages.

Needs the extra ``spark`` in addition to ``scenarios``.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire_evidence.scenarios.everywhere import rows_by_message, topic_of
from cdcwire_evidence.scenarios.feeds import make_feed, make_partitions
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import produce, remove_records
from cdcwire_generators.workloads import workload_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark", reason="the extra spark is not installed")

pytestmark = [  # PySpark leaves its sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PARTITIONS = 3
ROWS = 400


def test_stream_that_was_killed_goes_on_without_loss_or_doubles(
    kafka: Kafka, new_name: NewName, spark: SparkSession, tmp_path: Path
) -> None:
    from cdcwire_conformance.spark import (
        decode_frame,
        decode_stream,
        describe_feed,
        open_source,
        parse_source,
        stream_to_parquet,
    )

    with recorded(
        "spark/stream-restart",
        "a stream into Parquet is killed and goes on",
        "Spark decodes a topic as a stream into Parquet, some records a batch. Its processes are "
        "killed while batches are written; more records come; a new one goes on from the "
        "checkpoint. Parquet then has each change once.",
    ) as result:
        partitions = [feed.messages for feed in make_partitions("open-protocol", ROWS, PARTITIONS)]
        name, folder = new_name("stream"), tmp_path / "changes"
        halves = [messages[: len(messages) // 2] for messages in partitions]
        text = f"open-protocol:{topic_of(kafka, name, halves)}"
        killed_at = run_and_kill(text, folder, tmp_path / "log")
        for partition, messages in enumerate(partitions):
            assert produce(kafka, name, messages[len(messages) // 2 :], partition) == []
        opened = open_source(spark, parse_source(text), Context())
        (described,) = describe_feed(spark, opened)
        for _ in range(2):  # the second finds nothing new
            stream = decode_stream(spark, parse_source(text), described.table)
            stream_to_parquet(stream, folder).awaitTermination()
        wanted, found = (
            rows_by_message(frame, lambda source: (source.partition, source.offset))
            for frame in (
                decode_frame(spark, opened, described.table),
                spark.read.parquet(str(folder)),
            )
        )
        result.counts = count(wanted, found)
        result.figures = {"rows": sum(map(len, found.values())), "batches before": killed_at}
        assert result.counts.is_exact
        assert described.rows == result.figures["rows"] == ROWS


def run_and_kill(source: str, folder: Path, log: Path) -> int:
    """Stream in a separate process, and kill it when it has written some batches."""
    program = (
        "import sys\n"
        "from cdcwire_conformance.spark import *\n"
        "session = spark_session('local[2]', {'spark.jars': kafka_jars()})\n"
        "source = parse_source(sys.argv[1])\n"
        "table = describe_feed(session, source)[0].table\n"
        "stream = decode_stream(session, source, table, records_of_batch=6)\n"
        "stream_to_parquet(stream, sys.argv[2], seconds=0.1).awaitTermination()\n"
    )
    with log.open("wb") as out:
        words = [sys.executable, "-c", program, source, str(folder)]
        process = subprocess.Popen(words, stdout=out, stderr=out, start_new_session=True)
    try:
        end = time.monotonic() + 180
        while (batches := len(list(folder.glob("_spark_metadata/[0-9]*")))) < 2:
            assert process.poll() is None, log.read_text("utf-8", "replace")[-2000:]
            assert time.monotonic() < end, "no batch is written"
            time.sleep(0.02)
        return batches
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_stream_stops_at_a_poisoned_message_or_keeps_it(
    kafka: Kafka, new_name: NewName, spark: SparkSession, tmp_path: Path
) -> None:
    from cdcwire_conformance.spark import (
        FeedError,
        decode_stream,
        describe_feed,
        errors_frame,
        good_rows,
        parse_source,
        readable_errors,
        stream_to_parquet,
    )

    feed, topic = make_feed("craft", 20), new_name("spoiled")
    poisoned = [*feed.messages, KafkaMessage(None, b"\xff")]
    source = parse_source(f"craft:{topic_of(kafka, topic, [poisoned])}")
    (described,) = describe_feed(spark, source, on_error="row")
    place = f"{topic}[0]@{len(feed.messages)}"
    stream = decode_stream(spark, source, described.table)
    query = stream_to_parquet(stream, tmp_path / "stopped")
    with pytest.raises(FeedError, match=re.escape(place)), readable_errors():
        query.awaitTermination()
    stream = decode_stream(spark, source, described.table, "row")
    stream_to_parquet(stream, tmp_path / "kept", tmp_path / "checkpoint").awaitTermination()
    written = spark.read.parquet(str(tmp_path / "kept"))
    assert good_rows(written).count() == described.rows == 20
    (bad,) = errors_frame(written).collect()
    assert (bad.topic, bad.partition, bad.offset) == (topic, 0, len(feed.messages))


def test_stream_goes_on_when_what_it_has_read_is_gone(
    kafka: Kafka, new_name: NewName, spark: SparkSession, tmp_path: Path
) -> None:
    from cdcwire_conformance.spark import (
        SparkUnavailable,
        decode_stream,
        describe_feed,
        parse_source,
        readable_errors,
        stream_to_parquet,
    )

    feed, topic = make_feed("craft", 8, options={"max-batch-size": 1}), new_name("aged")
    source = parse_source(f"craft:{topic_of(kafka, topic, [feed.messages[:5]])}?from=1")
    (described,) = describe_feed(spark, source)
    for messages, read in (((), 4), (feed.messages[5:], 7)):
        assert produce(kafka, topic, messages) == []
        stream = decode_stream(spark, source, described.table)
        stream_to_parquet(stream, tmp_path / "changes").awaitTermination()
        assert spark.read.parquet(str(tmp_path / "changes")).count() == read
        remove_records(kafka, topic, 4)
    # A stream that begins there misses them.
    first = stream_to_parquet(decode_stream(spark, source, described.table), tmp_path / "other")
    with pytest.raises(SparkUnavailable, match="Spark's job failed: "), readable_errors():
        first.awaitTermination()


def test_only_topics_without_an_end_are_streams(spark: SparkSession, tmp_path: Path) -> None:
    from cdcwire.arrow.schema import canonical_table
    from cdcwire_conformance.spark import SourceError, decode_stream, parse_source

    (tmp_path / "a.jsonl").touch()
    (defined,) = workload_tables("orders-10")
    for text, problem in (
        (f"craft:file:{tmp_path}", "only topics are streams"),
        ("craft:kafka://127.0.0.1:9/t?to=7", "a stream has no end"),
    ):
        with pytest.raises(SourceError, match=problem):
            decode_stream(spark, parse_source(text), canonical_table(defined))
