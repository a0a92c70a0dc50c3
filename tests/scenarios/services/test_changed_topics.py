"""Topics that a mirror copied more than once and out of order, or that the broker compacted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import RowChange
from cdcwire.model.steps import drop_repeats
from cdcwire_conformance.cli import main
from cdcwire_evidence.scenarios.containers import KafkaContainer, running
from cdcwire_evidence.scenarios.feeds import QueueFeed, events_of, make_feed, row_of
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import consume, make_topic, produce

Compare = Callable[..., "tuple[int, dict[str, int]]"]


@pytest.fixture
def compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Compare:
    """Compare two lists of messages of a format. Returns: the exit code, the table's counts."""

    def run(
        format_name: str, left: Sequence[KafkaMessage], right: Sequence[KafkaMessage], *words: str
    ) -> tuple[int, dict[str, int]]:
        sources = []
        for side, messages in (("left", left), ("right", right)):
            (tmp_path / side).mkdir(exist_ok=True)
            write_messages(str(tmp_path / side / "feed.jsonl"), messages)
            sources.append(f"{format_name}:file:{tmp_path / side}")
        found = tmp_path / "found.json"
        code = main(["compare", *sources, "--json", str(found), *words])
        assert code < 2, capsys.readouterr().err
        (table,) = json.loads(found.read_text("utf-8"))["tables"]
        counts: dict[str, int] = table["counts"]
        return code, counts

    return run


def through(kafka: Kafka, topic: str, messages: Sequence[KafkaMessage]) -> list[KafkaMessage]:
    """Send messages through a new topic."""
    make_topic(kafka, topic)
    assert produce(kafka, topic, messages) == []
    return [each.message for each in consume(kafka, topic)]


@pytest.mark.quick
def test_mirrored_topic_is_told_from_its_source(
    kafka: Kafka, new_name: NewName, compare: Compare
) -> None:
    with recorded(
        "topics/mirrored",
        "a mirror copies a topic, some of it twice, and exchanges two changes of a row",
        "A mirror is started again and copies its last 20 messages once more; later it writes two "
        "changes of one row in the wrong order. The step that drops repeats leaves each change "
        "once, and sorted by position they are those of the source. The comparison of both counts "
        "the repeats and the change out of order, and nothing else. Where the mirror also loses "
        "a message, that one is named, with allowed repeats too.",
    ) as result:
        feed = make_feed("craft", 200, options={"max-batch-size": 1})
        first, second = neighbours(feed, 100)
        mirrored = [*feed.messages[:60], *feed.messages[40:]]
        mirrored[first + 20], mirrored[second + 20] = feed.messages[second], feed.messages[first]
        source = through(kafka, new_name("source"), feed.messages)
        mirror = through(kafka, new_name("mirror"), mirrored)
        result.counts = count({0: source}, {0: mirror})
        assert (result.counts.lost, result.counts.invented, result.counts.repeated) == (0, 0, 20)
        assert result.counts.out_of_order > 0
        changes = list(drop_repeats(events_of(feed, mirror)))
        assert len(changes) == len(feed.messages)
        assert sorted(changes, key=position_of) == events_of(feed, source)

        code, counts = compare("craft", source, mirror)
        assert (code, counts["repeated_right"], counts["out_of_order_right"]) == (1, 20, 1)
        assert (counts["changed"], counts["only_left"], counts["only_right"]) == (0, 0, 0)
        code, counts = compare("craft", source, mirror[:-1], "--allow-repeats")
        assert (code, counts["only_left"], counts["only_right"]) == (1, 1, 0)
        result.figures = {"repeats named": 20, "out of order named": 1}


def position_of(event: Any) -> int:
    found: int = event.position.commit_ts
    return found


def neighbours(feed: QueueFeed, start: int) -> tuple[int, int]:
    """The places of two changes of a row, the second the next one of that row."""
    last: dict[object, int] = {}
    for place, message in enumerate(feed.messages[start:], start):
        (event,) = events_of(feed, [message])
        assert isinstance(event, RowChange)
        if row_of(event) in last:
            return last[row_of(event)], place
        last[row_of(event)] = place
    raise AssertionError("no row changes twice")


