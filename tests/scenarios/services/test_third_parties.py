"""Consumers that are not ours."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cdcwire.formats import get_format
from cdcwire.message import KafkaMessage
from cdcwire.model.text import event_to_json
from cdcwire_conformance.extras import load_extra
from cdcwire_conformance.judge.events import compare_events, rules_of
from cdcwire_conformance.protocol.answers import Events
from cdcwire_conformance.protocol.messages import message_to_json
from cdcwire_conformance.protocol.requests import Request
from cdcwire_conformance.scenarios.feeds import make_feed
from cdcwire_conformance.scenarios.ledger import count, telling
from cdcwire_conformance.scenarios.services import Kafka
from cdcwire_conformance.scenarios.topics import consume, ends_of, make_topic, produce
from cdcwire_conformance.testees import KeptAliveTestee

TESTEE = Path(__file__).parents[3] / "adapters" / "javascript" / "testee.js"
NewName = Callable[[str], str]


@pytest.mark.quick
def test_decoder_in_javascript_reads_a_topic(kafka: Kafka, new_name: NewName) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node")
    with telling(
        "third-party/javascript",
        "a decoder in JavaScript reads a topic",
        "What a consumer gets of a craft feed goes to the decoder of adapters/javascript, which "
        "was written from the specification alone. It gives the same changes.",
    ) as story:
        feed, topic = make_feed("craft", 300), new_name("javascript")
        make_topic(kafka, topic)
        assert produce(kafka, topic, feed.messages) == []
        decode = get_format("craft").decode
        wanted = [
            event_to_json(event) for each in feed.messages for event in decode(each, feed.context)
        ]
        testee = KeptAliveTestee([node, str(TESTEE)])
        found: list[Any] = []
        try:
            for each in consume(kafka, topic):
                body = {"options": {}, "messages": [message_to_json(each.message)]}
                answer = testee.ask(Request("decode", "craft", body)).answer
                assert isinstance(answer, Events)
                found += answer.events
        finally:
            testee.close()
        assert compare_events(wanted, found, rules_of(get_format("craft"))) == []
        story.counts = count({0: range(len(wanted))}, {0: range(len(found))})


@pytest.mark.quick
@pytest.mark.filterwarnings("ignore::DeprecationWarning:importlib.resources")
@pytest.mark.filterwarnings("ignore:read_text is deprecated:DeprecationWarning")
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_kafka_python_reads_the_same_bytes(
    kafka: Kafka, new_name: NewName, compression: str
) -> None:
    with telling(
        f"third-party/kafka-python-{compression}",
        f"kafka-python reads a topic, {compression}",
        "A client of another make, in Python alone, gets the keys and values that were sent.",
    ) as story:
        client = load_extra("kafka", "scenarios", "kafka-python")
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
        story.counts = count({0: feed.messages}, {0: got})
        assert story.counts.is_exact
