"""Places that only Java reaches, shown by the local file system as Hadoop has it."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cdcwire.core.context import Context
from cdcwire.files import stores
from cdcwire.files.messages_io import read_messages
from cdcwire.files.stores import LocalStore, opener_in
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main
from cdcwire_conformance.compare.feed import OpenedFeed
from cdcwire_conformance.compare.recording import record_of
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.spark import (
    FeedError,
    SourceError,
    decode_frame,
    describe_feed,
    hadoop,
    open_source,
    parse_source,
    readable_errors,
)
from cdcwire_conformance.spark.jars import with_connectors
from cdcwire_conformance.spark.reading.workers import SparkWorkers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 120
STRANGE = "a b%20=[1]{x}"  # as a folder, each sign of it means something to somebody


def by_java(folder: Path, format_name: str = "craft") -> Source:
    """The source of a folder that is reached by Java only."""
    return Source(get_format(format_name), f"file://{folder}", "place", ())


def rows_in(
    spark: SparkSession, source: Source, context: Context, on_error: Any = "stop"
) -> dict[str, list[str]]:
    """All rows of a feed by table, with their places from the folder on."""
    with readable_errors():
        opened = open_source(spark, source, context, on_error)
        found: dict[str, list[str]] = {}
        for each in describe_feed(spark, opened, on_error=on_error):
            rows = [
                row.asDict(True)
                for row in decode_frame(spark, opened, each.table, on_error).collect()
            ]
            for row in rows:
                folder = source.folder.removeprefix("file://")
                file = row["source"]["file"].removeprefix("file:")
                assert file.startswith(f"{folder}/")
                row["source"]["file"] = file[len(folder) :]
            found[str(each.table)] = sorted(map(repr, rows))
            assert sum(row["error"] is None for row in rows) == each.rows
        return found


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    """A feed of craft in two files, one of them empty of messages at its end."""
    folder = tmp_path / STRANGE
    assert main(["generate", "craft", "--rows", str(ROWS), "--to", str(folder)]) == 0
    (file,) = folder.glob("*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    half = len(lines) // 2
    file.write_bytes(b"".join(lines[:half]))
    (folder / "second.jsonl").write_bytes(b"\n".join(lines[half:]) + b"\n\n")
    (folder / "third.jsonl").write_bytes(b"")
    return folder


def test_messages_are_those_that_workers_open(spark: SparkSession, feed: Path) -> None:
    local = rows_in(spark, parse_source(f"craft:file:{feed}"), Context())
    assert rows_in(spark, by_java(feed), Context()) == local
    assert sum(map(len, local.values())) == ROWS


def test_bad_messages_have_the_same_lines(spark: SparkSession, feed: Path) -> None:
    second = feed / "second.jsonl"
    lines = second.read_bytes().splitlines(keepends=True)
    second.write_bytes(
        b"".join([*lines[:6], b'{"key": null, "value": "AAAA"}\n', *lines[6:-2]])[:-9]
    )
    local = rows_in(spark, parse_source(f"craft:file:{feed}"), Context(), "row")
    assert rows_in(spark, by_java(feed), Context(), "row") == local
    texts = [row for rows in local.values() for row in rows]
    assert sum("'line': 7}" in row for row in texts) == 1
    with pytest.raises(FeedError, match=r"^file:/.*/second\.jsonl:7: byte 0: "):
        rows_in(spark, by_java(feed), Context())


def test_parquet_is_read(spark: SparkSession, feed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "parquet"
    folder.mkdir()
    messages = [m for f in sorted(feed.glob("[ms]*.jsonl")) for _, m in read_messages(str(f))]
    table = pa.table(
        {
            name: pa.array([getattr(m, name) for m in messages], pa.binary())
            for name in ("key", "value")
        }
    )
    pq.write_table(table, folder / "a.parquet")
    opened = open_source(spark, by_java(folder), Context())
    (described,) = describe_feed(spark, opened)
    assert described.rows == decode_frame(spark, opened, described.table).count() == ROWS


@pytest.mark.parametrize("format_name", ["csv", "canal-json"])
def test_prefix_is_the_one_that_workers_open(
    spark: SparkSession, storage_stream: Any, tmp_path: Path, format_name: str
) -> None:
    folder = tmp_path / "prefix"
    text = storage_stream.write(format_name, folder, is_restarted=True)
    (folder / ".part").write_text("")
    metadata = folder / "metadata"
    metadata.write_text(f'{{"checkpoint-ts":{storage_stream.commit_ts(4, 1010)}}}')
    files = sorted(folder.glob("shop/orders/*/2024-05-0[13]/*1.*"))
    files[-1].write_bytes(files[-1].read_bytes()[:-7])
    sorted(folder.glob("shop/items/*/101/2024-05-02/*"))[0].unlink()
    data = [file for file in folder.glob("shop/customers/**/CDC*") if file.parent.name != "meta"]
    max(data).write_bytes(b"")  # Spark itself passes over it
    context = Context(options=storage_stream.options[format_name])
    local = rows_in(spark, parse_source(text), context, "row")
    assert rows_in(spark, by_java(folder, format_name), context, "row") == local
    assert set(local) == {"shop.clients", "shop.customers", "shop.items", "shop.orders"}
    texts = [row for rows in local.values() for row in rows]
    assert any("'clause': 'storage: replay order'" in row for row in texts)
    broken = f"/{files[-1].relative_to(folder).as_posix()}"
    assert any(f"'clause': '{format_name}: " in row and broken in row for row in texts)
    with pytest.raises(FeedError, match="storage: replay order"):
        open_source(spark, by_java(folder, format_name), context)


def test_checkpoint_is_read_before_the_list(
    storage_stream: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sink goes on while it is looked at: its later rows are not read, and none is missed."""
    text = storage_stream.write("csv", tmp_path / "now")
    storage_stream.write("csv", tmp_path / "later")
    for file in [*(tmp_path / "now").rglob("2024-05-04/*"), tmp_path / "now" / "metadata"]:
        file.unlink()
    early = storage_stream.commit_ts(4, 0)
    (tmp_path / "now" / "metadata").write_text(f'{{"checkpoint-ts":{early}}}')
    read = LocalStore.read

    def read_and_go_on(self: LocalStore, name: str, most: int | None = None) -> bytes:
        value = read(self, name, most)
        if name == "metadata":
            for file in (tmp_path / "later").rglob("*"):
                here = tmp_path / "now" / file.relative_to(tmp_path / "later")
                if file.is_file():
                    here.parent.mkdir(parents=True, exist_ok=True)
                    here.write_bytes(file.read_bytes())
        return value

    monkeypatch.setattr(LocalStore, "read", read_and_go_on)
    context = Context(options=storage_stream.options["csv"])
    opened = open_source(None, parse_source(text), context)
    assert opened.prefix is not None
    assert opened.prefix.checkpoint == early
    days = {file.path.date for file in opened.prefix.files}
    assert len(days) == 4
    assert sum(mark.beyond for mark in opened.prefix.counts or ()) == 3 * storage_stream.rows


