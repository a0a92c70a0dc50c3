"""One Spark session for all tests of this folder, and frames of changes made by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cdcwire_conformance.arrow.schema import CanonicalTable


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from cdcwire_conformance.spark import spark_session

    session = spark_session("local[2]", {"spark.sql.shuffle.partitions": "2"}, "cdcwire-tests")
    yield session
    session.stop()


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """PySpark leaves its sockets to the garbage collector."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(
                pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
            )
