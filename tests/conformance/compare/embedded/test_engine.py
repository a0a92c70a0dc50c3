"""The engine without Spark: many tables in one pass, unreadable messages, all differences.

tests/conformance/spark compares it with Spark.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cdcwire.arrow.types import SchemaError
from cdcwire.core.message import KafkaMessage
from cdcwire.files.messages_io import message_from_line, write_messages
from cdcwire.identify.sampling import read_place
from cdcwire.model.events import Event, Image, Position, RowChange, Table
from cdcwire.model.kinds import Column, FloatType, IntType, TextType
from cdcwire.registry import get_format
from cdcwire_conformance.cli import main
from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.embedded.values import text_of, values_of
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.meaning import Meaning
from cdcwire_conformance.compare.result import Comparison, Counts
from cdcwire_conformance.compare.rules import DEFAULT_OPTIONS, CompareOptions, Mode
from cdcwire_conformance.compare.work import Work
from cdcwire_conformance.sources.source_urls import parse_source
from cdcwire_generators.workloads import Mix
from cdcwire_generators.workloads.stream import stream

TABLES = 12
ROWS = 20  # of each


def feed_of(folder: Path, format_name: str, events: Iterable[Event]) -> ComparedFeed:
    folder.mkdir()
    messages = get_format(format_name).from_events(list(events))
    write_messages(str(folder / "messages.jsonl"), messages)
    return ComparedFeed(parse_source(f"{format_name}:file:{folder}"))


def changes(tables: int = TABLES) -> list[RowChange]:
    """Return changes of several tables, mixed."""
    columns = (
        Column("id", IntType(64), "bigint", roles=frozenset({"primary", "handle"})),
        Column("n", IntType(32), "int"),
        Column("s", TextType(), "varchar"),
    )
    shop = [Table(f"t{n}", "shop", columns=columns, key=("id",)) for n in range(tables)]
    found = stream(tuple(shop), ROWS * tables, 5, Mix())
    return [each for each in found if isinstance(each, RowChange)]


def compared(
    tmp_path: Path, left: Iterable[Event], right: Iterable[Event], options: CompareOptions
) -> Comparison:
    feeds = feed_of(tmp_path / "a", "craft", left), feed_of(tmp_path / "b", "open-protocol", right)
    return compare_feeds(*feeds, options)


def test_many_tables_are_compared_in_one_pass(tmp_path: Path) -> None:
    events = changes()
    found = compared(tmp_path, events, events, DEFAULT_OPTIONS)
    assert found.is_equal
    assert (found.engine, found.is_exact) == ("embedded", False)
    assert [each.table for each in found.tables] == sorted(f"shop.t{n}" for n in range(TABLES))
    assert found.changes == (len(events), len(events))


def test_the_progress_counts_the_rows_of_both_feeds(tmp_path: Path) -> None:
    events = changes(3)
    sides = feed_of(tmp_path / "a", "craft", events), feed_of(tmp_path / "b", "craft", events)
    steps: list[Work | None] = []
    compare_feeds(*sides, DEFAULT_OPTIONS, lambda text, work=None, /: steps.append(work))
    work = [each for each in steps if each is not None]
    assert {each.total for each in work} == {2 * len(events)}
    assert [each.done for each in work] == sorted(each.done for each in work)
    assert (work[0].done, work[-1].done) == (0, 2 * len(events))


def test_only_the_tables_with_a_difference_differ(tmp_path: Path) -> None:
    events = changes()
    lost = next(each for each in events if each.table.name == "t3")
    found = compared(
        tmp_path, events, [each for each in events if each is not lost], DEFAULT_OPTIONS
    )
    (table,) = [each for each in found.tables if not each.is_equal]
    assert (table.table, table.differing) == ("shop.t3", 1)
    assert [each.verdict for each in table.differences] == ["only left"]


def test_an_unreadable_message_counts_in_each_table_and_once_in_all(tmp_path: Path) -> None:
    events = changes(3)
    left = feed_of(tmp_path / "a", "craft", events)
    right = feed_of(tmp_path / "b", "open-protocol", events)
    file = tmp_path / "b" / "messages.jsonl"
    file.write_text(file.read_text() + json.dumps({"key": "AAAA", "value": "AQID"}) + "\n")
    found = compare_feeds(left, right, replace(DEFAULT_OPTIONS, on_error="row"))
    counts = [each.counts for each in found.tables if each.counts is not None]
    assert [each.unreadable_right for each in counts] == [1, 1, 1]
    assert (found.errors_left, found.errors_right) == (0, 1)
    (line,) = found.unreadable
    assert str(line).startswith(f"{file}:{len(file.read_text().splitlines())}: ")


def test_all_differences_are_written_as_parquet(tmp_path: Path) -> None:
    events = changes(2)
    left = [each for number, each in enumerate(events) if number % 4]
    folder = tmp_path / "found"
    options = CompareOptions(limit=1, differences_to=str(folder))
    found = compared(tmp_path, left, events, options)
    rows = pq.read_table(folder)
    assert set(rows.column("kind").to_pylist()) == {"only right"}
    lost = len(events) - len(left)
    assert sum(each.counts.only_right for each in found.tables if each.counts) == lost
    numbered = zip(
        *(rows.column(name).to_pylist() for name in ("table", "difference")), strict=True
    )
    assert len(set(numbered)) == lost


@pytest.mark.parametrize(
    ("meaning", "left_out"),
    [
        (Meaning(precision={"s": 3}), ["s of shop.t0 below ms (--precision)"]),
        (Meaning(precision={"s": 6, "shop.t0.s": 0}), ["s of shop.t0 below s (--precision)"]),
        (Meaning(as_text=frozenset({"n", "s"})), ["the types of n, s of shop.t0 (--as-text)"]),
        (
            Meaning(frozenset({"s"}), as_text=frozenset({"s"}), precision={"s": 3}),
            ["s of shop.t0 (--ignore-column)"],
        ),
    ],
)
def test_the_result_names_what_the_users_rules_leave_out(
    tmp_path: Path, meaning: Meaning, left_out: list[str]
) -> None:
    events = changes(1)
    found = compared(tmp_path, events, events, CompareOptions(meaning=meaning))
    assert found.is_equal
    assert list(found.unwanted) == left_out


def test_misspelled_column_of_an_option_gets_a_suggestion(tmp_path: Path) -> None:
    events = changes(1)
    options = CompareOptions(meaning=Meaning(redacted=frozenset({"idd"})))
    with pytest.raises(SchemaError, match=r"has a column idd; did you mean 'id'\?$"):
        compared(tmp_path, events, events, options)


def test_precision_of_a_column_without_times_is_refused(tmp_path: Path) -> None:
    events = changes(1)
    with pytest.raises(SchemaError, match=r"^--precision: no table has a column n of times$"):
        compared(tmp_path, events, events, CompareOptions(meaning=Meaning(precision={"n": 3})))


def test_a_folder_with_files_is_not_taken_for_differences(tmp_path: Path) -> None:
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "x").touch()
    options = CompareOptions(differences_to=str(tmp_path / "found"))
    with pytest.raises(ValueError, match="is not empty; name a new directory"):
        compared(tmp_path, changes(1), changes(1), options)


def test_a_table_without_rows_on_a_side_has_counts(tmp_path: Path) -> None:
    events = changes(2)
    only = [each for each in events if each.table.name == "t0"]
    found = compared(tmp_path, events, only, CompareOptions(common=True))
    (table,) = found.tables
    assert table.counts == Counts(*(len(only),) * 5)
    assert found.differences == ("table shop.t1: only on the left",)


@pytest.mark.parametrize("mode", ["events", "final"])
def test_rows_with_nan_as_key_are_shown_last(tmp_path: Path, mode: Mode) -> None:
    key = Column("f", FloatType(64), "double", roles=frozenset({"primary", "handle"}))
    table = Table("t", "shop", columns=(key, Column("n", IntType(32), "int")), key=("f",))
    at = Position(commit_ts=1, lsn=1, tx_id="1", commit_ms=1_700_000_000_000)

    def feed(name: str, n: int) -> ComparedFeed:
        images = (Image(table.columns or (), (f, n)) for f in (float("nan"), 1.5, float("inf")))
        rows = [RowChange(table, "insert", None, image, at) for image in images]
        return feed_of(tmp_path / name, "debezium-json", rows)

    found = compare_feeds(feed("a", 1), feed("b", 2), CompareOptions(mode=mode))
    shown = [each.key[0][1].text for each in found.tables[0].differences]
    assert shown == ["1.5", "Infinity", "NaN"]


def test_the_command_needs_neither_pyspark_nor_java(tmp_path: Path) -> None:
    feed_of(tmp_path / "a", "craft", changes(1))
    program = (
        "import sys; sys.modules['pyspark'] = sys.modules['py4j'] = None\n"
        "from cdcwire_conformance.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    words = ["compare", *[f"craft:file:{tmp_path / 'a'}"] * 2]
    command = [sys.executable, "-c", program, *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (
        "\nengine: embedded\nEQUAL: 20 changes of 1 table, by 128 bits of hash per row\n"
        in ended.stdout
    )


def test_without_a_change_the_command_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed_of(tmp_path / "a", "craft", [])
    assert main(["compare", *[f"craft:file:{tmp_path / 'a'}"] * 2]) == 2
    assert "neither feed has a row change" in capsys.readouterr().err


POINT = pa.struct([("x", pa.float64()), ("y", pa.string())])
COUNTS = pa.map_(pa.string(), pa.int32())


# Java's documentation of Double.toString and Float.toString, and of Spark's to_json.
@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (pa.float64(), 1.0, "1.0"),
        (pa.float64(), -0.0, "-0.0"),
        (pa.float64(), 0.001, "0.001"),
        (pa.float64(), 0.0001, "1.0E-4"),
        (pa.float64(), 1234567.5, "1234567.5"),
        (pa.float64(), 9999999.0, "9999999.0"),
        (pa.float64(), 1e7, "1.0E7"),
        (pa.float64(), -1.25e-300, "-1.25E-300"),
        (pa.float64(), 123456789012345680.0, "1.2345678901234568E17"),
        (pa.float64(), float("nan"), "NaN"),
        (pa.float64(), float("-inf"), "-Infinity"),
        (pa.float32(), 0.1, "0.1"),
        (pa.float32(), 16777216.0, "1.6777216E7"),
        (pa.decimal128(10, 8), Decimal("0.00000001"), "0.00000001"),
        (pa.int64(), -5, "-5"),
        (pa.bool_(), True, "true"),
        (pa.binary(), b"\x00\xff", "00ff"),
        (pa.list_(pa.float32()), [1.0, None, -0.0], "[1.0,null,-0.0]"),
        (pa.list_(pa.float64()), [float("nan")], '["NaN"]'),
        (POINT, {"x": 1.5, "y": None}, '{"x":1.5,"y":null}'),
        (pa.list_(pa.binary()), [b"\x00\xff"], '["AP8="]'),
        (COUNTS, [("b", 1), ("a", 2)], '[{"key":"a","value":2},{"key":"b","value":1}]'),
        (pa.list_(pa.string()), ['a"\n'], '["a\\"\\n"]'),
    ],
)
def test_values_have_the_texts_that_spark_gives_them(
    kind: pa.DataType, value: Any, text: str
) -> None:
    (found,) = values_of(pa.array([value], kind))
    assert text_of(found, kind) == text


def test_floats_are_equal_as_a_comparison_takes_them() -> None:
    def values(*floats: float) -> Sequence[object]:
        return values_of(pa.array(floats, pa.float64()))

    assert values(float("nan"), 1.0) == values(-float("nan"), 1.0)
    assert values(0.0) != values(-0.0)
    assert values(0.0) == values(0.0)


def test_lines_of_the_console_consumer_are_a_feed(tmp_path: Path) -> None:
    events = [each for each in changes(2) if each.op != "delete"]
    right = feed_of(tmp_path / "b", "debezium-json", events)
    file = tmp_path / "b" / "messages.jsonl"
    lines = []
    for line in file.read_bytes().splitlines():
        message = message_from_line(line)
        assert isinstance(message, KafkaMessage)
        lines.append(b"%s\t%s\n" % (message.key, message.value))
    left = feed_of(tmp_path / "a", "debezium-json", events)
    file.write_bytes(b"".join(lines))
    found = compare_feeds(left, right)
    assert found.is_equal
    assert found.changes == (len(events), len(events))
    (reading,) = read_place(str(tmp_path / "b"), limit=1)
    assert reading.samples[0].readings == (message_from_line(lines[0]),)
