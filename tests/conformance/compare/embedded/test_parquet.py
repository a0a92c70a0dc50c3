"""A feed against Parquet files that are read without Spark: types, files and wrong rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, time, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Image, Position, RowChange, Table
from cdcwire.model.kinds import (
    BytesType,
    Column,
    DatetimeType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    TextType,
    TimestampType,
    TimeType,
    Type,
    YearType,
)
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

Compare: TypeAlias = "Callable[..., tuple[int, str, dict[str, Any]]]"
MYSQL: dict[str, str | bytes | None] = {
    "connector": "mysql",
    "connector_version": "3.5.0.Final",
}
BY_KEY = ("--pair-by", "key")
INSTANT = datetime(2024, 2, 29, 10, 0, 7, 120_000, timezone.utc)
MOMENT = INSTANT.replace(tzinfo=None)


@pytest.fixture
def engines() -> tuple[str, ...]:
    return ("embedded",)


def write_feed(folder: Path, kind: Type, values: list[Any]) -> str:
    """Write a row for each value: inserted as NULL, then updated."""
    columns = Column("id", IntType(64), roles=frozenset({"primary", "handle"})), Column("v", kind)
    table = Table("t", "shop", columns=columns, key=("id",))
    changes = []
    for key, value in enumerate(values):
        before, after = (Image(columns, (key, each)) for each in (None, value))
        changes.append(RowChange(table, "insert", None, before, Position(commit_ts=2 * key)))
        at = Position(commit_ts=2 * key + 1)
        changes.append(RowChange(table, "update", before, after, at))
    folder.mkdir()
    context = Context(options={"time-zone": "UTC"})
    messages = get_format("craft").from_events(changes, context=context)
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"craft:file:{folder}"


def write_table(folder: Path, values: Any, name: str = "part-0.parquet", **options: Any) -> str:
    folder.mkdir(exist_ok=True)
    rows = pa.table({"id": pa.array(range(len(values)), pa.int64()), "v": values})
    pq.write_table(rows, folder / name, **options)
    return f"parquet:file:{folder}"


KINDS: dict[str, tuple[Type, list[Any], Any]] = {
    "unsigned": (IntType(64, unsigned=True), [2**64 - 1, 0], pa.array([2**64 - 1, 0], pa.uint64())),
    "small unsigned": (IntType(8, unsigned=True), [255], pa.array([255], pa.uint8())),
    "wider": (IntType(16), [-5], pa.array([-5], pa.int64())),
    "decimal": (
        DecimalType(10, 2),
        [Decimal("1.50"), None],
        pa.array([Decimal("1.5"), None], pa.decimal128(12, 4)),
    ),
    "float": (FloatType(32), [0.5, float("nan")], pa.array([0.5, float("nan")], pa.float32())),
    "double": (FloatType(64), [float("1e300"), -0.0], pa.array([1e300, -0.0])),
    "text": (TextType(), ["\u00e4", ""], pa.array(["\u00e4", ""], pa.large_string())),
    "labels": (TextType(), ["new", "new"], pa.array(["new", "new"]).dictionary_encode()),
    "bytes": (BytesType(), [b"\xff\x00"], pa.array([b"\xff\x00"], pa.binary(2))),
    "date": (DateType(), ["0001-01-01"], pa.array([date(1, 1, 1)])),
    "time": (
        TimeType(6),
        ["10:00:07.12"],
        pa.array([time(10, 0, 7, 120_000)], pa.time64("us")),
    ),
    "datetime": (DatetimeType(3), ["2024-02-29 10:00:07.12"], pa.array([MOMENT])),
    "datetime of seconds": (
        DatetimeType(0),
        ["2024-02-29 10:00:00"],
        pa.array([MOMENT.replace(second=0, microsecond=0)], pa.timestamp("s")),
    ),
    "year": (YearType(), [2024], pa.array([2024], pa.int32())),
}


def test_rows_are_replayed_by_an_order_of_several_members(compare: Compare, tmp_path: Path) -> None:
    """A place in a binlog has a file, a number and a row: the feed's rows get a column for it."""
    columns = Column("id", IntType(64), None, False), Column("v", TextType(), None, True)
    table = Table("t", "shop", columns=columns, key=("id",))
    places = [Position(commit_ms=1, file="b.000001", pos=pos) for pos in (23, 100)]
    changes = [
        RowChange(table, "insert", None, Image(columns, (0, value)), place, extra=MYSQL)
        for value, place in zip(("old", "new"), places, strict=True)
    ]
    folder = tmp_path / "feed"
    folder.mkdir()
    messages = get_format("debezium-json").from_events(changes, context=Context())
    write_messages(str(folder / "messages.jsonl"), messages)
    code, out, document = compare(
        f"debezium-json:file:{folder}", write_table(tmp_path / "t", pa.array(["new"]))
    )
    assert code == 0, out
    assert document["tables"][0]["counts"]["same"] == 1


