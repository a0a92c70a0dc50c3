"""``compare`` for notebooks, in a session of Spark that the notebook has."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from cdcwire_conformance.cli import main
from cdcwire_conformance.notebook import compare


def test_differences_of_spark_are_those_of_the_embedded_engine(
    spark: SparkSession, tmp_path: Path
) -> None:
    for name, rows in (("craft", 40), ("open-protocol", 37)):
        words = ("--rows", str(rows), "--workload", "orders-10", "--to", str(tmp_path / name))
        assert main(["generate", name, *words]) == 0
    feeds = [f"{name}:file:{tmp_path / name}" for name in ("craft", "open-protocol")]
    on_spark, here = (compare(*feeds, engine=engine) for engine in ("spark", "embedded"))
    assert on_spark.result.engine == "spark"
    frame = on_spark.differences
    assert isinstance(frame, DataFrame)
    found = {tuple(row.asDict().values()) for row in frame.drop("difference").collect()}
    expected = here.differences
    assert not isinstance(expected, DataFrame)
    columns = [name for name in frame.columns if name != "difference"]
    expected = expected[columns].astype(object).where(expected[columns].notna(), None)
    assert found == set(expected.itertuples(index=False, name=None))
    assert len(found) > 3
    assert spark.range(1).count() == 1  # the notebook's session goes on
