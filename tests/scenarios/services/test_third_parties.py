"""Consumers that are not ours, and a long run: sizes on disk, rows a second, memory."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cdcwire.craft.fast import RowDecoder
from cdcwire.formats import get_format
from cdcwire.message import KafkaMessage
from cdcwire.model.text import event_to_json
from cdcwire_conformance.extras import load_extra
from cdcwire_conformance.judge.events import compare_events, rules_of
from cdcwire_conformance.protocol.answers import Events
from cdcwire_conformance.protocol.messages import message_to_json
from cdcwire_conformance.protocol.requests import Request
from cdcwire_conformance.scenarios.containers import KafkaContainer
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


def test_a_million_rows_need_no_more_memory(own_broker: KafkaContainer, new_name: NewName) -> None:
    with telling(
        "load/million-rows",
        "a million rows through one partition",
        "A feed of 10,000 rows goes to a topic a hundred times and is read and decoded to typed "
        "rows by one process, whose memory does not grow.",
    ) as story:
        feed, topic, times = make_feed("craft", 10_000), new_name("million"), 100
        make_topic(own_broker.service, topic)
        began = time.monotonic()
        sent = (message for _ in range(times) for message in feed.messages)
        assert produce(own_broker.service, topic, sent) == []
        written = time.monotonic()
        decode = RowDecoder().decode
        process = load_extra("psutil", "scenarios", "measuring memory").Process()
        lags: list[float] = []
        rows = early = 0
        last = written
        for number, each in enumerate(consume(own_broker.service, topic, 600)):
            assert each.message.value is not None
            rows += len(decode(each.message.value))
            if number == len(feed.messages) * times // 10:
                early = process.memory_info().rss
            if number % 5000 == 0:
                now = time.monotonic()
                lags.append(now - last)
                last = now
        late, ended = process.memory_info().rss, time.monotonic()
        story.counts = count({0: range(10_000 * times)}, {0: range(rows)})
        story.figures = {
            "rows a second written": round(rows / (written - began)),
            "rows a second read and decoded": round(rows / (ended - written)),
            "slowest 5,000 messages, s": round(max(lags), 2),
            "median 5,000 messages, s": round(sorted(lags)[len(lags) // 2], 2),
            "MiB at a tenth": early >> 20,
            "MiB at the end": late >> 20,
        }
        assert rows == 10_000 * times
        assert late < early + (32 << 20)


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_sizes_on_the_brokers_disk(
    own_broker: KafkaContainer, new_name: NewName, compression: str
) -> None:
    with telling(
        f"load/disk-{compression}",
        f"bytes a row on the broker's disk, {compression}",
        "Craft and Open Protocol carry the same 5,000 rows, 64 a message; the broker's own log "
        "segments are measured.",
    ) as story:
        found: dict[str, float] = {}
        for format_name in ("craft", "open-protocol"):
            options = {"max-batch-size": 64}
            feed, topic = make_feed(format_name, 5000, options=options), new_name(format_name)
            make_topic(own_broker.service, topic)
            settings = {"compression.type": compression, "linger.ms": 50}
            assert produce(own_broker.service, topic, feed.messages, 0, settings) == []
            folder = f"/tmp/kraft-combined-logs/{topic}-0"
            said = own_broker.run("sh", "-c", f"cat {folder}/*.log | wc -c")
            found[format_name] = int(said) / 5000
        story.figures = {f"{name}, bytes a row": round(size, 1) for name, size in found.items()}
        assert 0 < found["craft"] < found["open-protocol"]
