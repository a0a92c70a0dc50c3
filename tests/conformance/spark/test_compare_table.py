"""The last rows of a feed against a table of Parquet with every kind of wrong row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from cdcwire.files.messages_io import write_messages
from cdcwire.files.stores import SourceError
from cdcwire.model.events import Image, Position, RowChange, SchemaChange, Table
from cdcwire.model.kinds import (
    BitType,
    Column,
    DatetimeType,
    DecimalType,
    FloatType,
    IntervalType,
    IntType,
    JsonType,
    TextType,
    TimeType,
    Type,
)
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main
from cdcwire_conformance.sources.tables import parse_table_url

pytest.importorskip("pyspark", reason="needs the extra spark")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"

COLUMNS = (
    Column("id", IntType(64), nullable=False, roles=frozenset({"primary", "handle"})),
    Column("userName", TextType()),
    Column("price", DecimalType(10, 2)),
    Column("made", DatetimeType(6)),
    Column("doc", JsonType()),
)
ORDERS = Table("orders", "shop", columns=COLUMNS, key=("id",))
ROWS = 40
STALE, MISSING, LEFT_OVER, UNKNOWN, DOUBLED = (3, 4, 5), (10, 11), 20, 99, 30
FIRST = 1000


def values(key: int, name: str) -> tuple[object, ...]:
    made = f"2024-02-29 10:00:{key % 60:02}.{key:03}456"
    return key, name, Decimal(key) / 4, made, '{"b": [1, 2], "a": null}'


def image(key: int, name: str) -> Image:
    return Image(COLUMNS, values(key, name))


def changes() -> list[RowChange]:
    """Return an insert of each key, an update of each, and the delete of one."""
    found = [RowChange(ORDERS, "insert", None, image(key, "old")) for key in range(ROWS)]
    for key in range(ROWS):
        found.append(RowChange(ORDERS, "update", image(key, "old"), image(key, "new")))
    found.append(RowChange(ORDERS, "delete", image(LEFT_OVER, "new"), None))
    return [
        replace(change, position=Position(commit_ts=FIRST + number))
        for number, change in enumerate(found)
    ]


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("feed")
    write_messages(str(folder / "messages.jsonl"), get_format("craft").from_events(changes()))
    return f"craft:file:{folder}"


def write_table(spark: SparkSession, folder: Path, rows: list[tuple[object, ...]]) -> str:
    frame = spark.createDataFrame(
        rows, "id bigint, username string, price decimal(10,2), made string, doc string"
    )
    frame = frame.withColumn("made", frame.made.cast("timestamp_ntz"))
    frame.write.parquet(str(folder))
    return f"parquet:file:{folder}"


@pytest.fixture(scope="module")
def right_table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    rows = [(*values(key, "new")[:4], '{"a":null,"b":[1,2]}') for key in range(ROWS)]
    rows = [row for row in rows if row[0] != LEFT_OVER]
    return write_table(spark, tmp_path_factory.mktemp("right") / "orders", rows)


@pytest.fixture(scope="module")
def wrong_table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a table with stale, missing, left over and doubled rows; ``made`` is cut to ms."""
    rows = wrong_rows((*range(ROWS), DOUBLED, UNKNOWN))
    return write_table(spark, tmp_path_factory.mktemp("wrong") / "orders", rows)


def wrong_rows(keys: Iterable[int]) -> list[tuple[object, ...]]:
    """Return rows with these keys, without the missing ones. ``made`` is cut to milliseconds."""
    rows: list[tuple[object, ...]] = []
    for key in keys:
        if key in MISSING:
            continue
        row = list(values(key, "old" if key in STALE else "new"))
        row[3] = str(row[3])[:-3]
        rows.append(tuple(row))
    return rows


def test_equal_table_is_equal(compare: Compare, feed: str, right_table: str) -> None:
    code, out, document = compare(feed, right_table)
    assert (code, out.splitlines()[-1]) == (
        0,
        "EQUAL: 39 last rows of 1 table, by 128 bits of hash per row",
    )
    assert "note: table: column username is userName" in out
    assert "not compared: NULL against absent (a table has no absent columns)" in out
    assert document["tables"][0]["counts"]["same"] == ROWS - 1


