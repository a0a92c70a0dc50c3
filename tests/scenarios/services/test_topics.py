"""Every format of a queue through a topic of a real broker, and back."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_evidence.scenarios.feeds import (
    Dispatch,
    QueueFeed,
    changes_by_key,
    make_feed,
    make_partitions,
)
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import Received, consume, make_topic, produce

pytestmark = pytest.mark.quick

QUEUE_FORMATS = [name for name in FORMAT_NAMES if "queue" in get_format(name).carriers]
COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
ROWS = 300
PARTITIONS = 3


@pytest.mark.parametrize("format_name", QUEUE_FORMATS)
def test_messages_come_back_from_a_topic(kafka: Kafka, new_name: NewName, format_name: str) -> None:
    with recorded(
        f"topic/{format_name}",
        f"{format_name} through a topic",
        "A feed goes to three partitions by the key of its rows, in each of Kafka's five "
        "compressions, and is read by a plain consumer: the same keys, values and headers, once, "
        "in order, and the same changes of each row.",
    ) as result:
        partitions = make_partitions(format_name, ROWS, PARTITIONS)
        wanted = changes_of(partitions)
        assert sum(map(len, wanted.values())) >= ROWS
        sent, got = {}, {}
        for compression in COMPRESSIONS:
            found = through_topic(kafka, new_name(format_name), partitions, compression)
            for number, feed in enumerate(partitions):
                sent[compression, number] = feed.messages
                got[compression, number] = [
                    each.message for each in found if each.partition == number
                ]
            changes, bad = changes_by_key(partitions[0], found)
            assert bad == []
            assert changes == wanted
        result.counts = count(sent, got)
        result.figures = {"changes": ROWS * len(COMPRESSIONS)}
        assert result.counts.is_exact


@pytest.mark.parametrize("dispatch", ["table", "commit-ts"])
def test_partitions_keep_what_their_rule_promises(
    kafka: Kafka, new_name: NewName, dispatch: Dispatch
) -> None:
    with recorded(
        f"topic/by-{dispatch}",
        f"a feed of twenty tables, dispatched by {dispatch}",
        "All arrives once, and each partition keeps its order. By table a row's changes stay in "
        "order; by commit ts they are put in order again by their commit ts.",
    ) as result:
        partitions = make_partitions(
            "open-protocol", ROWS, PARTITIONS, dispatch, workload_name="many-tables"
        )
        found = through_topic(kafka, new_name(dispatch), partitions, "lz4")
        sent = {number: feed.messages for number, feed in enumerate(partitions)}
        got = {
            number: [each.message for each in found if each.partition == number] for number in sent
        }
        result.counts = count(sent, got)
        assert result.counts.is_exact
        whole = make_feed("open-protocol", ROWS, workload_name="many-tables")
        changes, wanted = changes_by_key(partitions[0], found)[0], changes_of([whole])
        if dispatch == "commit-ts":
            changes = {row: sorted(each, key=commit_ts_of) for row, each in changes.items()}
        assert changes == wanted


def test_nulls_headers_and_empty_values_stay_apart(kafka: Kafka, new_name: NewName) -> None:
    with recorded(
        "topic/nulls",
        "null, empty and tombstone",
        "Null keys and values come back as null, empty ones as empty, headers twice under one name "
        "twice and in order.",
    ) as result:
        sent = [
            KafkaMessage(key, value, headers)
            for key in (None, b"", b"k")
            for value in (None, b"", b"v")
            for headers in ((), (("h", b"1"), ("h", b"2"), ("empty", b"")))
        ]
        topic = new_name("nulls")
        make_topic(kafka, topic)
        assert produce(kafka, topic, sent) == []
        got = [each.message for each in consume(kafka, topic)]
        result.counts = count({0: sent}, {0: got})
        assert got == sent


def through_topic(
    kafka: Kafka, topic: str, partitions: Sequence[QueueFeed], compression: str
) -> list[Received]:
    """Send each list of messages to its partition and read the topic to its end."""
    make_topic(kafka, topic, len(partitions))
    for partition, feed in enumerate(partitions):
        settings = {"compression.type": compression}
        assert produce(kafka, topic, feed.messages, partition, settings) == []
    return list(consume(kafka, topic))


def commit_ts_of(change: str) -> int:
    """The position in the text of a change."""
    found = re.search(r"'commit_ts': '(\d+)'", change)
    assert found is not None
    return int(found[1])


def changes_of(partitions: Sequence[QueueFeed]) -> dict[Hashable, list[str]]:
    """The changes of each row as they are before they are sent."""
    unsent = [
        Received(number, place, message)
        for number, feed in enumerate(partitions)
        for place, message in enumerate(feed.messages)
    ]
    return changes_by_key(partitions[0], unsent)[0]
