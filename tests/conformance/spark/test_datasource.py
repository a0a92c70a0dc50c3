"""``spark.read.format("cdcwire")``: the rows of ``decode_frame``, and a line for what won't do."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from cdcwire.core.context import Context
from cdcwire.ddl import parse_ddl
from cdcwire_conformance.cli import main
from cdcwire_conformance.decode.reading import FeedError
from cdcwire_conformance.spark import (
    SourceError,
    decode_frame,
    describe_feed,
    errors_frame,
    good_rows,
    open_source,
    parse_source,
    readable_errors,
    register_datasource,
)
from cdcwire_conformance.spark.reading.datasource import OPTIONS, FeedSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 200
DDL = """CREATE TABLE {} (id bigint not null primary key, quantity int, price decimal(12,2),
  status enum('new','paid','sent'))"""


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A feed of craft in three files."""
    folder = tmp_path_factory.mktemp("feed")
    assert main(["generate", "craft", "--rows", str(ROWS), "--to", str(folder)]) == 0
    (file,) = folder.glob("*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.unlink()
    for number in range(3):
        (folder / f"{number}.jsonl").write_bytes(b"".join(lines[number::3]))
    return folder


@pytest.fixture(scope="module")
def registered(spark: SparkSession) -> SparkSession:
    register_datasource(spark)
    return spark


def read(spark: SparkSession, path: str, **options: str) -> DataFrame:
    with readable_errors():
        return spark.read.format("cdcwire").options(**options).load(path)


def rows_of(frame: DataFrame) -> list[str]:
    with readable_errors():
        return sorted(map(repr, frame.collect()))


def test_rows_and_schema_are_those_of_decode_frame(registered: SparkSession, feed: Path) -> None:
    source = parse_source(f"craft:file:{feed}")
    (described,) = describe_feed(registered, source)
    wanted = decode_frame(registered, source, described.table)
    found = read(registered, f"file:{feed}", format="craft", share_bytes="3000")
    assert found.schema == wanted.schema
    assert found.rdd.getNumPartitions() > 3
    rows = rows_of(found)
    assert rows == rows_of(wanted)
    assert len(rows) == ROWS


def test_chosen_columns_alone_are_read(registered: SparkSession, feed: Path) -> None:
    found = read(registered, str(feed), format="craft", columns="c1, c7", temporal="native")
    assert found.schema["after"].dataType.names == ["c1", "c7"]
    assert found.where("coalesce(after.c1, before.c1) IS NOT NULL").count() == ROWS


@pytest.mark.parametrize("describe", ["true", "false"])
def test_prefix_is_read_as_in_a_replay(
    registered: SparkSession, storage_stream: Any, tmp_path: Path, describe: str
) -> None:
    text = storage_stream.write("csv", tmp_path / "csv", is_restarted=True)
    options = storage_stream.options["csv"]
    ddl = tmp_path / "tables.sql"
    ddl.write_text("USE shop;\nCREATE TABLE items (id int not null primary key, name varchar(20));")
    given = {f"option.{name}": str(value).lower() for name, value in options.items()}
    if describe == "false":
        given["ddl"] = str(ddl)
    found = read(
        registered,
        text.removeprefix("csv:"),
        format="csv",
        table="items",
        describe=describe,
        **given,
    )
    context = Context(options=options)
    opened = open_source(registered, parse_source(text), context)
    described = {each.table.table: each for each in describe_feed(registered, opened)}
    wanted = decode_frame(registered, opened, described["items"].table)
    columns = ["op", "commit_ts", "after.id", "after.name", "source.file", "source.offset"]
    if describe == "false":  # what came before is known of one who looked
        wanted, found = (frame.select(*columns).distinct() for frame in (wanted, found))
        assert set(rows_of(wanted)) <= set(rows_of(found))
        return
    assert rows_of(found.select(*columns)) == rows_of(wanted.select(*columns))
    assert found.count() == described["items"].rows > 0


def test_file_that_cannot_be_had_is_a_row_of_its_table(
    registered: SparkSession, storage_stream: Any, tmp_path: Path
) -> None:
    text = storage_stream.write("csv", tmp_path / "csv", is_restarted=True)
    lost = sorted((tmp_path / "csv").glob("shop/items/*/101/2024-05-02/*.csv"))[0]
    lost.unlink()
    given = {f"option.{n}": str(v).lower() for n, v in storage_stream.options["csv"].items()}
    options = {"format": "csv", "table": "shop.items", **given}
    found = read(registered, text.removeprefix("csv:"), on_error="row", **options)
    (bad,) = errors_frame(found).collect()
    assert (bad.file, bad.clause) == (str(lost), "storage: replay order")
    with pytest.raises(FeedError, match="storage: replay order"):
        read(registered, text.removeprefix("csv:"), **options)


def test_bad_message_is_a_row_or_a_stop(
    registered: SparkSession, feed: Path, tmp_path: Path
) -> None:
    lines = (feed / "0.jsonl").read_bytes().splitlines(keepends=True)
    lines[1:1] = [b'{"key": null, "value": "%s"}\n' % base64.b64encode(b"<html>"), b"no JSON\n"]
    (tmp_path / "m.jsonl").write_bytes(b"".join(lines))
    (described,) = describe_feed(registered, parse_source(f"craft:file:{feed}"))
    found = read(registered, str(tmp_path), format="craft", on_error="row")
    assert [row.line for row in errors_frame(found).orderBy("line").collect()] == [2, 3]
    assert 0 < good_rows(found).count() < described.rows
    with pytest.raises(FeedError, match=r"m\.jsonl:2: byte 0: "):
        read(registered, str(tmp_path), format="craft")


def test_defined_table_needs_no_look_at_the_feed(registered: SparkSession, tmp_path: Path) -> None:
    """An unreadable feed has the schema that the caller defines."""
    (tmp_path / "tables.sql").write_text(DDL.format("shop.orders"))
    (tmp_path / "m.jsonl").write_text("no JSON\n")
    options = {"format": "craft", "ddl": str(tmp_path / "tables.sql"), "describe": "false"}
    found = read(registered, str(tmp_path), **options, on_error="row")
    (table,) = parse_ddl(DDL.format("orders"), "shop")
    assert found.schema["after"].dataType.names == [column.name for column in table.columns or ()]
    assert errors_frame(found).count() == found.count() == 1


def test_one_of_several_tables_is_chosen(registered: SparkSession, tmp_path: Path) -> None:
    ddl = tmp_path / "tables.sql"
    ddl.write_text(f"{DDL.format('shop.orders')};\n{DDL.format('shop.items')};")
    to = str(tmp_path / "feed")
    assert main(["generate", "craft", "--rows", "50", "--ddl", str(ddl), "--to", to]) == 0
    with pytest.raises(SourceError, match=r"by option 'table': shop\.items, shop\.orders$"):
        read(registered, to, format="craft")
    with pytest.raises(SourceError, match=r"has no table x; it has shop\.items, shop\.orders$"):
        read(registered, to, format="craft", table="x")
    names = {
        row["table"]
        for name in ("items", "shop.orders")
        for row in read(registered, to, format="craft", table=name).select("table").collect()
    }
    assert names == {"items", "orders"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "the format of the feed is missing: .option"),
        ({"format": "soap"}, "unknown format 'soap'; known: "),
        ({"format": "craft", "onerror": "row"}, "option 'onerror' is unknown: use one of "),
        ({"format": "craft", "on_error": "skip"}, "option 'on_error' is one of stop, row, not "),
        ({"format": "craft", "share_bytes": "1 MB"}, "option 'share_bytes' is a number of bytes"),
        ({"format": "craft", "columns": "c1,x"}, "has no column x"),
        (
            {"format": "craft", "describe": "false"},
            "needs the tables of the feed: option ddl",
        ),
        ({"format": "craft", "ddl": "/no/such.sql"}, "/no/such.sql"),
        ({"format": "craft", "option.max-batch": "3"}, "max-batch"),
    ],
)
def test_wrong_option_is_one_line(
    registered: SparkSession, feed: Path, options: Mapping[str, str], said: str
) -> None:
    with pytest.raises(SourceError) as caught:
        read(registered, str(feed), **options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "the path of the feed is missing"),
        ("s3a://bucket/feed", "a data source has no session to reach it: use decode_frame"),
        ("kafka://broker/orders", "a data source has no session to reach it: use decode_frame"),
        ("file:/no/such/folder", "/no/such/folder: there is no such directory"),
    ],
)
def test_path_that_will_not_do_is_one_line(registered: SparkSession, path: str, said: str) -> None:
    reader = registered.read.format("cdcwire").option("format", "craft")
    with pytest.raises(SourceError) as caught, readable_errors():
        reader.load(path or None)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_schema_is_not_the_users(registered: SparkSession, feed: Path) -> None:
    reader = registered.read.format("cdcwire").option("format", "craft").schema("id long")
    with pytest.raises(SourceError, match="instead of a schema"), readable_errors():
        reader.load(str(feed)).collect()


