"""Write rows, as JSON on standard input, to a table: ``write_table.py delta|iceberg DIRECTORY``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cdcwire_conformance.spark.jars import with_connectors
from cdcwire_conformance.spark.session import spark_session

SCHEMA = "id bigint, userName string, price string, made string, doc string"


def main(kind: str, folder: Path) -> None:
    # Iceberg makes a table in a catalog; this one has a directory for each table.
    catalog = {
        "spark.sql.catalog.local": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.local.type": "hadoop",
        "spark.sql.catalog.local.warehouse": str(folder.parent.parent),
    }
    settings = with_connectors(catalog if kind == "iceberg" else {}, [kind])
    with spark_session("local[1]", settings) as spark:
        rows = spark.createDataFrame([tuple(row) for row in json.load(sys.stdin)], SCHEMA)
        rows = rows.withColumn("price", rows.price.cast("decimal(10,2)"))
        rows = rows.withColumn("made", rows.made.cast("timestamp_ntz"))
        if kind == "iceberg":
            rows.writeTo(f"local.{folder.parent.name}.{folder.name}").create()
        else:
            rows.write.format(kind).save(str(folder))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
