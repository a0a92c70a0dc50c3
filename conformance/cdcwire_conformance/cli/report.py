"""``cdcwire report``: write REPORT.md in a checkout.

The programs that produce it are ``cdcwire_evidence``, which is not in the wheel. They run as a
process of the checkout and judge what is installed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from cdcwire_conformance.cli.context import UsageError

NAME = "report"
HELP = "run everything this machine can run, and write REPORT.md"
DESCRIPTION = """\
Run in a checkout of cdcwire. Judge the reference and the other decoders of the checkout, catch the
known-wrong decoders, count clauses and witnesses, compare feeds on Spark, measure sizes. Write
REPORT.md, a page for each chapter under report/, and all results to report/report.json.

Takes a sample of the derived cases and few rows, about 5 minutes on two cores. --full takes
everything, and runs the benchmarks with all their data. Chapters that cannot run on this machine
are listed as not run, with what to install.

Exit code 0: everything that ran passed. 1: a check failed or a bar was missed. 2: no report could
be written.
"""
EXAMPLES = """\
examples:
  cdcwire report
  cdcwire report --full --to /tmp/found
"""


_PROGRAM = Path("conformance", "evidence.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire report``."""
    parser.add_argument(
        "--to",
        default=".",
        metavar="DIR",
        help="write REPORT.md and report/ into this directory (default: the current one)",
    )
    parser.add_argument("--full", action="store_true", help="all cases, all rows, all benchmarks")


def run(arguments: argparse.Namespace) -> int:
    """Run the report program of the checkout. Returns its exit code. Raises: UsageError."""
    if not _PROGRAM.is_file():
        raise UsageError(f"{_PROGRAM} not found; run the command in a checkout of cdcwire")
    words = ["report", "--to", arguments.to, *(["--full"] if arguments.full else [])]
    ended = subprocess.run([sys.executable, str(_PROGRAM), *words], check=False)
    return ended.returncode if ended.returncode >= 0 else 2