@pytest.mark.spark_nightly
def test_column_that_the_table_lacks_is_left_out_with_the_option_that_a_hint_names(
    compare: Compare, spark: SparkSession, feed: str, right_table: str, tmp_path: Path
) -> None:
    frame = spark.read.parquet(right_table.removeprefix("parquet:file:"))
    frame.withColumnRenamed("doc", "docs").write.parquet(str(tmp_path / "orders"))
    table = f"parquet:file:{tmp_path / 'orders'}"
    code, out, _ = compare(feed, table)
    assert code == 1
    hint = "hint: columns that only one side of shop.orders has are left out with "
    (found,) = (line for line in out.splitlines() if line.startswith(hint))
    options = found.removeprefix(hint).split()
    assert options == ["--ignore-column", "doc", "--ignore-column", "docs"]
    code, out, _ = compare(feed, table, *options)
    assert code == 0
    assert "left out: doc, docs of shop.orders (--ignore-column)" in out


@pytest.mark.spark_nightly
def test_rows_before_a_truncate_are_left_over_in_the_table(
    compare: Compare, tmp_path: Path, right_table: str
) -> None:
    after = FIRST + 1000
    truncate = SchemaChange("truncate", "TRUNCATE orders", 11, ORDERS, Position(commit_ts=after))
    last = RowChange(ORDERS, "insert", None, image(0, "new"), Position(commit_ts=after + 1))
    messages = get_format("craft").from_events([*changes(), truncate, last])
    write_messages(str(tmp_path / "messages.jsonl"), messages)
    code, out, document = compare(f"craft:file:{tmp_path}", right_table)
    assert code == 1
    counts = document["tables"][0]["counts"]
    assert (counts["same"], counts["only_right"]) == (1, ROWS - 2)
    assert "note: TRUNCATE orders (" in out


@pytest.fixture(scope="module", params=["spark", "embedded"])
def found(request: pytest.FixtureRequest, spark: SparkSession, feed: str, wrong_table: str) -> Any:
    from cdcwire_conformance.compare.embedded.parquet import ParquetTable
    from cdcwire_conformance.compare.feed import ComparedFeed
    from cdcwire_conformance.compare.rules import CompareOptions
    from cdcwire_conformance.compare.table import compare_table
    from cdcwire_conformance.sources.source_urls import parse_source
    from cdcwire_conformance.spark.compare.table import SparkTable

    table = parse_table_url(wrong_table)
    assert table is not None
    left = ComparedFeed(parse_source(feed))
    rows = SparkTable.of(spark, table) if request.param == "spark" else ParquetTable.of(table)
    return compare_table(rows, left, CompareOptions(limit=100)).tables[0]


@pytest.mark.long
def test_each_wrong_row_is_counted(found: Any) -> None:
    from cdcwire_conformance.compare.report import named_counts

    assert {name: count for name, count in named_counts(found) if count} == {
        "different": ROWS - len(STALE) - len(MISSING) - 1,
        "stale": len(STALE),
        "missing": len(MISSING),
        "left over": 2,
        "doubled": 1,
    }


def test_stale_row_names_the_change_that_the_table_lacks(found: Any) -> None:
    stale = {
        dict(each.key)["id"].text: each for each in found.differences if each.verdict == "stale"
    }
    assert {int(key): int(each.due) for key, each in stale.items()} == {
        key: FIRST + ROWS + key for key in STALE
    }
    assert all(each.due_place.line is not None for each in stale.values())


def test_row_that_is_left_over_names_its_delete(found: Any) -> None:
    left_over = {
        int(dict(each.key)["id"].text): each.due
        for each in found.differences
        if each.verdict == "left over"
    }
    assert left_over == {LEFT_OVER: str(FIRST + 2 * ROWS), UNKNOWN: None}


def test_cut_column_is_one_pattern_and_stale_rows_another(found: Any) -> None:
    cut = ROWS - len(MISSING) - 1
    assert [(each.column, each.text, each.count) for each in found.patterns] == [
        ("made", "cut to milliseconds on the right", cut),
        (None, "stale: row", 3),
        (None, "left over: row", 2),
        (None, "missing: row", 2),
        (None, "doubled: row", 1),
    ]


