"""The cost per row of a comparison, from 100,000 rows to 10,000,000, and its memory.

Run as ``python -m benchmarks.spark_curve --feeds DIR [--rows 100000 --rows 1000000 …]``, with feeds
that ``python -m benchmarks.large_feeds`` has made; needs the extras ``spark`` and, for ``--picture
FILE``, ``size``. Each size is compared by itself, ``craft`` against ``open-protocol``, on a
standalone Spark cluster with one worker of two cores. So the driver is a process that decodes
nothing, and its memory can be measured. All processor time counts: the driver's, that of its Java,
and of the cluster with its Python workers. Before each size the first 100,000 rows are compared,
unmeasured, so that Java has warmed up.

``--partitions N`` sets how many parts a shuffle has, in place of Spark's 200. ``--add FILE`` takes
results of an earlier run into the document and the picture; without ``--rows`` these are all.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.document import Result, finish
from benchmarks.large_feeds import FORMATS, first_parts
from benchmarks.spark_compare import java_mib
from benchmarks.spark_decode import processor_seconds
from cdcwire.extras import load_extra
from cdcwire_conformance.compare.feed import ComparedFeed
from cdcwire_conformance.sources.source_urls import Source, source_of_folder
from cdcwire_conformance.spark import spark_session
from cdcwire_conformance.spark.compare.engine import compare_feeds
from cdcwire_evidence.scenarios.cluster import Cluster, command_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIZES = (100_000, 300_000, 1_000_000)
WARM_UP = 100_000
CORES = 2
EXECUTOR_MIB, DRIVER_MIB = 1024, 512
MAX_GROWTH = 1.15  # of the cost of a row, against the smallest size from a million on
MAX_DRIVER_GROWTH_MIB = 32.0
BIG = 1_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    folder: Path
    rows: int
    partitions: int | None


@dataclass(frozen=True, slots=True)
class Point:
    """What one comparison took. Memory is the peak in MiB, if not said otherwise."""

    rows: int
    partitions: int | None
    cpu_us_a_row: float
    wall_s: float
    driver_python: float
    driver_java: float
    driver_java_kept: float
    executor_java: float
    largest_python_worker: float
    feeds: float


def main(argv: Sequence[str] | None = None) -> int:
    given = _arguments(argv)
    points = [Point(**each) for file in given.add for each in _points_in(file)]
    for rows in given.rows or (() if given.add else SIZES):
        plan = Plan(given.feeds, rows, given.partitions)
        # In a process of its own, so that each size has its own peaks of memory.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            points.append(pool.submit(measure, plan).result())
        print(json.dumps(asdict(points[-1])), file=sys.stderr, flush=True)
    points.sort(key=lambda point: point.rows)
    print(table_of(points), end="\n\n")
    if given.picture is not None:
        draw(points, given.picture)
    return finish("spark_curve", results_of(points), given)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure comparisons of growing size.")
    parser.add_argument("--feeds", type=Path, required=True, metavar="DIR")
    parser.add_argument("--rows", type=int, action="append", metavar="N")
    parser.add_argument("--partitions", type=int, metavar="N", help="of a shuffle")
    parser.add_argument("--add", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw an SVG or PNG")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the document there too")
    given = parser.parse_args(argv)
    given.quick = False
    return given


def _points_in(file: Path) -> Iterable[dict[str, Any]]:
    return (each["details"] for each in json.loads(file.read_text())["results"] if each["details"])


def measure(plan: Plan) -> Point:
    """Compare N rows on a cluster that this process starts."""
    sources = [source_of_folder(name, plan.folder / name) for name in FORMATS]
    settings = {
        "spark.executor.memory": f"{EXECUTOR_MIB}m",
        "spark.driver.memory": f"{DRIVER_MIB}m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    if plan.partitions is not None:
        settings["spark.sql.shuffle.partitions"] = str(plan.partitions)
    with tempfile.TemporaryDirectory() as folder:
        paths = os.pathsep.join(path for path in sys.path if path)
        cluster = Cluster(
            Path(folder),
            Path(sys.executable),
            workers=1,
            cores=CORES,
            memory=2 * EXECUTOR_MIB,
            others={"PYTHONPATH": paths},
        )
        try:
            cluster.start()
            spark = spark_session(cluster.master, settings)
            _compare(spark, [first_parts(source, WARM_UP) for source in sources], WARM_UP)
            chosen = [first_parts(source, plan.rows) for source in sources]
            cpu, wall = processor_seconds(), time.monotonic()
            _compare(spark, chosen, plan.rows)
            cpu, wall = processor_seconds() - cpu, time.monotonic() - wall
            peaks = [(command_of(pid), peak_mib(pid)) for pid in descendants(os.getpid())]
            files = sum(Path(file).stat().st_size for each in chosen for file in each.files)
            point = Point(
                plan.rows,
                plan.partitions,
                round(cpu / plan.rows * 1e6, 1),
                round(wall, 1),
                round(peak_mib(os.getpid())),
                round(max(mib for command, mib in peaks if b"SparkSubmit" in command)),
                round(java_mib(spark), 1),
                round(max(mib for command, mib in peaks if b"CoarseGrainedExec" in command)),
                round(max((mib for command, mib in peaks if b"pyspark.daemon" in command))),
                round(files / (1 << 20)),
            )
            spark.stop()
            return point
        finally:
            cluster.stop()


def _compare(spark: SparkSession, sources: Sequence[Source], rows: int) -> None:
    """Compare two feeds, and check that they are equal and have N changes."""
    found = compare_feeds(spark, ComparedFeed(sources[0]), ComparedFeed(sources[1]))
    (counts,) = (each.counts for each in found.tables)
    assert counts is not None
    assert counts.left_rows == counts.right_rows == counts.same == rows, counts


def descendants(pid: int) -> set[int]:
    """Return all processes below one."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue  # it has ended
        parents[int(folder.name)] = int(fields[1])
    found, new = set[int](), {pid}
    while new := {child for child, parent in parents.items() if parent in new}:
        found |= new
    return found


