"""The frames around the JSON: Kafka key and value as lists of items, each with its length.

    key   = u64 1, then for each item u64 length, key JSON
    value =        for each item u64 length, value JSON

All numbers are 8 bytes, big-endian. Both lists have the same number of items.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from cdcwire.core.errors import DecodeError, TruncatedError, step
from cdcwire.core.reader import Reader

ItemBounds: TypeAlias = "tuple[int, int]"  # of an item: start, end

BATCH_VERSION = 1
NUMBER_BYTES = 8
ITEM_OVERHEAD = 2 * NUMBER_BYTES  # the two lengths of an item


def read_key_frame(key: bytes | None) -> list[ItemBounds]:
    """Return the places of the key items.

    Raises: TruncatedError; DecodeError for another batch version, or without any item.
    """
    with step("key"):
        if key is None:
            raise TruncatedError("there is no Kafka key", 0, "open-protocol: framing")
        reader = Reader(key)
        version = int.from_bytes(reader.take(NUMBER_BYTES, "open-protocol: batch version"), "big")
        if version != BATCH_VERSION:
            problem = f"the batch version is {version}; only {BATCH_VERSION} is defined"
            raise DecodeError(problem, 0, "open-protocol: batch version")
        if not reader.left:
            raise DecodeError("the key has no item", reader.offset, "open-protocol: item counts")
        return _read_items(reader)


def read_value_frame(value: bytes) -> list[ItemBounds]:
    """Return the places of the value items. Raises: TruncatedError."""
    with step("value"):
        return _read_items(Reader(value))


def _read_items(reader: Reader) -> list[ItemBounds]:
    places: list[ItemBounds] = []
    try:
        while reader.left:
            length_bytes = reader.take(NUMBER_BYTES, "open-protocol: item lengths")
            length = int.from_bytes(length_bytes, "big")
            # Python's integers do not wrap, so start + length is safe to compare.
            start = reader.offset
            if length > reader.left:
                problem = f"an item of {length} bytes is announced, {reader.left} are left"
                raise TruncatedError(problem, reader.end, "open-protocol: item lengths")
            reader.offset = start + length
            places.append((start, reader.offset))
    except DecodeError as error:
        error.path = (len(places), *error.path)
        raise
    return places


def check_item_counts(
    keys: Sequence[ItemBounds], values: Sequence[ItemBounds], value_end: int
) -> None:
    """Raise DecodeError unless there are as many values as keys."""
    if len(keys) == len(values):
        return
    problem = f"{len(keys)} key items, but {len(values)} value items"
    more_values = len(values) > len(keys)
    offset = values[len(keys)][0] - NUMBER_BYTES if more_values else value_end
    path = ("value", len(keys) if more_values else len(values))
    raise DecodeError(problem, offset, "open-protocol: item counts", path)


def write_key_frame(items: Sequence[bytes]) -> bytes:
    """Return items as a Kafka key: the version, then each item after its length."""
    return BATCH_VERSION.to_bytes(NUMBER_BYTES, "big") + write_value_frame(items)


def write_value_frame(items: Sequence[bytes]) -> bytes:
    """Return items as a Kafka value: each item after its length."""
    return b"".join(len(item).to_bytes(NUMBER_BYTES, "big") + item for item in items)
