"""A feed under load, second by second, and what feeds take on the broker's disk."""

from __future__ import annotations

import time

from cdcwire.core.message import KafkaMessage
from cdcwire.formats.craft.fast import RowDecoder
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.containers import KafkaContainer
from cdcwire_evidence.scenarios.feeds import make_feed
from cdcwire_evidence.scenarios.ledger import Measured, count, recorded
from cdcwire_evidence.scenarios.load import FEED_ROWS, Second, percentile, read_under_load
from cdcwire_evidence.scenarios.services import NewName
from cdcwire_evidence.scenarios.topics import consume, make_topic, produce

ROWS, RATE = 1_000_000, 50_000
DISK_ROWS, BATCH = 2000, 64
COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
QUEUE_FORMATS = [name for name in FORMAT_NAMES if "queue" in get_format(name).carriers]
FLAT = 32  # MiB: what a process may grow by in nine tenths of a million rows


class Arrivals:
    """The part of a repeated feed that arrives.

    ``numbers``: of its messages, by their values. ``found``: those that came; -1: none of them.
    """

    def __init__(self) -> None:
        messages = make_feed("craft", FEED_ROWS).messages
        self.numbers = {each.value: number for number, each in enumerate(messages)}
        assert len(self.numbers) == len(messages)
        self.found: list[int] = []
        self._decode = RowDecoder().decode

    def rows_of(self, value: bytes) -> int:
        """Note a message, and return how many rows it has."""
        self.found.append(self.numbers.get(value, -1))
        return len(list(self._decode(KafkaMessage(None, value))))


def test_million_rows_under_load(own_broker: KafkaContainer, new_name: NewName) -> None:
    with recorded(
        "load/million-rows",
        "a million rows under load",
        "A producer writes 50,000 rows of Craft a second to one partition, and a reader beside it "
        "decodes each to typed rows as it comes: all of them, in memory that does not grow. Then "
        "the topic is read once more, as fast as it goes.",
    ) as result:
        topic, arriving, again = new_name("million"), Arrivals(), Arrivals()
        make_topic(own_broker.service, topic)
        loaded = read_under_load(own_broker.service, topic, ROWS, RATE, arriving.rows_of)
        began = time.monotonic()
        rows = sum(
            again.rows_of(each.message.value or b"")
            for each in consume(own_broker.service, topic, 600)
        )
        took = time.monotonic() - began
        process = load_requirement("psutil", "measuring memory").Process()
        memory = [each.mib for each in loaded.seconds]
        early, late = memory[len(memory) // 10], process.memory_info().rss / (1 << 20)
        sent = list(range(len(arriving.numbers))) * (ROWS // FEED_ROWS)
        result.counts = count({0: sent}, {0: arriving.found})
        result.figures = {
            "rows a second under load": round(loaded.rows / len(loaded.seconds)),
            "rows a second as fast as it goes": round(rows / took),
            "latency in ms, median": round(loaded.latency_ms(0.5)),
            "of 99 %": round(loaded.latency_ms(0.99)),
            "of all": round(loaded.latency_ms(1)),
            "MiB at a tenth": round(early),
            "MiB at the end": round(late),
        }
        result.series = {
            "rows written": list(map(float, loaded.written)),
            "rows read and decoded": [each.rows for each in loaded.seconds],
            "latency in ms, median": latencies(loaded.seconds, 0.5),
            "latency in ms, of 99 %": latencies(loaded.seconds, 0.99),
            "MiB of the reader": memory,
        }
        assert loaded.rows == rows == ROWS
        assert result.counts.is_exact
        assert again.found == sent
        assert late < early + FLAT


def test_sizes_on_the_brokers_disk(own_broker: KafkaContainer, new_name: NewName) -> None:
    with recorded(
        "load/disk",
        "bytes a row on the broker's disk",
        "Every format of a queue carries the same rows; its messages are compressed by the "
        "producer in batches, and the broker's own log segments are measured.",
    ) as result:
        kafka, found = own_broker.service, dict[tuple[str, str], float]()
        for format_name in QUEUE_FORMATS:
            feed = make_feed(format_name, DISK_ROWS, options=batch_of(format_name))
            payload = sum(len(each.value or b"") for each in feed.messages)
            for compression in COMPRESSIONS:
                topic = new_name(format_name)
                make_topic(kafka, topic)
                settings = {"compression.type": compression, "linger.ms": 50}
                assert produce(kafka, topic, feed.messages, 0, settings) == []
                segments = f"cat {own_broker.LOG}/{topic}-0/*.log | wc -c"
                found[format_name, compression] = int(own_broker.run("sh", "-c", segments))
            assert found[format_name, "none"] > payload
            assert all(found[format_name, name] < payload for name in ("gzip", "zstd"))
        rows = (
            (name, *(f"{found[name, each] / DISK_ROWS:.1f}" for each in COMPRESSIONS))
            for name in QUEUE_FORMATS
        )
        text = (
            f"{DISK_ROWS:,} changes of the workload orders-10, up to {BATCH} a message where a "
            "format has more than one; Kafka's own headers and offsets are in it, indexes are not."
        )
        head = ("format", *COMPRESSIONS)
        result.tables = [Measured("Bytes a row on the broker's disk", text, head, tuple(rows))]
        for compression in COMPRESSIONS:
            assert found["craft", compression] < found["open-protocol", compression]


def batch_of(format_name: str) -> dict[str, int]:
    """The option of formats that have several rows in a message."""
    names = {option.name for option in get_format(format_name).options}
    return {"max-batch-size": BATCH} if "max-batch-size" in names else {}


def latencies(seconds: list[Second], share: float) -> list[float]:
    """A percentile of the latency in each second."""
    return [percentile(each.latencies_ms, share) for each in seconds]
