"""Spark reads Avro from topics of a real broker, with the schemas of a real registry.

Needs the extra ``spark`` in addition to ``scenarios``; Spark's connector for Kafka is fetched once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.model.events import Event, RowChange
from cdcwire.registry import get_format
from cdcwire.schema_registry import ConfluentRegistry, RetryPolicy, client, open_schemas
from cdcwire_conformance.cli import main
from cdcwire_evidence.loopback import free_port
from cdcwire_evidence.scenarios.containers import RegistryContainer
from cdcwire_evidence.scenarios.everywhere import topic_of
from cdcwire_evidence.scenarios.feeds import OPTIONS, context_of, make_changes, messages_of
from cdcwire_evidence.scenarios.http_proxy import proxy_to
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.services import Kafka, NewName, Registry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark", reason="the extra spark is not installed")

pytestmark = [  # PySpark leaves its sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ROWS = 200
EXTENSION = ("--option", "enable-tidb-extension=true")


def avro_topic(
    kafka: Kafka, topic: str, partitions: Iterable[Iterable[RowChange]], source: ConfluentRegistry
) -> str:
    """Write a topic of Avro and return its URL."""
    return topic_of(
        kafka,
        topic,
        [list(messages_of(rows_of_partition, topic, source)) for rows_of_partition in partitions],
    )


def canal_topic(kafka: Kafka, topic: str, changes: Iterable[Event]) -> str:
    """Write a topic of Canal-JSON and return its URL."""
    messages = get_format("canal-json").from_events(changes, context=Context(options=OPTIONS))
    return topic_of(kafka, topic, [[each for each in messages if isinstance(each, KafkaMessage)]])


def test_driver_asks_the_registry_once_and_workers_never(
    kafka: Kafka, registry: Registry, new_name: NewName, spark: SparkSession
) -> None:
    from cdcwire_conformance.spark import decode_frame, describe_feed, open_source, parse_source

    with recorded(
        "registry/spark",
        "an Avro topic on Spark, with a live registry",
        "The driver asks for each schema once when the topic is opened. Then the registry is cut "
        "off: the topic is described and decoded all the same, and nobody has asked again.",
    ) as result:
        partitions = make_changes(ROWS, 3)
        with proxy_to(registry) as proxy:
            url = avro_topic(kafka, new_name("spark"), partitions, ConfluentRegistry(registry.url))
            source = parse_source(f"avro:{url}")
            opened = open_source(spark, source, context_of(open_schemas(proxy.service.url)))
            assert [method for method, _ in proxy.requests] == ["GET", "GET"]
            assert len(set(proxy.requests)) == 2
            proxy.is_open = False
            (described,) = describe_feed(spark, opened)
            assert described.rows == ROWS
            got: dict[int, list[object]] = {}
            frame = decode_frame(spark, opened, described.table)
            for row in frame.orderBy("source.partition", "source.offset").collect():
                image = row.before if row.op == "delete" else row.after
                quantity = None if row.op == "delete" else row.after.quantity
                commit_ts = None if row.commit_ts is None else int(row.commit_ts)
                got.setdefault(row.source.partition, []).append(
                    (row.op, commit_ts, image.id, quantity)
                )
            assert len(proxy.requests) == 2
        result.counts = count(dict(enumerate(map(briefly, partitions))), got)
        result.figures = {"changes": ROWS, "requests": 2}
        assert result.counts.is_exact


def briefly(changes: Iterable[RowChange]) -> list[object]:
    """Operation, commit ts, id and quantity, as far as Avro carries them."""
    found: list[object] = []
    for change in changes:
        if change.op == "delete":
            assert change.before is not None
            found.append(("delete", None, change.before.values[0], None))
            continue
        assert change.after is not None
        values = dict(zip(change.after.names, change.after.values, strict=True))
        found.append((change.op, change.position.commit_ts, values["id"], values["quantity"]))
    return found


@pytest.fixture
def compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run ``cdcwire compare``. Returns: its exit code, its document, its error."""

    def run(*words: str) -> tuple[int, Any, str]:
        file = tmp_path / "found.json"
        code = main(["compare", *words, *EXTENSION, "--json", str(file)])
        out, err = capsys.readouterr()
        assert code == 2 or out
        return code, json.loads(file.read_text("utf-8")) if code < 2 else None, err

    return run