@pytest.fixture
def cleaning_broker(
    logs: Path, image_of: Callable[[str], str], request: pytest.FixtureRequest
) -> Iterator[KafkaContainer]:
    """A broker that looks often for topics to compact."""
    settings = {"LOG_CLEANER_BACKOFF_MS": "200", "LOG_CLEANER_MIN_CLEANABLE_RATIO": "0.01"}
    container = KafkaContainer(image_of("KAFKA_IMAGE"), settings=settings)
    with running(container, logs / f"{request.node.name}.log"):
        yield container


def test_compacted_topic_has_the_last_rows(
    cleaning_broker: KafkaContainer, new_name: NewName, compare: Compare
) -> None:
    with recorded(
        "topics/compacted",
        "an upsert topic is compacted, and its tombstones are removed",
        "A topic of Debezium-JSON with tombstones is read when half of it is written, and again "
        "when the broker has compacted the whole and removed the tombstones. A reader that begins "
        "then has the last rows of the whole feed, and the comparison of changes counts each one "
        "that the broker removed. A reader that had the first half and missed the deletes of the "
        "second keeps rows that do not exist: the comparison of last rows names each of them.",
    ) as result:
        kafka, topic = cleaning_broker.service, new_name("upserts")
        whole = with_tombstones(make_feed("debezium-json", 300).messages)
        settings = {
            "cleanup.policy": "compact",
            "segment.ms": "100",
            "min.cleanable.dirty.ratio": "0.01",
            "delete.retention.ms": "100",
        }
        make_topic(kafka, topic, settings=settings)
        half = len(whole) // 2
        assert produce(kafka, topic, whole[:half]) == []
        first = [each.message for each in consume(kafka, topic)]
        assert produce(kafka, topic, whole[half:]) == []
        live = {message.key: message for message in whole}
        gone = [key for key, message in live.items() if message.value is None]
        left = compacted(kafka, topic, whole[-1], set(gone))
        assert {each.key: each for each in left} == {
            key: message for key, message in live.items() if message.value is not None
        }
        had = {message.key: message for message in first}
        stale = [key for key in gone if had.get(key) is not None and had[key].value is not None]
        code, counts = compare("debezium-json", left, whole, "--mode", "final")
        assert (code, counts["same"]) == (0, len(live) - len(gone))
        code, counts = compare("debezium-json", left, whole)
        changes = sum(each.value is not None for each in whole)
        assert (code, counts["only_left"], counts["changed"]) == (1, 0, 0)
        assert counts["only_right"] == changes - counts["same"]
        code, counts = compare("debezium-json", [*first, *left], whole, "--mode", "final")
        assert (code, counts["only_left"], counts["only_right"]) == (1, len(stale), 0)
        assert stale
        result.counts = count(
            {0: [each for each in live.values() if each.value is not None]},
            {0: list({each.key: each for each in left}.values())},
        )
        result.figures = {
            "messages": len(whole),
            "left by the broker": len(left),
            "rows that a late reader keeps, named": len(stale),
        }
        assert result.counts.lost == result.counts.invented == 0


def with_tombstones(messages: Sequence[KafkaMessage]) -> list[KafkaMessage]:
    """The messages of a feed, a message without value after each delete, and a row at the end."""
    found = []
    for message in messages:
        found.append(message)
        if json.loads(message.value or b"{}")["payload"]["op"] == "d":
            found.append(KafkaMessage(message.key, None))
    while found[-1].value is None:
        del found[-2:]
    return found


def compacted(
    kafka: Kafka, topic: str, last: KafkaMessage, gone: set[bytes | None], seconds: float = 180.0
) -> list[KafkaMessage]:
    """The messages of a topic once the broker has compacted it, and no tombstone is left.

    The broker keeps its newest segment as it is, so the last message is sent again and again.
    """
    end = time.monotonic() + seconds
    while True:
        assert produce(kafka, topic, [last]) == []
        found = [each.message for each in consume(kafka, topic)]
        others = [each.key for each in found if each.key != last.key]
        if len(set(others)) == len(others) and not gone & set(others):
            return found
        assert time.monotonic() < end, f"{len(found)} messages are left"
        time.sleep(0.3)
