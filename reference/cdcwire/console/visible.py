"""Text of others as an output may show it: never obeyed by a terminal, never part of the form.

Terminals and files of lines take ``visible``, one line at a time. ``VisibleStream`` holds back the
control characters of whatever else is printed. Markdown takes ``cdcwire_conformance.output.markdown
.inline``; HTML and XML add their own escapes to ``visible``.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

UNSEEN = str.maketrans({"\r": "\\r", "\n": "\\n", "\t": "\\t"})
LONGEST_ERROR = 2000  # characters
HIDDEN = "***"
_WORD = re.compile(r"[^\s'\"]+")
_LINE = re.compile(r"[^\n]+")
_SCHEME = re.compile(r"\w:/{1,2}")  # a path has one slash where its URL had two
# A user with spaces or quotes: all between // and /, or after a colon without a port.
_USER = re.compile(
    r"(\w:/{1,2})(?:(?<=//)[^/]*@"
    r"|[^\s/@:'\"]+:(?!\d*(?:[\s/?#,;'\")\]]|$))[^@]*@(?:[^/]*@)?)"
)
# A lookahead takes the whole name at once: the time stays in proportion to a text of any kind.
# A value may begin with a part in quotes. It ends at a space, at & or at a quote that closes.
_VALUE = r"(?:[^\s&'\"]|['\"](?=\w))"
_PARAMETER = re.compile(
    r"(?<![\w.-])(?=([\w.-]+=))"
    r"(?=[\w.-]*?(?:password|passwd|passphrase|secret|token|signature|credential|jaas"
    r"|(?:api|access|account|private)[-_.]?key|(?<![a-z0-9])(?:sig|sas|pwd)(?![a-z0-9])))"
    rf"\1(?:(\\{{0,3}}['\"])(?=\S)[^\n]*?(?<!\\)\2(?:(?=\w){_VALUE}+)?|{_VALUE}+)",
    re.IGNORECASE,
)


def visible(text: str) -> str:
    """Return text on one line, without characters that a terminal hides or obeys."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def visible_lines(text: str) -> str:
    """Return text without such characters and commands to logs, with its line ends and tabs.

    An escape is one of JSON: a JSON document keeps its meaning.
    """
    shown = "\n".join(
        line
        if line.isprintable()
        else "".join(sign if sign == "\t" else _escaped(sign) for sign in line)
        for line in text.split("\n")
    )
    return _LOG_COMMAND.sub(_first_escaped, shown) if "::" in shown or "##" in shown else shown


def visible_document(document: object) -> str:
    """Return JSON of several lines that are visible, with the last line end."""
    return visible_lines(json.dumps(document, indent=1, ensure_ascii=False)) + "\n"


# GitHub Actions, Azure Pipelines and TeamCity obey such lines of a log.
_LOG_COMMAND = re.compile(r"^(\s*):(?=:)|()#(?=#\w*\[)", re.MULTILINE)


def shortened(text: str, limit: int = LONGEST_ERROR) -> str:
    """Return text of at most ``limit`` characters, and how many are left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit} more characters)"


def said(text: str) -> str:
    """Return text of another program for people. It is cut first, so that its length is bounded."""
    return visible(shortened(text))


def without_secrets(text: str) -> str:
    """Return text with stars in place of users and passwords of URLs, and of secret parameters."""
    shown = _LINE.sub(_without_users, _WORD.sub(_without_user, text))
    return _PARAMETER.sub(rf"\1{HIDDEN}", shown)


def _without_user(word: re.Match[str]) -> str:
    before, at, host = word[0].rpartition("@")
    scheme = _SCHEME.search(before)
    return f"{before[: scheme.end()]}{HIDDEN}{at}{host}" if scheme else word[0]


def _without_users(line: re.Match[str]) -> str:
    before, at, after = line[0].rpartition("@")  # each search for an @ finds one
    return _USER.sub(rf"\1{HIDDEN}@", before + at) + after


def print_error(text: str) -> None:
    """Print one line on standard error, if it can be: visible, short, without secrets."""
    with suppress(OSError):
        print(shortened(visible(without_secrets(text))), file=sys.stderr)


class VisibleStream:
    """A text stream that shows control characters and commands to logs in place of sending them.

    ``unfiltered``: the stream itself. ``name``: what an error calls it.
    """

    def __init__(self, stream: TextIO, name: str = "the output") -> None:
        self.unfiltered = stream
        self._name = name
        self._error: OSError | None = None

    def write(self, text: str) -> int:
        """Write text with what would be obeyed escaped. Raises: OSError."""
        self.put(visible_lines(text))
        return len(text)

    def put(self, text: str) -> None:
        """Write text as it is: it is visible, apart from colours. Raises: OSError."""
        try:
            self.unfiltered.write(text)
        except OSError as error:
            self._note(error)
            raise

    def flush(self) -> None:
        """Write what waits. Raises: OSError, also that of an earlier call."""
        if self._error is not None:
            raise self._error
        try:
            self.unfiltered.flush()
        except OSError as error:
            self._note(error)
            raise

    def _note(self, error: OSError) -> None:
        """Keep an error, and the interpreter from writing what waits once more when it ends."""
        error.filename = self._name
        self._error = error
        with suppress(OSError, ValueError), open(os.devnull, "wb") as null:
            os.dup2(null.fileno(), self.unfiltered.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


def unfiltered(stream: TextIO) -> TextIO:
    """Return a stream as it is, for those who move the cursor of a terminal."""
    return stream.unfiltered if isinstance(stream, VisibleStream) else stream


@contextmanager
def visible_output() -> Iterator[None]:
    """Let nothing that is printed in the block reach a terminal as a control character."""
    before = sys.stdout, sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as null:
        errors = null if sys.stderr is None else unfiltered(sys.stderr)  # None: it is closed
        sys.stdout = cast(TextIO, VisibleStream(unfiltered(sys.stdout), "standard output"))
        sys.stderr = cast(TextIO, VisibleStream(errors, "standard error"))
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


def _first_escaped(command: re.Match[str]) -> str:
    return f"{command[1] or ''}\\u{ord(command[0][-1]):04x}"


def _escaped(sign: str) -> str:
    if sign.isprintable():
        return sign
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
