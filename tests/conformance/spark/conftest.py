"""One Spark session for all tests of this folder, the command, frames by hand, and prefixes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cdcwire.core.format import Context
from cdcwire.core.message import StoredFile
from cdcwire.core.registry import get_format
from cdcwire.model.events import Event, Position, RowChange, SchemaChange, Table
from cdcwire.mysql.ddl import schema_change_kind
from cdcwire.storage.metadata import write_metadata
from cdcwire.storage.paths import DataPath, PathLayout, parse_path, path_text
from cdcwire_conformance.cli import main
from cdcwire_conformance.ddl import parse_ddl
from cdcwire_generators.workloads import table_workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cdcwire_conformance.arrow.schema import CanonicalTable


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from cdcwire_conformance.spark import spark_session

    session = spark_session("local[2]", {"spark.sql.shuffle.partitions": "2"}, "cdcwire-tests")
    yield session
    session.stop()


@pytest.fixture
def compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, dict[str, Any]]]:
    """Run the command. Returns: its exit code, its text, and its JSON document, validated."""
    jsonschema = pytest.importorskip("jsonschema", reason="needs the extra check")
    from cdcwire_conformance.spark.compare.report import schema

    def run(*arguments: str) -> tuple[int, str, dict[str, Any]]:
        file = tmp_path / "found.json"
        file.unlink(missing_ok=True)
        code = main(["compare", *arguments, "--json", str(file)])
        out, err = capsys.readouterr()
        if code == 2:
            assert not file.exists()
            return code, err, {}
        assert err == ""
        document = json.loads(file.read_text("utf-8"))
        jsonschema.validate(document, schema())
        assert document["equal"] is (code == 0)
        return code, out, document

    return run


@pytest.fixture(scope="session")
def frame_of(spark: SparkSession) -> Callable[..., DataFrame]:
    """Make a frame of changes. A change has op, ts, before and after; an image without a column
    has it absent; other members are columns of the frame."""
    import pyarrow as pa

    from cdcwire_conformance.arrow.schema import event_schema

    def make(table: CanonicalTable, changes: Iterable[Mapping[str, Any]]) -> DataFrame:
        rows = []
        for change in changes:
            row = {"schema": table.schema, "table": table.table, **change}
            if "ts" in row:
                row["commit_ts"] = Decimal(row.pop("ts"))
            for side in ("before", "after"):
                image = row.get(side)
                if image is not None:
                    bits = sum(1 << i for i, n in enumerate(table.column_names) if n in image)
                    row[f"{side}_has"] = bits.to_bytes((len(table.columns) + 7) // 8, "little")
            rows.append(row)
        return spark.createDataFrame(pa.Table.from_pylist(rows, schema=event_schema(table)))

    return make


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """PySpark leaves its sockets to the garbage collector."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(
                pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
            )
