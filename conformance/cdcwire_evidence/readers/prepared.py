"""Releases of a reader: their versions, and one release installed with its adapter.

Each release has its own copy of adapters/ and its own environment, so that no release finds
packages of another one. Registries are asked through their ordinary clients.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from cdcwire_conformance.output.results.stored import file_name
from cdcwire_evidence.readers.listed import ListedReader

ADAPTERS = Path("adapters")
_LEFT_BEHIND = ("node_modules", "build", "__pycache__", ".pytest_cache")
_PATIENCE = 1200.0  # seconds for one client of a registry
_LINES = 3  # of the end of what a client said


class CannotPrepareError(Exception):
    """A release cannot be found, installed or built."""


def versions_of(reader: ListedReader) -> tuple[str, ...]:
    """Return the releases to run, newest first. Raises: CannotPrepareError."""
    if reader.registry == "checkout":
        return ("",)
    if not isinstance(reader.versions, int):
        return reader.versions
    found = _released(reader)
    if not found:
        raise CannotPrepareError(f"{reader.source}: the registry lists no release")
    return tuple(found[: reader.versions])


def _released(reader: ListedReader) -> list[str]:
    """Return the releases that a registry lists, newest first, without pre-releases."""
    bare = reader.package.partition("[")[0]
    if reader.registry == "pypi":
        said = _run([sys.executable, "-m", "pip", "index", "versions", bare])
        line = next((each for each in said.splitlines() if "versions:" in each), "")
        return [each.strip() for each in line.partition(":")[2].split(",") if each.strip()]
    if reader.registry == "npm":
        listed = json.loads(_run(["npm", "view", bare, "versions", "--json"]))
        names = [listed] if isinstance(listed, str) else listed
    else:
        names = _run(["go", "list", "-m", "-versions", bare], _folder(reader)).split()[1:]
    return [each for each in reversed(names) if "-" not in each]


def _folder(reader: ListedReader) -> Path:
    return ADAPTERS / reader.adapter


def prepare(reader: ListedReader, version: str, work: Path) -> list[str]:
    """Install a release in a new folder below ``work``. Returns: the command of its program.

    Raises: CannotPrepareError, OSError.
    """
    if reader.adapter and not _folder(reader).is_dir():
        raise CannotPrepareError(f"{_folder(reader)} not found; run it in a checkout")
    if reader.registry == "checkout":
        return _command(reader, _folder(reader), sys.executable) if reader.command else []
    place = work / file_name(f"{reader.name}-{version}")
    if place.exists():
        shutil.rmtree(place)
    shutil.copytree(ADAPTERS, place, ignore=shutil.ignore_patterns(*_LEFT_BEHIND))
    folder = place / reader.adapter
    python = sys.executable
    if reader.registry == "pypi":
        environment = place / "environment"
        python = str(environment / "bin" / "python")
        _run([sys.executable, "-m", "venv", str(environment)])
        _install_wheels(python, f"{reader.package}=={version}", reader.requires)
    elif reader.registry == "npm":
        _install_modules(folder, f"{reader.package}@{version}", reader.requires)
    elif reader.registry == "go":
        _run(["go", "get", f"{reader.package}@{version}", *reader.requires], folder)
        _run(["go", "build", "-o", "build/", "./..."], folder)
    else:
        _run(["mvn", "-B", "-q", f"-Dreader.version={version}", "package"], folder)
    return _command(reader, folder, python)


def _install_wheels(python: str, package: str, requires: Sequence[str]) -> None:
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
    _run([python, "-m", "pip", "install", *quiet, package, *requires])


def _install_modules(folder: Path, package: str, requires: Sequence[str]) -> None:
    _run(["npm", "pkg", "delete", "optionalDependencies"], folder)  # the other readers
    quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--save-exact")
    _run(["npm", "install", *quiet, package, *requires], folder)


def _command(reader: ListedReader, folder: Path, python: str) -> list[str]:
    """Return the command with the program of the environment and with whole paths."""
    words = [
        str((folder / word).resolve()) if (folder / word).exists() else word
        for word in reader.command
    ]
    return [python, *words[1:]] if words[0] == "python" else words


def _run(command: Sequence[str], folder: Path | None = None) -> str:
    """Return what a client printed. Raises: CannotPrepareError with the end of its errors."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    try:
        ended = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except FileNotFoundError:
        raise CannotPrepareError(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise CannotPrepareError(f"{command[0]} did not end in {_PATIENCE:.0f} s") from None
    if ended.returncode:
        lines = [line.strip() for line in (ended.stderr or ended.stdout).splitlines()]
        said = " / ".join([line for line in lines if line][-_LINES:]) or "no message"
        raise CannotPrepareError(f"{Path(command[0]).name}: exit code {ended.returncode}: {said}")
    return ended.stdout