def test_page_shows_exactly_the_wrong_rows_of_each_kind(
    spark: SparkSession, feed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("jinja2", reason="needs the extra html")
    table = write_table(spark, tmp_path / "orders", wrong_rows(range(ROWS)))
    page = tmp_path / "page.html"
    assert main(["compare", feed, table, "--html", str(page), "--limit", "4"]) == 1
    groups = page.read_text().partition('class="inputs"')[0].split("<h3>")[2:]
    keys = [[int(key) for key in re.findall(r"<strong>.*?: row id=(\d+)", g)] for g in groups]
    cut = [key for key in range(ROWS) if key not in (*STALE, *MISSING, LEFT_OVER)]
    assert [group.partition("</h3>")[0] for group in groups] == [
        "Missing in the table: 2",
        "Left over in the table: 1",
        "Stale in the table: 3",
        f"Different: {len(cut)}, the first 4 of them",
    ]
    assert keys == [[*MISSING], [LEFT_OVER], [*STALE], cut[:4]]
    lacking = [re.findall(r"the table lacks the change at (\d+) \S+:\d+", g) for g in groups]
    changes = [FIRST + ROWS + key for key in STALE]
    assert lacking == [[], [str(FIRST + 2 * ROWS)], list(map(str, changes)), []]
    assert "cut to milliseconds on the right" in page.read_text()
    assert f"stale: row id={STALE[0]} at commit_ts {changes[0]}</strong>" in groups[2]
    assert "None" not in page.read_text()
    assert f"and {len(cut) - 4} more differences" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("parquet:", "the table is missing"),
        ("iceberg:file:/nowhere/at/all", "there is no such directory"),
        ("jdbc:oracle://h/d?table=t", "there are drivers for jdbc:mariadb and jdbc:postgresql"),
        ("jdbc:mariadb://u:secret@h/d?table=t", "takes no password"),
        ("jdbc:mariadb://h/d?table=t&password=secret", "takes no password"),
        ("jdbc:mariadb://h/d", "a table of a database is"),
        ("jdbc:mariadb://h/d?table=t&ssl=1", "'ssl' is not a parameter"),
    ],
)
def test_wrong_url_of_a_table_is_one_line_without_the_password(text: str, said: str) -> None:
    with pytest.raises(SourceError) as error:
        parse_table_url(text)
    assert said in str(error.value)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("state", "message", "reason", "said"),
    [
        (
            "08000",
            "Socket fail to connect to db:3306. Connection refused",
            "Connection refused",
            "no database answers at db:3306: Connection refused",
        ),
        ("08001", "The connection attempt failed.", "unknown host", "at db:3306: unknown host"),
        (
            "28000",
            "Access denied for user 'reader'@'db' (using password: YES)",
            "",
            "the database refuses the user: Access denied for user 'reader'@'db' (using password: "
            "YES); check user= in the URL and the password in CDCWIRE_TABLE_PASSWORD",
        ),
        ("42S02", "Table 'shop.nix'\n  doesn't exist", "", "Table 'shop.nix' doesn't exist"),
    ],
    ids=["down", "unknown-host", "wrong-password", "no-table"],
)
def test_problem_of_a_database_is_one_line_that_names_it(
    state: str, message: str, reason: str, said: str
) -> None:
    from cdcwire_conformance.sources.databases import database_problem

    table = parse_table_url("jdbc:mariadb://db:3306/shop?table=orders&user=reader")
    assert table is not None
    problem = database_problem(table, state, message, reason)
    assert problem.startswith("jdbc:mariadb://db:3306/shop?table=shop.orders: ")
    assert problem.endswith(said)


