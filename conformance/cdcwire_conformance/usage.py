"""The notation of values on the command line and in options of a data source."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from cdcwire.core.nearest import did_you_mean
from cdcwire.core.options import OptionValue
from cdcwire.model.events import Table
from cdcwire.model.text import TextFormError, table_from_json
from cdcwire_conformance.problems import json_problem
from cdcwire_conformance.whole_files import read_short


class UsageError(Exception):
    """The command can't run as it was called. The text is one line for the user."""


_MOST_NAMES = 5


def meant_or_met(name: str, names: Iterable[str]) -> str:
    """Return the end of an error about an unknown name: the name that is like it, or all names."""
    known = sorted(set(names))
    meant = did_you_mean(name, known)
    if meant or not known:
        return meant
    more = f" and {len(known) - _MOST_NAMES:,} more" if len(known) > _MOST_NAMES else ""
    return f"; known: {', '.join(known[:_MOST_NAMES])}{more}"


DEFAULT_SCHEMA = "test"  # of tables whose DDL names none


def parse_option_arguments(arguments: list[str]) -> dict[str, OptionValue]:
    """Return ``name=value`` arguments as a mapping. Raises: UsageError."""
    options: dict[str, OptionValue] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals or not name:
            raise UsageError(
                f"--option {argument!r:.80} is not NAME=VALUE; see `cdcwire options FORMAT`"
            )
        options[name] = value
    return options


def read_tables(file: str) -> tuple[Table, ...]:
    """Return the table definitions of a file: a JSON list, or one object per line.

    Raises: UsageError that names the file and the line or member.
    """
    try:
        text = read_short(file).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{file}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: byte {error.start} is not UTF-8") from error
    tables = []
    for index, document in enumerate(_documents(text, file)):
        try:
            tables.append(table_from_json(document))
        except TextFormError as error:
            raise UsageError(f"{file}: table {index}: {error}") from error
    return tuple(tables)


def _documents(text: str, file: str) -> list[object]:
    try:
        if text.lstrip().startswith("["):
            found = json.loads(text)
            assert isinstance(found, list)
            return found
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: {json_problem(error)}") from error


def column_names(option: str, lists: Iterable[str], example: str) -> frozenset[str]:
    """Return the columns of an option's lists, which have commas. Raises: UsageError."""
    names = frozenset(name for each in lists for name in each.split(","))
    if "" in names:
        raise UsageError(f"{option}: a name of a column is empty; write {example}")
    return names


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
