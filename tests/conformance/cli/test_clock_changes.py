"""Notes about local times that clocks skip or repeat, by the verbs that read rows.

In 2024, clocks of Europe/Berlin skipped 02:00 to 03:00 on 31 March, and repeated it on 27 October.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

BERLIN = ("--option", "time-zone=Europe/Berlin")
NOTE = (
    "note: shop.t: at: 1 value of an hour that zone Europe/Berlin repeats (2024-10-27 02:00; read "
    "as the first time); 2 values of an hour that zone Europe/Berlin skips (2024-03-31 02:00; read "
    "with the offset before the change)\n"
)


@pytest.fixture
def feed(tmp_path: Path) -> str:
    """Messages of Canal-JSON: a row before an hour is skipped, and rows of changed hours."""
    clocks = ("2024-03-31 01:59:59", *["2024-03-31 02:30:00"] * 2, "2024-10-27 02:00:00")
    lines = []
    for number, clock in enumerate(clocks):
        message = {"id": 0, "database": "shop", "table": "t", "pkNames": ["id"], "isDdl": False}
        message |= {"type": "INSERT", "es": 1, "ts": 1, "sql": "", "old": None}
        message |= {"data": [{"id": str(number), "at": clock}]}
        message |= {"sqlType": {"id": 4, "at": 93}, "mysqlType": {"id": "int", "at": "timestamp"}}
        lines.append(json.dumps(message) + "\n")
    file = tmp_path / "feed.jsonl"
    file.write_text("".join(lines))
    return str(file)


def test_decode_names_column_zone_and_hours(feed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decode", "canal-json", feed, *BERLIN]) == 0
    assert capsys.readouterr().err == f"cdcwire decode: {NOTE}"


@pytest.mark.parametrize("zone", ["", "+01:00", "UTC"])
def test_no_hour_of_an_offset_or_an_unknown_zone_is_named(
    zone: str, feed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["decode", "canal-json", feed, "--option", f"time-zone={zone}"]) == 0
    assert capsys.readouterr().err == ""


def test_decode_of_a_storage_prefix_names_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ddl, made = tmp_path / "t.sql", tmp_path / "made"
    ddl.write_text("CREATE TABLE shop.t (id INT PRIMARY KEY, at TIMESTAMP);")
    assert main(["generate", "csv", "--rows", "1", "--ddl", str(ddl), "--to", str(made)]) == 0
    (file,) = made.rglob("*.csv")
    file.write_bytes(b'"I","t","shop",0,"2024-10-27 02:00:00"\r\n')
    capsys.readouterr()
    assert main(["decode", "csv", str(made), *BERLIN]) == 0
    assert "note: shop.t: at: 1 value of an hour that zone" in capsys.readouterr().err


def test_encode_names_them(feed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is encoded may have another zone, so a repeated hour loses which time it was."""
    assert main(["decode", "canal-json", feed, *BERLIN]) == 0
    events = tmp_path / "events.jsonl"
    events.write_text(capsys.readouterr().out)
    assert main(["encode", "canal-json", str(events), "--option", "time-zone=+00:00"]) == 0
    assert capsys.readouterr().err == f"cdcwire encode: {NOTE}"


def test_explain_names_them(feed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "canal-json", feed, *BERLIN]) == 0
    assert capsys.readouterr().out.endswith(NOTE)
