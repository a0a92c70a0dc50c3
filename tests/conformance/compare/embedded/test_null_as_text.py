"""CSV without quotes: NULL and a text that is written in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import write_messages
from cdcwire.files.stores import LocalStore
from cdcwire.model.events import Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main
from cdcwire_conformance.sources.storage.writing import PrefixWriter, write_prefix

START = 441349361156227074
ID = Column("id", IntType(32), "int(11)", False, roles=frozenset({"primary", "handle"}))
COLUMNS = (ID, Column("v", TextType(10), "varchar(10)", True))
TABLE = Table("t", "s", columns=COLUMNS, key=("id",), version=START)
LINE = "not compared: NULL against the text 'NULL' (csv writes both alike)\n"


@pytest.mark.parametrize("mode", ["events", "final"])
@pytest.mark.parametrize("quote", ["", '"'], ids=["bare", "quoted"])
def test_null_that_may_be_a_text_is_named(
    quote: str, mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = RowChange(
        TABLE, "insert", None, Image(COLUMNS, (1, "NULL")), Position(commit_ts=START + 2)
    )
    null = RowChange(
        TABLE, "insert", None, Image(COLUMNS, (1, None)), Position(commit_ts=START + 2)
    )
    created = SchemaChange("query", "CREATE TABLE t", 3, TABLE, Position(commit_ts=START))
    options: Mapping[str, OptionValue] = {"quote": quote, "null": "NULL", "include-commit-ts": True}
    (tmp_path / "a").mkdir()
    write_prefix(PrefixWriter(LocalStore(tmp_path / "a"), "csv", Context(options)), [created, row])
    (tmp_path / "b").mkdir()
    messages = get_format("craft").from_events([null])
    write_messages(str(tmp_path / "b" / "messages.jsonl"), messages)
    words = [f"--left-option=quote={quote}", "--left-option=null=NULL"]
    words.append("--left-option=include-commit-ts=true")
    feeds = f"csv:file:{tmp_path / 'a'}", f"craft:file:{tmp_path / 'b'}"
    code = main(["compare", *feeds, *words, "--mode", mode, "--engine", "embedded"])
    text = capsys.readouterr().out
    assert (code, LINE in text) == ((1, False) if quote else (0, True)), text
