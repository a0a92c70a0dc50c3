"""JSON by the standard library, which loses nothing that a strict reader checks.

Objects are tuples of pairs, so a name that comes twice is seen. Numbers with a fraction or exponent
stay text. A text may still have lone surrogates: its reader encodes it.
"""

from __future__ import annotations

from json import JSONDecoder
from typing import Any

from cdcwire.core.compiled.fallback import Irregular


class Real(str):
    """A number with a fraction or exponent, as its text."""

    __slots__ = ()


def read_pairs(data: bytes) -> Any:
    """Return the value of a JSON text. Raises: ValueError, Irregular for NaN and infinities."""
    return _read(data.decode())


def _refuse(literal: str) -> None:
    raise Irregular


_read = JSONDecoder(object_pairs_hook=tuple, parse_float=Real, parse_constant=_refuse).decode
