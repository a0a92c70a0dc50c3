"""Runs the readers of a list: ``cdcwire report readers`` starts this program in a checkout.

Each release of a reader runs ``cdcwire verify`` per format, in a process with a limit of time.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from cdcwire.console.problems import UsageError
from cdcwire.console.visible import said
from cdcwire.model.text import Json
from cdcwire_conformance.cli import run_verb
from cdcwire_conformance.cli.report_readers import DESCRIPTION, HELP, NAME, add_arguments
from cdcwire_conformance.output.results.stored import StoredRun, store_run
from cdcwire_evidence.readers.listed import ListedReader, read_list
from cdcwire_evidence.readers.prepared import CannotPrepareError, prepare, versions_of

_LAST_WORDS = 15.0  # seconds in which a run that is ended writes its results
_VERDICT_CODES = (0, 1)


def judge(
    reader: ListedReader, version: str, command: list[str], format_name: str, date: str
) -> StoredRun:
    """Return the run of a release, with what went wrong with the run itself."""
    results, problem = _verify(reader, command, format_name)
    if not version and results is not None:
        version = str(results["testee"]["version"])
    if results is not None:
        results["testee"]["command"] = shlex.join(reader.command)  # without folders of a machine
    return StoredRun(
        reader.name,
        reader.source,
        version or "checkout",
        format_name,
        date,
        date,
        shlex.join(reader.command),
        results,
        problem,
    )


def _verify(
    reader: ListedReader, command: list[str], format_name: str
) -> tuple[dict[str, Json] | None, str]:
    """Run the verb. Returns: its document if it wrote one, and the problem if there is one."""
    with tempfile.TemporaryDirectory(prefix="cdcwire-") as folder:
        file = Path(folder) / "results.json"
        words = [sys.executable, "-m", "cdcwire_conformance", "verify", format_name]
        words += ["--no-derived", "--show", "1", "--json", str(file)]
        code, said = _ended([*words, "--", *command] if command else words, reader.seconds)
        results = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
    if code is None:
        return results, f"no end within {reader.seconds} s"
    if results is None or code not in _VERDICT_CODES:
        return results, said or f"`cdcwire verify` ended with {code}"
    return results, ""


def _ended(words: list[str], seconds: float) -> tuple[int | None, str]:
    """Run a command. Returns: its exit code, None after the limit, and its last error."""
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        try:
            said = process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            try:
                process.communicate(timeout=_LAST_WORDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            return None, ""
        except BaseException:
            process.send_signal(signal.SIGTERM)
            raise
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return process.returncode, lines[-1] if lines else ""


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
