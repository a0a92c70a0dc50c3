"""Events to messages of a queue: one message an event, and what becomes of those too large."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cdcwire.core.claim_check import location, write_claim_check, write_raw_claim_check
from cdcwire.core.errors import EncodeError, step
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.message import Message as OutMessage
from cdcwire.formats.canal_json.events import Cut, from_event
from cdcwire.formats.canal_json.images import ImageWriter
from cdcwire.formats.canal_json.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.canal_json.wire import write_message
from cdcwire.model.events import Event, RowChange, Table

RECORD_OVERHEAD = 36  # bytes that a Kafka record needs in addition to key and value


def messages_of(
    events: Iterable[Event],
    settings: Settings = DEFAULT_SETTINGS,
    tables: Iterable[Table] = (),
    usual_object: Callable[[Event], bytes | None] = lambda event: None,
) -> Iterator[OutMessage]:
    """Yield the Kafka messages of events, and the claim-check files just before their messages.

    ``tables`` completes columns with what their own types leave open.
    ``usual_object``: the fast encoder's, for rows; what it does not make is made here.
    Raises: EncodeError for what the format can't carry, with the number of the event in the path.
    """
    images = ImageWriter(settings, tables)
    for index, event in enumerate(events):
        usual = usual_object(event)
        if usual is not None:
            value = settings.compression.compress(usual) if settings.compression else usual
            if _size(value) <= settings.max_message_bytes:
                yield KafkaMessage(None, value)
                continue
        with step("events", index):
            stored, value = _fit(event, settings, images)
        if stored is not None:
            yield stored
        yield KafkaMessage(None, value)


def _fit(event: Event, settings: Settings, images: ImageWriter) -> tuple[StoredFile | None, bytes]:
    """Return a message that is not too large, and the file that keeps what was cut from it."""
    message = from_event(event, settings, images)
    value = write_message(message, settings.dialect, settings.compression)
    if not isinstance(event, RowChange) or _size(value) <= settings.max_message_bytes:
        return None, value
    is_cut_already = message.tidb is not None and (
        message.tidb.only_handle_key or message.tidb.claim_check_location
    )
    if settings.large_message == "none" or is_cut_already:
        raise _too_large(value, settings, "canal-json: limits")
    stored, place = None, ""
    clause = "canal-json: handle key only"
    if settings.large_message == "claim-check":
        clause = "canal-json: claim check"
        is_raw = settings.claim_check_raw_value
        name, content = write_raw_claim_check(value) if is_raw else write_claim_check(None, value)
        stored = StoredFile(name, content)
        place = location(settings.claim_check_storage_uri, name)
    cut = from_event(event, settings, images, Cut(place))
    value = write_message(cut, settings.dialect, settings.compression)
    if _size(value) > settings.max_message_bytes:
        raise _too_large(value, settings, clause)
    return stored, value


def _size(value: bytes) -> int:
    return len(value) + RECORD_OVERHEAD


def _too_large(value: bytes, settings: Settings, clause: str) -> EncodeError:
    limit = settings.max_message_bytes
    return EncodeError(f"message too large: {_size(value)} bytes, {limit} are allowed", clause)
