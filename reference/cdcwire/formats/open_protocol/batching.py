"""Events to Kafka messages, in batches as the producer makes them.

A message is filled until it has ``max-batch-size`` rows, or the next row would make it too large.
The size is looked at before the row is added, and after compression. DDL and resolved events end
the batch and are sent alone, so that the order of events is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from cdcwire.core.claim_check import location
from cdcwire.core.errors import EncodeError, step
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.message import Message as OutMessage
from cdcwire.formats.open_protocol.events import ColumnWriter, from_event, handle_key_only
from cdcwire.formats.open_protocol.members import EVENT_ROW
from cdcwire.formats.open_protocol.message import Item, Row
from cdcwire.formats.open_protocol.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.open_protocol.wire import (
    ITEM_OVERHEAD,
    NUMBER_BYTES,
    encode_item,
    frame,
    write_file,
)
from cdcwire.model.events import Event, Table

RECORD_OVERHEAD = 36  # bytes that a Kafka record needs in addition to key and value

Pair: TypeAlias = "tuple[bytes, bytes]"  # the key item and the value item of an event


def _no_pair(event: Event) -> Pair | None:
    return None


def messages_of(
    events: Iterable[Event],
    settings: Settings = DEFAULT_SETTINGS,
    tables: Iterable[Table] = (),
    usual_pair: Callable[[Event], Pair | None] = _no_pair,
) -> Iterator[OutMessage]:
    """Yield the Kafka messages of events, and claim-check files before the messages of their rows.

    ``tables`` completes columns that come with their kind only. ``usual_pair``: the fast encoder's,
    for rows; what it does not make is made here.
    Raises: EncodeError for what the format can't carry, with the number of the event in the path.
    """
    columns = ColumnWriter(settings.time_zone, tables)
    batch = _Batch(settings)
    for index, event in enumerate(events):
        usual = usual_pair(event)
        if usual is not None and _size(usual) <= settings.max_message_bytes:
            yield from batch.add(usual)
            continue
        with step("events", index):
            item = from_event(event, settings, columns)
            stored, item, pair = _fit(item, settings)
        if stored is not None:
            yield stored
        if item.key.t == EVENT_ROW:
            yield from batch.add(pair)
        else:
            yield from batch.finish()
            yield _message([pair])
    yield from batch.finish()


def _fit(item: Item, settings: Settings) -> tuple[StoredFile | None, Item, Pair]:
    """Return an item that fits into a message, and the file that keeps what was cut from it."""
    pair = encode_item(item, settings.dialect, settings.compression)
    if not isinstance(item.value, Row) or _size(pair) <= settings.max_message_bytes:
        return None, item, pair
    if settings.large_message == "none" or item.key.ohk or item.key.ccl:
        raise _too_large(pair, settings, "open-protocol: batching")
    stored = None
    if settings.large_message == "handle-key-only":
        clause = "open-protocol: handle key only"
        key = replace(item.key, ohk=True)
    else:
        clause = "open-protocol: claim check"
        name, content = write_file(item, settings.dialect, settings.compression)
        stored = StoredFile(name, content)
        key = replace(item.key, ccl=location(settings.claim_check_storage_uri, name))
    reduced = Item(key, handle_key_only(item.value, settings, clause))
    pair = encode_item(reduced, settings.dialect, settings.compression)
    if _size(pair) > settings.max_message_bytes:
        raise _too_large(pair, settings, clause)
    return stored, reduced, pair


def _size(pair: Pair) -> int:
    return NUMBER_BYTES + ITEM_OVERHEAD + len(pair[0]) + len(pair[1]) + RECORD_OVERHEAD


def _too_large(pair: Pair, settings: Settings, clause: str) -> EncodeError:
    limit = settings.max_message_bytes
    return EncodeError(f"message too large: {_size(pair)} bytes, {limit} are allowed", clause)


def _message(pairs: list[Pair]) -> KafkaMessage:
    return KafkaMessage(*frame(pairs))


class _Batch:
    """The rows of the message that is being filled."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.pairs: list[Pair] = []
        self.size = 0

    def add(self, pair: Pair) -> Iterator[KafkaMessage]:
        """Take a row; yield the message that it no longer fits into."""
        size = len(pair[0]) + len(pair[1]) + ITEM_OVERHEAD
        is_full = len(self.pairs) >= self.settings.max_batch_size
        limit = self.settings.max_message_bytes
        if is_full or self.size + RECORD_OVERHEAD + size > limit:
            yield from self.finish()
        if not self.pairs:
            self.size = NUMBER_BYTES
        self.pairs.append(pair)
        self.size += size

    def finish(self) -> Iterator[KafkaMessage]:
        """Yield what was taken so far, if anything."""
        if self.pairs:
            yield _message(self.pairs)
            self.pairs = []
