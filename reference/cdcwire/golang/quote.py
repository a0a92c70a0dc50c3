r"""Go's ``strconv.Quote`` without its outer quotes, and the way back.

Any bytes become printable text and come back equal. Quoting reads the bytes as UTF-8. Each invalid
byte becomes ``\xHH``; printable characters are unchanged. The set of printable characters follows
Unicode 15.0.0 (``golang.printable``), whatever the Python version knows.
"""

from __future__ import annotations

import re

from cdcwire.core.caches import Memo
from cdcwire.golang.printable import is_printable

_NAMED = {"\a": "a", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v"}
_NAMED_BACK = {letter: char for char, letter in _NAMED.items()} | {'"': '"', "\\": "\\"}


def _quoted(char: str) -> str:
    """Return a character as Go quotes it; a lone surrogate stands for a byte."""
    code = ord(char)
    if char in _NAMED:
        return f"\\{_NAMED[char]}"
    if char in '"\\':
        return f"\\{char}"
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    if 0xDC80 <= code < 0xDD00:
        return f"\\x{code - 0xDC00:02x}"
    if is_printable(code):
        return char
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_QUOTED = Memo(_quoted)

_ESCAPE = re.compile(
    r"\\(?:"
    r"[abfnrtv\\\"]|x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})"
    r")?|[\"\n]"
)


class QuoteError(ValueError):
    """The text is not the inside of a Go string. ``index``: the character where that shows."""

    def __init__(self, problem: str, index: int) -> None:
        super().__init__(problem, index)
        self.problem = problem
        self.index = index

    def __str__(self) -> str:
        return f"character {self.index}: {self.problem}"


def quote(raw: bytes) -> str:
    """Return bytes as the inside of a Go string. Source: open-protocol, "binary quoting"."""
    return "".join([_QUOTED[char] for char in raw.decode("utf-8", "surrogateescape")])


def unquote(text: str) -> bytes:
    """Return the bytes that the inside of a Go string stands for.

    ``text`` is well-formed: it has no lone surrogates. Octal escapes and hex digits of either case
    are read too, although ``quote`` never writes them.
    Raises: QuoteError for a bare quote or newline, and for an escape that Go does not have.
    """
    return _ESCAPE.sub(_unescape, text).encode("utf-8", "surrogateescape")


def _unescape(found: re.Match[str]) -> str:
    usual = _USUAL.get(found[0])
    if usual is not None:
        return usual
    byte, octal, short, long = found.groups()
    if byte is not None:
        return _raw(int(byte, 16))
    if octal is not None:
        code = int(octal, 8)
        if code > 0xFF:
            raise QuoteError(f"\\{octal} is more than a byte", found.start())
        return _raw(code)
    if short is not None or long is not None:
        code = int(short or long, 16)
        if 0xD800 <= code < 0xE000 or code > 0x10FFFF:
            raise QuoteError(f"{found.group()} is not a character", found.start())
        return chr(code)
    if found.group() == "\\":
        raise QuoteError("a backslash begins no escape that Go has", found.start())
    raise QuoteError("a quote or newline is not escaped", found.start())


def _raw(byte: int) -> str:
    return chr(byte) if byte < 0x80 else chr(0xDC00 + byte)


# The escapes that ``quote`` writes for bytes.
_USUAL = {f"\\{letter}": char for letter, char in _NAMED_BACK.items()} | {
    f"\\x{byte:02x}": _raw(byte) for byte in range(256)
}
