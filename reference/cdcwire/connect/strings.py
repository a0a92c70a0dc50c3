"""Strings as JsonConverter writes them."""

from __future__ import annotations

import re

from cdcwire.core.errors import EncodeError

_STRINGS = "connect: strings"
_SPECIAL = re.compile(r'["\\\x00-\x1f\U00010000-\U0010ffff]')
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SHORT = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def quoted(text: str) -> str:
    """Return a string with its quotes.

    Shape: short escapes where JSON has them, other characters below U+0020 as ``\\u001F``, those
    above U+FFFF as the escapes of their two surrogates, everything else plain.
    Raises: EncodeError for a lone surrogate, which no UTF-8 holds and no reader here accepts.
    """
    found = _SURROGATE.search(text)
    if found is not None:
        problem = f"the surrogate U+{ord(found.group()):04X} stands alone"
        raise EncodeError(problem, _STRINGS)
    return f'"{_SPECIAL.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04X}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}"
