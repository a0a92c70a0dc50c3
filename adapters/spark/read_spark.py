"""Spark's from_avro as a testee: a local session, and a query for each key and value.

    mvn -q -f adapters/spark package          # fetches the jar of spark-avro
    cdcwire verify avro --no-derived --timeout 120 -- python adapters/spark/read_spark.py

FAILFAST, which is the default, makes what can't be read an error; PERMISSIVE makes it a row of
NULLs. Bytes behind the record are not looked for. Decimals have 38 digits at most, and a schema
with more of them is refused as a whole. In a string, what is not UTF-8 is replaced when it comes to
Python.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

import pyspark  # noqa: E402
from avro_data import Datum, Record  # noqa: E402
from py4j.protocol import Py4JError  # noqa: E402
from pyspark.errors import PySparkException  # noqa: E402
from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from pyspark.sql.avro.functions import from_avro  # noqa: E402
from pyspark.sql.functions import lit  # noqa: E402
from testee import serve  # noqa: E402
from ticdc_avro import WITHOUT, decoder  # noqa: E402

JAR = HERE / "build" / "spark-avro_2.13.jar"
SETTINGS = {
    "spark.jars": str(JAR),
    "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "OFF",
}


@cache
def session() -> SparkSession:
    """Return the session, started by the first question: it takes its time."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[1]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@cache
def one_row() -> DataFrame:
    """Return a row of constants: Spark evaluates a query on it without a job."""
    return session().sql("SELECT * FROM VALUES (0)")


def read(datum: Datum) -> Record:
    """Return the record, as a dictionary."""
    record = from_avro(lit(bytearray(datum.data)), datum.schema, {"mode": "FAILFAST"})
    (row,) = one_row().select(record.alias("record")).collect()
    found: Record = row.record.asDict(recursive=True)
    return found


if __name__ == "__main__":
    if not JAR.exists():
        sys.exit(f"Error: {JAR.name} is not here: mvn -q -f adapters/spark package")
    session()
    serve(
        "Spark from_avro",
        pyspark.__version__,
        "avro",
        decoder(read),
        rejections=(
            PySparkException,
            Py4JError,
            ValueError,
            TypeError,
            LookupError,
            RecursionError,
        ),
        without=WITHOUT,
    )
