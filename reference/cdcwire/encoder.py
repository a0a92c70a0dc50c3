"""The encoder for producers: made once and kept, from events to the messages of a format.

``Encoder`` uses the fast encoder of the format, which gives the same messages and errors as the
plain one. It does no input or output.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import local
from types import MappingProxyType

from cdcwire.arguments import Tables, definitions_of, expect_mappings
from cdcwire.core.context import Context
from cdcwire.core.message import Message
from cdcwire.core.options import OptionValue
from cdcwire.format import MessageEncoder
from cdcwire.model.events import Event, Marker, Progress, RowChange, SchemaChange
from cdcwire.registry import get_format

_EVENTS = (RowChange, SchemaChange, Progress, Marker)
_NO_OPTIONS: Mapping[str, OptionValue] = MappingProxyType({})


class Encoder:
    """Encodes the events of one feed. Make it once and keep it; threads may share it.

    ``tables``: definitions as ``Decoder`` takes them, for formats whose messages need more than
    the events say. ``options``: the producer's settings.

    Raises: ValueError for an unknown format, OptionError for an unknown option or value.

    Examples:
        >>> import cdcwire
        >>> encoder = cdcwire.Encoder("craft", options={"max-batch-size": 2})
        >>> value = bytes.fromhex("010003010101020a09010005")
        >>> [message] = encoder.encode(cdcwire.decode("craft", value))
        >>> message.value == value
        True

    """

    def __init__(
        self,
        format: str,
        /,
        *,
        tables: Tables = (),
        options: Mapping[str, OptionValue] = _NO_OPTIONS,
    ) -> None:
        self._format = get_format(format)
        expect_mappings(options=options)
        defined = definitions_of(self._format, tables)
        self._context = Context(options=dict(options), tables=defined)
        self._format.encoder(self._context)  # reports wrong settings at once
        self._of_thread = local()  # fast encoders are not thread-safe

    def __repr__(self) -> str:
        return f"Encoder({self._format.name!r})"

    def encode(self, events: Iterable[Event], /) -> list[Message]:
        """Return the messages of events, batched as the producer does.

        Files that the messages need, such as Avro schemas, come before them.
        Raises: EncodeError for an event that the format has no place for, with the number of the
        event in its path. TypeError for anything but events.
        """
        if isinstance(events, _EVENTS):
            raise TypeError(f"events is one {type(events).__name__}; it must be a list of events")
        return list(self._encoder()(map(_expect_event, events)))

    def _encoder(self) -> MessageEncoder:
        found: MessageEncoder | None = getattr(self._of_thread, "encode", None)
        if found is None:
            found = self._of_thread.encode = self._format.encoder(self._context)
        return found


def _expect_event(event: object) -> Event:
    if isinstance(event, _EVENTS):
        return event
    raise TypeError(
        f"events holds a {type(event).__name__}; it must hold events, as a Decoder without rows "
        "gives them"
    )
