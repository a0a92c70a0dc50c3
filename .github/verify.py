"""The step of the action: run ``cdcwire verify`` as the inputs say, without a shell.

Reads the inputs as environment variables (INPUT_COMMAND, …), writes the reports below RUNNER_TEMP,
appends to the job summary, and gives the outputs of the step. Generated messages follow the golden
cases as a second command. Exits with the worse code of both.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_REPORTS = {"junit": "junit.xml", "json": "results.json", "badge": "badge.json"}
_PROPERTY_REPORTS = {"junit": "property.xml", "json": "property.json"}
_VERDICTS = {0: "passed", 1: "failed"}
_FORMAT = re.compile(r"[a-z][a-z0-9-]*")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


class InputError(ValueError):
    """An input of the action can't be used."""


def main() -> int:
    """Run the step. Returns the exit code."""
    directory = Path(os.environ["RUNNER_TEMP"]) / "cdcwire"
    directory.mkdir(parents=True, exist_ok=True)
    try:
        commands = [*commands_of(directory)]
    except InputError as error:
        print(f"::error::{error}")
        return 2
    code = 0
    for words in commands:
        ended = subprocess.run([sys.executable, "-m", "cdcwire_conformance", *words], check=False)
        code = max(code, ended.returncode) if ended.returncode in _VERDICTS else 2
        if code not in _VERDICTS:
            break
    outputs = {"directory": directory, "verdict": _VERDICTS.get(code, "error")}
    outputs |= {name: directory / file for name, file in _REPORTS.items()}
    outputs["html"] = directory / "results.html" if _has_html() else ""
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as stream:
        stream.writelines(f"{name}={value}\n" for name, value in outputs.items())
    return code


def commands_of(directory: Path) -> Iterator[list[str]]:
    """Yield the arguments of each command of cdcwire. Raises: InputError."""
    verify = ["verify", *_formats(), "--github-summary"]
    testee = ["--", *_command()]
    words = [*verify, *_reports(directory, _REPORTS, "results.html")]
    if expected := _input("EXPECTED_FAILURES"):
        words.append(f"--expected-failures={expected}")
    yield [*words, *testee]
    if number := _input("PROPERTY"):
        if not _NUMBER.fullmatch(number):
            raise InputError(f"property: {_shown(number)} is not a number from 1")
        words = [*verify, *_reports(directory, _PROPERTY_REPORTS, "property.html")]
        yield [*words, f"--property={number}", f"--save={directory / 'cases'}", *testee]


def _reports(directory: Path, names: dict[str, str], page: str) -> list[str]:
    files = {**names, **({"html": page} if _has_html() else {})}
    return [f"--{name}={directory / file}" for name, file in files.items()]


def _has_html() -> bool:
    value = _input("HTML") or "true"
    if value not in ("true", "false"):
        raise InputError(f"html: {_shown(value)} is neither true nor false")
    return value == "true"


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
