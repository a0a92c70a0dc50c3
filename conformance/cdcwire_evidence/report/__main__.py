"""Writes REPORT.md: ``cdcwire report`` starts this program in a checkout."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cdcwire_conformance.cli import run_verb
from cdcwire_conformance.cli.report import HELP, NAME, add_arguments
from cdcwire_evidence.report.write import gather, report_text

__all__ = ["HELP", "NAME", "add_arguments", "run"]


def run(arguments: argparse.Namespace) -> int:
    """Write the report. Returns: 1 if something failed, else 0."""

    def say(text: str) -> None:
        print(f"report: {text}", file=sys.stderr, flush=True)

    target = Path(arguments.to)
    parts = gather(arguments.quick, say, target.with_name(f"{target.stem}-sizes.svg"))
    command = "cdcwire report --quick" if arguments.quick else "cdcwire report"
    target.write_text(report_text(parts, command), encoding="utf-8")
    failed = [part.title for part in parts if part.failed]
    print(f"{arguments.to} is written" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run_verb(sys.modules[__name__], sys.argv[1:]))
