"""Following two topics: watermarks, which records a window needs, and the state. No Kafka here."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra spark is not installed")

from cdcwire.arrow.schema import CanonicalTable, canonical_table
from cdcwire.core.context import Context
from cdcwire.model.events import TableName
from cdcwire_conformance.compare.feed import ComparedFeed, FeedFacts, OpenedFeed
from cdcwire_conformance.compare.meaning import Meaning
from cdcwire_conformance.compare.result import Comparison, Counts, TableComparison
from cdcwire_conformance.compare.rules import (
    DEFAULT_OPTIONS,
    CompareOptions,
    Window,
)
from cdcwire_conformance.sources.kafka_url import KafkaTopic, OffsetRange
from cdcwire_conformance.sources.source_urls import Source, SourceError, parse_source
from cdcwire_conformance.spark.follow.following import (
    FollowOptions,
    FollowStatus,
    WindowComparison,
    follow_feeds,
)
from cdcwire_conformance.spark.follow.scanning import ScanJob
from cdcwire_conformance.spark.follow.state_file import read_state, write_state
from cdcwire_conformance.spark.follow.watermarks import (
    BLOCKS,
    Block,
    Edges,
    FollowedPair,
    FollowState,
    Notices,
    ScannedRun,
    TopicProgress,
)
from cdcwire_conformance.spark.follow.watermarks import (
    PartitionProgress as Part,
)
from cdcwire_conformance.spark.reading.kafka import BrokersSilent
from cdcwire_generators.workloads import workload_tables

QUESTION = FollowedPair("craft:a", "open-protocol:b", "commit_ts", ("progress", "progress"))


def test_watermark_is_the_smallest_watermark_of_all_partitions() -> None:
    progress = TopicProgress((Part(0, 5, 70), Part(1, 5, 50), Part(2, 5, 60)))
    assert progress.watermark("progress") == progress.watermark("rows") == 50
    unknown = TopicProgress((Part(0, 5, 70), Part(1, 0)))
    assert unknown.watermark("progress") is unknown.watermark("rows") is None
    assert unknown.waits_for() == "partition 1"


def test_an_idle_partition_holds_nothing_back_by_the_rule_rows() -> None:
    progress = TopicProgress((Part(0, 5, 70), Part(1, 5, 50), Part(2, 0)))
    assert progress.watermark("rows", frozenset({1, 2})) == 70
    assert progress.watermark("rows", frozenset({0, 1, 2})) == 71  # nothing comes: the last row too
    assert progress.watermark("progress", frozenset({0, 1, 2})) is None
    assert TopicProgress((Part(0, 0),)).watermark("rows", frozenset({0})) is None


def test_the_shared_watermark_waits_for_both_sides() -> None:
    left, right = (
        TopicProgress((Part(0, 9, 80),)),
        TopicProgress((Part(0, 9, 30),)),
    )
    assert FollowState(QUESTION, (left, right)).shared_watermark() == 30
    assert FollowState(QUESTION, (left, TopicProgress((Part(0, 0),)))).shared_watermark() is None
    asked = replace(QUESTION, until=20)
    assert FollowState(asked, (left, right)).shared_watermark() == 20


def test_every_row_is_in_exactly_one_window() -> None:
    """Random rows, looked at in random pieces, each window read from the ranges it names."""
    for seed in range(30):
        random_ = random.Random(seed)
        topic = [sorted(random_.randrange(1000) for _ in range(200)) for _ in range(2)]
        for partition in topic:  # not quite in order
            for _ in range(20):
                at = random_.randrange(len(partition) - 1)
                partition[at], partition[at + 1] = partition[at + 1], partition[at]
        reported: list[tuple[int, int]] = []
        late = 0
        progress = TopicProgress(tuple(Part(number, 0) for number in range(2)))
        state = FollowState(replace(QUESTION, rules=("rows", "rows")), (progress, progress))
        edges = {number: (0, len(partition)) for number, partition in enumerate(topic)}
        while any(
            partition.read_to < len(topic[partition.number])
            for partition in state.topics[0].partitions
        ):
            progress = state.topics[0]
            ranges = progress.unread(edges, random_.randrange(1, 60))
            found = [seen_of(topic, each, state.start) for each in ranges]
            late += sum(each.late for each in found)
            progress = progress.with_runs(ranges, found)
            state = replace(state, topics=(progress, progress))
            state = state.with_plan(state.shared_watermark())
            if state.planned is not None:
                reported += window_of(topic, state)
                state = state.when_reported()
        state = state.with_plan(state.shared_watermark((frozenset({0, 1}), frozenset({0, 1}))))
        reported += window_of(topic, state)
        assert len(reported) == len(set(reported))
        assert len(reported) + late == sum(map(len, topic))


def seen_of(
    topic: list[list[int]], each: OffsetRange, start: int | None, since: int | None = None
) -> ScannedRun:
    rows = topic[each.partition][each.start : each.end]
    asked = [row for row in rows if since is None or row >= since]
    new = [row for row in asked if start is None or row >= start]
    return ScannedRun(
        each.partition,
        each.start,
        each.end,
        min(new, default=None),
        max(new, default=None),
        max(rows),
        len(asked) - len(new),
    )


def window_of(topic: list[list[int]], state: FollowState) -> list[tuple[int, int]]:
    """The rows of the planned window, by partition and offset."""
    assert state.planned is not None
    start = -1 if state.start is None else state.start
    return [
        (each.partition, offset)
        for each in state.topics[0].ranges_below(state.planned)
        for offset in range(each.start, each.end)
        if start <= topic[each.partition][offset] < state.planned
    ]


def test_memory_of_a_partition_does_not_grow() -> None:
    partition = Part(0, 0)
    for number in range(10 * BLOCKS):
        partition = partition.with_run(ScannedRun(0, number, number + 1, number, number, number))
    assert len(partition.blocks) <= BLOCKS
    assert partition.range_below(10 * BLOCKS) == OffsetRange(0, 0, 10 * BLOCKS)
    reported = partition.reported_below(5 * BLOCKS)
    assert reported.range_below(10 * BLOCKS).end == 10 * BLOCKS
    assert 4 * BLOCKS < reported.range_below(10 * BLOCKS).start <= 5 * BLOCKS


def test_no_window_without_rows_and_one_for_notices_alone() -> None:
    empty = TopicProgress((Part(0, 9, 80),))
    state = FollowState(QUESTION, (empty, empty), start=10)
    assert state.with_plan(80) is state
    late = replace(empty, notices=Notices(late=1, lines=("b[0]@3: late",)))
    planned = replace(state, topics=(empty, late)).with_plan(80)
    assert planned.planned == 80
    reported = planned.when_reported()
    assert (reported.start, reported.planned, reported.reported) == (80, None, 1)
    assert not reported.topics[1].notices
    # The last window is planned when there is nothing in it too, so that it comes to an end.
    last = FollowState(replace(QUESTION, until=80), (empty, empty), start=10).with_plan(80)
    assert last.when_reported(counts=False).is_over


def test_deleted_records_and_a_recreated_topic_are_reported() -> None:
    progress = TopicProgress((Part(0, 9, 80, (Block(4, 9, 1, 2),)),))
    assert progress.with_edges("t", {0: (4, 9), 1: (3, 7)}).partitions[1] == Part(1, 3)
    with pytest.raises(SourceError, match="t: partition 0 begins at 5 now; records from 4 on"):
        progress.with_edges("t", {0: (5, 9)})
    with pytest.raises(SourceError, match="another topic of this name"):
        progress.with_edges("t", {0: (0, 3)})
    with pytest.raises(SourceError, match="another topic of this name"):
        progress.with_edges("t", {})
    known = progress.with_edges("t", {0: (0, 9)}, "one")
    assert known.with_edges("t", {0: (0, 9)}) == known
    with pytest.raises(SourceError, match=r"^t: it was deleted and made again"):
        known.with_edges("t", {0: (0, 99)}, "another")
    with pytest.raises(SourceError, match="ends at 3: the brokers have lost records"):
        known.with_edges("t", {0: (0, 3)}, "one")


def test_state_is_written_whole_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    assert read_state(path) is None
    progress = TopicProgress(
        (Part(0, 9, 10**37, (Block(4, 9, 1, 10**37),)),), Notices(1, 2, 3, ("a",))
    )
    state = FollowState(
        replace(QUESTION, since=3),
        (progress, TopicProgress((Part(1, 2),))),
        5,
        10**37,
        7,
    )
    write_state(path, state)
    assert read_state(path) == state
    assert [each.name for each in tmp_path.iterdir()] == ["state.json"]
    document = json.loads(path.read_text("utf-8"))
    for spoiled in ("", "[]", json.dumps({**document, "follow": 0}), json.dumps({"follow": 1})):
        path.write_text(spoiled, "utf-8")
        with pytest.raises(SourceError, match="it is not a state file"):
            read_state(path)


class Topics:
    """Two topics of plain positions in place of a broker, and all that would read them.

    ``rows``: of each side, the positions of each partition's records, one row each.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows: list[list[list[int]]] = [[[], []], [[], []]]
        self.looked: list[tuple[str, int]] = []  # the side, and how many records
        (defined,) = workload_tables("orders-10")
        table = canonical_table(defined)
        self.tables: dict[TableName, CanonicalTable] = {(table.schema, table.table): table}
        for name, fake in {
            "topic_at_rest": self.at_rest,
            "topic_edges": lambda _, topic: (self.topic_id, self.edges_of(topic)),
            "scan_records": self.scan_records,
            "compare_tables": self.compared,
        }.items():
            monkeypatch.setattr(f"cdcwire_conformance.spark.follow.following.{name}", fake)
        monkeypatch.setattr(ComparedFeed, "open", lambda feed, *_: OpenedFeed(feed))
        monkeypatch.setattr(OpenedFeed, "described", lambda feed, *_, **__: (feed, self.tables))

    topic_id: str | None = "first"

    def partitions_of(self, topic: KafkaTopic) -> list[list[int]]:
        return self.rows["ab".index(topic.topic)]

    def edges_of(self, topic: KafkaTopic) -> Edges:
        return {
            number: (0, len(partition))
            for number, partition in enumerate(self.partitions_of(topic))
        }

    def at_rest(self, _: object, topic: KafkaTopic) -> KafkaTopic:
        partitions = enumerate(self.partitions_of(topic))
        return topic.with_ranges(
            tuple(OffsetRange(number, 0, len(partition)) for number, partition in partitions)
        )

    def scan_records(
        self, _: object, source: Source, ranges: Sequence[OffsetRange], look: ScanJob
    ) -> list[ScannedRun]:
        assert source.topic is not None
        self.looked.append((source.topic.topic, sum(each.end - each.start for each in ranges)))
        partitions = self.partitions_of(source.topic)
        return [seen_of(partitions, each, look.reported_to, look.since) for each in ranges]

    def compared(
        self, _: object, left: OpenedFeed, right: OpenedFeed, *asked: Any, report: Any
    ) -> Comparison:
        window = asked[2].window
        rows = []
        for feed in (left, right):
            assert feed.source.topic is not None
            assert feed.source.topic.ranges is not None
            partitions = self.partitions_of(feed.source.topic)
            found = [
                at
                for each in feed.source.topic.ranges
                for at in partitions[each.partition][each.start : each.end]
            ]
            start = -1 if window.start is None else window.start
            rows.append(Counter(at for at in found if start <= at < window.end))
        same = (rows[0] & rows[1]).total()
        totals = [each.total() for each in rows]
        counts = Counts(
            left_rows=totals[0],
            right_rows=totals[1],
            left=totals[0],
            right=totals[1],
            same=same,
            only_left=totals[0] - same,
            only_right=totals[1] - same,
        )
        return Comparison("a", "b", (TableComparison("t", counts),))

    def followed(
        self,
        follow: FollowOptions,
        options: CompareOptions = DEFAULT_OPTIONS,
        observe: Callable[[FollowStatus], None] = lambda status: None,
    ) -> Iterator[WindowComparison]:
        left, right = (
            ComparedFeed(parse_source(f"craft:kafka://127.0.0.1:9/{name}"), Context())
            for name in "ab"
        )
        spark: Any = None
        follow = replace(follow, every=0.001, by_rows=True)
        return follow_feeds(spark, left, right, options, follow, observe=observe)


