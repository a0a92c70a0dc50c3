"""``cdcwire report readers``: run several releases of readers and store their results."""

from __future__ import annotations

import argparse
from datetime import date

NAME = "report readers"
PROGRAM = "readers"
HELP = "run the readers of a list, each release in its own environment"
DESCRIPTION = """\
Run in a checkout of cdcwire. Install each release of each reader of LIST with its adapter. Judge it
by the stored golden cases of its formats, and store the result as a JSON file below DIR:
READER/VERSION/FORMAT/DATE.json. An unchanged result only moves the last date of its file.

A release that cannot be installed, and a testee that does not answer, are stored with the problem.
The other readers still run. adapters/readers.toml is the list of the project.

Exit code 0: every reader was judged, whatever its verdict. 1: some could not be. 2: the list cannot
be used.
"""
EXAMPLES = """\
examples:
  cdcwire report readers adapters/readers.toml --to results
  cdcwire report readers adapters/readers.toml --to results --reader fastavro --reader avsc
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire report readers``."""
    parser.add_argument("list", metavar="LIST", help="the list of readers, a TOML file")
    parser.add_argument(
        "--to", metavar="DIR", required=True, help="store the results in this directory"
    )
    parser.add_argument(
        "--reader",
        metavar="NAME",
        action="append",
        default=[],
        help="run only this reader (may be given again)",
    )
    parser.add_argument(
        "--date",
        type=_date_argument,
        metavar="YYYY-MM-DD",
        help="the day of the results (default: today, UTC)",
    )


def words_of(arguments: argparse.Namespace) -> list[str]:
    """Return the words for the program of the checkout."""
    words = [arguments.list, "--to", arguments.to]
    words += [f"--reader={name}" for name in arguments.reader]
    return [*words, *([f"--date={arguments.date}"] if arguments.date else [])]


def _date_argument(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r:.80} is not a date: YYYY-MM-DD") from None
