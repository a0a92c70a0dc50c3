"""Three brokers that lose the leader of a partition, and what it alone had."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cdcwire import Decoder
from cdcwire.core.message import KafkaMessage
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.brokers import BrokerCluster, running_brokers
from cdcwire_evidence.scenarios.feeds import events_of, make_feed
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import consume, produce, producer

ALONE = {"max-batch-size": 1}  # a change a message
PATIENT: dict[str, object] = {"delivery.timeout.ms": 180_000, "transaction.timeout.ms": 300_000}


@pytest.fixture
def cluster(
    logs: Path, image_of: Callable[[str], str], request: pytest.FixtureRequest
) -> Iterator[BrokerCluster]:
    """Three brokers that the scenario may kill."""
    with running_brokers(image_of("KAFKA_IMAGE"), logs, request.node.name) as found:
        yield found


def send(sender: Any, topic: str, messages: tuple[KafkaMessage, ...]) -> None:
    """Hand messages over and wait until the brokers have them."""
    for each in messages:
        sender.produce(topic, key=each.key, value=each.value)
    assert sender.flush(180) == 0


def test_leader_that_is_lost_within_a_transaction_loses_nothing(
    cluster: BrokerCluster, new_name: NewName
) -> None:
    with recorded(
        "fault/leader-lost-in-transaction",
        "the leader of a partition is killed within a transaction",
        "Of three brokers that which leads the partition is ended by SIGKILL when half of a "
        "transaction is written, another takes its place, and the rest is written and committed. "
        "Then the new leader is killed within a transaction that is aborted. The changes of "
        "committed transactions are there, once and in order, and no others.",
    ) as result:
        feed, topic = make_feed("craft", 400, options=ALONE), new_name("leader")
        parts = [feed.messages[begin : begin + 100] for begin in range(0, 400, 100)]
        cluster.make_topic(topic, (2, 3, 1), {"min.insync.replicas": "2"})
        sender = producer(cluster.service, {"transactional.id": topic, **PATIENT})
        sender.init_transactions(180)
        leaders = [2]
        for number, part in enumerate(parts):
            sender.begin_transaction()
            send(sender, topic, part[:50])
            if number in (1, 2):
                cluster.brokers[leaders[-1]].kill()
                left = {1, 2, 3} - {leaders[-1]}
                leaders.append(cluster.wait_for(topic, None, sorted(left)).leader)
            send(sender, topic, part[50:])
            (sender.abort_transaction if number == 2 else sender.commit_transaction)(180)
            if number in (1, 2):
                cluster.brokers[leaders[-2]].restart()
                cluster.wait_for(topic, None, (1, 2, 3))
        got = [each.message for each in consume(cluster.service, topic, 180)]
        wanted = (*parts[0], *parts[1], *parts[3])
        result.counts = count({0: wanted}, {0: got})
        result.figures = {"leaders": " then ".join(map(str, leaders)), "aborted": len(parts[2])}
        assert result.counts.is_exact
        assert events_of(feed, got) == events_of(feed, wanted)


def test_unclean_election_is_not_silent_for_a_reader(
    cluster: BrokerCluster, new_name: NewName
) -> None:
    with recorded(
        "fault/unclean-election",
        "a broker leads that does not have all messages",
        "A topic allows it. One of its two brokers is down while 150 messages are acknowledged; "
        "then the other is killed, and the first leads without them. That is loss by the brokers: "
        "a new reader gets all other messages, once and in order. A reader that had read some of "
        "the lost ones, and has no rule to begin elsewhere, gets an error, which the decoder "
        "raises, though the offset that it stands at was used again.",
    ) as result:
        feed, topic = make_feed("craft", 600, options=ALONE), new_name("unclean")
        before, lost, after = feed.messages[:200], feed.messages[200:350], feed.messages[350:]
        settings = {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"}
        cluster.make_topic(topic, (2, 3), settings)
        assert produce(cluster.service, topic, before) == []
        cluster.brokers[3].kill()
        cluster.wait_for(topic, 2, (2,))
        assert produce(cluster.service, topic, lost) == []
        reader = reader_without_rule(cluster.service, topic)
        read = [change for _ in range(300) for change in decode_next(reader)]
        assert read == events_of(feed, feed.messages[:300])
        cluster.brokers[2].kill()
        cluster.brokers[3].restart()
        cluster.wait_for(topic, 3, (3,))
        assert produce(cluster.service, topic, after) == []
        got = [each.message for each in consume(cluster.service, topic, 180)]
        result.counts = count({0: feed.messages}, {0: got})
        assert got == [*before, *after]
        assert len(got) > 300
        assert (result.counts.lost, result.counts.invented) == (len(lost), 0)
        assert (result.counts.repeated, result.counts.out_of_order) == (0, 0)
        late, said = decode_on(reader)
        reader.close()
        assert late == events_of(feed, lost[100:][: len(late)])  # fetched before the election
        result.figures = {"lost by the brokers": len(lost), "said": said}


def reader_without_rule(kafka: Kafka, topic: str) -> Any:
    """A consumer at the first message that may not begin elsewhere by itself."""
    client = load_requirement("confluent_kafka", "Kafka")
    reader = client.Consumer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "group.id": topic,
            "auto.offset.reset": "error",
            "enable.auto.commit": False,
            "queued.min.messages": 1,
            "fetch.message.max.bytes": 1000,
            "log_level": 0,
        }
    )
    reader.assign([client.TopicPartition(topic, 0, 0)])
    return reader


def decode_on(reader: Any) -> tuple[list[object], str]:
    """The changes of all records before an error, and what the error says."""
    found: list[object] = []
    while True:
        try:
            found += decode_next(reader)
        except ValueError as error:
            return found, str(error)


def decode_next(reader: Any) -> list[object]:
    """The changes of the next record. Raises: ValueError for an error of the place to read."""
    client = load_requirement("confluent_kafka", "Kafka")
    end = time.monotonic() + 180
    while time.monotonic() < end:
        for record in reader.consume(1, 1.0):
            error = record.error()
            if error is None or error.code() == client.KafkaError._AUTO_OFFSET_RESET:
                return list(Decoder("craft").decode(record))
    raise AssertionError("nothing came in 180 s")
