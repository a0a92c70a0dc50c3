"""How long imports take, beyond what Python itself takes to start.

Run as ``python -m benchmarks.import_time [--quick] [--json FILE]``. Each import is a separate
process; they take turns, and the least CPU time of each counts. Bytecode is compiled before.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.document import Result, arguments, finish

BARS = {"import cdcwire": 5.0, "from cdcwire import craft": 25.0}
# The first use of a name loads what it needs, so these show what a program waits for.
ALSO = (
    "from cdcwire import craft; craft.decode",
    "from cdcwire import Decoder; Decoder('craft')",
    "from cdcwire import Decoder; Decoder('open-protocol')",
    "from cdcwire import Decoder; Decoder('debezium-json')",
    "from cdcwire.formats.craft import fast",
)
NOTHING = "pass"


def main(argv: Sequence[str] | None = None) -> int:
    given = arguments("Measure imports.", argv)
    statements = (NOTHING, *BARS, *ALSO)
    for statement in statements:
        milliseconds(statement)  # compiles what is not yet compiled
    times: dict[str, list[float]] = {statement: [] for statement in statements}
    for _ in range(5 if given.quick else 15):
        for statement in statements:
            times[statement].append(milliseconds(statement))
    bare = min(times[NOTHING])
    results = [
        Result(
            statement,
            f"`{statement}`, beyond an empty program",
            round(min(times[statement]) - bare, 2),
            "ms",
            BARS.get(statement),
            is_least=False,
            details={"empty program ms": round(bare, 2)},
        )
        for statement in statements[1:]
    ]
    return finish("import_time", results, given)


def milliseconds(statement: str) -> float:
    """Return the CPU time of a process that does this and nothing else."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e3


if __name__ == "__main__":
    sys.exit(main())
