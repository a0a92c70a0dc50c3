"""The engines whose comparisons are tested, by name."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.feeds import compare_feeds as compare_on
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_evidence.planting.judging import Compare

if TYPE_CHECKING:
    from cdcwire_conformance.spark.compare.engine import SparkEngine

ENGINES = ("embedded", "spark")
# The feeds have a few rows: to compile a query well takes longer than to run it.
_SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}
_COLLECTED_EVERY = 20  # comparisons: Java keeps the plans of frames that Python has not collected


def compare_of(engine: str) -> Compare:
    """Return what compares two feeds on an engine. Spark's session is the one of this process.

    Spark compares each table in buckets of its keys, as it does large tables.
    Raises: MissingExtraError; SparkUnavailable.
    """
    if engine == "embedded":
        return compare_feeds
    from cdcwire_conformance.spark import spark_session
    from cdcwire_conformance.spark.compare.engine import SparkEngine

    session = spark_session("local[1]", _SETTINGS, "cdcwire planting")
    return _OnSpark(SparkEngine(session, joins_small_tables=False))


class _OnSpark:
    """Compares on Spark, and raises the errors of its jobs as those of the feeds."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine
        self._done = 0

    def __call__(
        self, left: ComparedFeed, right: ComparedFeed, options: CompareOptions
    ) -> Comparison:
        from cdcwire_conformance.spark.session import readable_errors

        self._done += 1
        if self._done % _COLLECTED_EVERY == 0:
            gc.collect()
        with readable_errors():
            return compare_on(self._engine, left, right, options)
