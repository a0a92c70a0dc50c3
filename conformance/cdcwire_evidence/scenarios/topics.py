"""Messages through a topic of a real broker, by librdkafka (confluent-kafka)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cdcwire.core.message import KafkaMessage
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.services import Kafka


@dataclass(frozen=True, slots=True)
class Received:
    """A message where the broker keeps it. ``timestamp_ms``: the record's, if it was asked for."""

    partition: int
    offset: int
    message: KafkaMessage
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A message that the broker refused. ``number``: of those sent, from 0."""

    number: int
    reason: str


class FeedTimeoutError(Exception):
    """A topic did not give what was waited for in time."""


def make_topic(
    kafka: Kafka, name: str, partitions: int = 1, settings: Mapping[str, str] | None = None
) -> None:
    """Create a topic with one replica. Raises: confluent_kafka.KafkaException."""
    admin = load_requirement("confluent_kafka.admin", "Kafka")
    client = admin.AdminClient({"bootstrap.servers": kafka.bootstrap})
    topic = admin.NewTopic(name, partitions, 1, config=dict(settings or {}))
    client.create_topics([topic])[name].result(timeout=30)


def remove_topic(kafka: Kafka, name: str, seconds: float = 60.0) -> None:
    """Delete a topic and wait until the broker has forgotten it.

    Raises: confluent_kafka.KafkaException; FeedTimeoutError.
    """
    admin = load_requirement("confluent_kafka.admin", "Kafka")
    client = admin.AdminClient({"bootstrap.servers": kafka.bootstrap})
    client.delete_topics([name])[name].result(timeout=30)
    end = time.monotonic() + seconds
    while name in client.list_topics(timeout=30).topics:
        if time.monotonic() > end:
            raise FeedTimeoutError(f"{name} still exists after {seconds:g} s")
        time.sleep(0.1)


def add_partitions(kafka: Kafka, topic: str, count: int) -> None:
    """Give a topic more partitions, ``count`` in all. Raises: confluent_kafka.KafkaException."""
    admin = load_requirement("confluent_kafka.admin", "Kafka")
    client = admin.AdminClient({"bootstrap.servers": kafka.bootstrap})
    client.create_partitions([admin.NewPartitions(topic, count)])[topic].result(timeout=30)


def remove_records(kafka: Kafka, topic: str, before: int, partition: int = 0) -> None:
    """Let the broker forget a partition's records before an offset, as it does with old ones.

    Raises: confluent_kafka.KafkaException.
    """
    client = load_requirement("confluent_kafka", "Kafka")
    admin = load_requirement("confluent_kafka.admin", "Kafka")
    place = client.TopicPartition(topic, partition, before)
    asking = admin.AdminClient({"bootstrap.servers": kafka.bootstrap})
    for answer in asking.delete_records([place]).values():
        answer.result(timeout=30)


def producer(kafka: Kafka, settings: Mapping[str, object] | None = None) -> Any:
    """Return a producer that neither loses nor doubles a message while it lives itself."""
    wanted: dict[str, object] = {
        "bootstrap.servers": kafka.bootstrap,
        "enable.idempotence": True,
        "linger.ms": 5,
        "message.max.bytes": 100_000_000,
        "delivery.timeout.ms": 120_000,
        "reconnect.backoff.max.ms": 500,
        "log_level": 0,
    }
    wanted.update(settings or {})
    return load_requirement("confluent_kafka", "Kafka").Producer(wanted)


def produce(
    kafka: Kafka,
    topic: str,
    messages: Iterable[KafkaMessage],
    partition: int = 0,
    settings: Mapping[str, object] | None = None,
    *,
    after_each: Callable[[int, int], None] | None = None,
    clock: Callable[[int], int] | None = None,
) -> list[Refused]:
    """Send messages in their order and wait for all answers; return those that were refused.

    ``after_each``: called with how many were handed over, and how many of these have no answer yet.
    ``clock``: gives each message's timestamp in milliseconds, by its number; else it is now.
    """
    sender = producer(kafka, settings)
    refused: list[Refused] = []

    def answer_to(number: int) -> Callable[[object, object], None]:
        def note(error: object, _written: object) -> None:
            if error is not None:
                refused.append(Refused(number, str(error)))

        return note

    for number, message in enumerate(messages):
        timestamp = 0 if clock is None else clock(number)
        _hand_over(sender, topic, message, partition, timestamp, answer_to(number))
        if after_each is not None:
            after_each(number + 1, len(sender))
    left = sender.flush(180)
    if left:
        raise FeedTimeoutError(f"{left} messages have no answer after 180 s")
    return refused


def _hand_over(
    sender: Any,
    topic: str,
    message: KafkaMessage,
    partition: int,
    timestamp: int,
    note: Callable[[object, object], None],
) -> None:
    kafka = load_requirement("confluent_kafka", "Kafka")
    headers = list(message.headers)
    while True:
        try:
            sender.produce(
                topic,
                key=message.key,
                value=message.value,
                headers=headers,
                partition=partition,
                timestamp=timestamp,
                on_delivery=note,
            )
        except BufferError:  # its queue is full: let it send
            sender.poll(0.1)
            continue
        except kafka.KafkaException as error:  # larger than the producer itself may send
            note(error, None)
        sender.poll(0)
        return


def ends_of(kafka: Kafka, topic: str) -> dict[int, int]:
    """Return the offset after the last message of each partition."""
    client = load_requirement("confluent_kafka", "Kafka")
    reader = client.Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "ends"})
    try:
        partitions = reader.list_topics(topic, timeout=30).topics[topic].partitions
        return {
            number: reader.get_watermark_offsets(client.TopicPartition(topic, number), timeout=30)[
                1
            ]
            for number in partitions
        }
    finally:
        reader.close()


def offset_at(kafka: Kafka, topic: str, timestamp_ms: int, partition: int = 0) -> int:
    """Return where the broker says that a time begins: the end if no record is so late."""
    client = load_requirement("confluent_kafka", "Kafka")
    reader = client.Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "times"})
    try:
        asked = [client.TopicPartition(topic, partition, timestamp_ms)]
        found: int = reader.offsets_for_times(asked, timeout=30)[0].offset
        return ends_of(kafka, topic)[partition] if found < 0 else found
    finally:
        reader.close()


def consume(kafka: Kafka, topic: str, seconds: float = 60.0) -> Iterator[Received]:
    """Yield all messages that a topic has now, each partition in its order.

    Raises: FeedTimeoutError when they do not come within so many seconds.
    """
    client = load_requirement("confluent_kafka", "Kafka")
    ends = {number: end for number, end in ends_of(kafka, topic).items() if end}
    reader = client.Consumer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "group.id": "reader",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    end = time.monotonic() + seconds
    try:
        reader.assign([client.TopicPartition(topic, number, 0) for number in ends])
        while ends:
            if time.monotonic() > end:
                raise FeedTimeoutError(
                    f"{topic}: partitions {sorted(ends)} are not read to the end"
                )
            for got in reader.consume(1000, 0.2):
                error = got.error()
                if error is None:
                    yield received(got)
                elif error.code() != client.KafkaError._PARTITION_EOF:
                    continue
                # The last offset may be that of a transaction's end, which is no message.
                after = got.offset() + (error is None)
                if after >= ends.get(got.partition(), 0):
                    ends.pop(got.partition(), None)
    finally:
        reader.close()


def received(got: Any) -> Received:
    """Return what a message of librdkafka's is to us."""
    message = KafkaMessage(got.key(), got.value(), tuple(got.headers() or ()))
    return Received(got.partition(), got.offset(), message, got.timestamp()[1])
