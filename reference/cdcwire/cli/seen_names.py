"""The names of ``--include`` and ``--columns`` that nothing in the input has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cdcwire.console.usage import meant_or_met
from cdcwire.core.context import Selection
from cdcwire.model.events import Event, RowChange, SchemaChange, TableName


class SeenNames:
    """The tables and columns that events have, of those that are wanted."""

    def __init__(self, selection: Selection) -> None:
        self._unseen_tables = set(selection.tables or ())
        self._unseen_columns = set(selection.columns or ())

    def of(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events, and remember their names."""
        for event in events:
            table = event.table if isinstance(event, RowChange | SchemaChange) else None
            if table is not None and table.name is not None:
                self._unseen_tables.discard((table.schema, table.name))
            if self._unseen_columns and isinstance(event, RowChange):
                for image in (event.before, event.after):
                    if image is not None:
                        self._unseen_columns.difference_update(c.name for c in image.columns)
            yield event

    def unseen(self, met: Callable[[], Iterable[TableName]]) -> Iterator[str]:
        """Yield a line for each name that no event had. ``met``: gives all tables of the input."""
        tables = {table_text(name) for name in met()} if self._unseen_tables else set()
        for name in sorted(map(table_text, self._unseen_tables)):
            yield f"--include: no event is of the table {name}{meant_or_met(name, tables)}"
        for name in sorted(self._unseen_columns):
            yield f"--columns: no row has a column {name}"


def table_text(name: TableName) -> str:
    """Return the name of a table as a user gives it."""
    return ".".join(filter(None, name))
