"""Events to messages, and messages to events: records by themselves, or in bodies.

Source: datahub-blob, "records", "updates".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from cdcwire.core.context import EVERYTHING, Selection
from cdcwire.core.errors import DecodeError, step
from cdcwire.core.message import KafkaMessage
from cdcwire.core.strict_json import JsonObject, read_json
from cdcwire.datahub.body import CONTENT_TYPES, BodySettings
from cdcwire.datahub.carrying import headers_of, read_records, value_of, write_records
from cdcwire.datahub.frame import MAGIC
from cdcwire.datahub.message import Record
from cdcwire.datahub.streamx import BlobMessage
from cdcwire.formats.datahub_blob.events import from_event, to_event
from cdcwire.formats.datahub_blob.members import RULES
from cdcwire.formats.datahub_blob.settings import DEFAULT_SETTINGS, Settings
from cdcwire.formats.datahub_blob.wire import encode, read_record
from cdcwire.model.events import Event

UsualRecords: TypeAlias = "Callable[[Event], tuple[bytes, ...] | None]"


def is_record(message: KafkaMessage, settings: Settings) -> bool:
    """Return whether the value is one record, not a body. Raises: DecodeError.

    ``encoding=auto``: a value is a body if its headers say so, if it begins with the frame's magic,
    or if it has a content encoding. A JSON object with ``Records`` or ``Action`` is a body too.
    """
    if settings.encoding != "auto":
        return settings.encoding == "record"
    headers = headers_of(message)
    content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type in CONTENT_TYPES or "content-encoding" in headers:
        return False
    value = value_of(message)
    if value.startswith(MAGIC) or settings.body.content_encoding != "none":
        return False
    found = read_json(value, RULES).value
    if not isinstance(found, JsonObject):
        return True
    names = found.by_name.keys()
    return not names & {"Records", "Action"}


def decode_messages(
    message: KafkaMessage, settings: Settings = DEFAULT_SETTINGS
) -> Iterator[tuple[BlobMessage, Record]]:
    """Yield the Blob messages that a message carries, with their records. Raises: DecodeError.

    An error inside a body is reported where the record's data is; the path names the record.
    """
    if is_record(message, settings):
        value = value_of(message)
        yield read_record(value, settings), Record(value)
        return
    for path, record in read_records(message, None, settings.body):
        assert isinstance(record.data, bytes)  # no fields: a blob topic
        with step(*path):
            try:
                found = read_record(record.data, settings)
            except DecodeError as error:
                error.offset = record.offset
                raise
        yield found, record


def events_of(
    message: KafkaMessage,
    settings: Settings = DEFAULT_SETTINGS,
    selection: Selection = EVERYTHING,
) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError."""
    for each, _ in decode_messages(message, settings):
        event = to_event(each, selection)
        if event is not None:
            yield event


def messages_of(
    events: Iterable[Event],
    settings: Settings = DEFAULT_SETTINGS,
    usual_records: UsualRecords = lambda event: None,
) -> Iterator[KafkaMessage]:
    """Yield messages. The two records of an update stay together, in one body.

    ``usual_records``: the fast encoder's, for rows; what it does not make is made here.
    Raises: EncodeError for what the format can't carry, with the number of the event in the path.
    """
    if settings.encoding == "record":
        for group in _records(events, settings, usual_records):
            for record in group:
                assert isinstance(record.data, bytes)
                yield KafkaMessage(None, record.data)
        return
    body: BodySettings = settings.body
    if settings.encoding == "auto":
        body = replace(body, encoding="json")
    yield from write_records(
        _records(events, settings, usual_records), None, body, settings.max_batch_size
    )


def _records(
    events: Iterable[Event], settings: Settings, usual_records: UsualRecords
) -> Iterator[list[Record]]:
    for index, event in enumerate(events):
        usual = usual_records(event)
        if usual is not None:
            yield [Record(data) for data in usual]
            continue
        with step("events", index):
            group = [Record(encode(message)) for message in from_event(event, settings)]
        yield group
