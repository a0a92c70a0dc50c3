"""A feed under load: a producer at a steady rate, a reader beside it, and what each second gave.

The producer is a program of its own (``conformance/evidence.py scenarios.load``), so that it
and the reader do not wait for each other.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from cdcwire_evidence import program
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.feeds import make_feed
from cdcwire_evidence.scenarios.services import Kafka
from cdcwire_evidence.scenarios.topics import FeedTimeoutError, producer

FEED_ROWS = 10_000  # of a feed that is sent again and again
_WAIT_SECONDS = 180.0


@dataclass(slots=True)
class Second:
    """One second of a reader. ``latencies_ms``: from a record's timestamp until it was decoded."""

    rows: int = 0
    latencies_ms: list[float] = field(default_factory=list)
    mib: float = 0.0


@dataclass(slots=True)
class Loaded:
    """What a run under load gave. ``written``: rows that the broker acknowledged each second."""

    rows: int
    seconds: list[Second]
    written: list[int]

    def latency_ms(self, share: float) -> float:
        """Return the latency that so large a share of the messages does not exceed."""
        return percentile([each for second in self.seconds for each in second.latencies_ms], share)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that so large a share of the values does not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[max(math.ceil(len(ordered) * share) - 1, 0)] if ordered else 0.0


def read_under_load(
    kafka: Kafka, topic: str, rows: int, rate: int, rows_of: Callable[[bytes], int]
) -> Loaded:
    """Let a producer write so many rows, so many a second, and decode each as soon as it comes.

    Raises: FeedTimeoutError; OSError where the producer fails.
    """
    command = program("scenarios.load", kafka.bootstrap, topic, str(rows), str(rate))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sending:
        try:
            seconds = _read(kafka, topic, rows, rows_of)
            output = sending.communicate(timeout=_WAIT_SECONDS)[0]
        finally:
            sending.kill()
    if sending.returncode:
        raise OSError(f"the producer ended with {sending.returncode}")
    return Loaded(sum(each.rows for each in seconds), seconds, json.loads(output))


def _read(kafka: Kafka, topic: str, rows: int, rows_of: Callable[[bytes], int]) -> list[Second]:
    process = load_requirement("psutil", "measuring memory").Process()
    found: list[Second] = []
    got, began = 0, 0.0
    with closing(_arriving(kafka, topic)) as messages:
        for message in messages:
            began = began or time.time()
            count = rows_of(message.value())
            got += count
            now = time.time()
            while len(found) <= now - began:
                if found:
                    found[-1].mib = process.memory_info().rss / (1 << 20)
                found.append(Second())
            found[-1].rows += count
            found[-1].latencies_ms.append(now * 1000 - message.timestamp()[1])
            if got >= rows:
                break
    if not found:
        raise FeedTimeoutError("nothing came")
    found[-1].mib = process.memory_info().rss / (1 << 20)
    if got < rows:
        raise FeedTimeoutError(f"{got:,} of {rows:,} rows came within {_WAIT_SECONDS:g} s")
    return found


def _arriving(kafka: Kafka, topic: str) -> Generator[Any, None, None]:
    """Yield messages as they come, until it has taken too long."""
    client = load_requirement("confluent_kafka", "Kafka")
    reader = client.Consumer(
        {"bootstrap.servers": kafka.bootstrap, "group.id": topic, "enable.auto.commit": False}
    )
    try:
        reader.assign([client.TopicPartition(topic, 0, 0)])
        end = time.monotonic() + _WAIT_SECONDS
        while time.monotonic() < end:
            for message in reader.consume(500, 0.1):
                if message.error() is None:
                    yield message
    finally:
        reader.close()


def write_steadily(kafka: Kafka, topic: str, rows: int, rate: int) -> list[int]:
    """Write so many rows, so many a second; return how many were acknowledged in each second."""
    messages = make_feed("craft", FEED_ROWS).messages
    share = FEED_ROWS / len(messages)
    sender, written, began = producer(kafka), [0.0], time.monotonic()

    def note(error: object, _message: object) -> None:
        if error is not None:
            raise OSError(str(error))
        while len(written) <= time.monotonic() - began:
            written.append(0.0)
        written[-1] += share

    for number in range(rows // FEED_ROWS * len(messages)):
        message = messages[number % len(messages)]
        sender.produce(topic, key=message.key, value=message.value, partition=0, on_delivery=note)
        early = number * share / rate - (time.monotonic() - began)
        sender.poll(early if early > 0 else 0)
    sender.flush(_WAIT_SECONDS)
    return list(map(round, written))


if __name__ == "__main__":
    bootstrap, name, *numbers = sys.argv[1:]
    print(json.dumps(write_steadily(Kafka(bootstrap), name, *map(int, numbers))))
