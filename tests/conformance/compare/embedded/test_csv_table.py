"""A feed against a CSV file of a table: types of the feed, NULL, and values that do not fit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import (
    BoolType,
    BytesType,
    Column,
    DatetimeType,
    DateType,
    DecimalType,
    EnumType,
    FloatType,
    IntType,
    JsonType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    YearType,
)
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

pytest.importorskip("pyarrow")

UTC = ("--option", "time-zone=UTC")
NULLS = ("--csv-null", "\\N")


def feed_of(folder: Path, kind: Type, values: list[Any], name: str = "craft") -> str:
    """Write an insert for each value of a column ``v``."""
    columns = Column("id", IntType(64), roles=frozenset({"primary", "handle"})), Column("v", kind)
    table = Table("t", "shop", columns=columns, key=("id",))
    changes = [
        RowChange(table, "insert", None, Image(columns, (key, value)), Position(commit_ts=key))
        for key, value in enumerate(values)
    ]
    folder.mkdir()
    options: Mapping[str, str] = {"time-zone": "UTC"} if name == "craft" else {}
    messages = get_format(name).from_events(changes, context=Context(options=options))
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{name}:file:{folder}"


def compared(
    tmp_path: Path, feed: str, content: str | bytes, *words: str
) -> tuple[int, dict[str, Any]]:
    """Compare with a file. Returns: the exit code, and the result as JSON."""
    file, result = tmp_path / "shop.t.csv", tmp_path / "result.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    code = main(["compare", feed, f"csv-table:file:{file}", "--json", str(result), *words])
    return code, json.loads(result.read_text()) if result.exists() else {}


KINDS: dict[str, tuple[Type, list[Any], str]] = {
    "integers": (IntType(32), [5, -7, None], "0,5\n1,-7\n2,\\N\n"),
    "unsigned": (IntType(64, unsigned=True), [2**64 - 1], "0,18446744073709551615\n"),
    "year": (YearType(), [2024], "0,2024\n"),
    "decimals": (DecimalType(10, 2), [Decimal("1.50"), None], "0,1.50\n1,\\N\n"),
    "doubles": (FloatType(64), [1e300, float("nan")], "0,1e+300\n1,NaN\n"),
    "texts": (TextType(), ['a "b", c', "", None, "\\N"], '0,"a ""b"", c"\n1,\n2,\\N\n3,"\\N"\n'),
    "lines": (TextType(), ["a\r\nb"], '0,"a\r\nb"\r\n'),
    "date": (DateType(), ["2024-02-29"], "0,2024-02-29\n"),
    "time": (TimeType(3), ["-10:00:07.12"], "0,-10:00:07.120\n"),
    "datetime": (DatetimeType(3), ["2024-02-29 10:00:07.12"], "0,2024-02-29T10:00:07.120\n"),
    "instants": (
        TimestampType(3, zone="UTC"),
        ["2024-02-29 10:00:07.12", "2024-02-29 10:00:07"],
        "0,2024-02-29 12:00:07.12+02\n1,2024-02-29 10:00:07\n",
    ),
    "json": (JsonType(), ['{"a": 1, "b": 2}'], '0,"{""b"":2,""a"":1}"\n'),
}


@pytest.mark.parametrize(("kind", "sent", "rows"), KINDS.values(), ids=KINDS)
def test_value_of_each_type_equals_its_text(
    tmp_path: Path, kind: Type, sent: list[Any], rows: str
) -> None:
    feed = feed_of(tmp_path / "feed", kind, sent)
    code, document = compared(tmp_path, feed, f"id,v\n{rows}", *NULLS, *UTC)
    assert code == 0
    assert document["tables"][0]["counts"]["same"] == len(sent)


@pytest.mark.parametrize(
    ("kind", "sent", "rows"),
    [
        (BoolType(), [True, False, True], "0,t\n1,FALSE\n2,1\n"),
        (FloatType(32), [0.10000000149011612], "0,0.1\n"),
        (DecimalType(4, 2), [Decimal("1.50"), Decimal(2)], "0,1.5\n1,2\n"),
    ],
)
def test_feed_that_says_more_of_types_decides(
    tmp_path: Path, kind: Type, sent: list[Any], rows: str
) -> None:
    feed = feed_of(tmp_path / "feed", kind, sent, "debezium-json")
    code, _ = compared(tmp_path, feed, f"id,v\n{rows}")
    assert code == 0


def test_decimal_with_more_digits_than_its_column_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = feed_of(tmp_path / "feed", DecimalType(4, 2), [Decimal("1.50")], "debezium-json")
    assert compared(tmp_path, feed, "id,v\n0,1.505\n") == (2, {})
    assert "csv:2: column v: the value is not decimal(4,2)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "sent", "text", "shown"),
    [
        (IntType(32), 5, "6", ("5", "6")),
        (TextType(), "", "\\N", ("", None)),
        (TextType(), None, '""', (None, "")),
        (TextType(), "a", "a ", ("a", "a ")),
        (DecimalType(10, 2), Decimal("1.50"), "-1.50", ("1.50", "-1.50")),
        (DatetimeType(6), "2024-02-29 10:00:07.1", "2024-02-29 10:00:07", None),
        (TimestampType(0, zone="UTC"), "2024-02-29 10:00:07", "2024-02-29 10:00:07+01", None),
    ],
)
def test_other_value_is_a_difference(
    tmp_path: Path, kind: Type, sent: Any, text: str, shown: tuple[str | None, str | None] | None
) -> None:
    feed = feed_of(tmp_path / "feed", kind, [sent])
    code, document = compared(tmp_path, feed, f"id,v\n0,{text}\n", *NULLS, *UTC)
    assert code == 1
    [difference] = document["tables"][0]["differences"]
    [column] = difference["columns"]
    if shown is not None:
        assert (column["left"]["value"], column["right"]["value"]) == shown


@pytest.mark.parametrize(
    ("kind", "sent", "content", "problem"),
    [
        (IntType(32), 5, "id,v\n0,5\n1,5.0\n", "csv:3: column v: the value is not int32"),
        (IntType(8), 5, "id,v\n0,300\n", "csv:2: column v: the value is not int8"),
        (IntType(8), 5, "id,v\n0,\n", "csv:2: column v is empty: NULL or an empty text?"),
        (DecimalType(4, 2), Decimal(1), "id,v\n0,1e0\n", "csv:2: column v: the value is not dec"),
        (DateType(), "2024-02-29", "id,v\n0,29.02.2024\n", "the value is not date"),
        (TimeType(0), "10:00:00", "id,v\n0,10 h\n", "the value is not time"),
        (DatetimeType(0), "2024-02-29 10:00:00", "id,v\n0,2024-02-29\n", "the value is not date"),
        (JsonType(), "{}", "id,v\n0,x\n", "the value is not json"),
        (TextType(), "a", 'id,v\n0,"a\nb"\n1\n', "csv:4: 1 field, the header has 2"),
        (TextType(), "a", 'id,v\n0,"a\n', "csv:2: a quote is not closed"),
        (TextType(), "a", 'id,v\n0,"a"b\n', "csv:2: a quote in field 2 does not enclose all of it"),
        (TextType(), "a", 'id,v\n0,a"b"\n', "csv:2: a quote in field 2 does not enclose all of it"),
        (TextType(), "a", b"id,v\n0,\xff\n", "csv:2: the text is not UTF-8"),
        (TextType(), "a", "id,id\n", "csv:1: the header names column 'id' twice"),
        (TextType(), "a", "id,\n", "csv:1: the header has an empty name"),
        (TextType(), "a", "", "the file is empty; it begins with a line of column names"),
        (BytesType(), b"a", "id,v\n0,61\n", "column v is bytes, and a CSV file has their text"),
        (
            EnumType(None),
            1,
            "id,v\n0,1\n",
            "column v is enum, which databases write in several ways",
        ),
    ],
)
def test_file_that_does_not_fit_is_refused_with_its_line(
    tmp_path: Path,
    kind: Type,
    sent: Any,
    content: str | bytes,
    problem: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    feed = feed_of(tmp_path / "feed", kind, [sent])
    assert compared(tmp_path, feed, content) == (2, {})
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


def test_bytes_are_read_in_the_form_that_is_given(tmp_path: Path) -> None:
    feed = feed_of(tmp_path / "feed", BytesType(), [b"\xffa"])
    code, _ = compared(tmp_path, feed, "id,v\n0,ff61\n", "--right-binary", "v=hex")
    assert code == 0


def test_missing_and_left_over_rows_and_the_record(tmp_path: Path) -> None:
    feed = feed_of(tmp_path / "feed", TextType(), ["a", "b"])
    code, document = compared(tmp_path, feed, "\ufeffid,v\n0,a\n2,c")
    counts = document["tables"][0]["counts"]
    assert (code, counts["same"], counts["only_left"], counts["only_right"]) == (1, 1, 1, 1)
    assert document["record"]["right"]["files"][0]["name"] == "shop.t.csv"


def test_columns_that_one_side_lacks_are_a_difference(tmp_path: Path) -> None:
    feed = feed_of(tmp_path / "feed", TextType(), ["a"])
    code, document = compared(tmp_path, feed, "id,w\n0,a\n")
    assert code == 1
    assert len(document["tables"][0]["schema_differences"]) == 2


def test_types_that_are_not_known_are_not_guessed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sqlglot", reason="needs the extra ddl")
    row = {"database": "shop", "table": "t", "type": "insert", "ts": 1, "xid": 1, "commit": True}
    feed = tmp_path / "feed.jsonl"
    feed.write_text(json.dumps({**row, "data": {"id": 0, "v": "2024-02-29 10:00:00"}}) + "\n")
    ddl = tmp_path / "t.sql"
    ddl.write_text("CREATE TABLE shop.t (id INT PRIMARY KEY);")
    place, content = f"maxwell-json:file:{feed}", "id,v\n0,2024-02-29 10:00:00.000\n"
    assert compared(tmp_path, place, content, "--ddl", str(ddl))[0] == 2
    assert "the messages of shop.t have none for v; give definitions" in capsys.readouterr().err
    ddl.write_text("CREATE TABLE shop.t (id INT PRIMARY KEY, v DATETIME(3));")
    assert compared(tmp_path, place, content, "--ddl", str(ddl))[0] == 0


def test_row_from_before_a_column_was_added_has_null_in_the_table(tmp_path: Path) -> None:
    pytest.importorskip("sqlglot", reason="needs the extra ddl")
    row = {"database": "shop", "table": "t", "type": "insert", "ts": 1709210096}
    rows = ({"id": 1}, {"id": 2, "v": "x"})
    feed = tmp_path / "rows.jsonl"
    feed.write_text("".join(json.dumps({**row, "data": data}) + "\n" for data in rows))
    ddl = tmp_path / "t.sql"
    ddl.write_text("CREATE TABLE shop.t (id INT PRIMARY KEY, v VARCHAR(9));")
    words = (f"maxwell-json:file:{feed}", "id,v\n1,\n2,x\n", "--ddl", str(ddl), "--csv-null", "")
    assert compared(tmp_path, *words)[0] == 0


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["t.csv"], "'t.csv': a table as CSV is csv-table:file:t.csv"),
        (
            ["auto:file:t.csv"],
            "csv-table:file:t.csv, with definitions; a feed of CSV is its directory",
        ),
        (["maxwell-json:t.sql"], "'maxwell-json:t.sql': compare does not read dumps."),
        (["t.sql"], "'t.sql': compare does not read dumps. Load it into a database"),
        (["csv-table:file:none.csv"], "'csv-table:file:none.csv': there is no such file"),
        (["csv-table:s3a://b/t.csv"], "a CSV file is on this machine, as in csv-table:file:FILE"),
        (["csv-table:t.csv", "--engine", "spark"], "CSV is read in this process, without Spark"),
        (["csv-table:t.csv", "--temporal", "native"], "CSV is read in this process, without Spark"),
        (["craft:file:feed", "--csv-null", ""], "--csv-null applies to a table csv-table:FILE"),
    ],
)
def test_wrong_use_is_one_line(
    tmp_path: Path,
    words: list[str],
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    feed_of(Path("feed"), TextType(), ["a"])
    Path("t.csv").write_text("id,v\n0,a\n")
    Path("t.sql").write_text("CREATE TABLE t (id INT);")
    assert main(["compare", "craft:file:feed", *words]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1
