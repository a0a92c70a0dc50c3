"""Brokers that die, freeze, slow down and refuse; readers that die; messages that are bad.

Each scenario says what must hold. The second part of a scenario shows that it can fail. It applies
the same check to a feed that really lost or repeated messages.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.model.steps import drop_repeats
from cdcwire_evidence import program
from cdcwire_evidence.scenarios.containers import KafkaContainer, ToxiproxyContainer
from cdcwire_evidence.scenarios.feeds import QueueFeed, changes_by_key, events_of, make_feed
from cdcwire_evidence.scenarios.groups import group_reader, read
from cdcwire_evidence.scenarios.ledger import Counts, count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import Received, consume, make_topic, produce

ALONE = {"batch.num.messages": 1}  # the limit is of batches, so each message is one


def counted(sent: Sequence[KafkaMessage], got: Sequence[Received]) -> Counts:
    """Count a feed of one partition."""
    return count({0: sent}, {0: [each.message for each in got]})


def slow_feed(rows: int) -> QueueFeed:
    """A feed of one change a message, so that a fault falls between many."""
    return make_feed("canal-json", rows, options={"enable-tidb-extension": True})


class Beside:
    """A producer that goes on while something is done to its broker.

    ``unanswered``: messages that were handed over and have no answer yet. ``most``: the largest
    number of them while it was done.
    """

    def __init__(self) -> None:
        self.unanswered = self.most = 0

    def produce(
        self,
        kafka: Kafka,
        topic: str,
        messages: Sequence[KafkaMessage],
        fault: Callable[[], None],
        pace: float = 0.001,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """Hand over a message each ``pace`` seconds; the fault begins when 500 are answered."""
        faults: list[Future[None]] = []

        def after_each(number: int, unanswered: int) -> None:
            self.unanswered = unanswered
            if not faults and number - unanswered >= 500:
                faults.append(pool.submit(fault))
            if faults and not faults[0].done():
                self.most = max(self.most, unanswered)
            time.sleep(pace)

        with ThreadPoolExecutor(1) as pool:
            assert produce(kafka, topic, messages, 0, settings, after_each=after_each) == []
            faults[0].result()


def test_broker_killed_while_producing_loses_nothing(
    proxied_broker: tuple[ToxiproxyContainer, KafkaContainer], new_name: NewName
) -> None:
    with recorded(
        "fault/broker-killed-producing",
        "broker killed while a feed is written",
        "The broker is ended by SIGKILL in the middle of a feed, which goes on, and started again "
        "two seconds later. What it answered in its last second is lost on the way, so that the "
        "producer can't know what of that was written. Idempotent and patient, it must write all "
        "messages once and in order.",
    ) as result:
        proxy, broker = proxied_broker
        feed, topic, kafka = slow_feed(3000), new_name("killed"), Kafka(proxy.door)
        make_topic(kafka, topic)
        beside, lost_answers = Beside(), list[int]()

        def die() -> None:
            proxy.add("timeout", timeout=0)
            time.sleep(1)
            lost_answers.append(beside.unanswered)
            broker.kill()
            time.sleep(2)
            proxy.remove("timeout")
            broker.restart()
            broker.wait()
            proxy.lead_to(broker.behind_proxy)  # it may have another address now

        beside.produce(kafka, topic, feed.messages, die)
        result.counts = counted(feed.messages, list(consume(kafka, topic)))
        result.figures = {
            "without an answer when killed": lost_answers[0],
            "most without an answer": beside.most,
        }
        assert beside.most > lost_answers[0] > 0  # the feed went on while the broker was dead
        assert result.counts.is_exact


def test_broker_killed_while_consuming_loses_nothing(
    own_broker: KafkaContainer, new_name: NewName
) -> None:
    with recorded(
        "fault/broker-killed-consuming",
        "broker killed while a feed is read",
        "The broker is ended by SIGKILL while a consumer group reads, and started again; more is "
        "written then. The consumer goes on where it committed: what it read since comes again, "
        "nothing is lost.",
    ) as result:
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
        result.counts = counted(feed.messages, got)
        assert (result.counts.lost, result.counts.invented) == (0, 0)
        assert result.counts.repeated <= 300
        changes = list(drop_repeats(events_of(feed, [each.message for each in got])))
        assert changes == events_of(feed, feed.messages)


def test_frozen_broker_is_waited_for(own_broker: KafkaContainer, new_name: NewName) -> None:
    with recorded(
        "fault/broker-frozen",
        "broker frozen for ten seconds",
        "The broker is paused: it answers nobody and refuses nobody, so that requests time out and "
        "are sent again. When it goes on it has both, and nothing must be doubled.",
    ) as result:
        feed, topic = slow_feed(2000), new_name("frozen")
        make_topic(own_broker.service, topic)

        def freeze() -> None:
            own_broker.pause()
            time.sleep(10)
            own_broker.resume()

        patient = {"socket.timeout.ms": 3000, "request.timeout.ms": 3000}
        beside = Beside()
        beside.produce(own_broker.service, topic, feed.messages, freeze, settings=patient)
        result.counts = counted(feed.messages, list(consume(own_broker.service, topic)))
        result.figures = {"most without an answer": beside.most}
        assert beside.most > 500
        assert result.counts.is_exact


def test_slow_and_cut_connections_lose_nothing(
    proxied_broker: tuple[ToxiproxyContainer, KafkaContainer], new_name: NewName
) -> None:
    with recorded(
        "fault/connections",
        "slow connections, then cut ones",
        "A proxy before the broker delays every answer by a fifth of a second, then cuts all "
        "connections for two seconds, twice, so that answers are lost on their way. All messages "
        "arrive once and in order, at a reader whose connection is slow and cut as well.",
    ) as result:
        proxy, kafka = proxied_broker[0], Kafka(proxied_broker[0].door)
        feed, topic = slow_feed(3000), new_name("cut")
        make_topic(kafka, topic)
        beside, lost_answers = Beside(), list[int]()

        def cut() -> None:
            proxy.open(False)
            time.sleep(2)
            proxy.open(True)

        def disturb() -> None:
            proxy.add("latency", latency=200, jitter=50)
            for _ in range(2):
                time.sleep(2)
                lost_answers.append(beside.unanswered)
                cut()

        beside.produce(kafka, topic, feed.messages, disturb, pace=0.004)
        got = []
        for each in consume(kafka, topic):
            got.append(each)
            if len(got) == len(feed.messages) // 2:
                cut()
        proxy.remove("latency")
        result.counts = counted(feed.messages, got)
        result.figures = {
            "cuts": len(lost_answers) + 1,
            "without an answer then": min(lost_answers),
        }
        assert min(lost_answers) > 0
        assert result.counts.is_exact


@pytest.mark.quick
def test_reader_that_dies_before_it_commits_gets_repeats(kafka: Kafka, new_name: NewName) -> None:
    with recorded(
        "fault/reader-dies",
        "reader killed between reading and committing",
        "A consumer commits after 400 messages and is ended by SIGKILL after 1,000. The next one "
        "of its group gets 600 of them again: at least once, as promised. The step that drops "
        "repeats leaves each change once.",
    ) as result:
        feed, topic = slow_feed(1500), new_name("repeats")
        make_topic(kafka, topic)
        assert produce(kafka, topic, feed.messages) == []
        command = program("scenarios.groups", kafka.bootstrap, topic, topic, "400", "1000")
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe) as first:
            try:
                assert first.stdout is not None
                offsets = json.loads(first.stdout.readline())
            finally:
                first.kill()
        got = [Received(0, offset, feed.messages[offset]) for offset in offsets]
        second = group_reader(kafka, topic, topic)
        got += read(second, len(feed.messages) - 400)
        second.close()
        result.counts = counted(feed.messages, got)
        assert (result.counts.repeated, result.counts.lost, result.counts.invented) == (600, 0, 0)
        changes = list(drop_repeats(events_of(feed, [each.message for each in got])))
        assert changes == events_of(feed, feed.messages)


@pytest.mark.quick
def test_bad_messages_do_not_lose_their_neighbours(kafka: Kafka, new_name: NewName) -> None:
    with recorded(
        "fault/poisoned",
        "bad messages among good ones",
        "Cut, empty and foreign messages stand between good ones. Each is named with its partition "
        "and offset, and every change of the others is there.",
    ) as result:
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
        result.counts = counted(sent, got)
        changes, found = changes_by_key(feed, got)
        wanted = [number + shift for shift, number in enumerate(sorted(bad))]
        result.figures = {"bad": len(found)}
        assert [each.offset for each in found] == wanted
        assert changes == changes_by_key(feed, in_place(good))[0]
        assert result.counts.is_exact


@pytest.mark.quick
def test_too_large_messages_are_refused_aloud(kafka: Kafka, new_name: NewName) -> None:
    with recorded(
        "fault/too-large",
        "messages larger than the topic takes",
        "A topic takes 20 kB. The producer gets an error for each larger message; those that "
        "the format's own limit keeps below all arrive.",
    ) as result:
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
        result.counts = counted(small.messages, got)
        assert result.counts.is_exact
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
