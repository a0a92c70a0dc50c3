"""Codecs as testees: a request as a JSON object in, an answer as a JSON object out.

A decoder takes one message and gives its events; it refuses by raising DecodeError. This module
does not catch other exceptions: the caller decides what a crash looks like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeAlias

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError, EncodeError
from cdcwire.core.message import Message
from cdcwire.core.options import OptionError
from cdcwire.files.json_messages import message_to_json
from cdcwire.model.events import Event
from cdcwire.model.text import Json, TextFormError, event_to_json
from cdcwire_conformance.protocol.requests import context_of, messages_of, read_events


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


def answer_decode(
    request: Mapping[str, Json], decode: Decode, prepared: Prepared | None = None
) -> dict[str, Json]:
    """Return the answer to a decode request, without its number. Raises: RequestError.

    ``prepared``: as of ``Format``, what messages say about each other.
    """
    context = context_of(request)
    messages = messages_of(request)
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
    """Return the answer to an encode request, without its number. Raises: RequestError."""
    context = context_of(request)
    try:
        events = read_events(request["events"], context.tables)
        messages = [message_to_json(message) for message in encode(events, context=context)]
    except (EncodeError, TextFormError) as error:
        return {"rejected": {"problem": error.problem, "path": list(error.path)}}
    except OptionError as error:
        return {"rejected": {"problem": str(error)}}
    return {"messages": messages}
