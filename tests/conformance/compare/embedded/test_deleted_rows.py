"""Last rows of feeds with deletes: their columns, and the change that deleted a row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.options import OptionValue
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Op, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

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


WITH_BEFORE = (
    "--option",
    "enable-tidb-extension=true",
    "--option",
    "avro-include-before-value=true",
)


def write_avro(folder: Path, *changes: RowChange, has_before: bool = True) -> str:
    folder.mkdir()
    options: dict[str, OptionValue] = {"enable-tidb-extension": True}
    options["avro-include-before-value"] = has_before
    messages = get_format("avro").from_events(list(changes), context=Context(options=options))
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"avro:file:{folder}"


def avro(what: Op, ts: int, key: int, value: str = "x") -> RowChange:
    mail = Column("mail", TextType(), source="text")
    columns = (Column("id", IntType(64), "bigint", nullable=False, roles=ID.roles), mail)
    return change(what, ts << 18, columns, key, value)


def test_position_of_an_avro_delete_that_has_one_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [avro("insert", ts, ts) for ts in (1, 2)]
    left = write_avro(tmp_path / "a", *rows, avro("delete", 5, 1))
    code, out, _ = compare(capsys, tmp_path, left, left, *WITH_BEFORE)
    assert code == 0
    assert "commit_ts of deletes" not in out
    later = write_avro(tmp_path / "b", *rows, avro("delete", 6, 1))
    code, out, _ = compare(capsys, tmp_path, left, later, *WITH_BEFORE)
    assert code == 1
    assert f"only left: delete id=1 at commit_ts {5 << 18}\n" in out


def test_position_of_an_avro_delete_is_compared_in_feeds_of_deletes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feeds = [
        write_avro(tmp_path / name, avro("delete", ts, 1)) for name, ts in (("a", 5), ("b", 6))
    ]
    code, out, _ = compare(capsys, tmp_path, *feeds, *WITH_BEFORE)
    assert code == 1
    assert f"only left: delete id=1 at commit_ts {5 << 18}\n" in out


def test_positions_of_avro_deletes_are_not_compared_if_one_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [avro("insert", ts, ts) for ts in (1, 2)]
    feeds = [
        write_avro(tmp_path / name, *rows, avro("delete", ts, 1))
        for name, ts in (("a", 5), ("b", 6))
    ]
    bare = write_avro(tmp_path / "bare", avro("delete", 7, 2), has_before=False)
    lines = (tmp_path / "bare" / "messages.jsonl").read_text().splitlines()
    for name in ("a", "b"):
        with (tmp_path / name / "messages.jsonl").open("a") as file:
            file.write(f"{lines[-1]}\n")
    assert bare
    code, out, _ = compare(capsys, tmp_path, *feeds, *WITH_BEFORE)
    assert code == 0
    assert "not compared: commit_ts and commit_ms of deletes (avro has not all; they pair" in out


@pytest.mark.parametrize("options", [(), WITH_BEFORE], ids=["bare", "options"])
def test_columns_of_avro_deletes_are_compared_where_messages_have_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    rows = [avro("insert", ts, ts) for ts in (1, 2)]
    feeds = [write_avro(tmp_path / name, *rows, avro("delete", 5, 1, name)) for name in ("a", "b")]
    code, out, _ = compare(capsys, tmp_path, *feeds, *options)
    assert code == 1
    assert "paired by commit_ts and id" in out
    assert "before.mail (text)" in out
    bare = [
        write_avro(tmp_path / f"bare {value}", *rows, avro("delete", 5, 1, value), has_before=False)
        for value in ("a", "b")
    ]
    code, out, _ = compare(capsys, tmp_path, *bare, *options)
    assert code == 0
    assert "not compared: columns of deletes beyond the key (a side sends the key only)" in out


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
