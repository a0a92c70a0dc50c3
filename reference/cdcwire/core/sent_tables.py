"""Table definitions that a feed sends among its messages, in the context of decoding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cdcwire.core.context import Context
from cdcwire.model.events import Table


def with_sent_tables(context: Context, tables: Iterable[Table]) -> Context:
    """Return the context with definitions of the feed.

    They replace other definitions of the same table and version. A definition that is sent again
    counts where it is last.
    """
    new = {table: None for table in reversed(tuple(tables)) if table.columns}
    if not new:
        return context
    sent = {(table.schema, table.name, table.version) for table in new}
    others = (
        each
        for each in context.tables
        if (each.schema, each.name, each.version or None) not in sent
    )
    return replace(context, tables=(*others, *reversed(tuple(new))))
