"""A guess at the format of one message, with its evidence.

A format declares ``Format.identify``, which looks for its own signs: magic bytes, member names,
framing, paths. It reads a message of unknown origin, so it never raises, and its time and memory
are linear in the bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeAlias

from cdcwire.core.options import OptionValue

Sureness: TypeAlias = Literal["possible", "likely", "sure"]
Part: TypeAlias = Literal["key", "value", "path"]
OptionValues: TypeAlias = "Mapping[str, OptionValue]"
JsonObject: TypeAlias = "dict[str, object]"

SURENESS: tuple[Sureness, ...] = ("possible", "likely", "sure")
NO_OPTIONS: OptionValues = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Guess:
    """A format's opinion on one message.

    ``evidence``: what was found, at byte ``offset`` of ``part``. ``if_decoded``: how sure the
    format is once its decoder accepts the message; ``alone``: how sure the evidence alone makes it.
    ``options``: settings that the message shows. ``alternatives``: sets of further settings to
    try when decoding, the likeliest first. ``facts``: other findings for people, by name.
    """

    evidence: str
    part: Part = "value"
    offset: int = 0
    if_decoded: Sureness = "sure"
    alone: Sureness = "possible"
    options: OptionValues = field(default_factory=lambda: NO_OPTIONS)
    alternatives: tuple[OptionValues, ...] = (NO_OPTIONS,)
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def json_object(value: bytes | None) -> JsonObject | None:
    """Return the JSON object that fills the bytes, numbers as text; None for anything else."""
    if value is None or value.lstrip()[:1] != b"{":
        return None
    return _json_object(value)


def first_json_object(value: bytes) -> tuple[JsonObject, int] | None:
    """Return the JSON object at the start of the bytes, and where it ends."""
    if value[:1] != b"{":
        return None
    text = value.decode("utf-8", "surrogateescape")
    try:
        found, end = _LOOSE.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    size = len(text[:end].encode("utf-8", "surrogateescape"))
    return (found, size) if isinstance(found, dict) else None


def offset_of(value: bytes, member: str) -> int:
    """Return where a member of this name begins in JSON, for evidence; 0 if it is not found."""
    return max(value.find(json.dumps(member, ensure_ascii=False).encode()), 0)


# Numbers stay text: a hostile one costs no time, and no digit is lost.
_LOOSE = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False)


@lru_cache(maxsize=4)  # each format asks for the same message
def _json_object(value: bytes) -> JsonObject | None:
    try:
        found = _LOOSE.decode(value.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
