"""Events through a format and back, and the form in which events are compared."""

from __future__ import annotations

import json
from collections.abc import Iterable

from cdcwire.format import EVERYTHING, Context, Format, Selection
from cdcwire.message import Message, StoredFile
from cdcwire.model.events import Event, Table
from cdcwire.model.text import event_to_json
from cdcwire_generators.carried import Options, carried


def encoded(
    events: Iterable[Event], through: Format, options: Options | None = None
) -> list[Message]:
    """Return the messages that a format makes of events; claim-check files are among them."""
    return list(through.encode(events, Context(options or {})))


def decoded(
    messages: Iterable[Message],
    through: Format,
    options: Options | None = None,
    *,
    selection: Selection = EVERYTHING,
    tables: tuple[Table, ...] = (),
) -> list[Event]:
    """Return the events of messages. Claim-check files stand before the messages that need them."""
    events: list[Event] = []
    blobs: dict[str, bytes] = {}
    prefix = str((options or {}).get("claim-check-storage-uri", "")).rstrip("/")
    for message in messages:
        if isinstance(message, StoredFile):
            blobs[f"{prefix}/{message.path}" if prefix else message.path] = message.value
            continue
        context = Context(options or {}, tables, blobs=blobs, selection=selection)
        events += through.decode(message, context)
    return events


def sent_through(
    events: Iterable[Event], through: Format, options: Options | None = None
) -> list[Event]:
    """Return the events that come back when a format encodes and decodes them."""
    return decoded(encoded(events, through, options), through, options)


def predicted(
    events: Iterable[Event], through: Format, options: Options | None = None
) -> list[Event]:
    """Return the events that are to come back. Raises: NotCarriedError where encoding raises."""
    return [carried(event, through, options) for event in events]


def texts_of(events: Iterable[Event]) -> list[str]:
    """Return each event as one line of JSON, in which -0.0, NaN and the types of values count."""
    return [
        json.dumps(event_to_json(event), sort_keys=True, ensure_ascii=False) for event in events
    ]
