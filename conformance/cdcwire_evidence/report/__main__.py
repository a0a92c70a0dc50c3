"""Writes REPORT.md: ``cdcwire report`` starts this program in a checkout."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime, timedelta

from cdcwire_conformance.cli import run_verb
from cdcwire_conformance.cli.progress import ProgressLine
from cdcwire_conformance.cli.report import HELP, NAME, add_arguments, target_of
from cdcwire_evidence.report.pages import FIRST_PAGE, verdict_line
from cdcwire_evidence.report.part import Part
from cdcwire_evidence.report.write import write_report

__all__ = ["HELP", "NAME", "add_arguments", "run"]


def run(arguments: argparse.Namespace) -> int:
    """Write the report. Returns: 1 if a check failed, else 0.

    A missed bar is a time of a machine that may be busy, so the report names it and goes on.
    """
    target = target_of(arguments)
    done = 0
    with ProgressLine() as line:

        def report(part: Part) -> None:
            nonlocal done
            done += 1
            if line.is_terminal:
                text = f"{done} chapters; {part.title}: {part.status}, {part.seconds:.0f} s"
                line.show(text[:79])
            else:
                print(log_line(part, datetime.now().astimezone()), file=sys.stderr, flush=True)

        document = write_report(target, "full" if arguments.full else "main", report)
    for chapter in document["chapters"]:
        print(f"{chapter['status']:<11} {chapter['seconds']:5.0f} s  {chapter['title']}")
    print(f"{target / FIRST_PAGE}: {verdict_line(document)}")
    return int(document["verdict"]["status"] == "failed")


def log_line(part: Part, end: datetime) -> str:
    """Return the line of a chapter that has ended, for a log."""
    start = end - timedelta(seconds=part.seconds)
    times = f"{start:%H:%M:%S} to {end:%H:%M:%S}, {part.seconds:4.0f} s"
    return f"{times}: {part.status:<10} {part.title}"


if __name__ == "__main__":
    sys.exit(run_verb(sys.modules[__name__], sys.argv[1:]))
