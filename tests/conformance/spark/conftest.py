"""Frames by hand, prefixes, and the engines of the command ``compare`` for the tests of Spark."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import StoredFile
from cdcwire.ddl import parse_ddl
from cdcwire.model.events import Event, Position, RowChange, SchemaChange, Table
from cdcwire.mysql.types import schema_change_kind
from cdcwire.registry import get_format
from cdcwire.storage.paths import DataPath, PathLayout, parse_path, path_text
from cdcwire.storage.small_files import write_metadata
from cdcwire_generators.workloads import table_workload

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from cdcwire.arrow.schema import CanonicalTable
    from cdcwire_conformance.compare.result import TableComparison


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Java keeps the plans of all frames that Python has not collected, until its heap is full."""
    yield
    gc.collect()


@pytest.fixture
def engines(engines: tuple[str, ...], request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The engines of ``compare``: both have to give the same.

    ``@pytest.mark.spark_nightly`` keeps the engines of other folders.
    """
    is_rule = request.node.get_closest_marker("spark_nightly") is not None
    return engines if is_rule else ("spark", "embedded")


@pytest.fixture(scope="module", autouse=True)
def both_engines(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compare frames with the embedded engine too, and check that it gives the same."""
    compare_frames = getattr(request.module, "compare_frames", None)
    if compare_frames is None:
        yield
        return
    from cdcwire.arrow.schema import event_schema
    from cdcwire_conformance.compare.embedded.tables import ComparedTable
    from cdcwire_conformance.compare.rules import CompareOptions, ComparisonRules

    def compared(
        left: DataFrame,
        right: DataFrame,
        table: CanonicalTable,
        rules: ComparisonRules = ComparisonRules(),  # noqa: B008
        options: CompareOptions = CompareOptions(),  # noqa: B008
    ) -> TableComparison:
        found: TableComparison = compare_frames(left, right, table, rules, options)
        image: Any = left.schema["after"].dataType
        if found.counts is None or image.names != list(table.column_names):
            return found
        dropped = [name for name, _ in found.left_out]
        ours, theirs = (
            _batches(each.drop(*dropped), event_schema(table)) for each in (left, right)
        )
        image = ours[0].schema.field("after").type
        embedded = ComparedTable(table, image, rules, options).compared(ours, theirs)
        assert _in_order(embedded) == _in_order(replace(found, left_out=()))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request.module, "compare_frames", compared)
        yield


def _batches(frame: DataFrame, schema: pa.Schema) -> list[pa.RecordBatch]:
    """Return the rows of a frame, with all columns that a decoded one has."""
    import pyarrow as pa

    table = frame.toArrow()
    for field in schema:
        if field.name not in table.schema.names:
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    return table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]


def _in_order(found: TableComparison) -> TableComparison:
    return replace(
        found,
        differences=tuple(sorted(found.differences, key=repr)),
        patterns=tuple(sorted((replace(p, examples=()) for p in found.patterns), key=repr)),
    )


@pytest.fixture(scope="session")
def frame_of(
    spark: SparkSession, changes_of_table: Callable[..., pa.Table]
) -> Callable[..., DataFrame]:
    """Make a frame of the rows that ``changes_of_table`` makes."""
    return lambda table, changes: spark.createDataFrame(changes_of_table(table, changes))


_ORDERS = """CREATE TABLE orders (id bigint not null primary key, {0} price decimal(10,2),
  status enum('new','paid'), tags set('a','b','c'), note varchar(40), made timestamp(3), bin blob,
  doc json, d double, f float, u bigint unsigned, y year, b bit(10), t time, dt datetime, day date)
"""
_ALTER = "ALTER TABLE orders ADD COLUMN extra enum('x','y') AFTER id, ADD INDEX (price)"
_ITEMS = """CREATE TABLE items (id int not null primary key, name varchar(20))
  PARTITION BY HASH(id) PARTITIONS 2"""
_CUSTOMERS = "CREATE TABLE customers (id int not null primary key, kind enum('k','l') not null)"
_RENAME = "RENAME TABLE customers TO clients"
_CREATE_CODE, _ALTER_CODE, _RENAME_CODE = 3, 5, 14


