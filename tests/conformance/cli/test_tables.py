"""``cdcwire tables``: definitions of a feed and of a dump."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.files.feed_file import read_tables
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, DecimalType, IntType, TextType, TimeType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

COLUMNS = (
    Column("id", IntType(32), nullable=False, roles=frozenset({"primary", "handle"})),
    Column("price", DecimalType(10, 2), nullable=True),
    Column("name", TextType(), nullable=True),
)
DUMP = """
CREATE TABLE `orders` (`id` int(11) NOT NULL, `price` decimal(10,2), PRIMARY KEY (`id`));
CREATE TABLE `items` (`id` int(11) NOT NULL, PRIMARY KEY (`id`));
"""


@pytest.fixture
def feed(tmp_path: Path) -> str:
    pytest.importorskip("pyarrow", reason="the extra [spark] is not installed")
    folder = tmp_path / "feed"
    folder.mkdir()
    table = Table("orders", "shop", columns=COLUMNS, key=("id",))
    change = RowChange(
        table, "insert", None, Image(COLUMNS, (1, Decimal("1.50"), "a")), Position(commit_ms=7)
    )
    messages = get_format("debezium-json").from_events([change])
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"debezium-json:file:{folder}"


@pytest.fixture
def dump(tmp_path: Path) -> str:
    pytest.importorskip("sqlglot", reason="the extra [ddl] is not installed")
    file = tmp_path / "shop.sql"
    file.write_text(DUMP)
    return str(file)


def test_tables_of_a_feed_are_what_the_option_reads(
    feed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tables.json"
    assert main(["tables", feed, "--to", str(file)]) == 0
    assert capsys.readouterr().out == f"wrote 1 table to {file}\n"
    (table,) = read_tables(str(file))
    assert (table.schema, table.name, table.key) == ("shop", "orders", ("id",))
    kinds = [(column.name, column.type, column.nullable) for column in table.columns or ()]
    assert kinds == [
        ("id", IntType(32), False),
        ("price", DecimalType(10, 2), True),
        ("name", TextType(), True),
    ]


def test_feed_without_schemas_is_read_with_the_tables_of_one_that_has_them(
    feed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tables.json"
    assert main(["tables", feed, "--to", str(file)]) == 0
    bare = tmp_path / "bare"
    bare.mkdir()
    capsys.readouterr()
    assert main(["decode", "debezium-json", feed.partition("file:")[2]]) == 0
    events = tmp_path / "events.jsonl"
    events.write_text(capsys.readouterr().out)
    encoded = ["encode", "debezium-json", str(events), "--option", "schemas-enable=false"]
    assert main([*encoded, "--tables", str(file)]) == 0
    (bare / "messages.jsonl").write_text(capsys.readouterr().out)
    both = ["compare", feed, f"debezium-json:file:{bare}", "--engine", "embedded"]
    assert main([*both, "--tables", str(file)]) == 0
    assert "shop.orders: equal, 1 change" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "note"),
    [
        ([], "those of all columns are taken from values"),
        (["--tables", "known.json"], "those of name, made are taken from values"),
    ],
)
@pytest.mark.parametrize("format_name", ["maxwell-json", "debezium-json"])
def test_types_that_come_from_values_are_reported(
    format_name: str,
    words: list[str],
    note: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("pyarrow", reason="the extra [spark] is not installed")
    monkeypatch.chdir(tmp_path)
    row = {"id": 1, "name": None, "made": "2024-02-29"}
    messages = {
        "maxwell-json": {"database": "shop", "table": "t", "type": "insert", "ts": 1, "data": row},
        "debezium-json": {
            "before": None,
            "after": row,
            "source": {
                "version": "2.7",
                "connector": "mysql",
                "name": "s",
                "ts_ms": 1,
                "db": "shop",
                "table": "t",
                "server_id": 1,
                "file": "b.1",
                "pos": 4,
                "row": 0,
            },
            "op": "c",
        },
    }
    Path("feed.jsonl").write_text(json.dumps(messages[format_name]) + "\n")
    known = {"schema": "shop", "table": "t", "columns": [{"name": "id", "type": "int32"}]}
    Path("known.json").write_text(json.dumps([known]))
    assert main(["tables", f"{format_name}:file:feed.jsonl", *words]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f"cdcwire tables: note: shop.t: the messages have no types; {note}. Check them, or give a "
        "dump with --ddl"
    )


def test_types_that_messages_declare_have_no_note(
    feed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tables", feed]) == 0
    assert capsys.readouterr().err == ""


def test_tables_of_a_dump_are_printed_and_chosen(
    dump: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tables", dump, "--include", "shop.items"]) == 0
    file = tmp_path / "tables.json"
    file.write_text(capsys.readouterr().out)
    assert [(table.name, table.key) for table in read_tables(str(file))] == [("items", ("id",))]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--include", "shop.oders"], "no rows of shop.oders; did you mean 'shop.orders'?"),
        (["--include", "x.y"], "no rows of x.y; known: shop.orders"),
        (["--columns", "pirce"], "--columns: no table has a column pirce; did you mean 'price'?"),
    ],
)
def test_unknown_name_of_a_feed_is_reported_with_those_that_it_has(
    feed: str, words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tables", feed, *words]) == 2
    assert capsys.readouterr().err.endswith(f"{problem}\n")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ["SOURCE", "--include", "shop.order"],
            "there is no table shop.order; did you mean 'orders'?",
        ),
        (["SOURCE", "--ddl", "SOURCE"], "--ddl and --tables are for feeds"),
        (["none.sql"], "'none.sql' has no format; write auto:file:none.sql"),
        (["SOURCE", "--to", "none/tables.json"], "--to: none/tables.json cannot be written"),
    ],
)
def test_wrong_use_is_one_line(
    dump: str, words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tables", *(dump if word == "SOURCE" else word for word in words)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert problem in line


def test_topic_of_schema_changes_defines_the_tables_of_topics_without_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow", reason="the extra [spark] is not installed")
    source = {
        "version": "3.6.1.Final",
        "connector": "sqlserver",
        "name": "srv",
        "ts_ms": 5,
        "snapshot": "false",
        "db": "shop",
        "schema": "dbo",
        "table": "t",
        "change_lsn": None,
        "commit_lsn": "00000027:00000758:0005",
        "event_serial_no": None,
    }
    declared = (
        ("id", "int identity", None, None),
        ("small", "tinyint", None, None),
        ("price", "decimal", 10, 2),
        ("clock", "time", 16, 7),
    )
    columns = [
        {"name": name, "typeName": kind, "length": length, "scale": scale, "optional": name != "id"}
        for name, kind, length, scale in declared
    ]
    table = {"primaryKeyColumnNames": ["id"], "columns": columns}
    changes = [
        {"type": kind, "id": f'"shop"."dbo"."{name}"', "table": None if kind == "DROP" else table}
        for kind, name in (("CREATE", "t"), ("CREATE", "u"), ("DROP", "u"))
    ]
    names = {"ts_ms": 5, "databaseName": "shop", "schemaName": "dbo", "ddl": None}
    lines = [json.dumps({"source": source, **names, "tableChanges": [each]}) for each in changes]
    folder = tmp_path / "changes"
    folder.mkdir()
    (folder / "part.jsonl").write_text("\n".join(lines))
    assert main(["tables", f"debezium-json:file:{folder}"]) == 0
    file = tmp_path / "tables.json"
    file.write_text(capsys.readouterr().out)
    (found,) = read_tables(str(file))
    assert (found.schema, found.name, found.key) == ("dbo", "t", ("id",))
    after = {"id": 1, "small": 255, "price": "AJY=", "clock": 86399999999900}
    value = {"before": None, "after": after, "source": source, "op": "c", "ts_ms": 6}
    message = KafkaMessage(b'{"id":1}', json.dumps(value).encode())
    context = Context(tables=(found,))
    (event,) = get_format("debezium-json").to_events(message, context=context)
    assert isinstance(event, RowChange)
    assert event.after is not None
    assert event.after.values == (1, 255, Decimal("1.50"), 86399999999900)
    assert event.after.columns[3].type == TimeType(form="ns")
