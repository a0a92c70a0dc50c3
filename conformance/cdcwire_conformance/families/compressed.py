"""Changes inside the compression that the option for large messages names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from cdcwire.core.context import Context
from cdcwire_conformance.corpus.mutations.rules import Layer

_OPTION = "large-message-handle-compression"


def compression_layers(raw: bytes, context: Context) -> Iterator[Layer]:
    """Yield the bytes before compression, if the options name one that is installed."""
    known = context.compressions.get(str(context.options.get(_OPTION, "none")))
    if known is not None:
        with suppress(ValueError):
            yield Layer(known.decompress(raw), known.compress)