class StorageStream:
    """Four days of three tables: one has partitions, one a second version, one is renamed.

    ``options``: with which both formats of a storage sink carry all of it.
    """

    options: Mapping[str, Mapping[str, str | bool]] = {
        "csv": {"include-commit-ts": True, "output-old-value": True},
        "canal-json": {"enable-tidb-extension": True, "transport": "storage"},
    }

    def __init__(self, rows: int = 20) -> None:
        self.rows = rows
        (self.orders,) = parse_ddl(_ORDERS.format(""), "shop")
        (self.later_orders,) = parse_ddl(_ORDERS.format("extra enum('x','y'),"), "shop")
        (self.items,) = parse_ddl(_ITEMS, "shop")
        (self.customers,) = parse_ddl(_CUSTOMERS, "shop")
        self.clients = replace(self.customers, name="clients")

    def commit_ts(self, day: int, number: int) -> int:
        ms = int(datetime(2024, 5, day, tzinfo=timezone.utc).timestamp() * 1000)
        return (ms << 18) + number

    def days(self) -> Iterator[list[Event]]:
        """Yield the events of each day."""
        v1, v2, v3 = (self.commit_ts(day, 1) for day in (1, 2, 3))
        yield [
            _ddl(self.orders, _ORDERS.format(""), _CREATE_CODE, v1),
            _ddl(self.items, _ITEMS, _CREATE_CODE, v1 + 1),
            _ddl(self.customers, _CUSTOMERS, _CREATE_CODE, v1 + 2),
            *self._changes(self.orders, 1),
            *self._changes(self.items, 1),
            *self._changes(self.customers, 1),
        ]
        yield [
            _ddl(self.later_orders, _ALTER, _ALTER_CODE, v2),
            *self._changes(self.later_orders, 2),
            *self._changes(self.items, 2),
            *self._changes(self.customers, 2),
        ]
        yield [
            _ddl(self.clients, _RENAME, _RENAME_CODE, v3),
            *self._changes(self.later_orders, 3),
            *self._changes(self.clients, 3),
        ]
        yield [
            *self._changes(self.later_orders, 4),
            *self._changes(self.items, 4),
            *self._changes(self.clients, 4),
        ]

    def _changes(self, table: Table, day: int) -> Iterator[RowChange]:
        for number, event in enumerate(table_workload(table, self.rows, day)):
            assert isinstance(event, RowChange)
            partition = 101 + number % 2 if table is self.items else None
            position = Position(commit_ts=self.commit_ts(day, 1000 + number), partition=partition)
            yield replace(event, position=position)

    def write(
        self,
        format_name: str,
        folder: Path,
        *,
        is_restarted: bool = False,
        change: Callable[[int, list[Event]], list[Event]] = lambda day, events: events,
        **others: str | bool,
    ) -> str:
        """Write a prefix and return its source.

        ``is_restarted``: on the second day the last half of the rows is written again, into files
        of its own. ``change``: what becomes of a day's events.
        """
        layout = PathLayout(extension=".csv" if format_name == "csv" else ".json")
        options = {**self.options[format_name], **others}
        known: dict[str | None, Table] = {}
        for day, events in enumerate(self.days(), 1):
            events = change(day, events)
            for event in events:
                if isinstance(event, SchemaChange) and event.table is not None:
                    version = event.position.commit_ts
                    known[event.table.name] = replace(event.table, version=version)
            rows = [event for event in events if isinstance(event, RowChange)]
            again = rows[len(rows) // 2 :] if is_restarted and day == 2 else []
            context = Context(options=options, tables=tuple(known.values()))
            for part in (events, again):
                for file in get_format(format_name).from_events(part, context=context):
                    assert isinstance(file, StoredFile)
                    _put(folder, file.path, file.value, layout)
        (folder / "metadata").write_bytes(write_metadata(self.commit_ts(5, 0)))
        return f"{format_name}:file:{folder}"


def _ddl(table: Table, query: str, code: int, version: int) -> SchemaChange:
    position = Position(commit_ts=version)
    return SchemaChange(schema_change_kind(code), query, code, table, position)


def _put(folder: Path, name: str, value: bytes, layout: PathLayout) -> None:
    """Write a file; a data file whose number is taken gets the next."""
    path = parse_path(name, layout)
    while isinstance(path, DataPath) and (folder / path_text(path, layout)).exists():
        path = replace(path, number=path.number + 1)
    target = folder / path_text(path, layout)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(value)


@pytest.fixture(scope="session")
def storage_stream() -> StorageStream:
    return StorageStream()
