"""The fast encoder: it writes the rows, and the plain encoder everything around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cdcwire.connect.images import WrittenRows
from cdcwire.connect.usual_rows import UsualRows
from cdcwire.core.compiled import FastEncoder
from cdcwire.core.format import NO_CONTEXT, Context
from cdcwire.core.message import Message
from cdcwire.formats.debezium_json.settings import read_settings
from cdcwire.formats.debezium_json.writing import messages_of
from cdcwire.model.events import Event, RowChange


class RowEncoder(FastEncoder[WrittenRows]):
    """Encodes rows of tables whose columns it has seen; all else by the plain encoder."""

    def __init__(self, context: Context = NO_CONTEXT) -> None:
        self._settings = read_settings(context)
        self._tables = context.tables
        self._rows = UsualRows(self._settings.style)

    def _messages(self, events: Iterable[Event]) -> Iterator[Message]:
        return messages_of(events, self._settings, self._tables, self.piece)

    def _piece(self, change: RowChange) -> WrittenRows:
        return self._rows.rows(change)
