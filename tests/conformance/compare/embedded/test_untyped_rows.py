"""Rows without types, in feeds whose statements declare them: a line names what is read else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cdcwire.files.feed_file import read_tables
from cdcwire_conformance.cli import main

SOURCE = {"version": "3.2.0.Final", "connector": "mysql", "name": "srv", "ts_ms": 1000}
SOURCE |= {"snapshot": "false", "db": "shop", "table": "t", "server_id": 1, "file": "bin.000001"}
DECLARED = {"id": "INT", "u": "BIGINT UNSIGNED", "d": "DATE", "note": "TEXT"}


def source(pos: int) -> dict[str, object]:
    return {**SOURCE, "pos": pos, "row": 0}


def row(number: int, values: dict[str, object]) -> dict[str, object]:
    after = {"id": number, **values}
    value = {"before": None, "after": after, "source": source(number), "op": "c", "ts_ms": 1000}
    return {"key": json.dumps({"id": number}), "payload": json.dumps(value)}


def statement(pos: int, declared: dict[str, str]) -> dict[str, object]:
    columns = [
        {"name": name, "typeName": kind, "length": None, "scale": None, "optional": name != "id"}
        for name, kind in declared.items()
    ]
    table = {"primaryKeyColumnNames": ["id"], "columns": columns}
    change = {"type": "ALTER", "id": '"shop"."t"', "table": table}
    value = {"source": source(pos), "ts_ms": 1000, "databaseName": "shop", "schemaName": None}
    value |= {"ddl": "ALTER TABLE t ADD COLUMN note TEXT", "tableChanges": [change]}
    return {"key": json.dumps({"databaseName": "shop"}), "payload": json.dumps(value)}


def write(folder: Path, messages: list[dict[str, object]]) -> str:
    folder.mkdir()
    named = [{"topic": "t", "partition": 0, "offset": i, **m} for i, m in enumerate(messages)]
    (folder / "messages.jsonl").write_text("".join(json.dumps(each) + "\n" for each in named))
    return f"debezium-json:file:{folder}"


def compared(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["compare", *words, "--engine", "embedded"])
    out, err = capsys.readouterr()
    return code, out + err


ROWS = [row(5, {"u": 1, "d": 19000, "note": "x"}), row(6, {"u": -1, "d": 19001, "note": "y"})]


def test_columns_that_are_read_otherwise_than_declared_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = write(tmp_path / "bare", ROWS)
    told = write(tmp_path / "told", [statement(1, {"id": "INT"}), statement(2, DECLARED), *ROWS])
    code, text = compared(capsys, bare, told)
    assert code == 0
    (line,) = (line for line in text.splitlines() if line.startswith("note: "))
    assert line.startswith(
        "note: right: shop.t: u is read as int64, and declared as int64 unsigned (and 1 more): "
    )
    assert f"cdcwire tables {told} --to tables.json" in line
    assert "declared" not in compared(capsys, bare, bare)[1]


def test_tables_that_the_line_proposes_have_the_declared_types(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = write(tmp_path / "told", [statement(2, DECLARED), *ROWS])
    file = tmp_path / "tables.json"
    assert main(["tables", told, "--to", str(file)]) == 0
    assert "those of id, note are taken from values" in capsys.readouterr().err
    (table,) = read_tables(str(file))
    kinds = {column.name: str(column.source) for column in table.columns or ()}
    assert kinds == {"id": "int64", "u": "bigint unsigned", "d": "date", "note": "string"}
    code, text = compared(capsys, told, told, "--tables", str(file))
    assert code == 0
    assert "note: " not in text
    other = [row(5, {"u": 1, "d": 19000, "note": "x"}), row(6, {"u": -2, "d": 19001, "note": "y"})]
    code, text = compared(capsys, told, write(tmp_path / "other", other), "--tables", str(file))
    assert code == 1
    assert "18446744073709551615" in text  # -1 is 2^64 - 1
    assert "18446744073709551614" in text


def test_columns_that_the_users_definition_lacks_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = write(tmp_path / "feed", ROWS)
    old = tmp_path / "old.sql"
    old.write_text("CREATE TABLE shop.t (id INT PRIMARY KEY, u BIGINT UNSIGNED);")
    code, text = compared(capsys, feed, feed, "--ddl", str(old))
    assert code == 0
    assert (
        "note: --ddl, --tables: shop.t has no column d (and 1 more): only the feed says its type\n"
        in text
    )
    old.write_text("CREATE TABLE shop.t (id INT PRIMARY KEY, u BIGINT, d INT, note TEXT);")
    assert "note: " not in compared(capsys, feed, feed, "--ddl", str(old))[1]
