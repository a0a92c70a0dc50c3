"""Spark reads topics of a real broker: the same DataFrames as of files, compared, with its faults.

Needs the extra ``spark`` in addition to ``scenarios``; Spark's connector for Kafka is fetched once.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, RowChange
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.cli import main
from cdcwire_evidence.loopback import free_port
from cdcwire_evidence.scenarios.everywhere import rows_by_message, topic_of
from cdcwire_evidence.scenarios.feeds import Dispatch, QueueFeed, events_of, make_partitions
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName
from cdcwire_evidence.scenarios.topics import make_topic, produce, producer, remove_records
from cdcwire_generators.workloads import workload, workload_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark", reason="the extra spark is not installed")

pytestmark = [  # PySpark leaves its sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

QUEUE_FORMATS = [name for name in FORMAT_NAMES if "queue" in get_format(name).carriers]
PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "spark-kafka.md"
ROWS = 60
PARTITIONS = 3
COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")


def test_example_of_the_page_counts_the_changes(
    kafka: Kafka, new_name: NewName, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    with recorded(
        "spark/page",
        "the example of the page for topics",
        "The code of the page reads a topic. It prints the changes of each kind.",
    ) as result:
        topic = new_name("page")
        (feed,) = make_partitions("craft", ROWS, 1)
        make_topic(kafka, topic)
        assert produce(kafka, topic, feed.messages) == []
        place = "broker1:9092,broker2:9092/orders"
        code = PAGE.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
        assert place in code
        exec(code.replace(place, f"{kafka.bootstrap}/{topic}"), {})
        shown = re.findall(r"\|(\w+) *\| +(\d+)\|", capsys.readouterr().out)
        found = Counter({op: int(number) for op, number in shown})
        wanted = Counter(
            event.op for event in events_of(feed, feed.messages) if isinstance(event, RowChange)
        )
        result.figures = dict(found)
        assert found == wanted


@pytest.mark.parametrize("format_name", QUEUE_FORMATS)
def test_topic_and_files_give_the_same_rows(
    kafka: Kafka, new_name: NewName, spark: SparkSession, tmp_path: Path, format_name: str
) -> None:
    from cdcwire_conformance.spark import decode_frame, describe_feed, open_source, parse_source

    with recorded(
        f"spark/{format_name}",
        f"{format_name} from a topic to a DataFrame",
        "A feed lies in a topic of three partitions and in files. Spark decodes both to the same "
        "rows, message by message, and knows partition and offset of each.",
    ) as result:
        partitions = make_partitions(format_name, ROWS, PARTITIONS)
        url = topic_of(kafka, new_name("spark"), [partition.messages for partition in partitions])
        for number, partition in enumerate(partitions):
            write_messages(str(tmp_path / f"{number}.jsonl"), partition.messages)
        context = partitions[0].context
        opened = open_source(spark, parse_source(f"{format_name}:{url}"), context)
        filed = open_source(spark, parse_source(f"{format_name}:file:{tmp_path}"), context)
        (described,) = describe_feed(spark, opened)
        assert describe_feed(spark, filed) == (described,)
        from_topic, from_files = (
            decode_frame(spark, source, described.table) for source in (opened, filed)
        )
        numbers = message_numbers(tmp_path)
        wanted = rows_by_message(from_files, lambda source: numbers[source.file, source.offset])
        found = rows_by_message(from_topic, lambda source: (source.partition, source.offset))
        result.counts = count(wanted, found)
        result.figures = {"rows": sum(map(len, found.values()))}
        assert result.counts.is_exact
        assert described.rows == sum(map(len, found.values())) >= ROWS


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("format_name", ["debezium-json", "maxwell-json", "canal-json"])
def test_format_of_a_topic_is_identified(
    kafka: Kafka, new_name: NewName, capsys: pytest.CaptureFixture[str], format_name: str
) -> None:
    with recorded(
        f"spark/identify-{format_name}",
        f"a topic of {format_name} is identified",
        "The format of a topic's messages is found from a sample that Spark reads; each reason "
        "names the partition and the offset.",
    ) as result:
        partitions = make_partitions(format_name, ROWS, PARTITIONS)
        messages = [partition.messages for partition in partitions]
        url = topic_of(kafka, new_name("identify"), messages)
        assert main(["identify", url]) == 0
        found = capsys.readouterr().out
        assert found.startswith(f"{format_name}: sure\n")
        assert "(partition 0, offset 0, " in found
        result.figures = {"messages": sum(map(len, messages))}


def message_numbers(folder: Path) -> dict[tuple[str, int], tuple[int, int]]:
    """Partition and offset of each line, by its file and its byte."""
    found = {}
    for file in folder.glob("*.jsonl"):
        at = 0
        for number, line in enumerate(file.read_bytes().splitlines(keepends=True)):
            found[str(file), at] = int(file.stem), number
            at += len(line)
    return found


def test_keys_values_and_headers_arrive_as_they_were_sent(
    kafka: Kafka, new_name: NewName, spark: SparkSession
) -> None:
    from cdcwire_conformance.decode.reading import messages_of_batches
    from cdcwire_conformance.sources.source_urls import parse_source
    from cdcwire_conformance.spark.reading.kafka import messages_of_records

    with recorded(
        "spark/compressions",
        "keys, values and headers in five compressions, read by Spark",
        "Null, empty and other keys, values and headers, and a value of 900,000 bytes, lie in five "
        "partitions, each in another of Kafka's compressions. Spark gets all of them as they were "
        "sent.",
    ) as result:
        sent = [
            KafkaMessage(key, value, headers)
            for key in (None, b"", b"k")
            for value in (None, b"", b"v")
            for headers in ((), (("h", b"1"), ("h", b"2"), ("empty", b"")))
        ]
        sent.append(KafkaMessage(b"large", bytes(range(250)) * 3600))
        name = new_name("headers")
        make_topic(kafka, name, len(COMPRESSIONS))
        for partition, compression in enumerate(COMPRESSIONS):
            assert produce(kafka, name, sent, partition, {"compression.type": compression}) == []
        source = parse_source(f"craft:kafka://{kafka.bootstrap}/{name}")
        records = messages_of_records(spark, source).orderBy("partition", "offset")
        got: dict[int, list[object]] = {}
        places = []
        for place, message in messages_of_batches(records.toArrow().to_batches()):
            assert place.partition is not None
            got.setdefault(place.partition, []).append(message)
            places.append((place.partition, place.offset))
        result.counts = count(dict.fromkeys(range(len(COMPRESSIONS)), sent), got)
        assert result.counts.is_exact
        assert places == [(n, m) for n in range(len(COMPRESSIONS)) for m in range(len(sent))]


def test_two_topics_are_compared(
    kafka: Kafka, new_name: NewName, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    with recorded(
        "spark/compare-topics",
        "two topics compared on Spark",
        "The same changes lie in a topic of Craft and in one of Open Protocol. cdcwire compare "
        "finds them equal, and names the offsets that it read.",
    ) as result:
        urls = [
            f"{name}:"
            + topic_of(
                kafka, new_name(name), [x.messages for x in make_partitions(name, ROWS, PARTITIONS)]
            )
            for name in ("craft", "open-protocol")
        ]
        assert main(["compare", *urls]) == 0
        said = capsys.readouterr().out
        assert f"EQUAL: {ROWS} changes of 1 table" in said
        assert f"left   {urls[0]}?from=0:0,1:0,2:0&to=0:" in said
        result.figures = {"changes": ROWS}


def test_feeds_that_are_dispatched_otherwise_are_equal(
    kafka: Kafka, new_name: NewName, spark: SparkSession
) -> None:
    from cdcwire_conformance.compare.feed import ComparedFeed
    from cdcwire_conformance.spark import parse_source
    from cdcwire_conformance.spark.compare.engine import compare_feeds

    with recorded(
        "spark/dispatch",
        "topics that are dispatched by key and by commit ts, compared",
        "The same changes lie in three partitions by the key of their rows, and in three by their "
        "commit ts, so that a row's changes are in any of them. Spark finds them equal.",
    ) as result:
        sides = []
        dispatches: tuple[tuple[str, Dispatch], ...] = (
            ("craft", "key"),
            ("open-protocol", "commit-ts"),
        )
        for name, dispatch in dispatches:
            partitions = make_partitions(name, ROWS, PARTITIONS, dispatch)
            url = topic_of(kafka, new_name(name), [partition.messages for partition in partitions])
            sides.append(ComparedFeed(parse_source(f"{name}:{url}"), partitions[0].context))
        found = compare_feeds(spark, sides[0], sides[1])
        (table,) = found.tables
        assert found.is_equal
        assert table.counts is not None
        assert table.counts.same == ROWS
        result.figures = {"changes": table.counts.same}


def test_planted_differences_are_named(
    kafka: Kafka, new_name: NewName, spark: SparkSession
) -> None:
    from cdcwire_conformance.compare.feed import ComparedFeed
    from cdcwire_conformance.spark import parse_source
    from cdcwire_conformance.spark.compare.engine import compare_feeds

    events = list(workload("orders-10", ROWS, 1, position_fields=("commit_ts",)))
    at = next(n for n, event in enumerate(events) if is_insert(event))
    lost = next(n for n, event in enumerate(events) if is_insert(event) and n > at)
    changed = [
        with_value(event, "quantity") if n == at else event for n, event in enumerate(events)
    ]
    sides = []
    for name, each in (("craft", events), ("open-protocol", changed[:lost] + changed[lost + 1 :])):
        feed = encoded(name, each)
        url = topic_of(kafka, new_name(name), [feed.messages])
        sides.append(ComparedFeed(parse_source(f"{name}:{url}"), feed.context))
    found = compare_feeds(spark, sides[0], sides[1])
    (table,) = found.tables
    assert table.counts is not None
    counts = table.counts
    assert (counts.changed, counts.only_left, counts.differing) == (1, 1, 2)
    assert counts.same == ROWS - 2
    verdicts = {each.verdict: each for each in table.differences}
    (column,) = verdicts["changed"].columns
    assert column.column == "quantity"
    for side in sides:
        assert side.source.topic is not None
    places = verdicts["changed"].left_place, verdicts["changed"].right_place
    topics = [side.source.topic.topic for side in sides if side.source.topic is not None]
    assert [place.topic for place in places if place is not None] == topics
    assert [place.partition for place in places if place is not None] == [0, 0]
    assert all(place is not None and place.offset is not None for place in places)


def is_insert(event: Event) -> bool:
    return isinstance(event, RowChange) and event.op == "insert"


def with_value(event: Event, name: str) -> Event:
    """The change with another value in a column of whole numbers."""
    assert isinstance(event, RowChange)
    assert event.after is not None
    index = [column.name for column in event.after.columns].index(name)
    values = list(event.after.values)
    assert isinstance(values[index], int | None)
    values[index] = 1 if values[index] is None else values[index] ^ 1
    return replace(event, after=replace(event.after, values=tuple(values)))


def encoded(format_name: str, events: Sequence[Event]) -> QueueFeed:
    context = Context(tables=workload_tables("orders-10"))
    messages = tuple(
        each
        for each in get_format(format_name).from_events(events, context=context)
        if isinstance(each, KafkaMessage)
    )
    return QueueFeed(format_name, messages, context)


def test_poisoned_messages_are_rows_with_their_offset(
    kafka: Kafka, new_name: NewName, spark: SparkSession
) -> None:
    from cdcwire_conformance.spark import (
        FeedError,
        decode_frame,
        describe_feed,
        errors_frame,
        good_rows,
        open_source,
        parse_source,
        readable_errors,
    )

    with recorded(
        "spark/poisoned",
        "poisoned messages in a topic, read by Spark",
        "Among good messages stand a cut one, an empty one and a foreign one. Each is an error row "
        "with its partition and offset, or stops the job with these; the good ones are read.",
    ) as result:
        partitions = make_partitions("craft", ROWS, PARTITIONS)
        spoiled = [list(partition.messages) for partition in partitions]
        first = spoiled[1][0].value
        assert first is not None
        spoiled[1].insert(1, KafkaMessage(None, first[:-1]))
        spoiled[2].insert(0, KafkaMessage(None, b""))
        spoiled[2].append(KafkaMessage(b"{}", b"<html>"))
        last = len(spoiled[2]) - 1
        topic = new_name("poisoned")
        source = parse_source(f"craft:{topic_of(kafka, topic, spoiled)}")
        opened = open_source(spark, source, partitions[0].context, "row")
        (described,) = describe_feed(spark, opened, on_error="row")
        frame = decode_frame(spark, opened, described.table, "row")
        bad = errors_frame(frame).orderBy("partition", "offset").collect()
        assert [(row.topic, row.partition, row.offset) for row in bad] == [
            (topic, 1, 1),
            (topic, 2, 0),
            (topic, 2, last),
        ]
        assert all(row.clause.startswith("craft: ") and row.problem for row in bad)
        assert good_rows(frame).count() == described.rows == ROWS
        with pytest.raises(FeedError, match=rf"{topic}\[[12]\]@\d+: byte "), readable_errors():
            decode_frame(spark, opened, described.table).collect()
        result.figures = {"rows": ROWS, "errors": len(bad)}


def test_part_of_a_topic_is_read_and_stays_the_same(
    kafka: Kafka, new_name: NewName, spark: SparkSession
) -> None:
    from cdcwire_conformance.spark import open_source, parse_source
    from cdcwire_conformance.spark.reading.kafka import messages_of_records

    name = new_name("ranges")
    url = topic_of(kafka, name, [[KafkaMessage(None, b"%d" % n) for n in range(6)]] * 2)

    def read(query: str) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {0: [], 1: []}
        source = parse_source(f"craft:{url}{query}")
        for row in messages_of_records(spark, source).orderBy("offset").collect():
            found[row.partition].append(row.offset)
        return found

    pause = time.time_ns() // 1_000_000 + 1
    time.sleep(0.05)
    whole = open_source(spark, parse_source(f"craft:{url}"), encoded("craft", []).context)
    assert produce(kafka, name, [KafkaMessage(None, b"late")] * 2, 1) == []
    assert read("?from=4&to=0:5") == {0: [4], 1: [4, 5, 6, 7]}
    assert read(f"?from-ms={pause}") == {0: [], 1: [6, 7]}
    assert read(f"?to-ms={pause}") == {0: [*range(6)], 1: [*range(6)]}
    assert read(f"?from=1:7&to-ms={pause + 10**9}") == {0: [*range(6)], 1: [7]}
    assert messages_of_records(spark, whole.source).count() == 12


def test_aborted_transactions_are_left_out_if_asked_for(
    kafka: Kafka, new_name: NewName, spark: SparkSession, tmp_path: Path
) -> None:
    from cdcwire_conformance.spark import parse_source
    from cdcwire_conformance.spark.reading.kafka import messages_of_records

    name, config = new_name("transactions"), tmp_path / "client.properties"
    make_topic(kafka, name)
    sender = producer(kafka, {"transactional.id": name, "delivery.timeout.ms": 30_000})
    sender.init_transactions(30)
    for value, commit in ((b"kept", True), (b"aborted", False), (b"kept too", True)):
        sender.begin_transaction()
        sender.produce(name, value)
        sender.flush(30)
        (sender.commit_transaction if commit else sender.abort_transaction)(30)
    config.write_text("# of this test\n\nisolation.level = read_committed\n")
    url = f"craft:kafka://{kafka.bootstrap}/{name}"
    everything, committed = (
        [bytes(row.value) for row in messages_of_records(spark, parse_source(text)).collect()]
        for text in (url, f"{url}?config={config}")
    )
    assert everything == [b"kept", b"aborted", b"kept too"]
    assert committed == [b"kept", b"kept too"]


def test_records_that_were_removed_are_missed(
    kafka: Kafka, new_name: NewName, spark: SparkSession
) -> None:
    from cdcwire_conformance.spark import (
        SourceError,
        SparkUnavailable,
        open_source,
        parse_source,
        readable_errors,
    )
    from cdcwire_conformance.spark.reading.kafka import messages_of_records

    name = new_name("removed")
    source = parse_source(f"craft:{topic_of(kafka, name, [[KafkaMessage(None, b'x')] * 5])}?from=0")
    opened = open_source(spark, source, encoded("craft", []).context)
    remove_records(kafka, name, 3)
    with (
        pytest.raises(SparkUnavailable, match="Some data may have been lost") as caught,
        readable_errors(),
    ):
        messages_of_records(spark, opened.source).collect()
    assert str(caught.value).startswith("Spark's job failed: KafkaIllegalStateException: Some data")
    assert "\n" not in str(caught.value)
    with pytest.raises(SourceError, match="partition 0 begins at 3 and ends before 5; from says 0"):
        open_source(spark, source, encoded("craft", []).context)


def test_tuple_topic_of_no_table_is_reported(
    kafka: Kafka, new_name: NewName, spark: SparkSession
) -> None:
    from cdcwire_conformance.spark import SourceError, open_source, parse_source

    (first,) = workload_tables("orders-10")
    context = Context(tables=(first, replace(first, name="items")))
    url = topic_of(kafka, new_name("strange"), [[]])
    with pytest.raises(
        SourceError, match=r"is not named like a table: name the table \(option table\)"
    ):
        open_source(spark, parse_source(f"datahub-tuple:{url}"), context)
    chosen = replace(context, options={"table": "items"})
    opened = open_source(spark, parse_source(f"datahub-tuple:{url}"), chosen)
    assert opened.source.topic is not None
    (known,) = opened.source.topic.ranges or ()
    assert known[:3] == (0, 0, 0)


def test_topics_of_a_pattern_are_one_feed(
    kafka: Kafka, new_name: NewName, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with recorded(
        "spark/topics-by-pattern",
        "topics whose names match a pattern are compared as one feed",
        "The partitions of a feed are topics of their own. A pattern of their names selects them, "
        "and the comparison with a topic of all changes is equal. Without one topic, it differs.",
    ):
        prefix = new_name("by-pattern")
        for number, partition in enumerate(make_partitions("craft", ROWS, PARTITIONS)):
            topic = f"{prefix}.{number}"
            make_topic(kafka, topic)
            produce(kafka, topic, partition.messages)
        whole = make_partitions("open-protocol", ROWS, PARTITIONS)
        url = topic_of(kafka, new_name("whole"), [partition.messages for partition in whole])
        craft = f"craft:kafka://{kafka.bootstrap}"
        result = tmp_path / "found.json"
        arguments = ["compare", f"{craft}/{prefix}.*", f"open-protocol:{url}"]
        assert main([*arguments, "--json", str(result)]) == 0
        shown = capfd.readouterr().out
        assert f"/{prefix}.0,{prefix}.1,{prefix}.2?from={prefix}.0/0:0," in shown
        again = json.loads(result.read_text("utf-8"))["left"]
        assert main(["compare", again, f"open-protocol:{url}"]) == 0
        some = f"{craft}/{prefix}.0,{prefix}.2"
        assert main(["compare", some, f"open-protocol:{url}"]) == 1
        capfd.readouterr()
        for topics, problem in (
            (f"{prefix}x*", "no topic has a name like this"),
            (f"{prefix}.0,{prefix}.9", f"there is no topic {prefix}.9"),
        ):
            assert main(["compare", f"{craft}/{topics}", f"open-protocol:{url}"]) == 2
            assert problem in capfd.readouterr().err


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("?from=99", "partition 0 begins at 0 and ends before 3; from says 99"),
        ("?to=1:2", "to names partition 1; it has 1, counted from 0"),
        ("?from=2&to=1", "partition 0 is asked from 2 to 1, which is backwards"),
    ],
)
def test_missing_offsets_are_reported(
    kafka: Kafka, new_name: NewName, spark: SparkSession, query: str, problem: str
) -> None:
    from cdcwire_conformance.spark import SourceError, open_source, parse_source

    url = topic_of(kafka, new_name("short"), [[KafkaMessage(None, b"x")] * 3])
    with pytest.raises(SourceError, match=problem):
        open_source(spark, parse_source(f"craft:{url}{query}"), encoded("craft", []).context)


def test_topic_or_broker_that_is_not_there_is_one_line(
    kafka: Kafka,
    new_name: NewName,
    spark: SparkSession,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from cdcwire_conformance.spark.reading import kafka as asking

    monkeypatch.setattr(asking, "ANSWER_SECONDS", 2)
    problems: Mapping[str, str] = {
        f"kafka://{kafka.bootstrap}/{new_name('nobody')}": "there is no such topic; look at its",
        f"kafka://127.0.0.1:{free_port()}/orders": "no broker answers at 127.0.0.1:",
        "kafka://nobody.invalid/orders": "nobody knows a host of nobody.invalid:9092; look at",
    }
    for url, problem in problems.items():
        assert main(["compare", f"craft:{url}", f"craft:{url}"]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        assert f"craft:{url}"[6:20] in said.err
        assert problem in said.err


def test_missing_connector_is_one_line() -> None:
    """A separate Spark, as a connector can't be taken away from one that runs."""
    url = "craft:kafka://127.0.0.1:9/orders"
    words = [sys.executable, "-m", "cdcwire_conformance", "compare", url, url]
    done = subprocess.run(
        [*words, "--master", "local[1]", "--conf", "spark.jars="],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "Spark has no connector for Kafka: start the session with" in done.stderr
