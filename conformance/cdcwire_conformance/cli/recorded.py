"""The format, the options and the definitions that the directory of a feed describes."""

from __future__ import annotations

import sys
from pathlib import Path

from cdcwire.console.visible import visible
from cdcwire.core.context import Context
from cdcwire.files.feed_file import read_feed_file
from cdcwire.files.stores import is_url
from cdcwire.identify.report import option_text
from cdcwire_conformance.sources.source_urls import Source


def with_recorded(verb: str, folder: str, format_name: str, context: Context) -> Context:
    """Return the context with the description in the directory of a feed; print it in one line.

    Raises: SourceError; UsageError.
    """
    found = read_feed_file(folder)
    if found is None or found.format != format_name:
        return context
    known = found.applied(context)
    options = " ".join(
        f"--option {option_text(name, value)}"
        for name, value in known.options.items()
        if name not in context.options
    )
    tables = ""
    if known.tables is not context.tables:
        names = ", ".join(".".join(filter(None, (t.schema, t.name))) for t in known.tables)
        tables = f"the definitions of {names}"
    if options or tables:
        given = " and ".join(filter(None, (options, tables)))
        print(visible(f"cdcwire {verb}: {found.path} gives {given}"), file=sys.stderr)
    return known


def schemas_near(verb: str, source: Source) -> str | None:
    """Return the directory ``schemas`` in the directory of a feed, or next to it, if it has any.

    It is printed in one line.
    """
    use = source.format.schemas
    if use is None or not source.folder or is_url(source.folder):
        return None
    for folder in (Path(source.folder, "schemas"), Path(source.folder).parent / "schemas"):
        if any(folder.glob(f"*{use.file_suffix}")):
            print(visible(f"cdcwire {verb}: {source}: --schema {folder}"), file=sys.stderr)
            return str(folder)
    return None
