"""Prefixes of a storage sink compared: with each other, with messages, and what can't be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, RowChange
from cdcwire.registry import get_format
from cdcwire.storage.small_files import write_metadata

pytest.importorskip("pyspark", reason="needs the extra spark")
pytest.importorskip("sqlglot", reason="needs the extra ddl")

from cdcwire_conformance.spark import decode_frame, describe_feed, parse_source
from cdcwire_conformance.spark.reading.frames import good_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("spark")

Answer: TypeAlias = "tuple[int, str, dict[str, Any]]"
Compare: TypeAlias = Callable[..., Answer]

CSV = ("include-commit-ts=true", "output-old-value=true")
CANAL = ("enable-tidb-extension=true",)


@pytest.fixture
def compare(compare: Compare) -> Compare:
    """Run the command with the options of each side. Returns: what ``compare`` returns."""

    def run(*arguments: str, left: tuple[str, ...] = CSV, right: tuple[str, ...] = CANAL) -> Answer:
        words = [f"--left-option={each}" for each in left]
        words += [f"--right-option={each}" for each in right]
        return compare(*arguments, *words)

    return run


def events_of(stream: Any) -> Iterator[Event]:
    for day in stream.days():
        yield from day


def write_queue(stream: Any, folder: Path, format_name: str, **options: str | bool) -> str:
    folder.mkdir()
    context = Context(options=options)
    messages = get_format(format_name).from_events(events_of(stream), context=context)
    write_messages(str(folder / "messages.jsonl"), messages)
    return f"{format_name}:file:{folder}"


def with_after(event: RowChange, **values: object) -> RowChange:
    assert event.after is not None
    new = [
        values.get(name, value)
        for name, value in zip(event.after.names, event.after.values, strict=True)
    ]
    return replace(event, after=Image(event.after.columns, tuple(new)))


def test_last_rows_of_a_renamed_table_are_those_of_both_names(
    compare: Compare, storage_stream: Any, tmp_path: Path
) -> None:
    left = storage_stream.write("csv", tmp_path / "a", is_restarted=True)
    right = write_queue(storage_stream, tmp_path / "b", "canal-json", **{CANAL[0][:-5]: True})
    code, text, found = compare(left, right, "--mode", "final")
    assert code == 0, text
    names = [table["table"] for table in found["tables"]]
    assert names == ["shop.clients", "shop.items", "shop.orders"]
    last: dict[Any, Any] = {}
    for event in events_of(storage_stream):
        if isinstance(event, RowChange) and event.table.name in ("customers", "clients"):
            if event.before is not None:
                last.pop(event.before["id"], None)
            if event.after is not None:
                last[event.after["id"]] = event.after
    assert found["tables"][0]["counts"]["same"] == len(last)
    assert "note: left: RENAME TABLE customers TO clients (" in text


@pytest.mark.spark_nightly
def test_prefixes_of_one_stream_are_equal(
    compare: Compare, storage_stream: Any, tmp_path: Path
) -> None:
    left = storage_stream.write("csv", tmp_path / "a", is_restarted=True)
    right = storage_stream.write("canal-json", tmp_path / "b", is_restarted=True)
    code, text, found = compare(left, right)
    assert code == 0, text
    assert [table["table"] for table in found["tables"]] == [
        "shop.clients",
        "shop.customers",
        "shop.items",
        "shop.orders",
    ]
    assert "paired by commit_ts and id" in text
    assert "compared: op, partition, before, after" in text
    assert "rows dropped as repeats" in text


def test_planted_differences_are_named(
    compare: Compare, storage_stream: Any, tmp_path: Path
) -> None:
    planted: dict[str, RowChange] = {}

    def change(day: int, events: list[Event]) -> list[Event]:
        inserts = [
            event
            for event in events
            if isinstance(event, RowChange)
            and event.op == "insert"
            and event.table.name == "orders"
        ]
        if day == 2:
            old = inserts[0]
            planted["changed"] = with_after(old, note="\\N", extra=None, u=2**64 - 1)
            return [planted["changed"] if event is old else event for event in events]
        if day == 3:
            planted["lost"], planted["doubled"] = inserts[0], inserts[1]
            kept = [event for event in events if event is not planted["lost"]]
            at = next(i for i, event in enumerate(kept) if event is planted["doubled"])
            return [*kept[: at + 1], planted["doubled"], *kept[at + 1 :]]
        return events

    def null(day: int, events: list[Event]) -> list[Event]:
        """Make what is a text on the other side NULL here."""
        found = change(day, events)
        if day != 2:
            return events
        first = next(i for i, (a, b) in enumerate(zip(events, found, strict=True)) if a is not b)
        event = found[first]
        assert isinstance(event, RowChange)
        other = with_after(event, note=None, extra=2, u=2**64 - 2)
        return [*events[:first], other, *events[first + 1 :]]

    left = storage_stream.write("csv", tmp_path / "a", change=change)
    right = storage_stream.write("canal-json", tmp_path / "b", change=null)
    code, text, found = compare(left, right, "--include", "shop.orders")
    assert code == 1
    (table,) = found["tables"]
    named = {
        (each["verdict"], dict(each["position"])["commit_ts"]): each
        for each in table["differences"]
    }
    assert set(named) == {
        (verdict, str(planted[name].position.commit_ts))
        for verdict, name in (
            ("changed", "changed"),
            ("only right", "lost"),
            ("doubled", "doubled"),
        )
    }
    (changed,) = (each for each in table["differences"] if each["verdict"] == "changed")
    assert {each["column"] for each in changed["columns"]} == {"note", "extra", "u"}
    assert "extra" in text
    assert "'\\\\N'" in text or '"\\\\N"' in text or "\\N" in text
    assert changed["places"]["left"]["line"] is not None
    assert changed["places"]["right"]["line"] is not None


@pytest.mark.spark_nightly
def test_prefix_meets_messages_of_another_format(
    compare: Compare, storage_stream: Any, tmp_path: Path
) -> None:
    left = storage_stream.write("csv", tmp_path / "a")
    right = write_queue(storage_stream, tmp_path / "b", "craft")
    code, text, _ = compare(left, right, right=())
    assert code == 0, text
    assert text.count(": equal, ") == 4


@pytest.mark.spark_nightly
def test_prefix_and_messages_of_one_format_are_compared(
    compare: Compare, storage_stream: Any, tmp_path: Path
) -> None:
    left = storage_stream.write("canal-json", tmp_path / "a")
    right = write_queue(
        storage_stream, tmp_path / "b", "canal-json", **{"enable-tidb-extension": True}
    )
    code, text, _ = compare(left, right, "--include", "shop.items", left=CANAL)
    assert code == 0, text
    assert "compared: op, commit_ms, before, after" in text
    assert "not compared: partition" in text


@pytest.mark.spark_nightly
def test_feeds_without_positions_pair_by_order(
    compare: Compare, storage_stream: Any, tmp_path: Path
) -> None:
    left = storage_stream.write("csv", tmp_path / "a", **{"include-commit-ts": False})
    right = storage_stream.write("canal-json", tmp_path / "b")
    arguments = (left, right, "--include", "shop.items")
    code, text, _ = compare(*arguments, left=("output-old-value=true",))
    assert code == 0, text
    assert "paired by id and the order of its changes" in text
    assert "not compared: commit_ts (csv sends them only with option include-commit-ts)" in text


def test_fault_in_a_file_is_reported_with_its_place(
    compare: Compare, storage_stream: Any, tmp_path: Path
) -> None:
    left = storage_stream.write("csv", tmp_path / "a")
    right = storage_stream.write("canal-json", tmp_path / "b")
    file = next((tmp_path / "a").glob("shop/clients/*/2024-05-04/*.csv"))
    lines = file.read_bytes().split(b"\r\n")
    lines[7] = lines[7].replace(b"shop", b"shap")
    file.write_bytes(b"\r\n".join(lines))
    arguments = (left, right, "--include", "shop.clients")
    code, text, _ = compare(*arguments)
    assert code == 2
    assert f"{file}:8: byte " in text
    assert "csv: " in text
    code, text, found = compare(*arguments, "--on-error", "row")
    assert code == 1
    assert f"unreadable: {file}:8: byte " in text
    (table,) = found["tables"]
    assert table["counts"]["unreadable_left"] == 1
    assert table["counts"]["only_left"] == table["counts"]["changed"] == 0
    assert table["counts"]["only_right"] > 0


@pytest.mark.spark_nightly
def test_table_of_which_nothing_can_be_read_is_not_equal(
    compare: Compare, storage_stream: Any, tmp_path: Path
) -> None:
    """Both sides have the same fault, so that no rows of the table are compared."""
    left = storage_stream.write("csv", tmp_path / "a")
    right = storage_stream.write("canal-json", tmp_path / "b")
    broken = 0
    for side in "ab":
        for file in (tmp_path / side).glob("shop/clients/*/*/CDC*"):
            file.write_bytes(b"\x00 no row\r\n")
            broken += side == "a"
    code, text, found = compare(left, right, "--on-error", "row")
    assert code == 1
    assert "shop.clients" not in {table["table"] for table in found["tables"]}
    assert found["errors"] == {"left": broken, "right": broken}
    assert "shop/clients/" in text


def without_queries(folder: Path) -> None:
    """Take the DDL out of schema files; it is not part of their hash."""
    for file in folder.glob("**/meta/schema_*"):
        text = re.sub(rb'"Query": ".*",', b'"Query": "",', file.read_bytes())
        file.write_bytes(text)


@pytest.mark.spark_nightly
def test_labels_that_nobody_tells_are_a_difference_of_schemas(
    compare: Compare, storage_stream: Any, tmp_path: Path
) -> None:
    left = storage_stream.write("csv", tmp_path / "a")
    right = storage_stream.write("canal-json", tmp_path / "b")
    full = storage_stream.write("canal-json", tmp_path / "c", **{"content-compatible": True})
    without_queries(tmp_path)
    arguments = (left, right, "--include", "shop.clients")
    code, text, _ = compare(*arguments)
    assert code == 1
    assert "enum values by number meet labels only if the labels are known" in text
    ddl = tmp_path / "clients.sql"
    ddl.write_text("CREATE TABLE shop.clients (id int primary key, kind enum('k','l') not null)")
    code, text, _ = compare(*arguments, "--ddl", str(ddl))
    assert code == 0, text
    others = (left, full, "--include", "shop.clients")
    code, text, _ = compare(*others, right=(*CANAL, "content-compatible=true"))
    assert code == 0, text


def test_prefix_becomes_a_frame_with_the_rows_of_replay(
    spark: SparkSession, storage_stream: Any, tmp_path: Path
) -> None:
    text = storage_stream.write("csv", tmp_path / "a", is_restarted=True)
    source = parse_source(text)
    context = Context(options=dict(storage_stream.options["csv"]))
    found = {each.table.table: each for each in describe_feed(spark, source, context=context)}
    assert set(found) == {"clients", "customers", "items", "orders"}
    orders = found["orders"]
    assert orders.table.column_names[:2] == ("id", "price")
    assert "extra" in orders.table.column_names
    assert orders.table.key == ("id",)
    frame = decode_frame(spark, source, found["customers"].table, context=context)
    rows = good_rows(frame).collect()
    assert len(rows) == found["customers"].rows
    assert {row["half"] for row in rows} == {None}
    assert {row["source"]["file"] for row in rows} <= {
        str(file) for file in (tmp_path / "a" / "shop" / "customers").rglob("*.csv")
    }


def test_stored_files_in_json_lines_are_read(
    spark: SparkSession, storage_stream: Any, tmp_path: Path
) -> None:
    tables = (storage_stream.later_orders, storage_stream.items, storage_stream.clients)
    context = Context(options=dict(storage_stream.options["csv"]), tables=tables)
    events = [event for event in events_of(storage_stream) if _is_of_items(event)]
    messages = get_format("csv").from_events(events, context=context)
    write_messages(str(tmp_path / "messages.jsonl"), messages)
    source = parse_source(f"csv:file:{tmp_path}")
    context = Context(options=context.options)
    (found,) = describe_feed(spark, source, context=context)
    assert found.table.column_names == ("id", "name")
    rows = good_rows(decode_frame(spark, source, found.table, context=context)).collect()
    assert len(rows) == found.rows == sum(isinstance(event, RowChange) for event in events)
    assert {row["partition"] for row in rows} == {101, 102}


@pytest.mark.spark_nightly
def test_window_up_to_a_checkpoint_is_proposed(
    compare: Compare, storage_stream: Any, tmp_path: Path
) -> None:
    """A queue goes on after the checkpoint of a prefix."""
    left = storage_stream.write("csv", tmp_path / "a")
    checkpoint = storage_stream.commit_ts(3, 0)
    (tmp_path / "a" / "metadata").write_bytes(write_metadata(checkpoint))
    (tmp_path / "b").mkdir()
    messages = get_format("craft").from_events(events_of(storage_stream))
    write_messages(str(tmp_path / "b" / "messages.jsonl"), messages)
    right = f"craft:file:{tmp_path / 'b'}"
    options = ["--include", "shop.items"]
    code, _, found = compare(left, right, *options, right=())
    assert code == 1
    (hint,) = found["hints"]
    assert f"--to {checkpoint + 1} " in hint
    code, text, _ = compare(left, right, *options, "--to", str(checkpoint + 1), right=())
    assert code == 0, text
    assert "; left out: tables other than shop.items (--include)" in text


def _is_of_items(event: Event) -> bool:
    table = getattr(event, "table", None)
    return table is not None and table.name == "items"
