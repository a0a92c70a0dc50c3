"""Parts that rules do not ask for, and events without rows: named, if two feeds differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cdcwire_conformance.cli import main

SOURCE = {
    "version": "3.2.0.Final",
    "connector": "mysql",
    "name": "srv",
    "ts_ms": 1000,
    "db": "shop",
}
SOURCE |= {"snapshot": "false", "table": "t", "server_id": 1, "file": "bin.000001", "row": 0}
AFTER = {"id": 1, "v": "x"}


def change(op: str = "c", **source: object) -> dict[str, Any]:
    row = {"before": AFTER, "after": None} if op == "d" else {"before": None, "after": AFTER}
    value = {**row, "source": {**SOURCE, "pos": 4, **source}, "op": op, "ts_ms": 1000}
    return {"key": '{"id":1}', "payload": json.dumps(value)}


def compared(
    capsys: pytest.CaptureFixture[str], folder: Path, *feeds: list[dict[str, Any]]
) -> tuple[int, list[str]]:
    for name, feed in zip("ab", feeds, strict=True):
        (folder / name).mkdir(parents=True)
        lines = [{"topic": "t", "partition": 0, "offset": i, **m} for i, m in enumerate(feed)]
        text = "".join(f"{json.dumps(each)}\n" for each in lines)
        (folder / name / "messages.jsonl").write_text(text)
    sources = [f"debezium-json:file:{folder / name}" for name in "ab"]
    code = main(["compare", *sources, "--engine", "embedded"])
    lines_of_text = capsys.readouterr().out.splitlines()
    return code, [line for line in lines_of_text if line.startswith("not compared: ")]


def test_position_that_rows_have_and_do_not_pair_by_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gtids = [f"3e11fa47-71ca-11e1-9e33-c80aa9429562:{number}" for number in (1, 2)]
    line = "not compared: gtid (rows pair by binlog)"
    feeds = [[change(gtid=gtid)] for gtid in gtids]
    code, lines = compared(capsys, tmp_path / "with", *feeds)
    assert code == 0
    assert line in lines
    code, lines = compared(capsys, tmp_path / "without", [change()], [change()])
    assert code == 0
    assert line not in lines


def test_rows_of_a_snapshot_that_pair_with_inserts_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "not compared: rows of snapshots against inserts (the right feed has rows of snapshots)"
    read = change("r", snapshot="true")
    code, lines = compared(capsys, tmp_path / "one", [change()], [read])
    assert code == 0
    assert line in lines
    code, lines = compared(capsys, tmp_path / "both", [read], [read])
    assert code == 0
    assert not any("against inserts" in each for each in lines)


def test_markers_that_one_feed_lacks_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deleted, tombstone = change("d"), {"key": '{"id":1}', "payload": None}
    line = "not compared: tombstone events (1 on the left, 0 on the right)"
    code, lines = compared(capsys, tmp_path / "one", [deleted, tombstone], [deleted])
    assert code == 0
    assert line in lines
    code, lines = compared(capsys, tmp_path / "both", *([[deleted, tombstone]] * 2))
    assert code == 0
    assert not any("tombstone" in each for each in lines)
