"""``--ddl`` with the dump of one database, which names no database."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, EnumType, IntType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

pytest.importorskip("sqlglot", reason="the extra [ddl] is not installed")

COLUMNS = (Column("id", IntType(32)), Column("mood", EnumType()))
DUMP = """
INSERT INTO `moods` VALUES (1,'low;'),(2,'high');
CREATE TABLE `moods` (`id` int(11) NOT NULL, `mood` enum('low','high'), PRIMARY KEY (`id`));
"""


def feed(folder: Path, *schemas: str) -> Path:
    folder.mkdir()
    changes = [
        RowChange(Table("moods", schema), "insert", None, Image(COLUMNS, (1, 2)), Position(7))
        for schema in schemas
    ]
    write_messages(str(folder / "messages.jsonl"), get_format("craft").from_events(changes))
    return folder


@pytest.fixture
def ddl(tmp_path: Path) -> str:
    file = tmp_path / "dump.sql"
    file.write_text(DUMP)
    return str(file)


def test_compare_takes_the_only_schema_of_the_feed_and_says_so(
    tmp_path: Path, ddl: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow", reason="the extra [spark] is not installed")
    left = feed(tmp_path / "left", "shop")
    command = ["compare", f"craft:file:{left}", f"craft:file:{left}", "--engine", "embedded"]
    assert main([*command, "--ddl", ddl]) == 0
    out = capsys.readouterr().out
    assert "shop.moods: equal, 1 change, paired by commit_ts and id" in out
    assert "definitions without a schema are those of shop, as in the feed" in out


def test_compare_refuses_a_definition_that_may_be_of_two_tables(
    tmp_path: Path, ddl: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow", reason="the extra [spark] is not installed")
    left = feed(tmp_path / "left", "shop", "crm")
    command = ["compare", f"craft:file:{left}", f"craft:file:{left}", "--engine", "embedded"]
    assert main([*command, "--ddl", ddl]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "the feed has moods in crm, shop; put USE crm; before it" in line


@pytest.mark.parametrize("verb", ["decode", "explain"])
def test_messages_are_read_with_the_definition(
    tmp_path: Path, ddl: str, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "feed"
    folder.mkdir()
    row = b'{"before":null,"after":{"id":1,"mood":"low"},"op":"c","ts_ms":1,"source":{'
    row += b'"version":"3.0.0.Final","connector":"mysql","name":"s","ts_ms":1,"db":"shop",'
    row += b'"table":"moods","server_id":1,"file":"f.000001","pos":4,"row":0}}'
    (folder / "value").write_bytes(row)
    file = str(folder / "value")
    assert main([verb, "debezium-json", file, "--ddl", ddl]) == 0
    captured = capsys.readouterr()
    if verb == "decode":
        assert '"type": "enum(low,high)"' in captured.out
        assert "definitions without a schema are those of shop" in captured.err
