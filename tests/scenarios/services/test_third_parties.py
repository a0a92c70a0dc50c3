"""Consumers that are not ours."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TypeAlias

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.model.text import event_to_json
from cdcwire.registry import get_format
from cdcwire_conformance.judge.difference import Difference
from cdcwire_conformance.judge.events import compare_events, rules_of
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.feeds import events_of, make_feed, make_partitions
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import ends_of, make_topic, produce

ADAPTER = Path(__file__).parents[3] / "adapters" / "javascript"
PARTITIONS = 3
Place: TypeAlias = tuple[int, int]  # partition, offset


@pytest.mark.quick
@pytest.mark.parametrize("format_name", ["craft", "open-protocol"])
def test_consumer_in_javascript_reads_a_topic(
    kafka: Kafka, new_name: NewName, format_name: str
) -> None:
    consumer = _consumer()
    with recorded(
        f"third-party/javascript-{format_name}",
        f"a consumer in JavaScript reads a topic of {format_name}",
        "A program with kafkajs reads three partitions, and the decoder of adapters/javascript, "
        "which was written from the specification alone, reads each message. They give the same "
        "changes at the same partition and offset.",
    ) as result:
        feeds, topic = make_partitions(format_name, 600, PARTITIONS), new_name("javascript")
        make_topic(kafka, topic, PARTITIONS)
        for partition, feed in enumerate(feeds):
            assert produce(kafka, topic, feed.messages, partition) == []
        done = _run([*consumer, kafka.bootstrap, topic, format_name])
        assert (done.returncode, done.stderr) == (0, "")
        answers = [json.loads(line) for line in done.stdout.splitlines()]

        sent = {
            (partition, offset): [event_to_json(event) for event in events_of(feed, [message])]
            for partition, feed in enumerate(feeds)
            for offset, message in enumerate(feed.messages)
        }
        rules, faults = rules_of(get_format(format_name)), list[Difference]()
        wanted: dict[int, list[Place]] = {}
        got: dict[int, list[Place | str]] = {}
        for partition, offset in sent:
            wanted.setdefault(partition, []).append((partition, offset))
        for each in answers:
            place = each["partition"], each["offset"]
            differs = compare_events(sent.get(place, []), each["events"], rules)
            faults += differs
            got.setdefault(place[0], []).append(json.dumps(each) if differs else place)
        result.counts = count(wanted, got)
        assert faults == []
        assert result.counts.is_exact
        assert all(wanted[partition] for partition in range(PARTITIONS))


@pytest.mark.quick
def test_consumer_in_javascript_names_a_message_that_it_cannot_decode(
    kafka: Kafka, new_name: NewName
) -> None:
    consumer = _consumer()
    with recorded(
        "third-party/javascript-foreign-message",
        "a consumer in JavaScript meets a foreign message",
        "It ends with exit code 2 and one line, which names partition and offset.",
    ) as result:
        topic, foreign = new_name("javascript"), KafkaMessage(None, b"?")
        make_topic(kafka, topic, PARTITIONS)
        good = make_feed("craft", 100).messages[:2]
        assert produce(kafka, topic, [*good, foreign, *good], 1) == []
        done = _run([*consumer, kafka.bootstrap, topic, "craft"])
        assert done.returncode == 2
        assert re.fullmatch(r"consume\.js: partition 1, offset 2: [^\n]+\n", done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        result.counts = count(
            {"all": [(1, 0), (1, 1)]},
            {"all": [(each["partition"], each["offset"]) for each in answers]},
        )
        assert result.counts.is_exact


def _consumer() -> list[str]:
    """Return how the program is started, without its arguments; skip where it can't be."""
    node = shutil.which("node")
    if node is None or not (ADAPTER / "node_modules" / "kafkajs").is_dir():
        missing = "node" if node is None else "kafkajs"
        pytest.skip(f"there is no {missing}: npm ci --prefix adapters/javascript")
    return [node, str(ADAPTER / "consume.js")]


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.quick
@pytest.mark.filterwarnings("ignore::DeprecationWarning:importlib.resources")
@pytest.mark.filterwarnings("ignore:read_text is deprecated:DeprecationWarning")
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_kafka_python_reads_the_same_bytes(
    kafka: Kafka, new_name: NewName, compression: str
) -> None:
    with recorded(
        f"third-party/kafka-python-{compression}",
        f"kafka-python reads a topic, {compression}",
        "A client of another make, in Python alone, gets the keys and values that were sent.",
    ) as result:
        client = load_requirement("kafka", "kafka-python")
        feed, topic = make_feed("open-protocol", 300), new_name("kafka-python")
        make_topic(kafka, topic)
        assert produce(kafka, topic, feed.messages, 0, {"compression.type": compression}) == []
        reader = client.KafkaConsumer(
            bootstrap_servers=kafka.bootstrap,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            consumer_timeout_ms=20_000,
        )
        partition = client.TopicPartition(topic, 0)
        reader.assign([partition])
        reader.seek_to_beginning(partition)
        end, got = ends_of(kafka, topic)[0], []
        for record in reader:
            got.append(KafkaMessage(record.key, record.value, tuple(record.headers)))
            if record.offset + 1 >= end:
                break
        reader.close()
        result.counts = count({0: feed.messages}, {0: got})
        assert result.counts.is_exact
