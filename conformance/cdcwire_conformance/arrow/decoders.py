"""Messages to rows, by the fastest decoder that a format has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from cdcwire.craft.fast import RowDecoder as CraftDecoder
from cdcwire.craft.format import value_of
from cdcwire.craft.profile import CRAFT
from cdcwire.craft.settings import settings_of
from cdcwire.errors import DecodeError
from cdcwire.format import Context, parse_options
from cdcwire.formats import get_format
from cdcwire.message import KafkaMessage, Message
from cdcwire.model.events import Event
from cdcwire.open_protocol.fast import RowDecoder as OpenDecoder
from cdcwire.open_protocol.settings import read_settings
from cdcwire.rows import Row
from cdcwire_conformance.compressions import known_compressions

# Formats whose decoder gives rows, and passes over what is not selected.
FAST_FORMATS = frozenset({"craft", "open-protocol"})

DecodeMessage: TypeAlias = Callable[[Message], Iterable[Row | Event]]


def message_decoder(format_name: str, context: Context) -> DecodeMessage:
    """Return what decodes the messages of a feed. Keep one: it learns the layouts of tables.

    Compressions that the context does not bring are those that are at hand here: functions do not
    travel to workers. The decoder raises DecodeError.
    Raises: ValueError for a format or an option that is not known.
    """
    context = replace(context, compressions=context.compressions or known_compressions())
    if format_name == "craft":
        craft = CraftDecoder(context.selection, settings_of(context.options))
        return lambda message: craft.decode(value_of(message, CRAFT))
    if format_name == "open-protocol" and not context.blobs:
        feed = OpenDecoder(context.selection, read_settings(context.options, context.compressions))
        return lambda message: feed.decode(*_key_and_value(message))
    found = get_format(format_name)
    parse_options(found.options, context.options)
    return lambda message: found.decode(message, context)


def _key_and_value(message: Message) -> tuple[bytes | None, bytes | None]:
    if not isinstance(message, KafkaMessage):
        raise DecodeError("it is a stored file, no Kafka message", 0, "open-protocol: framing")
    return message.key, message.value
