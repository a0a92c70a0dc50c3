"""Runs the readers of a list: ``cdcwire report readers`` starts this program in a checkout."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from cdcwire_conformance.cli import run_verb
from cdcwire_conformance.cli.report_readers import DESCRIPTION, HELP, NAME, add_arguments
from cdcwire_conformance.output.results.stored import StoredRun, store_run
from cdcwire_conformance.usage import UsageError
from cdcwire_conformance.visible import said
from cdcwire_evidence.readers.judged import judge
from cdcwire_evidence.readers.listed import ListedReader, read_list
from cdcwire_evidence.readers.prepared import CannotPrepareError, prepare, versions_of

__all__ = ["DESCRIPTION", "HELP", "NAME", "add_arguments", "run"]


def run(arguments: argparse.Namespace) -> int:
    """Run the readers and store their runs. Returns: 1 if a run has a problem, else 0.

    Raises: UsageError, ConfigurationError, OSError.
    """
    readers = _chosen(read_list(Path(arguments.list)), arguments.reader)
    day = arguments.date or datetime.now(timezone.utc).date().isoformat()
    has_problem = False
    for reader in readers:
        for found in runs_of(reader, day):
            store_run(Path(arguments.to), found)
            has_problem |= bool(found.problem)
            print(line_of(found), flush=True)
    return int(has_problem)


def _chosen(readers: tuple[ListedReader, ...], names: list[str]) -> list[ListedReader]:
    for name in names:
        if name not in {reader.name for reader in readers}:
            known = ", ".join(reader.name for reader in readers)
            raise UsageError(f"unknown reader {name!r:.80}; known: {known}")
    return [reader for reader in readers if not names or reader.name in names]


def runs_of(reader: ListedReader, day: str) -> Iterator[StoredRun]:
    """Yield the runs of a reader: each release on each format. A problem is a run too."""
    try:
        versions = versions_of(reader)
    except CannotPrepareError as error:
        yield from _problems(reader, "unknown", day, f"no releases: {error}")
        return
    for version in versions:
        with tempfile.TemporaryDirectory(prefix="cdcwire-") as work:
            try:
                command = prepare(reader, version, Path(work))
            except (CannotPrepareError, OSError, shutil.Error) as error:
                yield from _problems(reader, version, day, f"not installed: {error}")
                continue
            for name in reader.formats:
                found = judge(reader, version, command, name, day)
                yield replace(found, problem=found.problem.replace(f"{work}/", ""))


def _problems(reader: ListedReader, version: str, day: str, text: str) -> Iterator[StoredRun]:
    for name in reader.formats:
        yield StoredRun(
            reader.name,
            reader.source,
            version or "checkout",
            name,
            day,
            day,
            " ".join(reader.command),
            problem=said(text),
        )


def line_of(run: StoredRun) -> str:
    """Return the line of a run for the terminal."""
    asked = run.count("passed", "failed", "crashed", "timed out")
    counts = "" if run.results is None else f"{run.count('passed')} of {asked} cases passed"
    return f"{run.reader} {run.version}, {run.format}: " + "; ".join(
        filter(None, (counts, run.problem))
    )


if __name__ == "__main__":
    sys.exit(run_verb(sys.modules[__name__], sys.argv[1:]))
