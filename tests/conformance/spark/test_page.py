"""The page for Spark's users: its example runs, and its tables of types are true."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import from_arrow_schema

from cdcwire.arrow import building
from cdcwire.arrow.schema import CanonicalTable, event_schema
from cdcwire.arrow.types import UTC, Profile, SchemaError, Temporal, arrow_type
from cdcwire.model.kind_text import parse_kind
from cdcwire.model.kinds import TimestampType
from cdcwire_conformance.cli import main
from cdcwire_conformance.decode.reading import CLAUSE_MESSAGES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHECKOUT = Path(__file__).parents[3]
PAGE = (CHECKOUT / "docs" / "how-to" / "spark.md").read_text("utf-8")


def rows_of(heading: str) -> Iterator[list[str]]:
    """Yield the cells of the rows of the first table after a text."""
    lines = PAGE[PAGE.index(heading) :].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("| ---"))
    for line in lines[start + 1 :]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").replace("\\<", "<").split("|")]


def spark_type(kind: str, temporal: Temporal = "text", profile: Profile | None = None) -> str:
    found = pa.schema([("c", arrow_type(parse_kind(kind), temporal, profile))])
    return str(from_arrow_schema(found, prefer_timestamp_ntz=True)["c"].dataType.simpleString())


def test_types_are_those_of_the_table() -> None:
    shown = {cells[0].strip("`"): cells[2] for cells in rows_of("## The types")}
    assert len(shown) > 35
    assert shown == {kind: spark_type(kind) for kind in shown}


def test_native_types_are_those_of_the_table() -> None:
    shown = {c[0].strip("`"): c[1].partition(";")[0] for c in rows_of('`temporal="native"` gives')}
    assert shown == {kind: spark_type(kind, "native") for kind in shown}
    assert arrow_type(TimestampType(zone=UTC), "native") == pa.timestamp("us", "UTC")


def test_flink_types_are_those_of_the_table() -> None:
    shown = {cells[0].strip("`"): cells[1] for cells in rows_of('`profile="flink"` gives')}
    assert shown.pop("decimal") == ""
    with pytest.raises(SchemaError):
        spark_type("decimal", profile="flink")
    assert shown == {kind: spark_type(kind, profile="flink") for kind in shown}


def test_columns_are_those_of_the_table() -> None:
    shown = [name for c in rows_of("## The columns") for name in re.findall(r"`(\w+)`", c[0])]
    assert set(shown) == set(event_schema(CanonicalTable(None, "t", ())).names)


def test_clauses_of_the_page_are_those_of_errors() -> None:
    shown = {c[0].strip("`") for c in rows_of("This page defines these clauses:")}
    known = {value for name, value in vars(building).items() if name.startswith("CLAUSE_")}
    assert shown == known | {CLAUSE_MESSAGES}


def test_example_runs(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    case = CHECKOUT / "golden" / "craft-proposal" / "document" / "test-flink-ddl.json"
    ddl = json.loads(case.read_text("utf-8"))["events"][0]["query"]
    (tmp_path / "tables.sql").write_text(f"USE test;\n{ddl};\n")
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "craft", "--rows", "300", "--to", "feed-craft"]) == 0
    capsys.readouterr()
    example = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert example is not None
    exec(compile(example[1], "spark.md", "exec"), {})
    said = capsys.readouterr().out
    assert said.startswith("test.test_flink 300\n")
    assert re.search(r"\|insert\| +\d+\|", said)