def test_without_a_session_it_is_the_same(
    storage_stream: Any, tmp_path: Path, spark: SparkSession
) -> None:
    text = storage_stream.write("canal-json", tmp_path / "prefix", is_restarted=True)
    context = Context(options=storage_stream.options["canal-json"])
    alone, with_spark = (open_source(each, parse_source(text), context) for each in (None, spark))
    assert alone == with_spark
    assert describe_feed(None, alone) == describe_feed(spark, with_spark)


@pytest.mark.parametrize("name", ["_a.jsonl", ".a.jsonl"])
def test_file_that_spark_would_leave_out_is_reported(
    spark: SparkSession, feed: Path, name: str
) -> None:
    (feed / "second.jsonl").rename(feed / name)
    with pytest.raises(SourceError, match=r"Spark ignores names that begin so; rename the file$"):
        open_source(spark, by_java(feed), Context())


def test_file_that_is_too_large_is_reported(
    spark: SparkSession, feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "MAX_BYTES", 100)
    with pytest.raises(SourceError, match=r"reads it whole, at most 100: write smaller files"):
        open_source(spark, by_java(feed), Context())


def test_large_file_is_read_in_pieces(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = bytes(range(256)) * 40
    (tmp_path / "x").write_bytes(value)
    monkeypatch.setattr(hadoop, "_READ_AT_ONCE", 100)
    store = SparkWorkers(spark).store_at(f"file://{tmp_path}")
    listed = [(each.path, each.size) for each in store.list()]
    assert listed == [("x", len(value))] == [(e.path, e.size) for e in store.list(recursive=False)]
    assert store.read("x") == value
    assert store.sum_of("x") == (len(value), hashlib.sha256(value).hexdigest())
    assert store.look("x") == next(store.list())
    with opener_in(store)(f"{store.root}/x") as file:
        file.seek(300)
        assert file.read(7) == value[300:307]
        assert file.tell() == 307


def test_record_of_a_feed_that_only_java_reaches_has_the_sums_of_its_files(
    spark: SparkSession, feed: Path
) -> None:
    options = CompareOptions()
    opened = OpenedFeed(open_source(spark, by_java(feed), Context()))
    record = record_of(opened.described(options, workers=SparkWorkers(spark))[0], {})
    found = {each.name: (each.size, each.sha256) for each in record.files}
    assert set(found) == {file.name for file in feed.glob("*.jsonl")}
    for name, (size, digest) in found.items():
        content = (feed / name).read_bytes()
        assert (size, digest) == (len(content), hashlib.sha256(content).hexdigest())
    assert record.sha256 is not None
    (feed / "second.jsonl").unlink()
    assert record_of(opened, {}).sha256 is None


def test_store_of_hadoop_puts_and_lists_as_a_directory_does(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = SparkWorkers(spark).store_at(f"file://{tmp_path}")
    store.put("s/t/x", b"1")
    store.put("s/t/x", b"22")
    assert (tmp_path / "s/t/x").read_bytes() == b"22"
    assert [(each.path, each.size) for each in store.list("s/t")] == [("s/t/x", 2)]
    assert not list(store.list("s/none"))
    assert store.look("s/none") is None
    with pytest.raises(FileNotFoundError):
        store.read("s/none")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("file:///no/such/folder", "file:///no/such/folder: there is nothing"),
        ("gs://bucket/feed", "knows no gs://: give its jars by spark.jars or"),
        (
            "s3a://bucket/feed",
            'classes of s3a://: start the session with {"spark.jars": s3a_jars()}',
        ),
    ],
)
def test_place_that_is_not_reached_is_one_line(spark: SparkSession, url: str, said: str) -> None:
    with pytest.raises(SourceError) as caught:
        open_source(spark, Source(get_format("craft"), url, "place", ()), Context())
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_server_that_is_gone_is_one_line_and_soon(spark: SparkSession) -> None:
    with socket.socket() as taken:  # and nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"hdfs://127.0.0.1:{taken.getsockname()[1]}/feed"
        with pytest.raises(SourceError, match=rf"^{url}: nobody answers there: ") as caught:
            open_source(spark, parse_source(f"craft:{url}"), Context())
    assert "\n" not in str(caught.value)


