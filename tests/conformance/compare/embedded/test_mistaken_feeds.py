"""Options that name what no feed has, and feeds that lack what a comparison rests on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, DatetimeType, DecimalType, FloatType, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

ID = Column("id", IntType(64), roles=frozenset({"primary", "handle"}))
NOTE = Column("note", TextType())
ORDERS = Table("orders", "shop", columns=(ID, NOTE), key=("id",))
MADE = Table("my-orders", "shop", columns=(ID, NOTE), key=("id",))
LOG = Table("log", "shop", columns=(ID, NOTE), key=("id",))
DDL = "CREATE TABLE shop.orders (id BIGINT PRIMARY KEY, note TEXT);\n"


def insert(table: Table, key: int, note: str = "x") -> RowChange:
    columns = table.columns
    assert columns is not None
    return RowChange(
        table, "insert", None, Image(columns, (key, note)), position=Position(commit_ts=1000 + key)
    )


def write(folder: Path, changes: Sequence[RowChange], format_name: str = "craft") -> str:
    folder.mkdir()
    messages = get_format(format_name).from_events(changes)
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{format_name}:file:{folder}"


@pytest.fixture
def feeds(tmp_path: Path) -> tuple[str, str]:
    changes = [insert(ORDERS, 1), insert(LOG, 2)]
    return write(tmp_path / "a", changes), write(tmp_path / "b", changes)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["compare", *words, "--engine", "embedded"])
    out, err = capsys.readouterr()
    return code, out + err


def test_excluded_table_without_rows_is_named_and_not_called_left_out(
    feeds: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = run(capsys, *feeds, "--exclude", "shop.log", "--exclude", "shop.lgo")
    assert code == 0
    assert "note: --exclude: no feed has rows of shop.lgo; did you mean 'shop.log'?\n" in text
    assert text.endswith("; left out: shop.log (--exclude)\n")


def test_excluded_table_that_was_not_looked_for_has_no_note(
    feeds: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--include", "shop.orders", "--exclude", "shop.log")
    code, text = run(capsys, *feeds, *words)
    assert code == 0
    assert "--exclude" not in text


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--include", "shop.lgo"), "neither feed has rows of shop.lgo; did you mean 'shop.log'?"),
        (("--include", "x.nix"), "neither feed has rows of x.nix; known: shop.log, shop.orders"),
        (("--columns", "nix"), "no table has a column nix; known: id, note"),
    ],
)
def test_unknown_name_is_reported_with_those_that_the_feeds_have(
    feeds: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    problem: str,
) -> None:
    assert run(capsys, *feeds, *words) == (2, f"cdcwire compare: {problem}\n")


def test_mapped_table_without_rows_is_named(
    feeds: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = run(capsys, *feeds, "--map-table", "shop.quiet=dw.quiet")
    assert code == 0
    assert "note: --map-table: the left feed has no rows of shop.quiet\n" in text
    assert "note: --map-table: the right feed has no rows of dw.quiet\n" in text
    _, text = run(capsys, *feeds, "--map-table", "shop.ordesr=dw.orders")
    assert "left feed has no rows of shop.ordesr; did you mean 'shop.orders'?\n" in text


def test_mapped_table_that_the_right_feed_has_under_its_old_name_is_an_error(
    feeds: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, *feeds, "--map-table", "shop.orders=dw.orders") == (
        2,
        "cdcwire compare: --map-table shop.orders=dw.orders: the right feed has rows of "
        "shop.orders and none of dw.orders; correct the name, or leave the option out\n",
    )


def test_mapped_names_the_other_way_round_are_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = replace(ORDERS, schema="dw")
    left, right = (
        write(tmp_path / "a", [insert(ORDERS, 1)]),
        write(tmp_path / "b", [insert(moved, 1)]),
    )
    code, text = run(capsys, left, right, "--map-table", "dw.orders=shop.orders")
    assert code == 2
    assert "the names are the other way round, it is LEFT=RIGHT" in text
    assert run(capsys, left, right, "--map-table", "shop.orders=dw.orders")[0] == 0


def test_table_is_excluded_by_the_name_that_a_format_rewrites(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = [insert(ORDERS, 1), insert(MADE, 2)]
    left, right = write(tmp_path / "a", changes, "avro"), write(tmp_path / "b", changes)
    code, text = run(capsys, left, right, "--exclude", "shop.my-orders")
    assert code == 0, text
    assert "no feed has rows" not in text
    assert text.endswith("; left out: shop.my-orders (--exclude)\n")


def without_key(changes: Sequence[RowChange]) -> list[RowChange]:
    columns = (replace(ID, roles=frozenset()), NOTE)
    found = []
    for each in changes:
        assert each.after is not None
        table = replace(each.table, columns=columns, key=())
        found.append(replace(each, table=table, after=replace(each.after, columns=columns)))
    return found


def test_key_of_one_side_proposes_the_definition_that_makes_the_feeds_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = [insert(ORDERS, key) for key in range(3)]
    left = write(tmp_path / "a", changes)
    right = write(tmp_path / "b", without_key(changes))
    hint = (
        "hint: the right feed sends no key of shop.orders; --ddl FILE with the CREATE TABLE (or "
        "--tables FILE) gives both sides the key\n"
    )
    for words in ((), ("--common",)):
        code, text = run(capsys, left, right, *words)
        assert code == 1
        assert "shop.orders: key: (id) on the left, none on the right" in text
        assert hint in text
        assert "--pair-by" not in text
    (tmp_path / "shop.sql").write_text(DDL)
    code, text = run(capsys, left, right, "--ddl", str(tmp_path / "shop.sql"))
    assert code == 0, text


def test_last_rows_without_a_key_propose_the_definition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = write(tmp_path / "a", without_key([insert(ORDERS, 1)]))
    assert run(capsys, feed, feed, "--mode", "final") == (
        2,
        "cdcwire compare: without a key no row is the last: shop.orders; give the key with --ddl "
        "or --tables, or leave them out (--exclude)\n",
    )


def test_last_rows_leave_out_a_table_without_a_key_and_compare_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keyless = without_key([insert(LOG, 1)])
    left, again, other = (
        write(tmp_path / name, [insert(ORDERS, 2, note), *keyless])
        for name, note in (("a", "x"), ("b", "x"), ("c", "y"))
    )
    code, text = run(capsys, left, again, "--mode", "final")
    assert code == 0
    assert "not compared: last rows of shop.log (without a key no row is the last" in text
    assert text.endswith(
        "EQUAL: 1 last row of 1 table, by 128 bits of hash per row; "
        "left out: shop.log (it has no key)\n"
    )
    code, text = run(capsys, left, other, "--mode", "final")
    assert code == 1
    assert "shop.orders: different" in text


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    folder = tmp_path / "prefix"
    words = ["--option", "include-commit-ts=true", "--workload", "orders-10"]
    assert main(["generate", "csv", "--rows", "20", *words, "--to", str(folder)]) == 0
    return folder


def test_prefix_without_metadata_is_named(prefix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed = f"auto:file:{prefix}"
    assert "no file metadata" not in run(capsys, feed, feed)[1]
    (prefix / "metadata").unlink()
    code, text = run(capsys, feed, feed)
    assert code == 0
    for side in ("left", "right"):
        assert (
            f"note: {side}: the prefix has no file metadata, so its rows have no checkpoint" in text
        )


@pytest.mark.parametrize("format_name", ["csv", "craft"])
def test_directory_with_lines_and_a_prefix_is_mixed(
    prefix: Path, tmp_path: Path, format_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "a", [insert(ORDERS, 1)])
    (tmp_path / "a" / "messages.jsonl").rename(prefix / "messages.jsonl")
    if format_name == "csv":
        (prefix / "metadata").unlink()  # its folders are enough for a format that has prefixes
    code, text = run(capsys, f"{format_name}:file:{prefix}", f"{format_name}:file:{prefix}")
    assert code == 2
    assert f"{prefix}: is mixed: it has messages.jsonl and files of a storage sink" in text


@pytest.mark.parametrize(
    ("ddl", "said"),
    [
        ("CREATE TABLE shop.ordrs (id BIGINT);", "no feed has rows of shop.ordrs\n"),
        (
            "CREATE TABLE s.a (id BIGINT);\nCREATE TABLE s.b (id BIGINT);",
            "no feed has rows of any of 2 tables, such as s.a\n",
        ),
        (f"{DDL}CREATE TABLE s.b (id BIGINT);", None),
    ],
    ids=["one", "two", "one-of-two-is-used"],
)
def test_definitions_of_no_table_of_the_feeds_are_named(
    feeds: tuple[str, str],
    tmp_path: Path,
    ddl: str,
    said: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "shop.sql").write_text(ddl)
    code, text = run(capsys, *feeds, "--ddl", str(tmp_path / "shop.sql"))
    assert code == 0
    assert ("note: --ddl, --tables: " in text) is (said is not None)
    assert said is None or said in text


def test_report_at_an_address_that_is_not_reached_is_named(
    feeds: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("fsspec", reason="needs the extra storage")
    target = "ftp://host.invalid/x.json"
    code, text = run(capsys, *feeds, "--json", target)
    assert code == 2
    assert text.startswith(f"cdcwire compare: --json: {target} can't be reached: ")


def test_feed_without_types_is_compared_as_the_hint_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = ID, Column("at", DatetimeType(6))
    table = Table("t", "shop", columns=columns, key=("id",))
    image = Image(columns, (1, "2024-05-05 10:00:00.123456"))
    change = RowChange(table, "insert", None, image, position=Position(lsn=7, commit_ms=9))
    sources = []
    for enabled in (True, False):
        folder = tmp_path / f"schemas {enabled}"
        folder.mkdir()
        context = Context({"schemas-enable": str(enabled).lower(), "dialect": "debezium-2.7"})
        messages = get_format("debezium-json").from_events([change], context=context)
        write_messages(str(folder / "messages.jsonl"), messages)
        sources.append(f"debezium-json:file:{folder}")
    code, text = run(capsys, *sources)
    assert code == 1
    typed = shlex.quote(sources[0])
    assert (
        "hint: if messages of the right feed have no type of at (shop.t), give it with --ddl FILE "
        "and the CREATE TABLE, or take the types of the left feed: "
        f"cdcwire tables {typed} --to tables.json, then --tables tables.json\n"
    ) in text
    tables = str(tmp_path / "tables.json")
    assert main(["tables", sources[0], "--to", tables]) == 0
    capsys.readouterr()
    assert run(capsys, *sources, "--tables", tables)[0] == 0
    assert "of the left feed have no type of at" in run(capsys, *reversed(sources))[1]


@pytest.mark.parametrize("enabled", ["true", "false"], ids=["typed", "untyped"])
def test_decimals_and_floats_with_types_have_no_hint_about_types(
    enabled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A decimal without precision has a type. Whole numbers and fractions of JSON have none."""
    sources = []
    for name, kind, values, schemas in (
        ("decimals", DecimalType(), (Decimal("1.5"), Decimal(2)), enabled),
        ("floats", FloatType(64), (1.5, 2.0), "true"),
    ):
        columns = ID, Column("c", kind)
        table = Table("t", "shop", columns=columns, key=("id",))
        changes = [
            RowChange(
                table,
                "insert",
                None,
                Image(columns, (number, value)),
                Position(lsn=number, commit_ms=9),
            )
            for number, value in enumerate(values, 1)
        ]
        options = {"schemas-enable": schemas, "dialect": "debezium-2.7"}
        context = Context({**options, "decimal-handling-mode": "precise"})
        messages = list(get_format("debezium-json").from_events(changes, context=context))
        (tmp_path / name).mkdir()
        if schemas == "false":  # as decimal.handling.mode=double has them
            numbers = (b'"c":1.5', b'"c":2')
            messages = [
                replace(each, value=re.sub(rb'"c":\{[^}]*\}', number, each.value or b""))
                for each, number in zip(messages, numbers, strict=True)
            ]
        write_messages(str(tmp_path / name / "messages.jsonl"), messages)
        sources.append(f"debezium-json:file:{tmp_path / name}")
    code, text = run(capsys, *sources)
    assert code == 1
    assert "column c: decimal on the left, float64 on the right" in text
    assert ("have no type of c" in text) is (enabled == "false")


