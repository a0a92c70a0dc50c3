"""``cdcwire.open``: a feed in files as events, rows, tables and Arrow."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import cdcwire
from cdcwire import Column, Decoder, Table
from cdcwire.files.feed_file import read_feed_file
from cdcwire.model.kinds import DecimalType, IntType
from cdcwire.model.text import event_to_json
from cdcwire.registry import FORMAT_NAMES
from cdcwire_conformance.cli import main

DDL = "CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY, price DECIMAL(9, 2))"
GENERATED = sorted(set(FORMAT_NAMES) - {"datahub-tuple"})


def line(key: int, **more: Any) -> str:
    value = {"database": "shop", "table": "t", "type": "insert", "ts": 1}
    return json.dumps({**value, "data": {"id": key, **more}}) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.jsonl").write_text(line(1) + line(2))
    (tmp_path / "b.jsonl").write_text(line(3, price=1.5))
    return tmp_path


def opened(folder: Path, **arguments: Any) -> cdcwire.Feed[Any]:
    return cdcwire.open(f"maxwell-json:file:{folder}", **arguments)


def test_changes_of_all_files_in_order(folder: Path) -> None:
    feed = opened(folder, rows=dict)
    assert [change.after for change in feed.rows()] == [
        {"id": 1},
        {"id": 2},
        {"id": 3, "price": 1.5},
    ]
    assert len(list(feed)) == 3  # and once more
    assert feed.format == "maxwell-json"


def test_rows_of_a_type(folder: Path) -> None:
    @dataclass
    class Item:
        id: int

    assert [change.after for change in opened(folder, rows=Item).rows()] == [
        Item(1),
        Item(2),
        Item(3),
    ]


def test_only_the_wanted_table(folder: Path) -> None:
    (folder / "c.jsonl").write_text(line(4).replace('"t"', '"other"'))
    feed = opened(folder, rows=tuple, only=["shop.other"])
    assert [change.after for change in feed.rows()] == [(4,)]
    assert [table.name for table in feed.tables()] == ["other"]


@pytest.mark.parametrize("form", ["text", "path", "name", "json", "objects"])
def test_definitions(folder: Path, form: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    sql, tables = (tmp_path_factory.mktemp("ddl") / name for name in ("t.sql", "t.json"))
    sql.write_text(DDL)
    assert main(["tables", str(sql), "--to", str(tables)]) == 0
    columns = (Column("id", IntType(64, unsigned=True)), Column("price", DecimalType(9, 2)))
    given: dict[str, Any] = {
        "text": DDL,
        "path": sql,
        "name": str(sql),
        "json": str(tables),
        "objects": [Table("t", "shop", columns=columns, key=("id",))],
    }
    feed = opened(folder, tables=given[form])
    [table] = feed.tables()
    assert (table.schema, table.key) == ("shop", ("id",))
    assert [(column.name, column.type) for column in table.columns or ()] == [
        ("id", IntType(64, unsigned=True)),
        ("price", DecimalType(9, 2)),
    ]
    found = feed.to_arrow()["shop.t"]["after"].to_pylist()
    assert [str(row["price"]) for row in found] == ["None", "None", "1.50"]


def test_batches_have_one_schema(folder: Path) -> None:
    batches = list(opened(folder).batches(size=1))
    assert [batch.num_rows for batch in batches] == [1, 1, 1]
    assert len({batch.schema for batch in batches}) == 1
    with pytest.raises(ValueError, match="size is 0"):
        next(opened(folder).batches(size=0))


def test_to_pandas(folder: Path) -> None:
    pytest.importorskip("pandas")
    frame = opened(folder).to_pandas()["shop.t"]
    assert list(frame["op"]) == ["insert"] * 3


def test_to_polars_without_polars(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ModuleNotFoundError, match="polars"):
        opened(folder).to_polars()


def test_message_that_breaks_its_format(folder: Path) -> None:
    (folder / "a.jsonl").write_text(line(1) + '{"database": "shop"}\n' + line(2))
    where = f"{folder / 'a.jsonl'}:2"
    with pytest.raises(cdcwire.FeedError) as caught:
        list(opened(folder))
    assert str(caught.value).startswith(f"{where}: byte ")
    assert isinstance(caught.value.__cause__, cdcwire.DecodeError)
    assert len(list(opened(folder, on_error="skip"))) == 3
    bad: list[cdcwire.Bad] = []
    assert len(list(opened(folder, on_error=bad.append))) == 3
    assert [each.where for each in bad] == [where]


def test_line_that_is_no_message(folder: Path) -> None:
    coded = base64.b64encode(b"{}").decode()
    broken = json.dumps({"key": None, "value": coded, "headers": 5})
    (folder / "a.jsonl").write_text(broken + "\n")
    bad: list[cdcwire.Bad] = []
    assert len(list(opened(folder, on_error=bad.append))) == 1
    assert bad[0].where == f"{folder / 'a.jsonl'}:1"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("feed", "has no format"),
        ("maxwell-json:file:nowhere", "there is no such directory"),
        ("maxwell-json:kafka://broker:9092/topic", "read a topic with a client of Kafka"),
    ],
)
def test_source_that_can_not_be_opened(source: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        cdcwire.open(source)


def test_arguments_that_are_wrong(folder: Path) -> None:
    with pytest.raises(ValueError, match="unknown option 'no-option'"):
        opened(folder, options={"no-option": 1})
    with pytest.raises(ValueError, match="line 1, column 1: there is no CREATE TABLE here"):
        opened(folder, tables="CREATE TABEL t (id INT)")
    with pytest.raises(TypeError, match="options is 'x'; it must be a mapping"):
        opened(folder, options="x")
    with pytest.raises(ValueError, match="on_error is 'stop'"):
        opened(folder, on_error="stop")
    with pytest.raises(FileNotFoundError):
        opened(folder, tables="nothing.sql")


@pytest.mark.parametrize("name", GENERATED)
def test_feed_gives_what_the_command_decodes(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workload = "storage" if name == "csv" else "orders-10"
    folder = tmp_path / "feed"
    assert (
        main(["generate", name, "--rows", "40", "--workload", workload, "--to", str(folder)]) == 0
    )
    capsys.readouterr()
    recorded = read_feed_file(str(folder))
    assert recorded is not None
    options = [f"--option={key}={value}" for key, value in recorded.options.items()]
    tables = [f"--tables={folder / 'tables.json'}"] if recorded.tables else []
    assert main(["decode", name, str(folder), *options, *tables]) == 0
    printed = capsys.readouterr().out.splitlines()
    feed = cdcwire.open(f"{name}:file:{folder}")
    assert [event_to_json(event) for event in feed] == [json.loads(each) for each in printed]
    assert sum(table.num_rows for table in feed.to_arrow().values()) == len(list(feed.rows()))


@pytest.mark.parametrize("place", ["auto:file:feed", "auto:feed", "auto:feed/orders.jsonl"])
def test_format_of_auto_is_what_the_messages_show(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("feed").mkdir()
    Path("feed/orders.jsonl").write_text(line(7) + "\n")
    feed = cdcwire.open(place, rows=dict)
    assert feed.format == "maxwell-json"
    assert [change.after and change.after["id"] for change in feed.rows()] == [7]


def test_format_of_auto_is_that_of_the_directory(tmp_path: Path) -> None:
    assert main(["generate", "open-protocol", "--rows", "5", "--to", str(tmp_path / "feed")]) == 0
    feed = cdcwire.open(f"auto:file:{tmp_path / 'feed'}")
    assert (feed.format, len(list(feed.rows()))) == ("open-protocol", 5)


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("auto:file:feed", "the format is not clear: it shows the signs of no format"),
        ("auto:file:none", "can't be read: No such file or directory"),
        ("auto:kafka://broker/t", "read a topic with a client of Kafka"),
    ],
)
def test_place_without_a_clear_format_is_one_line(
    place: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("feed").mkdir()
    Path("feed/other.jsonl").write_text('{"x": 1}\n')
    with pytest.raises(ValueError, match=problem) as caught:
        cdcwire.open(place)
    assert "\n" not in str(caught.value)


def test_fault_of_a_prefix(tmp_path: Path) -> None:
    assert (
        main(["generate", "csv", "--rows", "40", "--workload", "storage", "--to", str(tmp_path)])
        == 0
    )
    file = sorted(tmp_path.rglob("CDC*.csv"))[0]
    file.write_bytes(file.read_bytes() + b'"I"\n')
    bad: list[cdcwire.Bad] = []
    feed = cdcwire.open(f"csv:file:{tmp_path}", on_error=bad.append)
    assert len(list(feed)) > 1
    assert str(file.relative_to(tmp_path)) in {each.where for each in bad}
    with pytest.raises(cdcwire.FeedError):
        list(cdcwire.open(f"csv:file:{tmp_path}"))


def test_decoder_takes_ddl() -> None:
    decoder = Decoder("maxwell-json", rows=tuple, tables=DDL.replace("TABLE t", "TABLE shop.t"))
    [change] = decoder.rows([line(1 << 63).encode()])
    assert (change.after, change.table.key) == ((1 << 63,), ("id",))


def test_ddl_of_a_decoder_names_its_schema() -> None:
    with pytest.raises(ValueError, match="tables defines t without its schema"):
        Decoder("maxwell-json", tables=DDL)
    with pytest.raises(ValueError, match="tables defines t without its schema"):
        cdcwire.Encoder("craft", tables=DDL)
    Decoder("datahub-tuple", tables=DDL)  # its topics have no schema


def test_other_program_without_the_package_that_reads_files() -> None:
    code = """
import importlib.metadata as metadata
metadata.entry_points = lambda **wanted: ()
import cdcwire
try:
    cdcwire.open("csv:file:x")
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("cdcwire.open needs the package cdcwire-conformance: pip install")
