"""Last rows of feeds with deletes: their columns, and the change that deleted a row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cdcwire.model.events import Image, Op, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main
from cdcwire_conformance.sources.messages_io import write_messages

ID = Column("id", IntType(64), roles=frozenset({"primary", "handle"}))
MAIL = Column("mail", TextType())
PHONE = Column("phone", TextType())


def change(op: Op, ts: int, columns: Sequence[Column], *values: Any) -> RowChange:
    image = Image(tuple(columns), values)
    table = Table("customers", "shop", columns=tuple(columns), key=("id",))
    before, after = (image, None) if op == "delete" else (None, image)
    return RowChange(table, op, before, after, Position(commit_ts=ts))


INSERTED = change("insert", 1, (ID, MAIL), 3, "b@example.org")
KEPT = change("insert", 2, (ID, MAIL), 4, "c@example.org")
DELETED = change("delete", 5, (ID, PHONE), 3, "+49")
KEY_DELETED = change("delete", 5, (ID,), 3)


def write(folder: Path, *changes: RowChange) -> str:
    folder.mkdir()
    messages = get_format("craft").from_events(list(changes))
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"craft:file:{folder}"


def compare(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, *words: str
) -> tuple[int, str, dict[str, Any]]:
    result = tmp_path / "result.json"
    code = main(["compare", *words, "--engine", "embedded", "--json", str(result)])
    return code, capsys.readouterr().out, json.loads(result.read_text())


def test_columns_that_only_a_deleted_row_had_are_not_of_the_last_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = write(tmp_path / "a", INSERTED, KEPT, DELETED)
    right = write(tmp_path / "b", INSERTED, KEPT)
    code, out, found = compare(capsys, tmp_path, left, right, "--mode", "final")
    assert code == 1
    (table,) = found["tables"]
    assert table["schema_differences"] == []
    (difference,) = table["differences"]
    assert (difference["verdict"], difference["key"][0]["value"]) == ("only right", "3")
    assert difference["due"]["position"] == "5"
    assert "    left   deleted, its last change is at 5 " in out
    assert f"{tmp_path}/a/messages.jsonl:" in out
    equal = write(tmp_path / "c", KEPT)
    assert compare(capsys, tmp_path, left, equal, "--mode", "final")[0] == 0


@pytest.mark.parametrize("deletes", ["left", "right"])
def test_a_feed_of_deletes_by_key_is_compared_with_rows(
    deletes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = write(tmp_path / "a", KEY_DELETED), write(tmp_path / "b", INSERTED)
    if deletes == "right":
        sides = sides[1], sides[0]
    code, out, found = compare(capsys, tmp_path, *sides, "--mode", "final")
    assert code == 1
    (table,) = found["tables"]
    assert table["schema_differences"] == []
    assert f"{deletes:<5}  deleted, its last change is at 5 " in out


def test_columns_of_rows_that_one_side_lacks_still_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = change("insert", 1, (ID, MAIL, PHONE), 3, "b@example.org", "+49")
    sides = write(tmp_path / "a", INSERTED), write(tmp_path / "b", wide)
    code, _, found = compare(capsys, tmp_path, *sides, "--mode", "final")
    assert code == 1
    assert found["tables"][0]["schema_differences"] == ["column phone: only on the right (text)"]


def test_a_row_that_a_feed_never_had_is_not_called_deleted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = write(tmp_path / "a", INSERTED, KEPT), write(tmp_path / "b", INSERTED)
    code, out, found = compare(capsys, tmp_path, *sides, "--mode", "final")
    assert code == 1
    assert found["tables"][0]["differences"][0]["due"] is None
    assert "deleted" not in out
