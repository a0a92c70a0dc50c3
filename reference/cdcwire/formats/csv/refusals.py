"""The settings that are refused, because their files can't be read back.

A file can be read back if the end of each field can be found. NULL must also differ from everything
that is not text: numbers, and the delimiter. Where a text looks like NULL the values say so
(``values``).
"""

from __future__ import annotations

import re
from functools import lru_cache

from cdcwire.formats.csv.escapes import escape, unescape

# All that numbers, true and false are made of.
_BARE = frozenset(b"0123456789+-.etruefals")
_NUMBER_LIKE = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MAX_DELIMITER = 3
_MAX_TEXT = 64  # of null and terminator


@lru_cache(maxsize=16)  # each message of a feed asks again
def problem_of(delimiter: bytes, quote: bytes, null: bytes, terminator: bytes) -> str | None:
    """Return why these settings are refused; None if they are not.

    Source: csv, "refused settings".
    """
    return (
        _of_delimiter(delimiter, quote)
        or _of_quote(quote)
        or _of_terminator(terminator, delimiter, quote)
        or _of_null(null, delimiter, quote, terminator)
    )


def _of_delimiter(delimiter: bytes, quote: bytes) -> str | None:
    shown = f"delimiter {delimiter!r}"
    if not 1 <= len(delimiter) <= _MAX_DELIMITER:
        return f"{shown} has {len(delimiter)} bytes; 1 to {_MAX_DELIMITER} are allowed"
    if not delimiter.isascii():
        return f"{shown} is not ASCII: the producer garbles it"
    if b"\r" in delimiter or b"\n" in delimiter:
        return f"{shown} has CR or LF"
    if set(delimiter) & set(quote):
        return f"{shown} shares a character with the quote {quote!r}"
    if set(delimiter) <= _BARE:
        return f"{shown} looks like part of a number, of true or of false"
    if not quote and set(delimiter) & set(b"nr\\"):
        return f"{shown} has n, r or a backslash, which escapes are made of"
    return None


def _of_quote(quote: bytes) -> str | None:
    shown = f"quote {quote!r}"
    if len(quote) > 1 or not quote.isascii():
        return f"{shown} is not one ASCII character"
    if quote in (b"\r", b"\n"):
        return f"{shown} is CR or LF"
    if set(quote) & _BARE:
        return f"{shown} looks like part of a number, of true or of false"
    return None


def _of_terminator(terminator: bytes, delimiter: bytes, quote: bytes) -> str | None:
    shown = f"terminator {terminator!r:.80}"
    if not terminator:
        return "an empty terminator ends nothing"
    if len(terminator) > _MAX_TEXT:
        return f"{shown} has {len(terminator)} bytes; up to {_MAX_TEXT} are allowed"
    if terminator.startswith(delimiter):
        return f"{shown} starts with the delimiter"
    if quote and quote in terminator:
        return f"{shown} has the quote"
    if not quote and set(terminator) - set(b"\r\n"):
        return f"{shown} is not made of CR and LF only: without quote nothing else is escaped"
    if set(terminator) <= _BARE:
        return f"{shown} looks like part of a number, of true or of false"
    for outer, inner in ((terminator, delimiter), (delimiter, terminator)):
        head, found, _ = outer.partition(inner)
        if found and head and set(head) <= _BARE:
            return f"after a number, {shown} and delimiter {delimiter!r} look the same"
    return None


def _of_null(null: bytes, delimiter: bytes, quote: bytes, terminator: bytes) -> str | None:
    shown = f"null {null!r:.80}"
    if len(null) > _MAX_TEXT:
        return f"{shown} has {len(null)} bytes; up to {_MAX_TEXT} are allowed"
    if _NUMBER_LIKE.fullmatch(null):
        return f"{shown} looks like a number"
    if quote and null.startswith(quote):
        return f"{shown} starts with the quote"
    for part, what in (
        (delimiter, "the delimiter"),
        (b"\r", "CR"),
        (b"\n", "LF"),
        (terminator, "the terminator"),
    ):
        if part in null:
            return f"{shown} has {what}"
    if not quote and not _is_complete(null):
        return f"{shown} ends in a lone backslash, which swallows what follows"
    if not quote and b"\\" in null and escape(unescape(null), delimiter) == null:
        return f"{shown} is what a text is written as"
    either = re.compile(re.escape(delimiter) + b"|" + re.escape(terminator))
    for after in (delimiter, terminator):
        found = either.search(null + after)
        if found is None or found.span() != (len(null), len(null) + len(after)):
            return f"{shown} can't be separated from what follows"
    return None


def _is_complete(null: bytes) -> bool:
    try:
        unescape(null)
    except ValueError:
        return False
    return True