def test_definition_that_is_given_is_not_proposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Floats of decimal.handling.mode=double stay floats, whatever the table declares."""
    pytest.importorskip("sqlglot", reason="needs the extra ddl")
    sources = []
    for name, kind, value in (
        ("decimals", DecimalType(12, 2), Decimal("1.50")),
        ("floats", FloatType(64), 1.5),
    ):
        columns = ID, Column("c", kind)
        table = Table("t", "shop", columns=columns, key=("id",))
        image = Image(columns, (1, value))
        change = RowChange(table, "insert", None, image, Position(lsn=1, commit_ms=9))
        sources.append(write(tmp_path / name, [change], "debezium-json"))
    ddl = tmp_path / "t.sql"
    ddl.write_text("CREATE TABLE shop.t (id BIGINT PRIMARY KEY, c DECIMAL(12,2));\n")
    assert "have no type of c" in run(capsys, *sources)[1]
    code, text = run(capsys, *sources, "--ddl", str(ddl))
    assert (code, "have no type of c" in text) == (1, False)
    assert "are left out with --ignore-column shop.t.c" in text


def test_option_that_does_not_help_is_not_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The messages show dialect, which has no effect on what is read."""
    feed = tmp_path / "a"
    feed.mkdir()
    source = '{"version":"3.2.0.Final","connector":"mysql","name":"s","ts_ms":1,"db":"d","ts_us":1}'
    (feed / "messages.jsonl").write_text(
        f'{{"before":null,"after":{{"id":1}},"source":{source},"op":"c","ts_ms":1,"ts_us":1}}\n'
    )
    code, text = run(capsys, *[f"debezium-json:file:{feed}"] * 2)
    assert code == 2
    assert "table is required" in text
    assert "looks like" not in text
