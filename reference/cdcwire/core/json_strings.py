"""Parts of strings in JSON: escapes, patterns of usual strings, characters in UTF-8."""

from __future__ import annotations

import re
from codecs import utf_8_decode

ESCAPES = {
    ord('"'): '"',
    ord("\\"): "\\",
    ord("/"): "/",
    ord("b"): "\b",
    ord("f"): "\f",
    ord("n"): "\n",
    ord("r"): "\r",
    ord("t"): "\t",
}
ESCAPED = {chr(byte): char for byte, char in ESCAPES.items()}
# A string in which no escape is half of a pair. The regular expression keeps 100 bytes for each
# repetition of a group, so these are limited.
_USUAL = r'["\\/bfnrt]|u(?:[0-9a-ce-fA-CE-F][0-9a-fA-F]|[dD][0-7])[0-9a-fA-F]{2}'
USUAL_ESCAPE = re.compile(rf"\\({_USUAL})")
USUAL_STRING = re.compile(
    rb'[^"\\\x00-\x1f]*(?:\\(?:%b)[^"\\\x00-\x1f]*){1,1000}"' % _USUAL.encode()
)


def is_begun(data: bytes) -> bool:
    """Return whether more bytes can make a character in UTF-8 of these."""
    try:
        utf_8_decode(data, "strict", False)
    except UnicodeDecodeError:
        return False
    return True
