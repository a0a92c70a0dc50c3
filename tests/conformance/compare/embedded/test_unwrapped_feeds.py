"""Debezium's changes against rows by themselves, which may not say what they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Op, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

ID = Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"}))
COLUMNS = (ID, Column("v", IntType(64)))
TABLE = Table("t", "s", columns=COLUMNS, key=("id",))
WHOLE: Mapping[str, OptionValue] = {"replica-identity": "full", "connector": "mysql"}
UNWRAP: Mapping[str, OptionValue] = {
    **WHOLE,
    "transforms": "unwrap",
    "add-fields": "table",
    "delete-tombstone-handling-mode": "rewrite",
}
NO_BEFORE = (
    "not compared: before images of updates "
    "(debezium-json sends them only with option transforms=none)\n"
)


TOMBSTONES: Mapping[str, OptionValue] = {
    **UNWRAP,
    "add-fields": "table,op,source.file,source.pos,source.row,source.server_id,source.ts_ms",
    "delete-tombstone-handling-mode": "tombstone",
}


def feed(folder: Path, last: int, options: Mapping[str, OptionValue] = WHOLE) -> str:
    """Write an insert, two updates and a delete. ``last``: the value after the second update."""
    steps: list[tuple[Op, int | None, int | None]] = [
        ("insert", None, 1),
        ("update", 1, 2),
        ("update", 2, last),
        ("delete", last, None),
    ]
    changes = []
    for number, (op, *values) in enumerate(steps):
        old, new = (None if v is None else Image(COLUMNS, (7, v)) for v in values)
        place = Position(file="b.000001", pos=number, row=0, commit_ms=9)
        changes.append(RowChange(TABLE, op, old, new, place, extra={"connector": "mysql"}))
    folder.mkdir()
    context = Context(options)
    messages = get_format("debezium-json").from_events(changes, context=context)
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"debezium-json:file:{folder}"


@pytest.mark.parametrize("mode", ["events", "final"])
def test_rows_that_do_not_say_what_they_are_count_as_either(
    mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = feed(tmp_path / "a", 3), feed(tmp_path / "b", 3, UNWRAP)
    words = ["--mode", mode, "--right-option", "transforms=unwrap", "--engine", "embedded"]
    words += ["--option", "connector=mysql"]
    code = main(["compare", left, right, *words])
    text = capsys.readouterr().out
    assert code == 0, text
    if mode == "events":
        assert "not compared: insert against update (a side writes both alike)\n" in text
        assert NO_BEFORE in text
        other = feed(tmp_path / "c", 4, UNWRAP)
        assert main(["compare", left, other, *words]) == 1
        assert "changed: upsert id=7" in capsys.readouterr().out


READ = ["--option", "connector=mysql", "--engine", "embedded", "--right-option"]
READ += ["transforms=unwrap", "--right-option", f"add-fields={TOMBSTONES['add-fields']}"]
AS_DELETES = "--right-option delete-tombstone-handling-mode=tombstone"
HINT = (
    "hint: the right feed has 1 tombstone and no other delete; "
    f"{AS_DELETES} reads each as the delete of its key\n"
)


@pytest.mark.parametrize("mode", ["events", "final"])
def test_tombstones_are_deletes_where_an_option_says_so(
    mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = feed(tmp_path / "a", 3), feed(tmp_path / "b", 3, TOMBSTONES)
    words = ["compare", left, right, "--mode", mode, *READ]
    assert main(words) == 1
    text = capsys.readouterr().out
    assert HINT in text
    assert ("only left: delete id=7" if mode == "events" else "only right: row id=7") in text
    words += AS_DELETES.split()
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "hint:" not in text
    if mode == "events":
        assert "equal, 4 changes, paired by binlog and id" in text
        assert "not compared: binlog and commit_ms of deletes" in text
        assert "columns of deletes beyond the key (the right feed sends the key only)" in text
        words[2] = feed(tmp_path / "c", 4, TOMBSTONES)
        assert main(words) == 1


@pytest.mark.parametrize("mode", ["events", "final"])
def test_a_lost_tombstone_is_found(
    mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = feed(tmp_path / "a", 3), feed(tmp_path / "b", 3, TOMBSTONES)
    file = tmp_path / "b" / "messages.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    words = ["compare", left, right, "--mode", mode, *READ, *AS_DELETES.split()]
    assert main(words) == 1
    text = capsys.readouterr().out
    assert ("only left: delete id=7" if mode == "events" else "only right: row id=7") in text


def test_rewritten_deletes_before_tombstones_need_no_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {**TOMBSTONES, "delete-tombstone-handling-mode": "rewrite-with-tombstone"}
    left, right = feed(tmp_path / "a", 3), feed(tmp_path / "b", 3, options)
    assert main(["compare", left, right, *READ]) == 0
    assert "hint:" not in capsys.readouterr().out


def test_rows_with_their_operation_have_no_row_before_an_update(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The option that shows whole deletes says nothing of rows that the transform drops."""
    left, right = feed(tmp_path / "a", 3), feed(tmp_path / "b", 3, {**UNWRAP, "add-fields": "op"})
    words = ["--right-option", "transforms=unwrap", "--engine", "embedded"]
    words += ["--option", "connector=mysql", "--option", "replica-identity=full"]
    assert main(["compare", left, right, *words]) == 0, capsys.readouterr()
    assert NO_BEFORE in capsys.readouterr().out
