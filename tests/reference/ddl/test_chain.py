"""A chain of DDL: what each statement makes of a table, and what can't be carried out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cdcwire.ddl import DdlError, Statement, parse_ddl, read_chain, read_chain_file
from cdcwire.model.events import Expression, Table
from cdcwire.model.kinds import ABSENT, Column

CREATE = "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(3) NOT NULL, UNIQUE u (b));"


def last(text: str, create: str = CREATE) -> Table:
    """Return the table after the last statement."""
    found = read_chain(f"{create} {text}", "s")[-1].changes[-1].after
    assert found is not None
    return found


def columns(table: Table) -> str:
    """Return names and types, NOT NULL marked by a sign, keys by their roles."""
    return " ".join(
        f"{each.name}:{each.source}{'' if each.nullable else '!'}" for each in table.columns or ()
    )


def column(table: Table, name: str) -> Column:
    (found,) = (each for each in table.columns or () if each.name == name)
    return found


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("ADD c INT", "id:int! a:int b:varchar(3)! c:int"),
        ("ADD COLUMN c INT FIRST", "c:int id:int! a:int b:varchar(3)!"),
        ("ADD COLUMN c INT NOT NULL AFTER ID", "id:int! c:int! a:int b:varchar(3)!"),
        ("ADD COLUMN (c INT, d DATE, KEY (c))", "id:int! a:int b:varchar(3)! c:int d:date"),
        ("ADD COLUMN IF NOT EXISTS a DATE", "id:int! a:int b:varchar(3)!"),
        ("ADD c INT, ADD d INT AFTER c", "id:int! a:int b:varchar(3)! c:int d:int"),
        ("DROP a", "id:int! b:varchar(3)!"),
        ("DROP COLUMN A RESTRICT, DROP b", "id:int!"),
        ("DROP COLUMN IF EXISTS x, DROP a", "id:int! b:varchar(3)!"),
        ("MODIFY a BIGINT UNSIGNED NOT NULL", "id:int! a:bigint unsigned! b:varchar(3)!"),
        ("MODIFY COLUMN a INT FIRST", "a:int id:int! b:varchar(3)!"),
        ("MODIFY id BIGINT AFTER b", "a:int b:varchar(3)! id:bigint!"),
        ("MODIFY b VARCHAR(3)", "id:int! a:int b:varchar(3)"),
        ("CHANGE a c BIGINT", "id:int! c:bigint b:varchar(3)!"),
        ("CHANGE COLUMN a A DATE FIRST", "A:date id:int! b:varchar(3)!"),
        ("RENAME COLUMN a TO `c d`", "id:int! c d:int b:varchar(3)!"),
        ("DROP PRIMARY KEY", "id:int! a:int b:varchar(3)!"),
        ("ADD INDEX (a), ALGORITHM=INPLACE, LOCK=NONE", "id:int! a:int b:varchar(3)!"),
        ("ADD PARTITION (PARTITION p VALUES LESS THAN (3))", "id:int! a:int b:varchar(3)!"),
        ("DROP PARTITION p, q", "id:int! a:int b:varchar(3)!"),
        ("ORDER BY a, b", "id:int! a:int b:varchar(3)!"),
        ("SET TIFLASH REPLICA 1 LOCATION LABELS 'a', 'b'", "id:int! a:int b:varchar(3)!"),
        ("ENGINE=InnoDB, COMMENT 'x', ADD c INT", "id:int! a:int b:varchar(3)! c:int"),
        ("ADD CONSTRAINT c CHECK (a > 0)", "id:int! a:int b:varchar(3)!"),
        (
            "ADD FOREIGN KEY f (a) REFERENCES o (id) ON DELETE SET NULL",
            "id:int! a:int b:varchar(3)!",
        ),
        ("DROP FOREIGN KEY f, DROP CHECK c", "id:int! a:int b:varchar(3)!"),
        ("CONVERT TO CHARACTER SET binary", "id:int! a:int b:varbinary(3)!"),
        ("CONVERT TO CHARSET utf8mb4 COLLATE utf8mb4_bin", "id:int! a:int b:varchar(3)!"),
        ("CHARSET = binary, ADD c CHAR(2)", "id:int! a:int b:varchar(3)! c:binary(2)"),
        ("DEFAULT CHARACTER SET utf8mb4 COLLATE x", "id:int! a:int b:varchar(3)!"),
    ],
)
def test_columns_after_an_alter(change: str, expected: str) -> None:
    assert columns(last(f"ALTER TABLE t {change}")) == expected


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ("ADD c INT", ("id",)),
        ("DROP PRIMARY KEY", ("b",)),
        ("DROP INDEX `PRIMARY`", ("b",)),
        ("DROP PRIMARY KEY, DROP INDEX u", ()),
        ("DROP PRIMARY KEY, ADD PRIMARY KEY (a, b)", ("a", "b")),
        ("DROP PRIMARY KEY, MODIFY b VARCHAR(3)", ()),
        ("DROP PRIMARY KEY, ADD UNIQUE KEY (a), MODIFY a INT NOT NULL, DROP KEY u", ("a",)),
        ("DROP PRIMARY KEY, ADD CONSTRAINT c UNIQUE (id), DROP INDEX c", ("b",)),
        ("DROP PRIMARY KEY, ADD UNIQUE (id), DROP INDEX u, DROP CONSTRAINT id", ()),
        ("RENAME COLUMN id TO no", ("no",)),
        ("CHANGE id no BIGINT", ("no",)),
        ("MODIFY id BIGINT", ("id",)),
        ("DROP id", ("b",)),
        ("DROP PRIMARY KEY, RENAME INDEX u TO v, DROP INDEX v", ()),
    ],
)
def test_key_after_an_alter(change: str, key: tuple[str, ...]) -> None:
    assert last(f"ALTER TABLE t {change}").key == key


def test_column_of_a_dropped_primary_key_stays_not_null() -> None:
    create = "CREATE TABLE t (a INT, b INT);"
    table = last("ALTER TABLE t ADD PRIMARY KEY (a); ALTER TABLE t DROP PRIMARY KEY", create)
    assert column(table, "a").nullable is False


def test_defaults_are_set_and_dropped() -> None:
    table = last("ALTER TABLE t ALTER a SET DEFAULT 3, ALTER COLUMN b SET DEFAULT (uuid())")
    assert column(table, "a").default == 3
    assert column(table, "b").default == Expression("uuid()")
    table = last("ALTER TABLE t ALTER a SET DEFAULT 3; ALTER TABLE t ALTER a DROP DEFAULT")
    assert column(table, "a").default is ABSENT


def test_columns_keep_their_numbers() -> None:
    table = last(
        "ALTER TABLE t ADD c INT FIRST, DROP a; ALTER TABLE t ADD d INT, CHANGE b e INT NOT NULL"
    )
    assert {each.name: each.id for each in table.columns or ()} == {"id": 1, "e": 3, "c": 4, "d": 5}


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("ALTER TABLE t RENAME TO u", "s.t", "s.u"),
        ("ALTER TABLE t RENAME AS o.u, ADD c INT", "s.t", "o.u"),
        ("RENAME TABLE t TO o.u", "s.t", "o.u"),
        ("rename table t to x, x to u", "s.x", "s.u"),
        ("DROP TABLE IF EXISTS x, t", "s.t", None),
        ("DROP DATABASE s", "s.t", None),
        ("TRUNCATE t", "s.t", "s.t"),
        ("CREATE UNIQUE INDEX i ON t (a)", "s.t", "s.t"),
        ("DROP INDEX u ON s.t", "s.t", "s.t"),
        ("USE s; CREATE TABLE o.t (a INT)", None, "o.t"),
    ],
)
def test_tables_before_and_after(text: str, before: str | None, after: str | None) -> None:
    change = read_chain(CREATE + text, "s")[-1].changes[-1]
    names = [None if t is None else f"{t.schema}.{t.name}" for t in (change.before, change.after)]
    assert names == [before, after]


def test_index_statements_change_the_key() -> None:
    text = "ALTER TABLE t MODIFY a INT NOT NULL, DROP PRIMARY KEY; DROP INDEX u ON t;"
    assert last(text).key == ()
    assert last(text + "CREATE UNIQUE INDEX i USING BTREE ON t (a) COMMENT 'x'").key == ("a",)
    assert last(text + "CREATE INDEX i ON t (a)").key == ()


def test_statements_tell_text_and_line() -> None:
    text = "-- a dump\nSET x = 1;\n" + CREATE + "\n\nALTER TABLE t\n  ADD c INT;\nINSERT INTO t"
    found = read_chain(text, "s")
    assert [(each.line, each.text[:5]) for each in found] == [(3, "CREAT"), (5, "ALTER")]
    assert found[1].text == "ALTER TABLE t\n  ADD c INT"


def test_existing_table_is_made_once() -> None:
    found: tuple[Statement, ...] = read_chain(CREATE + "CREATE TABLE IF NOT EXISTS t (x INT)")
    assert len(found) == 1


def test_first_table_is_not_touched_by_what_follows() -> None:
    first = read_chain(CREATE + "ALTER TABLE t DROP a, DROP PRIMARY KEY, MODIFY b INT")[0]
    (only,) = parse_ddl(CREATE)
    assert first.changes[0].after is not None
    assert columns(first.changes[0].after) == columns(only)


@pytest.mark.parametrize(
    ("text", "at", "problem"),
    [
        ("ALTER TABLE x ADD a INT", "x", "there is no table 'x' before this"),
        ("ALTER TABLE t ADD a INT", "a", "'a' already exists"),
        ("ALTER TABLE t RENAME COLUMN a TO b", "b", "'b' already exists"),
        ("ALTER TABLE t CHANGE a b INT", "b", "'b' already exists"),
        ("ALTER TABLE t DROP x", "x", "there is no column 'x'"),
        ("ALTER TABLE t MODIFY x INT", "x", "there is no column 'x'"),
        ("ALTER TABLE t ADD c INT AFTER x", "x", "there is no column 'x'"),
        ("ALTER TABLE t ADD c INT c2", "c2", "an attribute of a column"),
        ("ALTER TABLE t DROP a b", "b", "',' or ';'"),
        ("ALTER TABLE t FROBNICATE", "FROBNICATE", "begins nothing that is known"),
        ("ALTER TABLE t DROP INDEX x", "x", "there is no key 'x'"),
        ("ALTER TABLE t ADD PRIMARY KEY (a)", "a)", "a second primary key"),
        ("ALTER TABLE t ADD KEY (x)", "x", "there is no column 'x'"),
        ("ALTER TABLE t ALTER a SET x", "SET", "SET DEFAULT or DROP DEFAULT"),
        ("ALTER TABLE t DROP a, DROP b, DROP id", "id", "the last column"),
        ("CREATE TABLE t (a INT)", "t (a", "'t' already exists"),
        ("DROP TABLE x", "x", "there is no table 'x'"),
        ("CREATE TABLE u (a INT); RENAME TABLE t TO u", "u", "'u' already exists"),
        ("ALTER TABLE t", "", "begins nothing"),
        ("ALTER TABLE t ADD c INT,", "", "the end of the text"),
    ],
)
def test_statement_that_cannot_be_applied_is_an_error_with_its_place(
    text: str, at: str, problem: str
) -> None:
    with pytest.raises(DdlError) as caught:
        read_chain(f"{CREATE}\n{text}")
    assert problem in caught.value.problem
    assert caught.value.line == 2
    assert caught.value.column == (text.rindex(at) if at else len(text)) + 1


def test_nothing_at_all_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.sql"
    file.write_text("SELECT 1", encoding="utf-8")
    with pytest.raises(DdlError, match=r"a\.sql: line 1, column 1: there is no CREATE TABLE here"):
        read_chain_file(file)
    file.write_bytes(b"CREATE TABLE a\xff (id int)")
    with pytest.raises(DdlError, match="line 1, column 15: this byte is not UTF-8"):
        read_chain_file(file)


def test_many_words_that_begin_commands_do_not_overflow_the_stack() -> None:
    assert len(read_chain("SHOW " * 5000 + ";" + CREATE)) == 1


@pytest.mark.parametrize(
    "text",
    [
        *("ALTER TABLE t ADD c INT", "RENAME TABLE t TO u", "CREATE INDEX i ON t (a)"),
        *("DROP INDEX u ON t", "TRUNCATE t", "DROP TABLE t", "DROP DATABASE s"),
    ],
)
def test_table_before_a_statement_is_not_made_again(text: str) -> None:
    first, second = read_chain(CREATE + text, "s")
    assert second.changes[0].before is first.changes[0].after is not None


@pytest.mark.parametrize(
    "part",
    [
        lambda i: f"ADD x{i} INT",
        lambda i: f"ADD x{i} INT FIRST",
        lambda i: f"MODIFY c{i} BIGINT",
        lambda i: f"RENAME COLUMN c{i} TO x{i}",
    ],
    ids=["add", "first", "modify", "rename"],
)
def test_work_is_in_proportion_to_the_parts_of_an_alter(
    part: Callable[[int], str], calls_of: Callable[[Callable[[], object]], int]
) -> None:
    def calls(n: int) -> int:
        create = f"CREATE TABLE t (id INT PRIMARY KEY, {', '.join(f'c{i} INT' for i in range(n))})"
        alter = f"ALTER TABLE t {', '.join(map(part, range(n)))}"
        return calls_of(lambda: last(alter, f"{create};"))

    assert calls(800) < 10 * calls(100)  # 8 times; far more if each name is compared with all