Compare = Callable[..., "tuple[int, Any, str]"]


@pytest.mark.usefixtures("spark")
def test_topics_are_compared_with_a_live_registry(
    kafka: Kafka, registry: Registry, new_name: NewName, compare: Compare
) -> None:
    with recorded(
        "registry/compare",
        "an Avro topic compared with one of Canal-JSON",
        "cdcwire compare is given both topics and the registry's address, and finds them equal; it "
        "asks for each schema once. Then a value is changed and a row is lost on the way: both are "
        "named, with the column and with partition and offset.",
    ) as result:
        (changes,) = make_changes(ROWS)
        source = ConfluentRegistry(registry.url)
        avro = "avro:" + avro_topic(kafka, new_name("avro"), make_changes(ROWS, 3), source)
        canal = "canal-json:" + canal_topic(kafka, new_name("canal"), changes)
        with proxy_to(registry) as proxy:
            code, found, _ = compare(avro, canal, "--left-schema", proxy.service.url)
            assert [method for method, _ in proxy.requests] == ["GET", "GET"]
        assert code == 0
        (table,) = found["tables"]
        assert table["counts"]["same"] == ROWS
        planted, lost, changed = with_differences(changes)
        spoiled = "avro:" + avro_topic(kafka, new_name("spoiled"), [planted], source)
        code, found, _ = compare(canal, spoiled, "--right-schema", registry.url)
        assert code == 1
        (table,) = found["tables"]
        counts = table["counts"]
        assert (counts["changed"], counts["only_left"], counts["only_right"]) == (1, 1, 0)
        assert counts["same"] == ROWS - 2
        by_verdict = {each["verdict"]: each for each in table["differences"]}
        assert by_verdict["only left"]["places"]["left"]["offset"] == lost
        (column,) = by_verdict["changed"]["columns"]
        assert column["column"] == "quantity"
        place = by_verdict["changed"]["places"]["right"]
        assert (place["partition"], place["offset"]) == (0, changed)
        result.figures = {"changes": ROWS, "planted": 2, "named": 2}


def with_differences(changes: list[RowChange]) -> tuple[list[RowChange], int, int]:
    """Another quantity in one insert, and a later one left out; and the places of both."""
    inserts = [number for number, each in enumerate(changes) if each.op == "insert"]
    changed, lost = inserts[3], inserts[9]
    image = changes[changed].after
    assert image is not None
    at = image.names.index("quantity")
    value = image.values[at]
    assert isinstance(value, int | None)
    values = (*image.values[:at], (value or 0) ^ 1, *image.values[at + 1 :])
    planted = list(changes)
    planted[changed] = replace(changes[changed], after=replace(image, values=values))
    del planted[lost]
    return planted, lost, changed


@pytest.mark.usefixtures("spark")
def test_two_registries_are_distinguished(
    kafka: Kafka,
    own_registry: RegistryContainer,
    tls_registry: tuple[RegistryContainer, Path],
    new_name: NewName,
    compare: Compare,
) -> None:
    with recorded(
        "registry/two",
        "two Avro topics, each with its own registry",
        "The same changes lie in two topics; their schemas lie in two registries under different "
        "numbers, one of them over HTTPS. With each side's own registry they are equal; where the "
        "addresses are swapped, the comparison stops with one line.",
    ) as result:
        partitions = make_changes(ROWS, 2)
        container, ca_file = tls_registry
        assert container.secure is not None
        own = ConfluentRegistry(own_registry.service.url)
        for number in range(100):  # so that its numbers are others; the other may know the orders
            own.register(f"{number}-value", '"string"')
            own.register(f"{number}-value", json.dumps({"type": "string", "number": number}))
        other = ConfluentRegistry(container.secure.url, ca_file=str(ca_file))
        left = "avro:" + avro_topic(kafka, new_name("one"), partitions, own)
        right = "avro:" + avro_topic(kafka, new_name("two"), partitions, other)
        places = own_registry.service.url, container.secure.url
        trust = ("--ca-file", str(ca_file))
        given = ("--left-schema", places[0], "--right-schema", places[1], *trust)
        code, found, _ = compare(left, right, *given)
        assert code == 0
        assert found["tables"][0]["counts"]["same"] == ROWS
        swapped = ("--left-schema", places[1], "--right-schema", places[0], *trust)
        code, _, error = compare(left, right, *swapped)
        assert (code, error.count("\n")) == (2, 1)
        assert "[0]@" in error or "[1]@" in error
        result.figures = {"changes": ROWS}


