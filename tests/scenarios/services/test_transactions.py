"""Transactions that are aborted or never end, and a member of a group that comes back too late."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cdcwire import Decoder
from cdcwire.core.message import KafkaMessage
from cdcwire.model.events import Event
from cdcwire.model.steps import drop_repeats
from cdcwire_evidence import program
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.feeds import QueueFeed, events_of, make_feed
from cdcwire_evidence.scenarios.groups import group_reader, read
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import Received, make_topic, produce, producer

ADAPTER = Path(__file__).parents[3] / "adapters" / "javascript"
Changes = list[str]

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:importlib.resources"),
    pytest.mark.filterwarnings("ignore:read_text is deprecated:DeprecationWarning"),
]


def in_transaction(sender: Any, topic: str, messages: Sequence[KafkaMessage]) -> None:
    """Begin a transaction and send messages, which the broker has then."""
    sender.begin_transaction()
    for each in messages:
        sender.produce(topic, key=each.key, value=each.value, headers=list(each.headers))
    assert sender.flush(180) == 0


def transactional(kafka: Kafka, name: str) -> Any:
    """A producer with transactions that do not end by themselves while a scenario runs."""
    settings = {"transactional.id": name, "transaction.timeout.ms": 600_000}
    sender = producer(kafka, settings)
    sender.init_transactions(180)
    return sender


def by_confluent(kafka: Kafka, topic: str) -> Iterator[Any]:
    """The records of a topic up to the end that confluent-kafka gives, which is the default's."""
    client = load_requirement("confluent_kafka", "Kafka")
    settings = {"bootstrap.servers": kafka.bootstrap, "group.id": topic, "log_level": 0}
    reader = client.Consumer({**settings, "enable.partition.eof": True})
    reader.assign([client.TopicPartition(topic, 0, 0)])
    try:
        while True:
            (record,) = reader.consume(1, 180)
            if record.error() is not None:
                assert record.error().code() == client.KafkaError._PARTITION_EOF
                return
            yield record
    finally:
        reader.close()


def by_kafka_python(kafka: Kafka, topic: str, isolation: str = "read_committed") -> Iterator[Any]:
    """The records of a topic up to the end that kafka-python gives."""
    client = load_requirement("kafka", "kafka-python")
    reader = client.KafkaConsumer(
        bootstrap_servers=kafka.bootstrap, enable_auto_commit=False, isolation_level=isolation
    )
    partition = client.TopicPartition(topic, 0)
    reader.assign([partition])
    reader.seek_to_beginning(partition)
    try:
        end = reader.end_offsets([partition])[partition]
        while reader.position(partition) < end:
            for records in reader.poll(1000).values():
                yield from records
    finally:
        reader.close()


def by_aiokafka(kafka: Kafka, topic: str) -> Iterator[Any]:
    """The records of a topic up to the end that aiokafka gives."""
    client = load_requirement("aiokafka", "aiokafka")
    partition = client.TopicPartition(topic, 0)
    settings = {"isolation_level": "read_committed", "enable_auto_commit": False}

    async def read() -> list[Any]:
        found: list[Any] = []
        reader = client.AIOKafkaConsumer(bootstrap_servers=kafka.bootstrap, **settings)
        async with reader:
            reader.assign([partition])
            await reader.seek_to_beginning(partition)
            end = (await reader.end_offsets([partition]))[partition]
            while await reader.position(partition) < end:
                for records in (await reader.getmany(timeout_ms=1000)).values():
                    found += records
        return found

    yield from asyncio.run(read())


Client = Callable[[Kafka, str], Iterator[Any]]
CLIENTS: dict[str, Client] = {
    "confluent-kafka": by_confluent,
    "kafka-python": by_kafka_python,
    "aiokafka": by_aiokafka,
}


def decoded(records: Iterator[Any]) -> list[Event]:
    decoder = Decoder("craft")
    return [event for record in records for event in decoder.decode(record)]


def one_each(changes: int) -> QueueFeed:
    """A feed of a change a message."""
    return make_feed("craft", changes, options={"max-batch-size": 1})


@pytest.mark.quick
@pytest.mark.parametrize("name", list(CLIENTS))
def test_aborted_transactions_are_not_read(kafka: Kafka, new_name: NewName, name: str) -> None:
    with recorded(
        f"transactions/aborted-{name}",
        f"aborted transactions, read by {name} and cdcwire.Decoder",
        "Of three transactions the second is aborted. The reader that reads what is committed "
        "gets the changes of the first and the third, each once.",
    ) as result:
        feed, topic = one_each(60), new_name("aborted")
        make_topic(kafka, topic)
        sender = transactional(kafka, topic)
        for start, end in ((0, "commit"), (20, "abort"), (40, "commit")):
            in_transaction(sender, topic, feed.messages[start : start + 20])
            (sender.commit_transaction if end == "commit" else sender.abort_transaction)(180)
        wanted = events_of(feed, (*feed.messages[:20], *feed.messages[40:]))
        got = decoded(CLIENTS[name](kafka, topic))
        result.counts = count({0: list(map(repr, wanted))}, {0: list(map(repr, got))})
        result.figures = {"aborted": 20}
        if name == "kafka-python":  # whose default is to read all
            everything = decoded(by_kafka_python(kafka, topic, "read_uncommitted"))
            assert everything == events_of(feed, feed.messages)
            result.figures["read if not asked otherwise"] = len(everything)
        assert got == wanted
        assert result.counts.is_exact


