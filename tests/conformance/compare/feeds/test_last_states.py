"""Last rows after TRUNCATE, DROP and RENAME: earlier rows are gone, or of another table."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import Column, IntType
from cdcwire.registry import get_format

pytest.importorskip("pyarrow", reason="needs the extra compare")

Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"

ID = Column("id", IntType(64), roles=frozenset({"primary", "handle"}))
N = Column("n", IntType(32))


def put(table: str, ts: int, key: int, n: int) -> RowChange:
    image = Image((ID, N), (key, n))
    shown = Table(table, "s", columns=(ID, N), key=("id",))
    return RowChange(shown, "insert", None, image, Position(commit_ts=ts))


def ddl(table: str, ts: int, code: int, query: str) -> SchemaChange:
    return SchemaChange("query", query, code, Table(table, "s"), Position(commit_ts=ts))


@pytest.fixture
def feed(tmp_path: Path) -> Callable[..., str]:
    def write(*parts: Sequence[Event], format_name: str = "craft") -> str:
        folder = tmp_path / f"feed {len(list(tmp_path.glob('feed *')))}"
        folder.mkdir()
        for number, events in enumerate(parts):
            messages = get_format(format_name).from_events(list(events))
            write_messages(str(folder / f"part-{number}.jsonl"), messages)
        return f"{format_name}:file:{folder}"

    return write


ROWS = [put("t", 1, 1, 10), put("t", 2, 2, 20)]
EARLY, LATE = put("t", 1, 1, 10), put("t", 5, 2, 20)
TRUNCATE = ddl("t", 3, 11, "TRUNCATE TABLE `t`")
DROP = ddl("t", 3, 4, "DROP TABLE `s`.`t`")
RENAME = ddl("u", 3, 14, "RENAME TABLE `s`.`t` TO `s`.`u`")


def test_truncated_rows_are_gone_on_every_engine(
    compare: Compare, feed: Callable[..., str]
) -> None:
    left, right = feed([*ROWS, TRUNCATE]), feed(ROWS)
    code, out, document = compare(left, right, "--mode", "final")
    assert code == 1
    (table,) = document["tables"]
    assert table["counts"]["only_right"] == 2
    assert "note: left: TRUNCATE TABLE `t` (" in out
    assert compare(left, feed([*ROWS, TRUNCATE]), "--mode", "final")[0] == 0


def test_rows_after_a_truncate_count_wherever_it_is_in_the_feed(
    compare: Compare, feed: Callable[..., str]
) -> None:
    # the partition with the row gets the truncate first; the commit_ts says what came before it
    left = feed([TRUNCATE, EARLY, LATE], [TRUNCATE])
    assert compare(left, feed([LATE]), "--mode", "final")[0] == 0
    code, _, document = compare(left, feed([EARLY, LATE]), "--mode", "final")
    assert code == 1
    (difference,) = document["tables"][0]["differences"]
    assert difference["key"][0]["value"] == "1"


def test_renamed_rows_are_of_the_new_name(compare: Compare, feed: Callable[..., str]) -> None:
    left = feed([*ROWS, RENAME, put("u", 4, 2, 21), put("t", 5, 1, 11)])
    right = feed([put("u", 1, 1, 10), put("u", 4, 2, 21), put("t", 5, 1, 11)])
    code, out, document = compare(left, right, "--mode", "final")
    assert code == 0, out
    assert [table["table"] for table in document["tables"]] == ["s.t", "s.u"]
    other = feed([put("u", 1, 1, 99), put("u", 4, 2, 21), put("t", 5, 1, 11)])
    code, _, document = compare(left, other, "--mode", "final")
    assert code == 1
    assert [table["equal"] for table in document["tables"]] == [True, False]


def test_statement_that_can_not_be_applied_is_not_called_equal(
    compare: Compare, feed: Callable[..., str]
) -> None:
    left = feed([*ROWS, ddl("t", 3, 23, "ALTER TABLE t TRUNCATE PARTITION p0")])
    code, error, _ = compare(left, feed(ROWS), "--mode", "final")
    assert code == 2
    assert error.count("\n") == 1
    assert (
        "the last rows of s.t are not known: left: ALTER TABLE t TRUNCATE PARTITION p0 (" in error
    )
    assert "part-0.jsonl:2) can't be applied" in error


def debezium(folder: Path, *values: dict[str, Any]) -> str:
    """Write messages of Debezium's MySQL connector without schemas; keys by their row."""
    folder.mkdir()
    source = {"version": "3.2.0.Final", "connector": "mysql", "name": "x", "ts_ms": 1}
    source |= {"db": "s", "table": "t", "file": None, "pos": None}
    lines = []
    for value in values:
        row = value.get("after") or value.get("before")
        key = None if row is None else json.dumps({"id": row["id"]}).encode()
        body = json.dumps({"before": None, "after": None, "source": source, "ts_ms": 2, **value})
        sent = {"key": key and b64encode(key).decode(), "value": b64encode(body.encode()).decode()}
        lines.append(json.dumps(sent) + "\n")
    (folder / "messages.jsonl").write_text("".join(lines))
    return f"debezium-json:file:{folder}"


