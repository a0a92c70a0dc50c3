"""Two topics of a broker that get the same changes step by step, and their comparison."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.model.events import Event, Position, Progress, RowChange
from cdcwire.registry import get_format
from cdcwire_evidence.scenarios.feeds import row_of
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import make_topic, produce
from cdcwire_generators.workloads import workload, workload_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdcwire_conformance.compare.rules import CompareOptions

FORMATS = ("craft", "open-protocol")
ROWS = 120
STEPS = 6
PARTITIONS = 2


class Growing:
    """A topic of Craft and one of Open Protocol that get the same changes, step by step.

    After each step both partitions get a resolved event, as TiCDC sends them.
    """

    def __init__(self, kafka: Kafka, new_name: NewName, steps: int = STEPS) -> None:
        self.kafka = kafka
        self.partitions = PARTITIONS
        self.steps = list(itertools.islice(_steps(ROWS), steps))
        self.topics = [new_name(name) for name in FORMATS]
        self.context = Context(tables=workload_tables("orders-10"))
        for topic in self.topics:
            make_topic(kafka, topic, self.partitions)

    @property
    def sources(self) -> list[str]:
        """The topics as sources of a comparison."""
        return [
            f"{name}:kafka://{self.kafka.bootstrap}/{topic}"
            for name, topic in zip(FORMATS, self.topics, strict=True)
        ]

    def send(self, side: int, step: int, changes: Sequence[RowChange] | None = None) -> None:
        """Send a step, or other changes in its place, to one side."""
        wanted = self.steps[step] if changes is None else changes
        resolved = max(position_of(each) for each in self.steps[step]) + 1
        for partition in range(self.partitions):
            own: list[Event] = [each for each in wanted if self.partition_of(each) == partition]
            own.append(Progress("resolved", Position(commit_ts=resolved)))
            messages = [
                each
                for each in get_format(FORMATS[side]).from_events(own, context=self.context)
                if isinstance(each, KafkaMessage)
            ]
            assert produce(self.kafka, self.topics[side], messages, partition) == []

    def send_both(self, step: int) -> None:
        """Send a step to both sides."""
        for side in (0, 1):
            self.send(side, step)

    def partition_of(self, change: RowChange) -> int:
        """Return the partition of a change, by the key of its row."""
        return crc32(repr(row_of(change)).encode()) % self.partitions


def _steps(rows: int) -> Iterator[list[RowChange]]:
    """Yield changes in steps, cut where the commit-ts changes."""
    events = [
        each
        for each in workload("orders-10", rows, 1, position_fields=("commit_ts",))
        if isinstance(each, RowChange)
    ]
    by_ts = [list(each) for _, each in itertools.groupby(events, position_of)]
    size = len(by_ts) // STEPS
    assert size > 1
    for number in range(STEPS):
        yield list(itertools.chain(*by_ts[number * size : (number + 1) * size]))


def position_of(change: RowChange) -> int:
    """Return the commit-ts of a change."""
    assert change.position.commit_ts is not None
    return change.position.commit_ts


def followed(
    growing: Growing,
    spark: SparkSession,
    options: CompareOptions | None = None,
    report: Callable[[str], None] = lambda text: None,
    **follow: Any,
) -> Iterator[Any]:
    """Yield the windows of the comparison; ``report`` gets its steps, ``follow`` its options."""
    from cdcwire_conformance.compare.feed import ComparedFeed
    from cdcwire_conformance.compare.rules import DEFAULT_OPTIONS
    from cdcwire_conformance.spark import parse_source
    from cdcwire_conformance.spark.follow.following import FollowOptions, follow_feeds

    left, right = (ComparedFeed(parse_source(text)) for text in growing.sources)
    wanted = FollowOptions(every=0.2, **follow)
    return follow_feeds(spark, left, right, options or DEFAULT_OPTIONS, wanted, report=report)
