"""The step of the action: run ``cdcwire verify`` as the inputs say, without a shell.

Reads the inputs as environment variables (INPUT_COMMAND, …), writes the reports below RUNNER_TEMP,
appends to the job summary, and gives the outputs of the step. Exits with the code of the command.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

_REPORTS = {"junit": "junit.xml", "json": "results.json", "badge": "badge.json"}
_VERDICTS = {0: "passed", 1: "failed"}
_FORMAT = re.compile(r"[a-z][a-z0-9-]*")


class InputError(ValueError):
    """An input of the action can't be used."""


def main() -> int:
    """Run the step. Returns the exit code."""
    directory = Path(os.environ["RUNNER_TEMP"]) / "cdcwire"
    directory.mkdir(parents=True, exist_ok=True)
    try:
        words = arguments(directory)
    except InputError as error:
        print(f"::error::{error}")
        return 2
    code = subprocess.run(
        [sys.executable, "-m", "cdcwire_conformance", *words], check=False
    ).returncode
    outputs = {"directory": directory, "verdict": _VERDICTS.get(code, "error")}
    outputs |= {name: directory / file for name, file in _REPORTS.items()}
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as stream:
        stream.writelines(f"{name}={value}\n" for name, value in outputs.items())
    return code


def arguments(directory: Path) -> list[str]:
    """Return the arguments of cdcwire. Raises: InputError."""
    words = ["verify", *_formats(), "--github-summary"]
    words += [f"--{name}={directory / file}" for name, file in _REPORTS.items()]
    if expected := _input("EXPECTED_FAILURES"):
        words.append(f"--expected-failures={expected}")
    return [*words, "--", *_command()]


def _formats() -> list[str]:
    formats = re.split(r"[\s,]+", _input("FORMATS"))
    formats = [name for name in formats if name]
    for name in formats:
        if not _FORMAT.fullmatch(name):
            raise InputError(f"formats: {_shown(name)} is not the name of a format")
    return formats


def _command() -> list[str]:
    try:
        words = shlex.split(_input("COMMAND"))
    except ValueError as error:
        raise InputError(f"command: {error}") from error
    if not words:
        raise InputError("command: it is empty; name the program that answers the testee protocol")
    return words


def _input(name: str) -> str:
    return os.environ.get(f"INPUT_{name}", "").strip()


def _shown(text: str) -> str:
    """Return a text that cannot start a command of the runner's log."""
    return ascii(text[:60])


if __name__ == "__main__":
    sys.exit(main())
