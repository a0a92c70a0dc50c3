"""How long `cdcwire explain` takes to its first line, and its memory against the size of a message.

Run as ``python -m benchmarks.explain [--quick] [--json FILE]``. The command runs as a process. The
memory is what the process needs above that of a message of one row. The whole message is decoded
before the first line, which shows the error, if there is one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.document import Result, arguments, finish
from cdcwire.core.format import Context
from cdcwire.core.message import KafkaMessage
from cdcwire.core.options import OptionValue
from cdcwire.core.registry import get_format
from cdcwire.model.text import table_to_json
from cdcwire_generators.workloads import workload, workload_tables

WORKLOAD = "orders-10"
MIB = 1 << 20
MAX_MEMORY = 10.0  # times the size of the message
ROWS = 256  # different ones; a message repeats them
LARGE = {"max-batch-size": 1 << 30, "max-message-bytes": 1 << 30}
OPTIONS: dict[str, dict[str, OptionValue]] = {
    "craft": {**LARGE},
    "open-protocol": {**LARGE},
    "csv": {"file-size": 1 << 30},
}


@dataclass(frozen=True)
class Run:
    """One run of the command: seconds to the first line and to the end, and its peak memory."""

    first: float
    whole: float
    peak: int


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure cdcwire explain.", argv)
    size = (1 if given.quick else 10) * MIB
    results: list[Result] = []
    for name in OPTIONS:
        with tempfile.TemporaryDirectory() as folder:
            small, row_size = explained(name, Path(folder), 1)
            large, size_now = explained(name, Path(folder), size // row_size)
        memory = (large.peak - small.peak) / size_now
        workload_name = f"{name}, {size_now / MIB:.1f} MiB in one message"
        details = {
            "seconds to the first line": round(large.first, 2),
            "seconds": round(large.whole, 2),
            "seconds to the first line of one row": round(small.first, 2),
            "peak MiB": round(large.peak / MIB, 1),
        }
        results += [
            Result(
                f"memory/{name}",
                "explain, memory against the size of the message",
                round(memory, 2),
                "x",
                MAX_MEMORY,
                is_least=False,
                workload=workload_name,
                details=details,
            ),
            Result(
                f"first/{name}",
                "explain, time to the first line against all of it",
                round(large.first / large.whole, 3),
                "x",
                is_least=False,
                workload=workload_name,
                details=details,
            ),
        ]
    return finish("explain", results, given)


def explained(name: str, folder: Path, rows: int) -> tuple[Run, int]:
    """Explain one message of some rows. Returns: the run, and the size of the message."""
    different = list(workload(WORKLOAD, min(rows, ROWS), 1, inserts_only=True))
    events = different * (rows // len(different))
    tables = workload_tables(WORKLOAD)
    context = Context(options=OPTIONS[name], tables=tables)
    (message,) = get_format(name).from_events(events, context=context)
    value = folder / "message.bin"
    value.write_bytes(message.value or b"")
    words = [sys.executable, "-m", "cdcwire_conformance", "explain", name, str(value)]
    if isinstance(message, KafkaMessage) and message.key is not None:
        key = folder / "key.bin"
        key.write_bytes(message.key)
        words += ["--key", str(key)]
    definitions = folder / "tables.json"
    definitions.write_text(json.dumps(table_to_json(tables[0])), "utf-8")
    size = sum(each.stat().st_size for each in folder.glob("*.bin"))
    return measured([*words, "--tables", str(definitions)]), size


def measured(words: Sequence[str]) -> Run:
    began = time.monotonic()
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = time.monotonic() - began
        while process.stdout.read(MIB):
            pass
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"explain ended with {process.returncode}")
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1 << 10)
    return Run(first, time.monotonic() - began, peak)


if __name__ == "__main__":
    sys.exit(main())
