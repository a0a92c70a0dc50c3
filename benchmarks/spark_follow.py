"""The cost of a window when two growing topics are compared, and the driver's memory.

Run as ``CDCWIRE_KAFKA=HOST:PORT python -m benchmarks.spark_follow [--quick] [--json FILE]``: a
broker, in which it makes two topics that stay. Needs the extras ``spark`` and ``scenarios``. Each
window gets 10,000 more changes of the 10-column table (``--quick``: 500). Craft and Open Protocol
send the same ones, in two partitions each, with a resolved event after them. All processor time
counts: the driver's, Java's and the Python workers', but not the broker's.

Java warms up in the first windows: what it keeps, and what a window costs, are compared with those
of the sixth.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from time import monotonic

from benchmarks.document import Result, arguments, finish
from benchmarks.spark_compare import java_mib
from benchmarks.spark_decode import processor_seconds
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.model.events import Position, Progress, RowChange
from cdcwire.registry import get_format
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.spark import kafka_jars, parse_source, spark_session
from cdcwire_conformance.spark.follow.following import FollowOptions, follow_feeds
from cdcwire_evidence.scenarios.feeds import partitions_of
from cdcwire_evidence.scenarios.services import Kafka, given_kafka
from cdcwire_evidence.scenarios.topics import make_topic, produce
from cdcwire_generators.workloads import workload, workload_tables

WORKLOAD = "orders-10"
SEED = 1
FORMATS = ("craft", "open-protocol")
PARTITIONS = 2
ROWS, ROWS_QUICK = 10_000, 500
WINDOWS, WINDOWS_QUICK = 22, 12
WARM = 6
MASTER = "local[2]"
MAX_GROWTH = 1.15
MAX_GROWTH_MIB = 32.0


@dataclass(frozen=True, slots=True)
class Window:
    """The cost of one window. Memory is the driver's after it: Java's heap and Python's own."""

    changes: int
    cpu_s: float
    wall_s: float
    java_mib: float
    python_mib: float


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure the windows of two topics that are followed.", argv)
    kafka = given_kafka()
    if kafka is None:
        print("spark_follow: no broker is given: CDCWIRE_KAFKA=HOST:PORT", file=sys.stderr)
        return 2
    rows, number = (ROWS_QUICK, WINDOWS_QUICK) if given.quick else (ROWS, WINDOWS)
    topics = {name: f"follow-{name}-{secrets.token_hex(4)}" for name in FORMATS}
    return finish("spark_follow", results_of(list(measure(kafka, topics, rows, number))), given)


def measure(kafka: Kafka, topics: dict[str, str], rows: int, number: int) -> Iterator[Window]:
    """Yield what each window took."""
    settings = {"spark.jars": kafka_jars(), "spark.sql.shuffle.partitions": "2"}
    spark = spark_session(MASTER, settings)
    for topic in topics.values():
        make_topic(kafka, topic, PARTITIONS)
    feeds = [
        ComparedFeed(parse_source(f"{name}:kafka://{kafka.bootstrap}/{topic}"))
        for name, topic in topics.items()
    ]
    stream = workload(WORKLOAD, rows * number, SEED, position_fields=("commit_ts",))
    changes = (event for event in stream if isinstance(event, RowChange))
    windows = follow_feeds(spark, feeds[0], feeds[1], follow=FollowOptions(every=0.1))
    for _ in range(number):
        send(kafka, topics, list(islice(changes, rows)))
        cpu, wall = processor_seconds(), monotonic()
        found = next(windows)
        cpu, wall = processor_seconds() - cpu, monotonic() - wall
        assert found.is_equal
        yield Window(found.changes, round(cpu, 2), round(wall, 2), java_mib(spark), python_mib())
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def send(kafka: Kafka, topics: dict[str, str], changes: Sequence[RowChange]) -> None:
    """Write changes into both topics, each row's into one partition, and how far they are."""
    resolved = Progress("resolved", Position(commit_ts=changes[-1].position.commit_ts))
    context = Context(tables=workload_tables(WORKLOAD))
    for name, topic in topics.items():
        encoded = get_format(name).from_events([resolved], context=context)
        marks = [each for each in encoded if isinstance(each, KafkaMessage)]
        for partition, part in enumerate(partitions_of(name, changes, context, PARTITIONS)):
            assert produce(kafka, topic, [*part.messages, *marks], partition) == []


def python_mib() -> float:
    """Return the memory that this process has now."""
    status = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in status if ":" in line)
    return round(int(fields["VmRSS"].split()[0]) / 1024, 1)


def results_of(windows: Sequence[Window]) -> list[Result]:
    """Return what a window takes, and what grows from the sixth to the last three."""
    warm, last = windows[WARM - 1], windows[-3:]
    cpu = sum(each.cpu_s for each in last) / len(last)
    wall = sum(each.wall_s for each in last) / len(last)
    java = max(each.java_mib for each in last) - warm.java_mib
    python = max(each.python_mib for each in last) - warm.python_mib
    details = {"windows": list(map(asdict, windows))}
    return [
        Result("first", "the first window, CPU", windows[0].cpu_s, "s", details=details),
        Result("cpu", "one of the last three, CPU", round(cpu, 2), "s"),
        Result("wall", "one of the last three, time", round(wall, 2), "s"),
        Result(
            "growth",
            "CPU of the last three over the sixth",
            round(cpu / warm.cpu_s, 2),
            "x",
            MAX_GROWTH,
            is_least=False,
        ),
        Result(
            "memory",
            "what the driver's Java and Python keep, the last three less the sixth",
            round(java + python, 1),
            "MiB",
            MAX_GROWTH_MIB,
            is_least=False,
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())
