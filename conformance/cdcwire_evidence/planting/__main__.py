"""The command line: judge many pairs on an engine, print a table, and fail if one was wrong."""

from __future__ import annotations

import argparse
import gc
import os
import pkgutil
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from importlib import import_module
from itertools import repeat
from typing import TYPE_CHECKING

from cdcwire_conformance.compare.embedded.engine import compare_feeds
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.compare.feeds import compare_feeds as compare_on
from cdcwire_conformance.compare.result import Comparison
from cdcwire_conformance.compare.rules import CompareOptions
from cdcwire_evidence.planting.judging import Compare
from cdcwire_evidence.planting.run import Tally, run, shares

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


_VERDICTS = ("found", "named", "refused", "missed", "equal", "alarm", "lossy")


def main(arguments: list[str] | None = None) -> int:
    """Judge pairs of every two formats. Returns: 1 with a miss or an alarm, else 0."""
    parser = argparse.ArgumentParser(
        prog="python -m cdcwire_evidence.planting",
        description="Plant differences into equal feeds, and check that compare finds each.",
    )
    parser.add_argument(
        "--pairs",
        type=int,
        default=2000,
        metavar="N",
        help="compare at least about N pairs, shared by all pairs of formats (default: 2000)",
    )
    parser.add_argument("--seed", type=int, default=1, help="choose other streams (default: 1)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: all cores)"
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="embedded",
        help="engine that compares (default: embedded); spark takes seconds per pair",
    )
    given = parser.parse_args(arguments)
    total = Tally()
    with ProcessPoolExecutor(max_workers=given.jobs, initializer=_load_all) as pool:
        formats, numbers = zip(*shares(given.pairs), strict=True)
        for each in pool.map(_share, formats, numbers, repeat(given.seed), repeat(given.engine)):
            total.join(each)
    print(table_text(total))
    for line in reasons_lines(total):
        print(line)
    for finding in total.findings:
        print(ascii(finding).strip("'"), file=sys.stderr)
    wrong = total.count("missed") + total.count("alarm")
    print(f"{total.pairs - wrong} passed, {wrong} failed")
    return 1 if wrong or not total.pairs else 0


def _load_all() -> None:
    """Import all that can be imported here.

    Hypothesis draws constants of loaded modules. Without this, the pairs of a seed would depend on
    what other shares of this process have used.
    """
    for package in ("cdcwire", "cdcwire_conformance", "cdcwire_generators"):
        for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not found.name.endswith(".__main__"):
                with suppress(ImportError):  # an extra is not installed
                    import_module(found.name)


def _share(formats: tuple[str, str], pairs: int, seed: int, engine: str) -> Tally:
    return run(formats, pairs, seed_of_run=seed, compare=compare_of(engine))


def table_text(total: Tally) -> str:
    """Return the verdicts by kind of plant as a table."""
    lines = ["".join((f"{'planted':24}", *(f"{verdict:>9}" for verdict in _VERDICTS)))]
    for kind in sorted({kind for kind, _ in total.verdicts}):
        numbers = (f"{total.verdicts[kind, verdict]:>9}" for verdict in _VERDICTS)
        lines.append("".join((f"{kind:24}", *numbers)))
    return "\n".join(lines)


def reasons_lines(total: Tally) -> list[str]:
    """Return how many streams were judged, and why pairs were not, most frequent first."""
    lines = [f"{total.judged} of {total.streams} streams judged"]
    for (verdict, reason), number in total.reasons.most_common():
        lines.append(f"{number:>6} {verdict}: {ascii(reason)[1:-1]}")
    if total.reasons:
        lines[0] += "; in place of each of these pairs, another pair of its stream:"
    return lines


if __name__ == "__main__":
    sys.exit(main())
