"""How long a storage prefix takes to list, order and check, and how much memory, by its files.

    python -m benchmarks.storage_prefix [--files 1000 10000] [--rows 10 100] [--format canal-json]

A prefix is written into a temporary directory for each number of files and of rows in a file. Each
step runs in a separate process, and its peak of resident memory is reported (on Linux). The line
"nothing" shows the memory of a process that does nothing.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from cdcwire.core.context import Context
from cdcwire.files.prefix import list_prefix
from cdcwire.files.prefix_events import read_events
from cdcwire.files.stores import LocalStore
from cdcwire.model.events import RowChange
from cdcwire.registry import get_format
from cdcwire_conformance.sources.storage.checking import check_prefix
from cdcwire_conformance.sources.storage.writing import PrefixWriter
from cdcwire_generators.workloads import workload, workload_tables

OPTIONS = {
    "csv": {"include-commit-ts": True},
    "canal-json": {"enable-tidb-extension": True},
}
WORKLOAD = "orders-10"
ROW_BYTES = {"csv": 150, "canal-json": 1100}  # about


def write(folder: Path, format_name: str, files: int, rows: int) -> None:
    """Write a prefix of about N files with about M rows each."""
    options = dict(OPTIONS[format_name], **{"file-size": ROW_BYTES[format_name] * rows})
    context = Context(options, workload_tables(WORKLOAD))
    writer = PrefixWriter(LocalStore(folder), format_name, context)
    written = 0
    for event in workload(WORKLOAD, sys.maxsize, 1):
        writer.write(event)
        written += isinstance(event, RowChange)
        if written % 1000 == 0 and sum(1 for _ in folder.glob("*/*/*/*/CDC*")) >= files:
            break
    writer.close()


def nothing(folder: Path, format_name: str) -> int:
    return 0


def ordered(folder: Path, format_name: str) -> int:
    return len(
        list_prefix(
            LocalStore(folder), get_format(format_name), Context(OPTIONS[format_name])
        ).files
    )


def read(folder: Path, format_name: str) -> int:
    place, options = LocalStore(folder), OPTIONS[format_name]
    prefix = list_prefix(place, get_format(format_name), Context(options))
    return sum(1 for _ in read_events(place, prefix, Context(options), print))


def checked(folder: Path, format_name: str) -> int:
    found = check_prefix(LocalStore(folder), format_name, Context(OPTIONS[format_name]))
    assert not found.faults, found.faults[0]
    return found.rows


STEPS: dict[str, Callable[[Path, str], int]] = {
    "nothing": nothing,
    "list and order": ordered,
    "read": read,
    "check": checked,
}


def run_step(step: str, folder: str, format_name: str) -> None:
    start, cpu_start = time.perf_counter(), time.process_time()
    count = STEPS[step](Path(folder), format_name)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    print(json.dumps({"seconds": seconds, "cpu": cpu, "peak": peak_mib(), "count": count}))


def peak_mib() -> float:
    """Return the peak of this process alone; on Linux, getrusage counts its parent's too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise OSError("this system does not report the peak memory of a process")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--rows", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--format", choices=tuple(OPTIONS), default="csv")
    parser.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        run_step(*arguments.step)
        return
    print(f"{arguments.format}, {WORKLOAD}, Python {platform.python_version()}")
    titles = f"{'step':<16}{'seconds':>8} {'cpu':>7} {'peak MiB':>9}"
    print(f"{'files':>8} {'rows':>10} {'MB':>7}  {titles}")
    for rows in arguments.rows:
        for files in arguments.files:
            measure(arguments.format, files, rows)


def measure(format_name: str, files: int, rows: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="storage-prefix-"))
    try:
        write(folder, format_name, files, rows)
        sizes = [file.stat().st_size for file in folder.rglob("CDC*") if file.suffix != ".index"]
        for step in STEPS:
            command = [sys.executable, __file__, "--step", step, str(folder), format_name]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            print(
                f"{len(sizes):>8,} {found['count']:>10,} {sum(sizes) / 1e6:>7.1f}  {step:<16}"
                f"{found['seconds']:>8.2f} {found['cpu']:>7.2f} {found['peak']:>9.1f}",
                flush=True,
            )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
