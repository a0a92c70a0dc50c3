"""The Craft proposal as a format: what the registry offers to the runner and the command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from cdcwire.core.comparing import Comparing
from cdcwire.core.context import EVERYTHING, NO_CONTEXT, Context
from cdcwire.core.guess import Guess
from cdcwire.core.message import KafkaMessage, Message
from cdcwire.core.orders import COMMIT_TS
from cdcwire.core.reader import Reader, Span
from cdcwire.format import Format
from cdcwire.formats.craft.format import CARRIES, CHOICES
from cdcwire.formats.craft.format import FEATURES as SHIPPED_FEATURES
from cdcwire.formats.craft.profile import PROPOSAL, present
from cdcwire.formats.craft.proposal.events import event_of, messages_of
from cdcwire.formats.craft.proposal.fast_encoder import RowEncoder
from cdcwire.formats.craft.proposal.message import GROUP_DELETE, warnings_of_parts
from cdcwire.formats.craft.proposal.wire import encode, read_head, read_values
from cdcwire.formats.craft.settings import OPTIONS, read_settings
from cdcwire.formats.craft.size_tables import ReadPart
from cdcwire.formats.craft.spans import Opened, spans_of
from cdcwire.model.events import Event

_VERSION = b"\x00\x01"

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        **SHIPPED_FEATURES,
        "row_id": "the row id of an event",
        "mixed-kinds": "rows, DDL and resolved events in one message",
        "unknown-bits": "skipping event types, column groups and bytes that are not defined",
    }
)


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of a message."""
    yield from spans_of(message, _opened, PROPOSAL, {GROUP_DELETE: "delete"})


def _opened(reader: Reader, read_part: ReadPart) -> Opened:
    head = read_head(reader, read_part)
    read = partial(read_values, head=head, selection=EVERYTHING)
    return Opened(head.values, read, [key.type for key in head.keys])


def identify(message: Message) -> Guess | None:
    """Return what shows that a message follows the proposal: two bytes with the version."""
    if not isinstance(message, KafkaMessage) or not (message.value or b"").startswith(_VERSION):
        return None
    return Guess("the version of the Craft proposal is 1, in two bytes", facts={"version": "1"})


def plain_events(message: Message, *, context: Context = NO_CONTEXT) -> Iterator[Event]:
    """Yield the neutral events of a message. Raises: DecodeError, OptionError."""
    settings = read_settings(context)
    head = read_head(Reader(present(message.value, PROPOSAL)))
    for found in read_values(head.values, head, context.selection):
        event = event_of(found, settings)
        if event is not None:
            yield event


def from_events(events: Iterable[Event], *, context: Context = NO_CONTEXT) -> Iterator[Message]:
    """Yield messages, batched as the producer does. Raises: EncodeError, OptionError."""
    for message in messages_of(events, read_settings(context), context.tables):
        yield KafkaMessage(None, encode(message))


def _warnings(message: Message, context: Context) -> tuple[str, ...]:
    head = read_head(Reader(present(message.value, PROPOSAL)))
    events = read_values(head.values, head, EVERYTHING)
    return warnings_of_parts(head.keys_surplus, events, head.tables.surplus)


FORMAT = Format(
    name="craft-proposal",
    title="TiCDC Craft, as proposed",
    page="docs/formats/craft-proposal.md",
    to_events=plain_events,
    from_events=from_events,
    spans=spans,
    cuts_spans=lambda error: False,
    identify=identify,
    options=OPTIONS,
    carries=CARRIES,
    comparing=Comparing(
        orders=(COMMIT_TS,),
        not_compared=("row ids",),
    ),
    features=FEATURES,
    choices=CHOICES,
    fast_encoder=RowEncoder,
    warnings=_warnings,
)
to_events = FORMAT.events
explain = FORMAT.explain
