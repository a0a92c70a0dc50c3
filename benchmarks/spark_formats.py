"""The cost per row of decoding each format in Spark, against its bare decoder.

Run as ``python -m benchmarks.spark_formats [--quick] [--json FILE]``; needs the extra ``spark``.
100,000 changes of the 10-column table (``--quick``: 10,000) as messages in JSON lines, CSV as the
files of a storage sink, with the options that a producer has by default. All processor time of the
job counts, including reading the files and the fixed cost of a job. The job decodes to nowhere,
after a first one that warms up. The table also shows the same work without Spark: one worker's work
on the messages (CSV row by row), and the decoder alone. The decoder makes rows or events and no
Arrow.

The changes are 10,000 different ones, repeated: making the messages takes longer than reading them.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.csv_decode import OPTIONS as CSV_OPTIONS
from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED
from benchmarks.spark_decode import processor_seconds
from cdcwire.arrow.batches import MessagePlace
from cdcwire.core.context import Context, Selection
from cdcwire.core.message import Message, StoredFile
from cdcwire.files.messages_io import write_messages
from cdcwire.files.stores import open_store
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.decode.decoders import place_decoder
from cdcwire_conformance.decode.reading import Job, decode_messages
from cdcwire_conformance.sources.source_urls import source_of_folder
from cdcwire_conformance.sources.storage.writing import PrefixWriter, write_prefix
from cdcwire_conformance.spark import decode_frame, describe_feed, open_source, spark_session
from cdcwire_evidence.scenarios.feeds import make_partitions
from cdcwire_generators.workloads import workload, workload_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKLOAD = "orders-10"
DISTINCT = 10_000
COPIES = 10
ROUNDS = 2
MASTER = "local[2]"


@dataclass(frozen=True)
class Feed:
    """A feed in a folder, and one of its copies as messages."""

    format: str
    folder: Path
    messages: tuple[Message, ...]
    context: Context


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure decoding every format in Spark against its bare decoder.", argv)
    rows = DISTINCT // 10 if given.quick else DISTINCT
    spark = spark_session(MASTER, {"spark.driver.memory": "2g"})
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in FORMAT_NAMES:
            write = files_of_sink if get_format(name).carriers == ("storage",) else lines
            found = write(name, rows, Path(folder, name))
            results.append(measure(spark, found, rows * COPIES))
    spark.stop()
    return finish("spark_formats", results, given)


def lines(name: str, rows: int, folder: Path) -> Feed:
    """Write a feed as JSON lines, each copy a file."""
    (partition,) = make_partitions(name, rows, 1)
    folder.mkdir()
    write_messages(str(folder / "00.jsonl"), partition.messages)
    for number in range(1, COPIES):
        shutil.copyfile(folder / "00.jsonl", folder / f"{number:02}.jsonl")
    return Feed(name, folder, partition.messages, partition.context)


def files_of_sink(name: str, rows: int, folder: Path) -> Feed:
    """Write a feed as a storage sink does; its messages are those of a tenth of the changes."""
    context = Context(CSV_OPTIONS, tables=workload_tables(WORKLOAD))
    events = list(workload(WORKLOAD, rows, SEED))
    messages = tuple(m for m in get_format(name).from_events(events, context=context) if is_data(m))
    write_prefix(
        PrefixWriter(open_store(str(folder)), name, context),
        workload(WORKLOAD, rows * COPIES, SEED),
    )
    return Feed(name, folder, messages, context)


def is_data(message: Message) -> bool:
    return isinstance(message, StoredFile) and message.path.endswith(".csv")


def measure(spark: SparkSession, feed: Feed, rows: int) -> Result:
    """Measure one format: the bare decoder, what a worker does, and Spark."""
    source = source_of_folder(feed.format, feed.folder)
    opened = open_source(spark, source, feed.context)
    (described,) = describe_feed(spark, opened)
    if described.rows != rows:
        raise AssertionError(f"{feed.format}: {described.rows} rows of {rows}")
    table = described.table
    names = frozenset({(table.schema, table.table)})
    # Files that were not written by the sink are of another version than the sink's.
    known = feed.context if source.kind == "prefix" else opened.context
    context = replace(known, selection=Selection(names))
    decoder_at = place_decoder(source.format, context)
    job = Job(source.format, context, table)

    def bare() -> None:
        for message in feed.messages:
            list(decoder_at(MessagePlace())(message))

    def worker() -> None:
        for _ in decode_messages(job, ((MessagePlace(), message) for message in feed.messages)):
            pass

    def in_spark() -> None:
        frame = decode_frame(spark, opened, table)
        frame.write.format("noop").mode("overwrite").save()

    in_spark()
    before = processor_seconds()
    in_spark()
    seconds = processor_seconds() - before
    alone, at_work = best_seconds(bare), best_seconds(worker)
    one = rows / COPIES
    return Result(
        f"spark/bare/{feed.format}",
        f"{feed.format}: CPU in Spark over the bare decoder, {rows:,} rows",
        round(seconds / rows / (alone / one), 3),
        "x",
        details={
            "bare us a row": round(alone / one * 1e6, 2),
            "a worker's, us a row": round(at_work / one * 1e6, 2),
            "Spark us a row": round(seconds / rows * 1e6, 2),
            "a worker over the bare decoder": round(at_work / alone, 2),
        },
    )


def best_seconds(work: Callable[[], None]) -> float:
    """Return the least processor time; the first time, which learns the table, is left out."""
    found = []
    for _ in range(ROUNDS + 1):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found[1:])


if __name__ == "__main__":
    sys.exit(main())
