"""Feeds with a value that can't be read: which row it is in is known, and no row is accused."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

pytest.importorskip("pyarrow", reason="needs the extra compare")

from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format

Compare: TypeAlias = Callable[..., tuple[int, str, dict[str, Any]]]

COLUMNS = (
    Column("id", IntType(32), "int", roles=frozenset({"primary", "handle"})),
    Column("n", IntType(32), "int"),
)
TABLE = Table("orders", "shop", columns=COLUMNS, key=("id",))
DDL = "CREATE TABLE shop.orders (id INT PRIMARY KEY, n INT);\n"


def row(id: int, n: int) -> RowChange:
    at = Position(commit_ts=449131812610801665 + id, commit_ms=1700000000000 + id)
    return RowChange(TABLE, "insert", None, Image(COLUMNS, (id, n)), at)


@pytest.fixture
def feeds(tmp_path: Path) -> Callable[..., tuple[str, str]]:
    """Write a feed of three rows, and one with another text in the place of a part of it."""

    def write(name: str, part: bytes, other: bytes) -> tuple[str, str]:
        rows = [row(1, 11), row(2, 222), row(3, 33)]
        messages = list(get_format(name).from_events(rows, context=Context(tables=(TABLE,))))
        (tmp_path / "t.sql").write_text(DDL)
        for side in ("a", "b"):
            (tmp_path / side).mkdir()
            write_messages(str(tmp_path / side / "messages.jsonl"), messages)
        file = tmp_path / "b" / "messages.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        values = [base64.b64decode(line["value"]) for line in lines]
        assert sum(value.count(part) for value in values) == 1
        for line, value in zip(lines, values, strict=True):
            line["value"] = base64.b64encode(value.replace(part, other)).decode()
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return f"{name}:file:{tmp_path / 'a'}", f"{name}:file:{tmp_path / 'b'}"

    return write


def counts_of(document: dict[str, Any]) -> dict[str, int]:
    (table,) = document["tables"]
    return {name: number for name, number in table["counts"].items() if number}


@pytest.mark.parametrize(
    ("name", "part", "other"),
    [
        ("debezium-json", b'"n":222', b'"n":"many"'),
        ("maxwell-json", b'"n":222', b'"n":"many"'),
        ("canal-json", b'"n":"222"', b'"n":"many"'),
        ("simple", b'"n":"222"', b'"n":"many"'),
        ("cdl-json", b'"n":222', b'"n":[]'),
    ],
)
def test_row_with_an_unreadable_value_is_not_missing(
    compare: Compare,
    feeds: Callable[..., tuple[str, str]],
    tmp_path: Path,
    name: str,
    part: bytes,
    other: bytes,
) -> None:
    left, right = feeds(name, part, other)
    ddl = ("--ddl", str(tmp_path / "t.sql"))
    code, out, document = compare(left, right, "--on-error", "row", *ddl)
    assert code == 1
    counts = {"left_rows": 3, "right_rows": 2, "left": 3, "right": 2, "same": 2}
    assert counts_of(document) == {**counts, "unreadable_right": 1}
    assert document["errors"] == {"left": 0, "right": 1}
    (line,) = document["unreadable"]
    assert str(tmp_path / "b" / "messages.jsonl") in line
    assert "equal, as far as it can be read" in out


def test_row_with_an_unreadable_key_may_be_missing(
    compare: Compare, feeds: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    left, right = feeds("maxwell-json", b'"id":2', b'"id":"two"')
    ddl = ("--ddl", str(tmp_path / "t.sql"))
    code, _, document = compare(left, right, "--on-error", "row", *ddl)
    assert code == 1
    (table,) = document["tables"]
    assert (table["counts"]["only_left"], table["counts"]["unreadable_right"]) == (1, 1)
    assert table["notes"] == [
        "1 row only on the left may belong to 1 unreadable row or message on the right"
    ]


def test_other_values_of_the_row_are_not_compared(
    compare: Compare, feeds: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    """Two values of the message can't be read, and the operation is another one."""
    left, right = feeds("maxwell-json", b'"n":222', b'"n":"many"')
    other = tmp_path / "b" / "messages.jsonl"
    lines = [json.loads(line) for line in other.read_text().splitlines()]
    value = base64.b64decode(lines[1]["value"]).replace(b'"insert"', b'"update"')
    value = value.replace(b'"data":', b'"old":{"n":"few"},"data":')
    lines[1]["value"] = base64.b64encode(value).decode()
    other.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ddl = ("--ddl", str(tmp_path / "t.sql"))
    _, _, document = compare(left, right, "--on-error", "row", *ddl)
    assert counts_of(document) == {
        "left_rows": 3,
        "right_rows": 2,
        "left": 3,
        "right": 2,
        "same": 2,
        "unreadable_right": 1,
    }


@pytest.fixture
def keyless(feeds: Callable[..., tuple[str, str]], tmp_path: Path) -> Callable[..., Any]:
    """Write feeds of a table without a key. The right one has a bad value."""

    def write(name: str, part: bytes, other: bytes) -> list[str]:
        left, right = feeds(name, part, other)
        (tmp_path / "t.sql").write_text("CREATE TABLE shop.orders (id INT, n INT);\n")
        return [left, right, "--on-error", "row", "--ddl", str(tmp_path / "t.sql")]

    return write


@pytest.mark.parametrize("part", [b'"n":222', b'"id":2'])
def test_row_without_a_key_may_be_the_unreadable_one(
    compare: Compare, keyless: Callable[..., list[str]], part: bytes
) -> None:
    code, out, document = compare(*keyless("maxwell-json", part, part[:-1] + b"[]"))
    assert code == 1
    counts = {"left_rows": 3, "right_rows": 2, "left": 3, "right": 2, "same": 2}
    assert counts_of(document) == {**counts, "unreadable_right": 1, "unsure_left": 1}
    (table,) = document["tables"]
    assert table["differences"] == table["patterns"] == []
    assert table["notes"] == [
        "1 row more on the left may belong to 1 unreadable row or message on the right"
    ]
    assert "equal, as far as it can be read" in out


def test_row_without_a_key_is_alone_if_fewer_are_unreadable(
    compare: Compare, keyless: Callable[..., list[str]], tmp_path: Path
) -> None:
    command = keyless("maxwell-json", b'"n":222', b'"n":[]')
    other = tmp_path / "b" / "messages.jsonl"
    other.write_text("".join(other.read_text().splitlines(keepends=True)[:2]))
    _, _, document = compare(*command)
    (table,) = document["tables"]
    assert (table["counts"]["only_left"], table["counts"]["unsure_left"]) == (2, 0)
    assert len(table["differences"]) == 2
    assert table["notes"] == [
        "2 rows only on the left may belong to 1 unreadable row or message on the right"
    ]
