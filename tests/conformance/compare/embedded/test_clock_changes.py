"""Notes about local times in hours that the clocks of a zone skip or repeat.

In 2024, clocks of Europe/Berlin skipped 02:00 to 03:00 on 31 March, and repeated it on 27 October.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cdcwire_conformance.cli import main

REPEATED, SKIPPED = "2024-10-27 02:30:00", "2024-03-31 02:30:00"


def feed(folder: Path, times: list[str], kind: str = "timestamp") -> str:
    """Write rows as Canal sends them, one message per line."""
    folder.mkdir()
    lines = []
    for number, time in enumerate(times):
        row = {"id": str(number), "at": time}
        message = {"id": 0, "database": "shop", "table": "t", "pkNames": ["id"], "isDdl": False}
        message |= {"type": "INSERT", "es": 1, "ts": 1, "sql": "", "old": None, "data": [row]}
        message |= {"sqlType": {"id": 4, "at": 93}, "mysqlType": {"id": "int", "at": kind}}
        lines.append(json.dumps(message))
    (folder / "messages.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return f"canal-json:file:{folder}"


def compared(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["compare", *words, "--engine", "embedded"])
    return code, capsys.readouterr().out


BERLIN = ("--left-option", "time-zone=Europe/Berlin")
IN_UTC = ("--right-option", "time-zone=+00:00")


def test_repeated_hour_is_named_where_its_first_time_is_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = (
        feed(tmp_path / "a", [REPEATED, "2024-10-27 03:00:00"]),
        feed(tmp_path / "b", ["2024-10-27 00:30:00", "2024-10-27 02:00:00"]),
    )
    code, out = compared(capsys, *sides, *BERLIN, *IN_UTC)
    assert code == 0
    assert (
        "  note: left: at: 1 value of an hour that zone Europe/Berlin repeats "
        f"(2024-10-27 02:00; read as the first time), first at {tmp_path}/a/messages.jsonl:1\n"
    ) in out


def test_skipped_hour_is_named_where_it_equals_the_hour_after_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = (
        feed(tmp_path / "a", ["2024-03-31 01:59:59", SKIPPED, SKIPPED]),
        feed(tmp_path / "b", ["2024-03-31 00:59:59", *["2024-03-31 01:30:00"] * 2]),
    )
    code, out = compared(capsys, *sides, *BERLIN, *IN_UTC)
    assert code == 0
    assert (
        "  note: left: at: 2 values of an hour that zone Europe/Berlin skips "
        "(2024-03-31 02:00; read with the offset before the change), "
        f"first at {tmp_path}/a/messages.jsonl:2\n"
    ) in out


def test_time_of_unknown_zone_is_named_in_the_zone_that_the_user_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = (
        feed(tmp_path / "a", [REPEATED, SKIPPED]),
        feed(tmp_path / "b", ["2024-10-27 00:30:00", "2024-03-31 01:30:00"]),
    )
    code, out = compared(capsys, *sides, *IN_UTC, "--time-zone", "Europe/Berlin")
    assert code == 0
    assert "left: at: 1 value of an hour that zone Europe/Berlin repeats" in out
    assert "; 1 value of an hour that zone Europe/Berlin skips" in out


@pytest.mark.parametrize("options", [(), ("--time-zone", "Europe/Berlin"), IN_UTC])
def test_times_that_are_not_moved_are_not_named(
    options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = (feed(tmp_path / name, [REPEATED], "datetime") for name in ("a", "b"))
    code, out = compared(capsys, *sides, *options)
    assert code == 0
    assert "of an hour" not in out


def test_rows_of_a_storage_prefix_are_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ddl = tmp_path / "t.sql"
    ddl.write_text("CREATE TABLE shop.t (id INT PRIMARY KEY, at TIMESTAMP);")
    made = tmp_path / "made"
    assert main(["generate", "csv", "--rows", "1", "--ddl", str(ddl), "--to", str(made)]) == 0
    (file,) = made.rglob("*.csv")
    file.write_bytes(f'"I","t","shop",0,"{SKIPPED}"\r\n'.encode())
    capsys.readouterr()
    side = f"csv:file:{made}"
    code, out = compared(capsys, side, side, "--option", "time-zone=Europe/Berlin")
    assert code == 0
    for name in ("left", "right"):
        assert f"note: {name}: at: 1 value of an hour that zone Europe/Berlin skips" in out


def test_only_the_first_three_hours_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times = [f"{year}-03-{day} 02:30:00" for year, day in ((2023, 26), (2024, 31), (2021, 28))]
    side = feed(tmp_path / "a", [*times, times[0], "2022-03-27 02:30:00"])
    code, out = compared(capsys, side, side, "--option", "time-zone=Europe/Berlin")
    assert code == 0
    hours = "2021-03-28 02:00, 2022-03-27 02:00, 2023-03-26 02:00, …"
    assert f"5 values of an hour that zone Europe/Berlin skips ({hours}; read with" in out


@pytest.mark.parametrize("hide", [("--mask",), ("--redact", "at")])
def test_hours_of_hidden_columns_are_not_named(
    hide: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    side = feed(tmp_path / "a", [REPEATED])
    code, out = compared(capsys, side, side, "--option", "time-zone=Europe/Berlin", *hide)
    assert code == 0
    assert "zone Europe/Berlin repeats (read as the first time)" in out
    assert "2024" not in out
