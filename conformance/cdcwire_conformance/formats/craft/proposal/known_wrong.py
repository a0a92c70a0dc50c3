"""Known-wrong decoders of craft-proposal."""

from __future__ import annotations

from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.core.errors import DecodeError
from cdcwire.core.message import Message
from cdcwire.core.reader import Reader
from cdcwire.format import Format
from cdcwire.formats.craft.profile import PROPOSAL, present
from cdcwire.formats.craft.proposal.events import events_of
from cdcwire.formats.craft.proposal.wire import decode, read_message
from cdcwire.formats.craft.settings import read_settings
from cdcwire.model.events import Event
from cdcwire_conformance.formats.craft.known_wrong import (
    CRAFT_FAULTS,
    groups_by_position,
    wire_faults,
)
from cdcwire_conformance.known_wrong.decoder import KnownWrong, right, wrong_decoder


def _events_of(reader: Reader, context: Context) -> list[Event]:
    decoded = read_message(reader, context.selection)
    return list(events_of(decoded, read_settings(context)))


def _with_another_name(error: DecodeError, value: bytes) -> bytes:
    """Return a message whose second column of one name has another name of the same size."""
    if error.path[-1:] != ("name",):
        raise error
    first = bytes((value[error.offset] ^ 1,))
    return value[: error.offset] + first + value[error.offset + 1 :]


@wrong_decoder("a group may have a column twice")
def repeated_columns_accepted(format_: Format, message: Message, context: Context) -> list[Event]:
    """Rename the second of two columns with one name, then decode."""
    try:
        return right(format_, message, context)
    except DecodeError as error:
        other = _with_another_name(error, present(message.value, PROPOSAL))
        return right(format_, replace(message, value=other), context)


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    *CRAFT_FAULTS,
    *wire_faults(_events_of, PROPOSAL),
    groups_by_position(decode, events_of),
    repeated_columns_accepted,
)
