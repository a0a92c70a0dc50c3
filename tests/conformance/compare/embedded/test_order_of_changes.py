"""The order of a key's changes: at one position, and where positions go back in both feeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

COLUMNS = (
    Column("id", IntType(64), roles=frozenset({"primary", "handle"})),
    Column("n", IntType(32), nullable=True),
)
T = Table("t", "s", columns=COLUMNS, key=("id",))
Run: TypeAlias = "Callable[..., tuple[int, str]]"


def row(id_: int, n: int) -> Image:
    return Image(COLUMNS, (id_, n))


def change(word: str) -> RowChange:
    """Return a change of a row: its operation, then the values of ``n``, then the position.

    ``i1@5`` inserts a row, ``u12@5`` updates 1 to 2, ``d2@5`` deletes it; with ``b`` before, of
    another row. ``k12@5`` changes the key from 1 to 2.
    """
    what, _, position = word.partition("@")
    key = 2 if what.startswith("b") else 1
    what = what.removeprefix("b")
    op, numbers = what[0], what[1:]
    at = Position(commit_ts=int(position), partition=1)
    values = [int(number) for number in numbers]
    if op == "k":
        return RowChange(T, "update", row(values[0], 0), row(values[1], 0), at)
    if op == "i":
        return RowChange(T, "insert", None, row(key, values[0]), at)
    if op == "d":
        return RowChange(T, "delete", row(key, values[0]), None, at)
    return RowChange(T, "update", row(key, values[0]), row(key, values[1]), at)


def write(folder: Path, files: Sequence[str], format_name: str) -> str:
    """Write a feed of one or more files. Returns: its URL."""
    folder.mkdir()
    for number, text in enumerate(files):
        messages = get_format(format_name).from_events(map(change, text.split()))
        write_messages(str(folder / f"{number}.jsonl"), messages)
    return f"{format_name}:file:{folder}"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Compare two feeds of changes; files are separated by a stroke."""

    def compare(left: str, right: str, *options: str) -> tuple[int, str]:
        urls = (
            write(tmp_path / "a", left.split("|"), "craft"),
            write(tmp_path / "b", right.split("|"), "open-protocol"),
        )
        code = main(["compare", *urls, "--engine", "embedded", *options])
        out, err = capsys.readouterr()
        return code, out + err

    return compare


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("u12@5 u23@5", "u23@5 u12@5"),
        ("u12@5 u21@5 u12@5", "u12@5 u12@5 u21@5"),
        ("i1@4 bi1@4 u12@5 bu12@5 u23@5", "i1@4 bi1@4 u23@5 bu12@5 u12@5"),
        ("i1@5 u12@5 d2@5", "u12@5 i1@5 d2@5"),
    ],
)
def test_changes_of_one_key_and_position_in_another_order_differ(
    run: Run, left: str, right: str
) -> None:
    code, text = run(left, right)
    assert code == 1
    assert "2 out of order" in text.replace("1 out of order left, 1", "2")
    assert "not in the other side's order of changes of its key, " in text


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("u12@5 u23@5", "u12@5 u23@5"),
        ("u12@5 bu12@5 u23@5", "bu12@5 u12@5 u23@5"),
        ("u12@5 u21@5 u12@5", "u12@5 u21@5 u12@5"),
        ("d1@5 i2@5", "d1@5 i2@5"),
        ("k12@5 k21@5", "k12@5 k21@5"),
        # What a producer that splits updates sends.
        ("i0@4 k12@5", "i0@4 d0@5 bi0@5"),
    ],
)
def test_changes_of_one_key_and_position_in_one_order_are_equal(
    run: Run, left: str, right: str
) -> None:
    code, text = run(left, right)
    assert code == 0, text
    assert "not compared: order" not in text


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("d1@5 i2@5", "i2@5 d1@5"),
        ("u12@5 u23@5", "u12@5 | u23@5"),
    ],
)
def test_order_that_feeds_do_not_share_is_named(run: Run, left: str, right: str) -> None:
    code, text = run(left, right)
    assert code == 0
    assert "  not compared: order of changes at one commit_ts (1 key: " in text


@pytest.mark.parametrize(
    ("left", "right", "code"),
    [
        ("u12@5 u23@5", "u12@5 u23@5 bi1@4 u12@5 u23@5", 1),
        ("u12@5 u23@5 bi1@4 u12@5 u23@5", "u12@5 u23@5 bi1@4 u12@5 u23@5", 0),
        ("i1@4 u12@5 i1@4 u12@5", "i1@4 u12@5 i1@4 u12@5", 0),
    ],
)
def test_changes_sent_again_are_in_order(run: Run, left: str, right: str, code: int) -> None:
    found, text = run(left, right)
    assert found == code
    assert "out of order" not in text


def test_position_that_goes_back_in_both_feeds_is_never_equal(run: Run) -> None:
    code, text = run("i1@4 u23@6 u12@5", "i1@4 u23@6 u12@5")
    assert code == 2
    assert text.count("\n") == 1
    assert (
        "nothing was decided: commit_ts goes back in both feeds: s.t at commit_ts 5 "
        "comes after a later change of its key; --pair-by key compares" in text
    )


def test_position_that_goes_back_is_one_difference_less_than_others(run: Run) -> None:
    code, text = run("i1@4 u23@6 u12@5 bi1@7", "i1@4 u23@6 u12@5 bi2@7")
    assert code == 1
    assert "(1 difference)" in text


def test_feeds_whose_positions_go_back_are_compared_by_the_order_of_changes(run: Run) -> None:
    feed = "i1@4 u23@6 u12@5"
    assert run(feed, feed, "--pair-by", "key")[0] == 0


def test_file_of_a_binlog_without_a_number_is_never_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    producer = {"connector": "mysql", "connector_version": "3.2.0.Final", "source_name": "srv"}

    def at(pos: int) -> Position:
        return Position(commit_ms=1000, file="binlog", pos=pos, row=0, server_id=1)

    changes = [
        RowChange(T, "insert", None, row(1, 1), at(900), extra=producer),
        RowChange(T, "update", row(1, 1), row(1, 2), at(1000), extra=producer),
    ]
    write_messages(str(tmp_path / "a.jsonl"), get_format("debezium-json").from_events(changes))
    feeds = [f"debezium-json:file:{tmp_path}"] * 2
    assert main(["compare", *feeds]) == 2
    problem = "left: file 'binlog' has no number at its end"
    assert f"nothing was decided: {problem}; --pair-by key compares" in capsys.readouterr().err
    assert main(["compare", *feeds, "--pair-by", "key"]) == 0
