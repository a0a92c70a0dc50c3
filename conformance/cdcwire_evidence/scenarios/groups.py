"""A member of a consumer group that commits only on request.

As ``conformance/evidence.py scenarios.groups HOST:PORT TOPIC GROUP COMMITTED READ`` it is
a program to be killed: it commits after so many messages, reads on until it has so many, prints
their offsets as one JSON line, and waits. After a line on standard input it commits what it has
read, and prints ``committed`` or the name of the error.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.services import Kafka
from cdcwire_evidence.scenarios.topics import FeedTimeoutError, Received, received

_SESSION_MS = 6000  # after which the broker takes a silent member for dead: its least


def group_reader(kafka: Kafka, topic: str, group: str) -> Any:
    """Return a consumer of a group, at the first message if the group has committed nothing."""
    client = load_requirement("confluent_kafka", "Kafka")
    reader = client.Consumer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": _SESSION_MS,
            "reconnect.backoff.max.ms": 500,
            "log_level": 0,
        }
    )
    reader.subscribe([topic])
    return reader


def read(reader: Any, wanted: int, seconds: float = 90.0) -> list[Received]:
    """Read exactly this number of messages. Raises: FeedTimeoutError."""
    got: list[Received] = []
    end = time.monotonic() + seconds
    while len(got) < wanted:
        if time.monotonic() > end:
            raise FeedTimeoutError(f"{len(got)} of {wanted} messages after {seconds:g} s")
        for each in reader.consume(min(100, wanted - len(got)), 0.5):
            if each.error() is None:
                got.append(received(each))
    return got


def main(bootstrap: str, topic: str, group: str, committed: str, wanted: str) -> None:
    """Read ``committed`` messages, commit, read up to ``wanted``, print the offsets and wait."""
    client = load_requirement("confluent_kafka", "Kafka")
    reader = group_reader(Kafka(bootstrap), topic, group)
    got = read(reader, int(committed))
    reader.commit(asynchronous=False)
    got += read(reader, int(wanted) - int(committed))
    print(json.dumps([each.offset for each in got]), flush=True)
    if not sys.stdin.readline():
        return
    try:
        reader.commit(asynchronous=False)
        print("committed")
    except client.KafkaException as error:
        print(error.args[0].name())


if __name__ == "__main__":
    main(*sys.argv[1:])
