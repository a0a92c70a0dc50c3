"""Options that a report proposes: each makes the differences of its pattern equal."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

DDL = "CREATE TABLE shop.t (id INT PRIMARY KEY, a TIME(6), n TEXT, s TEXT);"


def feed(folder: Path, rows: list[dict[str, object]]) -> str:
    """Write rows as Maxwell sends them."""
    folder.mkdir()
    lines = [
        json.dumps(
            {
                "topic": "t",
                "partition": 0,
                "offset": number,
                "key": None,
                "payload": json.dumps(
                    {"database": "shop", "table": "t", "type": "insert", "ts": 1, "data": row}
                ),
            }
        )
        for number, row in enumerate(rows)
    ]
    (folder / "messages.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return f"maxwell-json:file:{folder}"


def test_all_options_of_a_table_together_make_it_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = [
        {"id": 1, "a": "23:59:59.999999", "n": "1.5", "s": "x"},
        {"id": 2, "a": "00:00:00.000001", "n": "2.0", "s": "y"},
    ]
    right = [
        {"id": 1, "a": "23:59:59", "n": "1.50", "s": "x"},
        {"id": 2, "a": "00:00:00", "n": "2", "s": "y"},
    ]
    ddl = tmp_path / "t.sql"
    ddl.write_text(DDL)
    sides = feed(tmp_path / "a", left), feed(tmp_path / "b", right)
    arguments = ["compare", *sides, "--ddl", str(ddl), "--engine", "embedded"]
    assert main(arguments) == 1
    out = capsys.readouterr().out
    before, _, options = out.partition("hint: all differences of shop.t are accepted with ")
    assert "accepted with --precision a=s\n" in before
    assert "accepted with --ignore-scale n\n" in before
    assert main([*arguments, *shlex.split(options.splitlines()[0])]) == 0
    assert "zeros at the end of n of shop.t (--ignore-scale)" in capsys.readouterr().out


def test_an_option_that_leaves_a_difference_is_not_proposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = (
        feed(tmp_path / "a", [{"id": 1, "a": "10:00:00.5", "n": "1.5", "s": "x"}]),
        feed(tmp_path / "b", [{"id": 1, "a": "10:00:01", "n": "1.5", "s": "other"}]),
    )
    assert main(["compare", *sides, "--engine", "embedded"]) == 1
    out = capsys.readouterr().out
    assert "accepted with" not in out
    assert "hint: all differences" not in out
