"""Last rows after ALTER TABLE, against a feed whose rows were read after it.

``FEED`` has two rows before the statement and one after it. A snapshot has all three rows as the
table has them in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import (
    Column,
    DatetimeType,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    TextType,
    Type,
)
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

pytest.importorskip("sqlglot", reason="needs the extra ddl")

ID = Column("id", IntType(64), roles=frozenset({"primary", "handle"}))
N = Column("n", IntType(32))
C = Column("c", IntType(32))
TEXT = Column("c", TextType())


def put(ts: int, columns: Sequence[Column], *values: Any, op: Any = "insert") -> RowChange:
    shown = Table("t", "s", columns=tuple(columns), key=("id",))
    image = Image(tuple(columns), values)
    return RowChange(shown, op, None, image, Position(commit_ts=ts))


def ddl(query: str, ts: int = 3, code: int = 5) -> SchemaChange:
    return SchemaChange("query", query, code, Table("t", "s"), Position(commit_ts=ts))


def write(folder: Path, *events: Event) -> str:
    folder.mkdir()
    messages = get_format("open-protocol").from_events(list(events))
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"open-protocol:file:{folder}"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["compare", *words, "--mode", "final", "--engine", "embedded"])
    out, err = capsys.readouterr()
    return code, out + err


BEFORE = [put(1, (ID, N), 1, 10), put(2, (ID, N), 2, 20)]
OTHER = SchemaChange("query", "CREATE TABLE x (i INT)", 3, Table("x", "s"), Position(commit_ts=1))


def feed(folder: Path, query: str, *after: Event) -> str:
    return write(folder, *BEFORE, ddl(query), *after)


def snapshot(folder: Path, columns: Sequence[Column], *rows: tuple[Any, ...]) -> str:
    """A feed that has statements, but not the one about the table."""
    return write(folder, OTHER, *(put(9, columns, *row) for row in rows))


ADDED: list[tuple[str, Type, Any, Any]] = [
    ("c INT DEFAULT 5", IntType(32), 5, 6),
    ("COLUMN c INT NOT NULL DEFAULT 5", IntType(32), 5, 6),
    ("COLUMN `C` INT", IntType(32), None, 0),
    ("c INT DEFAULT NULL", IntType(32), None, 0),
    ("c INT NOT NULL", IntType(32), 0, None),
    ("c VARCHAR(9) NOT NULL", TextType(), "", None),
    ("c VARCHAR(9) DEFAULT 'it''s, (x)' AFTER id, ADD INDEX (n)", TextType(), "it's, (x)", "x"),
    ("(c VARCHAR(9) DEFAULT 'x', d INT)", TextType(), "x", "y"),
    ("c DECIMAL(9,2) DEFAULT '1.5'", DecimalType(), Decimal("1.50"), Decimal("1.51")),
    ("c DATETIME DEFAULT '2024-01-02 03:04:05'", DatetimeType(), "2024-01-02 03:04:05", None),
    ("c DOUBLE DEFAULT 0.5", FloatType(64), 0.5, 0.25),
    ("c ENUM('a','b') DEFAULT 'b'", EnumType(), 2, 1),
]


@pytest.mark.parametrize(("what", "kind", "value", "wrong"), ADDED, ids=[a[0] for a in ADDED])
def test_earlier_rows_have_the_constant_of_a_new_column(
    what: str,
    kind: Type,
    value: Any,
    wrong: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    column = Column("c", kind)
    later = put(4, (ID, N, column), 3, 30, value)
    left = feed(tmp_path / "a", f"ALTER TABLE t ADD {what}", later)
    rows = [(1, 10, value), (2, 20, value), (3, 30, value)]
    right = snapshot(tmp_path / "b", (ID, N, column), *rows)
    code, text = run(capsys, left, right)
    assert code == 0, text
    assert "note: left: ALTER TABLE t ADD" in text
    assert ": rows before it have its c\n" in text
    right = snapshot(tmp_path / "c", (ID, N, column), (1, 10, wrong), *rows[1:])
    code, text = run(capsys, right, left)
    assert code == 1, text
    assert "1 changed" in text


def test_new_column_that_no_later_row_shows_has_its_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = feed(tmp_path / "a", "ALTER TABLE t ADD c INT DEFAULT 5")
    right = snapshot(tmp_path / "b", (ID, N, C), (1, 10, 5), (2, 20, 5))
    assert run(capsys, left, right)[0] == 0
    right = snapshot(tmp_path / "c", (ID, N, C), (1, 10, 5), (2, 20, 6))
    assert run(capsys, left, right)[0] == 1


def test_new_column_that_later_rows_lack_is_a_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = put(4, (ID, N), 3, 30)
    left = feed(tmp_path / "a", "ALTER TABLE t ADD c INT DEFAULT 5", later)
    right = snapshot(tmp_path / "b", (ID, N, C), (1, 10, 5), (2, 20, 5), (3, 30, 5))
    code, text = run(capsys, left, right)
    assert code == 1
    assert "column c: only on the right" in text


def test_feed_without_statements_has_the_default_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = put(4, (ID, N, C), 3, 30, 7)
    left = feed(tmp_path / "a", "ALTER TABLE t ADD c INT DEFAULT 5", later)
    right = write(tmp_path / "b", *BEFORE, later)
    code, text = run(capsys, left, right)
    assert code == 0, text
    assert "note: right: rows without c have the same value: the left feed has ALTER TABLE" in text


@pytest.mark.parametrize(
    "what",
    [
        "c TIMESTAMP DEFAULT CURRENT_TIMESTAMP",
        "c INT DEFAULT (1 + 1)",
        "c INT GENERATED ALWAYS AS (n + 1) STORED",
        "c INT NOT NULL AUTO_INCREMENT UNIQUE",
        "c DATETIME NOT NULL",
        "c TEXT[]",
    ],
)
def test_new_column_whose_values_are_not_known_is_never_called_equal(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = put(4, (ID, N, TEXT), 3, 30, "x")
    left = feed(tmp_path / "a", f"ALTER TABLE t ADD {what}", later)
    right = snapshot(tmp_path / "b", (ID, N, TEXT), (1, 10, "x"), (2, 20, "x"), (3, 30, "x"))
    code, text = run(capsys, left, right)
    assert code == 2, text
    assert "the last rows of s.t are not known: left: ALTER TABLE t ADD" in text
    code, text = run(capsys, left, feed(tmp_path / "c", f"ALTER TABLE t ADD {what}", later))
    assert code == 0, text


@pytest.mark.parametrize(
    ("what", "column"),
    [
        ("CHANGE n m DECIMAL(9,2)", "m"),
        ("MODIFY n DECIMAL(9,2)", "n"),
        ("MODIFY COLUMN n CHAR(9)", "n"),
        ("ALTER COLUMN n TYPE text USING n::text", "n"),
    ],
)
def test_converted_columns_are_never_accused(
    what: str, column: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = feed(tmp_path / "a", f"ALTER TABLE t {what}")
    right = snapshot(tmp_path / "b", (ID, Column(column, IntType(32))), (1, 11), (2, 22))
    code, text = run(capsys, left, right)
    assert code == 2, text
    assert f"left: ALTER TABLE t {what} (" in text
    assert "can't be applied: column n: it " in text


M = Column("m", IntType(32))


@pytest.mark.parametrize(
    "what", ["RENAME COLUMN n TO m", "CHANGE n m BIGINT", "CHANGE COLUMN `N` `M` INT NOT NULL"]
)
def test_renamed_column_has_its_new_name_in_earlier_rows(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(1, 10), (2, 20)]
    for number, later in enumerate([[], [(3, 30)]]):
        folder = tmp_path / str(number)
        folder.mkdir()
        left = feed(folder / "a", f"ALTER TABLE t {what}", *(put(4, (ID, M), *r) for r in later))
        right = snapshot(folder / "b", (ID, M), *rows, *later)
        for sides in ((left, right), (right, left)):
            code, text = run(capsys, *sides)
            assert code == 0, text
            assert ": rows before it have n as m\n" in text
        code, text = run(capsys, left, snapshot(folder / "c", (ID, M), (1, 10), (2, 21), *later))
        assert code == 1, text
        assert "after.m (int32)\n    left   20\n    right  21\n" in text.replace("      ", "    ")
        code, text = run(capsys, left, snapshot(folder / "d", (ID, N), *rows, *later))
        assert code == 1, text
        assert "column m: only on the left" in text.lower()


def test_feed_without_statements_has_the_new_name_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = feed(tmp_path / "a", "ALTER TABLE t RENAME COLUMN n TO m", put(4, (ID, M), 3, 30))
    right = write(tmp_path / "b", *BEFORE, put(4, (ID, M), 3, 30))
    code, text = run(capsys, left, right)
    assert code == 0, text
    assert "not compared: the name of n of s.t (ALTER TABLE t RENAME COLUMN n TO m (" in text
    code, text = run(capsys, left, write(tmp_path / "c", *BEFORE, put(4, (ID, M), 3, 31)))
    assert code == 1, text


@pytest.mark.parametrize(
    ("what", "columns", "why"),
    [
        ("RENAME COLUMN n TO m, RENAME COLUMN m TO n", (ID, M), "it is changed again"),
        ("RENAME COLUMN n TO m, ADD n INT", (ID, M), "it is changed again"),
    ],
)
def test_renamed_column_whose_rows_are_not_known_is_never_called_equal(
    what: str,
    columns: Sequence[Column],
    why: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    left = feed(tmp_path / "a", f"ALTER TABLE t {what}")
    code, text = run(capsys, left, snapshot(tmp_path / "b", columns, (1, 10), (2, 20)))
    assert code == 2, text
    assert why in text


def test_new_name_that_later_rows_lack_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = feed(tmp_path / "a", "ALTER TABLE t RENAME COLUMN n TO m", put(4, (ID, N), 3, 30))
    right = snapshot(tmp_path / "b", (ID, N), (1, 10), (2, 20), (3, 30))
    code, text = run(capsys, left, right)
    assert code == 2, text
    assert "the rows after it have no m" in text


def test_row_with_the_old_and_the_new_name_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = put(4, (ID, N, M), 3, 30, 31)
    left = feed(tmp_path / "a", "ALTER TABLE t RENAME COLUMN n TO m", later)
    right = snapshot(tmp_path / "b", (ID, M), (1, 10), (2, 20), (3, 31))
    code, text = run(capsys, left, right)
    assert code == 2, text
    assert "it was renamed m, and the row has both" in text


@pytest.mark.parametrize(
    "what", ["MODIFY n BIGINT", "ADD INDEX (n)", "ALTER COLUMN n SET DEFAULT 7"]
)
def test_columns_that_keep_their_values_are_compared(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = feed(tmp_path / "a", f"ALTER TABLE t {what}")
    assert run(capsys, left, snapshot(tmp_path / "b", (ID, N), (1, 10), (2, 20)))[0] == 0
    assert run(capsys, left, snapshot(tmp_path / "c", (ID, N), (1, 10), (2, 21)))[0] == 1


def test_dropped_column_is_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = feed(tmp_path / "a", "ALTER TABLE t DROP COLUMN n", put(4, (ID,), 3))
    code, text = run(capsys, left, snapshot(tmp_path / "b", (ID,), (1,), (2,), (3,)))
    assert code == 0, text
    assert ": no row has n\n" in text
    code, text = run(capsys, left, write(tmp_path / "c", *BEFORE, put(4, (ID,), 3)))
    assert code == 0, text
    assert "not compared: n of s.t (ALTER TABLE t DROP COLUMN n (" in text
    kept = snapshot(tmp_path / "d", (ID, N), (1, 10), (2, 20), (3, 30))
    code, text = run(capsys, left, kept)
    assert code == 1, text
    assert "column n: only on the right" in text


def test_column_that_is_dropped_and_added_again_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = [ddl("ALTER TABLE t DROP n"), ddl("ALTER TABLE t ADD n INT DEFAULT 4", 4)]
    left = write(tmp_path / "a", *BEFORE, *again, put(5, (ID, N), 3, 30))
    code, text = run(capsys, left, snapshot(tmp_path / "b", (ID, N), (1, 4), (2, 4), (3, 30)))
    assert code == 2
    assert "can't be applied: column n: it is changed again" in text


def test_rows_after_a_truncate_have_no_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    statements = [ddl("ALTER TABLE t ADD c INT DEFAULT 5"), ddl("TRUNCATE t", 4, 11)]
    left = write(tmp_path / "a", *BEFORE, *statements, put(5, (ID, N, C), 1, 10, 5))
    right = snapshot(tmp_path / "b", (ID, N, C), (1, 10, 5))
    code, text = run(capsys, left, right)
    assert code == 0
    assert "rows before it have its c" not in text


def test_statement_that_the_other_feed_may_lack_matters_only_to_rows_that_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A feed without any statement may have the rows from before the one of the other feed."""
    left = feed(tmp_path / "a", "ALTER TABLE t MODIFY n DECIMAL(9,2)")
    code, text = run(capsys, left, write(tmp_path / "b", *BEFORE))
    assert code == 0, text
    assert "not compared: what ALTER TABLE t MODIFY n DECIMAL(9,2) (" in text
    code, text = run(capsys, left, write(tmp_path / "c", BEFORE[0], put(2, (ID, N), 2, 21)))
    assert code == 2
    assert "the last rows of s.t are not known: left: ALTER TABLE t MODIFY n" in text