def inserted(key: int) -> dict[str, Any]:
    return {"op": "c", "after": {"id": key, "v": key}}


def test_truncate_message_without_a_position_counts_by_its_place(
    compare: Compare, tmp_path: Path
) -> None:
    rows = inserted(1), inserted(2)
    left = debezium(tmp_path / "a", *rows, {"op": "t"})
    right = debezium(tmp_path / "b", *rows)
    code, _, document = compare(left, right, "--mode", "final")
    assert code == 1
    assert document["tables"][0]["counts"]["only_right"] == 2
    again = debezium(tmp_path / "c", rows[0], {"op": "t"}, rows[1])
    assert compare(again, debezium(tmp_path / "d", rows[1]), "--mode", "final")[0] == 0


def test_deleted_row_of_other_columns_is_a_difference_of_rows(
    compare: Compare, feed: Callable[..., str]
) -> None:
    columns = (ID, Column("late", IntType(32)))
    shown = Table("t", "s", columns=columns, key=("id",))
    gone = RowChange(shown, "delete", Image(columns, (2, 7)), None, Position(commit_ts=5))
    code, out, document = compare(feed([*ROWS, gone]), feed(ROWS), "--mode", "final")
    assert code == 1
    (table,) = document["tables"]
    assert table["schema_differences"] == []
    (difference,) = table["differences"]
    assert (difference["verdict"], difference["due"]["position"]) == ("only right", "5")
    assert "left   deleted, its last change is at 5 " in out


C = Column("c", IntType(32))


def wide(ts: int, key: int, n: int, c: int | None) -> RowChange:
    shown = Table("t", "s", columns=(ID, N, C), key=("id",))
    return RowChange(shown, "insert", None, Image((ID, N, C), (key, n, c)), Position(commit_ts=ts))


ADD = ddl("t", 3, 5, "ALTER TABLE t ADD c INT NOT NULL DEFAULT 7")
OTHER = ddl("x", 1, 3, "CREATE TABLE x (i INT)")


def test_earlier_rows_have_the_default_of_a_new_column_on_every_engine(
    compare: Compare, feed: Callable[..., str]
) -> None:
    left = feed([*ROWS, ADD, wide(5, 3, 30, 31)])
    rows = [wide(9, 2, 20, 7), wide(9, 3, 30, 31)]
    code, out, _ = compare(left, feed([OTHER, wide(9, 1, 10, 7), *rows]), "--mode", "final")
    assert code == 0, out
    code, _, document = compare(left, feed([OTHER, wide(9, 1, 10, 8), *rows]), "--mode", "final")
    assert code == 1
    (difference,) = document["tables"][0]["differences"]
    (column,) = difference["columns"]
    assert [column[side]["value"] for side in ("left", "right")] == ["7", "8"]
