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
    r"""Return a string as JSON text, with its quotes.

    The text has short escapes where JSON defines them, and ``\u001F`` for other characters below
    U+0020. Characters above U+FFFF become the escapes of their two surrogates. All others are
    plain.
    Raises: EncodeError for a lone surrogate, which UTF-8 cannot hold and no reader here accepts.
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    found = _SURROGATE.search(text)
    if found is not None:
        problem = f"unpaired surrogate U+{ord(found.group()):04X}"
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
