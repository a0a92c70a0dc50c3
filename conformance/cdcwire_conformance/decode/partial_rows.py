"""The rows of a JSON message that has an unreadable value.

The rest of the message still says which rows it changes. So the value is replaced by one that can
be read, and the message is decoded again. A comparison takes operation, position and key of these
rows, and no value: so it knows which rows of the other feed it can't judge.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from cdcwire.core.errors import DecodeError
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.rows import Row
from cdcwire.format import MessageDecoder
from cdcwire.model.events import Event

MOST_VALUES = 4  # of a message that are replaced
_STAND_INS: tuple[Any, ...] = (None, 0, "", "0", False, [], {})


def partial_rows(
    message: Message, error: DecodeError, columns: Collection[str], decode: MessageDecoder
) -> Sequence[Row | Event]:
    """Return the changes of a message that ``decode`` refuses with ``error``.

    ``columns``: those whose values may be replaced.
    Returns: nothing if the error is not in such a value, or no other value can be read either.
    """
    if not isinstance(message, KafkaMessage):
        return ()
    try:
        document = json.loads(message.value or b"")
    except (ValueError, RecursionError):
        return ()
    for _ in range(MOST_VALUES):
        place = _place_of(document, error, columns)
        if place is None:
            return ()
        container, step = place
        refused = error
        for stand_in in _STAND_INS:
            container[step] = stand_in
            try:
                value = json.dumps(document).encode()
                return list(decode(replace(message, value=value)))
            except DecodeError as other:
                if other.path != error.path:
                    refused = other
                    break
            except RecursionError:
                return ()
        if refused is error:
            return ()
        error = refused
    return ()


def _place_of(
    document: Any, error: DecodeError, columns: Collection[str]
) -> tuple[Any, Any] | None:
    """Return the container of the innermost column with the error, and its name there."""
    path = error.path[1:] if error.path[:1] == ("value",) else error.path
    found = None
    for step in path:
        if isinstance(document, dict):
            is_there = step in document
        else:
            is_there = isinstance(document, list) and isinstance(step, int) and step < len(document)
        if not is_there:
            break
        if step in columns:
            found = document, step
        document = document[step]
    return found
