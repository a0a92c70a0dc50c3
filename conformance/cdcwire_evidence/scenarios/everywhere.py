"""The stream of ``sample_table`` in every format: in topics, in buckets, and in files.

Each is made when it is first asked for, and kept; where rows are in it is found out without what is
to be tested: by the plain decoders, or by Python's own readers of CSV and JSON.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import write_messages
from cdcwire.files.stores import open_store
from cdcwire.model.events import RowChange
from cdcwire.registry import get_format
from cdcwire_conformance.sources.storage.writing import PrefixWriter, write_prefix
from cdcwire_evidence.scenarios import load_requirement
from cdcwire_evidence.scenarios.feeds import QueueFeed as QueueFeed
from cdcwire_evidence.scenarios.feeds import partitions_of
from cdcwire_evidence.scenarios.sample_table import (
    PLANTED_WITHIN,
    TABLE,
    PlantedName,
    plant,
    row_id,
)
from cdcwire_evidence.scenarios.services import Kafka, ObjectStore
from cdcwire_evidence.scenarios.topics import make_topic, produce

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def topic_of(kafka: Kafka, topic: str, partitions: Sequence[Sequence[KafkaMessage]]) -> str:
    """Make a topic, send each list of messages to its partition, and return the topic's URL.

    Raises: OSError if the broker refuses a message.
    """
    make_topic(kafka, topic, len(partitions))
    for partition, messages in enumerate(partitions):
        refused = produce(kafka, topic, messages, partition)
        if refused:
            raise OSError(f"{topic}: message {refused[0].number} is refused: {refused[0].reason}")
    return f"kafka://{kafka.bootstrap}/{topic}"


def rows_by_message(frame: DataFrame, place_of: Callable[[Any], Any]) -> dict[Any, list[str]]:
    """Return the rows of a decoded frame, without their source, by the message that had them."""
    found: dict[Any, list[str]] = {}
    for row in frame.collect():
        known = {name: value for name, value in row.asDict().items() if name != "source"}
        found.setdefault(place_of(row["source"]), []).append(repr(known))
    return found


PART_SIZE = 5 << 20  # the smallest that S3 takes


def s3_client() -> Any:
    """Return a client of the store that the environment names."""
    return load_requirement("boto3", "S3").client("s3")


def make_bucket(name: str) -> str:
    """Make a bucket and return its URL; what fsspec knows of stores is forgotten."""
    load_requirement("s3fs", "S3").S3FileSystem.clear_instance_cache()
    s3_client().create_bucket(Bucket=name)
    return f"s3://{name}"


def name_of(bucket: str) -> str:
    """Return the name of a bucket's URL."""
    return bucket.removeprefix("s3://")


def keys(client: Any, name: str) -> Iterator[str]:
    """Yield the names of all objects."""
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=name):
        for each in page.get("Contents", ()):
            yield each["Key"]


def objects(bucket: str) -> dict[str, bytes]:
    """Read all objects."""
    client, name = s3_client(), name_of(bucket)
    return {
        key: client.get_object(Bucket=name, Key=key)["Body"].read() for key in keys(client, name)
    }


def put_in_parts(bucket: str, key: str, value: bytes, *, is_completed: bool = True) -> None:
    """Upload an object in parts; an incomplete upload is not an object."""
    client, name = s3_client(), name_of(bucket)
    upload = client.create_multipart_upload(Bucket=name, Key=key)["UploadId"]
    parts = []
    for number, start in enumerate(range(0, len(value), PART_SIZE), start=1):
        body = value[start : start + PART_SIZE]
        target = {"Bucket": name, "Key": key, "UploadId": upload, "PartNumber": number}
        parts.append(
            {"PartNumber": number, "ETag": client.upload_part(**target, Body=body)["ETag"]}
        )
    if is_completed:
        client.complete_multipart_upload(
            Bucket=name, Key=key, UploadId=upload, MultipartUpload={"Parts": parts}
        )


PARTITIONS = 3
IN_TOPICS: Mapping[str, dict[str, OptionValue]] = {
    "canal-json": {"enable-tidb-extension": True},
    "avro": {"enable-tidb-extension": True},
}
IN_BUCKETS: Mapping[str, dict[str, OptionValue]] = {
    "csv": {"include-commit-ts": True, "output-old-value": True},
    "canal-json": {"transport": "storage", "enable-tidb-extension": True},
}
_NEED_DEFINITIONS = frozenset({"datahub-tuple"})
_numbers = itertools.count(1)  # of topics and buckets, none of which has another's name
_CSV_ID = 5  # behind op, table, schema, commit ts and the mark of an update's halves

Where: TypeAlias = "tuple[str, int]"  # a partition and an offset, or a file and a line


@dataclass(frozen=True, slots=True)
class Made:
    """A feed where it lies, what decoding it needs, and where the rows are that were asked for.

    ``rows``: the places of all changes of a row, in their order.
    """

    source: str
    context: Context
    rows: Mapping[int, list[Where]]