def peak_mib(pid: int) -> float:
    """Return the most memory that a process had; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    status = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(status.get("VmHWM", "0 kB").split()[0]) / 1024


def results_of(points: Sequence[Point]) -> list[Result]:
    """Return a result a point, and two about what grows."""
    results = [
        Result(
            f"{point.rows} {point.partitions or ''}".strip(),
            f"comparing {point.rows:,} rows, CPU a row",
            point.cpu_us_a_row,
            "us",
            details=asdict(point),
        )
        for point in points
    ]
    plain = [point for point in points if point.partitions is None]
    if len({point.rows for point in plain}) > 1:
        first, last = plain[0], plain[-1]
        base = next((point for point in plain[:-1] if point.rows >= BIG), first)
        sizes = f"{last.rows:,} rows"
        results.append(
            Result(
                "growth",
                f"cost of a row at {sizes} over that at {base.rows:,}",
                round(last.cpu_us_a_row / base.cpu_us_a_row, 3),
                "x",
                MAX_GROWTH,
                is_least=False,
            )
        )
        results.append(
            Result(
                "driver",
                f"what the driver's Java keeps and its Python's peak, {sizes} less {first.rows:,}",
                round(_driver(last) - _driver(first), 1),
                "MiB",
                MAX_DRIVER_GROWTH_MIB,
                is_least=False,
            )
        )
    return results


def _driver(point: Point) -> float:
    return point.driver_java_kept + point.driver_python


def table_of(points: Iterable[Point]) -> str:
    """Return the points as the page about Spark shows them."""
    lines = [
        "| rows of each side | Parquet, MiB | CPU us a row | minutes "
        "| driver: Python, Java's heap | executor: Java, a Python worker |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for point in points:
        lines.append(
            f"| {point.rows:,} | {point.feeds:,.0f} | {point.cpu_us_a_row:.0f} "
            f"| {point.wall_s / 60:.1f} | {point.driver_python:.0f}, {point.driver_java_kept:.0f} "
            f"| {point.executor_java:,.0f}, {point.largest_python_worker:.0f} |"
        )
    return "\n".join(lines)


def draw(points: Sequence[Point], file: Path) -> None:
    """Draw the cost of a row and the memory over the size, on log axes with labels at the lines."""
    purpose = "drawing a picture"
    matplotlib: Any = load_extra("matplotlib", "size", purpose)
    figures: Any = load_extra("matplotlib.figure", "size", purpose)
    settings = {
        **matplotlib.rcParamsDefault,
        "svg.hashsalt": "cdcwire",
        "svg.fonttype": "path",
        "font.family": "DejaVu Sans",
        "font.size": 8.5,
    }
    plain = [point for point in points if point.partitions is None]
    rows = [point.rows for point in plain]
    panels = (
        ("CPU per row, µs", [("", "#1b6ca8", [p.cpu_us_a_row for p in plain])]),
        (
            "Memory, MiB",
            [
                ("driver: Python, peak", "#1b6ca8", [p.driver_python for p in plain]),
                ("driver: Java's heap, kept", "#4f9ac9", [p.driver_java_kept for p in plain]),
                ("executor: Java, peak", "#c96a1b", [p.executor_java for p in plain]),
                ("executor: one Python worker, peak", "#4d8a40", _workers(plain)),
            ],
        ),
    )
    with matplotlib.rc_context(settings):
        figure = figures.Figure(figsize=(8.4, 3.4), layout="constrained")
        for axes, (title, lines) in zip(figure.subplots(1, 2), panels, strict=True):
            for label, color, values in lines:
                axes.plot(rows, values, marker="o", ms=4, color=color)
                for x, y in zip(rows, values, strict=True):
                    above = {"xytext": (0, 5), "textcoords": "offset points", "ha": "center"}
                    axes.annotate(f"{y:,.0f}", (x, y), color=color, **above)
                after = {"xytext": (16, -3), "textcoords": "offset points"}
                axes.annotate(label, (rows[-1], values[-1]), color=color, **after)
            axes.set_xscale("log")
            axes.set_yscale("log")
            low = min(min(values) for _, _, values in lines)
            high = max(max(values) for _, _, values in lines)
            axes.set_ylim(low / 2, high * 2)
            axes.set_xlim(rows[0] / 2, rows[-1] * 2)
            axes.set_xticks(rows, [f"{each:,}" for each in rows])
            axes.set_yticks([])
            axes.minorticks_off()
            axes.set_title(title, loc="left", color="#222222")
            axes.set_xlabel("rows per side")
            for side in ("top", "right", "left"):
                axes.spines[side].set_visible(False)
        metadata = {"Date": None} if file.suffix.lower() == ".svg" else {"Software": None}
        figure.savefig(file, dpi=150, metadata=metadata, facecolor="white")


def _workers(points: Iterable[Point]) -> list[float]:
    return [point.largest_python_worker for point in points]


if __name__ == "__main__":
    sys.exit(main())
