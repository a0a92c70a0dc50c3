"""The cost of reading a storage prefix in a bucket in Spark, against the same files on disk.

Run as ``CDCWIRE_S3=http://KEY:SECRET@HOST:PORT python -m benchmarks.spark_buckets [--quick]
[--json FILE]``: a store, in which it makes a bucket that stays. Needs the extras ``spark`` and
``scenarios``. 200,000 changes of the 10-column table (``--quick``: 20,000) as CSV, in the files
that the storage sink makes of them. All processor time counts, but not the store's. Both places
take turns, after a first turn that warms Java up, and the best of each counts.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.document import Result, arguments, finish
from benchmarks.spark_decode import processor_seconds
from cdcwire.core.context import Context
from cdcwire.files.stores import open_store
from cdcwire_conformance.sources.storage.writing import PrefixWriter, write_prefix
from cdcwire_conformance.spark import (
    decode_frame,
    describe_feed,
    open_source,
    parse_source,
    spark_session,
)
from cdcwire_conformance.spark.jars import with_connectors
from cdcwire_evidence.scenarios.everywhere import make_bucket, name_of, s3_client
from cdcwire_evidence.scenarios.services import given_store
from cdcwire_generators.workloads import workload

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKLOAD = "orders-10"
SEED = 3
ROWS, ROWS_QUICK = 200_000, 20_000
ROUNDS = 3
MASTER = "local[2]"
CONTEXT = Context({"include-commit-ts": True})


@dataclass(frozen=True, slots=True)
class Taken:
    """CPU seconds. ``opening``: listing, schema files, and one scan of all data files."""

    opening: float
    decoding: float
    files: int


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure a prefix in a bucket against the same one on disk.", argv)
    store = given_store()
    if store is None:
        print("spark_buckets: no store is given: CDCWIRE_S3=http://KEY:SECRET@…", file=sys.stderr)
        return 2
    os.environ.update(store.environment)
    rows = ROWS_QUICK if given.quick else ROWS
    bucket = make_bucket(f"buckets-{secrets.token_hex(4)}")
    with tempfile.TemporaryDirectory() as folder:
        write_prefix(
            PrefixWriter(open_store(folder), "csv", CONTEXT), workload(WORKLOAD, rows, SEED)
        )
        client = s3_client()
        for file in filter(Path.is_file, Path(folder).rglob("*")):
            client.upload_file(str(file), name_of(bucket), file.relative_to(folder).as_posix())
        settings = with_connectors({"spark.sql.shuffle.partitions": "2"}, ["s3a"])
        spark = spark_session(MASTER, settings)
        places = {"disk": f"csv:file:{folder}", "bucket": f"csv:s3a://{name_of(bucket)}"}
        taken: dict[str, list[Taken]] = {name: [] for name in places}
        for _ in range(1 + ROUNDS):
            for name, text in places.items():
                taken[name].append(read(spark, text, rows))
    return finish("spark_buckets", results_of(taken["disk"][1:], taken["bucket"][1:]), given)


def read(spark: SparkSession, text: str, rows: int) -> Taken:
    """Open a prefix and decode its table to nowhere."""
    start = processor_seconds()
    opened = open_source(spark, parse_source(text), CONTEXT)
    (found,) = describe_feed(spark, opened)
    assert found.rows == rows, found.rows
    middle = processor_seconds()
    decode_frame(spark, opened, found.table).write.format("noop").mode("overwrite").save()
    assert opened.prefix is not None
    return Taken(middle - start, processor_seconds() - middle, len(opened.prefix.files))


def results_of(disk: Sequence[Taken], bucket: Sequence[Taken]) -> list[Result]:
    """Return what each pass takes, and what a file in a bucket takes more."""
    results, files = [], bucket[0].files
    for part, title in (("opening", "opening a prefix"), ("decoding", "decoding its table")):
        on_disk, in_bucket = (
            min(getattr(each, part) for each in taken) for taken in (disk, bucket)
        )
        more = (in_bucket - on_disk) / files * 1e3
        results += [
            Result(f"{part}/disk", f"{title} of {files} files on disk, CPU", on_disk, "s"),
            Result(f"{part}/bucket", f"{title} of {files} files in a bucket, CPU", in_bucket, "s"),
            Result(f"{part}/file", f"{title}: a file in a bucket more, CPU", more, "ms"),
        ]
    return results


if __name__ == "__main__":
    sys.exit(main())
