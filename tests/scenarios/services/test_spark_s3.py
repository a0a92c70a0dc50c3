"""Spark reads feeds in a bucket of a real object store: as on disk, with what is wrong with it.

Needs the extra ``spark`` in addition to ``scenarios``; Spark's connectors are fetched once.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.files.messages_io import read_messages, write_messages
from cdcwire.files.stores import open_store
from cdcwire_conformance.cli import main
from cdcwire_conformance.sources.storage.writing import PrefixWriter, restart_points, write_prefix
from cdcwire_evidence.loopback import free_port
from cdcwire_evidence.scenarios.everywhere import make_bucket, name_of, s3_client, topic_of
from cdcwire_evidence.scenarios.feeds import make_feed, make_partitions
from cdcwire_evidence.scenarios.http_proxy import (
    SLOW_DOWN,
    Answer,
    StoreProxy,
    StoreRequest,
    cut,
    no_fault,
    proxy_to_store,
)
from cdcwire_evidence.scenarios.ledger import count, recorded
from cdcwire_evidence.scenarios.prefixes import OPTIONS, events_of_sink, replayed, rows_of
from cdcwire_evidence.scenarios.services import Kafka, NewName, ObjectStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark", reason="the extra spark is not installed")

pytestmark = [  # PySpark leaves its sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ROWS = 120
CRAFT = Context()


def tell_spark(spark: SparkSession, bucket: str, settings: Mapping[str, str]) -> None:
    """Settings of S3A for one bucket, as S3A itself has them."""
    known = spark.sparkContext._jsc.hadoopConfiguration()
    for name, value in settings.items():
        known.set(f"fs.s3a.bucket.{bucket}.{name}", value)


def settings_of(store: ObjectStore) -> dict[str, str]:
    return {
        "endpoint": store.endpoint,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "access.key": store.access_key,
        "secret.key": store.secret_key,
    }


@pytest.fixture
def place(bucket: str, store: ObjectStore, spark: SparkSession) -> str:
    """The URL of a new bucket, which Spark reaches."""
    tell_spark(spark, name_of(bucket), settings_of(store))
    return f"s3a://{name_of(bucket)}"


def put_folder(folder: Path, place: str) -> None:
    """Put all files of a folder into a bucket, under a prefix."""
    name, _, prefix = place.removeprefix("s3a://").partition("/")
    client = s3_client()
    for file in folder.rglob("*"):
        if file.is_file():
            key = f"{prefix}/{file.relative_to(folder).as_posix()}"
            client.put_object(Bucket=name, Key=key, Body=file.read_bytes())


def rows_in(
    spark: SparkSession, format_name: str, where: str, context: Context, on_error: Any = "stop"
) -> dict[str, list[str]]:
    """All rows of a feed by table, with their places from its folder on."""
    from cdcwire_conformance.spark import (
        decode_frame,
        describe_feed,
        open_source,
        parse_source,
        readable_errors,
    )

    found: dict[str, list[str]] = {}
    with readable_errors():
        source = parse_source(f"{format_name}:{where}")
        opened = open_source(spark, source, context, on_error)
        for each in describe_feed(spark, opened, on_error=on_error):
            frame = decode_frame(spark, opened, each.table, on_error)
            rows = [row.asDict(True) for row in frame.collect()]
            for row in rows:
                file = row["source"]["file"]
                assert file.startswith(f"{source.folder}/")
                row["source"]["file"] = file[len(source.folder) :]
            found[str(each.table)] = sorted(map(repr, rows))
            assert sum(row["error"] is None for row in rows) == each.rows
    return found


@pytest.mark.parametrize("format_name", ["csv", "canal-json"])
def test_prefix_in_a_bucket_is_read_as_on_disk(
    place: str, spark: SparkSession, tmp_path: Path, format_name: str
) -> None:
    from cdcwire_conformance.spark import open_source, parse_source

    with recorded(
        f"spark/bucket-{format_name}",
        f"a prefix of {format_name} in a bucket to DataFrames",
        "A sink that was killed twice has written a stream with schema changes, partitions and a "
        "rename, into a bucket and into a directory. Spark reads the same rows of both, with their "
        "places, up to the checkpoint; and up to an earlier checkpoint fewer of them.",
    ) as result:
        context = Context(OPTIONS[format_name])
        bucket = place.replace("s3a:", "s3:")
        events = events_of_sink(ROWS)
        for target in (f"{bucket}/feed", str(tmp_path)):
            writer = PrefixWriter(open_store(target), format_name, context)
            write_prefix(writer, events, restart_points(ROWS, 2))
        on_disk = rows_in(spark, format_name, f"file:{tmp_path}", context)
        in_bucket = rows_in(spark, format_name, f"{place}/feed", context)
        result.counts = count(on_disk, in_bucket)
        wanted = rows_of(replayed(open_store(f"{bucket}/feed"), format_name, context))
        result.figures = {"rows": len(wanted), "tables": len(in_bucket)}
        assert result.counts.is_exact
        assert sum(map(len, in_bucket.values())) == len(wanted) >= ROWS
        early = sorted({event.position.commit_ts or 0 for event in events})[len(events) // 2]
        metadata = json.dumps({"checkpoint-ts": early}).encode()
        s3_client().put_object(Bucket=name_of(bucket), Key="feed/metadata", Body=metadata)
        earlier = rows_in(spark, format_name, f"{place}/feed", context)
        wanted = rows_of(replayed(open_store(f"{bucket}/feed"), format_name, context))
        assert 0 < sum(map(len, earlier.values())) == len(wanted) < ROWS
        opened = open_source(spark, parse_source(f"{format_name}:{place}/feed"), context)
        assert opened.prefix is not None
        assert opened.prefix.checkpoint == early


def test_messages_in_a_bucket_are_read_as_on_disk(
    place: str, spark: SparkSession, tmp_path: Path
) -> None:
    from cdcwire_conformance.spark import FeedError

    partitions = make_partitions("craft", ROWS, 3)
    for number, partition in enumerate(partitions):
        write_messages(str(tmp_path / f"{number}.jsonl"), partition.messages)
    put_folder(tmp_path, f"{place}/good")
    context = partitions[0].context
    on_disk = rows_in(spark, "craft", f"file:{tmp_path}", context)
    assert rows_in(spark, "craft", f"{place}/good", context) == on_disk
    assert sum(map(len, on_disk.values())) == ROWS
    # A line that is none, a poisoned message, and a file whose end is not there yet.
    first = tmp_path / "0.jsonl"
    lines = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(b"".join([lines[0], b"no JSON\n", *lines[1:]])[:-5])
    write_messages(str(tmp_path / "9.jsonl"), [KafkaMessage(None, b"<html>")])
    put_folder(tmp_path, f"{place}/bad")
    on_disk = rows_in(spark, "craft", f"file:{tmp_path}", context, "row")
    assert rows_in(spark, "craft", f"{place}/bad", context, "row") == on_disk
    with pytest.raises(FeedError, match=rf"^{place}/bad/[09]\.jsonl:\d+: "):
        rows_in(spark, "craft", f"{place}/bad", context)


def test_parquet_in_a_bucket_is_read(place: str, spark: SparkSession, tmp_path: Path) -> None:
    from cdcwire_conformance.spark import decode_frame, describe_feed, open_source, parse_source

    feed = make_feed("open-protocol", ROWS)
    messages = [(m.key, m.value) for m in feed.messages]
    frame = spark.createDataFrame(messages, "key binary, value binary")
    frame.repartition(2).write.parquet(f"{place}/feed")
    opened = open_source(spark, parse_source(f"open-protocol:{place}/feed"), feed.context)
    (described,) = describe_feed(spark, opened)
    assert decode_frame(spark, opened, described.table).count() == described.rows == ROWS


def test_schemas_of_avro_in_a_bucket_are_found_and_missed(
    place: str, spark: SparkSession, tmp_path: Path
) -> None:
    assert main(["generate", "avro", "--rows", str(ROWS), "--to", str(tmp_path)]) == 0
    put_folder(tmp_path, f"{place}/feed")
    on_disk = rows_in(spark, "avro", f"file:{tmp_path}", Context())
    assert rows_in(spark, "avro", f"{place}/feed", Context()) == on_disk
    assert sum(map(len, on_disk.values())) == ROWS
    (file,) = tmp_path.glob("*.jsonl")
    unknown = b"\x00\x00\x0f\xff\xff\x02"
    messages: list[Message] = [each for _, each in read_messages(str(file))]
    messages.append(KafkaMessage(None, unknown))
    write_messages(str(file), messages)
    put_folder(tmp_path, f"{place}/unknown")
    on_disk = rows_in(spark, "avro", f"file:{tmp_path}", Context(), "row")
    in_bucket = rows_in(spark, "avro", f"{place}/unknown", Context(), "row")
    assert in_bucket == on_disk
    bad = [row for rows in in_bucket.values() for row in rows if "'error': {" in row]
    assert len(bad) == len(in_bucket)
    assert all(f"'line': {len(messages)}" in row and "1048575" in row for row in bad)


@pytest.mark.parametrize("fault", ["truncated", "half-written", "removed"])
def test_damaged_objects_are_reported_as_on_disk(
    place: str, spark: SparkSession, tmp_path: Path, fault: str
) -> None:
    from cdcwire_conformance.spark import FeedError

    context = Context(OPTIONS["csv"])
    writer = PrefixWriter(open_store(str(tmp_path)), "csv", context)
    write_prefix(writer, events_of_sink(ROWS), restart_points(ROWS, 4))
    # One that has another behind it, so that it can be missed.
    files = sorted(path for path in tmp_path.rglob("*1.csv") if path.stat().st_size > 100)
    file = next(path for path in files if path.with_name(f"{path.stem[:-1]}2.csv").exists())
    if fault == "truncated":
        file.write_bytes(file.read_bytes()[:-7])
    elif fault == "half-written":
        file.write_bytes(b"")
        put_folder(tmp_path, f"{place}/feed")
        name = place.removeprefix("s3a://")
        key = f"feed/{file.relative_to(tmp_path).as_posix()}"
        upload = s3_client().create_multipart_upload(Bucket=name, Key=key)
        target = {"Bucket": name, "Key": key, "UploadId": upload["UploadId"], "PartNumber": 1}
        s3_client().upload_part(**target, Body=bytes(100))  # which nobody sees
    else:
        file.unlink()
    put_folder(tmp_path, f"{place}/feed")
    on_disk = rows_in(spark, "csv", f"file:{tmp_path}", context, "row")
    assert rows_in(spark, "csv", f"{place}/feed", context, "row") == on_disk
    has_error = any("'error': {" in row for rows in on_disk.values() for row in rows)
    assert has_error or fault == "removed"  # the table's first file, so that it has no row
    with pytest.raises(FeedError, match=f"^{place}/feed/"):
        rows_in(spark, "csv", f"{place}/feed", context)


def test_bucket_is_compared_with_a_topic(
    kafka: Kafka,
    place: str,
    new_name: NewName,
    spark: SparkSession,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with recorded(
        "spark/compare-bucket-topic",
        "a bucket compared with a topic on Spark",
        "The same changes lie as files of Craft in a bucket and in a topic of Open Protocol. "
        "cdcwire compare finds them equal; of a change that the bucket lacks it names the offset, "
        "of one that the topic lacks object and line.",
    ) as result:
        partitions = {name: make_partitions(name, ROWS, 2) for name in ("craft", "open-protocol")}
        url = topic_of(
            kafka,
            new_name("old"),
            [partition.messages for partition in partitions["open-protocol"]],
        )
        for number, partition in enumerate(partitions["craft"]):
            write_messages(str(tmp_path / f"{number}.jsonl"), partition.messages)
        put_folder(tmp_path, f"{place}/same")
        sides = [f"craft:{place}/same", f"open-protocol:{url}"]
        assert main(["compare", *sides]) == 0
        said = capsys.readouterr().out
        assert f"left   {sides[0]}\n" in said
        assert f"EQUAL: {ROWS} changes of 1 table" in said
        lines = (tmp_path / "1.jsonl").read_bytes().splitlines(keepends=True)
        (tmp_path / "1.jsonl").write_bytes(b"".join([*lines[:2], *lines[3:], lines[1]]))
        put_folder(tmp_path, f"{place}/other")
        assert main(["compare", f"craft:{place}/other", sides[1]]) == 1
        said = capsys.readouterr().out
        assert f"{place}/other/1.jsonl:" in said
        result.figures = {"changes": ROWS}


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize(
    ("what", "problem"),
    [
        ("no bucket", "there is no such bucket"),
        ("no prefix", "there is nothing"),
        ("nothing in it", "there is no *.jsonl or *.ndjson, and no *.parquet in this directory"),
        ("wrong key", "the store refuses it: look at the rights and at the keys"),
        ("dead", "nobody answers at http://127.0.0.1:"),
        ("silent", "nobody answers at http://127.0.0.1:"),
        ("unknown host", "nobody answers at http://nobody.invalid:9000: "),
    ],
)
def test_bucket_that_is_not_reached_is_one_line(
    bucket: str,
    store: ObjectStore,
    new_name: NewName,
    spark: SparkSession,
    silent: str,
    capsys: pytest.CaptureFixture[str],
    what: str,
    problem: str,
) -> None:
    name = name_of(make_bucket(new_name("other"))) if what != "no bucket" else new_name("nobodys")
    changed = {
        "wrong key": {"secret.key": "a-secret-of-mine"},
        "dead": {"endpoint": f"http://127.0.0.1:{free_port()}"},
        "silent": {"endpoint": silent},
        "unknown host": {"endpoint": "http://nobody.invalid:9000"},
    }
    tell_spark(spark, name, {**settings_of(store), **changed.get(what, {})})
    if what == "nothing in it":
        s3_client().put_object(Bucket=name, Key="feed/notes.txt", Body=b"")
    url = f"craft:s3a://{name}/feed"
    start = time.monotonic()
    assert main(["compare", url, url]) == 2
    seconds = time.monotonic() - start
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert f"{url.removeprefix('craft:')}: {problem}" in said.err
    assert "a-secret-of-mine" not in said.err
    assert seconds < 45


def test_object_without_rights_is_one_line(
    place: str, store: ObjectStore, spark: SparkSession, tmp_path: Path
) -> None:
    """A bucket that everybody may list and nobody may read."""
    from cdcwire_conformance.spark import (
        SparkUnavailable,
        describe_feed,
        open_source,
        parse_source,
    )
    from cdcwire_conformance.spark.session import readable_errors

    name = place.removeprefix("s3a://")
    feed = make_feed("craft", ROWS)
    write_messages(str(tmp_path / "a.jsonl"), feed.messages)
    put_folder(tmp_path, f"{place}/feed")
    rights = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"AWS": ["*"]},
                "Action": ["s3:ListBucket"],
                "Resource": [f"arn:aws:s3:::{name}"],
            }
        ],
    }
    s3_client().put_bucket_policy(Bucket=name, Policy=json.dumps(rights))
    anonymous = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
    tell_spark(spark, name, {"aws.credentials.provider": anonymous})
    opened = open_source(spark, parse_source(f"craft:{place}/feed"), feed.context)
    with pytest.raises(SparkUnavailable, match="AccessDenied") as caught, readable_errors():
        describe_feed(spark, opened)
    assert "\n" not in str(caught.value)


def test_missing_jars_are_one_line(store: ObjectStore) -> None:
    """A separate Spark, as a file system can't be taken away from one that runs."""
    url = "craft:s3a://bucket/feed"
    words = [sys.executable, "-m", "cdcwire_conformance", "compare", url, url]
    done = subprocess.run(
        [*words, "--master", "local[1]", "--conf", "spark.jars="],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "Spark has not all classes of s3a://: start the session with" in done.stderr


def test_compare_brings_jars_and_finds_the_endpoint(
    place: str, store: ObjectStore, tmp_path: Path
) -> None:
    """A separate Spark, which gets the store's address from AWS's variables alone."""
    feed = make_feed("craft", ROWS)
    write_messages(str(tmp_path / "a.jsonl"), feed.messages)
    put_folder(tmp_path, f"{place}/feed")
    words = [sys.executable, "-m", "cdcwire_conformance", "compare"]
    done = subprocess.run(
        [*words, f"craft:{place}/feed", f"craft:file:{tmp_path}", "--master", "local[1]"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f"EQUAL: {ROWS} changes of 1 table" in done.stdout


@pytest.fixture
def proxied_place(
    store: ObjectStore, bucket: str, spark: SparkSession
) -> Iterator[tuple[StoreProxy, str]]:
    """A proxy before the store, and the URL of a new bucket, which Spark reaches through it."""
    with proxy_to_store(store) as proxy:
        tell_spark(spark, name_of(bucket), settings_of(proxy.service))
        yield proxy, f"s3a://{name_of(bucket)}"


def test_bucket_that_throttles_is_read_whole_by_spark(
    proxied_place: tuple[StoreProxy, str], spark: SparkSession, tmp_path: Path
) -> None:
    with recorded(
        "spark/bucket-throttled",
        "Spark reads a bucket that throttles",
        "Each fifth request of Spark's is answered by 503 SlowDown. All rows are read, once.",
    ) as result:
        proxy, place = proxied_place
        put_lines(tmp_path)
        put_folder(tmp_path, f"{place}/feed")
        refused = 0
        asked = 0

        def fault(_request: StoreRequest, ask: Callable[[], Answer]) -> Answer:
            nonlocal asked, refused
            asked += 1
            if asked % 5:
                return ask()
            refused += 1
            return SLOW_DOWN

        proxy.fault = fault
        wanted = rows_in(spark, "craft", f"file:{tmp_path}", CRAFT)
        got = rows_in(spark, "craft", f"{place}/feed", CRAFT)
        result.counts = count(wanted, got)
        result.figures = {"requests": asked, "refused": refused}
        assert result.counts.is_exact
        assert refused > 0


@pytest.mark.parametrize("is_told", [True, False], ids=["told", "untold"])
def test_object_that_is_cut_is_read_whole_or_named_by_spark(
    proxied_place: tuple[StoreProxy, str], spark: SparkSession, tmp_path: Path, is_told: bool
) -> None:
    from cdcwire_conformance.spark import SourceError

    told = "the whole" if is_told else "the part"
    with recorded(
        f"spark/bucket-cut-{'told' if is_told else 'untold'}",
        f"Spark reads an object that is cut on its way, whose header has {told}'s length",
        f"A file of messages comes up to the end of a line, and the header has {told}'s length. "
        "Where that is the whole's, S3A asks for the rest, and all rows are there. Else it takes "
        "the part for the file: one line names the file and the bytes that came.",
    ) as result:
        proxy, place = proxied_place
        put_lines(tmp_path)
        put_folder(tmp_path, f"{place}/feed")
        text = (tmp_path / "feed.jsonl").read_bytes()
        end, cuts = text.index(b"\n", len(text) // 2) + 1, 0

        def fault(request: StoreRequest, ask: Callable[[], Answer]) -> Answer:
            nonlocal cuts
            answer = ask()
            if request.method != "GET" or not request.key or len(answer.body) <= end:
                return answer
            cuts += 1
            return cut(answer, end, is_told=is_told)

        proxy.fault = fault
        if not is_told:
            with pytest.raises(SourceError) as said:
                rows_in(spark, "craft", f"{place}/feed", CRAFT)
            assert str(said.value) == (
                f"{place}/feed/feed.jsonl: can't be read: {end:,} of its {len(text):,} bytes came; "
                "try again"
            )
            result.figures["said"] = str(said.value)
            proxy.fault = no_fault
        wanted = rows_in(spark, "craft", f"file:{tmp_path}", CRAFT)
        result.counts = count(wanted, rows_in(spark, "craft", f"{place}/feed", CRAFT))
        result.figures["cut"] = cuts
        assert result.counts.is_exact
        assert cuts > 0


def put_lines(folder: Path) -> None:
    """Write a file of messages, a change each."""
    feed = make_feed("craft", 60, options={"max-batch-size": 1})
    write_messages(str(folder / "feed.jsonl"), feed.messages)
