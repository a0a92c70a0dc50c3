"""Codecs behind the protocol: a request as a JSON object in, an answer as a JSON object out.

A decoder takes one message and gives its events; it refuses by raising DecodeError. Whatever else
it raises is not caught here: the caller decides what a crash looks like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.format import Context
from cdcwire.core.message import Message
from cdcwire.core.options import OptionError
from cdcwire.model.events import Event, Table
from cdcwire.model.text import (
    Json,
    TextFormError,
    event_from_json,
    event_to_json,
    table_from_json,
)
from cdcwire_conformance.compressions import known_compressions
from cdcwire_conformance.protocol.messages import (
    bytes_from_json,
    message_from_json,
    message_to_json,
)


class Decode(Protocol):
    """A decoder: like ``Format.to_events``, or with events in the text form."""

    def __call__(
        self, message: Message, /, *, context: Context
    ) -> Iterable[Event | Mapping[str, Json]]:
        """Return the events of a message. Raises: DecodeError."""
        ...


class Encode(Protocol):
    """An encoder: like ``Format.from_events``."""

    def __call__(self, events: Iterable[Event], /, *, context: Context) -> Iterable[Message]:
        """Return the messages of events. Raises: EncodeError."""
        ...


Prepared: TypeAlias = Callable[[Iterable[Message], Context], Context]


def context_of(request: Mapping[str, Json]) -> Context:
    """Return what a request tells beside the bytes. Raises: ValueError."""
    return Context(
        request.get("options") or {},
        tables_of(request),
        request.get("schemas") or {},
        {
            location: bytes_from_json(blob, f"blobs.{location}") or b""
            for location, blob in (request.get("blobs") or {}).items()
        },
        compressions=known_compressions(),
    )


def tables_of(request: Mapping[str, Json]) -> tuple[Table, ...]:
    """Return the table definitions of a request. Raises: TextFormError."""
    return tuple(
        table_from_json(table, ("tables", index))
        for index, table in enumerate(request.get("tables") or ())
    )


def answer_decode(
    request: Mapping[str, Json], decode: Decode, prepared: Prepared | None = None
) -> dict[str, Json]:
    """Return the answer to a decode request, without its number.

    ``prepared``: as of ``Format``, what messages tell about each other.
    """
    context = context_of(request)
    messages = [message_from_json(document) for document in request["messages"]]
    events: list[Json] = []
    try:
        context = prepared(messages, context) if prepared is not None else context
    except OptionError as error:
        return {"rejected": {"problem": str(error)}}
    for index, message in enumerate(messages):
        try:
            for event in decode(message, context=context):
                events.append(event if isinstance(event, Mapping) else event_to_json(event))
        except DecodeError as error:
            return {
                "rejected": {
                    "problem": f"{error.problem} ({error.clause})",
                    "message": index,
                    "offset": error.offset,
                    "path": list(error.path),
                }
            }
        except OptionError as error:
            return {"rejected": {"problem": str(error)}}
    return {"events": events}


def answer_encode(request: Mapping[str, Json], encode: Encode) -> dict[str, Json]:
    """Return the answer to an encode request, without its number."""
    try:
        context = context_of(request)
        events = read_events(request["events"], context.tables)
        messages = [message_to_json(message) for message in encode(events, context=context)]
    except (EncodeError, TextFormError) as error:
        return {"rejected": {"problem": error.problem, "path": list(error.path)}}
    except OptionError as error:
        return {"rejected": {"problem": str(error)}}
    return {"messages": messages}


def read_events(documents: Sequence[Json], tables: Sequence[Table]) -> list[Event]:
    """Return the events of their text forms. Raises: TextFormError."""
    return [
        event_from_json(document, tables, ("events", index))
        for index, document in enumerate(documents)
    ]
