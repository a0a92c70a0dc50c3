"""CREATE TABLE statements: names, keys and roles, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cdcwire import extras
from cdcwire.ddl import DdlError, parse_ddl, read_ddl_file, sent_columns
from cdcwire.extras import MissingExtraError
from cdcwire.model.events import Table
from cdcwire.model.kinds import BoolType
from cdcwire_generators.workloads import workload_tables
from cdcwire_generators.workloads.statements import create_table

pytest.importorskip("sqlglot", reason="the extra [ddl] is not installed")

PROPOSAL = """
CREATE TABLE test_flink (
c1 tinyint, c2 smallint, c3 mediumint, c4 int, c5 bigint, c6 char(10), c7 varchar(20), c8 tinytext,
c9 mediumtext, c10 text, c11 longtext, c12 binary(20), c13 varbinary(20), c14 tinyblob,
c15 mediumblob, c16 blob, c17 longblob, c18 float, c19 double, c20 decimal(6, 3), c21 date,
c22 time, c23 datetime, c24 timestamp, c25 year, c26 boolean, c27 json, c28 enum ('1','2','3'),
c29 set ('a','b','c'),
PRIMARY KEY(c1), UNIQUE KEY(c2)
);
"""


def table_of(elements: str, options: str = "") -> Table:
    (table,) = parse_ddl(f"CREATE TABLE t ({elements}) {options}")
    return table


def roles_of(table: Table) -> dict[str, str]:
    return {column.name: " ".join(sorted(column.roles)) for column in table.columns or ()}


def test_proposal_table_is_the_one_of_the_workload() -> None:
    (read,) = parse_ddl(PROPOSAL, "test")
    (made,) = workload_tables("proposal-29")
    assert (read.name, read.schema, read.key) == (made.name, made.schema, made.key)
    assert read.columns is not None
    assert made.columns is not None
    for ours, theirs in zip(read.columns, made.columns, strict=True):
        assert (ours.name, ours.nullable, ours.roles) == (
            theirs.name,
            theirs.nullable,
            theirs.roles,
        )
        if ours.name == "c26":  # only a DDL tells a BOOLEAN
            assert ours.type == BoolType()
        elif ours.name != "c8":  # its 255 are bytes, not characters
            assert (ours.type, ours.source) == (theirs.type, theirs.source)


@pytest.mark.parametrize("name", ["tiny", "sysbench", "orders-10", "updates", "mostly-null"])
def test_statements_of_the_workloads_are_read(name: str) -> None:
    for made in workload_tables(name):
        (read,) = parse_ddl(create_table(made))
        assert (read.name, read.schema, read.key) == (made.name, made.schema, made.key)
        assert [c.type for c in read.columns or ()] == [c.type for c in made.columns or ()]


@pytest.mark.parametrize(
    ("elements", "roles"),
    [
        ("a int primary key, b int", {"a": "handle primary", "b": ""}),
        ("a int key, b int unique", {"a": "handle primary", "b": "unique"}),
        (
            "a int, b int, constraint pk primary key using btree (b, a desc) comment 'x'",
            {"a": "handle multiple primary", "b": "handle multiple primary"},
        ),
        ("a int not null, unique u (a)", {"a": "handle unique"}),
        ("a int, unique key (a)", {"a": "unique"}),
        (
            "a int not null, b int not null, c int not null, unique (a, b), unique index u2 (C)",
            {"a": "multiple unique", "b": "multiple unique", "c": "handle unique"},
        ),
        (
            "a int not null unique, b int not null unique",
            {"a": "handle unique", "b": "unique"},
        ),
        ("a int, b int, key k (a), index (a, b)", {"a": "multiple", "b": "multiple"}),
        ("a int, index ((a + 1)), unique key ((lower(a)))", {"a": ""}),
        ("a varchar(9), key (a(3) desc)", {"a": "multiple"}),
        ("a serial", {"a": "handle unique"}),
        (
            "a int, b int as (a + 1), c int generated always as (a) stored",
            {"a": "", "b": "generated virtual", "c": "generated"},
        ),
        (
            "a int, b int as (a) virtual not null unique",
            {"a": "", "b": "generated unique virtual"},
        ),
        ("a int, foreign key (a) references o (id) on delete set null", {"a": ""}),
        ("a vector(3), vector index v ((vec_cosine_distance(a))) using hnsw", {"a": ""}),
    ],
)
def test_keys_give_columns_their_roles(elements: str, roles: dict[str, str]) -> None:
    table = table_of(elements)
    assert roles_of(table) == roles
    assert table.key == tuple(name for name, found in roles.items() if "handle" in found)


def test_column_of_a_primary_key_is_not_nullable() -> None:
    table = table_of("a int, b int not null, c int null, primary key (a)")
    assert [column.nullable for column in table.columns or ()] == [False, False, True]


def test_virtual_columns_are_not_sent() -> None:
    table = table_of("a int, b int as (a), c int as (a) stored")
    assert [column.name for column in sent_columns(table).columns or ()] == ["a", "c"]


@pytest.mark.parametrize(
    "options",
    [
        "engine=InnoDB default charset=utf8mb4 comment='a;b)' auto_increment=5",
        "partition by hash (a) partitions 4",
        "partition by key (a) partitions 3",
        "partition by range (a) (partition p values less than (9), partition q values less than"
        " maxvalue)",
        "partition by list columns (a) (partition p values in (1, 2) comment ')')",
        "/*!50100 PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (9)) */",
        "ttl = a + interval 3 month ttl_enable = 'on' placement policy = p",
        "/*T! SHARD_ROW_ID_BITS=4 PRE_SPLIT_REGIONS=2 */",
    ],
)
def test_options_and_partitions_are_passed_over(options: str) -> None:
    assert table_of("a int", options) == table_of("a int")


@pytest.mark.parametrize(
    "attributes",
    [
        "auto_increment comment 'it''s'",
        "auto_random(5)",
        "/*T![auto_rand] AUTO_RANDOM(5) */",
        "collate utf8_bin column_format fixed storage disk invisible",
        "references o (id) match full on delete cascade on update no action",
        "constraint c check (a > 0) not enforced",
        "-- a comment, with a comma\n # and another\n /* and ) a third */",
    ],
)
def test_attributes_without_meaning_here_are_passed_over(attributes: str) -> None:
    assert table_of(f"a int {attributes}, b int") == table_of("a int, b int")


def test_names_of_all_spellings_are_read() -> None:
    tables = parse_ddl(
        "create table if not exists `my db` . `t;1` (`a``b` int, `select` int);"
        "use other; create temporary table u (date date, `日本` int, _x$1 int); ; "
        "create table db.v (a int) ; create table if not exists db.v (b int)",
        "first",
    )
    assert [(table.schema, table.name) for table in tables] == [
        ("my db", "t;1"),
        ("other", "u"),
        ("db", "v"),
    ]
    assert list(roles_of(tables[0])) == ["a`b", "select"]
    assert list(roles_of(tables[1])) == ["date", "日本", "_x$1"]


def test_other_statements_of_a_dump_are_passed_over() -> None:
    text = """
    /*!40101 SET NAMES utf8 */;
    SET @saved = @@character_set_client; DROP TABLE IF EXISTS `t`; CREATE DATABASE `d`;
    CREATE TABLE `t` (`a` int);
    LOCK TABLES `t` WRITE; /*!40000 ALTER TABLE `t` DISABLE KEYS */;
    INSERT INTO `t` VALUES (1),(2),('create table x (');
    UNLOCK TABLES; CREATE INDEX i ON t (a); CREATE VIEW v AS SELECT 1;
    """
    assert [table.name for table in parse_ddl(text)] == ["t"]


@pytest.mark.parametrize("like", ["LIKE u", "(LIKE `s`.`u`)"])
def test_table_like_another_has_its_columns_and_keys(like: str) -> None:
    text = f"USE s; CREATE TABLE u (a INT, b INT NOT NULL PRIMARY KEY); CREATE TABLE t {like};"
    text += "ALTER TABLE u DROP a;"
    tables = {table.name: table for table in parse_ddl(text)}
    table, other = tables["t"], tables["u"]
    assert (table.schema, table.name, table.key) == ("s", "t", ("b",))
    assert [(each.name, each.source, each.nullable) for each in table.columns or ()] == [
        ("a", "int", True),
        ("b", "int", False),
    ]
    assert [each.name for each in other.columns or ()] == ["b"]


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("", 1, 1, "there is no CREATE TABLE here"),
        ("select 1;\n-- nothing", 1, 1, "there is no CREATE TABLE here"),
        (
            "create table t like u",
            1,
            16,
            "there is no table 'u' before this LIKE: it needs its CREATE TABLE",
        ),
        (
            "create table t (like u)",
            1,
            16,
            "there is no table 'u' before this LIKE: it needs its CREATE TABLE",
        ),
        (
            "create table t select 1",
            1,
            16,
            "expected '(' and the columns, found 'select'",
        ),
        (
            "create table t (a int)\nas select 1 as a",
            2,
            1,
            "CREATE TABLE from a query: its columns are not known here",
        ),
        ("create table t (\n  a int,\n  A text)", 3, 3, "the column 'A' is defined twice"),
        (
            "create table t (a int);\ncreate table t (a int)",
            2,
            14,
            "the table 't' already exists",
        ),
        ("create table t (a int,\n primary key (b))", 2, 15, "there is no column 'b'"),
        ("create table t (a int key,\n b int primary key)", 2, 2, "a second primary key"),
        ("create table t (a int, key (a, a))", 1, 29, "a column is twice in one key"),
        ("create table t (key (a))", 1, 16, "the table 't' has no columns"),
        (
            "create table t (a int",
            1,
            22,
            "expected an attribute of a column, ',' or ')', found the end of the text",
        ),
        (
            "create table t (a int not)",
            1,
            23,
            "expected an attribute of a column, ',' or ')', found 'not'",
        ),
        (
            "create table t (a int b int)",
            1,
            23,
            "expected an attribute of a column, ',' or ')', found 'b'",
        ),
        ("create table t (a)", 1, 18, "expected a type, found ')'"),
        ("create table t (a enum(1))", 1, 24, "expected a label in quotes, found '1'"),
        ("create table t (a int,)", 1, 23, "expected the name of a column, found ')'"),
        ("create table t (`` int)", 1, 17, "the name of a column is empty"),
        (
            "create table t (a int check (b > (1))",
            1,
            38,
            "expected an attribute of a column, ',' or ')', found the end of the text",
        ),
        (
            "create table t (a int default (1)",
            1,
            34,
            "expected an attribute of a column, ',' or ')', found the end of the text",
        ),
        ("create table t (a int default ((1)", 1, 31, "this parenthesis is not closed"),
        ("create table t (a int)\n comment 'x", 2, 10, "a text begins here and does not end"),
        ("create table `t (a int)", 1, 14, "a name begins here and does not end"),
        ("create table t (a int) /* x", 1, 24, "a comment begins here and does not end"),
        ("create table t (a bit default b'12')", 1, 31, "\"b'12'\" is not a number"),
        ("create table t (a int);\nalter table u add b int", 2, 13, "there is no table 'u' before"),
    ],
)
def test_unreadable_ddl_is_refused_at_its_place(
    text: str, line: int, column: int, problem: str
) -> None:
    with pytest.raises(DdlError) as caught:
        parse_ddl(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.problem.startswith(problem)


def test_file_is_named_in_its_error(tmp_path: Path) -> None:
    file = tmp_path / "shop.sql"
    file.write_text("CREATE TABLE t (\n  a inet9\n)")
    with pytest.raises(DdlError) as caught:
        read_ddl_file(file)
    assert str(caught.value) == f"{file}: line 2, column 5: 'inet9' is not a type of MySQL"


def test_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "shop.sql"
    file.write_bytes(b"\xef\xbb\xbfCREATE TABLE t (a int)")
    assert [table.name for table in read_ddl_file(file)] == ["t"]


def test_file_that_is_not_utf8_is_refused_at_its_byte(tmp_path: Path) -> None:
    file = tmp_path / "shop.sql"
    file.write_bytes(b"CREATE TABLE t (\n a int \xff)")
    with pytest.raises(DdlError) as caught:
        read_ddl_file(file)
    assert (caught.value.line, caught.value.column) == (2, 8)
    assert caught.value.problem == "this byte is not UTF-8"


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(extras, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"sqlglot \(extra ddl\): pip install '"):
        parse_ddl("create table t (a int)")


def test_work_is_in_proportion_to_the_columns(
    calls_of: Callable[[Callable[[], object]], int],
) -> None:
    def calls(n: int) -> int:
        return calls_of(lambda: table_of(",".join(f"c{i} INT" for i in range(n))))

    assert calls(800) < 10 * calls(100)  # 8 times; far more if each name is compared with all
