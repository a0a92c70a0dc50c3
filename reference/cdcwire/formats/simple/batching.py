"""Events to messages of a queue: table schemas before rows, and what becomes of rows too large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cdcwire.core.claim_check import location, write_claim_check, write_raw_claim_check
from cdcwire.core.errors import EncodeError, step
from cdcwire.core.message import KafkaMessage, StoredFile
from cdcwire.core.message import Message as OutMessage
from cdcwire.formats.simple.events import MessageWriter
from cdcwire.formats.simple.message import CLAIM_CHECK, HANDLE_KEY_ONLY, RULES, Dml
from cdcwire.formats.simple.settings import Settings
from cdcwire.formats.simple.wire import write_message
from cdcwire.model.events import Event, RowChange, Table

RECORD_OVERHEAD = 36  # bytes that a Kafka record needs in addition to its value


def messages_of(
    events: Iterable[Event], settings: Settings, tables: Iterable[Table] = ()
) -> Iterator[OutMessage]:
    """Yield the Kafka messages of events, and claim-check files before the messages of their rows.

    ``tables``: definitions, which complete the columns of rows and are sent before them.
    Raises: EncodeError for what the format can't carry, with the number of the event in the path.
    """
    writer = MessageWriter(settings, tables)
    for index, event in enumerate(events):
        with step("events", index):
            for message in writer.messages(event):
                value = write_message(message, settings)
                if isinstance(message, Dml) and _size(value) > settings.max_message_bytes:
                    stored, value = _cut(event, message, value, writer)
                    if stored is not None:
                        yield stored
                yield KafkaMessage(None, value)


def _cut(
    event: Event, message: Dml, value: bytes, writer: MessageWriter
) -> tuple[StoredFile | None, bytes]:
    """Return the message of a row cut to its key, and the file that keeps what was cut."""
    settings = writer.settings
    if settings.large_message == "none" or message.handle_key_only:
        raise _too_large(value, settings, RULES.limits_clause)
    assert isinstance(event, RowChange)  # the message is a row
    stored, place, clause = None, "", HANDLE_KEY_ONLY
    if settings.large_message == "claim-check":
        clause = CLAIM_CHECK
        is_raw = settings.claim_check_raw_value
        name, content = write_raw_claim_check(value) if is_raw else write_claim_check(None, value)
        stored = StoredFile(name, content)
        place = location(settings.claim_check_storage_uri, name)
    reduced = write_message(writer.row(event, writer.definition(event), place), settings)
    if _size(reduced) > settings.max_message_bytes:
        raise _too_large(reduced, settings, clause)
    return stored, reduced


def _size(value: bytes) -> int:
    return len(value) + RECORD_OVERHEAD


def _too_large(value: bytes, settings: Settings, clause: str) -> EncodeError:
    limit = settings.max_message_bytes
    return EncodeError(f"message too large: {_size(value)} bytes, {limit} are allowed", clause)
