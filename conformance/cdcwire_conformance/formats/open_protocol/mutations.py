"""The rules of Open Protocol.

Key and value are lists of items with their lengths, and each item is one JSON object. So an item
can neither lose its last byte nor gain one. The next bytes are a length, and its first byte is 0,
not white space. The exceptions:

* A value of resolved events may be empty: the cut to nothing is legal.
* An unknown version, column type or DDL code has a reading: the rest is as before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from cdcwire.core.context import Context
from cdcwire.core.limits import UINT64_END
from cdcwire.core.message import KafkaMessage, Message
from cdcwire_conformance.corpus.mutations.rules import (
    BOMB_SIZE,
    FormatRules,
    Layer,
    NumberRule,
    Site,
)
from cdcwire_conformance.families.mutations import compression_layers

_NUMBER_BYTES = 8
_EVENT_TYPES = frozenset({"open-protocol: event types"})
_ITEM_LENGTHS = frozenset({"open-protocol: item lengths"})
_WRAPS_TO_ZERO = UINT64_END - _NUMBER_BYTES  # with the length itself added, modulo 2**64


def _rewrite(site: Site, number: int) -> bytes | None:
    span = site.span
    if span.clause in _ITEM_LENGTHS:
        return _with_number(site.raw, span.start, number)
    written = site.raw[span.start : span.end]
    digits = re.search(rb"[0-9]+$", written)
    length = site.spans.get((*span.path[:2], "length"))
    if digits is None or length is None:
        return None
    member = written[: digits.start()] + str(number).encode()
    raw = site.raw[: span.start] + member + site.raw[span.end :]
    item_size = int.from_bytes(raw[length.start : length.end], "big")
    return _with_number(raw, length.start, item_size + len(member) - len(written))


def _with_number(raw: bytes, start: int, number: int) -> bytes | None:
    if not 0 <= number < UINT64_END:
        return None
    return raw[:start] + number.to_bytes(_NUMBER_BYTES, "big") + raw[start + _NUMBER_BYTES :]


def _is_no_value_of_resolved(message: Message, part: str, size: int) -> bool:
    value = message.value if isinstance(message, KafkaMessage) else None
    return part == "value" and size == 0 and value is not None and not any(value)


def layers(part: str, raw: bytes, context: Context) -> Iterator[Layer]:
    """Yield the items of a frame, or the JSON of a compressed item."""
    at = _NUMBER_BYTES if part == "key" else 0
    found = []
    while at + _NUMBER_BYTES < len(raw):
        start = at + _NUMBER_BYTES
        at = start + int.from_bytes(raw[at:start], "big")
        if at > len(raw):
            yield from compression_layers(raw, context)
            return
        found.append(Layer(raw[start:at], partial(_with_item, raw, start, at)))
    yield from found


def _with_item(raw: bytes, start: int, end: int, item: bytes) -> bytes:
    length = len(item).to_bytes(_NUMBER_BYTES, "big")
    return raw[: start - _NUMBER_BYTES] + length + item + raw[end:]


RULES = FormatRules(
    layers=layers,
    parts=("key", "value"),
    rewrite=_rewrite,
    legal_cut=_is_no_value_of_resolved,
    numbers=(
        NumberRule(
            r"(?:key|value)\[\d+\]\.length",
            "length",
            steps=(-1, 1),
            values=(_WRAPS_TO_ZERO,),
            bomb=BOMB_SIZE,
            clauses=_ITEM_LENGTHS,
        ),
        NumberRule(r"key\[\d+\]\.t", "tag", values=(0, 4), clauses=_EVENT_TYPES),
    ),
)
