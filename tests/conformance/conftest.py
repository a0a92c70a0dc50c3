"""The command ``compare`` and the Spark session of all tests.

Tests that need the extra ``spark``, and Java, are left out where one is missing, and named as not
run.

Where the environment variable ``CDCWIRE_SPARK`` is ``required``, a missing part is an error.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cdcwire_conformance.cli import main

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from cdcwire.arrow.schema import CanonicalTable


def _missing() -> list[str]:
    missing = [name for name in ("pyarrow", "pyspark") if find_spec(name) is None]
    has_java = shutil.which("java") is not None or "JAVA_HOME" in os.environ
    return missing if has_java else [*missing, "java"]


_IS_NIGHTLY = os.environ.get("CDCWIRE_HYPOTHESIS", "quick") != "quick"
_MISSING = _missing()
_LEFT_OUT = [
    *(["decode", "compare"] if "pyarrow" in _MISSING else []),
    *(["spark"] if _MISSING else []),
]

if _MISSING and os.environ.get("CDCWIRE_SPARK") == "required":
    raise pytest.UsageError(f"CDCWIRE_SPARK=required, but there is no {', '.join(_MISSING)}")

collect_ignore = _LEFT_OUT


def pytest_report_header() -> str | None:
    if not _MISSING:
        return None
    folders = " and ".join(f"tests/conformance/{name}" for name in _LEFT_OUT)
    return f"not run: {folders}, without {', '.join(_MISSING)}"


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


@pytest.fixture(scope="session")
def changes_of_table() -> Callable[..., pa.Table]:
    """Make rows of changes. A change has op, ts, before and after; an image without a column has
    it absent; other members are columns of the rows."""
    import pyarrow as pa

    from cdcwire.arrow.schema import event_schema

    def make(table: CanonicalTable, changes: Iterable[Mapping[str, Any]]) -> pa.Table:
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
        return pa.Table.from_pylist(rows, schema=event_schema(table))

    return make


@pytest.fixture(scope="session")
def on_spark() -> bool:
    """Return True if Spark, which is installed then, compares tables of many cases too.

    They are rules, which the embedded engine shows: with Spark they are long tests.
    """
    return not _MISSING and (_IS_NIGHTLY or os.environ.get("CDCWIRE_LONG") == "all")


@pytest.fixture
def engines() -> tuple[str, ...]:
    """The engines of ``compare``. The nightly run has Spark too, where it is installed."""
    return ("embedded", "spark") if _IS_NIGHTLY and not _MISSING else ("embedded",)


@pytest.fixture
def compare(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    engines: tuple[str, ...],
    request: pytest.FixtureRequest,
) -> Callable[..., tuple[int, str, dict[str, Any]]]:
    """Run the command. Returns: its exit code, its text, and its validated JSON document.

    They are those of the first of ``engines``. If Spark is one of them, buckets of a table's
    keys have to give what the embedded engine gives. Where that does not read the feeds, they have
    to give what the whole table gives in a worker.
    """
    jsonschema = pytest.importorskip("jsonschema", reason="needs the extra check")
    from cdcwire_conformance.compare.document import schema

    if "spark" in engines:
        request.getfixturevalue("spark")

    def run(*arguments: str) -> tuple[int, str, dict[str, Any]]:
        if "spark" not in engines:
            return run_on("embedded", *arguments)
        from cdcwire_conformance.spark.compare import small_tables

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(small_tables, "SMALL_TABLE_ROWS", -1)
            found = run_on("spark", *arguments)
        if "--differences" in arguments:
            if found[0] != 2:
                check_differences(arguments, found)
            return found
        other = run_on("embedded", *arguments)
        is_read = "--engine embedded: " not in other[1]
        if not is_read:
            other = run_on("spark", *arguments)
        assert _without_engine(other) == _without_engine(found)
        return other if is_read and engines[0] == "embedded" else found

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """PySpark leaves its sockets to the garbage collector."""
    folder = Path(__file__).parent
    compare = folder / "compare"
    with_spark = (folder / "spark", compare / "feeds", compare / "changes")
    for item in items:
        if item.path.parent in with_spark:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(
                pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
            )