def test_unknown_id_is_an_error_row_or_stops_the_job(
    kafka: Kafka, registry: Registry, new_name: NewName, spark: SparkSession
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
        "registry/spark-unknown-id",
        "a number that the registry does not know, met by Spark",
        "Among good messages stands one with a number of no schema. It is an error row with its "
        "partition and offset, and the good ones are read; or it stops the job with these.",
    ) as result:
        (changes,), topic = make_changes(40), new_name("unknown")
        messages = list(messages_of(changes, topic, ConfluentRegistry(registry.url)))
        value = messages[5].value
        assert value is not None
        stranger = KafkaMessage(messages[5].key, b"\x00\x7f\xff\xff\xff" + value[5:])
        messages.insert(6, stranger)
        source = parse_source(f"avro:{topic_of(kafka, topic, [messages])}")
        opened = open_source(spark, source, context_of(open_schemas(registry.url)), "row")
        (described,) = describe_feed(spark, opened, on_error="row")
        frame = decode_frame(spark, opened, described.table, "row")
        (bad,) = errors_frame(frame).collect()
        assert (bad.topic, bad.partition, bad.offset, bad.byte) == (topic, 0, 6, 1)
        assert "schema id 2147483647 is not known" in bad.problem
        assert good_rows(frame).count() == described.rows == 40
        problem = rf"{topic}\[0\]@6: byte 1: schema id 2147483647 is not known"
        with pytest.raises(FeedError, match=problem), readable_errors():
            decode_frame(spark, opened, described.table).collect()
        result.figures = {"rows": 40, "errors": 1}


@pytest.mark.usefixtures("spark")
def test_registry_that_gives_nothing_is_one_line(
    kafka: Kafka,
    registry: Registry,
    new_name: NewName,
    compare: Compare,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with recorded(
        "registry/compare-refused",
        "cdcwire compare, and a registry that gives no schemas",
        "The registry is not there, wants another password, is at another address, or is not "
        "named at all: each is one line with what to do, exit code 2, and no password is in it.",
    ) as result:
        hasty = RetryPolicy(connect=2.0, answer=5.0, first_wait=0.1, tries=2)
        monkeypatch.setattr(client, "RetryPolicy", lambda: hasty)
        (changes,), topic = make_changes(10), new_name("refused")
        avro = "avro:" + avro_topic(kafka, topic, [changes], ConfluentRegistry(registry.url))
        with proxy_to(registry, {"reader": "right"}) as proxy:
            host = proxy.service.url.removeprefix("http://")
            said = {
                f"http://reader:wrong@127.0.0.1:{free_port()}": "no answer: Connection refused",
                f"http://reader:wrong@{host}": "it answers 401: no entry; give user and password",
                f"http://reader:right@{host}/wrong": "see whether this is the root of the",
                f"reader:wrong@{host}": "the address has no http:// or https://",
            }
            for place, problem in said.items():
                code, _, error = compare(avro, avro, "--left-schema", place)
                assert (code, error.count("\n")) == (2, 1)
                assert problem in error
                assert "wrong@" not in error
                assert "reader" not in error
        code, _, error = compare(avro, avro)
        assert (code, error.count("\n")) == (2, 1)
        assert "avro in a topic needs its schemas" in error
        result.figures = {"refused": len(said) + 1}