AWS = {"AWS_ENDPOINT_URL": "http://store:9000", "AWS_SECRET_ACCESS_KEY": "not told"}


@pytest.mark.parametrize(
    ("settings", "environ", "wanted"),
    [
        ({}, {}, {}),
        (
            {},
            AWS,
            {
                "endpoint": "http://store:9000",
                "path.style.access": "true",
                "endpoint.region": "us-east-1",
            },
        ),
        ({}, {"AWS_REGION": "eu-west-1"}, {"endpoint.region": "eu-west-1"}),
        (
            {"spark.hadoop.fs.s3a.endpoint": "http://own"},
            {**AWS, "AWS_DEFAULT_REGION": "r"},
            {"endpoint": "http://own", "path.style.access": "true", "endpoint.region": "r"},
        ),
    ],
)
def test_endpoint_may_be_in_the_environment(
    settings: Mapping[str, str], environ: Mapping[str, str], wanted: Mapping[str, str]
) -> None:
    given = {**settings, "spark.jars": "own.jar"}
    found = with_connectors(given, ["s3a"], environ)
    spark_settings = {f"spark.hadoop.fs.s3a.{name}": value for name, value in wanted.items()}
    assert found == {"spark.jars": "own.jar", **spark_settings}
    assert with_connectors(given, ["", "kafka"], environ) == given


def test_delta_gets_its_settings_even_with_own_jars() -> None:
    given = {"spark.jars": "own.jar", "spark.sql.extensions": "own.Extension"}
    catalog = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
    found = with_connectors(given, ["delta"], {})
    assert found == {**given, "spark.sql.catalog.spark_catalog": catalog}


def test_own_place_is_its_url(tmp_path: Path) -> None:
    source = parse_source("craft:s3a://bucket/a/b/")
    assert (str(source), source.scheme, source.kind) == ("craft:s3a://bucket/a/b", "s3a", "place")
    assert parse_source("craft:kafka://broker/orders").scheme == "kafka"
    (tmp_path / "m.jsonl").write_text("")
    assert parse_source(f"craft:file://{tmp_path}").scheme == ""
    assert replace(source, folder="abfs://c@a.net/x").scheme == "abfs"
