"""The reasons why a library refuses a text, in the words of this project."""

from __future__ import annotations

import argparse
import json
from typing import NoReturn

from cdcwire.console.visible import shortened
from cdcwire.model.text import Json
from cdcwire.registry import FORMAT_NAMES, unknown_format

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
