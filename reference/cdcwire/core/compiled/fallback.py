"""The rule of fallback: whatever is not plainly regular is given to the plain decoder."""

from __future__ import annotations

import struct


class Irregular(Exception):
    """The fast decoder does not read this message, which may be good or bad."""


IRREGULARITIES = (
    Irregular,
    LookupError,  # an index or a number that is not in a table
    ValueError,  # texts and numbers that do not parse; every DecodeError
    OverflowError,  # a number that does not fit into a float32
    struct.error,  # fewer bytes than a number needs
    RecursionError,  # JSON in too many levels
)
"""What a fast decoder raises for a message that it does not read."""

ENCODE_IRREGULARITIES = (*IRREGULARITIES, TypeError, AttributeError)
"""What a fast encoder raises for a row that it does not write: a value may be of any type."""
