"""Two topics of a real broker compared while they grow, window by window.

Needs the extra ``spark`` in addition to ``scenarios``; Spark's connector for Kafka is fetched once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cdcwire.core.message import KafkaMessage
from cdcwire.model.events import Image, RowChange
from cdcwire_evidence.scenarios.cluster import end_with_parent
from cdcwire_evidence.scenarios.containers import KafkaContainer
from cdcwire_evidence.scenarios.everywhere import topic_of
from cdcwire_evidence.scenarios.feeds import make_partitions
from cdcwire_evidence.scenarios.growing import (
    PARTITIONS,
    ROWS,
    STEPS,
    Growing,
    followed,
    position_of,
)
from cdcwire_evidence.scenarios.ledger import Counts, count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import ends_of, produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytest.importorskip("pyspark", reason="the extra spark is not installed")

pytestmark = [  # PySpark leaves its sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def with_quantity(change: RowChange) -> RowChange:
    """The change with another value in a column."""
    assert change.after is not None
    index = [column.name for column in change.after.columns].index("quantity")
    values = list(change.after.values)
    values[index] = 1 if values[index] is None else values[index] ^ 1
    return replace(change, after=replace(change.after, values=tuple(values)))


def counts_of(window: Any) -> Any:
    (table,) = window.comparison.tables
    return table.counts


def test_followed_topics_are_masked_and_measured(
    kafka: Kafka, new_name: NewName, tmp_path: Path
) -> None:
    with recorded(
        "spark/follow-masked",
        "two topics compared while they grow, with masked values and metrics",
        "The command follows two topics. One value differs. The text and the JSON lines have "
        "hashes in place of all values, and the file of metrics has the counts of the window.",
    ):
        growing = Growing(kafka, new_name)
        changes = list(growing.steps[0])
        at = next(number for number, each in enumerate(changes) if each.op == "insert")
        changes[at] = with_quantity(changes[at])
        growing.send(0, 0)
        growing.send(1, 0, changes)
        lines, metrics = tmp_path / "windows.jsonl", tmp_path / "metrics.prom"
        words = ["--follow", "--windows", "1", "--every", "1", "--mask"]
        words += ["--json", str(lines), "--metrics", str(metrics)]
        command = [sys.executable, "-m", "cdcwire_conformance", "compare", *growing.sources]
        done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=500)
        assert done.returncode == 1, done.stderr
        (window,) = map(json.loads, lines.read_text("utf-8").splitlines())
        (difference,) = window["comparison"]["tables"][0]["differences"]
        (column,) = difference["columns"]
        assert column["column"] == "quantity"
        (key,) = difference["key"]
        for value in (column["left"], column["right"], key):
            assert "masked" in value
            assert "value" not in value
        assert "<masked " in done.stdout
        found = metrics.read_text("utf-8").splitlines()
        for side in ("left", "right"):
            assert f'cdcwire_compare_rows_total{{side="{side}"}} {len(changes)}' in found
            assert f'cdcwire_compare_lag_records{{side="{side}"}} 0' in found
        assert "cdcwire_compare_differences_total 1" in found
        assert 'cdcwire_compare_windows_total{result="different"} 1' in found


def test_each_difference_is_reported_in_its_window(
    kafka: Kafka, new_name: NewName, spark: SparkSession
) -> None:
    with recorded(
        "spark/follow",
        "two topics compared while they grow",
        "A topic of Craft and one of Open Protocol get the same changes step by step, with "
        "resolved events behind each. One step lacks a row on one side and has another value in "
        "one: just these are named, in the window of that step, and the next windows are equal "
        "again. A side that stands still holds the windows back, and nothing is called lost. A row "
        "that comes after the resolved event of its time is reported as late, with its offset.",
    ) as result:
        growing = Growing(kafka, new_name)
        windows = followed(growing, spark)
        reported = []

        growing.send_both(0)
        reported.append(next(windows))
        assert reported[-1].is_equal
        assert (reported[-1].number, reported[-1].start) == (1, None)

        inserts = [each for each in growing.steps[1] if each.op == "insert"]
        lost, changed = inserts[:2]
        spoiled = [
            with_quantity(each) if each is changed else each
            for each in growing.steps[1]
            if each is not lost
        ]
        growing.send(0, 1)
        growing.send(1, 1, spoiled)
        reported.append(next(windows))
        counts = counts_of(reported[-1])
        assert (counts.only_left, counts.changed, counts.differing) == (1, 1, 2)
        assert counts.same == len(growing.steps[1]) - 2
        (table,) = reported[-1].comparison.tables
        named = {each.verdict: dict(each.key)["id"].text for each in table.differences}
        assert lost.after is not None
        assert changed.after is not None
        assert named == {
            "only left": str(lost.after["id"]),
            "changed": str(changed.after["id"]),
        }

        growing.send_both(2)
        reported.append(next(windows))
        assert reported[-1].is_equal

        growing.send(0, 3)
        growing.send(0, 4)
        held = [time.monotonic()]

        def go_on() -> None:
            time.sleep(3)
            held.append(time.monotonic())
            growing.send(1, 3)

        frozen = threading.Thread(target=go_on)
        frozen.start()
        reported.append(next(windows))
        frozen.join()
        assert time.monotonic() > held[1] > held[0]
        assert reported[-1].is_equal
        assert counts_of(reported[-1]).left == len(growing.steps[3])  # not those of step 4

        late = growing.steps[0][0]
        at = ends_of(kafka, growing.topics[1])[growing.partition_of(late)]
        growing.send(1, 4, [late, *growing.steps[4]])
        reported.append(next(windows))
        assert reported[-1].comparison.is_equal
        assert not reported[-1].is_equal
        assert (reported[-1].left.late, reported[-1].right.late) == (0, 1)
        (line,) = reported[-1].right.lines
        assert line.startswith(f"{growing.topics[1]}[{growing.partition_of(late)}]@{at}: ")
        assert f"came late, commit_ts {position_of(late)}" in line

        growing.send_both(5)
        reported.append(next(windows))
        assert reported[-1].is_equal
        assert [each.number for each in reported] == list(range(1, STEPS + 1))
        assert [each.start for each in reported[1:]] == [each.end for each in reported[:-1]]
        sent = sum(map(len, growing.steps))
        assert sum(each.changes for each in reported) == sent
        result.counts = Counts(
            sent=sent,
            received=sum(counts_of(each).right for each in reported),
            repeated=0,
            lost=sum(counts_of(each).only_left for each in reported),
            invented=sum(counts_of(each).only_right for each in reported),
            out_of_order=sum(each.right.late for each in reported),
        )
        result.figures = {
            "windows": len(reported),
            "changed": sum(counts_of(each).changed for each in reported),
        }
        assert (result.counts.lost, result.counts.out_of_order) == (1, 1)


def test_new_columns_and_bad_messages_while_followed(
    kafka: Kafka, new_name: NewName, spark: SparkSession
) -> None:
    from cdcwire_conformance.compare.rules import CompareOptions

    with recorded(
        "spark/follow-widened",
        "new columns and a bad message while two topics are followed",
        "A table gets a column on both sides, which is equal, then on one side, which is not. "
        "A message that is none of the format is named with its offset, and its window is not "
        "called equal, though all rows are.",
    ) as result:
        growing = Growing(kafka, new_name, 4)
        windows = followed(growing, spark, CompareOptions(on_error="row"), records=7)
        growing.send_both(0)
        # No window before the resolved events, though few are read at a time.
        reported = [next(windows)]

        wider = [with_column(each) for each in growing.steps[1]]
        bad = ends_of(kafka, growing.topics[1])[0]
        assert produce(kafka, growing.topics[1], [KafkaMessage(None, b"\xff")]) == []
        for side in (0, 1):
            growing.send(side, 1, wider)
        reported.append(next(windows))
        assert reported[-1].comparison.is_equal
        assert (reported[-1].left.unreadable, reported[-1].right.unreadable) == (0, 1)
        (line,) = reported[-1].right.lines
        assert line.startswith(f"{growing.topics[1]}[0]@{bad}: ")

        growing.send(0, 2, [with_column(each) for each in growing.steps[2]])
        growing.send(1, 2)
        reported.append(next(windows))
        counts = counts_of(reported[-1])
        assert counts.changed + counts.only_left + counts.only_right > 0  # absent is no value

        growing.send_both(3)
        reported.append(next(windows))
        assert [each.changes for each in reported] == [len(each) for each in growing.steps]
        assert [each.is_equal for each in reported] == [True, False, False, True]
        result.figures = {"windows": len(reported)}


def with_column(change: RowChange) -> RowChange:
    """The change in a table that has one more column."""
    images: list[Image | None] = []
    for image in (change.before, change.after):
        if image is None:
            images.append(None)
            continue
        index = image.names.index("quantity")
        added = replace(image.columns[index], name="quantity_2")
        images.append(
            replace(
                image,
                columns=(*image.columns, added),
                values=(*image.values, image.values[index]),
            )
        )
    return replace(change, before=images[0], after=images[1])


def test_killed_follower_reports_each_window_once(
    kafka: Kafka, new_name: NewName, tmp_path: Path
) -> None:
    with recorded(
        "spark/follow-killed",
        "a follower of two topics, killed and started again",
        "cdcwire compare --follow keeps its state in a file. It is killed between two windows, and "
        "again while it compares one, and more comes meanwhile. Started again it tells each window "
        "once, none is left out, and all changes are in one of them. SIGTERM ends it with 0.",
    ) as result:
        growing = Growing(kafka, new_name)
        state, reported = tmp_path / "state.json", tmp_path / "windows.jsonl"
        growing.send_both(0)
        with Follower(growing, state, reported, tmp_path / "log") as follower:
            follower.wait_for(lambda: len(lines_of(reported)) == 1)
            os.killpg(follower.process.pid, signal.SIGKILL)
        growing.send_both(1)
        with Follower(growing, state, reported, tmp_path / "log") as follower:
            follower.wait_for(lambda: len(lines_of(reported)) == 2)
            growing.send_both(2)
            follower.wait_for(lambda: planned_in(state) is not None)
            os.killpg(follower.process.pid, signal.SIGKILL)
        planned = planned_in(state)
        growing.send_both(3)  # not a part of the window that was planned
        with Follower(growing, state, reported, tmp_path / "log") as follower:
            follower.wait_for(lambda: len(lines_of(reported)) == 4)
            follower.process.terminate()
            assert follower.process.wait(60) == 0
            said = (tmp_path / "log").read_text("utf-8")
        windows = lines_of(reported)
        result.counts = count(
            {"changes": list(range(sum(map(len, growing.steps[:4]))))},
            {"changes": list(range(sum(map(changes_of, windows))))},
        )
        result.figures = {"windows": len(windows), "killed": 2}
        assert [each["window"] for each in windows] == [1, 2, 3, 4]
        assert [each["start"] for each in windows[1:]] == [each["end"] for each in windows[:-1]]
        assert windows[2]["end"] == str(planned)
        assert [changes_of(each) for each in windows] == [len(each) for each in growing.steps[:4]]
        assert all(each["equal"] for each in windows)
        assert "EQUAL: 2 windows, " in said.splitlines()[-1]


def changes_of(window: dict[str, Any]) -> int:
    (table,) = window["comparison"]["tables"]
    return int(table["counts"]["same"])


def lines_of(file: Path) -> list[dict[str, Any]]:
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def planned_in(state: Path) -> int | None:
    planned: int | None = json.loads(state.read_text("utf-8"))["planned"]
    return planned


class Follower:
    """A process of ``cdcwire compare --follow``, in a separate process group."""

    def __init__(self, growing: Growing, state: Path, reported: Path, log: Path) -> None:
        self._log = log
        self._words = [
            sys.executable,
            *("-m", "cdcwire_conformance", "compare", *growing.sources, "--follow"),
            *("--every", "0.3", "--state", str(state), "--json", str(reported)),
            *("--master", "local[2]", "--conf", "spark.driver.memory=1g"),
            *("--conf", "spark.sql.shuffle.partitions=2"),
        ]

    def __enter__(self) -> Follower:
        with self._log.open("wb") as out:
            self.process = subprocess.Popen(
                self._words,
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=end_with_parent,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def wait_for(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + 240
        while not is_so():
            assert self.process.poll() is None, self._log.read_text("utf-8", "replace")[-2000:]
            assert time.monotonic() < end, self._log.read_text("utf-8", "replace")[-2000:]
            time.sleep(0.005)


def test_follower_waits_for_a_broker_that_was_killed(
    own_broker: KafkaContainer, new_name: NewName, spark: SparkSession
) -> None:
    with recorded(
        "spark/follow-broker",
        "the broker killed while two topics are followed",
        "The broker is ended by SIGKILL between two windows and started again seconds later. The "
        "follower waits, and the next window is equal.",
    ) as result:
        growing = Growing(own_broker.service, new_name, 2)
        windows = followed(growing, spark)
        growing.send_both(0)
        reported = [next(windows)]
        own_broker.kill()

        def go_on() -> None:
            time.sleep(3)
            own_broker.restart()
            own_broker.wait()
            growing.send_both(1)

        restarting = threading.Thread(target=go_on)
        restarting.start()
        reported.append(next(windows))
        restarting.join()
        sent = [len(each) for each in growing.steps]
        assert [each.changes for each in reported] == sent
        assert all(each.is_equal for each in reported)
        result.counts = count(
            {"changes": list(range(sum(sent)))},
            {"changes": list(range(sum(each.changes for each in reported)))},
        )
        result.figures = {"windows": len(reported)}


@pytest.mark.parametrize(
    ("left", "right", "position"),
    [
        ("datahub-tuple", "datahub-blob", "sequence_id"),
        ("cdl-json", "debezium-json", "lsn"),
    ],
)
def test_formats_without_progress_go_by_their_rows(
    kafka: Kafka, new_name: NewName, spark: SparkSession, left: str, right: str, position: str
) -> None:
    from cdcwire_conformance.compare.feed import ComparedFeed
    from cdcwire_conformance.spark import parse_source
    from cdcwire_conformance.spark.follow.following import FollowOptions, follow_feeds

    with recorded(
        f"spark/follow-{left}-{right}",
        f"{left} and {right}, followed by {position}",
        "Formats that say nothing of their progress: the progress of both sides is given by "
        "their rows, and the last ones by nothing more that comes. Two windows have all rows, "
        "equal.",
    ) as result:
        feeds = []
        for name in (left, right):
            partitions = make_partitions(name, ROWS, PARTITIONS)
            url = topic_of(kafka, new_name(name), [partition.messages for partition in partitions])
            feeds.append(ComparedFeed(parse_source(f"{name}:{url}"), partitions[0].context))
        reported: list[Any] = []
        follow = FollowOptions(every=0.2, idle=2)
        windows = follow_feeds(spark, feeds[0], feeds[1], follow=follow)
        while sum(each.changes for each in reported) < ROWS:
            reported.append(next(windows))
        windows.close()  # type: ignore[attr-defined]
        assert all(each.is_equal for each in reported)
        assert {each.position for each in reported} == {position}
        # Without the wait for idle partitions the last rows would never be reported.
        assert len(reported) == 2
        result.figures = {
            "changes": sum(each.changes for each in reported),
            "windows": len(reported),
        }