@pytest.mark.quick
@pytest.mark.parametrize("name", list(CLIENTS))
def test_transaction_that_does_not_end_holds_back_what_follows(
    kafka: Kafka, new_name: NewName, name: str
) -> None:
    with recorded(
        f"transactions/dangling-{name}",
        f"a transaction that nobody ends, read by {name} and cdcwire.Decoder",
        "A producer leaves a transaction open; another one writes on. A reader gets what comes "
        "before the transaction, and nothing of it or after it. When the producer's successor, "
        "with the same transactional.id, has aborted it, the reader gets what was held back, each "
        "change once. The producer that comes back is refused.",
    ) as result:
        client = load_requirement("confluent_kafka", "Kafka")
        feed, topic = one_each(60), new_name("dangling")
        make_topic(kafka, topic)
        assert produce(kafka, topic, feed.messages[:20]) == []
        zombie = transactional(kafka, topic)
        in_transaction(zombie, topic, feed.messages[20:40])
        assert produce(kafka, topic, feed.messages[40:]) == []
        assert len(list(by_kafka_python(kafka, topic, "read_uncommitted"))) == 60
        first = decoded(CLIENTS[name](kafka, topic))
        assert first == events_of(feed, feed.messages[:20])
        transactional(kafka, topic)
        with pytest.raises(client.KafkaException) as refused:
            zombie.commit_transaction(180)
        got = decoded(CLIENTS[name](kafka, topic))
        wanted = events_of(feed, (*feed.messages[:20], *feed.messages[40:]))
        result.counts = count({0: list(map(repr, wanted))}, {0: list(map(repr, got))})
        result.figures = {"held back": 20, "said to the zombie": refused.value.args[0].name()}
        assert got == wanted
        assert result.counts.is_exact


@pytest.mark.quick
def test_consumer_in_javascript_reads_no_transaction_that_has_not_ended(
    kafka: Kafka, new_name: NewName
) -> None:
    node = shutil.which("node")
    if node is None or not (ADAPTER / "node_modules" / "kafkajs").is_dir():
        missing = "node" if node is None else "kafkajs"
        pytest.skip(f"there is no {missing}: npm ci --prefix adapters/javascript")
    with recorded(
        "transactions/javascript",
        "aborted transactions and one that nobody ends, read in JavaScript",
        "Where a transaction is open, the topic ends before it for the consumer, which prints what "
        "comes before. Once the transaction is aborted, it prints all other changes.",
    ) as result:
        feed, topic = one_each(60), new_name("dangling")
        make_topic(kafka, topic)
        sender = transactional(kafka, topic)
        in_transaction(sender, topic, feed.messages[:20])
        sender.commit_transaction(180)
        in_transaction(sender, topic, feed.messages[20:40])
        assert produce(kafka, topic, feed.messages[40:]) == []

        def consume() -> tuple[int, list[int], str]:
            words = [node, str(ADAPTER / "consume.js")]
            done = subprocess.run(
                [*words, kafka.bootstrap, topic, "craft"],
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
            places = [json.loads(line)["offset"] for line in done.stdout.splitlines()]
            return done.returncode, places, done.stderr

        # An offset of the topic is that of a message, or of the end of a transaction.
        assert consume() == (0, [*range(20)], "")
        sender.abort_transaction(180)
        code, got, said = consume()
        assert (code, said) == (0, "")
        result.counts = count({0: [*range(20), *range(41, 61)]}, {0: got})
        result.figures = {"held back": 20}
        assert result.counts.is_exact


def test_member_of_a_group_that_comes_back_too_late_moves_nothing(
    kafka: Kafka, new_name: NewName
) -> None:
    with recorded(
        "fault/zombie-consumer",
        "a member of a group that was stopped comes back after the group has gone on",
        "A consumer commits after 400 messages, reads 1,000 and is stopped by SIGSTOP. The group "
        "takes it for dead; another member gets its partition, reads from 400 to the end and "
        "commits. When the first goes on, it commits what it has read: that is refused, and the "
        "group stays where it was. 600 messages came twice, none is lost, and the step that drops "
        "repeats leaves each change once.",
    ) as result:
        feed, topic = (
            make_feed("canal-json", 1500, options={"enable-tidb-extension": True}),
            new_name("zombie"),
        )
        make_topic(kafka, topic)
        assert produce(kafka, topic, feed.messages) == []
        command = program("scenarios.groups", kafka.bootstrap, topic, topic, "400", "1000")
        pipe = subprocess.PIPE
        with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe) as zombie:
            try:
                assert zombie.stdin is not None
                assert zombie.stdout is not None
                offsets = json.loads(zombie.stdout.readline())
                os.kill(zombie.pid, signal.SIGSTOP)
                second = group_reader(kafka, topic, topic)
                late = read(second, len(feed.messages) - 400, 300)
                second.commit(asynchronous=False)
                os.kill(zombie.pid, signal.SIGCONT)
                said = zombie.communicate("commit\n", timeout=300)[0]
            finally:
                zombie.kill()
        (committed,) = second.committed(second.assignment(), timeout=30)
        second.close()
        got = [Received(0, offset, feed.messages[offset]) for offset in offsets] + late
        messages = [each.message for each in got]
        result.counts = count({0: feed.messages}, {0: messages})
        result.figures = {"said to the zombie": said.strip()}
        assert said.strip() not in ("", "committed")
        assert committed.offset == len(feed.messages)
        assert (result.counts.repeated, result.counts.lost, result.counts.invented) == (600, 0, 0)
        changes = list(drop_repeats(events_of(feed, messages)))
        assert changes == events_of(feed, feed.messages)
