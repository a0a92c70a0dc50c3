"""Wrong arguments and texts, in the words of this project; and the notation of arguments."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import NoReturn

from cdcwire.console.visible import shortened
from cdcwire.core.nearest import did_you_mean
from cdcwire.core.options import OptionValue
from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES, unknown_format


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


def column_names(option: str, lists: Iterable[str], example: str) -> frozenset[str]:
    """Return the columns of an option's lists, which have commas. Raises: UsageError."""
    names = frozenset(name for each in lists for name in each.split(","))
    if "" in names:
        raise UsageError(f"{option}: a name of a column is empty; write {example}")
    return names


MOST = 999_999_999  # of a number without a limit that has a reason
MOST_JOBS = 256


class InvalidJsonError(ValueError):
    """A text that ``json`` would read and JSON does not allow. It completes "The text is"."""


def no_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, for ``parse_constant`` of ``json``. Raises: InvalidJsonError."""
    raise InvalidJsonError(f"not JSON: {name}")


def json_problem(error: ValueError | RecursionError) -> str:
    """Return why ``json.loads`` refused a text: ``not JSON at character 6``."""
    if isinstance(error, InvalidJsonError):
        return str(error)
    if isinstance(error, json.JSONDecodeError):
        text = error.doc.rstrip()
        if "\n" not in text:
            return f"not JSON at character {min(error.pos, len(text)) + 1}"
        return f"not JSON at line {error.lineno}, column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return "not usable: a number has too many digits"


def integer_argument(text: str) -> int:
    """Return the integer of a command line argument. Raises: argparse.ArgumentTypeError."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r:.80} is not an integer") from None


def format_argument(text: str) -> str:
    """Return the name of a format. Raises: argparse.ArgumentTypeError."""
    if text not in FORMAT_NAMES:
        raise argparse.ArgumentTypeError(unknown_format(text))
    return text


def positive_argument(text: str) -> int:
    """Return the integer from 1 of a command line argument. Raises: ArgumentTypeError."""
    number = integer_argument(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r:.80} is not a number from 1")
    return number


def count_argument(text: str, most: int = MOST) -> int:
    """Return the number from 0 of a command line argument. Raises: ArgumentTypeError."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number from 0")
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(most)) or int(digits) > most:
        raise argparse.ArgumentTypeError(f"{shortened(text, 40)} is too large; the most is {most}")
    return int(digits)


def jobs_argument(text: str) -> int:
    """Return how many processes a command line argument wants. Raises: ArgumentTypeError."""
    number = count_argument(text, MOST_JOBS)
    if not number:
        raise argparse.ArgumentTypeError(f"{number} is not a number from 1 to {MOST_JOBS}")
    return number


def number_argument(text: str) -> float:
    """Return the number of a command line argument. Raises: argparse.ArgumentTypeError."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r:.80} is not a number") from None


def unique_members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return the members of an object. Raises: InvalidJsonError for a name that comes twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise InvalidJsonError(f"member {name!r:.80} is repeated")
            seen.add(name)
    return members
