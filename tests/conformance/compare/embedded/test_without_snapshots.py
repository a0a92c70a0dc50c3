"""A feed with a snapshot against one without: an option leaves out the rows of the snapshot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.context import Context, Selection
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Op, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format

Run = Callable[..., tuple[int, str, dict[str, Any]]]

ID = Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"}))
COLUMNS = (ID, Column("v", IntType(64)))
TABLE = Table("t", "s", columns=COLUMNS, key=("id",))
WITHOUT = "--without-snapshots"
HINT = (
    "hint: the left feed has rows of snapshots (3), the right feed has none; "
    "--without-snapshots leaves them out\n"
)


def change(op: Op, id_: int, old: int | None, new: int | None, table: Table = TABLE) -> RowChange:
    """Return a change of a row whose second column has these values."""
    before, after = (None if v is None else Image(COLUMNS, (id_, v)) for v in (old, new))
    place = Position(file="b.000001", pos=4 if op == "read" else 10 + id_, server_id=1, commit_ms=9)
    return RowChange(table, op, before, after, place, extra={"connector": "mysql"})


SNAPSHOT = [change("read", id_, None, 0) for id_ in (1, 2, 3)]
CHANGES = [
    change("update", 1, 0, 5),
    change("delete", 2, 0, None),
    change("insert", 4, None, 1),
]


def feed(folder: Path, name: str, events: Sequence[RowChange]) -> str:
    """Write a feed. Returns: its source."""
    folder.mkdir()
    context = Context({"connector": "mysql"} if name == "debezium-json" else {}, tables=(TABLE,))
    messages = get_format(name).from_events(events, context=context)
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{name}:file:{folder}"


@pytest.fixture(params=["maxwell-json", "debezium-json"])
def feeds(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, str]:
    """Return a feed with a snapshot, and one that began after it."""
    left = feed(tmp_path / "a", "debezium-json", [*SNAPSHOT, *CHANGES])
    return left, feed(tmp_path / "b", request.param, CHANGES)


def test_rows_of_a_snapshot_are_left_out_and_counted(feeds: tuple[str, str], compare: Run) -> None:
    code, text, document = compare(*feeds)
    assert code == 1
    assert HINT in text
    code, text, document = compare(*feeds, WITHOUT)
    assert code == 0, text
    line = "not compared: rows of snapshots (--without-snapshots: 3 on the left, 0 on the right)\n"
    assert line in text
    assert "hint:" not in text
    assert "EQUAL: 3 changes of 1 table" in text
    assert text.endswith("; left out: 3 rows of snapshots (--without-snapshots)\n")
    assert document["record"]["left"]["rows"] == 3


def test_last_rows_that_only_a_snapshot_has_are_left_out(
    feeds: tuple[str, str], compare: Run
) -> None:
    code, text, _ = compare(*feeds, "--mode", "final")
    assert code == 1
    assert HINT in text
    assert "only left: row id=3" in text  # it is a real row, which the other feed cannot know
    code, text, _ = compare(*feeds, "--mode", "final", WITHOUT)
    assert code == 0, text
    assert "2 last rows after 3 and 3 changes" in text
    assert "3 rows of snapshots (--without-snapshots)" in text


@pytest.mark.parametrize("mode", ["events", "final"])
@pytest.mark.parametrize("lost", range(3))
def test_change_after_the_snapshot_is_not_left_out(
    lost: int, mode: str, tmp_path: Path, compare: Run
) -> None:
    left = feed(tmp_path / "a", "debezium-json", [*SNAPSHOT, *CHANGES])
    fewer = [each for number, each in enumerate(CHANGES) if number != lost]
    right = feed(tmp_path / "b", "maxwell-json", fewer)
    code, text, _ = compare(left, right, "--mode", mode, WITHOUT)
    is_deleted = mode == "final" and CHANGES[lost].op == "delete"
    assert code == (0 if is_deleted else 1), text  # a deleted row is one that never was


def test_table_with_nothing_but_a_snapshot_is_named(tmp_path: Path, compare: Run) -> None:
    other = replace(TABLE, name="u")
    rows = [*SNAPSHOT, change("read", 1, None, 0, other)]
    left = feed(tmp_path / "a", "debezium-json", [*rows, *CHANGES])
    right = feed(tmp_path / "b", "debezium-json", CHANGES)
    code, text, _ = compare(left, right)
    assert code == 1
    assert "(4), the right feed has none; --without-snapshots leaves them out" in text
    code, text, _ = compare(left, right, WITHOUT)
    assert code == 0, text
    assert "not compared: s.u (the left feed has nothing but rows of snapshots)\n" in text
    code, text, _ = compare(left, right, WITHOUT, "--exclude", "s.u")
    assert code == 0
    assert "rows of snapshots (--without-snapshots: 3 on the left, 0 on the right)" in text
    assert "s.u (the left" not in text


def test_feeds_with_nothing_but_snapshots_are_not_equal(tmp_path: Path, compare: Run) -> None:
    left, right = (feed(tmp_path / name, "debezium-json", SNAPSHOT) for name in "ab")
    code, text, _ = compare(left, right, WITHOUT)
    assert code == 2, text


def test_snapshots_that_are_sent_as_inserts_are_refused(tmp_path: Path, compare: Run) -> None:
    source = feed(tmp_path / "a", "debezium-json", CHANGES)
    code, text, _ = compare(source, f"cdl-json:file:{tmp_path / 'a'}", WITHOUT)
    assert code == 2
    assert "--without-snapshots: cdl-json sends rows of snapshots as inserts" in text


def test_table_is_compared_with_rows_of_snapshots(tmp_path: Path, compare: Run) -> None:
    source = feed(tmp_path / "a", "debezium-json", CHANGES)
    code, text, _ = compare(source, f"parquet:{tmp_path}", WITHOUT)
    assert code == 2
    assert "--without-snapshots does not go with a table" in text


def test_decoder_of_a_feed_leaves_out_rows_that_are_not_selected() -> None:
    format_ = get_format("debezium-json")
    messages = list(format_.from_events([SNAPSHOT[0], CHANGES[0]]))
    decode = format_.decoder(Context(selection=Selection(reads=False)))
    assert [event.op for m in messages for event in decode(m)] == ["update"]  # type: ignore[union-attr]
