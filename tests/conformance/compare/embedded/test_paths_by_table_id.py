"""Last rows of a storage prefix whose paths have ids in place of schemas and tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.files.stores import LocalStore
from cdcwire.model.events import Event, Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire_conformance.cli import main
from cdcwire_conformance.sources.storage.writing import PrefixWriter, write_prefix

ID = Column("id", IntType(32), "int(11)", False, roles=frozenset({"primary", "handle"}))
START = 441349361156227074
OPTION = "include-commit-ts=true"


def row(name: str, key: int, at: int) -> RowChange:
    table = Table(name, "test", columns=(ID,), key=("id",))
    return RowChange(table, "insert", None, Image((ID,), (key,)), Position(commit_ts=START + at))


def ddl(name: str, query: str, code: int, at: int) -> SchemaChange:
    table = Table(name, "test", columns=(ID,), key=("id",), version=START + at)
    return SchemaChange("query", query, code, table, Position(commit_ts=START + at))


def prefix(folder: Path, events: list[Event]) -> str:
    """Write a prefix, and give both tables one id, as a table that is renamed keeps its own."""
    folder.mkdir()
    writer = PrefixWriter(LocalStore(folder), "csv", Context({"include-commit-ts": True}))
    write_prefix(writer, events)
    for name in ("t4", "t5"):
        for file in sorted((folder / "test" / name).rglob("*.*")):
            target = folder / "112" / file.relative_to(folder / "test" / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.rename(target)
    return f"csv:file:{folder}"


def test_rename_has_the_rows_of_both_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create = ddl("t4", "CREATE TABLE t4 (id INT PRIMARY KEY)", 3, 0)
    rename = ddl("t5", "RENAME TABLE t4 TO t5", 14, 50)
    events: list[Event] = [create, row("t4", 1, 10), rename, row("t5", 2, 60)]
    feeds = [prefix(tmp_path / name, events) for name in ("a", "b")]
    lost = prefix(tmp_path / "lost", [events[0], row("t4", 3, 10), *events[2:]])
    words = ("--mode", "final", "--option", OPTION, "--engine", "embedded")
    assert main(["compare", *feeds, *words]) == 0
    text = capsys.readouterr().out
    assert "test.t5: equal, 2 last rows after 2 and 2 changes" in text
    assert main(["compare", feeds[0], lost, *words]) == 1
    assert "only left: row id=1" in capsys.readouterr().out
