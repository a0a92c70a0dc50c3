"""Small tables are compared many in one job; all others by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="needs the extra spark")

from cdcwire.core.context import Context
from cdcwire.files.messages_io import write_messages
from cdcwire.model.events import Event, Image, RowChange
from cdcwire.registry import get_format
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.sources.source_urls import parse_source
from cdcwire_conformance.spark.compare import engine, small_tables
from cdcwire_conformance.spark.compare.engine import compare_feeds
from cdcwire_generators.workloads import workload_tables
from cdcwire_generators.workloads.stream import Mix, stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = 3
ROWS = 60


def changes(different: str = "") -> Iterator[Event]:
    """Yield the changes of three tables, the first insert of one of them with another note."""
    (table,) = workload_tables("orders-10")
    tables = tuple(replace(table, name=f"orders_{number}") for number in range(TABLES))
    for event in stream(tables, ROWS, 3, Mix()):
        if isinstance(event, RowChange) and event.op == "insert" and event.table.name == different:
            assert event.after is not None
            values = dict(zip(event.after.names, event.after.values, strict=True))
            values["note"] = "another"
            event = replace(event, after=Image(event.after.columns, tuple(values.values())))
            different = ""
        yield event
    assert not different


@pytest.fixture
def feeds(tmp_path: Path) -> tuple[ComparedFeed, ComparedFeed]:
    found = []
    for name, different in (("craft", ""), ("open-protocol", "orders_1")):
        (tmp_path / name).mkdir()
        messages = get_format(name).from_events(changes(different), context=Context())
        write_messages(str(tmp_path / name / "messages.jsonl"), messages)
        found.append(ComparedFeed(parse_source(f"{name}:file:{tmp_path / name}")))
    return found[0], found[1]


def differing(found: Comparison) -> dict[str, int]:
    return {each.table: len(each.differences) for each in found.tables}


EXPECTED = {f"shop.orders_{number}": int(number == 1) for number in range(TABLES)}


def test_small_tables_are_compared_without_queries_of_their_own(
    spark: SparkSession,
    feeds: tuple[ComparedFeed, ComparedFeed],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "compare_large", None)
    found = compare_feeds(spark, *feeds)
    assert differing(found) == EXPECTED
    assert sum(found.changes) == 2 * ROWS


def test_groups_have_a_limited_number_of_rows(
    spark: SparkSession,
    feeds: tuple[ComparedFeed, ComparedFeed],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = []

    def compared(*arguments: object) -> object:
        sizes.append(len(arguments[1]))  # type: ignore[arg-type]  # a group
        return small_tables.compare_group(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(engine, "compare_group", compared)
    monkeypatch.setattr(small_tables, "ROWS_OF_A_JOB", 1)
    assert differing(compare_feeds(spark, *feeds)) == EXPECTED
    assert sizes == [1] * TABLES


def test_tables_of_many_rows_are_compared_by_buckets(
    spark: SparkSession,
    feeds: tuple[ComparedFeed, ComparedFeed],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small = compare_feeds(spark, *feeds)
    monkeypatch.setattr(engine, "compare_group", None)
    monkeypatch.setattr(small_tables, "SMALL_TABLE_ROWS", 10)
    large = compare_feeds(spark, *feeds)
    assert differing(large) == EXPECTED
    assert large.tables == small.tables
