"""A report on a terminal: lines that fit it, and colours for verdicts and differences.

The colours add nothing to the words. A file, a pipe, ``NO_COLOR`` and
``TERM=dumb`` get none. A file and a pipe get each line whole, because programs search in them.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import TextIO

from cdcwire.console.visible import VisibleStream, visible_lines

_GOOD, _BAD, _ODD = "32", "31", "33"  # of SGR, "select graphic rendition"
_VERDICT = re.compile(
    r"(?P<good>EQUAL|PASSED)\b|(?P<bad>DIFFERENT|FAILED)\b"
    r"|(?P<odd>INTERRUPTED|STOPPED|NOTHING WAS RUN)\b"
)
_TABLE = re.compile(r"(?<=: )(?:(?P<good>equal)|(?P<bad>different|missing))\b")
_COUNTS = re.compile(r"  [0-9][0-9,]* [a-z ]+(?:, [0-9][0-9,]* [a-z ]+)*")
_COUNT = re.compile(r"[0-9][0-9,]* (?!same)[a-z][a-z ]*")


def print_lines(lines: Iterable[str]) -> None:
    """Print the lines of a report: on a terminal wrapped at words, with colours if it has them."""
    stream = sys.stdout
    if stream.isatty():
        lines = wrapped(lines, shutil.get_terminal_size().columns)
    if not shows_colours(stream):
        for line in lines:
            print(line)
        return
    put = stream.put if isinstance(stream, VisibleStream) else stream.write
    for line in lines:
        put(painted(visible_lines(line)) + "\n")


def shows_colours(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that shows colours, and the user wants them."""
    is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return is_wanted and stream.isatty()


def wrapped(lines: Iterable[str], width: int) -> Iterator[str]:
    """Yield lines that are at most ``width`` characters long, except a longer word.

    The rest of a line is indented by two more characters.
    """
    for line in lines:
        if len(line) <= width:
            yield line
            continue
        indent = " " * (len(line) - len(line.lstrip(" ")) + 2)
        yield from wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )


def painted(line: str) -> str:
    """Return a line of a report with the sequences of its colours."""
    if _COUNTS.fullmatch(line):
        return _COUNT.sub(lambda found: _sgr(_BAD, found[0]), line)
    found = _VERDICT.match(line) or (None if line.startswith(" ") else _TABLE.search(line))
    if found is None:
        return line
    colour = {"good": _GOOD, "bad": _BAD, "odd": _ODD}[str(found.lastgroup)]
    return f"{line[: found.start()]}{_sgr(f'1;{colour}', found[0])}{line[found.end() :]}"


def _sgr(codes: str, text: str) -> str:
    return f"\x1b[{codes}m{text}\x1b[0m"
