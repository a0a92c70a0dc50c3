"""A topic at rest: which records are meant is asked once, and all passes read just these.

Kafka's own client, in Java on the driver, queries the brokers. So a problem with the brokers or
with the topic is reported within seconds, in one line. The records are read by Spark's connector,
each partition in one piece or in several.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JJavaError
from pyspark.sql import functions as F

from cdcwire.files.local_files import read_short
from cdcwire_conformance.decode.reading import HEADERS, KAFKA_COLUMNS
from cdcwire_conformance.sources.kafka_url import (
    Bound,
    KafkaTopic,
    Moment,
    OffsetRange,
    TopicPartition,
)
from cdcwire_conformance.sources.source_urls import Source, SourceError
from cdcwire_conformance.spark.jars import HOW_TO_HAVE_IT

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming import DataStreamReader

ANSWER_SECONDS = 15
_LEAST_RECORDS = 1000  # of a piece; a task takes Spark some tenth of a second
# All records that are asked for are there, so that waiting for more is in vain; Kafka's default of
# half a second is spent twice by each pass over a topic.
_AT_REST: Mapping[str, str] = {"kafka.fetch.max.wait.ms": "10"}
_NO_ID = "A" * 22  # what Kafka's client has of brokers that know no ids
_UNKNOWN = frozenset({"UnknownTopicOrPartitionException", "InvalidTopicException"})
_SILENT = frozenset({"TimeoutException", "DisconnectException"})
_REFUSED = frozenset(
    {
        "AuthenticationException",
        "SaslAuthenticationException",
        "SslAuthenticationException",
        "ClusterAuthorizationException",
        "TopicAuthorizationException",
    }
)


Offsets: TypeAlias = Mapping[TopicPartition, int]


def topic_at_rest(spark: SparkSession, topic: KafkaTopic, *, must_have: bool = True) -> KafkaTopic:
    """Return a topic with the offsets of the records that are meant, as it is now.

    ``must_have``: named offsets have to exist. Raises: SourceError in one line: no connector, no
    broker that answers, no such topic, no right to read it, or offsets that it does not have.
    """
    if topic.ranges is not None:
        return topic
    client = _Client(spark, topic)
    try:
        partitions = client.partitions()
        first, behind = client.offsets(partitions, "earliest"), client.offsets(partitions, "latest")
        starts = _resolved(client, topic.start, "from", first, behind, must_have)
        ends = _resolved(client, topic.end, "to", first, behind, must_have)
    finally:
        client.close()
    for each in partitions:
        if must_have and starts[each] > ends[each]:
            problem = f"{_partition(topic, each)} is asked from {starts[each]} to {ends[each]}"
            raise SourceError(f"{topic}: {problem}, which is backwards")
    return topic.with_ranges(
        tuple(
            OffsetRange(each.partition, starts[each], ends[each], each.topic) for each in partitions
        )
    )


def _resolved(
    client: _Client,
    bound: Bound,
    name: Literal["from", "to"],
    first: Offsets,
    behind: Offsets,
    must_have: bool,
) -> Offsets:
    """Return the offset of a bound in each partition, an end of the topic where it names none.

    An offset that is asked for and not there is an error: records would be missing.
    """
    if bound == "earliest":
        return first
    if bound == "latest":
        return behind
    if isinstance(bound, Moment):
        found = client.offsets(list(first), bound)
        return {place: at if at >= 0 else behind[place] for place, at in found.items()}
    asked = dict.fromkeys(first, bound) if isinstance(bound, int) else _placed(client.topic, bound)
    for place, offset in asked.items():
        partition = _partition(client.topic, place)
        if place not in first:
            count = sum(each.topic == place.topic for each in first)
            problem = f"{name} names {partition}; it has {count}, counted from 0"
            raise SourceError(f"{client.topic}: {problem}")
        if must_have and not first[place] <= offset <= behind[place]:
            has = f"begins at {first[place]} and ends before {behind[place]}"
            raise SourceError(f"{client.topic}: {partition} {has}; {name} says {offset}")
    return {**(first if name == "from" else behind), **asked}


def _placed(
    topic: KafkaTopic, bound: Mapping[int, int] | Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    return {
        place if isinstance(place, TopicPartition) else TopicPartition(topic.topic, place): offset
        for place, offset in bound.items()
    }


def _partition(topic: KafkaTopic, place: TopicPartition) -> str:
    of_topic = "" if topic.is_one else f" of {place.topic}"
    return f"partition {place.partition}{of_topic}"


def topic_edges(
    spark: SparkSession, topic: KafkaTopic
) -> tuple[str | None, dict[int, tuple[int, int]]]:
    """Return a topic's id, and each partition's first offset and the one after its last.

    ``topic``: one topic. The id is another when the topic was deleted and made again; None from
    brokers before 2.8. Raises: BrokersSilent; SourceError as ``topic_at_rest`` does.
    """
    client = _Client(spark, topic)
    try:
        partitions = client.partitions()
        first, behind = client.offsets(partitions, "earliest"), client.offsets(partitions, "latest")
    finally:
        client.close()
    edges = {each.partition: (first[each], behind[each]) for each in partitions}
    return client.ids.get(topic.topic), edges


def topic_frame(spark: SparkSession, topic: KafkaTopic) -> DataFrame:
    """Return the records of a topic with the connector's columns, headers among them.

    Raises: SourceError as ``topic_at_rest`` does.
    """
    topic = topic_at_rest(spark, topic)
    assert topic.ranges is not None
    records = sum(each.end - each.start for each in topic.ranges)
    pieces = min(spark.sparkContext.defaultParallelism, records // _LEAST_RECORDS)
    reader = with_options(spark.read.format("kafka").options(**_AT_REST), topic)
    partitions = [(each, each.partition) for each in topic.ranges]
    assigned = {name: list(found) for name, found in _by_topic(topic, partitions).items()}
    ends = _by_topic(topic, [(each, each.end) for each in topic.ranges])
    return (
        reader.option("assign", json.dumps(assigned))
        .option("startingOffsets", starting_offsets(topic))
        .option("endingOffsets", json.dumps(ends))
        .option("minPartitions", max(1, pieces))
        .load()
    )


def with_options(reader: Any, topic: KafkaTopic) -> Any:
    """Return one of Spark's readers with the settings that a topic's records have in any case."""
    found: DataFrameReader | DataStreamReader = reader
    for name, value in client_settings(topic).items():
        found = found.option(f"kafka.{name}", value)
    # Records that are gone fail the job: nothing vanishes.
    return found.option("includeHeaders", "true").option("failOnDataLoss", "true")


def starting_offsets(topic: KafkaTopic) -> str:
    """Return where a topic's ranges begin, as the connector takes it."""
    assert topic.ranges is not None
    return json.dumps(_by_topic(topic, [(each, each.start) for each in topic.ranges]))


