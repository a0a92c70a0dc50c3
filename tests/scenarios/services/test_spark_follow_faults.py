"""Topics that are made again, grow partitions or lose records while they are followed.

Needs the extra ``spark`` in addition to ``scenarios``; Spark's connector for Kafka is fetched once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cdcwire_conformance.sources.source_urls import SourceError
from cdcwire_evidence.scenarios.growing import Growing, followed
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import (
    add_partitions,
    ends_of,
    make_topic,
    remove_records,
    remove_topic,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark", reason="the extra spark is not installed")

pytestmark = [  # PySpark leaves its sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.parametrize("length", ["shorter", "longer"])
def test_topic_made_again_is_not_taken_for_the_one_that_was_read(
    kafka: Kafka, new_name: NewName, spark: SparkSession, tmp_path: Path, length: str
) -> None:
    with recorded(
        f"spark/follow-made-again-{length}",
        f"a topic is deleted and made again under a state file, {length} than it was",
        "Two topics are followed for a window, with a state file. Then one of them is deleted and "
        "made again, and gets other records. The follower that goes on with the state reports no "
        "window: one line says that the topic is another one.",
    ) as result:
        growing = Growing(kafka, new_name, 4)
        state = tmp_path / "state.json"
        growing.send_both(0)
        (first,) = followed(growing, spark, state=state, windows=1)
        assert first.is_equal
        before = ends_of(kafka, growing.topics[1])
        remove_topic(kafka, growing.topics[1])
        make_topic(kafka, growing.topics[1], growing.partitions)
        if length == "longer":
            for step in range(3):
                growing.send(1, step)
        growing.send(0, 1)
        growing.send(1, 1)
        after = ends_of(kafka, growing.topics[1])
        is_longer = all(after[number] > end for number, end in before.items())
        assert is_longer == (length == "longer")
        with pytest.raises(SourceError) as said:
            next(followed(growing, spark, state=state))
        result.figures = {"said": str(said.value)}
        assert str(said.value) == (
            f"right: {growing.topics[1]}: it was deleted and made again since it was read; "
            "begin without the state"
        )


def test_partitions_added_while_followed_are_read_from_their_beginning(
    kafka: Kafka, new_name: NewName, spark: SparkSession
) -> None:
    with recorded(
        "spark/follow-partitions-added",
        "topics get more partitions while they are followed",
        "After a window both topics get a third partition, which gets a third of the rows. The "
        "window after it waits until that partition has a resolved event on both sides, and has "
        "all rows, equal.",
    ) as result:
        growing = Growing(kafka, new_name, 3)
        waited: list[str] = []

        def note(text: str) -> None:
            if "partition 2" in text:
                waited.append(text)
                if growing.partitions == 2:
                    growing.partitions = 3
                    growing.send_both(1)

        windows = followed(growing, spark, report=note)
        growing.send_both(0)
        reported = [next(windows)]
        for topic in growing.topics:
            add_partitions(kafka, topic, 3)
        reported.append(next(windows))
        growing.send_both(2)
        reported.append(next(windows))
        sent = [len(each) for each in growing.steps]
        result.counts = count(
            {"changes": list(range(sum(sent)))},
            {"changes": list(range(sum(each.changes for each in reported)))},
        )
        result.figures = {"windows": len(reported), "said": waited[0]}
        assert [each.changes for each in reported] == sent
        assert all(each.is_equal for each in reported)
        assert result.counts.is_exact
        assert all(end > 1 for end in ends_of(kafka, growing.topics[0]).values())


def test_retention_is_noticed_only_where_records_were_not_compared(
    kafka: Kafka, new_name: NewName, spark: SparkSession
) -> None:
    with recorded(
        "spark/follow-retention",
        "records are removed while topics are followed",
        "The broker removes the records of a window that was reported: the next window is equal. "
        "Then it removes records of one side that wait for the other side: no window is reported "
        "any more, and one line names the partition and the offsets.",
    ) as result:
        growing = Growing(kafka, new_name, 4)
        windows = followed(growing, spark, records=1_000)
        growing.send_both(0)
        reported = [next(windows)]
        for topic in growing.topics:
            for partition, end in ends_of(kafka, topic).items():
                remove_records(kafka, topic, end, partition)
        growing.send_both(1)
        reported.append(next(windows))
        assert [each.changes for each in reported] == [len(each) for each in growing.steps[:2]]
        assert all(each.is_equal for each in reported)
        topic = growing.topics[0]
        begin = ends_of(kafka, topic)[0]
        growing.send(0, 2)
        end = ends_of(kafka, topic)[0]
        remove_records(kafka, topic, end)
        growing.send(1, 2)
        with pytest.raises(SourceError) as said:
            next(windows)
        result.figures = {"windows": len(reported), "said": str(said.value)}
        assert str(said.value) == (
            f"left: {topic}: partition 0 begins at {end} now; records from {begin} on were not "
            "compared, and the broker has removed them"
        )
