"""Rows of a table without key: what reports show of those that only one side has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, DatetimeType, StructType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

AT, WHO, WHAT = Column("at", DatetimeType(6)), Column("who", TextType()), Column("what", TextType())
AUDIT = Table("audit", "shop", columns=(AT, WHO, WHAT), key=())


def write(folder: Path, *times: str, who: str = "zoe") -> str:
    folder.mkdir()
    rows = [
        RowChange(AUDIT, "insert", None, Image((AT, WHO, WHAT), (at, who, f"order {number}")))
        for number, at in enumerate(times)
    ]
    messages = get_format("maxwell-json").from_events(
        [RowChange(r.table, r.op, None, r.after, Position(commit_ms=1000)) for r in rows]
    )
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"maxwell-json:file:{folder}"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["compare", *words, "--engine", "embedded"])
    out, err = capsys.readouterr()
    return code, out + err


WHOLE = ("2024-05-05 10:00:00.123456", "2024-05-05 10:00:01.5")
CUT = ("2024-05-05 10:00:00", "2024-05-05 10:00:01")


def test_pattern_of_rows_shows_their_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = write(tmp_path / "a", *WHOLE), write(tmp_path / "b", *CUT)
    code, text = run(capsys, left, right)
    assert code == 1
    assert '    at="2024-05-05 10:00:00.123456", who=zoe, what="order 0"\n' in text
    assert '    at="2024-05-05 10:00:00", who=zoe, what="order 0"\n' in text


def test_rows_that_are_alike_have_a_cause_and_an_option_that_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = write(tmp_path / "a", *WHOLE), write(tmp_path / "b", *CUT)
    _, text = run(capsys, left, right)
    assert (
        "hint: shop.audit has no key; rows of both sides are alike except in at: cut to seconds on "
        "the right; --precision shop.audit.at=s accepts it\n"
    ) in text
    assert run(capsys, left, right, "--precision", "shop.audit.at=s")[0] == 0


def test_rows_with_little_in_common_are_not_called_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = write(tmp_path / "a", *WHOLE), write(tmp_path / "b", *CUT, who="ann")
    code, text = run(capsys, left, right)
    assert code == 1
    assert "has no key; rows" not in text


def test_masked_rows_show_no_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left, right = write(tmp_path / "a", *WHOLE), write(tmp_path / "b", *CUT)
    code, text = run(capsys, left, right, "--mask")
    assert code == 1
    assert "zoe" not in text
    assert "2024" not in text


def test_columns_that_no_definition_brings_together_can_be_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One feed has a point as text, the other as a struct, and the definition has its kind."""
    point = StructType((Column("wkb", TextType()),))
    place = Image((WHO, Column("p", point)), ("x", Image((Column("wkb", TextType()),), ("AQ==",))))
    sent = '{"database":"shop","table":"geo","type":"insert","ts":1,"data":{"who":"x","p":"POINT"}}'
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "messages.jsonl").write_text(f"{sent}\n")
    table = Table("geo", "shop", columns=(WHO, Column("p", point)), key=("who",))
    (tmp_path / "b").mkdir()
    messages = get_format("debezium-json").from_events(
        [RowChange(table, "insert", None, place, Position(lsn=1, commit_ms=1000))]
    )
    write_messages(str(tmp_path / "b" / "messages.jsonl"), messages)
    ddl = tmp_path / "t.sql"
    ddl.write_text("CREATE TABLE shop.geo (who VARCHAR(9) PRIMARY KEY, p POINT);")
    feeds = [f"maxwell-json:file:{tmp_path / 'a'}", f"debezium-json:file:{tmp_path / 'b'}"]
    page = tmp_path / "found.json"
    words = [*feeds, "--ddl", str(ddl), "--json", str(page)]
    code, text = run(capsys, *words)
    assert code == 1
    assert "are left out with --ignore-column shop.geo.p\n" in text
    (found,) = json.loads(page.read_text())["tables"]
    assert "1 and 1 rows were not compared" in found["notes"]
    code, text = run(capsys, *words, "--ignore-column", "shop.geo.p", "--common")
    assert code == 0, text
