"""Parts that rules do not ask for, and events without rows: named, if two feeds differ."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
    capsys: pytest.CaptureFixture[str],
    folder: Path,
    *feeds: list[dict[str, Any]],
    options: Sequence[str] = (),
) -> tuple[int, list[str]]:
    for name, feed in zip("ab", feeds, strict=True):
        (folder / name).mkdir(parents=True)
        lines = [{"topic": "t", "partition": 0, "offset": i, **m} for i, m in enumerate(feed)]
        text = "".join(f"{json.dumps(each)}\n" for each in lines)
        (folder / name / "messages.jsonl").write_text(text)
    sources = [f"debezium-json:file:{folder / name}" for name in "ab"]
    code = main(["compare", *sources, "--engine", "embedded", *options])
    lines_of_text = map(str.strip, capsys.readouterr().out.splitlines())
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


def test_markers_are_counted_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deleted, tombstone = change("d"), {"key": '{"id":1}', "payload": None}
    line = "not compared: tombstone events (1 on the left, 0 on the right)"
    code, lines = compared(capsys, tmp_path / "one", [deleted, tombstone], [deleted])
    assert code == 0
    assert line in lines
    code, lines = compared(capsys, tmp_path / "both", *([[deleted, tombstone]] * 2))
    assert code == 0
    assert "not compared: tombstone events (1 on the left, 1 on the right)" in lines
    code, lines = compared(capsys, tmp_path / "none", *([[deleted]] * 2))
    assert code == 0
    assert not any("tombstone" in each for each in lines)


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ((1, "1", "text"), "number and text"),
        ((True, 1, 0), "bool and number"),
        (([1], ["1"], ["text"]), "number and text"),
    ],
    ids=["number", "bool", "item"],
)
@pytest.mark.parametrize("mode", ["events", "final"])
def test_kinds_of_values_in_a_column_without_type_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], values: Any, kinds: str, mode: str
) -> None:
    def row(number: int, value: object) -> dict[str, Any]:
        after = {"id": number, "v": value}
        source = {**SOURCE, "pos": number}
        document = {"before": None, "after": after, "source": source, "op": "c", "ts_ms": 1000}
        return {"key": json.dumps({"id": number}), "payload": json.dumps(document)}

    own, other, third = values
    path = "v[]" if isinstance(own, list) else "v"
    feeds = [[row(1, first), row(2, third)] for first in (own, other)]
    code, lines = compared(capsys, tmp_path / "mixed", *feeds, options=("--mode", mode))
    assert code == 0
    assert f"not compared: kinds of values in {path} (a feed has {kinds} there)" in lines
    feeds = [[row(1, own), row(2, None)]] * 2
    code, lines = compared(capsys, tmp_path / "one", *feeds, options=("--mode", mode))
    assert code == 0
    assert not any("kinds of values" in line for line in lines)
