"""``cdcwire formats``: the formats that the other verbs take."""

from __future__ import annotations

import argparse

from cdcwire.registry import FORMAT_NAMES, get_format

NAME = "formats"
HELP = "list the formats"
EXAMPLES = """\
examples:
  cdcwire formats
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cdcwire formats``: none."""


def run(arguments: argparse.Namespace) -> int:
    """Print a line for each format. Returns 0."""
    width = max(map(len, FORMAT_NAMES))
    for name in FORMAT_NAMES:
        print(f"{name:{width}}  {get_format(name).title}")
    return 0