@pytest.mark.parametrize(("kind", "sent", "stored"), KINDS.values(), ids=KINDS)
def test_value_of_each_type_is_equal_to_the_feeds(
    compare: Compare, tmp_path: Path, kind: Type, sent: list[Any], stored: Any
) -> None:
    feed = write_feed(tmp_path / "feed", kind, sent)
    code, out, document = compare(feed, write_table(tmp_path / "t", stored))
    assert code == 0, out
    assert document["tables"][0]["counts"]["same"] == len(sent)
    assert document["engine"] == "embedded"


@pytest.mark.parametrize(
    ("kind", "sent", "stored", "shown"),
    [
        (IntType(64, unsigned=True), [2**64 - 1], pa.array([-1]), ("18446744073709551615", "-1")),
        (FloatType(64), [0.1], pa.array([0.1], pa.float32()), ("0.1", "0.10000000149011612")),
        (
            DatetimeType(6),
            ["2024-02-29 10:00:07.12"],
            pa.array([MOMENT.replace(microsecond=0)]),
            ("2024-02-29 10:00:07.12", "2024-02-29 10:00:07"),
        ),
        (
            DecimalType(10, 2),
            [Decimal("1.50")],
            pa.array([None], pa.decimal128(4, 2)),
            ("1.50", None),
        ),
    ],
    ids=["signed", "narrow", "cut", "null"],
)
def test_value_that_the_table_lost_is_shown(
    compare: Compare,
    tmp_path: Path,
    kind: Type,
    sent: list[Any],
    stored: Any,
    shown: tuple[str | None, str | None],
) -> None:
    feed = write_feed(tmp_path / "feed", kind, sent)
    code, _, document = compare(feed, write_table(tmp_path / "t", stored))
    assert code == 1
    [difference] = document["tables"][0]["differences"]
    [column] = difference["columns"]
    assert (column["left"]["value"], column["right"]["value"]) == shown


@pytest.mark.parametrize("is_old", [False, True], ids=["with zone", "INT96"])
def test_instant_is_read_in_utc(compare: Compare, tmp_path: Path, is_old: bool) -> None:
    feed = write_feed(tmp_path / "feed", TimestampType(3, zone="UTC"), ["2024-02-29 10:00:07.12"])
    zoned = pa.array([INSTANT]).cast(pa.timestamp("us", "Asia/Shanghai"))
    values = pa.array([MOMENT]) if is_old else zoned
    table = write_table(tmp_path / "t", values, use_deprecated_int96_timestamps=is_old)
    code, out, _ = compare(feed, table, "--option", "time-zone=UTC")
    assert code == 0, out


def test_files_of_one_table_are_read_without_hidden_ones(compare: Compare, tmp_path: Path) -> None:
    feed = write_feed(tmp_path / "feed", IntType(64), [7])
    table = write_table(tmp_path / "t", pa.array([7]))
    write_table(tmp_path / "t", pa.array([8]), ".part-1.parquet")
    (tmp_path / "t" / "_SUCCESS").touch()
    code, out, _ = compare(feed, table)
    assert code == 0, out
    rows = pa.table({"id": pa.array([9], pa.int64()), "v": pa.array([9])})
    pq.write_table(rows, tmp_path / "t" / "part-1.parquet")
    code, _, document = compare(feed, table)
    assert (code, document["tables"][0]["counts"]["only_right"]) == (1, 1)


def test_rows_of_each_kind_of_difference(compare: Compare, tmp_path: Path) -> None:
    """Key 0 has the value before its last change, 1 is missing, 2 is doubled, 3 is wrong."""
    feed = write_feed(tmp_path / "feed", TextType(), ["a", "b", "c", "d"])
    rows = {"id": [0, 2, 2, 3, 9], "v": [None, "c", "c", "D", "z"]}
    (tmp_path / "t").mkdir()
    pq.write_table(pa.table(rows), tmp_path / "t" / "a.parquet")
    code, out, document = compare(feed, f"parquet:file:{tmp_path / 't'}", "--limit", "1")
    counts = document["tables"][0]["counts"]
    wanted = {"same": 1, "changed": 2, "stale": 1, "only_left": 1, "only_right": 1}
    assert code == 1
    assert {name: counts[name] for name in wanted} == wanted
    assert counts["doubled_right"] == 1
    shown = document["tables"][0]["differences"]
    kinds = [(each["verdict"], each["key"][0]["value"]) for each in shown]
    assert sorted(kinds) == [
        ("changed", "3"),
        ("doubled", "2"),
        ("left over", "9"),
        ("missing", "1"),
        ("stale", "0"),
    ]
    assert "the table lacks the change at 1 " in out


