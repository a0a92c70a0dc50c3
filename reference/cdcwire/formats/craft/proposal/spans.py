"""Bytes of the Craft proposal explained, with warnings for what a reader ignores."""

from __future__ import annotations

from cdcwire.core.format import EVERYTHING, NO_CONTEXT, Context, Explanation
from cdcwire.core.message import Message
from cdcwire.core.reader import Reader
from cdcwire.formats.craft.profile import PROPOSAL
from cdcwire.formats.craft.proposal.message import GROUP_DELETE, warnings_of
from cdcwire.formats.craft.proposal.wire import read_message
from cdcwire.formats.craft.spans import explain_with


def explain(message: Message, *, context: Context = NO_CONTEXT) -> Explanation:
    """Return the spans of every byte of a message, in the order of the bytes.

    On broken bytes: the spans of the bytes read so far, and the error.
    """
    warnings: tuple[str, ...] = ()

    def read(reader: Reader) -> None:
        nonlocal warnings
        warnings = warnings_of(read_message(reader, EVERYTHING))

    spans, error = explain_with(message, read, PROPOSAL, {GROUP_DELETE: "delete"})
    return Explanation(spans, error, warnings)