def test_directory_that_is_no_table_is_one_line_that_names_it(
    feed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "orders.parquet").write_text("{}")
    assert main(["compare", feed, f"parquet:file:{tmp_path}"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"cdcwire compare: parquet:{tmp_path}: can't be read as a table: ")
    assert error.count("\n") == 1
    assert "is not a Parquet file" in error


def test_table_that_the_catalog_lacks_is_one_line_that_names_it(
    feed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", feed, "table:shop.nix"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("cdcwire compare: table:shop.nix: can't be read as a table: ")
    assert error.count("\n") == 1


def test_excluded_table_that_the_feed_lacks_is_named(
    feed: str, right_table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", feed, right_table, "--exclude", "shop.nix"]) == 0
    assert "note: --exclude: no feed has rows of shop.nix\n" in capsys.readouterr().out


def test_url_of_a_table() -> None:
    assert str(parse_table_url("jdbc:mysql://db/shop?table=orders")) == (
        "jdbc:mariadb://db/shop?table=shop.orders"
    )
    table = parse_table_url("jdbc:postgresql://db:5432/shop?table=public.orders&user=reader")
    assert table is not None
    assert (table.connector, table.name, table.user) == (
        "postgresql",
        ("public", "orders"),
        "reader",
    )
    assert str(table) == "jdbc:postgresql://db:5432/shop?table=public.orders"
    assert parse_table_url("craft:file:a") is None
    lake = parse_table_url("delta:s3a://lake/shop/orders/")
    assert lake is not None
    assert (lake.connector, lake.scheme, lake.name) == ("delta", "s3a", (None, "orders"))


def test_database_gives_small_integers_as_numbers() -> None:
    from cdcwire_conformance.spark.compare.database_rows import jdbc_options

    url = parse_table_url("jdbc:mysql://db:3306/shop?table=t&user=reader")
    assert url is not None
    options = jdbc_options(url)
    parameters = options["url"].partition("?")[2].split("&")
    assert parameters == ["tinyInt1isBit=false"]
    assert options["user"] == "reader"


@pytest.mark.parametrize(
    ("database", "text"), [("mariadb", r"'a\\b''c'"), ("postgresql", r"'a\b''c'")]
)
def test_name_of_a_table_is_a_text_of_its_database(database: str, text: str) -> None:
    from cdcwire_conformance.compare.database_columns import catalogue_query
    from cdcwire_conformance.sources.tables import TableUrl

    table = TableUrl("jdbc", f"jdbc:{database}://h/d", ("s", r"a\b'c"))
    assert f"lower({text})" in catalogue_query(table)


def test_mariadb_gives_a_float_with_all_its_digits() -> None:
    """Its text has six: 16777215 is 16777200 there."""
    from cdcwire_conformance.compare.database_columns import CatalogueColumn, sent_column
    from cdcwire_conformance.sources.tables import TableUrl

    table = TableUrl("jdbc", "jdbc:mariadb://h/d", (None, "t"))
    found = sent_column(table, CatalogueColumn("c", "float", "float", None, None, None, None))
    assert found is not None
    assert (found.sql, found.kind) == ("CAST({} AS DOUBLE)", FloatType(32))


@pytest.mark.parametrize(
    ("column", "kind", "part"),
    [
        (
            {"type": "interval", "fraction": 6},
            IntervalType("us"),
            'extract(month from "c"))::float8 * 30.4375 + ',
        ),
        (
            {"type": "time with time zone", "fraction": 3},
            TimeType(3, zone="+00:00"),
            "replace((\"c\" AT TIME ZONE 'UTC')::text, '+00', 'Z')",
        ),
        ({"type": "bit varying", "length": 1}, BitType(1), "lpad(\"c\"::text, 64, '0')"),
        ({"type": "bit varying", "length": 64}, BitType(64), "lpad(\"c\"::text, 64, '0')"),
        ({"type": "bit varying", "length": 65}, None, ""),
        ({"type": "bit varying", "length": None}, None, ""),
        ({"type": "bit", "length": 1}, None, ""),
        ({"type": "bit", "length": 5}, BitType(5), "lpad(\"c\"::text, 64, '0')"),
    ],
    ids=lambda value: f"{value['type']} {value.get('length', '')}" if type(value) is dict else "",
)
def test_database_gives_values_of_its_own_types_as_the_feed_has_them(
    column: dict[str, Any], kind: Type | None, part: str
) -> None:
    """Tried on PostgreSQL 15: each expression gives what Debezium sends for the same value."""
    from cdcwire_conformance.compare.database_columns import CatalogueColumn, sent_column
    from cdcwire_conformance.sources.tables import TableUrl

    table = TableUrl("jdbc", "jdbc:postgresql://h/d", (None, "t"))
    known = {"fraction": None, "digits": None, "scale": None, "length": None, "written": ""}
    found = sent_column(table, CatalogueColumn(**{**known, **column, "name": "c"}))
    assert (None if found is None else found.kind) == kind
    if found is not None:
        assert part in found.sql.replace("{}", '"c"')
        assert "{" not in found.sql.replace("{}", "")
