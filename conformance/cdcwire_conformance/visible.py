"""Text of others as a terminal may show it."""

from __future__ import annotations

UNSEEN = str.maketrans({"\r": "\\r", "\n": "\\n", "\t": "\\t"})


def visible(text: str) -> str:
    """Return text without signs that a terminal hides or obeys."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)
