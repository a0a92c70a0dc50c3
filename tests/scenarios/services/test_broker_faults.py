"""Brokers that die, freeze, slow down and refuse; readers that die; messages that are bad.

Each scenario says what must hold. That a scenario can go red is shown by its second half, where
the same check is put to a feed that really lost or doubled something.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from cdcwire.message import KafkaMessage
from cdcwire.model.steps import drop_repeats
from cdcwire_conformance.extras import load_extra
from cdcwire_conformance.scenarios.containers import KafkaContainer, ToxiproxyContainer
from cdcwire_conformance.scenarios.feeds import Feed, changes_by_key, events_of, make_feed
from cdcwire_conformance.scenarios.ledger import Counts, count, telling
from cdcwire_conformance.scenarios.services import Kafka
from cdcwire_conformance.scenarios.topics import (
    Received,
    consume,
    make_topic,
    produce,
    received,
)

ALONE = {"batch.num.messages": 1}  # the limit is of batches, so each message is one
NewName = Callable[[str], str]


def counted(sent: Sequence[KafkaMessage], got: Sequence[Received]) -> Counts:
    """Count a feed of one partition."""
    return count({0: sent}, {0: [each.message for each in got]})


def slow_feed(rows: int) -> Feed:
    """A feed of one change a message, so that a fault falls between many."""
    return make_feed("canal-json", rows, options={"enable-tidb-extension": True})


def test_broker_killed_while_producing_loses_nothing(
    own_broker: KafkaContainer, new_name: NewName
) -> None:
    with telling(
        "fault/broker-killed-producing",
        "broker killed while a feed is written",
        "The broker is ended by SIGKILL in the middle of a feed and started again. The producer, "
        "idempotent and patient, must write all messages once and in order.",
    ) as story:
        feed, topic = slow_feed(3000), new_name("killed")
        make_topic(own_broker.service, topic)
        deaths = []

        def die(number: int) -> None:
            if number == 1000:
                time.sleep(1)  # many are written, some on their way
                own_broker.kill()
                deaths.append(number)
                own_broker.restart()
                own_broker.wait()

        assert produce(own_broker.service, topic, feed.messages, after_each=die) == []
        story.counts = counted(feed.messages, list(consume(own_broker.service, topic)))
        assert deaths == [1000]
        assert story.counts.is_exact


def test_broker_killed_while_consuming_loses_nothing(
    own_broker: KafkaContainer, new_name: NewName
) -> None:
    with telling(
        "fault/broker-killed-consuming",
        "broker killed while a feed is read",
        "The broker is ended by SIGKILL while a consumer group reads, and started again; more is "
        "written then. The consumer goes on where it committed: what it read since comes again, "
        "nothing is lost.",
    ) as story:
        feed, topic = slow_feed(3000), new_name("killed")
        first, second = feed.messages[:2000], feed.messages[2000:]
        make_topic(own_broker.service, topic)
        assert produce(own_broker.service, topic, first) == []
        reader = group_reader(own_broker.service, topic, "patient")
        got = read(reader, 500)
        reader.commit(asynchronous=False)
        got += read(reader, 300)
        own_broker.kill()
        own_broker.restart()
        own_broker.wait()
        assert produce(own_broker.service, topic, second) == []
        while got[-1].offset < len(feed.messages) - 1:
            got += read(reader, 1)
        reader.close()
        story.counts = counted(feed.messages, got)
        assert (story.counts.lost, story.counts.invented) == (0, 0)
        assert story.counts.repeated <= 300
        changes = list(drop_repeats(events_of(feed, [each.message for each in got])))
        assert changes == events_of(feed, feed.messages)


def test_frozen_broker_is_waited_for(own_broker: KafkaContainer, new_name: NewName) -> None:
    with telling(
        "fault/broker-frozen",
        "broker frozen for ten seconds",
        "The broker is paused: it answers nobody and refuses nobody, so that requests time out. "
        "What the producer sends again must not be doubled.",
    ) as story:
        feed, topic = slow_feed(2000), new_name("frozen")
        make_topic(own_broker.service, topic)

        def freeze(number: int) -> None:
            if number == 700:
                own_broker.pause()
                threading.Timer(10, own_broker.resume).start()

        patient = {"socket.timeout.ms": 3000, "request.timeout.ms": 3000}
        assert (
            produce(own_broker.service, topic, feed.messages, settings=patient, after_each=freeze)
            == []
        )
        story.counts = counted(feed.messages, list(consume(own_broker.service, topic)))
        assert story.counts.is_exact


def test_slow_and_cut_connections_lose_nothing(
    proxied_broker: tuple[ToxiproxyContainer, Kafka], new_name: NewName
) -> None:
    with telling(
        "fault/connections",
        "slow connections, then cut ones",
        "A proxy before the broker delays every answer by a fifth of a second, then cuts all "
        "connections for two seconds, twice. All messages arrive once and in order.",
    ) as story:
        proxy, kafka = proxied_broker
        feed, topic = slow_feed(2000), new_name("cut")
        make_topic(kafka, topic)
        cuts = []

        def disturb(number: int) -> None:
            if number == 300:
                proxy.add("latency", latency=200, jitter=50)
            if number in (800, 1400):
                proxy.open(False)
                time.sleep(2)
                proxy.open(True)
                cuts.append(number)

        assert produce(kafka, topic, feed.messages, after_each=disturb) == []
        proxy.remove("latency")
        story.counts = counted(feed.messages, list(consume(kafka, topic)))
        story.figures = {"cuts": len(cuts)}
        assert cuts == [800, 1400]
        assert story.counts.is_exact


@pytest.mark.quick
def test_reader_that_dies_before_it_commits_gets_repeats(kafka: Kafka, new_name: NewName) -> None:
    with telling(
        "fault/reader-dies",
        "reader killed between reading and committing",
        "A consumer commits after 400 messages and dies after 1,000. The next one of its group "
        "gets 600 of them again: at least once, as promised. The step that drops repeats leaves "
        "each change once.",
    ) as story:
        feed, topic = slow_feed(1500), new_name("repeats")
        make_topic(kafka, topic)
        assert produce(kafka, topic, feed.messages) == []
        first = group_reader(kafka, topic, topic)
        got = read(first, 400)
        first.commit(asynchronous=False)
        got += read(first, 600)
        first.close()  # what it read since is not committed
        second = group_reader(kafka, topic, topic)
        got += read(second, len(feed.messages) - 400)
        second.close()
        story.counts = counted(feed.messages, got)
        assert (story.counts.repeated, story.counts.lost, story.counts.invented) == (600, 0, 0)
        changes = list(drop_repeats(events_of(feed, [each.message for each in got])))
        assert changes == events_of(feed, feed.messages)


@pytest.mark.quick
def test_bad_messages_do_not_lose_their_neighbours(kafka: Kafka, new_name: NewName) -> None:
    with telling(
        "fault/poisoned",
        "bad messages among good ones",
        "Cut, empty and foreign messages stand between good ones. Each is named with its partition "
        "and offset, and every change of the others is there.",
    ) as story:
        feed, topic = make_feed("craft", 400), new_name("poisoned")
        good = feed.messages
        bad = {3: KafkaMessage(None, good[3].value[:-5]), 8: KafkaMessage(None, b"")}  # type: ignore[index]
        bad[15] = KafkaMessage(b"key", b'{"foreign": true}')
        sent = []
        for number, message in enumerate(good):
            if number in bad:
                sent.append(bad[number])
            sent.append(message)
        make_topic(kafka, topic)
        assert produce(kafka, topic, sent) == []
        got = list(consume(kafka, topic))
        story.counts = counted(sent, got)
        changes, found = changes_by_key(feed, got)
        wanted = [number + shift for shift, number in enumerate(sorted(bad))]
        story.figures = {"bad": len(found)}
        assert [each.offset for each in found] == wanted
        assert changes == changes_by_key(feed, in_place(good))[0]
        assert story.counts.is_exact


@pytest.mark.quick
def test_too_large_messages_are_refused_aloud(kafka: Kafka, new_name: NewName) -> None:
    with telling(
        "fault/too-large",
        "messages larger than the topic takes",
        "A topic takes 20 kB. The producer is told of each message that is larger; those that "
        "the format's own limit keeps below all arrive.",
    ) as story:
        topic, limit = new_name("limit"), 20_000
        make_topic(kafka, topic, settings={"max.message.bytes": str(limit)})
        large = make_feed("craft", 2000, options={"max-batch-size": 1000})
        refused = produce(kafka, topic, large.messages, settings=ALONE)
        too_large = [
            number for number, each in enumerate(large.messages) if len(each.value or b"") > limit
        ]
        assert too_large
        assert [each.number for each in refused] == too_large
        cut = {"max-batch-size": 1000, "max-message-bytes": limit - 500}
        small = make_feed("craft", 2000, options=cut)
        topic = new_name("limit")
        make_topic(kafka, topic, settings={"max.message.bytes": str(limit)})
        assert produce(kafka, topic, small.messages, settings=ALONE) == []
        got = list(consume(kafka, topic))
        story.counts = counted(small.messages, got)
        assert story.counts.is_exact
        assert events_of(small, [each.message for each in got]) == events_of(large, large.messages)


@pytest.mark.quick
@pytest.mark.parametrize("fault", ["lost", "doubled", "swapped"])
def test_the_check_itself_goes_red(kafka: Kafka, new_name: NewName, fault: str) -> None:
    feed, topic = slow_feed(50), new_name("red")
    make_topic(kafka, topic)
    sent = list(feed.messages)
    planted = {
        "lost": sent[:20] + sent[21:],
        "doubled": sent[:20] + sent[19:],
        "swapped": [*sent[:20], sent[21], sent[20], *sent[22:]],
    }[fault]
    assert produce(kafka, topic, planted) == []
    counts = counted(sent, list(consume(kafka, topic)))
    found = {"lost": counts.lost, "doubled": counts.repeated, "swapped": counts.out_of_order}
    assert found == {"lost": 0, "doubled": 0, "swapped": 0} | {fault: 1}
    assert not counts.is_exact


def in_place(messages: Sequence[KafkaMessage]) -> list[Received]:
    """Messages as if one partition had given them."""
    return [Received(0, number, message) for number, message in enumerate(messages)]


def group_reader(kafka: Kafka, topic: str, group: str) -> Any:
    """Return a consumer of a group that commits only when it is told to."""
    client = load_extra("confluent_kafka", "scenarios", "Kafka")
    reader = client.Consumer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": 10_000,
            "reconnect.backoff.max.ms": 500,
            "log_level": 0,
        }
    )
    reader.subscribe([topic])
    return reader


def read(reader: Any, wanted: int, seconds: float = 90.0) -> list[Received]:
    """Read exactly so many messages."""
    got: list[Received] = []
    end = time.monotonic() + seconds
    while len(got) < wanted:
        assert time.monotonic() < end, f"{len(got)} of {wanted} messages after {seconds} s"
        for each in reader.consume(min(100, wanted - len(got)), 0.5):
            if each.error() is None:
                got.append(received(each))
    return got
