"""Dumps of real servers, unedited: MariaDB 10.11 by mariadb-dump, PostgreSQL 15 by pg_dump.

The tables are made up. Expected kinds follow from the CREATE TABLE statements that made them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cdcwire.ddl import DdlError, parse_ddl, read_ddl_file
from cdcwire.model.events import Table
from cdcwire.model.kind_text import kind_text
from cdcwire.model.kinds import EnumType

pytest.importorskip("sqlglot", reason="the extra [ddl] is not installed")

DUMPS = Path(__file__).with_name("dumps")

MARIADB_TABLES = {
    "booked": (),
    "child": ("id",),
    "generated": ("id",),
    "many": ("id",),
    "no key": (),
    "numbers": ("id",),
    "partitioned": ("id", "made"),
    "places": ("id",),
    "texts": ("id", "sel`ect"),
    "times": ("id",),
    "versioned": ("id",),
    "versioned2": ("id", "e"),
}
MARIADB_KINDS = {
    "numbers": {
        "id": "int64 unsigned",
        "flag": "bool",
        "flag_u": "int8 unsigned",
        "t": "int8",
        "tu": "int8 unsigned",
        "s": "int16",
        "m": "int24 unsigned",
        "i": "int32",
        "b": "int64",
        "f": "float32",
        "f2": "float32",
        "d": "float64",
        "d2": "float64",
        "dc": "decimal(10,2)",
        "dc65": "decimal(65,30)",
        "bit1": "bit(1)",
        "bit10": "bit(10)",
        "y": "year",
        "bo": "bool",
        "seq": "int64",
    },
    "texts": {
        "id": "text(8)",
        "sel`ect": "text(20)",
        **dict.fromkeys(("t1", "t2", "t3", "t4"), "text"),
        "vb": "bytes(16)",
        "bi": "bytes(4)",
        **dict.fromkeys(("b1", "b2", "b3", "b4"), "bytes"),
        "e": r"enum(a,b'c,d;e,f\,g,é,)",
        "st": "set(x,y z,q'r)",
        **dict.fromkeys(("j", "u", "ip4", "ip6"), "text"),
        **dict.fromkeys(("c", "vbin"), "text(10)"),
    },
    "times": {
        "id": "int32",
        "d": "date",
        "t0": "time(0)",
        "t3": "time(3)",
        "t6": "time(6)",
        "dt": "datetime(0)",
        "dt3": "datetime(3)",
        "dt6": "datetime(6)",
        "ts": "timestamp(0)",
        "ts6": "timestamp(6)",
        "z": "date",
    },
}
POSTGRESQL_TABLES = {
    ("Odd Schema", "Table; with 'quotes' and \"double\""): ("id",),
    ("public", "byindex"): ("a",),
    ("public", "nokey"): (),
    ("shop", "base"): ("id",),
    ("shop", "derived"): (),  # keys are not inherited
    ("shop", "events"): ("id", "made"),
    ("shop", "events_2023"): ("id", "made"),
    ("shop", "events_rest"): ("id", "made"),
    ("shop", "everything"): ("id",),
    ("shop", "typed"): ("zip",),
    ("shop", "uniq"): ("a", "b"),
    ("shop", "unlogged"): ("id",),
}
MOOD = "enum(sad,o'k,very;happy)"
TEXT = "n ci x u l ip ci2 ma ma8 ts_v i4r i8r nr tr tzr dr fr em vcn t"
UNKNOWN = "ts_q po li ls bx pa pg ci3 imr rc lsn tid xi ad"
INT32 = ("n4", "s", "gen", "chk", "Upper Case", "select")
POSTGRESQL_KINDS = {
    **dict.fromkeys(TEXT.split(), "text"),
    'quo"ted': "text",
    **dict.fromkeys(UNKNOWN.split(), "unknown"),
    **dict.fromkeys(INT32, "int32"),
    **dict.fromkeys(("id", "bs", "o"), "int64"),
    **dict.fromkeys(("n2", "ss"), "int16"),
    **dict.fromkeys(("iv", "ivd", "iv6", "ivy"), "interval"),
    **dict.fromkeys(("j", "jb", "h"), "json"),
    **dict.fromkeys(("ms", "ma2"), f"array<{MOOD}>"),
    **dict.fromkeys(("ia", "aa"), "array<int32>"),
    **dict.fromkeys(("c1", "ch"), "text(1)"),
    "r": "float32",
    "dp": "float64",
    "nm": "decimal",
    "nm2": "decimal(10,2)",
    "nm0": "decimal(5,0)",
    "mo": "decimal(19,2)",
    "b": "bool",
    "c": "text(4)",
    "vc": "text(20)",
    "by": "bytes",
    "bi": "bit(1)",
    "bi5": "bit(5)",
    "bv": "bit(7)",
    "bvn": "bit",
    "d": "date",
    "t0": "time(6)",
    "t3": "time(3)",
    "tz": "time(6)",
    "tz2": "time(2)",
    "ts": "datetime(6)",
    "ts3": "datetime(3)",
    "tsz": "timestamp(6)",
    "tsz3": "timestamp(3)",
    "m": MOOD,
    "mk": "enum(A)",
    "ce": "decimal(12,2)",
    "ta": "array<text>",
    "na": "array<decimal(10,2)>",
    "tsa": "array<datetime(3)>",
    "cea": "array<decimal(12,2)>",
    "vca": "array<text(5)>",
}


def kinds_of(table: Table) -> dict[str, str]:
    return {column.name: kind_text(column.type) for column in table.columns or ()}


@pytest.fixture(scope="module")
def mariadb() -> dict[str, Table]:
    tables = read_ddl_file(DUMPS / "mariadb-dump.sql")
    assert {table.schema for table in tables} == {None}  # the dump names no database
    return {table.name or "": table for table in tables}


@pytest.fixture(scope="module")
def postgresql() -> dict[tuple[str | None, str | None], Table]:
    return {(t.schema, t.name): t for t in read_ddl_file(DUMPS / "pg_dump.sql")}


def test_tables_of_a_mariadb_dump_have_their_keys(mariadb: dict[str, Table]) -> None:
    assert {name: table.key for name, table in mariadb.items()} == MARIADB_TABLES


@pytest.mark.parametrize("name", sorted(MARIADB_KINDS))
def test_columns_of_a_mariadb_dump_have_their_kinds(mariadb: dict[str, Table], name: str) -> None:
    assert kinds_of(mariadb[name]) == MARIADB_KINDS[name]


def test_generated_columns_of_a_mariadb_dump_are_marked(mariadb: dict[str, Table]) -> None:
    roles = {column.name: column.roles for column in mariadb["generated"].columns or ()}
    assert roles["v"] == {"generated", "virtual"}
    assert roles["p"] == {"generated"}
    assert roles["hidden"] == frozenset()


def test_dump_with_quotes_of_the_standard_is_read() -> None:
    (table,) = parse_ddl(
        'CREATE TABLE "a b" (\n  "i""d" int(11) NOT NULL,\n  PRIMARY KEY ("i""d")\n)'
    )
    assert (table.name, table.key) == ("a b", ('i"d',))


def test_tables_of_pg_dump_have_their_keys(
    postgresql: dict[tuple[str | None, str | None], Table],
) -> None:
    assert {name: table.key for name, table in postgresql.items()} == POSTGRESQL_TABLES


def test_columns_of_pg_dump_have_their_kinds(
    postgresql: dict[tuple[str | None, str | None], Table],
) -> None:
    assert kinds_of(postgresql["shop", "everything"]) == POSTGRESQL_KINDS


def test_not_null_of_pg_dump_is_that_of_columns_identities_and_domains(
    postgresql: dict[tuple[str | None, str | None], Table],
) -> None:
    columns = postgresql["shop", "everything"].columns or ()
    assert [c.name for c in columns if not c.nullable] == ["id", "n2", "s", "bs", "ss", "vc", "em"]


def test_children_of_pg_dump_have_the_columns_of_their_parents(
    postgresql: dict[tuple[str | None, str | None], Table],
) -> None:
    assert kinds_of(postgresql["shop", "derived"]) == {"id": "int32", "v": "text", "w": "int32"}
    assert kinds_of(postgresql["shop", "typed"]) == {"street": "text", "zip": "text(10)"}


BY_HAND = """
SET search_path TO shop, public;
CREATE TYPE mood AS ENUM ('low', 'high'); ALTER TYPE mood ADD VALUE 'mid' AFTER 'low';
CREATE TABLE Orders (
  id bigserial PRIMARY KEY, -- the key; not the end
  Mood mood NOT NULL DEFAULT 'low'::mood,
  made timestamptz(3) DEFAULT now() NOT NULL,
  code varchar(5)[] DEFAULT NULL::varchar[],
  twice int GENERATED ALWAYS AS (id * 2) STORED,
  UNIQUE (code)
) PARTITION BY HASH (id);
CREATE TABLE orders_0 PARTITION OF orders FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $body$
BEGIN CREATE TABLE inside (id int); END; $body$;
CREATE FUNCTION g() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; CREATE TABLE no (id int); END;
COPY orders (id, mood) FROM stdin;
1\tlow;
2\tCREATE TABLE fake (id int);
\\.
ALTER TABLE orders ADD COLUMN note text, ALTER COLUMN note SET NOT NULL;
ALTER TABLE orders RENAME COLUMN note TO remark;
"""


def test_ddl_of_postgresql_by_hand_is_read() -> None:
    orders, part = parse_ddl(BY_HAND)
    assert (orders.schema, orders.name, orders.key) == ("shop", "orders", ("id",))
    assert kinds_of(orders) == {
        "id": "int64",
        "mood": "enum(low,mid,high)",
        "made": "timestamp(3)",
        "code": "array<text(5)>",
        "twice": "int32",
        "remark": "text",
    }
    required = [column.name for column in orders.columns or () if not column.nullable]
    assert required == ["id", "mood", "made", "remark"]
    assert part.name == "orders_0"
    assert list(kinds_of(part)) == ["id", "mood", "made", "code", "twice"]


ROUTINES = """
DELIMITER //
CREATE PROCEDURE p() BEGIN CREATE TABLE inside (id int); INSERT INTO t VALUES ('//'); END //
DELIMITER ;
CREATE TABLE t (id int);
INSERT INTO t VALUES ('a;\\'b', 'CREATE TABLE fake (id int);'),
('-- no; comment');
REPLACE INTO t VALUES (1);
ALTER TABLE t ADD PRIMARY KEY (id), ADD name text;
ALTER TABLE t MODIFY id bigint NOT NULL AUTO_INCREMENT;
"""


def test_routines_and_rows_of_a_dump_make_no_tables_and_changes_are_carried_out() -> None:
    (table,) = parse_ddl(ROUTINES)
    assert kinds_of(table) == {"id": "int64", "name": "text"}
    assert table.key == ("id",)
    assert [column.id for column in table.columns or ()] == [None, None]


def test_rows_need_not_be_utf8_but_definitions_do(tmp_path: Path) -> None:
    file = tmp_path / "dump.sql"
    file.write_bytes(b"INSERT INTO t VALUES ('\xff;');\nCREATE TABLE t (id int);\n")
    assert [table.name for table in read_ddl_file(file)] == ["t"]


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("CREATE TABLE a (id int);\nINSERT INTO a VALUES ('x", 2, 1, "this INSERT does not end"),
        (
            "SET search_path = s;\nCOPY a (id) FROM stdin;\n1\n2\n",
            2,
            1,
            "the rows of a COPY do not end",
        ),
        (
            "CREATE TYPE m AS ENUM ('a');\nCREATE TABLE t (\n  a m,\n  b int oops\n);",
            4,
            9,
            "expected an attribute of a column, ',' or ')', found 'oops'",
        ),
        (
            "CREATE TYPE m AS ENUM ('a');\nCREATE TABLE t AS SELECT 1;",
            2,
            16,
            "expected '(' and the columns, found 'AS'",
        ),
        (
            "CREATE DOMAIN m AS int;\nCREATE TABLE t (a int, PRIMARY KEY (b));",
            2,
            37,
            "there is no column 'b'",
        ),
        ("CREATE DOMAIN m AS int;\nCREATE TABLE t (a m DEFAULT 'x);", 2, 29, "a text begins here"),
    ],
)
def test_cut_or_unreadable_dump_is_refused_at_its_place(
    text: str, line: int, column: int, problem: str
) -> None:
    with pytest.raises(DdlError) as caught:
        parse_ddl(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.problem.startswith(problem)


@pytest.mark.parametrize(
    ("start", "problem"),
    [(b"PGDMP\x01\x0e", "pg_dump's custom format"), ("CREATE".encode("utf-16"), "UTF-16")],
)
def test_file_that_is_not_text_says_what_to_do(tmp_path: Path, start: bytes, problem: str) -> None:
    file = tmp_path / "dump.sql"
    file.write_bytes(start)
    with pytest.raises(DdlError, match=problem):
        read_ddl_file(file)


def test_memory_for_rows_is_that_of_a_line(tmp_path: Path) -> None:
    import tracemalloc

    file = tmp_path / "dump.sql"
    row = "(1,'" + "x" * 100_000 + "'),\n"
    file.write_text("INSERT INTO t VALUES\n" + row * 200 + "(2,'');\nCREATE TABLE t (id int);\n")
    tracemalloc.start()
    read_ddl_file(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60 * len(row)  # the rows have 200


def test_letters_at_the_end_of_a_text_are_no_prefix_of_postgresql() -> None:
    """``B'101'`` has a prefix; in ``'active'`` the letter before the last quote is text."""
    ddl = """CREATE TYPE s.state AS ENUM ('active', 'b', 'Max', 'don''t', 'open');
CREATE TABLE s.t (id bigint NOT NULL, state s.state, "au&b" character varying DEFAULT 'none');"""
    (table,) = parse_ddl(ddl)
    assert table.columns is not None
    _, state, text = table.columns
    assert state.type == EnumType(("active", "b", "Max", "don't", "open"), "label")
    assert (text.name, text.default) == ("au&b", "none")
