"""Every column of a feed is compared, whichever row is the first to have it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import FORMAT_NAMES, get_format
from cdcwire_conformance.cli import main

ID = Column("id", IntType(64), "bigint", nullable=False, roles=frozenset({"primary", "handle"}))
N, M = (Column(name, IntType(32), "int") for name in "nm")

# The table of a file is in its path, and that of a topic in its definition.
FORMATS = sorted(set(FORMAT_NAMES) - {"csv", "datahub-tuple"})


def change(number: int, column: Column, value: Any, old: Any = None) -> RowChange:
    columns = (ID, column)
    before = None if old is None else Image(columns, (number, old))
    after = Image(columns, (number, value))
    op: Any = "insert" if old is None else "update"
    table = Table("t", "s", columns=columns, key=("id",))
    position = Position(
        commit_ts=number,
        lsn=number,
        commit_ms=number * 1000,
        sequence_id=number,
        sent_ms=number * 1000,
        tx_id="1",
    )
    return RowChange(table, op, before, after, position)


def write(folder: Path, format_name: str, events: Sequence[Event]) -> str:
    folder.mkdir()
    messages = get_format(format_name).from_events(events)
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{format_name}:file:{folder}"


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("old", [None, 1], ids=["insert", "update"])
def test_column_that_only_a_later_row_has_is_compared(
    format_name: str, old: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urls = [
        write(
            tmp_path / name,
            format_name,
            [change(1, N, 5, old), change(2, N, 6, old), change(3, M, value, old)],
        )
        for name, value in (("a", 7), ("b", 8))
    ]
    code = main(["compare", *urls, "--engine", "embedded"])
    text = capsys.readouterr().out
    assert code == 1, text
    assert main(["compare", urls[0], urls[0], "--engine", "embedded"]) == 0
