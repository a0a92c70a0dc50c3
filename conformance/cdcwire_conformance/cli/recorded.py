"""The format, the options and the definitions that the directory of a feed describes."""

from __future__ import annotations

import sys

from cdcwire.core.format import Context
from cdcwire_conformance.identify.report import option_text
from cdcwire_conformance.sources.feed_file import read_feed_file
from cdcwire_conformance.sources.source_urls import Source
from cdcwire_conformance.sources.stores import directory_of
from cdcwire_conformance.visible import visible


def recorded_format(place: str) -> str | None:
    """Return the format that the directory of a feed names. Raises: SourceError; UsageError."""
    folder = None if place.startswith("kafka:") else directory_of(place)
    found = None if folder is None else read_feed_file(folder)
    return None if found is None else found.format


def with_recorded(verb: str, source: Source, context: Context) -> Context:
    """Return the context with the description in the directory of a feed; print it in one line.

    Raises: SourceError; UsageError.
    """
    found = read_feed_file(source.folder)
    if found is None or found.format != source.format.name:
        return context
    known = found.applied(context)
    added = [
        f"--option {option_text(name, value)}"
        for name, value in known.options.items()
        if name not in context.options
    ]
    if known.tables is not context.tables:
        names = ", ".join(".".join(filter(None, (t.schema, t.name))) for t in known.tables)
        added.append(f"the definitions of {names}")
    if added:
        print(visible(f"cdcwire {verb}: {found.path}: {' '.join(added)}"), file=sys.stderr)
    return known