@dataclass(frozen=True, slots=True)
class Feeds:
    """Makes feeds of one stream. ``wanted``: the rows whose places are to be known.

    The object store is the one that the environment names to fsspec and boto3.
    """

    kafka: Kafka
    store: ObjectStore
    folder: Path
    spark: SparkSession
    changes: Sequence[RowChange]
    wanted: frozenset[int]
    made: dict[tuple[str, tuple[PlantedName, ...]], Made] = field(default_factory=dict)

    def get(self, name: str, planted: tuple[PlantedName, ...] = ()) -> Made:
        """Return the feed ``FORMAT``, in a topic, or ``FORMAT in PLACE``: bucket, lines, parquet.

        ``planted``: what is planted in it.
        """
        found = self.made.get((name, planted))
        if found is None:
            format_name, _, place = name.partition(" in ")
            changes = plant(self.changes, planted).changes if planted else self.changes
            make = {
                "": self._topic,
                "bucket": self._bucket,
                "lines": self._lines,
                "parquet": self._parquet,
            }[place]
            found = self.made[name, planted] = make(format_name, changes)
        return found

    def _new_name(self, name: str) -> str:
        return f"pairs-{os.getpid()}-{next(_numbers)}-{name}"

    def _topic(self, name: str, changes: Sequence[RowChange]) -> Made:
        partitions = _partitions(name, changes)
        topic = self._new_name(name)
        url = topic_of(self.kafka, topic, [partition.messages for partition in partitions])
        places = self._places(partitions)
        rows = {
            row: [(f"{topic}[{partition}]", offset) for partition, offset in found]
            for row, found in places.items()
        }
        return Made(f"{name}:{url}", _read_with(partitions[0]), rows)

    def _lines(self, name: str, changes: Sequence[RowChange]) -> Made:
        partitions = _partitions(name, changes)
        folder = self.folder / self._new_name(name)
        folder.mkdir()
        files = [str(folder / f"{number}.jsonl") for number in range(PARTITIONS)]
        for file, partition in zip(files, partitions, strict=True):
            write_messages(file, partition.messages)
        places = self._places(partitions)
        rows = {
            row: [(files[partition], offset + 1) for partition, offset in found]
            for row, found in places.items()
        }
        return Made(f"{name}:file:{folder}", _read_with(partitions[0]), rows)

    def _parquet(self, name: str, changes: Sequence[RowChange]) -> Made:
        """Make a Parquet feed of a topic's records, with the columns of Spark's Kafka source."""
        found = self._topic(name, changes)
        url = urlsplit(found.source.partition(":")[2])
        records = self.spark.read.format("kafka").options(
            subscribe=url.path[1:], includeHeaders="true", **{"kafka.bootstrap.servers": url.netloc}
        )
        folder = self.folder / self._new_name(name)
        records.load().write.parquet(str(folder))
        return replace(found, source=f"{name}:file:{folder}")

    def _bucket(self, name: str, changes: Sequence[RowChange]) -> Made:
        bucket = make_bucket(self._new_name(name))
        context = Context(IN_BUCKETS[name], tables=(TABLE,))
        write_prefix(PrefixWriter(open_store(bucket), name, context), changes)
        reach_bucket(self.spark, bucket, self.store)
        url = f"s3a://{name_of(bucket)}"
        rows: dict[int, list[Where]] = {}
        for path, content in sorted(objects(bucket).items()):
            if path.rpartition("/")[2].startswith("CDC") and path.endswith(_ENDS[name]):
                for line, row in _rows_in(name, content):
                    if row in self.wanted:
                        rows.setdefault(row, []).append((f"{url}/{path}", line))
        return Made(f"{name}:{url}", Context(IN_BUCKETS[name]), rows)

    def _places(self, partitions: Sequence[QueueFeed]) -> dict[int, list[tuple[int, int]]]:
        """Return partition and offset of the messages of each row that is wanted."""
        found: dict[int, list[tuple[int, int]]] = {}
        for number, partition in enumerate(partitions):
            to_events = get_format(partition.format).to_events
            events = 0
            for offset, message in enumerate(partition.messages):
                for event in to_events(message, context=partition.context):
                    events += 1
                    if isinstance(event, RowChange) and row_id(event) in self.wanted:
                        found.setdefault(row_id(event), []).append((number, offset))
                if events > 2 * PLANTED_WITHIN:  # an update may be two
                    break
        return found


def _partitions(name: str, changes: Sequence[RowChange]) -> list[QueueFeed]:
    return partitions_of(
        name, changes, Context(IN_TOPICS.get(name, {}), tables=(TABLE,)), PARTITIONS
    )


def _read_with(partition: QueueFeed) -> Context:
    """Return what reading needs: no definitions where the messages say enough."""
    return (
        partition.context
        if partition.format in _NEED_DEFINITIONS
        else replace(partition.context, tables=())
    )


def reach_bucket(spark: SparkSession, bucket: str, store: ObjectStore) -> None:
    """Let a session that runs read a bucket of a store by ``s3a://``."""
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    for name, value in (
        ("endpoint", store.endpoint),
        ("endpoint.region", "us-east-1"),
        ("path.style.access", "true"),
        ("access.key", store.access_key),
        ("secret.key", store.secret_key),
    ):
        settings.set(f"fs.s3a.bucket.{name_of(bucket)}.{name}", value)


_ENDS = {"csv": ".csv", "canal-json": ".json"}


def _rows_in(name: str, content: bytes) -> Iterator[tuple[int, int]]:
    """Yield number and row of each line of a data file."""
    for number, line in enumerate(content.decode().split("\n"), 1):
        if line:
            yield number, _row_in(name, line)


def _row_in(name: str, line: str) -> int:
    if name == "csv":
        (fields,) = csv.reader([line])
        return int(fields[_CSV_ID])
    return int(json.loads(line)["data"][0]["id"])