def test_place_that_goes_back_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No order is right: a change of the key comes after a later one."""
    key = Column("id", IntType(64), roles=frozenset({"primary", "handle"}))
    columns = key, Column("v", IntType(64))
    table = Table("t", "shop", columns=columns, key=("id",))
    changes = [
        RowChange(table, "insert", None, Image(columns, (0, at)), Position(commit_ts=at))
        for at in (9, 4)
    ]
    (tmp_path / "feed").mkdir()
    messages = get_format("craft").from_events(changes, context=Context())
    write_messages(str(tmp_path / "feed" / "messages.jsonl"), messages)
    feed, rows = f"craft:file:{tmp_path / 'feed'}", write_table(tmp_path / "t", pa.array([9]))
    assert main(["compare", feed, rows]) == 2
    line = (
        "commit_ts goes back in a feed: shop.t at commit_ts 4 comes after a later change of its key"
    )
    assert line in capsys.readouterr().err
    assert main(["compare", feed, write_table(tmp_path / "u", pa.array([4]))]) == 1
    assert f"note: {line}" in capsys.readouterr().out
    assert main(["compare", feed, write_table(tmp_path / "u", pa.array([4])), *BY_KEY]) == 0


def test_record_has_the_files_of_the_table(tmp_path: Path) -> None:
    feed = write_feed(tmp_path / "feed", IntType(64), [7])
    table = write_table(tmp_path / "t", pa.array([7]))
    result = tmp_path / "result.json"
    assert main(["compare", feed, table, "--json", str(result)]) == 0
    record = json.loads(result.read_text())["record"]["right"]
    assert [(each["name"], each["size"]) for each in record["files"]] == [
        ("part-0.parquet", (tmp_path / "t" / "part-0.parquet").stat().st_size)
    ]
    assert record["rows"] == 1


def broken(folder: Path) -> None:
    (folder / "b.parquet").write_text("{}")


def other_types(folder: Path) -> None:
    write_table(folder, pa.array(["x"]), "b.parquet")


def nested(folder: Path) -> None:
    write_table(folder, pa.array([{"x": 1}]))


def spoilt_page(folder: Path) -> None:
    write_table(folder, pa.array(range(5000)), compression="zstd")
    file = folder / "part-0.parquet"
    content = bytearray(file.read_bytes())
    content[4:60] = bytes(56)
    file.write_bytes(content)


def two_of_one_name(folder: Path) -> None:
    rows = pa.Table.from_arrays([pa.array([0]), pa.array([7]), pa.array([7])], ["id", "v", "v"])
    pq.write_table(rows, folder / "part-0.parquet")


def empty(folder: Path) -> None:
    (folder / "part-0.parquet").unlink()


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (broken, "can't be read as a table: b.parquet: is not a Parquet file"),
        (other_types, "part-0.parquet has other columns or types than b.parquet; --engine spark"),
        (nested, "column v of the table is struct<x: int64>, which no column of a feed is"),
        (spoilt_page, "t: can't be read: "),
        (two_of_one_name, "part-0.parquet: Can't unify schema with duplicate field names"),
        (empty, "can't be read as a table: there is no *.parquet"),
    ],
)
def test_table_that_can_not_be_read_is_one_line(
    spoil: Callable[[Path], None], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = write_feed(tmp_path / "feed", IntType(64), [7])
    table = write_table(tmp_path / "t", pa.array([7]))
    spoil(tmp_path / "t")
    assert main(["compare", feed, table]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert problem in error


def test_partitions_are_left_to_spark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed = write_feed(tmp_path / "feed", IntType(64), [7])
    (tmp_path / "t").mkdir()
    write_table(tmp_path / "t" / "day=1", pa.array([7]))
    words = ["compare", feed, f"parquet:file:{tmp_path / 't'}", "--engine", "embedded"]
    assert main(words) == 2
    assert "--engine embedded: only Spark reads the partitions of " in capsys.readouterr().err
