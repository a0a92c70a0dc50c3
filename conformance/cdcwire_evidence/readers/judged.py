"""One release of a reader on one format: ``cdcwire verify`` in a process with a limit of time."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from cdcwire.model.text import Json
from cdcwire_conformance.output.results.stored import StoredRun
from cdcwire_evidence.readers.listed import ListedReader

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