OID = Column("oid", IntType(64), roles=frozenset({"primary", "handle"}))
RENAMED = "ALTER TABLE t RENAME COLUMN id TO oid"


def put_by(column: Column, ts: int, *values: Any) -> RowChange:
    change = put(ts, (column, N), *values)
    return replace(change, table=replace(change.table, key=(column.name,)))


def by_oid(folder: Path, *rows: tuple[int, int]) -> str:
    return write(folder, *(put_by(OID, number, *row) for number, row in enumerate(rows, 1)))


def test_renamed_column_of_the_key_places_earlier_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = feed(tmp_path / "a", RENAMED, put_by(OID, 4, 2, 21), put_by(OID, 5, 3, 30))
    code, text = run(capsys, left, by_oid(tmp_path / "b", (1, 10), (2, 21), (3, 30)))
    assert code == 0, text
    assert "3 last rows" in text
    assert ": rows before it have id as oid\n" in text
    code, text = run(capsys, left, by_oid(tmp_path / "c", (1, 11), (2, 21), (3, 30)))
    assert code == 1, text
    assert "changed: row oid=1 at " in text


def test_rows_before_both_feeds_rename_the_key_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without its key, the first row would be taken for the second one."""
    later = ddl(RENAMED), put_by(OID, 4, 3, 30)
    left = write(tmp_path / "a", *BEFORE, *later)
    assert run(capsys, left, left)[0] == 0
    other = put(1, (ID, N), 1, 99), *BEFORE[1:]
    code, text = run(capsys, left, write(tmp_path / "b", *other, *later))
    assert code == 1, text
    assert "changed: row oid=1 at " in text


def test_rows_without_a_column_of_the_key_are_never_called_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No statement says that the key has another column now."""
    left = write(tmp_path / "a", *BEFORE, put_by(OID, 4, 3, 30))
    code, text = run(capsys, left, left)
    assert code == 2, text
    assert "left: some rows do not have oid, a column of the key; leave it out (--exclude)" in text


def test_keys_of_two_names_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = write(tmp_path / "a", *BEFORE)
    code, text = run(capsys, left, by_oid(tmp_path / "b", (1, 10), (2, 20)))
    assert code == 2, text
    assert "key: (id) on the left, (oid) on the right); give the key with --ddl" in text
