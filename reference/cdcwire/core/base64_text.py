"""Standard base64 as the producers write it, read strictly."""

from __future__ import annotations

import base64
import binascii
import re

from cdcwire.core.errors import DecodeError

_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_USUAL = re.compile(r"[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?")  # no bits after the end


def read_base64(text: str, start: int, clause: str) -> bytes:
    """Return the bytes of standard base64 with padding. Raises: DecodeError at ``start``."""
    if _BASE64.fullmatch(text) is None:
        raise DecodeError("a character is not one of base64", start, clause)
    if len(text) % 4:
        raise DecodeError("the padding is not what base64 asks for", start, clause)
    raw = binascii.a2b_base64(text)
    last = len(text) - 4
    if text and base64.b64encode(raw[last // 4 * 3 :]) != text[last:].encode():
        raise DecodeError("bits after the last byte are set", start, clause)
    return raw


def usual_base64(text: str) -> bytes:
    """Return the bytes of standard base64 with padding, for fast decoders. Raises: ValueError."""
    if len(text) & 3 or _USUAL.fullmatch(text) is None:
        raise ValueError("not base64")
    return binascii.a2b_base64(text)


def write_base64(raw: bytes) -> str:
    """Return bytes as standard base64 with padding."""
    return binascii.b2a_base64(raw, newline=False).decode("ascii")
