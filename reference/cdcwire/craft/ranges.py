"""Where the values of rows stand in a message, for readers that take many rows column by column.

The messages are read as ``fast`` reads them, up to the values: sizes, headers, names, types and
flags are looked at, lengths and values are not. Whoever reads these has to check that they fill
their range exactly, and gives a message with anything unusual to ``RowDecoder``.
"""

from __future__ import annotations

from cdcwire.craft.fast import RowDecoder
from cdcwire.craft.row_memory import Memory
from cdcwire.craft.row_plan import IRREGULARITIES, RowFunction
from cdcwire.craft.settings import DEFAULT_SETTINGS, Settings
from cdcwire.format import Selection, TableName
from cdcwire.rows import Row


class RangeDecoder(RowDecoder):
    """Finds the rows of messages. Keep one: it learns the layouts of the tables it meets.

    ``tables``: those that are wanted, None for all.
    """

    def __init__(
        self, tables: frozenset[TableName] | None = None, settings: Settings = DEFAULT_SETTINGS
    ) -> None:
        selection = Selection(tables)
        super().__init__(selection, settings)
        self._memory = _RangeMemory(selection, settings.time_zone)

    def ranges(self, value: bytes) -> list[Row] | None:
        """Return the rows of a Kafka value, or None where it is not as usual, or damaged.

        ``new`` and ``old`` of a row are each the place where the lengths of its columns begin, and
        the place where their values end.
        """
        try:
            return [row for row in self._usual_rows(value) if isinstance(row, Row)]
        except IRREGULARITIES:
            return None


class _RangeMemory(Memory):
    """A memory whose row functions return where they were told to read."""

    def _function(self, forms: bytes) -> RowFunction:
        return _range


def _range(value: bytes, start: int, end: int) -> tuple[int, int]:
    return start, end
