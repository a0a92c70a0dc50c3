"""The cost of decoding in Spark above the bare decoder, and whether the driver's memory stays flat.

Run as ``python -m benchmarks.spark_decode [--quick] [--json FILE]``; needs the extra ``spark``. All
processor time counts: the driver's, Java's and the Python workers'. Both routes run in one process
tree, one after the other, on the same messages. These have mixed changes of the 29-column table, 16
rows per message as TiCDC sends them. Spark's job is decoding to nowhere, after a first small one;
the time to start a session is reported separately. The bare decoder makes rows of messages that are
already in memory, so reading the files and making Arrow columns are part of Spark's cost.

The driver's memory is the peak of this process while the job runs, and what Java keeps after the
job and a garbage collection. When Spark is embedded, the executor is in the same Java.

The feed is one of 50,000 changes, written to many files: making a million takes too long.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.document import Result, arguments, finish
from benchmarks.feeds import SEED, feed
from cdcwire.arrow.batches import BatchBuilder, MessagePlace, places_array
from cdcwire.arrow.schema import CanonicalTable, canonical_table
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.files.messages_io import write_messages
from cdcwire.registry import get_format
from cdcwire_conformance.decode.decoders import message_decoder
from cdcwire_conformance.sources.source_urls import Source, source_of_folder
from cdcwire_conformance.spark import decode_frame, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKLOAD = "proposal-29"
ROWS_PER_MESSAGE = 16
FEED_ROWS = 50_000
COPIES = 20
FEW_COPIES = 2
MAX_RATIO = 1.5
MAX_DRIVER_GROWTH_MIB = 16.0
MASTER = "local[2]"
PEAK_RESET, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")
TICKS = os.sysconf("SC_CLK_TCK")


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure decoding in Spark against the bare decoder.", argv)
    rows = FEED_ROWS // 20 if given.quick else FEED_ROWS
    found = feed(WORKLOAD, rows, ROWS_PER_MESSAGE, SEED, inserts_only=False)
    table = canonical_table(found.table)
    feeds: dict[str, list[Message]] = {
        "craft": [KafkaMessage(None, value) for value in found.craft],
        "open-protocol": [KafkaMessage(key, value) for key, value in found.json],
    }
    before = processor_seconds()
    spark = spark_session(MASTER, {"spark.driver.memory": "2g"})
    spark.range(1).count()
    started = processor_seconds() - before
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, messages in feeds.items():
            source = write_feed(name, messages, Path(folder, name))
            results += measure(spark, source, messages, table, rows)
    results.append(
        Result("start", "starting a session and its first job, CPU", round(started, 2), "s")
    )
    spark.stop()
    return finish("spark_decode", results, given)


def write_feed(name: str, messages: Iterable[Message], folder: Path) -> Source:
    folder.mkdir()
    first = folder / "00.jsonl"
    write_messages(str(first), messages)
    for number in range(1, COPIES):
        shutil.copyfile(first, folder / f"{number:02}.jsonl")
    return source_of_folder(name, folder)


def measure(
    spark: SparkSession,
    source: Source,
    messages: list[Message],
    table: CanonicalTable,
    rows: int,
) -> list[Result]:
    """Measure one format: the bare decoder, the same to Arrow, and Spark at two sizes."""
    total, small_rows = rows * COPIES, rows * FEW_COPIES
    bare = seconds_of_rows(source.format.name, messages) / total
    arrow = seconds_of_batches(source.format.name, messages, table) / total
    small = replace(source, files=source.files[:FEW_COPIES])
    decode_in_spark(spark, small, table)
    few, few_memory = decode_with_memory(spark, small, table)
    many, many_memory = decode_with_memory(spark, source, table)
    details = {
        "bare us a row": round(bare * 1e6, 2),
        "to Arrow without Spark, us a row": round(arrow * 1e6, 2),
        "Spark us a row": round(many / total * 1e6, 2),
        f"Spark us a row, {small_rows:,} rows": round(few / small_rows * 1e6, 2),
        "against Arrow without Spark": round(many / total / arrow, 2),
        "this process's peak, MiB": round(many_memory[0], 1),
        "kept by Java, MiB": round(many_memory[1], 1),
    }
    name = source.format.name
    return [
        Result(
            f"{name} ratio",
            f"{name}: CPU in Spark over the bare decoder, {total:,} rows",
            round(many / total / bare, 3),
            "x",
            MAX_RATIO,
            is_least=False,
            details=details,
        ),
        Result(
            f"{name} driver",
            f"{name}: the driver's memory at {total:,} rows less that at {small_rows:,}",
            round(sum(many_memory) - sum(few_memory), 2),
            "MiB",
            MAX_DRIVER_GROWTH_MIB,
            is_least=False,
        ),
    ]


def seconds_of_rows(name: str, messages: list[Message]) -> float:
    decode = message_decoder(get_format(name), Context())
    start = time.process_time()
    for _ in range(COPIES):
        for message in messages:
            decode(message)
    return time.process_time() - start


def seconds_of_batches(name: str, messages: list[Message], table: CanonicalTable) -> float:
    decode, builder = message_decoder(get_format(name), Context()), BatchBuilder(table)
    start = time.process_time()
    for _ in range(COPIES):
        waiting: list[object] = []
        for message in messages:
            waiting += decode(message)
            if len(waiting) >= 4096 or message is messages[-1]:
                builder.batch(waiting, places_array([MessagePlace()], [len(waiting)]))  # type: ignore[arg-type]  # rows only
                waiting = []
    return time.process_time() - start


def decode_in_spark(spark: SparkSession, source: Source, table: CanonicalTable) -> float:
    """Return the CPU seconds of decoding a source to nowhere."""
    before = processor_seconds()
    decode_frame(spark, source, table).write.format("noop").mode("overwrite").save()
    return processor_seconds() - before


def processor_seconds() -> float:
    """Return the CPU time of this process and all below it, ended ones included."""
    children: dict[int, list[int]] = {}
    times: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue  # it has ended
        children.setdefault(int(fields[1]), []).append(int(folder.name))
        times[int(folder.name)] = sum(map(int, fields[11:15]))
    total, waiting = 0, [os.getpid()]
    while waiting:
        process = waiting.pop()
        total += times.get(process, 0)
        waiting += children.get(process, [])
    return total / TICKS


def decode_with_memory(
    spark: SparkSession, source: Source, table: CanonicalTable
) -> tuple[float, tuple[float, float]]:
    """Return the CPU seconds of a job, and the driver's MiB: Python's peak, what Java keeps."""
    PEAK_RESET.write_text("5")
    seconds = decode_in_spark(spark, source, table)
    status = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    peak = int(status["VmHWM"].split()[0]) / 1024
    runtime = spark.sparkContext._jvm.java.lang.Runtime.getRuntime()
    runtime.gc()
    return seconds, (peak, (runtime.totalMemory() - runtime.freeMemory()) / (1 << 20))


def driver_mib() -> float:
    """Return the peak memory of this process so far."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 2)


if __name__ == "__main__":
    sys.exit(main())
