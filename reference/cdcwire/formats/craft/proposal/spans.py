"""Bytes of the Craft proposal explained."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from cdcwire.core.context import EVERYTHING, Context
from cdcwire.core.message import Message
from cdcwire.core.reader import Reader, Span
from cdcwire.formats.craft.profile import PROPOSAL
from cdcwire.formats.craft.proposal.message import GROUP_DELETE
from cdcwire.formats.craft.proposal.wire import read_head, read_values
from cdcwire.formats.craft.spans import Opened, spans_of
from cdcwire.formats.craft.tables import ReadPart


def spans(message: Message, context: Context) -> Iterator[Span]:
    """Yield the spans of every byte of a message."""
    yield from spans_of(message, _opened, PROPOSAL, {GROUP_DELETE: "delete"})


def _opened(reader: Reader, read_part: ReadPart) -> Opened:
    head = read_head(reader, read_part)
    read = partial(read_values, head=head, selection=EVERYTHING)
    return Opened(head.values, read, [key.type for key in head.keys])
