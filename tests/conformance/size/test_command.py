"""``cdcwire size`` and ``cdcwire generate --ddl`` as a user calls them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from cdcwire.cli.context import UsageError
from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import RowChange
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.cli import generate, size
from cdcwire_conformance.size import SizeError
from cdcwire_generators.workloads import workload

DDL = """
CREATE TABLE shop.orders (
  id bigint unsigned NOT NULL, paid tinyint(1), state enum('new','paid, sent') NOT NULL,
  total decimal(12,2), doubled decimal(13,2) AS (total * 2), at timestamp(3), f float unsigned,
  y year, b bit(9), s set('a','b'), v vector(3), raw varbinary(40), PRIMARY KEY (id)
);
CREATE TABLE lines (order_id bigint NOT NULL, n int NOT NULL, PRIMARY KEY (order_id, n));
"""
QUICK = ["--batches", "4", "--compressions", "none,zlib", "--jobs", "1"]


# What these formats need so that rows come back with commit timestamps and old values.
_TELL_ALL = {
    "csv": ("--option", "include-commit-ts=true", "--option", "output-old-value=true"),
    "canal-json": ("--option", "enable-tidb-extension=true"),
}
# Avro needs it where a feed does not tell the scale of a DECIMAL.
_AS_TEXT = ("--option", "avro-decimal-handling-mode=string") if "avro" in FORMAT_NAMES else ()
_MESSAGES = {"csv": 1, "canal-json": 40}
# Formats whose feeds tell a row of a workload whole.
_WHOLE = ("craft", "craft-proposal", "open-protocol", "csv", "canal-json")


def run(module: Any, *words: str) -> int:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    code: int = module.run(parser.parse_args(list(words)))
    return code


@pytest.fixture
def ddl(tmp_path: Path) -> Path:
    pytest.importorskip("sqlglot", reason="the extra [ddl] is not installed")
    file = tmp_path / "shop.sql"
    file.write_text(DDL)
    return file


def feed_of(tmp_path: Path, format_name: str, *words: str) -> Path:
    folder = tmp_path / f"feed-{format_name}"
    assert run(generate, format_name, "--rows", "40", "--to", str(folder), *words) == 0
    return folder


def measured(tmp_path: Path, *words: str) -> dict[str, Any]:
    file = tmp_path / "sizes.json"
    assert run(size, *QUICK, "--json", str(file), *words) == 0
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def test_size_prints_what_it_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="the extra [size] is not installed")
    target = tmp_path / "sizes.md"
    words = ["--workload", "tiny", "--rows", "20", "--markdown", str(target)]
    assert run(size, *QUICK, *words, "--picture", str(tmp_path / "sizes.png")) == 0
    printed = capsys.readouterr()
    assert printed.out == target.read_text(encoding="utf-8")
    assert printed.out.startswith("# Bytes per row\n")
    assert printed.err == ""
    assert (tmp_path / "sizes.png").read_bytes().startswith(b"\x89PNG")


def test_size_measures_a_feed_and_a_workload_on_two_processes(tmp_path: Path) -> None:
    folder = feed_of(tmp_path, "craft", "--workload", "tiny")
    words = ("--feed", f"craft:file:{folder}", "--workload", "tiny", "--rows", "40")
    of_workload, of_feed = measured(tmp_path, *words, "--formats", "craft", "--jobs", "2")[
        "workloads"
    ]
    assert of_feed["rows"] == of_workload["rows"] == 40
    assert of_feed["cells"][0]["bytes"]["none"] == of_workload["cells"][0]["bytes"]["none"]


def test_size_measures_each_table_of_a_ddl(tmp_path: Path, ddl: Path) -> None:
    found = measured(tmp_path, "--ddl", str(ddl), "--rows", "30")
    assert [(each["name"], each["rows"]) for each in found["workloads"]] == [
        ("shop.orders", 30),
        ("test.lines", 30),
    ]
    assert not any(each["refused"] for each in found["workloads"])


@pytest.mark.parametrize("format_name", _WHOLE)
def test_size_measures_a_feed_in_the_other_formats(tmp_path: Path, format_name: str) -> None:
    options = _TELL_ALL.get(format_name, ())
    folder = feed_of(tmp_path, format_name, "--workload", "orders-10", *options)
    options += _AS_TEXT
    found = measured(tmp_path, "--feed", f"{format_name}:file:{folder}", *options)
    (workload,) = found["workloads"]
    assert (workload["rows"], workload["refused"]) == (40, [])
    assert workload["received"]["format"] == format_name
    assert workload["received"]["messages"] == _MESSAGES.get(format_name, 3)
    sizes = {cell["format"]: cell["bytes"]["none"] for cell in workload["cells"]}
    direct = measured(tmp_path, "--workload", "orders-10", "--rows", "40", *options)
    made = {cell["format"]: cell["bytes"]["none"] for cell in direct["workloads"][0]["cells"]}
    for name in (*_WHOLE, "avro", "datahub-tuple"):  # the others tell how late a row was, too
        assert sizes[name] == made[name], name


@pytest.mark.parametrize("format_name", ["datahub-tuple", "datahub-blob"])
def test_size_measures_a_feed_of_datahub(tmp_path: Path, format_name: str) -> None:
    """Halves of an update meet, also where each has a message of its own."""
    rows = [event for event in workload("orders-10", 40, 1) if isinstance(event, RowChange)]
    records = 40 + sum(row.op == "update" for row in rows)
    messages = records if format_name == "datahub-blob" else -(-records // 16)
    folder = feed_of(tmp_path, format_name, "--workload", "orders-10")
    words = ("--feed", f"{format_name}:file:{folder}", "--tables", str(folder / "tables.json"))
    (of_feed,) = measured(tmp_path, *words, "--formats", f"craft,{format_name}")["workloads"]
    assert (of_feed["rows"], of_feed["refused"]) == (40, [])
    received = of_feed["received"]
    assert (received["format"], received["messages"]) == (format_name, messages)
    if format_name == "datahub-blob":
        cells = {cell["format"]: cell["bytes"]["none"] for cell in of_feed["cells"]}
        assert cells[format_name] == received["bytes"]["none"]


@pytest.mark.skipif("avro" not in FORMAT_NAMES, reason="avro is not registered")
def test_size_measures_a_feed_of_avro_without_its_schemas(tmp_path: Path) -> None:
    """Its updates have no old rows, so that it is rows that were inserted."""
    given = {"enable-tidb-extension": True}
    rows = workload("orders-10", 40, 1, inserts_only=True)
    messages = get_format("avro").from_events(rows, context=Context(given))
    write_messages(str(tmp_path / "a.jsonl"), messages)
    options = ("--option", "enable-tidb-extension=true")
    found = measured(tmp_path, "--feed", f"avro:file:{tmp_path}", *options)
    (measured_feed,) = found["workloads"]
    assert (measured_feed["rows"], measured_feed["refused"]) == (40, [])
    received = measured_feed["received"]
    assert (received["format"], received["messages"]) == ("avro", 40)
    sizes = {cell["format"]: cell["bytes"]["none"] for cell in measured_feed["cells"]}
    assert sizes["avro"] == received["bytes"]["none"]


def test_size_takes_a_sample_of_a_feed(tmp_path: Path) -> None:
    folder = feed_of(tmp_path, "craft")
    found = measured(tmp_path, "--feed", f"craft:file:{folder}", "--sample", "16")
    (workload,) = found["workloads"]
    assert (workload["rows"], workload["notes"]) == (16, ["the first 16 rows of the feed"])


def test_size_of_a_broken_feed_names_the_message(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"key": null, "value": "AQ=="}\n')
    with pytest.raises(SizeError, match=r"a\.jsonl:1: byte 1: "):
        measured(tmp_path, "--feed", f"craft:file:{tmp_path}")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--rows", "0"], "numbers from 1"),
        (["--sample", "0"], "numbers from 1"),
        (["--batches", "1,x"], "not a list of numbers"),
        (["--batches", ""], "a batch size is a number from 1"),
        (["--compressions", "rar"], "'rar' is not known"),
        (["--formats", "morse"], "unknown format 'morse'"),
        (["--picture", "sizes.gif"], r"\.svg or \.png"),
        (["--option", "colour=red"], "'colour' is not an option"),
        (["--markdown", "/no/such/folder/sizes.md", "--rows", "1"], "No such file"),
    ],
)
def test_size_refuses_what_it_cannot_do_in_a_line(words: list[str], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        run(size, *QUICK, "--workload", "tiny", *words)


@pytest.mark.parametrize(
    "source",
    ["craft", "craft:kafka://host/topic", "craft:s3a://bucket/feed", "morse:file:x", "craft:file:"],
)
def test_size_refuses_invalid_sources(source: str, tmp_path: Path) -> None:
    with pytest.raises(SizeError, match=r"file:DIR|unknown format|missing after file:"):
        run(size, *QUICK, "--feed", source)


def test_generate_makes_changes_of_the_tables_of_a_ddl(tmp_path: Path, ddl: Path) -> None:
    folder = feed_of(tmp_path, "craft", "--ddl", str(ddl))
    tables = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
    assert [(table["schema"], table["table"]) for table in tables] == [
        ("shop", "orders"),
        ("test", "lines"),
    ]
    assert "doubled" in [column["name"] for column in tables[0]["columns"]]
    assert (folder / "messages.jsonl").read_text().count("\n") == 3


def test_generate_refuses_a_key_that_it_cannot_fill(tmp_path: Path) -> None:
    pytest.importorskip("sqlglot", reason="the extra [ddl] is not installed")
    file = tmp_path / "odd.sql"
    file.write_text("CREATE TABLE t (a json NOT NULL, UNIQUE KEY (a))")
    with pytest.raises(UsageError, match="column 'a': a key of this type is not supported"):
        run(generate, "craft", "--rows", "1", "--ddl", str(file), "--to", str(tmp_path))
