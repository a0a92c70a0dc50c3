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
known-wrong decoders, count clauses and witnesses, measure sizes, run the benchmarks. Write the
results to REPORT.md, and a picture of the sizes to REPORT-sizes.svg in the same directory. Parts
that cannot run on this machine are listed as not run. Exit code 1 if something failed.
"""
EXAMPLES = """\
examples:
  cdcwire report
  cdcwire report --quick --to /tmp/report.md
"""


_PROGRAM = Path("conformance", "evidence.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire report``."""
    parser.add_argument("--to", default="REPORT.md", metavar="FILE", help="default: REPORT.md")
    parser.add_argument("--quick", action="store_true", help="benchmarks with less data")


def run(arguments: argparse.Namespace) -> int:
    """Run the report program of the checkout. Returns its exit code. Raises: UsageError."""
    if not _PROGRAM.is_file():
        raise UsageError(f"{_PROGRAM} not found; run the command in a checkout of cdcwire")
    words = ["report", "--to", arguments.to, *(["--quick"] if arguments.quick else [])]
    ended = subprocess.run([sys.executable, str(_PROGRAM), *words], check=False)
    return ended.returncode if ended.returncode >= 0 else 2
