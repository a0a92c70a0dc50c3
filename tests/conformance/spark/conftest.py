"""One Spark session for all tests of this folder, the command, frames by hand, and prefixes."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cdcwire.core.context import Context
from cdcwire.core.message import StoredFile
from cdcwire.model.events import Event, Position, RowChange, SchemaChange, Table
from cdcwire.mysql.ddl import schema_change_kind
from cdcwire.registry import get_format
from cdcwire.storage.metadata import write_metadata
from cdcwire.storage.paths import DataPath, PathLayout, parse_path, path_text
from cdcwire_conformance.cli import main
from cdcwire_conformance.ddl import parse_ddl
from cdcwire_generators.workloads import table_workload

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from cdcwire_conformance.arrow.schema import CanonicalTable
    from cdcwire_conformance.compare.result import TableComparison


_SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    # Each query runs on a few rows: to compile it well takes longer than to run it.
    "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from cdcwire_conformance.spark import spark_session

    session = spark_session("local[2]", _SETTINGS, "cdcwire-tests")
    yield session
    session.stop()


@pytest.fixture(scope="session", autouse=True)
def collected_soon() -> None:
    """Let Python collect what tests leave without looking at all that was imported."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Java keeps the plans of all frames that Python has not collected, until its heap is full."""
    yield
    gc.collect()


@pytest.fixture
def compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, dict[str, Any]]]:
    """Run the command on Spark. Returns: its exit code, its text, and its validated JSON document.

    The queries of a table have to give what the embedded engine gives. Where that does not read the
    feeds, Spark's one job for small tables has to, which runs it in the workers.
    """
    jsonschema = pytest.importorskip("jsonschema", reason="needs the extra check")
    from cdcwire_conformance.compare.document import schema
    from cdcwire_conformance.spark.compare import small_tables

    def run(*arguments: str) -> tuple[int, str, dict[str, Any]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(small_tables, "SMALL_TABLE_ROWS", -1)
            found = run_on("spark", *arguments)
        if "--differences" in arguments:
            if found[0] != 2:
                check_differences(arguments, found)
            return found
        other = run_on("embedded", *arguments)
        if "--engine embedded: " in other[1]:
            other = run_on("spark", *arguments)
        assert _without_engine(other) == _without_engine(found)
        return found

    def check_differences(
        arguments: tuple[str, ...], found: tuple[int, str, dict[str, Any]]
    ) -> None:
        place = arguments.index("--differences") + 1
        folder = str(tmp_path / "differences of small tables")
        in_one_job = run_on("spark", *arguments[:place], folder, *arguments[place + 1 :])
        assert _without_engine(in_one_job) == _without_engine(found)
        assert _difference_rows(folder) == _difference_rows(arguments[place])

    def run_on(engine: str, *arguments: str) -> tuple[int, str, dict[str, Any]]:
        file = tmp_path / "found.json"
        file.unlink(missing_ok=True)
        code = main(["compare", *arguments, "--json", str(file), "--engine", engine])
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


def _difference_rows(folder: str) -> list[str]:
    """Return all rows of a folder of differences, without the numbers of the differences."""
    import pyarrow.parquet as pq

    rows = pq.read_table(folder).drop_columns("difference").to_pylist()
    return sorted(map(json.dumps, rows))


def _without_engine(run: tuple[int, str, dict[str, Any]]) -> tuple[int, str, dict[str, Any]]:
    """Return a result without what engines may do differently: the order of equal ranks."""
    code, _, document = run
    if not document:
        return run
    kept = {k: v for k, v in document.items() if k not in ("engine", "exact", "seconds")}
    kept["record"] = {side: document["record"][side] for side in ("left", "right")}
    tables = []
    for table in document["tables"]:
        patterns = ({**each, "examples": []} for each in table["patterns"])
        sorted_parts = {
            "differences": sorted(table["differences"], key=json.dumps),
            "patterns": sorted(patterns, key=json.dumps),
        }
        tables.append({**table, **sorted_parts})
    return code, "", {**kept, "tables": tables}


@pytest.fixture(scope="module", autouse=True)
def both_engines(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compare frames with the embedded engine too, and check that it gives the same."""
    compare_frames = getattr(request.module, "compare_frames", None)
    if compare_frames is None:
        yield
        return
    from cdcwire_conformance.arrow.schema import event_schema
    from cdcwire_conformance.compare.embedded.tables import TableSides, compare_batches
    from cdcwire_conformance.compare.rules import DEFAULT_LIMIT, CompareOptions, ComparisonRules

    def compared(
        left: DataFrame,
        right: DataFrame,
        table: CanonicalTable,
        rules: ComparisonRules = ComparisonRules(),  # noqa: B008
        **others: Any,
    ) -> TableComparison:
        found: TableComparison = compare_frames(left, right, table, rules, **others)
        image: Any = left.schema["after"].dataType
        if found.counts is None or image.names != list(table.column_names):
            return found
        dropped = [name for name, _ in found.left_out]
        sides = [_batches(each.drop(*dropped), event_schema(table)) for each in (left, right)]
        options = CompareOptions(
            limit=others.get("limit", DEFAULT_LIMIT),
            window=others.get("window"),
            order=others.get("order", True),
        )
        image = sides[0][0].schema.field("after").type
        embedded = compare_batches(TableSides(table, image, sides[0], sides[1]), rules, options)
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
