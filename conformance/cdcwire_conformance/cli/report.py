"""``cdcwire report``: run all of it, write REPORT.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

NAME = "report"
HELP = "run everything this machine can run, and write REPORT.md"
DESCRIPTION = """\
Judge the reference and the other decoders of a checkout, catch the known-wrong decoders, count
clauses and witnesses, weigh the formats, run the benchmarks, and write what was found to REPORT.md
and, as a picture, to REPORT-sizes.svg beside it. What this machine
lacks is named there as not run. Exit code 1 if something failed.
"""
EXAMPLES = """\
examples:
  cdcwire report
  cdcwire report --quick --to /tmp/report.md
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", default="REPORT.md", metavar="FILE", help="default: REPORT.md")
    parser.add_argument("--quick", action="store_true", help="benchmarks with less data")


def run(arguments: argparse.Namespace) -> int:
    from cdcwire_evidence.report.write import gather, report_text

    def say(text: str) -> None:
        print(f"report: {text}", file=sys.stderr, flush=True)

    target = Path(arguments.to)
    parts = gather(arguments.quick, say, target.with_name(f"{target.stem}-sizes.svg"))
    command = "cdcwire report --quick" if arguments.quick else "cdcwire report"
    target.write_text(report_text(parts, command), encoding="utf-8")
    failed = [part.title for part in parts if part.failed]
    print(f"{arguments.to} is written" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0
