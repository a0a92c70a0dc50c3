"""JSON for fast decoders, which loses nothing that a strict reader checks.

``read_pairs`` has objects as tuples of pairs, so a name that comes twice is seen. ``read_objects``
has dictionaries, by orjson where it is installed and loses nothing. Numbers with a fraction or
exponent stay text. A text may still have lone surrogates: its reader encodes it.

orjson rounds long integers and drops repeated members silently. Its value is used only if it writes
the very same bytes again, since then nothing was lost. The standard library reads all other texts.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from json import JSONDecoder
from typing import Any

from cdcwire.core.compiled.interfaces import Irregular

_orjson: Any = import_module("orjson") if find_spec("orjson") else None


class Real(str):
    """A number with a fraction or exponent, as its text."""

    __slots__ = ()


def read_pairs(data: bytes) -> Any:
    """Return the value of a JSON text. Raises: ValueError, Irregular for NaN and infinities."""
    return _read_pairs(data.decode())


def read_objects(data: bytes) -> Any:
    """Return the value of a JSON text. A number with a fraction is a ``Real`` or a float.

    Raises: ValueError; Irregular for NaN, infinities and repeated members.
    """
    found = None if _orjson is None else read_again_written(data, _orjson.loads, _orjson.dumps)
    return _read(data.decode()) if found is None else found


def read_again_written(
    data: bytes, loads: Callable[[bytes], Any], dumps: Callable[[Any], bytes]
) -> Any:
    """Return the value that a library reads, None unless the library writes the same bytes again.

    Texts with Unicode escapes are left out, as libraries differ in the use of them.
    """
    if b"\\u" in data:
        return None
    try:
        found = loads(data)
        return found if dumps(found) == data else None
    except (TypeError, ValueError):  # also for more levels than it writes
        return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Irregular
    return found


def _refuse(literal: str) -> None:
    raise Irregular


_read_pairs = JSONDecoder(object_pairs_hook=tuple, parse_float=Real, parse_constant=_refuse).decode
_read = JSONDecoder(object_pairs_hook=_unique, parse_float=Real, parse_constant=_refuse).decode
