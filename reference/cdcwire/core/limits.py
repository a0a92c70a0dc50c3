"""Limits on what a few bytes can become: decompressed bytes, values of JSON, digits of decimals.

Every format has the same ones. A caller sets the first and the last by options. Names and integers
have limits too.
"""

from __future__ import annotations

import re

from cdcwire.core.errors import DecodeError
from cdcwire.core.options import option

MAX_DECOMPRESSED_BYTES = 64 * 1024 * 1024
MAX_JSON_VALUES = 1_000_000
MAX_DECIMAL_DIGITS = 1_000_000
MAX_NAME_BYTES = 1024
"""The longest name in JSON. A name of TiDB has at most 64 characters."""
MAX_JSON_DEPTH = 8
"""The deepest nesting of JSON in the formats of TiCDC."""
INT64_START, INT64_END, UINT64_END = -(1 << 63), 1 << 63, 1 << 64
FREE_SCALE = 64
"""A scale or exponent up to this, in either direction, is not counted."""
MAX_FAST_JSON_BYTES = 2 * MAX_JSON_VALUES - 2
"""A text of more bytes may have too many values, so fast decoders give it to the plain one."""

# What separates and opens values, or the beginning of a string, up to its end or its first escape.
_TOKEN = re.compile(rb'[,\[{\]}]|"[^"\\]*"?')
# The regular expression keeps 100 bytes for each repetition of a group, so these are limited.
_ESCAPED = re.compile(rb'(?:\\.[^"\\]*){1,1000}', re.DOTALL)
_OPENING, _CLOSING = b"[{", b"]}"


class SizeLimitError(ValueError):
    """Compressed bytes hold more than a caller allows."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} bytes; the option max-decompressed-bytes allows more")


def decompressed_bytes(default: int = MAX_DECOMPRESSED_BYTES) -> int:
    """Return the field of the option ``max-decompressed-bytes``."""
    return option(
        "max-decompressed-bytes",
        default,
        "Largest size of decompressed bytes, in bytes.",
    )


def decimal_digits() -> int:
    """Return the field of the option ``max-decimal-digits``."""
    return option(
        "max-decimal-digits",
        MAX_DECIMAL_DIGITS,
        "Largest number of digits that scales and exponents add to the decimals of a message. "
        f"Those up to {FREE_SCALE} are not counted.",
    )


class DecimalDigits:
    """Counts the digits that scales and exponents add to the decimals of one message."""

    __slots__ = ("_clause", "_left", "_limit")

    def __init__(self, limit: int, clause: str) -> None:
        self._limit = self._left = limit
        self._clause = clause

    @property
    def added(self) -> int:
        """The digits counted so far."""
        return self._limit - self._left

    def add(self, scale: int, offset: int) -> None:
        """Count a decimal at ``offset``. Raises: DecodeError if the sum is too large."""
        digits = abs(scale)
        if digits <= FREE_SCALE:
            return
        self._left -= digits
        if self._left < 0:
            problem = (
                f"scales and exponents add more than {self._limit} digits to decimals; "
                "the option max-decimal-digits allows more"
            )
            raise DecodeError(problem, offset, self._clause)


def check_json_values(data: bytes, start: int, end: int, clause: str) -> None:
    """Check the number of values of the JSON text at ``start``; an empty container counts as two.

    It reads no further than ``end`` or the end of the value.
    Raises: DecodeError at the first value too many.
    """
    if end - start > MAX_FAST_JSON_BYTES:
        _count_values(data, start, end, clause, MAX_JSON_VALUES)


class JsonValues:
    """Counts the values of the JSON texts of one message of ``size`` bytes.

    Together they have at most ``MAX_JSON_VALUES`` values, or one for each four bytes of a larger
    message, where many rows share one message. ``check_json_values`` limits each text.
    Nothing is counted while the texts are too short to have too many.
    """

    __slots__ = ("_clause", "_counted", "_limit", "_most", "_uncounted")

    def __init__(self, clause: str, size: int) -> None:
        self._clause = clause
        self._limit = max(MAX_JSON_VALUES, size // 4)
        self._most = 0  # values that the texts may have
        self._counted = 0
        self._uncounted: list[tuple[bytes, int, int]] = []

    def add(self, data: bytes, start: int, end: int) -> None:
        """Count a text. Raises: DecodeError at the first value too many."""
        self._most += (end - start) // 2 + 1
        self._uncounted.append((data, start, end))
        if self._most > self._limit:
            for text in self._uncounted:
                self._counted += _count_values(*text, self._clause, self._limit, self._counted)
            self._uncounted.clear()


def _count_values(
    data: bytes, start: int, end: int, clause: str, limit: int, before: int = 0
) -> int:
    """Return the number of values of a text. Raises: DecodeError.

    ``limit``: of these values and the ``before`` values of other texts.
    """
    depth, count, position = 0, 1, start
    if before + count > limit:
        raise DecodeError(f"more than {limit} values", start, clause)
    while found := _TOKEN.search(data, position, end):
        token, position = found.group(), found.end()
        if token in _CLOSING:
            depth -= 1
            if not depth:
                break
            continue
        if token in _OPENING:
            depth += 1
        elif token != b",":
            if len(token) > 1 and token[-1:] == b'"':
                continue
            while escaped := _ESCAPED.match(data, position, end):
                position = escaped.end()
            position += data.startswith(b'"', position)
            continue
        count += 1
        if before + count > limit:
            raise DecodeError(f"more than {limit} values", found.start(), clause)
    return count
