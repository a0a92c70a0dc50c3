r"""Text inside a field: doubled quotes, or escapes where the files have no quote.

With a quote, every quote in the text is doubled and nothing else changes. Without a quote, LF
becomes ``\n``, CR ``\r``, a backslash is doubled, and each byte of a delimiter gets a backslash.

The producer's own escaper fails on delimiters that overlap themselves (``**`` in ``***``). This one
does not. It also escapes the end of a text that would run into the delimiter after it.
"""

from __future__ import annotations

import re

_ESCAPED = re.compile(rb"\\(.?)", re.DOTALL)
_MEANINGS = {b"n": b"\n", b"r": b"\r"}
_LETTERS = {b"\n": b"\\n", b"\r": b"\\r", b"\\": b"\\\\"}


def escape(text: bytes, delimiter: bytes) -> bytes:
    """Return the bytes of a text in files without quote.

    Source: csv, "bare fields"; the end of a text: choice.
    """
    written: list[bytes] = []
    offset = 0
    for found in re.finditer(rb"[\n\r\\" + re.escape(delimiter[:1]) + rb"]", text):
        start = found.start()
        if start < offset:
            continue  # inside a delimiter that is written already
        run = _run(text, start, delimiter)
        if run:
            piece = b"".join(b"\\" + text[i : i + 1] for i in range(start, start + run))
        elif text[start : start + 1] in _LETTERS:
            run, piece = 1, _LETTERS[text[start : start + 1]]
        else:
            continue
        written += (text[offset:start], piece)
        offset = start + run
    written.append(text[offset:])
    return b"".join(written)


def unescape(raw: bytes) -> bytes:
    """Return the text of a field without quote. Raises: ValueError for a backslash at its end."""
    if b"\\" not in raw:
        return raw
    return _ESCAPED.sub(_meaning, raw)


def double(text: bytes, quote: bytes) -> bytes:
    """Return the bytes of a text between quotes."""
    return text.replace(quote, quote + quote)


def undouble(raw: bytes, quote: bytes) -> bytes:
    """Return the text of a quoted field."""
    return raw.replace(quote + quote, quote)


def _run(text: bytes, start: int, delimiter: bytes) -> int:
    """Return how many bytes from ``start`` on a reader would take for (part of) a delimiter."""
    if text.startswith(delimiter, start):
        return len(delimiter)
    rest = text[start : start + len(delimiter)]
    if start + len(rest) < len(text) or not delimiter.startswith(rest):
        return 0
    return len(rest) if (rest + delimiter).startswith(delimiter) else 0


def _meaning(found: re.Match[bytes]) -> bytes:
    byte = found[1]
    if not byte:
        raise ValueError("the last backslash escapes nothing")
    return _MEANINGS.get(byte, byte)
