"""How long the large commands take: generate, size, verify, and a comparison of large feeds.

Run as ``python -m benchmarks.commands [--quick] [--json FILE]``; needs the extras ``size`` and
``spark``. Each command is a process. ``generate`` writes 1,000,000 changes of the 29-column table
on one process, and its largest memory is read. ``verify`` judges the reference with all derived
cases. The comparison is that of two feeds of 10,000,000 changes, as ``benchmarks.large_feeds``
makes them. Seconds depend on the machine and on what else it does. ``--quick`` takes a part of the
work, so it has no goals.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.document import Result, arguments, finish
from benchmarks.large_feeds import FORMATS, Plan, make

GENERATED, GENERATED_QUICK = 1_000_000, 20_000
COMPARED = 10_000_000
WORKLOAD = "proposal-29"
MAX_GENERATE_S, MAX_SIZE_S, MAX_VERIFY_S, MAX_COMPARE_S = 60.0, 45.0, 60.0, 180.0
EXTRAS = {"matplotlib": "size", "pyspark": "spark"}


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a process: elapsed seconds, CPU seconds, and peak memory in MiB."""

    elapsed: float
    processor: float
    peak_mib: float


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure the large commands.", argv)
    for module, extra in EXTRAS.items():
        if importlib.util.find_spec(module) is None:
            sys.exit(f"not installed: {module}, extra {extra}")
    return finish("commands", list(measured(given.quick)), given)


def measured(quick: bool) -> Iterator[Result]:
    rows = GENERATED_QUICK if quick else GENERATED
    for name in FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            words = ["--workload", WORKLOAD, "--rows", str(rows), "--to", f"{folder}/feed", name]
            taken = command("generate", *words)
        what = f"`cdcwire generate {name}`, {rows:,} changes of 29 columns"
        yield seconds(f"{what}, CPU", taken.processor, taken, None if quick else MAX_GENERATE_S)
        yield Result(f"{what}, memory", f"{what}, peak memory", taken.peak_mib, "MiB", None, False)
    taken = command("size", *(["--rows", "256"] if quick else []))
    yield seconds("`cdcwire size`, CPU", taken.processor, taken, None if quick else MAX_SIZE_S)
    taken = command("verify", *(["--sample", "64"] if quick else []))
    what = "`cdcwire verify`, all cases of all formats, elapsed"
    yield seconds(what, taken.elapsed, taken, None if quick else MAX_VERIFY_S)
    if not quick:
        with tempfile.TemporaryDirectory() as folder:
            made = make(Plan(COMPARED, Path(folder)))
            left, right = (f"{name}:file:{folder}/{name}" for name in FORMATS)
            taken = command("compare", "--engine", "spark", left, right)
        what = f"comparing {COMPARED:,} changes, {' against '.join(FORMATS)}, elapsed"
        yield seconds(what, taken.elapsed, taken, MAX_COMPARE_S, {"making the feeds, CPU s": made})


def seconds(
    title: str,
    value: float,
    taken: Cost,
    bar: float | None,
    details: dict[str, float] | None = None,
) -> Result:
    both = {"elapsed s": taken.elapsed, "CPU s": taken.processor, **(details or {})}
    return Result(title, title, value, "s", bar, is_least=False, details=both)


def command(*words: str) -> Cost:
    """Run cdcwire, which has to succeed, and return its cost."""
    return cost_of("-m", "cdcwire_conformance", *words)


def cost_of(*words: str) -> Cost:
    """Run Python with these arguments, which has to succeed, and return its cost."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(words)} ended with {process.returncode}: {said[-500:]}")
    return Cost(
        round(time.monotonic() - began, 1),
        round(used.ru_utime + used.ru_stime, 1),
        round(used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1),
    )


if __name__ == "__main__":
    sys.exit(main())
