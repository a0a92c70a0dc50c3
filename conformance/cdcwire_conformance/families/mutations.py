"""Parts of the rules of derived cases: compressed messages, and files without rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from cdcwire.core.context import Context
from cdcwire.core.reader import Span
from cdcwire_conformance.mutations import Layer

_OPTION = "large-message-handle-compression"


def compression_layers(raw: bytes, context: Context) -> Iterator[Layer]:
    """Yield the bytes before compression, if the options name one that is installed."""
    known = context.compressions.get(str(context.options.get(_OPTION, "none")))
    if known is not None:
        with suppress(ValueError):
            yield Layer(known.decompress(raw), known.compress)


def is_read(spans: Sequence[Span]) -> bool:
    """Return whether a reader of rows looks into a file: not into an index file."""
    return not all(span.clause == "storage: index files" for span in spans)
