"""URLs of topics, and the sources that they name. No Spark and no broker here."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cdcwire_conformance.sources.kafka_url import (
    KafkaTopic,
    Moment,
    OffsetRange,
    TopicPartition,
    parse_kafka_url,
)
from cdcwire_conformance.sources.source_urls import SourceError, parse_source
from cdcwire_conformance.spark.reading.kafka import client_settings

BROKER = ("b1:9092",)


@pytest.mark.parametrize(
    ("url", "topic"),
    [
        ("kafka://b1:9092/t", KafkaTopic(BROKER, "t")),
        ("kafka://b1/t", KafkaTopic(BROKER, "t")),
        ("kafka://b1:1,[::1]:2,10.0.0.1/a.b_c-1", KafkaTopic(
            ("b1:1", "[::1]:2", "10.0.0.1:9092"), "a.b_c-1"
        )),
        ("kafka://b1/t?from=latest&to=earliest", KafkaTopic(BROKER, "t", "latest", "earliest")),
        ("kafka://b1/t?from=7&to=9", KafkaTopic(BROKER, "t", 7, 9)),
        ("kafka://b1/t?from=0:1,2:50", KafkaTopic(BROKER, "t", {0: 1, 2: 50})),
        ("kafka://b1/t?from-ms=0&to-ms=1760000000000", KafkaTopic(
            BROKER, "t", Moment(0), Moment(1760000000000)
        )),
        ("kafka://b1/t?config=/etc/c%20d", KafkaTopic(BROKER, "t", config="/etc/c d")),
        ("kafka://b1/shop.*?from=7", KafkaTopic(BROKER, "shop.*", 7)),
        ("kafka://b1/a,b*?to=a/0:1,a/1:2,bb/0:3", KafkaTopic(BROKER, "a,b*", end={
            TopicPartition("a", 0): 1, TopicPartition("a", 1): 2, TopicPartition("bb", 0): 3
        })),
    ],
)  # fmt: skip
def test_url_names_a_part_of_a_topic(url: str, topic: KafkaTopic) -> None:
    assert parse_kafka_url(url) == topic
    assert parse_kafka_url(str(topic)) == topic


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("kafka:///t", "'' is not a broker"),
        ("kafka://b1", "a topic is missing, as in kafka://HOST:PORT/TOPIC"),
        ("kafka://b1:x/t", "'b1:x' is not a broker"),
        ("kafka://b1:65536/t", "'b1:65536' is not a broker"),
        ("kafka://b1,/t", "'' is not a broker"),
        ("kafka://b1/a/b", "'a/b' is not a topic"),
        ("kafka://b1/" + "t" * 250, "is not a topic"),
        ("kafka://me:secret@b1/t", "passwords have no place in a URL"),
        ("kafka://b1/t?until=3", "'until' is not one of from, to, from-ms, to-ms, config"),
        ("kafka://b1/t?from=1&from=2", "from is duplicated"),
        ("kafka://b1/t?from=1&from-ms=2", "from and from-ms exclude each other"),
        ("kafka://b1/t?from=-1", "from=-1 is not earliest, latest, an offset, or 0:100,1:50"),
        ("kafka://b1/t?to=0:1,0:2", "to has partition 0 twice"),
        ("kafka://b1/t?to=0:", "to= is not"),
        ("kafka://b1/t?to=9223372036854775808", "to=9223372036854775808 is not"),
        ("kafka://b1/t?to-ms=2025-10-09", "to-ms=2025-10-09 is not a number of milliseconds"),
        ("kafka://b1/t?config=", "config names no file"),
        ("kafka://b1/t#x", "has no #"),
        ("kafka://b1/a,", "'' is not a topic"),
        ("kafka://b1/a,a", "a topic is named twice"),
        ("kafka://b1/a*?from=0:1", "from=0:1 names no topic, as in orders/0:100,items/1:50"),
        ("kafka://b1/a*?from=a/0:1,a/0:2", "from has a/0 twice"),
        ("kafka://b1/a*?from=a/x:1", "from=x is not earliest"),
    ],
)
def test_invalid_topic_url_is_reported(url: str, problem: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_source(f"craft:{url}")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_source_of_a_topic() -> None:
    source = parse_source("open-protocol:kafka://b1,b2/orders?from=3")
    assert (source.kind, source.files, source.has_records) == ("topic", (), True)
    assert str(source) == "open-protocol:kafka://b1:9092,b2:9092/orders?from=3"


def test_formats_of_files_have_no_topics() -> None:
    with pytest.raises(SourceError, match="csv is written to files, not to topics"):
        parse_source("csv:kafka://b1/orders")


def test_topic_with_offsets_is_written_so_that_it_means_the_same_again() -> None:
    asked = parse_kafka_url("kafka://b1/t?from-ms=5&config=c")
    known = asked.with_ranges((OffsetRange(0, 3, 8), OffsetRange(1, 0, 0)))
    assert str(known) == "kafka://b1:9092/t?from=0:3,1:0&to=0:8,1:0&config=c"
    again = parse_kafka_url(str(known))
    assert (again.start, again.end) == ({0: 3, 1: 0}, {0: 8, 1: 0})


def test_topics_of_a_pattern_are_written_by_their_names_once_they_are_known() -> None:
    asked = parse_kafka_url("kafka://b1/shop.*?from=5")
    assert (asked.names, asked.is_one, asked.has_pattern) == (("shop.*",), False, True)
    known = asked.with_ranges(
        (
            OffsetRange(0, 5, 8, "shop.a"),
            OffsetRange(1, 5, 5, "shop.a"),
            OffsetRange(0, 5, 9, "shop.b"),
        )
    )
    assert str(known) == (
        "kafka://b1:9092/shop.a,shop.b?from=shop.a/0:5,shop.a/1:5,shop.b/0:5"
        "&to=shop.a/0:8,shop.a/1:5,shop.b/0:9"
    )
    assert str(parse_kafka_url(str(known))) == str(known)
    one = asked.with_ranges((OffsetRange(0, 5, 8, "shop.a"),))
    assert str(one) == "kafka://b1:9092/shop.a?from=0:5&to=0:8"


@pytest.mark.parametrize(
    ("topic", "matched", "others"),
    [
        ("shop.*", ["shop.", "shop.a", "shop.a.b"], ["shopXa", "a.shop.b"]),
        ("*", ["orders", "_schemas"], ["__consumer_offsets"]),
        ("*.orders,audit", ["shop.orders", "audit"], ["__x.orders", "audit2"]),
        ("__*", ["__consumer_offsets"], ["orders"]),
    ],
)
def test_star_stands_for_any_characters_of_a_name(
    topic: str, matched: list[str], others: list[str]
) -> None:
    found = re.compile(KafkaTopic(BROKER, topic).pattern)
    assert all(map(found.fullmatch, matched))
    assert not any(map(found.fullmatch, others))


def test_properties_of_clients_come_from_a_file(tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    config.write_text(
        '# comment\n! another\n\nbootstrap.servers=elsewhere:1\n  sasl.jaas.config = x y="z";\n'
    )
    topic = replace(parse_kafka_url("kafka://b1,b2/t"), config=str(config))
    assert client_settings(topic) == {
        "bootstrap.servers": "b1:9092,b2:9092",
        "sasl.jaas.config": 'x y="z";',
    }
    config.write_text("password\n")
    with pytest.raises(
        SourceError, match=r"client\.properties: a line is not NAME=VALUE"
    ) as caught:
        client_settings(topic)
    assert "password" not in str(caught.value)
    config.unlink()
    with pytest.raises(SourceError, match=r"client\.properties: can't be read: No such file"):
        client_settings(topic)
