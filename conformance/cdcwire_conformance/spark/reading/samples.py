"""Samples of topics and of Hadoop's file systems, for messages of unknown format."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from cdcwire.core.message import KafkaMessage
from cdcwire.extras import load_extra
from cdcwire.files.stores import SourceError, Store, scheme_of
from cdcwire.identify.ranking import Sample
from cdcwire.identify.sampling import Reading
from cdcwire_conformance.sources.kafka_url import SCHEME as KAFKA
from cdcwire_conformance.sources.kafka_url import KafkaTopic, parse_kafka_url
from cdcwire_conformance.spark.jars import with_connectors
from cdcwire_conformance.spark.session import readable_errors, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SessionFor: TypeAlias = "Callable[[str], SparkSession]"


def _embedded_session(scheme: str) -> SparkSession:
    load_extra("pyspark", "spark", f"identify on {scheme}:")
    logging.getLogger("py4j").addHandler(logging.NullHandler())  # it logs an interrupt's traceback
    return spark_session("local[1]", with_connectors({}, [scheme]), "cdcwire identify")


class SparkSamples:
    """Reads places by Spark. ``session``: gives its session for a scheme; by default a new one."""

    def __init__(self, session: SessionFor = _embedded_session) -> None:
        self._session = session

    def store_at(self, url: str) -> Store:
        """Return the store of a URL of one of Hadoop's file systems. Raises: SourceError."""
        spark = self._session(scheme_of(url))
        from cdcwire_conformance.spark.reading.workers import SparkWorkers

        return SparkWorkers(spark).store_at(url)

    def reading_of_topic(self, url: str, limit: int) -> Reading:
        """Return at most ``limit`` records of a topic. Raises: SourceError."""
        try:
            topic = parse_kafka_url(url)
        except ValueError as error:
            raise SourceError(f"{url.partition('?')[0]}: {error}") from error
        return _reading_of_topic(self._session(KAFKA), topic, limit)


def _reading_of_topic(spark: SparkSession, topic: KafkaTopic, limit: int) -> Reading:
    from cdcwire_conformance.spark.reading.kafka import topic_at_rest, topic_frame

    with readable_errors():
        topic = topic_at_rest(spark, topic)
        ranges = [each for each in topic.ranges or () if each.end > each.start]
        share = max(1, limit // max(1, len(ranges)))
        wanted = tuple(each._replace(end=min(each.end, each.start + share)) for each in ranges)
        if not wanted:
            raise SourceError(f"{topic}: the topic has no records in this range")
        rows = topic_frame(spark, topic.with_ranges(wanted)).limit(limit).collect()
    samples = [
        Sample(f"{_place_of_row(topic, row)}, offset {row['offset']}", (_message_of_row(row),))
        for row in rows
    ]
    return Reading("topic", "bytes", tuple(samples))


def _place_of_row(topic: KafkaTopic, row: Any) -> str:
    of_topic = "" if topic.is_one else f" of {row['topic']}"
    return f"partition {row['partition']}{of_topic}"


def _message_of_row(row: Any) -> KafkaMessage:
    headers = tuple((each["key"], bytes(each["value"] or b"")) for each in row["headers"] or ())
    key, value = row["key"], row["value"]
    return KafkaMessage(
        None if key is None else bytes(key), None if value is None else bytes(value), headers
    )
