"""``--profile``: differences that two releases of a producer explain are shown, not counted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import (
    UNAVAILABLE,
    Column,
    DatetimeType,
    IntType,
    TextType,
    TimestampType,
    TimeType,
)
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

ID = Column("id", IntType(32), "int32", nullable=False, roles=frozenset({"primary"}))
COLUMNS = (
    ID,
    Column("t", TimeType(form="us"), "io.debezium.time.MicroTime"),
    Column("ts", TimestampType(zone="UTC"), "io.debezium.time.ZonedTimestamp"),
    Column("v", TextType(), "string"),
)
T = Table("t", "shop", columns=COLUMNS, key=("id",))
HOURS = 3600 * 1_000_000
OLD = (1, -(100 * 3600 + 243) * 1_000_000, "1970-01-01 00:00:00+00:00", "a")
NEW = (1, -100 * HOURS, None, "a")
SAME = (2, HOURS, "2024-01-01 00:00:00+00:00", "b")
PROFILE = ("--profile", "debezium-1.9:debezium-3.6")


def feed(
    folder: Path,
    rows: Sequence[tuple[Any, ...]],
    connector: str = "mysql",
    table: Table = T,
    truncates: int = 0,
) -> str:
    events: list[Event] = []
    extra = {"connector": connector, "source_name": "srv"}
    for number, values in enumerate(rows, 1):
        image = Image(table.columns or (), values)
        events.append(RowChange(table, "insert", None, image, at(connector, number), extra=extra))
    for number in range(truncates):
        place = at(connector, len(rows) + number + 1)
        events.append(SchemaChange("truncate", None, table=table, position=place, extra=extra))
    messages = get_format("debezium-json").from_events(events)
    folder.mkdir()
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"debezium-json:file:{folder}"


def at(connector: str, number: int) -> Position:
    if connector == "mysql":
        return Position(commit_ms=1, file="binlog.1", pos=number, row=0)
    if connector == "sqlserver":
        lsn = f"00000027:00000ac0:{number:04x}"
        return Position(commit_ms=1, commit_lsn=lsn, change_lsn=lsn, event_serial_no=1)
    return Position(commit_ms=1, lsn=number, tx_id="1")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["compare", *words, "--engine", "embedded"])
    out, err = capsys.readouterr()
    return code, out + err


@pytest.mark.parametrize("mode", ["events", "final"])
def test_releases_explain_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: str
) -> None:
    left, right = feed(tmp_path / "a", [OLD, SAME]), feed(tmp_path / "b", [NEW, SAME])
    code, text = run(capsys, left, right, "--mode", mode)
    assert code == 1
    assert "hint: negative TIME, read wrongly before Debezium 2.5.3: --profile debezium" in text
    report = tmp_path / "found.json"
    words = ("--mode", mode, "--json", str(report))
    code, text = run(capsys, left, right, *PROFILE, *words)
    assert code == 0, text
    assert "shop.t: equal except for what a release changed\n" in text
    assert "1 same, 1 changed by a release\n" in text
    assert "      zero TIMESTAMP, 1970 before Debezium 3.6 and NULL since then\n" in text
    assert text.endswith("left out: 1 difference of releases (--profile)\n")
    found = json.loads(report.read_text())
    assert found["equal"]
    assert found["tables"][0]["counts"]["released"] == 1
    assert run(capsys, right, left, "--profile", "debezium-3.6:debezium-1.9", *words[:2])[0] == 0
    for releases in ("debezium-2.6:debezium-3.6", "debezium-1.9:debezium-3.5"):  # one of the two
        assert run(capsys, left, right, "--profile", releases, *words[:2])[0] == 1


def test_another_difference_of_the_row_remains(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = feed(tmp_path / "a", [OLD]), feed(tmp_path / "b", [(*NEW[:3], "x")])
    code, text = run(capsys, left, right, *PROFILE)
    assert code == 1
    assert "  1 changed\n" in text


def test_another_connector_has_other_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """1970-01-01 00:00:00 is an ordinary instant of PostgreSQL."""
    old, new = ((1, 0, value, "a") for value in (OLD[2], None))
    left, right = (
        feed(tmp_path / name, [row], "postgresql") for name, row in (("a", old), ("b", new))
    )
    code, text = run(capsys, left, right, *PROFILE)
    assert code == 1
    assert "hint: zero TIMESTAMP" not in text


def test_column_that_an_update_did_not_touch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Table("t", "dbo", "shop", columns=(ID, COLUMNS[3]), key=("id",))
    left, right = (
        feed(tmp_path / name, [(1, value)], "sqlserver", table)
        for name, value in (("a", None), ("b", UNAVAILABLE))
    )
    assert run(capsys, left, right)[0] == 1
    code, text = run(capsys, left, right, "--profile", "debezium-3.5:debezium-3.6")
    assert code == 0, text


@pytest.mark.parametrize(
    ("form", "old", "new"),
    [("us", -62135769600000000, -62135596800000000), ("ns", -29575808000, 2**63 - 1)],
)
def test_times_of_postgresql(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: Any, old: int, new: int
) -> None:
    """0001-01-01 in a snapshot, and infinity in nanoseconds."""
    at = Column("at", DatetimeType(form=form), "timestamp")
    table = Table("t", "public", "shop", columns=(ID, at), key=("id",))
    left, right = (
        feed(tmp_path / name, [(1, value)], "postgresql", table)
        for name, value in (("a", old), ("b", new))
    )
    assert run(capsys, left, right)[0] == 1
    assert run(capsys, left, right, "--profile", "debezium-3.6:debezium-3.6")[0] == 1
    code, text = run(capsys, left, right, "--profile", "debezium-3.2:debezium-3.6")
    assert code == 0, text


def test_truncate_that_no_old_release_sends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = feed(tmp_path / "a", [SAME]), feed(tmp_path / "b", [SAME], truncates=1)
    assert run(capsys, left, right)[0] == 1
    code, text = run(capsys, left, right, *PROFILE)
    assert code == 0, text
    line = "not compared: TRUNCATE of shop.t (no TRUNCATE was sent before Debezium 2.1)\n"
    assert line in text
    assert run(capsys, right, left, *PROFILE)[0] == 1  # the newer side lacks it
    twice = feed(tmp_path / "c", [SAME], truncates=2)
    assert run(capsys, right, twice, *PROFILE)[0] == 1  # both sides send some


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("debezium-3.6", "it is not PRODUCER-VERSION:PRODUCER-VERSION"),
        ("debezium-x:debezium-3.6", "it is not PRODUCER-VERSION:PRODUCER-VERSION"),
        ("maxwell-1.0:maxwell-1.2", "two releases of one producer are needed: debezium"),
        ("debezium-2.7:maxwell-1.2", "two releases of one producer are needed: debezium"),
    ],
)
def test_releases_that_are_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    one = feed(tmp_path / "a", [SAME])
    code, said = run(capsys, one, one, "--profile", text)
    assert code == 2
    assert problem in said
