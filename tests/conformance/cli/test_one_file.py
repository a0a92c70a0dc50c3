"""A feed that is one file, named in place of its directory."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs the extra compare")

import cdcwire
from cdcwire_conformance.cli import main


def lines_of(*numbers: int) -> bytes:
    rows = (
        {"database": "shop", "table": "t", "type": "insert", "ts": 1, "data": {"id": number}}
        for number in numbers
    )
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with another file than the one that is compared."""
    monkeypatch.chdir(tmp_path)
    Path("left.jsonl").write_bytes(lines_of(7, 8))
    Path("other.jsonl").write_bytes(lines_of(9))
    return tmp_path


@pytest.mark.parametrize("name", ["right.jsonl", "right.json", "right", "right.jsonl.gz"])
@pytest.mark.parametrize("format_name", ["maxwell-json", "auto"])
def test_two_files_are_compared(
    format_name: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content = lines_of(7, 8)
    Path(name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert main(["compare", f"{format_name}:file:left.jsonl", f"{format_name}:file:{name}"]) == 0
    shown = capsys.readouterr().out
    assert f"right  maxwell-json:file:{name}\n" in shown
    assert "other.jsonl" not in shown
    assert "EQUAL: 2 changes of 1 table" in shown


def test_other_rows_are_found_and_named_with_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "maxwell-json:file:left.jsonl", "maxwell-json:other.jsonl"]) == 1
    shown = capsys.readouterr().out
    assert "2 only left, 1 only right" in shown
    assert "other.jsonl:1" in shown


def test_file_of_another_format_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "canal-json:file:left.jsonl", "canal-json:file:left.jsonl"]) == 2
    error = capsys.readouterr().err
    assert "left.jsonl looks like maxwell-json, not canal-json" in error


def test_file_is_opened_in_python() -> None:
    feed = cdcwire.open("maxwell-json:file:left.jsonl", rows=dict)
    assert [change.after for change in feed.rows()] == [{"id": 7}, {"id": 8}]


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_pipe_is_no_feed(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    assert main(["compare", "maxwell-json:file:pipe", "maxwell-json:file:left.jsonl"]) == 2
    assert capsys.readouterr().err == "cdcwire compare: pipe: is not a directory\n"


def test_report_may_not_replace_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    sides = ["maxwell-json:file:left.jsonl", "maxwell-json:file:other.jsonl"]
    assert main(["compare", *sides, "--json", "other.jsonl"]) == 2
    assert "other.jsonl is a file of maxwell-json:file:other.jsonl" in capsys.readouterr().err
