"""Checks of options that several verbs have: files of results, and the folder of the corpus."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from cdcwire.console.problems import UsageError
from cdcwire.console.visible import print_error


def golden_root(arguments: argparse.Namespace) -> Path | None:
    """Return the golden folder that ``--root`` names; None without it. Raises: UsageError."""
    if not arguments.root:
        return None
    root = Path(arguments.root)
    if not root.is_dir():
        raise UsageError(f"--root: {root} is not a directory")
    return root


def check_apart(targets: Mapping[str, str | None]) -> None:
    """Check that no two options name the same file. A device may have several outputs.

    Raises: UsageError.
    """
    seen: dict[str, str] = {}
    for option, target in targets.items():
        if not target or (os.path.exists(target) and not os.path.isfile(target)):
            continue
        first = seen.setdefault(os.path.realpath(target), option)
        if first != option:
            raise UsageError(f"{option}: {target} is the file of {first} too; name another file")


def check_writable(file: Path, option: str) -> None:
    """Check that a result can be written to a file, and leave the file as it is.

    Raises: UsageError.
    """
    is_new = not file.exists()
    if not is_new and not file.is_file() and not file.is_dir():
        return  # a pipe or a device: opening it would already be an output
    try:
        with file.open("ab"):
            pass
    except OSError as error:
        raise UsageError(f"{option}: {file} cannot be written: {error.strerror}") from None
    if is_new:
        file.unlink()


def note_unfinished(
    verb: str,
    formats: Iterable[str] | None = None,
    root: Path | None = None,
    pattern: str | None = None,
) -> tuple[str, ...]:
    """Print a line for each case that its author has not finished, and return their ids.

    ``pattern``: of the wanted ids. Raises: CorpusError.
    """
    from cdcwire_conformance.corpus.store import unfinished_cases

    found = unfinished_cases(formats, pattern, root)
    for each in found:
        print_error(f"cdcwire {verb}: left out: {each}")
    return tuple(each.where.removesuffix(".json") for each in found)
