"""Checks that a strict reader makes and a lenient one need not: features that a testee may decline.

A message that breaks only such a check still has one reading. No case of level ``must`` asks for
them, in any format.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "integer ranges": "refuses a number outside the range of its column or field",
        "text shapes": "refuses a text that is not of the form of its type: 2024-13-01 as a date",
        "json types": "refuses a number for a text, a text for a number, 1.0 for 1, and the like",
        "letter case": "refuses words of the format in other letters: insert for INSERT",
        "well-formed utf-8": "refuses texts and names that are not UTF-8",
        "lone surrogates": "refuses an escape of half a surrogate pair",
        "unique names": "refuses a duplicate member, column or field",
        "strict json": "refuses a byte order mark, NaN and other extensions of JSON",
        "strict base64": "refuses base64 without padding, with spaces, or of the URL-safe alphabet",
        "undefined types": "refuses a value of a column whose type is not defined",
        "not null": "refuses NULL where the schema forbids it",
        "limits": "refuses what is deeper, longer or larger than a limit of the page",
        "unneeded members": "refuses wrong, missing or surplus members that say nothing of the row",
        "checksums": "refuses wrong checksums and hashes, and sizes that repeat others",
        "paths": "refuses paths and index files that no producer writes",
    }
)


def checks(*names: str) -> dict[str, str]:
    """Return these checks with their descriptions, for the features of a format."""
    return {name: CHECKS[name] for name in names}
