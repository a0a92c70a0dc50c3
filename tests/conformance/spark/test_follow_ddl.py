"""Following two topics of DDL events, each in the window of its position. No Kafka here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra spark is not installed")

from cdcwire.arrow.batches import MessagePlace
from cdcwire.arrow.schema import CanonicalTable
from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.model.events import Event, Position, Progress, SchemaChange, Table, TableName
from cdcwire.registry import get_format
from cdcwire_conformance.compare.feed import ComparedFeed, FeedFacts, OpenedFeed
from cdcwire_conformance.compare.rules import (
    DEFAULT_OPTIONS,
    CompareOptions,
    Window,
)
from cdcwire_conformance.decode.surveying import Only, Survey
from cdcwire_conformance.sources.kafka_url import OffsetRange
from cdcwire_conformance.sources.source_urls import Source, parse_source
from cdcwire_conformance.spark.follow.following import (
    FollowOptions,
    WindowComparison,
    follow_feeds,
)
from cdcwire_conformance.spark.follow.report import terms_text, window_text
from cdcwire_conformance.spark.follow.scanning import scan


class TopicsOfDdl:
    """Two topics of Craft messages with DDL and resolved events only, in place of a broker."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.messages: list[list[KafkaMessage]] = [[], []]
        for name, fake in {
            "topic_at_rest": lambda _, topic: topic.with_ranges((OffsetRange(0, 0, 0),)),
            "topic_edges": lambda _, topic: (
                None,
                {0: (0, len(self.messages["ab".index(topic.topic)]))},
            ),
            "scan_records": lambda _, source, ranges, job: list(
                scan(replace(job, records_of_block=1), self.located(source, ranges))
            ),
        }.items():
            monkeypatch.setattr(f"cdcwire_conformance.spark.follow.following.{name}", fake)
        monkeypatch.setattr(ComparedFeed, "open", lambda feed, *_: OpenedFeed(feed))
        monkeypatch.setattr(
            OpenedFeed, "described", lambda feed, *asked, **_: self.described(feed, *asked)
        )

    def located(
        self, source: Source, ranges: Sequence[OffsetRange]
    ) -> list[tuple[MessagePlace, KafkaMessage]]:
        assert source.topic is not None
        (asked,) = ranges
        messages = self.messages["ab".index(source.topic.topic)]
        return [
            (MessagePlace(source.topic.topic, 0, offset), messages[offset])
            for offset in range(asked.start, asked.end)
        ]

    def described(
        self, feed: OpenedFeed, _: CompareOptions, only: Only
    ) -> tuple[OpenedFeed, dict[TableName, CanonicalTable]]:
        topic = feed.source.topic
        assert topic is not None
        assert topic.ranges is not None
        survey = Survey(get_format("craft"), Context(), None, "stop", False, False, only)
        others = survey.found(self.located(feed.source, topic.ranges)).others
        return replace(feed, facts=FeedFacts(others)), {}

    def send(self, side: int, resolved: int, *statements: tuple[int, str]) -> None:
        """Send DDL events at their positions, and then a resolved event."""
        orders = Table("orders", "shop")
        events: list[Event] = [
            SchemaChange("alter", query, 5, orders, Position(commit_ts=at))
            for at, query in statements
        ]
        events.append(Progress("resolved", Position(commit_ts=resolved)))
        messages = get_format("craft").from_events(events)
        self.messages[side] += [each for each in messages if isinstance(each, KafkaMessage)]

    def followed(self, options: CompareOptions) -> list[WindowComparison]:
        """Follow both topics up to their end."""
        left, right = (
            ComparedFeed(parse_source(f"craft:kafka://127.0.0.1:9/{name}")) for name in "ab"
        )
        spark: Any = None
        return list(follow_feeds(spark, left, right, options, FollowOptions(every=0.001)))


UNTIL_100 = replace(DEFAULT_OPTIONS, window=Window(None, 100))
ADD, DROP = "ALTER TABLE orders ADD n int", "ALTER TABLE orders DROP n"


def test_ddl_events_are_compared_in_the_window_of_their_position(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topics = TopicsOfDdl(monkeypatch)
    topics.send(0, 100, (10, ADD), (10, ADD), (20, DROP))  # as TiCDC repeats it
    topics.send(1, 100, (10, ADD))
    (window,) = topics.followed(replace(UNTIL_100, ddl_events=True))
    assert window.comparison.ddl == (2, 1)
    (found,) = window.comparison.ddl_differences
    assert (found.side, found.place, found.statement.text) == (
        "left",
        "shop.orders at commit_ts 20",
        DROP,
    )
    assert not window.is_equal
    lines = window_text(window).splitlines()
    assert lines[0].endswith("DIFFERENT: 1 DDL event of one side")
    assert lines[1:] == [
        "  DDL events (2 on the left, 1 on the right)",
        f"  only left: shop.orders at commit_ts 20: {DROP}",
    ]


def test_equal_ddl_events_make_a_window_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = TopicsOfDdl(monkeypatch)
    for side in (0, 1):
        topics.send(side, 100, (10, ADD))
    (window,) = topics.followed(replace(UNTIL_100, ddl_events=True))
    assert window.is_equal
    assert window_text(window).splitlines()[0].endswith(": EQUAL: 1 DDL event")
    assert "DDL" in terms_text(window)


def test_ddl_event_below_a_reported_position_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = TopicsOfDdl(monkeypatch)
    topics.send(0, 50, (10, ADD))
    topics.send(1, 50, (10, ADD))
    left, right = (ComparedFeed(parse_source(f"craft:kafka://127.0.0.1:9/{name}")) for name in "ab")
    spark: Any = None
    options = replace(DEFAULT_OPTIONS, ddl_events=True)
    windows = follow_feeds(spark, left, right, options, FollowOptions(every=0.001))
    assert next(windows).is_equal
    topics.send(0, 100, (20, DROP))
    topics.send(1, 100)
    second = next(windows)
    assert second.left.late == 1
    assert second.left.lines == ("a[0]@2: a DDL event came late, commit_ts 20",)
    assert not second.is_equal


def test_ddl_events_do_not_count_without_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = TopicsOfDdl(monkeypatch)
    topics.send(0, 100, (10, ADD))
    topics.send(1, 100)
    assert topics.followed(UNTIL_100) == []
