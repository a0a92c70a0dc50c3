"""Parts of strings in JSON: escapes, patterns of usual strings, characters in UTF-8, base64."""

from __future__ import annotations

import binascii
import re
import sys
from codecs import utf_8_decode
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in the stubs

from cdcwire.core.errors import DecodeError

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
_SURROGATES = re.compile("[\udc80-\udcff]")  # of bytes that are not UTF-8
USUAL_ESCAPE = re.compile(rf"\\({_USUAL})")
USUAL_STRING = re.compile(
    rb'[^"\\\x00-\x1f]*(?:\\(?:%b)[^"\\\x00-\x1f]*){1,1000}"' % _USUAL.encode()
)
# What was matched once is never tried in another way, where Python knows how to say so: that is
# faster, and needs no memory for each escape.
ONCE = "+" if sys.version_info >= (3, 11) else ""
STRING = r'[^"\\\x00-\x1f]*@(?:\\.[^"\\\x00-\x1f]*@)*@'.replace("@", ONCE)
"""The pattern of the inside of a string, for fast decoders. ``unescaped`` checks its escapes."""


def unescaped(inside: str) -> str:
    """Return the text of the inside of a string, for fast decoders. Raises: ValueError."""
    text: str = scanstring(inside + '"', 0)[0]
    if not text.isascii():
        text.encode()  # no lone surrogates
    return text


def is_begun(data: bytes) -> bool:
    """Return whether more bytes can make a character in UTF-8 of these."""
    try:
        utf_8_decode(data, "strict", False)
    except UnicodeDecodeError:
        return False
    return True


def as_go(data: bytes) -> str:
    r"""Return text with U+FFFD for each byte that is not UTF-8, as Go reads it.

    Examples:
        >>> as_go(b"a\xff\xe2\x82b")
        'a\ufffd\ufffd\ufffdb'

    """
    return _SURROGATES.sub("\ufffd", data.decode("utf-8", "surrogateescape"))


_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_USUAL_BASE64 = re.compile(
    r"[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?"
)  # no bits after the end


def read_base64(text: str, start: int, clause: str) -> bytes:
    """Return the bytes of standard base64 with padding. Raises: DecodeError at ``start``."""
    if _BASE64.fullmatch(text) is None:
        raise DecodeError("a character is not one of base64", start, clause)
    if len(text) % 4:
        raise DecodeError("the padding is not what base64 asks for", start, clause)
    raw = binascii.a2b_base64(text)
    last = len(text) - 4
    if text and write_base64(raw[last // 4 * 3 :]) != text[last:]:
        raise DecodeError("bits after the last byte are set", start, clause)
    return raw


def usual_base64(text: str) -> bytes:
    """Return the bytes of standard base64 with padding, for fast decoders. Raises: ValueError."""
    if len(text) & 3 or _USUAL_BASE64.fullmatch(text) is None:
        raise ValueError("not base64")
    return binascii.a2b_base64(text)


def write_base64(raw: bytes) -> str:
    """Return bytes as standard base64 with padding."""
    return binascii.b2a_base64(raw, newline=False).decode("ascii")