def test_feed_without_messages_has_no_rows(registered: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "tables.json").write_text(json.dumps([]))
    (tmp_path / "tables.sql").write_text(DDL.format("shop.orders"))
    (tmp_path / "m.jsonl").write_text("")
    options = {"format": "craft", "ddl": str(tmp_path / "tables.sql"), "describe": "false"}
    assert read(registered, str(tmp_path), **options).collect() == []


def test_sql_reads_it_too(registered: SparkSession, feed: Path) -> None:
    given = f"format 'craft', path 'file:{feed}', columns 'c1'"
    registered.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW feed_of_craft USING cdcwire OPTIONS ({given})"
    )
    assert registered.sql("SELECT count(op) AS n FROM feed_of_craft").collect()[0].n == ROWS
    registered.catalog.dropTempView("feed_of_craft")


@pytest.mark.usefixtures("spark")
def test_example_of_the_page_runs(
    feed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "spark.md").read_text("utf-8")
    chapter = page[page.index("## As a data source") :]
    example = re.search(r"```python\n(.*?)```", chapter, re.DOTALL)
    assert example is not None
    (tmp_path / "feed-craft").symlink_to(feed)
    monkeypatch.chdir(tmp_path)
    exec(compile(example[1].replace("file:feed", f"file:{tmp_path}/feed"), "spark.md", "exec"), {})
    assert re.search(r"\|insert\| +\d+\|", capsys.readouterr().out)