def _by_topic(
    topic: KafkaTopic, values: Iterable[tuple[OffsetRange, int]]
) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for each, value in values:
        found.setdefault(each.topic or topic.topic, {})[each.partition] = value
    return found


def client_settings(topic: KafkaTopic) -> dict[str, str]:
    """Return the properties of Kafka's clients. Raises: SourceError for a file that is not read."""
    found: dict[str, str] = {}
    if topic.config is not None:
        try:
            lines = read_short(topic.config).decode("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise SourceError(f"{topic.config}: can't be read: {reason}") from error
        for line in map(str.strip, lines):
            if line and line[0] not in "#!":
                name, equals, value = line.partition("=")
                if not equals:
                    raise SourceError(f"{topic.config}: a line is not NAME=VALUE")
                found[name.strip()] = value.strip()
    return {**found, "bootstrap.servers": ",".join(topic.brokers)}


def check_connector(spark: SparkSession, topic: KafkaTopic) -> None:
    """Check that a session has the connector for Kafka. Raises: SourceError."""
    jvm = spark._jvm
    assert jvm is not None
    # What Java does not know py4j takes for a package.
    needed = (
        jvm.org.apache.spark.sql.kafka010.KafkaSourceProvider,
        jvm.org.apache.kafka.clients.admin.Admin,
    )
    if not all(isinstance(each, JavaClass) for each in needed):
        raise SourceError(f"{topic}: Spark has no connector for Kafka: {HOW_TO_HAVE_IT}")


class BrokersSilent(SourceError):
    """No broker answers, which may pass."""


class _Client:
    """Kafka's own client, in Java on the driver. Raises: SourceError, in all that it does."""

    def __init__(self, spark: SparkSession, topic: KafkaTopic) -> None:
        check_connector(spark, topic)
        self.topic = topic
        self.ids: dict[str, str] = {}  # of topics whose partitions were asked for
        self._jvm: Any = spark._jvm
        settings = {
            **client_settings(topic),
            "default.api.timeout.ms": str(ANSWER_SECONDS * 1000),
            "request.timeout.ms": str(ANSWER_SECONDS * 500),
        }
        properties = self._jvm.java.util.Properties()
        for name, value in settings.items():
            properties.setProperty(name, value)
        self._is_committed = settings.get("isolation.level") == "read_committed"
        try:
            self._admin = self._jvm.org.apache.kafka.clients.admin.Admin.create(properties)
        except Py4JJavaError as error:
            raise self._problem(error) from error

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions of the topics."""
        name = ""
        found: list[TopicPartition] = []
        try:
            names = self._names()
            described = self._admin.describeTopics(names).topicNameValues()
            for name in names:
                found_topic = described.get(name).get()
                topic_id = found_topic.topicId().toString()
                if topic_id != _NO_ID:
                    self.ids[name] = topic_id
                numbers = [each.partition() for each in found_topic.partitions()]
                found += [TopicPartition(name, number) for number in sorted(numbers)]
        except Py4JJavaError as error:
            raise self._problem(error, name) from error
        return found

    def _names(self) -> list[str]:
        if not self.topic.has_pattern:
            return list(self.topic.names)
        known = [str(each) for each in self._admin.listTopics().names().get()]
        found = sorted(filter(re.compile(self.topic.pattern).fullmatch, known))
        if not found:
            raise SourceError(f"{self.topic}: no topic has a name like this")
        return found

    def offsets(
        self, partitions: Iterable[TopicPartition], where: Moment | str
    ) -> dict[TopicPartition, int]:
        """Return each partition's offset there; -1 where no record has that time or a later one."""
        admin = self._jvm.org.apache.kafka.clients.admin
        if isinstance(where, Moment):
            spec = admin.OffsetSpec.forTimestamp(where.ms)
        else:
            spec = getattr(admin.OffsetSpec, where)()
        kinds = self._jvm.org.apache.kafka.common.IsolationLevel
        level = kinds.READ_COMMITTED if self._is_committed else kinds.READ_UNCOMMITTED
        asked = self._jvm.java.util.HashMap()
        places = {}
        for each in partitions:
            place = self._jvm.org.apache.kafka.common.TopicPartition(each.topic, each.partition)
            places[each] = place
            asked.put(place, spec)
        try:
            found = self._admin.listOffsets(asked, admin.ListOffsetsOptions(level)).all().get()
            return {each: found.get(place).offset() for each, place in places.items()}
        except Py4JJavaError as error:
            raise self._problem(error) from error

    def close(self) -> None:
        self._admin.close(self._jvm.java.time.Duration.ofSeconds(1))

    def _problem(self, error: Py4JJavaError, name: str = "") -> SourceError:
        thrown = error.java_exception
        while thrown.getCause() is not None:
            thrown = thrown.getCause()
        kind, said = thrown.getClass().getSimpleName(), str(thrown.getMessage() or "")
        brokers = ",".join(self.topic.brokers)
        made: type[SourceError] = SourceError
        if kind in _UNKNOWN:
            topic = "no such topic" if self.topic.is_one or not name else f"no topic {name}"
            problem = f"there is {topic}; look at its name, or create it before it is read"
        elif kind in _SILENT:
            made = BrokersSilent
            problem = (
                f"no broker answers at {brokers} within {ANSWER_SECONDS} s; check the "
                "address, and whether the brokers' advertised.listeners can be reached from here"
            )
        elif "bootstrap" in said and "resolvable" in said:
            problem = f"nobody knows a host of {brokers}; look at the address"
        elif kind in _REFUSED:
            problem = f"the brokers refuse it: {said:.200}; rights and passwords go into config="
        else:
            problem = f"{brokers}: {kind}: {' '.join(said.split()):.200}"
        return made(f"{self.topic}: {problem}")


_HEADERS_TYPE = "array<struct<key:string,value:binary>>"


def messages_of_records(spark: SparkSession, source: Source) -> DataFrame:
    """Return the messages of a topic, or of Parquet files.

    Raises: SourceError without Kafka's columns, and where a topic can't be read.
    """
    if source.topic is not None:
        frame = topic_frame(spark, source.topic)
        return records_of(frame, F.lit(None).cast("string"), str(source))
    frame = spark.read.parquet(*source.files)
    return records_of(frame, F.col("_metadata.file_path"), source.folder)


def records_of(frame: DataFrame, file: Column, where: str) -> DataFrame:
    """Return Kafka's columns of a frame, headers if it has them, and the file.

    Keys and values that were stored as text are taken as their bytes. Raises: SourceError.
    """
    kinds = dict(frame.dtypes)
    for name in ("key", "value"):
        if kinds.get(name) not in ("binary", "string"):
            found = f"column {name} is {kinds[name]}" if name in kinds else f"no column {name}"
            raise SourceError(f"{where}: {found}; Kafka's key and value are binary or text")
    casts = {"topic": "string", "partition": "int", "offset": "bigint"}
    columns = [F.col(name).cast("binary").alias(name) for name in ("key", "value")]
    for name in KAFKA_COLUMNS[2:]:
        known = F.col(name) if name in kinds else F.lit(None)
        columns.append(known.cast(casts[name]).alias(name))
    if kinds.get(HEADERS) == _HEADERS_TYPE:
        columns.append(F.col(HEADERS))
    return frame.select(*columns, file.alias("file"))
