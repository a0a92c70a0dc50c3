"""Run the suite, or what is asked for: ``python tests/suite.py [PYTEST OPTIONS]``.

Without options it runs all tests but the long ones, and measures their coverage where Python does
so at little cost: ``sys.monitoring`` exists from Python 3.12 on. Before it, coverage traces every
line, and the tests take longer. CI measures a sample with Python 3.12 too: all tests cover what a
sample covers, so the threshold always holds. The long tests by themselves (``CDCWIRE_LONG=only``)
are not measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("cdcwire", "cdcwire_conformance", "cdcwire_generators")
# The environment spark runs the modules for Spark; they count as not covered.
LOWEST_PERCENTAGE = 80
JUDGED_SAMPLE = 3  # every third test; smaller samples only show that an environment starts
WHOLE = ("-q", "-n", os.environ.get("CDCWIRE_WORKERS", "2"), "--dist", "loadfile")


def options_of(*, can_monitor: bool, step: int) -> list[str]:
    """Return the options of pytest for every ``step``-th test of the whole suite."""
    if not can_monitor:
        return [*WHOLE]
    measured = [*(f"--cov={name}" for name in PACKAGES), "--cov-report="]
    threshold = [f"--cov-fail-under={LOWEST_PERCENTAGE}"] if step <= JUDGED_SAMPLE else []
    return [*WHOLE, *measured, *threshold]


def main(options: list[str]) -> int:
    """Run pytest. Returns: its exit code."""
    environment = dict(os.environ)
    if not options:
        can_monitor = hasattr(sys, "monitoring") and environment.get("CDCWIRE_LONG") != "only"
        step = int(environment.get("CDCWIRE_SAMPLE", "1"))
        options = options_of(can_monitor=can_monitor, step=step)
        if can_monitor:
            environment["COVERAGE_CORE"] = "sysmon"
        else:
            why = "Python 3.12 or later measures it, if not the long tests alone run"
            print(f"coverage is not measured: {why}", flush=True)
    command = [sys.executable, "-m", "pytest", *options]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