def test_options_are_those_of_the_page() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "spark.md").read_text("utf-8")
    chapter = page[page.index("## As a data source") :]
    rows = [line.split("|")[1] for line in chapter.splitlines() if line.startswith("| `")]
    given = {
        name
        for row in rows[: rows.index(next(r for r in rows if "on_error" in r)) + 1]
        for name in re.findall(r"`(\w+)`", row)
    }
    assert given == OPTIONS


def test_errors_without_readable_errors_are_short(registered: SparkSession, feed: Path) -> None:
    """Spark adds its own words, and no traceback."""
    reader = registered.read.format("cdcwire").option("format", "craft").option("table", "no.such")
    with pytest.raises(PySparkException, match=r"has no table no\.such") as caught:
        reader.load(str(feed))
    assert len(str(caught.value)) < 600
    assert "Traceback" not in str(caught.value)


def test_stream_of_a_data_source_is_refused_in_one_line(
    feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark asks a reader for its first offset, and shows the error of that."""
    monkeypatch.setenv("SPARK_HIDE_TRACEBACK", "")
    source = FeedSource({"format": "craft", "path": str(feed)})
    reader = source.streamReader(source.schema())
    with pytest.raises(SourceError, match="use decode_stream for a topic as a stream"):
        reader.initialOffset()
    assert os.environ["SPARK_HIDE_TRACEBACK"] == "1"
