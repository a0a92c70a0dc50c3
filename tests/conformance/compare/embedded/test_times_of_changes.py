"""Times of changes: compared as exactly as both formats have them, and the rest is named."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

ID = Column("id", IntType(64), roles=frozenset({"primary"}))
T = Table("t", "s", columns=(ID,), key=("id",))
BELOW_A_SECOND = "not compared: commit_ms below a second (maxwell-json has whole seconds)\n"


def write(folder: Path, format_name: str, times: Iterable[int]) -> str:
    """Write an insert at each of these times in milliseconds. Returns: the feed's URL."""
    rows = [
        RowChange(T, "insert", None, Image((ID,), (n,)), Position(commit_ms=ms, tx_id="1"))
        for n, ms in enumerate(times)
    ]
    folder.mkdir()
    write_messages(str(folder / "messages.jsonl"), get_format(format_name).from_events(rows))
    return f"{format_name}:file:{folder}"


@pytest.mark.parametrize(
    ("formats", "left", "right", "code"),
    [
        (("maxwell-json", "maxwell-json"), (1_000, 2_000), (1_000, 2_000), 0),
        (("maxwell-json", "maxwell-json"), (1_000, 2_000), (1_000, 3_000), 1),
        (("maxwell-json", "debezium-json"), (1_000, 2_000), (1_999, 2_001), 0),
        (("debezium-json", "maxwell-json"), (1_999, 2_001), (1_000, 2_000), 0),
        (("maxwell-json", "debezium-json"), (1_000, 2_000), (1_000, 3_000), 1),
        (("debezium-json", "debezium-json"), (1_000, 2_000), (1_000, 2_001), 1),
    ],
)
def test_times_are_compared_in_seconds_if_a_format_has_no_more(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    formats: tuple[str, str],
    left: tuple[int, int],
    right: tuple[int, int],
    code: int,
) -> None:
    urls = (
        write(tmp_path / "a", formats[0], left),
        write(tmp_path / "b", formats[1], right),
    )
    assert main(["compare", *urls, "--engine", "embedded"]) == code
    text = capsys.readouterr().out
    assert "compared: op, commit_ms, " in text.replace("tx_id, ", "")
    assert (BELOW_A_SECOND in text) is (formats[0] != formats[1])


def test_times_that_only_one_format_has_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [RowChange(T, "insert", None, Image((ID,), (0,)), Position(commit_ts=1))]
    folder = tmp_path / "b"
    folder.mkdir()
    write_messages(str(folder / "messages.jsonl"), get_format("craft").from_events(rows))
    left = write(tmp_path / "a", "maxwell-json", (1_000,))
    main(["compare", left, f"craft:file:{folder}", "--engine", "embedded"])
    assert "not compared: commit_ms (craft has none)\n" in capsys.readouterr().out