def test_side_that_is_ahead_is_not_read_and_its_rows_are_reported_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topics = Topics(monkeypatch)
    topics.rows = [[[*range(100)], [*range(100)]], [[*range(10)], [*range(10)]]]
    windows = topics.followed(FollowOptions())
    first = next(windows)
    assert (first.number, first.start, first.end, first.changes) == (1, None, 9, 18)
    topics.looked.clear()
    topics.rows[1] = [[*range(50)], [*range(40)]]
    second = next(windows)
    assert (second.start, second.end, second.changes) == (9, 39, 60)
    assert topics.looked == [("b", 70)]
    topics.rows[1] = [[*range(100)], [*range(40), *range(41, 100)]]
    third = next(windows)
    (table,) = third.comparison.tables
    assert table.counts is not None
    assert (third.end, table.counts.only_left) == (99, 1)
    assert first.is_equal
    assert second.is_equal
    assert not third.is_equal


def test_status_has_the_lag_and_the_position_of_each_side(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = Topics(monkeypatch)
    topics.rows = [[[*range(100)], [*range(100)]], [[*range(10)], [*range(10)]]]
    seen: list[FollowStatus] = []
    windows = topics.followed(FollowOptions(windows=1), observe=seen.append)
    assert [each.end for each in windows] == [9]
    before, after = seen[0], seen[-1]
    assert (before.position, before.lags) == (None, (200, 20))
    assert (after.position, after.position_name) == (9, "commit_ts")
    assert after.watermarks == (99, 9)
    # The last row of the right topic's partitions waits for the next one.
    assert after.lags[1] is not None
    assert 2 <= after.lags[1] <= 20
    assert after.lags[0] is not None
    assert 182 <= after.lags[0] <= 200


def test_late_rows_are_repeats_only_where_rows_do_not_mark_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topics = Topics(monkeypatch)
    topics.rows = [[[*range(10)], [*range(10)]] for _ in "ab"]
    windows = topics.followed(FollowOptions(), replace(DEFAULT_OPTIONS, allow_repeats=True))
    assert next(windows).is_equal
    topics.rows = [[[*range(20), 3], [*range(20)]], [[*range(20)], [*range(20)]]]
    found = next(windows)
    assert (found.left.late, found.is_equal) == (1, False)
    assert replace(found, allows_repeats=True).is_equal


def test_column_that_no_table_has_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = Topics(monkeypatch)
    topics.rows = [[[*range(10)], [*range(10)]] for _ in "ab"]
    found = next(
        topics.followed(FollowOptions(), replace(DEFAULT_OPTIONS, columns=frozenset({"pirce"})))
    )
    assert found.comparison.differences == ("no table so far has a column pirce",)
    assert not found.is_equal


def test_included_table_without_rows_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = Topics(monkeypatch)
    topics.rows = [[[*range(10)], [*range(10)]] for _ in "ab"]
    include = frozenset({*topics.tables, ("shop", "oredrs")})
    found = next(topics.followed(FollowOptions(), replace(DEFAULT_OPTIONS, include=include)))
    assert found.unseen == ("--include: no feed has rows of shop.oredrs so far",)
    assert found.is_equal


def test_column_of_another_option_that_no_table_has_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topics = Topics(monkeypatch)
    topics.rows = [[[*range(10)], [*range(10)]] for _ in "ab"]
    [table] = topics.tables.values()
    known = next(name for name in table.column_names if name not in (table.key or ()))
    meaning = Meaning(
        ignored=frozenset({"pirce", known}),
        as_text=frozenset({"shop.oredrs.total"}),
        precision={known: 0},
    )
    found = next(topics.followed(FollowOptions(), replace(DEFAULT_OPTIONS, meaning=meaning)))
    assert found.unseen == (
        "--ignore-column: no table has a column pirce so far; did you mean 'price'?",
        "--as-text: no table has a column shop.oredrs.total so far; did you mean "
        "'shop.orders.note'?",
        f"--precision: no table has a column {known} of times so far",
    )
    assert found.is_equal


def test_excluded_table_is_named_until_a_window_has_its_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topics = Topics(monkeypatch)
    rows: dict[TableName, int] = {}
    monkeypatch.setattr(
        OpenedFeed,
        "described",
        lambda feed, *_, **__: (replace(feed, facts=FeedFacts(rows=dict(rows))), topics.tables),
    )
    meaning = Meaning(excluded=frozenset({("shop", "log")}))
    windows = topics.followed(FollowOptions(), replace(DEFAULT_OPTIONS, meaning=meaning))
    seen = []
    for end in (10, 20, 30):
        topics.rows = [[[*range(end)], [*range(end)]] for _ in "ab"]
        seen.append(next(windows).unseen)
        rows = {("shop", "log"): 1} if end == 10 else {}
    assert seen == [("--exclude: no feed has rows of shop.log so far",), (), ()]


def test_few_records_at_a_time_and_the_last_rows_when_all_is_idle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topics = Topics(monkeypatch)
    topics.rows = [[[*range(0, 100, 2)], [*range(1, 100, 2)]] for _ in "ab"]
    reported = []
    for window in topics.followed(FollowOptions(records=10, idle=0.1)):
        reported.append(window)
        if sum(each.changes for each in reported) == 100:
            break
    assert all(each.is_equal for each in reported)
    assert len(reported) > 5
    assert reported[-1].end == 100
    assert all(records <= 11 for _, records in topics.looked)


def test_from_and_to_bound_what_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = Topics(monkeypatch)
    topics.rows = [[[*range(5, 100)], [*range(5, 100)]], [[*range(100)], [*range(100)]]]
    options = replace(DEFAULT_OPTIONS, window=Window(20, 60))
    reported = list(topics.followed(FollowOptions(), options))  # it comes to an end
    assert [(each.start, each.end, each.changes, each.is_equal) for each in reported] == [
        (20, 60, 80, True)
    ]


def test_unreported_window_is_the_same_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    topics = Topics(monkeypatch)
    topics.rows = [[[*range(50)], [*range(50)]] for _ in "ab"]
    follow = FollowOptions(state=tmp_path / "state", windows=2)
    windows = topics.followed(follow)
    found = next(windows)
    assert (found.number, found.end) == (1, 49)
    del windows  # as if it was killed before the window was reported
    topics.rows = [[[*range(80)], [*range(80)]] for _ in "ab"]
    again = list(topics.followed(follow))
    assert [(each.number, each.start, each.end) for each in again] == [(1, None, 49), (2, 49, 79)]
    topics.rows = [[[*range(90)], [*range(90)]] for _ in "ab"]
    third = next(topics.followed(follow))
    assert (third.number, third.start, third.end) == (3, 79, 89)
    assert third.is_equal
    with pytest.raises(SourceError, match="name another file"):
        next(topics.followed(follow, replace(DEFAULT_OPTIONS, window=Window(20, None))))


def test_topic_that_was_made_again_is_not_the_one_of_the_state(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    topics = Topics(monkeypatch)
    topics.rows = [[[*range(50)], [*range(50)]] for _ in "ab"]
    follow = FollowOptions(state=tmp_path / "state", windows=1)
    assert [each.end for each in topics.followed(follow)] == [49]
    topics.rows = [[[*range(80)], [*range(80)]] for _ in "ab"]
    windows = topics.followed(follow)
    assert next(windows).end == 79
    del windows  # as if it was killed before the window was reported: it is planned
    topics.topic_id = "second"
    with pytest.raises(SourceError, match="left: a: it was deleted and made again"):
        next(topics.followed(follow))


def test_brokers_that_do_not_answer_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = Topics(monkeypatch)
    topics.rows = [[[*range(50)], [*range(50)]] for _ in "ab"]
    answers = iter([False, True, False, False])

    def edges(_: object, topic: KafkaTopic) -> tuple[str | None, Edges]:
        if next(answers, True):
            return topics.topic_id, topics.edges_of(topic)
        raise BrokersSilent("no broker answers")

    monkeypatch.setattr("cdcwire_conformance.spark.follow.following.topic_edges", edges)
    found = next(topics.followed(FollowOptions()))
    assert (found.end, found.is_equal) == (49, True)
    assert next(answers, None) is None
    answers = iter([False] * 10**6)
    monkeypatch.setattr("cdcwire_conformance.spark.follow.following.BROKER_TIMEOUT_SECONDS", 0.01)
    with pytest.raises(BrokersSilent):
        next(topics.followed(FollowOptions()))
